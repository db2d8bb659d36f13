"""Tending a space: its health, what may be cleaned away, and knowledge brought in from files."""

from afterwit.service.reviewing import Reviewing


class Tending(Reviewing):
    """The part of the service for those who look after a memory."""
