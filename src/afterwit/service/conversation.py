"""Conversations as memories: one per turn, with speaker, time and neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from afterwit.errors import InvalidInput
from afterwit.records import SPEAKER, Basis, Kind, Memory, Source, Standing, Trust, new_id
from afterwit.service.options import MAX_TEXT_BYTES
from afterwit.service.writing import Setting
from afterwit.text import check_text
from afterwit.vocabulary import confidence_of, fold_subject


@dataclass(frozen=True)
class Turn:
    """One utterance."""

    speaker: str
    text: str
    #: when it was said, aware
    at: datetime


def turn_memories(turns: Sequence[Turn], *, scope: str, session: str, setting: Setting) -> list[Memory]:
    """The memories of a conversation, in its order; each knows the one before and the one after it.

    Who speaks is part of the text, since "I moved to Oslo" means nothing without it. What was said is
    observed, not believed: it is evidence to look up, not a fact about anybody.

    Raises:
        InvalidInput: an empty text or speaker, or a naive time.
    """
    made: list[Memory] = []
    for number, turn in enumerate(turns):
        text = check_text(turn.text, field=f"turns[{number}].text", max_bytes=MAX_TEXT_BYTES)
        speaker = check_text(turn.speaker, field=f"turns[{number}].speaker", max_bytes=200).strip()
        if turn.at.tzinfo is None:
            raise InvalidInput(f"turns[{number}].at has no time zone.", next_step="Add one, such as UTC.")
        made.append(
            Memory(
                id=new_id(setting.now),
                space=setting.space,
                summary=f"{speaker}: {text}",
                kind=Kind.FACT,
                recorded_at=setting.now,
                happened_at=turn.at,
                scope=scope,
                raw=text,
                structured={SPEAKER: fold_subject(speaker)},
                basis=Basis.OBSERVED,
                trust=min(setting.writer.trust, Trust.AGENT),
                source=Source("agent", session),
                confidence=confidence_of(Basis.OBSERVED),
                standing=Standing.PENDING,
                supporters=(session,),
            )
        )
    return [_between(made, position) for position in range(len(made))]


def _between(made: Sequence[Memory], position: int) -> Memory:
    memory = made[position]
    neighbours = dict(memory.structured)
    if position > 0:
        neighbours["previous"] = made[position - 1].id
    if position + 1 < len(made):
        neighbours["next"] = made[position + 1].id
    return replace(memory, structured=neighbours)
