"""Looking back: what ended tasks teach, and what has been proved by now."""

from afterwit.service.searching import Searching


class Reviewing(Searching):
    """The part of the service that learns."""
