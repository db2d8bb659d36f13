"""Directories of memory: nobody but their owner looks inside, whoever needs one first."""

import errno
import os
from pathlib import Path


def make_private(path: Path) -> None:
    """Make a directory that is not there, and those above it, for its owner only.

    What is there keeps its rights: those are the owner's own choice, and `afterwit doctor` warns of them.

    Raises:
        OSError: it cannot be made, such as `NotADirectoryError` where a file has its name.
    """
    if path.is_dir():
        return
    if path.exists():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    make_private(path.parent)
    # Others may make it at the same moment.
    path.mkdir(mode=0o700, exist_ok=True)
