"""Named arrays in one file that is mapped, not read: processes share its pages and touch what they use.

Layout: 8 bytes little-endian length of the header, the header in JSON padded with blanks, then the
arrays one after another, each at a multiple of 64 bytes. The header tells the file's size.
"""

import json
import math
import mmap
import tempfile
import zlib
from collections.abc import Mapping
from os import fsync
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterwit.directories import make_private

_FORMAT = "afterwit-arrays-1"
_ALIGNMENT = 64

#: Larger arrays are not check-summed when read: that would touch every page of them. They were on
#: disk in full before the file got its name.
_CHECKED_BYTES = 8 << 20


def write(path: Path, arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Write the file so that it is there in full or not at all, whoever else writes it too.

    Returns:
        False when the directory cannot be made or written, or the disk is full.
    """
    header = _header(arrays)
    temporary: Path | None = None
    try:
        make_private(path.parent)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, suffix=".tmp", delete=False) as file:
            temporary = Path(file.name)
            file.write(len(header).to_bytes(8, "little") + header)
            for array in arrays.values():
                file.write(b"\0" * (-file.tell() % _ALIGNMENT))
                file.write(np.ascontiguousarray(array).data)
            file.flush()
            fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        return False
    return True


def read(path: Path) -> dict[str, NDArray[Any]] | None:
    """Map the file.

    Returns:
        Read-only arrays by name, in the order they were written; None when there is no such file or
        it is damaged, of another format or of another size than it says.
    """
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        length = int.from_bytes(mapped[:8], "little")
        header = json.loads(mapped[8 : 8 + length])
        if header["format"] != _FORMAT or header["size"] != len(mapped):
            return None
        found = {name: _map_one(mapped, entry) for name, entry in header["arrays"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    intact = all(_check_sum(array) == header["arrays"][name]["crc32"] for name, array in found.items())
    return found if intact else None


def _map_one(mapped: mmap.mmap, entry: Mapping[str, Any]) -> NDArray[Any]:
    shape = tuple(entry["shape"])
    flat = np.frombuffer(mapped, dtype=entry["dtype"], count=math.prod(shape), offset=entry["offset"])
    return flat.reshape(shape)


def _check_sum(array: NDArray[Any]) -> int | None:
    return None if array.nbytes > _CHECKED_BYTES else zlib.crc32(np.ascontiguousarray(array).data)


def _header(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The header's bytes; offsets depend on its length, so it is laid out for a fixed one."""
    room = 512 + 160 * len(arrays)
    start = -(-(8 + room) // _ALIGNMENT) * _ALIGNMENT
    entries: dict[str, Any] = {}
    offset = start
    for name, array in arrays.items():
        offset = -(-offset // _ALIGNMENT) * _ALIGNMENT
        entries[name] = {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "offset": offset,
            "crc32": _check_sum(array),
        }
        offset += array.nbytes
    text = json.dumps({"format": _FORMAT, "size": offset, "arrays": entries})
    return text.encode("ascii").ljust(start - 8)
