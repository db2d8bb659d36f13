"""Tasks: working memory for one piece of work, from the briefing at its start to the credit at its end."""

from afterwit.service.reviewing import Reviewing


class Tasks(Reviewing):
    """The part of the service that is about tasks."""
