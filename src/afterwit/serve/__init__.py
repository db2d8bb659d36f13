"""The doors: how the verbs are reached from outside. Nothing here decides what a memory is."""
