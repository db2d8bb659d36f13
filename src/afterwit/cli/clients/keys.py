"""Where a value stands in a document, and what is said of a document that cannot be read."""

from collections.abc import Mapping
from typing import Any, Final, cast

#: Keys and indices from the outermost value inwards.
Keys = tuple[str | int, ...]


class _Missing:
    """There is no value; None is one."""


MISSING: Final = _Missing()


class NotReadable(Exception):
    """A document is not in its format.

    Attributes:
        what: what is wrong, half a sentence.
        line: where, counted from 1; so is `column`.
    """

    def __init__(self, what: str, line: int, column: int) -> None:
        super().__init__(what)
        self.what = what
        self.line = line
        self.column = column


def look_up(value: Any, keys: Keys) -> Any:
    """The value at `keys`, `MISSING` where there is none."""
    for key in keys:
        if isinstance(key, str):
            value = cast("Mapping[str, Any]", value).get(key, MISSING) if isinstance(value, Mapping) else MISSING
        elif isinstance(value, list):
            items = cast("list[Any]", value)
            value = items[key] if key < len(items) else MISSING
        else:
            value = MISSING
    return value
