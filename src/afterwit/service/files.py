"""Files that people keep: written in one piece or not at all."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from afterwit.errors import InvalidInput, Sentence


def replace_file(path: Path, content: str) -> None:
    """Write a text file in one piece; what was there stays until the new one is whole.

    Raises:
        InvalidInput: it cannot be written there.
    """
    target = path.expanduser()
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile(
            "w", dir=target.parent, prefix=f".{target.name}.", suffix=".tmp", delete=False, encoding="utf-8", newline=""
        ) as file:
            temporary = file.name
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.is_dir():
            raise IsADirectoryError(f"{target} is a directory")
        Path(temporary).replace(target)
    except OSError as error:
        with suppress(OSError):
            Path(temporary).unlink()
        raise InvalidInput(
            Sentence("{path} cannot be written: {problem}.", path=path, problem=error.strerror or error),
            next_step="Choose a file in a directory that you may write.",
        ) from error
