"""How much text there is, where its sentences end, and which text is let in."""

import re

from afterwit.errors import InvalidInput

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


def check_text(text: object, *, field: str, max_bytes: int = 16_384, allow_empty: bool = False) -> str:
    """Let through text that can be stored byte for byte; it is returned unchanged.

    Args:
        text: what the caller gave.
        field: the parameter's name, for the error.
        max_bytes: most bytes of UTF-8.
        allow_empty: blank text is fine.

    Raises:
        InvalidInput: not text, blank, too long, with control characters or invalid Unicode.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"{field} must be text, not {type(text).__name__}.", next_step="Pass a string.")
    if not allow_empty and not text.strip():
        raise InvalidInput(f"{field} is empty.", next_step="Pass at least one word.")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{field} is not valid Unicode: a lone surrogate at character {error.start}.",
            next_step="Decode the bytes as UTF-8 before passing them on.",
        ) from None
    if size > max_bytes:
        raise InvalidInput(
            f"{field} is {size} bytes long; at most {max_bytes} are kept.",
            next_step="Shorten it to the conclusion worth keeping, or split it into several.",
        )
    if bad := _CONTROL.search(text):
        raise InvalidInput(
            f"{field} has the control character U+{ord(bad.group()):04X} at character {bad.start()}.",
            next_step="Remove it; only tab and line breaks are allowed.",
        )
    return text
