"""When an intent ("next time, look at performance") is to be brought up again."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, Literal, cast

from afterwit import text
from afterwit.clock import parse_time
from afterwit.cues import topics_of
from afterwit.dates import find_due
from afterwit.dates.phrases import find_phrases, local, utc, zone_of
from afterwit.errors import InvalidInput
from afterwit.messages import say
from afterwit.records import GLOBAL, Json, Kind, Memory, Standing, Status
from afterwit.spelling import spellings
from afterwit.vocabulary import fold_key, fold_topic

#: Values of `structured["state"]` of an intent that is settled; without one it is open.
CLOSED = ("done", "dismissed")

State = Literal["overdue", "due", "triggered", "next_task"]


@dataclass(frozen=True)
class DueState:
    """Why an intent is to be brought up now."""

    state: State
    #: one sentence, in the intent's language
    why: str
    #: when it is due, aware UTC; None = at no fixed time
    due: datetime | None = None


@dataclass(frozen=True)
class Due:
    """When an intent is to be done."""

    #: the moment, or the first moment of the day, aware UTC
    at: datetime
    #: from when it is brought up
    begins: datetime
    #: from when it is late
    ends: datetime
    #: as people read it, in their zone: "2026-12-05" or "2026-12-05 15:00"
    shown: str


def is_open(memory: Memory) -> bool:
    """Whether a memory is an intent that is still to be done."""
    closed = memory.structured.get("state") in CLOSED
    alive = memory.status is Status.ACTIVE and memory.standing is not Standing.REFUTED
    return memory.kind is Kind.INTENT and alive and not closed


def due_of(memory: Memory, *, timezone: str) -> Due | None:
    """When an intent is due, by its fields or else by its words as they were meant when it was written.

    Args:
        memory: the intent; `structured["due"]` is a date or RFC 3339 time, and `structured["from"]` an earlier
            moment from which it is to be brought up.
        timezone: IANA name of the zone in which days begin; "" = that of the machine.

    Raises:
        InvalidInput: unknown zone.
    """
    zone = zone_of(timezone)
    at = _moment(memory.structured.get("due"), timezone)
    begins = _moment(memory.structured.get("from"), timezone)
    if at is None:
        found = find_due(memory.summary, now=memory.recorded_at, timezone=timezone)
        if found is None:
            return None
        at, begins = found.at, found.begins
    day = local(at, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    whole_day = local(at, zone) == day
    ends = utc(day + timedelta(days=1), zone) if whole_day else at
    start = utc(day, zone)
    shown = f"{day:%Y-%m-%d}" if whole_day else f"{local(at, zone):%Y-%m-%d %H:%M}"
    return Due(at, min(begins or start, start), ends, shown)


def due_state(
    memory: Memory,
    *,
    now: datetime,
    timezone: str,
    goal: str = "",
    scope: str = GLOBAL,
    files: Sequence[str] = (),
    topics: Iterable[str] = (),
) -> DueState | None:
    """Whether an intent is to be brought up at the start of a task, and why.

    An intent of another scope never is. One with a due time is from that day on, or from the moment in
    `structured["from"]`; one with a trigger when the task matches it; one with neither at the next task.

    Args:
        memory: the intent. `structured["trigger"]` is a clause ("next time we deploy"), or an object that names
            `topic`, `scope`, `file` (a path or pattern), `words` or `task` (words of the goal), each a text or a
            list of alternatives; all that are named must match.
        now: aware.
        timezone: IANA name of the zone in which days begin; "" = that of the machine.
        goal: what the task is about, in the user's words.
        scope: the task's scope; an intent of that scope or of the global one may come up.
        files: paths that the task names or touches.
        topics: topics of the task beyond those that its goal speaks of.

    Returns:
        None when it has to wait, is settled, or is no intent.

    Raises:
        InvalidInput: unknown zone.
    """
    if not is_open(memory) or memory.scope not in (GLOBAL, scope):
        return None
    if memory.valid_to is not None and memory.valid_to <= now:
        return None
    language = text.language(memory.summary)
    due = due_of(memory, timezone=timezone)
    if due is not None and now >= due.begins:
        state: State = "overdue" if now >= due.ends else "due"
        return DueState(state, say(f"intent_{state}", language, due=due.shown), due.at)
    at = due.at if due is not None else None
    trigger = trigger_of(memory, timezone=timezone)
    if trigger is None:
        return None if due is not None else DueState("next_task", say("intent_next_task", language))
    task = _Task.of(goal, scope, files, topics)
    matched = _matches(trigger, task)
    return DueState("triggered", say("intent_triggered", language, trigger=matched), at) if matched else None


# --- Triggers -------------------------------------------------------------------------------------

_TRIGGER_FIELDS = ("topic", "scope", "file", "words", "task")

_CLAUSES = (
    re.compile(
        r"^\W*(?:please )?(?:the )?(?:next time|when(?:ever)?|once|after|before|if|as soon as|while|during)\s+"
        r"(?P<clause>[^,;:]+?)(?:,|;|:|\s-\s)",
        re.IGNORECASE,
    ),
    re.compile(
        # "when" at the end is often what is to be found out: "check when the certificate expires"
        r"\b(?:the next time|next time|whenever|when (?:we|you|i)|once|after|before|as soon as|during)\s+"
        r"(?P<clause>[^,;:.]+?)\W*$",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:下次|下回|下一次|等到?|以后|今后|每次)?在?(?P<clause>[^，,。；;！]{1,24}?)"
        r"(?:的时候|之前|以前|之后|以后|时(?!间)|前(?!端|台)|后(?!端|台))[，,]?\s*"
        r"(?:再|先|要|就|请|记得|别忘|不要忘|提醒|帮|检查|看|把|补|加|改|做|跑|删|更新|确认|处理|优化|清理|修|写|测|试)"
    ),
)
_CUT_ZH = re.compile(
    r"下一?次|下回|记得|提醒我?|别忘了?|我们?|咱们?|你们?|项目|任务|代码|工作|东西|事情|完成|结束|开始|继续|准备|打算|"
    r"有空|有时间|时候|时间|之后|以后|之前|以前|今后|稍后|改天|回头|每次|等到|处理|遇到|碰到|涉及|修改|改动|改到|"
    r"[等要再到做改碰动修看写用去来后前时了的在把对]"
)
_GENERIC = frozenset(
    text.index_tokens(
        "next time later once when whenever after before during while work working works touch touching change "
        "changing edit editing modify task tasks project projects code thing things something anything stuff do doing "
        "done start starting begin again open need get have look come finish finished ready new go going make making "
        "session sprint chance moment day week month free back use using handle deal point pick up out over into soon "
        "possible first"
    )
)


@dataclass(frozen=True)
class _Task:
    """What a trigger is held against."""

    goal: str
    scope: str
    files: tuple[str, ...]
    topics: frozenset[str]
    #: index tokens of the goal and the files
    tokens: frozenset[str]

    @classmethod
    def of(cls, goal: str, scope: str, files: Sequence[str], topics: Iterable[str]) -> "_Task":
        """Read a task."""
        named = topics_of(text.fold(goal)) | {fold_topic(topic) for topic in topics if topic}
        tokens = text.index_tokens("\n".join((goal, *files)))
        return cls(goal, scope, tuple(files), frozenset(named), _with_aliases(tokens))


def trigger_of(memory: Memory, *, timezone: str) -> Mapping[str, tuple[str, ...]] | None:
    """What brings an intent up: field -> alternatives; None when the next task does.

    A clause that only says "next time" or names a time is no trigger.
    """
    given = memory.structured.get("trigger")
    if isinstance(given, Mapping):
        fields = cast("Json", given)
        named = {name: texts for name in _TRIGGER_FIELDS if (texts := _texts(fields.get(name)))}
        return named or None
    clause = given if isinstance(given, str) and _content(given, memory, timezone) else _clause(memory.summary)
    words = _content(clause, memory, timezone) if clause else ""
    return {"words": (words,)} if words else None


def _clause(summary: str) -> str:
    found = (match.group("clause") for pattern in _CLAUSES if (match := pattern.search(summary)))
    return next(found, "").strip()


def _content(clause: str, memory: Memory, timezone: str) -> str:
    """The words of a clause that say what it is about: without times and what is said in any such clause."""
    phrases = find_phrases(clause, now=memory.recorded_at, zone=zone_of(timezone), leaning="future")
    for phrase in reversed(phrases):
        clause = f"{clause[: phrase.span.first]} {clause[phrase.span.last :]}"
    return " ".join(_units(clause))


def _units(clause: str) -> list[str]:
    """Words of Latin script that matter, and runs of Chinese between the words that do not."""
    found: list[str] = []
    for chunk in re.findall(r"[\u3400-\u9fff]+|[^\s\u3400-\u9fff，。；：！？、,;!?()（）\"'“”]+", clause):
        if re.match(r"[\u3400-\u9fff]", chunk):
            found += [run for run in _CUT_ZH.sub(" ", text.fold(chunk)).split() if len(run) > 1]
        elif set(text.query_tokens(chunk)) - _GENERIC and chunk.lower() not in _STOP:
            found.append(chunk)
    return found


_STOP = frozenset(
    "a an the we you i it he she they this that there is are was were be been to of on in at for with and or our your "
    "my its their any some all we're you're i'm has have had will would should can could".split()
)


def _matches(trigger: Mapping[str, tuple[str, ...]], task: _Task) -> str:
    """What of the trigger the task matches, as text; "" unless everything that it names does."""
    matched: list[str] = []
    for name, alternatives in trigger.items():
        fitting = next((item for item in alternatives if _fits(name, item, task)), None)
        if fitting is None:
            return ""
        matched.append(fitting)
    return ", ".join(matched)


def _fits(name: str, wanted: str, task: _Task) -> bool:
    match name:
        case "scope":
            return wanted.casefold() == task.scope
        case "file":
            return _fits_file(wanted, task)
        case "topic":
            return fold_topic(wanted) in task.topics or _says(wanted, task)
        case _:
            return _says(wanted, task)


def _fits_file(pattern: str, task: _Task) -> bool:
    """Whether a file of the task, or one that its goal names, is meant by a path, its end, or a pattern."""
    named = re.findall(r"[\w./\\-]*\w\.\w+|[\w.-]+(?:/[\w.-]+)+", task.goal)
    wanted = pattern.replace("\\", "/").removeprefix("./")
    for path in (*task.files, *named):
        plain = path.replace("\\", "/").removeprefix("./")
        parts = PurePosixPath(plain).parts
        ends = ["/".join(parts[start:]) for start in range(len(parts))]
        inside = plain.startswith(f"{wanted.rstrip('/')}/")
        if inside or any(fnmatchcase(end, wanted) for end in ends):
            return True
    return False


def _says(words: str, task: _Task) -> bool:
    """Whether the task speaks of what the words do: of both of two, of two thirds of more.

    A word is spoken of when it stands there in any form, or under another name, or when the task is about its topic.
    """
    units = _units(words) or words.split()
    spoken = sum(_speaks_of(unit, task) for unit in units)
    return bool(units) and spoken * 3 >= len(units) * (2 if len(units) > 2 else 3)


def _speaks_of(unit: str, task: _Task) -> bool:
    if topics_of(text.fold(unit)) & task.topics or fold_key(unit) in task.topics:
        return True
    if not re.match(r"[\u3400-\u9fff]", unit):
        whole = text.index_tokens(unit)
        return bool(whole) and (whole[0] in task.tokens or all(token in task.tokens for token in whole[1:] or whole))
    pairs = [unit[place : place + 2] for place in range(len(unit) - 1)]
    return sum(pair in task.tokens for pair in pairs) * 2 >= len(pairs)


def _with_aliases(tokens: Iterable[str]) -> frozenset[str]:
    known = frozenset(tokens)
    return known.union(*(name for names in spellings(known).values() for name in names))


# --- Values ---------------------------------------------------------------------------------------


def _texts(value: Any) -> tuple[str, ...]:
    items: Sequence[Any] = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else (value,)
    return tuple(item.strip() for item in items if isinstance(item, str) and item.strip())


def _moment(value: Any, timezone: str) -> datetime | None:
    """A time from a field; a bare date is a day of the zone. None for what is no time."""
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        moment = parse_time(value, field="due")
    except InvalidInput:
        return None
    is_date = len(value.strip()) <= len("2025-03-01")
    return utc(moment.replace(tzinfo=None), zone_of(timezone)) if is_date else moment
