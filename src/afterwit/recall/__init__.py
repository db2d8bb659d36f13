"""Find the few memories that matter now, or say that there is none.

Keys first, in the database; then paths (words, meaning, time, task); then one relevance in 0..1
per candidate, a cut, an order, and as much of it as the budget allows. Every hit says why it is
there.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from afterwit import rank, text
from afterwit.dates import find_time_range
from afterwit.embedding import Embedder
from afterwit.entities import Way, is_about, ways
from afterwit.messages import say
from afterwit.recall.answering import Hit, SearchAnswer, annotate, choose, hit_tokens
from afterwit.recall.asking import Asked, Candidates, Question, asks_current, embed, gather, widened, with_outgoing
from afterwit.recall.former import with_former
from afterwit.recall.judging import Aids, Judgement, judge
from afterwit.recall.reranking import NOBODY, SecondOpinion
from afterwit.recall.signals import Text, observe
from afterwit.storage import Reader
from afterwit.vocabulary import USER

__all__ = ["Hit", "Question", "SearchAnswer", "SecondOpinion", "candidate_signals", "hit_tokens", "search"]

#: Candidates that one relation in the question may bring, and what each link takes from their relevance.
_MOST_BY_RELATION = 5
_LINK_FACTOR = 0.9
_EVER = datetime.max.replace(tzinfo=UTC)


def search(
    reader: Reader,
    space: str,
    question: Question,
    embedder: Embedder | None,
    older: Sequence[Embedder] = (),
    *,
    second_opinion: SecondOpinion = NOBODY,
) -> SearchAnswer:
    """Answer one question from what `reader` holds.

    Args:
        reader: a store or a transaction.
        space: the tenant.
        question: what is asked.
        embedder: makes the meaning path; None = words only.
        older: embedders of earlier models, for memories that have no vector of `embedder` yet.
        second_opinion: of a reranker; one that was not asked yet is told what to ask about, see `SecondOpinion`.

    Raises:
        StorageError: the store cannot be read.
    """
    embedders = [embedder, *older] if embedder is not None else []
    asked, degraded = embed(question, embedders)
    when = find_time_range(question.query, now=question.now, timezone=question.timezone)
    where = widened(question.where, when, question.now)
    if when is None:
        where = with_outgoing(reader, space, where, question.now)
    found = gather(reader, space, replace(question, where=where), asked, when)
    language = text.language(question.query)
    hits: list[Hit] = []
    if found.memories:
        judged = judge(reader, space, question, found, asked, Aids(when, second_opinion))
        found, judged = _along_relations(reader, space, replace(question, where=where), embedders, (found, judged))
        hits = choose(question, found, judged)
    if when is None:
        hits = with_former(reader, space, question, hits) or _to_come(reader, space, question, asked)
    hits = annotate(reader, space, hits, question, language)
    return SearchAnswer(
        hits=tuple(hits),
        message="" if hits else say("nothing_relevant", language),
        degraded=degraded,
        considered=len(found.memories),
        tokens=sum(hit_tokens(hit) for hit in hits),
    )


def _to_come(reader: Reader, space: str, question: Question, asked: Asked) -> list[Hit]:
    """What does not hold yet, for a question about the present that nothing answers now."""
    where, now = question.where, question.now
    if not asks_current(where) or where.valid_at != now or reader.next_start(space, now) is None:
        return []
    found = gather(reader, space, replace(question, where=replace(where, valid_through=_EVER)), asked, None)
    later = [memory.valid_from is not None and memory.valid_from > now for memory in found.memories]
    if not any(later):
        return []
    judged = judge(reader, space, question, found, asked, Aids())
    judged.passed[:] &= later
    return choose(replace(question, exhaustive=False), found, judged)


def candidate_signals(
    reader: Reader, space: str, question: Question, embedder: Embedder | None
) -> tuple[list[str], rank.Floats]:
    """What is noticed of each candidate of a question that may be a hit, for fitting the weights of it.

    Returns:
        Memory ids, and an array of shape (ids, `rank.SIGNALS`).
    """
    asked, _ = embed(question, [embedder] if embedder is not None else [])
    when = find_time_range(question.query, now=question.now, timezone=question.timezone)
    found = gather(reader, space, replace(question, where=widened(question.where, when, question.now)), asked, when)
    if not found.memories:
        return [], np.zeros((0, len(rank.SIGNALS)))
    seen = observe(reader, space, question, found, Text(question.query, asked.query[0]), when)
    kept = [place for place in range(len(found.memories)) if place not in found.replaced]
    return [found.memories[place].id for place in kept], seen[kept]


def _along_relations(
    reader: Reader, space: str, question: Question, embedders: Sequence[Embedder], sofar: tuple[Candidates, Judgement]
) -> tuple[Candidates, Judgement]:
    """Add what the relations in a question lead to, judged by the question as it reads at the other end and
    weaker by every link. Whoever is not on the way is not who was asked about."""
    on_the_way: set[str] = set()
    for way in ways(reader, space, question.query, question.where):
        further = replace(question, query=way.query, where=way.where, task_context="", constraints=())
        asked, _ = embed(further, embedders)
        there = gather(reader, space, further, asked, None)
        if there.memories:
            fits = judge(reader, space, further, there, asked, Aids())
            passed = [int(p) for p in np.flatnonzero(fits.passed) if is_about(there.memories[p], way.names)]
            best = sorted(passed, key=lambda p: (-fits.fit[p], there.memories[p].id))[:_MOST_BY_RELATION]
            if best:
                on_the_way |= {*way.names, *(other for name in way.chain for other in there.entities.all_of(name))}
                sofar = _merged(sofar, (there, fits), best, way)
    found, judged = sofar
    if on_the_way:
        judged.passed[:] &= [memory.subject in ("", USER) or is_about(memory, on_the_way) for memory in found.memories]
    return found, judged


def _merged(
    sofar: tuple[Candidates, Judgement], there: tuple[Candidates, Judgement], best: Sequence[int], way: Way
) -> tuple[Candidates, Judgement]:
    (found, judged), (others, fits) = sofar, there
    known = {memory.id for memory in found.memories}
    new = [p for p in best if others.memories[p].id not in known]
    found = replace(
        found,
        memories=found.memories + [others.memories[p] for p in new],
        paths=found.paths + [others.paths[p] for p in new],
        vectors=found.vectors + [others.vectors[p] if others.models == found.models else None for p in new],
        traits=found.traits + [others.traits[p] for p in new],
    )
    fit = np.concatenate([judged.fit, np.zeros(len(new))])
    passed = np.concatenate([judged.passed, np.zeros(len(new), dtype=np.bool_)])
    why = judged.why + [{} for _ in new]
    positions = {memory.id: position for position, memory in enumerate(found.memories)}
    for place, p in enumerate(best, start=1):
        at, value = positions[others.memories[p].id], float(fits.fit[p]) * _LINK_FACTOR**way.links
        passed[at] = True
        told = {f"entity: {' -> '.join(way.chain)}": float(place)}
        if value > fit[at]:
            fit[at] = value
            why[at] = fits.why[p] | told | {"relevance": value}
        elif not any(name.startswith("entity: ") for name in why[at]):
            why[at] |= told
    return found, Judgement(fit, passed, why)
