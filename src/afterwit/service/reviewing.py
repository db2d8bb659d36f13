"""Looking back: what ended tasks teach, and what has been proved by now."""

from afterwit.service.tasks import Tasks


class Reviewing(Tasks):
    """The part of the service that learns."""
