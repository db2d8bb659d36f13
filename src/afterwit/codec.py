"""Records as JSON values and back, for export, events and the doors. `decode(encode(x)) == x`."""

import json
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, cast

from afterwit.clock import format_time, parse_time
from afterwit.errors import InvalidInput

R = TypeVar("R")


def encode(value: Any) -> Any:
    """A record, or any value inside one, as JSON values. Times are RFC 3339 with Z."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: encode(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in cast("tuple[Any, ...]", value)]
    return value


def decode(record: type[R], values: Mapping[str, Any]) -> R:
    """The record that `encode` made `values` of.

    Raises:
        InvalidInput: a field is missing, unknown, or of the wrong type.
    """
    hints = _hints(record)
    unknown = sorted(set(values) - set(hints))
    if unknown:
        raise InvalidInput(f"{record.__name__} has no field {unknown[0]!r}.")
    try:
        return record(**{name: _decode(hints[name], value, name) for name, value in values.items()})
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"Not a {record.__name__}: {error}.") from error


def dump_line(value: Any) -> str:
    """One line of JSONL: keys in order, text readable."""
    return json.dumps(encode(value), ensure_ascii=False, separators=(",", ":"))


@cache
def _hints(record: type[Any]) -> dict[str, Any]:
    return typing.get_type_hints(record)


def _decode(hint: Any, value: Any, name: str) -> Any:
    origin = typing.get_origin(hint)
    if origin in (Union, types.UnionType):
        return None if value is None else _decode(typing.get_args(hint)[0], value, name)
    if hint is datetime:
        return parse_time(_typed(value, str, name), field=name)
    if isinstance(hint, type) and is_dataclass(hint):
        return decode(hint, _typed(value, dict, name))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(value)
    if origin is tuple:
        return tuple(_decode(typing.get_args(hint)[0], item, name) for item in _typed(value, list, name))
    if hint is float:
        return float(_typed(value, (int, float), name))
    if isinstance(hint, type):
        return _typed(value, hint, name)
    return dict(_typed(value, dict, name))


def _typed(value: Any, wanted: Any, name: str) -> Any:
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise InvalidInput(f"{name} has the wrong type: {value!r}.")
    return value
