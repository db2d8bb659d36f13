"""What of a memory the word index holds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from afterwit.records import NEIGHBOUR_FIELDS, Memory
from afterwit.text import index_tokens


def memory_tokens(memory: Memory) -> list[str]:
    """Tokens by which a memory is found, in order, with repetition.

    They come from the summary, subject, topic, tags, the raw words where the summary does not
    hold them, and every text inside `structured` but ids of neighbours.
    """
    texts = [memory.summary, memory.subject, memory.topic, *memory.tags]
    if memory.raw not in memory.summary:
        texts.append(memory.raw)
    texts.extend(_texts({name: value for name, value in memory.structured.items() if name not in NEIGHBOUR_FIELDS}))
    return [token for text in texts if text for token in index_tokens(text)]


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for item in value.values():  # pyright: ignore[reportUnknownVariableType]
                yield from _texts(item)
        case Sequence():
            for item in value:  # pyright: ignore[reportUnknownVariableType]
                yield from _texts(item)
        case _:
            return
