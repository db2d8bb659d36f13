"""What can be noticed of each candidate before anything is weighed: one column for each of `rank.SIGNALS`."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from afterwit import meaning, rank, reading, text
from afterwit.answers import WHO, asked_kinds, asks_of_failure, asks_of_rule, asks_something, is_strict
from afterwit.concepts import concepts_of
from afterwit.dates import TimeRange, without_times
from afterwit.matters import names_tool
from afterwit.recall.asking import Candidates, Question
from afterwit.records import Kind, Memory
from afterwit.spelling import spellings
from afterwit.storage import Reader
from afterwit.text.tokens import CJK
from afterwit.traits import Traits, is_code
from afterwit.vocabulary import PERSONAL_TOPICS, USER
from afterwit.wanted import Term, terms_of

#: Spreads by which texts of two languages lie farther apart than texts of one.
_LANGUAGE_GAP = 1.5
#: Log-odds beyond which a reader is no surer, and beyond which being ahead of the others says no more.
_MOST_READ, _MOST_LEAD = 6.0, 4.0
#: How far being behind the others counts for what is no question: whoever looks a thing up wants what there is of it.
_HEADING_LEAD = 1.0
#: The vectors of this model tell of words alone, which are noticed better otherwise.
_WORDS_MODEL = "hash/"
#: Log-odds of being the answer for each spread of closeness, less the edge: fitted where both are known.
_READ_BY_SPREAD, _READ_EDGE = 1.0, 2.6
#: How far a concept and a field count as the word itself.
_CONCEPT, _FIELD = 0.8, 0.3
#: Share of a word's weight that is left when no memory knows it in any form.
_UNKNOWN = 0.5
#: Weight of the words of a question that asks something by them.
_LEAST_ASKED = 0.6
#: Share of the weight of a question's words up to which nothing counts as said.
_NOTHING = 0.01

_USER_WORDS = frozenset(text.index_tokens("user 用户"))
_OF_USER = re.compile(r"\buser\b|\bmy\b|\bi\b|用户|我")
_RELATIONS = (
    "child son daughter baby wife husband spouse parent mother father brother sister grandmother grandfather "
    "aunt uncle cousin nephew relative family friend girlfriend boyfriend neighbour colleague boss teacher doctor "
    "dentist lawyer landlord pet dog cat team company"
)
_NO_NAME = re.compile(r"[\d\W]+|v?\d[\w.%]*|ok")
#: A time of day, and what follows a number that counts something: 800 yuan are no code.
_CLOCK = re.compile(r"\d{1,2}:\d\d")
_COUNTS = (
    r"\s*(?:%|块|元|美元|欧元|万|千|百|人|个|件|份|条|张|台|天|小时|分钟|秒|年|月|岁|克|公斤|斤|米|公里|毫秒|页|次|percent|dollars?|euros?|"
    r"pounds?|usd|eur|rmb|yuan|cents|people|users?|days?|hours?|minutes?|seconds?|years?|grams?|kg|km|g|ms|m|px|gb|mb)"
    r"(?![a-z])"
)
#: A number by which one of a kind is told: room 12, 5路; none that counts something, as "wait 5 minutes" does.
_LABEL = re.compile(
    rf"\b([a-z]{{3,}}) ?#?(\d{{1,3}})\b(?![.:/]\d)(?!{_COUNTS})|"
    r"(?<![\d.:])(\d{1,3}) ?(号线|号楼|号机|号房|号|路|栋|班|期|室|组|层|区)"
)
#: Words before a number that counts something without a unit.
_NO_LABEL = frozenset(
    (
        "the and for from with over about after before under until than last next first top only every least most "
        "around within takes took costs cost has had have was were are least past some just nearly almost between"
    ).split()
)
_HAN = re.compile(f"[{CJK}]")
_VERB = re.compile(r"(?<!\w)(?!who|which|does|did|the|has|have|person|our|their|and)[a-z]{3,}")

_FAILED = frozenset({Kind.FAILURE, Kind.LESSON})
_RULING = frozenset({Kind.RULE, Kind.CONSTRAINT, Kind.PREFERENCE, Kind.LESSON})

_NONE, _FIELD_MET, _CONCEPT_MET, _WORD_MET = 0, 1, 2, 3


#: Candidates that are held against each other: masks, one for each person that is asked about.
Rivals = Sequence[NDArray[np.bool_]]


@dataclass(frozen=True)
class Text:
    """A question, or what a task is about."""

    words: str
    vector: NDArray[np.float32] | None


def observe(
    reader: Reader, space: str, question: Question, found: Candidates, asked: Text, when: TimeRange | None
) -> rank.Floats:
    """What is noticed of every candidate beside a question.

    Args:
        reader: a store or a transaction.
        space: the tenant.
        question: the whole question; names, codes and times are looked for in all of it.
        found: the candidates.
        asked: the text that they are held against: the question, or one sentence of it.
        when: the time that is asked about.

    Returns:
        Shape (candidates, signals), columns in the order of `rank.SIGNALS`.
    """
    seen = _Columns(len(found.memories))
    traits = Traits(asked.words)
    whole = traits if asked.words == question.query else Traits(question.query)
    known = reader.known_subjects(space)
    named = found.entities.named(whole.folded, known)
    other_code = _codes(seen, question, found, when)
    strangers, foreign = _strangers(question.query, named), _foreign(traits, found)
    if named:
        each = _persons(seen, named, found, known)
    else:
        beside, filed = _beside_the_user(whole, found), _of_somebody_else(whole, strangers, found, foreign)
        # Twice, for it may have all other words of the question.
        seen.put("other_name", np.where(filed, 2.0, beside))
        each = [~(beside | filed)]
    about = [same & ~other_code for same in each]
    rivals = [same for same in about if same.any()] or [np.ones(seen.size, dtype=np.bool_)]
    _kinds(seen, traits.folded, found)
    seen.put("same_tool", [names_tool(whole.folded, memory) for memory in found.memories])
    _words(seen, _weigh(reader, space, asked.words, found, named), rivals)
    least = -_MOST_LEAD if asks_something(question.query) else -_HEADING_LEAD
    _read_words(seen, traits.words, found, rivals, least)
    _read_whole(seen, asked, found, rivals, foreign, least)
    if named and WHO in asked_kinds(traits.folded):
        seen.put("turned", [is_turned(traits.folded, told.folded, named) for told in found.traits])
    _topics(seen, traits, found)
    _unknown_names(seen, reader, space, question.query, found, strangers, foreign)
    if when is not None:
        _times(seen, when, found)
    return seen.matrix


def observe_task(
    reader: Reader, space: str, found: Candidates, task: Text, sides: Sequence[str]
) -> Iterator[rank.Floats]:
    """What is noticed of every candidate beside a task, and beside the words of each of its sides.

    A task asks for nothing: neither the kind of an answer nor the names in it count. How close a memory is in
    meaning is measured to the task as a whole.

    Args:
        reader: a store or a transaction.
        space: the tenant.
        found: the candidates.
        task: the whole of it.
        sides: parts of its words.

    Yields:
        As `observe` returns it, for the task first.
    """
    seen = _Columns(len(found.memories))
    rivals = [np.ones(seen.size, dtype=np.bool_)]
    _read_whole(seen, task, found, rivals, _foreign(Traits(task.words), found), -_HEADING_LEAD)
    weighed = _weigh(reader, space, task.words, found, ())
    close = seen.matrix.copy()
    for words, here in ((task.words, weighed), *((side, weighed.of(side)) for side in sides)):
        seen.matrix[:] = close
        traits = Traits(words)
        _words(seen, here, rivals)
        _read_words(seen, traits.words, found, rivals, -_HEADING_LEAD)
        _topics(seen, traits, found)
        yield seen.matrix.copy()


class _Columns:
    """The matrix, written column by column."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.matrix = np.zeros((size, len(rank.SIGNALS)))

    def put(self, name: str, values: "rank.Floats | NDArray[np.bool_] | Sequence[bool]") -> None:
        self.matrix[:, rank.SIGNALS.index(name)] = values


def _lead(values: rank.Floats, rivals: Rivals) -> rank.Floats:
    """How far each value is above the best of the others that it is held against; 0 is the least that counts.

    Those that are about one of several persons are held against each other, those about nobody asked for against all.
    """
    if len(rivals) == 1:
        return _lead_among(values, rivals[0])
    leads = _lead_among(values, np.logical_or.reduce(rivals))
    for same in rivals:
        here = _lead_among(values, same)
        leads[same] = np.maximum(leads[same], here[same])
    return leads


def _lead_among(values: rank.Floats, rivals: NDArray[np.bool_]) -> rank.Floats:
    standing = np.where(rivals, values, -np.inf)
    if standing.size < 2:
        return values.copy()
    best = int(np.argmax(standing))
    others = np.full(values.size, standing[best])
    others[best] = np.partition(standing, -2)[-2]
    return values - np.where(np.isfinite(others), others, 0.0)


def _read_words(seen: _Columns, words: reading.Words, found: Candidates, rivals: Rivals, least: float) -> None:
    said = reading.shipped().by_words(words, [told.words for told in found.traits])
    seen.put("words_answer", np.clip(said, -_MOST_READ, _MOST_READ))
    seen.put("words_answer_by", _ahead(said, rivals, least))


def _read_whole(
    seen: _Columns,
    asked: Text,
    found: Candidates,
    rivals: Rivals,
    foreign: NDArray[np.bool_],
    least: float,
) -> None:
    """How likely each answers by its vector; with a model that the reader was not trained on, by how close it is."""
    words_only = asked.vector is None or any(part.model.startswith(_WORDS_MODEL) for part in found.models)
    unread = np.array([words_only or vector is None for vector in found.vectors], dtype=np.bool_)
    seen.put("no_vector", unread)
    if asked.vector is None or unread.all():
        return
    said = None
    if len(found.models) == 1:
        said = reading.shipped().whole.read(asked.vector, found.vectors, found.models[0].model)
    if said is None:
        said = np.where(unread, 0.0, _closeness(asked.vector, found, foreign) * _READ_BY_SPREAD - _READ_EDGE)
    seen.put("whole_answers", np.clip(said, -_MOST_READ, _MOST_READ))
    seen.put("whole_answers_by", _ahead(said, rivals, least))


def _closeness(query: NDArray[np.float32], found: Candidates, foreign: NDArray[np.bool_]) -> rank.Floats:
    """How close in meaning each is, in spreads of the model; NaN where nothing is known of it."""
    cosines = np.array([np.nan if vector is None else float(query @ vector) for vector in found.vectors])
    return meaning.closeness(cosines, found.vectors, found.models) + _LANGUAGE_GAP * foreign


def _ahead(said: rank.Floats, rivals: Rivals, least: float) -> rank.Floats:
    """How far each is above the best of the others and above there being none: the best of wrong ones is nothing."""
    return np.clip(np.minimum(_lead(said, rivals), said), least, _MOST_LEAD)


def _foreign(traits: Traits, found: Candidates) -> NDArray[np.bool_]:
    """Which candidates are in another language than the question."""
    return np.array([told.language != traits.language for told in found.traits], dtype=np.bool_)


@dataclass(frozen=True)
class _Weighed:
    """The words of a text, held against the candidates."""

    terms: Sequence[Term]
    #: shape (candidates, terms)
    met: NDArray[np.int8]
    #: how much each word says, by rarity; names of known subjects say nothing unless there is nothing else
    weights: rank.Floats
    #: the same without rarity
    asked: rank.Floats

    def of(self, words: str) -> "_Weighed":
        """Only the words of a part of the text."""
        here = {term.word for term in terms_of(words)}
        places = [place for place, term in enumerate(self.terms) if term.word in here]
        terms = [self.terms[place] for place in places]
        return _Weighed(terms, self.met[:, places], self.weights[places], self.asked[places])


def _weigh(reader: Reader, space: str, words: str, found: Candidates, named: Collection[str]) -> _Weighed:
    terms = terms_of(words)
    met = _met(terms, words, found)
    counts = reader.word_statistics(space, sorted({token for term in terms for token in term.tokens}))
    total = max(counts.total, len(found.memories))
    spread = np.sqrt(total / max(len(found.memories), 1))
    # How many memories have the concept is only known of the candidates, among which it is commoner than elsewhere.
    holding = np.maximum(
        np.array([min(counts.containing.get(token, 0) for token in term.tokens) for term in terms], dtype=np.float64),
        np.minimum(total, (met >= _CONCEPT_MET).sum(axis=0) * spread),
    )
    name_tokens = _USER_WORDS.union(*(text.index_tokens(name.rpartition(":")[2]) for name in named))
    is_name = np.array([term.tokens <= name_tokens for term in terms], dtype=np.bool_)
    asked = np.array([term.weight for term in terms], dtype=np.float64)
    if not is_name.all():
        asked = asked * ~is_name
    return _Weighed(terms, met, rank.word_weights(holding, total) * asked * np.where(holding == 0, _UNKNOWN, 1), asked)


def _words(seen: _Columns, weighed: _Weighed, rivals: Rivals) -> None:
    if not len(weighed.terms):
        return
    met, weights = weighed.met, weighed.weights
    # Light words that are all there is besides names cover little of what is asked.
    whole = (weights.sum() or 1.0) * max(1.0, _LEAST_ASKED / (weighed.asked.sum() or 1.0))
    said, meant, near = ((met == level) @ weights for level in (_WORD_MET, _CONCEPT_MET, _FIELD_MET))
    share: rank.Floats = (said + _CONCEPT * meant + _FIELD * near) / whole
    for name, value in (("coverage", said), ("concept_coverage", meant), ("field_coverage", near)):
        seen.put(name, value / whole)
    seen.put("most_in_common_by", _lead(share, rivals))
    seen.put("nothing_in_common", share <= _NOTHING)


def _met(terms: Sequence[Term], words: str, found: Candidates) -> NDArray[np.int8]:
    """How each memory meets each term of a text, shape (memories, terms)."""
    wanted = frozenset(token for term in terms for token in term.tokens)
    concepts = frozenset(concept for term in terms for concept in (*term.same, *term.fields))
    other_names = spellings(text.index_tokens(words), found.groups)
    met = np.zeros((len(found.traits), len(terms)), dtype=np.int8)
    for row, told in zip(met, found.traits, strict=True):
        tokens, meant = told.tokens & wanted, told.concepts_among(concepts)
        if not (tokens or meant or other_names):
            continue
        for place, term in enumerate(terms):
            if term.tokens <= tokens or (other_names and _has_all(told, term.tokens, other_names)):
                row[place] = _WORD_MET
            elif meant:
                row[place] = _CONCEPT_MET if term.same & meant else _FIELD_MET if term.fields & meant else _NONE
    return met


def has(told: Traits, token: str, other_names: Mapping[str, Sequence[frozenset[str]]]) -> bool:
    """Whether a text has a token, in one of its spellings (`spelling.spellings`)."""
    return token in told.tokens or any(name <= told.tokens for name in other_names.get(token, ()))


def _has_all(told: Traits, tokens: Collection[str], other_names: Mapping[str, Sequence[frozenset[str]]]) -> bool:
    return all(has(told, token, other_names) for token in tokens)


def is_turned(question: str, told: str, names: Collection[str]) -> bool:
    """Whether a text says of somebody what the question asks the other way round: who reports to Ann, or to whom Ann
    reports.

    In English by the order of name and verb, in Chinese by the word that stands right before or after the name.

    Args:
        question: folded, and asking who.
        told: folded.
        names: who is named in the question, folded.
    """
    # Whoever is named first, so that the answer never depends on the order of a set.
    for bare in sorted({name.rpartition(":")[2] for name in names}, key=lambda bare: (question.find(bare), bare)):
        here, there = question.find(bare), told.find(bare)
        if here < 0 or there < 0:
            continue
        if not bare.isascii():
            before, after = _beside(question, here, len(bare))
            told_before, told_after = _beside(told, there, len(bare))
            if (before and before == told_after != told_before) or (after and after == told_before != told_after):
                return True
            continue
        shared = [
            (found.start() > here, _stem_place(told, found.group()) > there)
            for found in _VERB.finditer(question)
            if found.group() not in bare and _stem_place(told, found.group()) >= 0
        ]
        if shared:
            return all(a != b for a, b in shared)
    return False


def _beside(words: str, place: int, length: int) -> tuple[str, str]:
    """The Chinese letters right before and right after a place; "" where there is none."""
    before, after = words[max(0, place - 1) : place], words[place + length : place + length + 1]
    return before if _HAN.match(before) else "", after if _HAN.match(after) else ""


def _stem_place(told: str, word: str) -> int:
    """Where a text has a word in any ending; -1 where it has not."""
    return told.find(" " + word.rstrip("s").removesuffix("ed").removesuffix("ing")) + 1 or -1


def _topics(seen: _Columns, traits: Traits, found: Candidates) -> None:
    asked = traits.topics
    if asked:
        seen.put("topic_filed", [memory.topic in asked for memory in found.memories])
        others = [bool(memory.topic) and memory.topic not in asked for memory in found.memories]
        seen.put(
            "other_topic",
            [other and not told.speaks_of(asked) for other, told in zip(others, found.traits, strict=True)],
        )


def _kinds(seen: _Columns, folded: str, found: Candidates) -> None:
    """What kind of answer and of memory is asked for."""
    kinds = asked_kinds(folded)
    if kinds:
        told = [[_tells(kind, memory, traits) for kind in kinds] for memory, traits in _rows(found)]
        seen.put("other_kind", [not any(row) for row in told])
        strict = [place for place, kind in enumerate(kinds) if is_strict(kind)]
        seen.put("no_answer", [any(not row[place] for place in strict) for row in told])
    for asks, name, right in (
        (asks_of_failure, "is_failure", _FAILED),
        (asks_of_rule, "is_rule", _RULING),
    ):
        if asks(folded):
            seen.put(name, [memory.kind in right for memory in found.memories])


def _rows(found: Candidates) -> "zip[tuple[Memory, Traits]]":
    return zip(found.memories, found.traits, strict=True)


def _tells(kind: str, memory: Memory, told: Traits) -> bool:
    if kind == WHO and memory.subject not in ("", USER) and not memory.subject.startswith("project:"):
        return True
    return told.tells(kind)


def _persons(
    seen: _Columns, named: Collection[str], found: Candidates, known: Collection[str]
) -> list[NDArray[np.bool_]]:
    """Who is named: 张三 is not 李四. Returns which memories are about each of those who are named."""
    # 王芳 is not named by 王芳芳.
    longer = [other for other in known if other not in named and any(name in other for name in named)]
    each = [
        np.array(
            [memory.subject in names or _names_one_of(names, told.folded, longer) for memory, told in _rows(found)],
            dtype=np.bool_,
        )
        for names in {frozenset(found.entities.all_of(name)) for name in named}
    ]
    same = np.logical_or.reduce(each)
    somebody = np.array([bool(memory.subject) for memory in found.memories], dtype=np.bool_)
    others = ~same & somebody
    seen.put("other_name", others)
    seen.put("no_name", ~same & ~somebody)
    return each


def _names_one_of(names: Collection[str], folded: str, longer: Collection[str]) -> bool:
    for other in longer:
        folded = folded.replace(other, " ")
    return any(text.mentions(folded, name) for name in names)


def _beside_the_user(whole: Traits, found: Candidates) -> NDArray[np.bool_]:
    """Who has the same attribute as the user, when nobody but the user is asked about: "the user's friend's name" is
    no answer to "the user's name"."""
    if not _OF_USER.search(whole.folded) or whole.concepts & _relations():
        return np.zeros(len(found.memories), dtype=np.bool_)
    of_user = {memory.topic for memory in found.memories if memory.subject == USER} - {""}
    return np.array(
        [memory.topic in of_user and memory.subject not in ("", USER) for memory in found.memories], dtype=np.bool_
    )


def _of_somebody_else(
    whole: Traits, strangers: Sequence[frozenset[str]], found: Candidates, foreign: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """What is filed as somebody's home, phone or diet, when that of another one is asked about of whom nothing is
    known: the user, or who has a name that no subject has."""
    of_user = not strangers and _OF_USER.search(whole.folded) is not None and not whole.concepts & _relations()
    topics = whole.topics & PERSONAL_TOPICS if strangers or of_user else frozenset[str]()
    if not topics:
        return np.zeros(len(found.memories), dtype=np.bool_)
    other_names = spellings(whole.tokens, found.groups)

    def is_other(memory: Memory, told: Traits) -> bool:
        if memory.topic not in topics or memory.subject in ("", USER) or memory.subject.startswith("project:"):
            return False
        if of_user:
            return not _OF_USER.search(told.folded)
        return not any(_has_all(told, name, other_names) for name in strangers)

    others = np.array([is_other(memory, told) for memory, told in _rows(found)], dtype=np.bool_)
    # A name may read otherwise in another language.
    return others if of_user else others & ~foreign


@lru_cache(maxsize=1)
def _relations() -> frozenset[int]:
    """Concepts for somebody who belongs to the user."""
    return concepts_of(frozenset(text.index_tokens(_RELATIONS)))


def _codes(seen: _Columns, question: Question, found: Candidates, when: TimeRange | None) -> NDArray[np.bool_]:
    """Which code is asked for: one error code is not another. Returns which memories lack it.

    The numbers of a time ("in January 2025") are no code to what happened or held then.
    """
    asked = Traits(question.query)
    codes = _codes_of(asked)
    other = _other_label(asked.folded, found)
    if codes:
        other_names = spellings(asked.tokens)
        same = np.array(
            [told.has_hard_term(codes) or any(has(told, code, other_names) for code in codes) for told in found.traits],
            dtype=np.bool_,
        )
        seen.put("same_code", same)
        other |= ~same
    if when is not None and other.any():
        timeless = Traits(without_times(question.query, now=question.now, timezone=question.timezone))
        if not _codes_of(timeless):
            then = np.array([overlaps(memory, when) for memory in found.memories], dtype=np.bool_)
            other &= ~then | _other_label(timeless.folded, found)
    seen.put("other_code", other)
    return other


def _codes_of(asked: Traits) -> frozenset[str]:
    return frozenset(term for term in asked.hard_terms if is_code(term) and not _is_amount(term, asked.folded))


def _other_label(asked: str, found: Candidates) -> NDArray[np.bool_]:
    """Which memories are about cave 2 and not about cave 3, when that is asked about."""
    wanted = _labels(asked)
    other = np.zeros(len(found.memories), dtype=np.bool_)
    for place, told in enumerate(found.traits if wanted else ()):
        numbers = _labels(told.folded)
        other[place] = any(noun in numbers and not wanted[noun] & numbers[noun] for noun in wanted)
    return other


def _labels(folded: str) -> dict[str, frozenset[str]]:
    """Numbers by which things of one kind are told apart, by kind: room 12, line 3, 5路."""
    found: dict[str, frozenset[str]] = {}
    for before, after, number, noun in _LABEL.findall(folded):
        if before not in _NO_LABEL:
            kind = before or noun
            found[kind] = found.get(kind, frozenset()) | {(after or number).lstrip("0")}
    return found


def _is_amount(term: str, folded: str) -> bool:
    if not term.isdigit():
        return _CLOCK.fullmatch(term) is not None
    return term not in folded or re.search(rf"[$€£¥]\s?{term}|{term}{_COUNTS}", folded) is not None


def _unknown_names(
    seen: _Columns,
    reader: Reader,
    space: str,
    query: str,
    found: Candidates,
    names: Sequence[frozenset[str]],
    foreign: NDArray[np.bool_],
) -> None:
    """Names of products, persons and the like that a memory lacks: known elsewhere in the space, or nowhere."""
    if not names:
        return
    is_han = text.language(query) == "zh"
    counts = reader.word_statistics(space, sorted({token for name in names for token in name})).containing
    other_names = spellings(text.index_tokens(query), found.groups)
    lacks, unknown = np.zeros(seen.size, dtype=np.bool_), np.zeros(seen.size, dtype=np.bool_)
    for name in names:
        missing = np.array([not _has_all(told, name, other_names) for told in found.traits], dtype=np.bool_)
        if min(counts.get(token, 0) for token in name):
            lacks |= missing
        else:
            # A Latin name in a Chinese question stays Latin in any answer; a plain English one may be translated.
            unknown |= missing if is_han else missing & ~foreign
    seen.put("lacks_name", lacks)
    seen.put("unknown_name", unknown)


def _strangers(query: str, named: Collection[str]) -> list[frozenset[str]]:
    """Names in a question that are those of no subject, each as its tokens."""
    known = _USER_WORDS.union(*(text.index_tokens(name.rpartition(":")[2]) for name in named))
    return [name for name in _names_in(query, is_han=text.language(query) == "zh") if not name <= known]


def _names_in(query: str, *, is_han: bool) -> set[frozenset[str]]:
    """Names in a text, each as its tokens; words of the lexicon are no names."""
    names = {
        frozenset(text.index_tokens(term))
        for term in text.hard_terms(query)
        if not _NO_NAME.fullmatch(term) and not is_code(term)
    }
    if is_han:
        latin = (term for term in terms_of(query) if term.word.isascii() and term.word.isalpha())
        names |= {term.tokens for term in latin if len(term.word) > 1}
    return {name for name in names if name and not concepts_of(name)}


def _times(seen: _Columns, when: TimeRange, found: Candidates) -> None:
    phrase = frozenset(text.query_tokens(when.phrase))
    happened = np.array([when.start <= memory.happened_at < when.end for memory in found.memories], dtype=np.bool_)
    said = np.array([2 * len(phrase & told.tokens) >= len(phrase) > 0 for told in found.traits], dtype=np.bool_)
    holds = np.array([overlaps(memory, when) for memory in found.memories], dtype=np.bool_)
    seen.put("in_time", happened | said)
    seen.put("out_of_time", ~(happened | said | holds))


def overlaps(memory: Memory, when: TimeRange) -> bool:
    """Whether something happened or held in a time."""
    happened = when.start <= memory.happened_at < when.end
    if happened or (memory.valid_from is None and memory.valid_to is None):
        return happened
    begins = memory.valid_from or memory.happened_at
    return begins < when.end and (memory.valid_to is None or memory.valid_to > when.start)
