"""What holds for every test."""

import signal

# A shell that runs the tests in its background has interrupts ignored, which every program they start would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
