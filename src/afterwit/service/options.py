"""What callers may say with each verb, and the validation of it: the façade's boundary."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypedDict, cast

from afterwit.clock import parse_time, to_us
from afterwit.config import Settings
from afterwit.errors import InvalidInput, Sentence
from afterwit.recall import Question
from afterwit.records import GLOBAL, Json, KeyFilter, Kind, Source, Status
from afterwit.text import check_text
from afterwit.vocabulary import fold_kind, fold_scope, fold_source, fold_subject, fold_tags, fold_topic

#: Most results of one search.
MAX_K = 50
#: Most tokens of an answer that may be asked for.
MAX_BUDGET = 20_000
#: Least tokens of a digest: one sentence and where it is from.
MIN_DIGEST = 20
#: Most memories of one page of a listing.
MAX_PAGE = 1000
#: Most UTF-8 bytes of a memory's text, of its source words, and of a query.
MAX_TEXT_BYTES = 16_384
#: Most UTF-8 bytes of a text that may hold several statements; longer ones are refused unread.
MAX_RAW_BYTES = 262_144
#: A time may lie this far ahead of the clock before it is taken for a mistake.
_CLOCK_SKEW = timedelta(days=1)

Moment = datetime | str


class WriteFields(TypedDict, total=False):
    """What may be said about a memory when it is written; all optional."""

    kind: str
    subject: str
    topic: str
    scope: str
    role: str
    raw: str
    structured: Json
    tags: Sequence[str]
    confidence: float
    expires_at: Moment
    valid_from: Moment
    happened_at: Moment
    source: str
    source_ref: str
    task_id: str


class SearchOptions(TypedDict, total=False):
    """How a search may be narrowed; all optional."""

    task_context: str
    constraints: Sequence[str]
    scopes: Sequence[str]
    kinds: Sequence[str]
    subjects: Sequence[str]
    topics: Sequence[str]
    tags: Sequence[str]
    role: str
    #: where the work runs: {"os": ..., "repo": ..., "tools": {"pip": "24.0"}}; what holds only elsewhere is told
    #: apart; see `afterwit.applies`
    environment: Json
    as_of: Moment
    known_at: Moment
    since: Moment
    until: Moment
    purpose: str
    top_k: int
    budget_tokens: int
    #: the task that asks: its scope, goal and constraints count, and what is returned counts as used by it
    task_id: str
    #: rank everything: no relevance cut, no removal of near-duplicates, no token budget; for judging the order
    exhaustive: bool
    #: asked ahead of the real call, while the user types: the answer is kept, so that the call is a look-up
    prefetch: bool


class UpdateFields(TypedDict, total=False):
    """What may be changed about a memory; at least one."""

    content: str
    verdict: str
    kind: str
    subject: str
    topic: str
    tags: Sequence[str]
    confidence: float
    expires_at: Moment
    valid_from: Moment
    structured: Json
    source: str
    reason: str


@dataclass(frozen=True)
class Fields:
    """`WriteFields` after validation; None where nothing was said."""

    kind: Kind | None = None
    subject: str | None = None
    topic: str | None = None
    scope: str = GLOBAL
    role: str = ""
    raw: str = ""
    structured: Json | None = None
    tags: tuple[str, ...] = ()
    confidence: float | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    happened_at: datetime | None = None
    source: Source | None = None
    task_id: str = ""


def read_fields(given: Mapping[str, Any], *, now: datetime) -> Fields:
    """Validate and fold what was said with a write.

    Raises:
        InvalidInput: unknown field or kind, bad or naive time, confidence outside 0..1, ...
    """
    _known(given, WriteFields)
    task_id = _text(given, "task_id", 200)
    source = given.get("source")
    ref = _text(given, "source_ref", 1000)
    happened_at = _moment(given, "happened_at")
    if happened_at is not None and happened_at > now + _CLOCK_SKEW:
        raise InvalidInput(
            Sentence("happened_at lies in the future: {happened_at}.", happened_at=happened_at.isoformat()),
            next_step="For something that begins later use valid_from.",
        )
    valid_from, valid_to = _moment(given, "valid_from"), _moment(given, "expires_at")
    if valid_from is not None and valid_to is not None and valid_to <= valid_from:
        raise InvalidInput("expires_at is not after valid_from.", next_step="Swap them or leave one out.")
    return Fields(
        kind=fold_kind(given["kind"]) if given.get("kind") else None,
        subject=fold_subject(given["subject"]) if given.get("subject") else None,
        topic=fold_topic(given["topic"]) if given.get("topic") else None,
        scope=fold_scope(given["scope"]) if given.get("scope") else GLOBAL,
        role=fold_role(given.get("role", "")),
        raw=_text(given, "raw", MAX_TEXT_BYTES),
        structured=json_object(given.get("structured"), "structured"),
        tags=fold_tags(_words(given, "tags")),
        confidence=_share(given.get("confidence")),
        valid_from=valid_from,
        valid_to=valid_to,
        happened_at=happened_at,
        source=Source(fold_source(source), ref or task_id) if source else None,
        task_id=task_id,
    )


def read_question(query: str, given: Mapping[str, Any], *, settings: Settings, now: datetime) -> Question:
    """Validate a search.

    Raises:
        InvalidInput: empty query, k outside 1..50, malformed scope, naive time, ...
    """
    as_of = _moment(given, "as_of")
    return Question(
        query=check_text(query, field="query", max_bytes=MAX_TEXT_BYTES),
        where=read_filter(given, now=now, as_of=as_of),
        now=now,
        task_context=_text(given, "task_context", MAX_TEXT_BYTES),
        constraints=tuple(check_text(word, field="constraints") for word in _words(given, "constraints")),
        role=fold_role(given.get("role", "")),
        environment=json_object(given.get("environment"), "environment") or {},
        k=_whole(given.get("top_k"), "top_k", 1, MAX_K, settings.top_k),
        budget_tokens=_whole(given.get("budget_tokens"), "budget_tokens", 1, MAX_BUDGET, settings.budget_tokens),
        timezone=settings.timezone,
        exhaustive=bool(given.get("exhaustive", False)),
    )


def read_filter(given: Mapping[str, Any], *, now: datetime, as_of: datetime | None) -> KeyFilter:
    """The key filter of a search or listing: what holds now, or held at `as_of`.

    `global` is always visible, and so is the shared pool.

    Raises:
        InvalidInput: unknown option or kind, malformed scope, naive time, ...
    """
    _known(given, SearchOptions)
    role = fold_role(given.get("role", ""))
    scopes = dict.fromkeys((GLOBAL, *(fold_scope(scope) for scope in _words(given, "scopes"))))
    past = (Status.ACTIVE, Status.SUPERSEDED, Status.EXPIRED)
    since, until = _moment(given, "since"), _moment(given, "until")
    if since is not None and until is not None and until <= since:
        raise InvalidInput("until is not after since.", next_step="Swap them or leave one out.")
    return KeyFilter(
        scopes=tuple(scopes),
        roles=("", role) if role else ("",),
        kinds=tuple(fold_kind(kind) for kind in _words(given, "kinds")),
        subjects=tuple(fold_subject(subject) for subject in _words(given, "subjects")),
        topics=tuple(fold_topic(topic) for topic in _words(given, "topics")),
        tags=fold_tags(_words(given, "tags")),
        statuses=(Status.ACTIVE,) if as_of is None else past,
        proven_only=_is_action(_text(given, "purpose", 100)),
        valid_at=as_of or now,
        known_at=_moment(given, "known_at"),
        happened_from=since,
        happened_to=until,
    )


def _is_action(purpose: str) -> bool:
    if purpose not in ("", "answer", "action"):
        raise InvalidInput(
            Sentence("Unknown purpose {purpose!r}.", purpose=purpose), next_step='Use "answer" or "action".'
        )
    return purpose == "action"


def fold_role(role: str) -> str:
    """A role's name folded, "" for the shared pool."""
    return fold_subject(role) if role else ""


def moment(value: Moment | None, field: str) -> datetime | None:
    """An aware time from a datetime or text.

    Raises:
        InvalidInput: naive, malformed or neither.
    """
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        to_us(value)
        return value
    return parse_time(check_text(value, field=field), field=field)


def _moment(given: Mapping[str, Any], field: str) -> datetime | None:
    return moment(given.get(field), field)


def _text(given: Mapping[str, Any], field: str, max_bytes: int) -> str:
    value = given.get(field)
    return check_text(value, field=field, max_bytes=max_bytes) if value else ""


def _words(given: Mapping[str, Any], field: str) -> list[str]:
    value = given.get(field) or ()
    if isinstance(value, str):
        return [value]
    items = cast("Sequence[Any]", value)
    if not isinstance(value, Sequence) or not all(isinstance(item, str) for item in items):
        raise InvalidInput(
            Sentence("{field} must be a list of texts.", field=field),
            next_step=Sentence('For example {field}=["a", "b"].', field=field),
        )
    return list(items)


_EXAMPLES = {"structured": '{"value": "Shanghai"}', "environment": '{"repo": "atlas", "tools": {"python": "3.12.1"}}'}


def json_object(value: Any, field: str) -> Json | None:
    """A JSON object that somebody gave for `field`; None where nothing was given.

    Raises:
        InvalidInput: no object, not JSON, or more than 16 KiB.
    """
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InvalidInput(
            Sentence("{field} must be an object.", field=field),
            next_step=Sentence("For example {example}.", example=_EXAMPLES[field]),
        )
    return check_json(cast("Json", value), field)


def check_json(value: Json, field: str) -> Json:
    """A JSON object whose texts are valid and that is not too large.

    Args:
        value: a JSON object.
        field: its name, for the message.

    Raises:
        InvalidInput: not JSON, or more than 16 KiB.
    """
    try:
        dumped = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            Sentence("{field} is not JSON: {problem}.", field=field, problem=error),
            next_step="Use texts, numbers, lists and objects.",
        ) from None
    check_text(dumped, field=field, max_bytes=MAX_TEXT_BYTES)
    return json.loads(dumped)


def check_page(limit: int, offset: int) -> None:
    """Let through the page of a listing.

    Raises:
        InvalidInput: `limit` is not from 1 to 1000, or `offset` is negative.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidInput(
            Sentence("limit must be a whole number from 1 to {most}, not {limit}.", most=MAX_PAGE, limit=limit),
            next_step="Ask for one page, and for the next one with offset.",
        )
    if offset < 0:
        raise InvalidInput(
            Sentence("offset must not be negative, not {offset}.", offset=offset), next_step="Begin with 0."
        )


def check_digest_budget(budget_tokens: int) -> None:
    """Let through the budget of a digest.

    Raises:
        InvalidInput: it is not from 20 to 20000.
    """
    _whole(budget_tokens, "budget_tokens", MIN_DIGEST, MAX_BUDGET, budget_tokens)


def _share(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise InvalidInput(
            Sentence("confidence must be a number from 0 to 1, not {value!r}.", value=value),
            next_step="Give 0 for a guess, 1 for what is certain, 0.8 for what is likely.",
        )
    return float(value)


def _whole(value: Any, field: str, low: int, high: int, default: int) -> int:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidInput(
            Sentence(
                "{field} must be a whole number from {low} to {high}, not {value!r}.",
                field=field,
                low=low,
                high=high,
                value=value,
            ),
            next_step=Sentence("Give a number in that range, or leave {field} out.", field=field),
        )
    return value


def _known(given: Mapping[str, Any], wanted: Any) -> None:
    unknown = sorted(set(given) - set(wanted.__annotations__))
    if unknown:
        raise InvalidInput(
            Sentence("Unknown parameter {name!r}.", name=unknown[0]),
            next_step=Sentence("Use one of: {names}.", names=", ".join(wanted.__annotations__)),
        )


def known_only(given: Mapping[str, Any], wanted: Any) -> Mapping[str, Any]:
    """`given`, if it names nothing but fields of the typed dict `wanted`.

    Raises:
        InvalidInput: it does.
    """
    _known(given, wanted)
    return given
