"""Every error that Afterwit raises, and what a door answers for each.

AfterwitError
├── InvalidInput      what was asked does not make sense; nothing was changed
├── Unauthenticated   no key, or an unknown one
├── Forbidden         the key does not allow this
├── NotFound          no such memory in this space
├── Conflict          the row changed or is in a state that does not allow this
├── TooManyRequests   slow down
├── ProviderError     an embedder or LLM that was configured did not answer well
├── StorageError      the database cannot be read or written
└── ConfigError       a setting is wrong (only raised while starting)

Expected outcomes are values, not errors: a refused write is a receipt that says why.
"""

from dataclasses import dataclass
from typing import Self


class Sentence(str):
    """English text that remembers what it was made of, so that a door can say the same in its own words.

    Attributes:
        template: the text with names in braces, as for `str.format`.
        values: what the braces stand for; a value may be a `Sentence` itself.
    """

    template: str
    values: dict[str, object]

    def __new__(cls, template: str, /, **values: object) -> Self:
        """Fill in the template.

        Args:
            template: with values, a format; without any, the text itself.
            values: what its braces stand for.
        """
        made = super().__new__(cls, template.format(**values) if values else template)
        made.template = template
        made.values = values
        return made


class AfterwitError(Exception):
    """Root of every error of this package.

    Attributes:
        message: what went wrong, one sentence.
        next_step: what the caller can do about it, one sentence; may be empty.
    """

    def __init__(self, message: str, *, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.message} {self.next_step}".rstrip()


class InvalidInput(AfterwitError):
    """An argument is missing, malformed or out of range; nothing was changed."""


class Unauthenticated(AfterwitError):
    """No credential, or one that is not known."""


class Forbidden(AfterwitError):
    """The credential is known but lacks the right."""


class NotFound(AfterwitError):
    """The id does not exist in this space (a foreign id looks the same)."""


class Conflict(AfterwitError):
    """The row is in a state that does not allow the change."""


class TooManyRequests(AfterwitError):
    """A rate limit was reached; try again later."""


class ProviderError(AfterwitError):
    """A configured embedder or LLM failed or answered nonsense.

    Attributes:
        reason: one word for records, such as "timeout", that holds nothing of what was sent or answered; may be empty.
        tokens: how many the failed call read and wrote all the same, as far as is known.
    """

    def __init__(
        self, message: str, *, next_step: str = "", reason: str = "", tokens: tuple[int, int] = (0, 0)
    ) -> None:
        super().__init__(message, next_step=next_step)
        self.reason = reason
        self.tokens = tokens


class StorageError(AfterwitError):
    """The database cannot be opened, read or written; nothing acknowledged is lost."""


class ConfigError(AfterwitError):
    """A setting is unknown or has an impossible value."""


@dataclass(frozen=True)
class Answer:
    """How the doors report one class of error."""

    #: stable word in JSON answers and MCP errors
    code: str
    #: HTTP status
    http: int
    #: exit status of the command line
    exit: int


#: The one table that maps errors to HTTP, MCP and exit codes.
ANSWERS: dict[type[AfterwitError], Answer] = {
    AfterwitError: Answer("error", 500, 1),
    InvalidInput: Answer("invalid_input", 400, 2),
    Unauthenticated: Answer("unauthenticated", 401, 3),
    Forbidden: Answer("forbidden", 403, 3),
    NotFound: Answer("not_found", 404, 4),
    Conflict: Answer("conflict", 409, 5),
    TooManyRequests: Answer("too_many_requests", 429, 6),
    ProviderError: Answer("provider_error", 502, 7),
    StorageError: Answer("storage_error", 503, 8),
    ConfigError: Answer("config_error", 500, 9),
}
