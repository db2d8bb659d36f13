"""What the store has already that may concern a new memory."""

from collections.abc import Sequence
from dataclasses import replace

from afterwit import text
from afterwit.extract import changing
from afterwit.records import KeyFilter, Kind, Memory
from afterwit.resolve import Known
from afterwit.service.naming import subject_names
from afterwit.storage import Reader

#: Kinds that say what is so, and of these the most that a change is held against.
_CHANGING = (Kind.FACT, Kind.PREFERENCE, Kind.CONSTRAINT, Kind.DECISION)
_MOST_CHANGED = 20
_MOST_ON_TOPIC = 50


def known_of(reader: Reader, space: str, memory: Memory) -> Known:
    """What is active in the scope and pool of a memory that is not stored yet, and says the same, is filed alike, or
    tells what was before a change that its words tell of."""
    place = KeyFilter(scopes=(memory.scope,), roles=(memory.role,))
    same_topic: list[Memory] = []
    if memory.subject and memory.topic:
        subjects = subject_names(reader, space, memory.subject)
        where = replace(place, subjects=subjects, topics=(memory.topic,))
        same_topic = reader.find(space, where, limit=_MOST_ON_TOPIC)
    same = reader.find_statement(space, place, text.statement_key(memory.summary))
    return Known(same, same_topic, _changed(reader, space, place, memory, same_topic))


def _changed(
    reader: Reader, space: str, place: KeyFilter, memory: Memory, same_topic: Sequence[Memory]
) -> list[Memory]:
    change = changing.told(memory.summary) if memory.kind in _CHANGING else None
    if change is None:
        return []
    where = replace(place, kinds=_CHANGING)
    found = reader.search_words(space, where, text.query_tokens(change.sought), limit=_MOST_CHANGED)
    rows = reader.get(space, [item.id for item in found])
    filed = [row for row in same_topic if row.kind in _CHANGING]
    changed = {row.id: row for row in filed if change.ends(row.summary, str(row.structured.get("value", "")))}
    return list((changed | {row.id: row for row in rows.values() if change.ends(row.summary)}).values())
