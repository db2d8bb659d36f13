"""Tending a space: its health, what may be cleaned away, and knowledge brought in from files."""

from afterwit.service.tasks import Tasks


class Tending(Tasks):
    """The part of the service for those who look after a memory."""
