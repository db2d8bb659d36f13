"""What a finished task leaves to be remembered of itself, beside its lessons: what it was and how it went.

An agent that meets something alike reads, in a few sentences, what was asked and done, which code was at fault and
what it became, which check showed it, what was found out, refused or handed over. Rules alone; little is better
than much: a short task leaves one or nothing, thirty steps five to eight with its lessons, a long one twelve at most.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from afterwit.messages import say
from afterwit.records import Basis, Kind, Step, Task, TaskStatus
from afterwit.review.actions import act_of
from afterwit.review.attempts import Attempt, attempts_of, same_goal
from afterwit.review.changes import attempt_words
from afterwit.review.conclusions import alike, conclusions, handovers
from afterwit.review.edits import Edit, edits_of
from afterwit.review.instructions import is_dangerous, reads_as_instruction
from afterwit.review.lessons import MOST_FINDINGS, Finding, Review
from afterwit.review.signatures import Signature
from afterwit.review.telling import error_words, language_of, quoted
from afterwit.review.values import Hidden, says_something
from afterwit.review.wording import CORRECTION, QUESTION
from afterwit.text import redact_secrets, sentences
from afterwit.vocabulary import strip_injected

#: The field of `structured` that every such memory has: which part of the task it tells.
PART = "part"
#: Most memories of one task, lessons included, and their number for the square root of its steps.
MOST, _PER_ROOT = 12, 1.1
#: Steps from which on a task is told in a memory of its own, however much it taught; twice as many: in two.
_TELLS_ITSELF = 4
#: Characters of a goal in the memory of the task itself, and before what was found on the way.
_GOAL_CHARS, _TITLE_CHARS = 200, 80
#: Most of each part.
_MOST_EDITS, _MOST_CALLS, _MOST_FILES, _MOST_FIELDS, _MOST_SAID = 3, 4, 5, 4, 2
#: Sentences that tell less than this are left out.
_LEAST_TOLD = 1.35
#: What a task says at its end when nobody ended it.
_ENDED_ITSELF = frozenset(("", "time over", "step limit"))
_CALCULATES = re.compile(
    r"calcul|^think|wait|sleep|^list|^get|^search|^find|^read|^show|^describe|^fetch|^lookup|submit"
)
#: Words of which the name of a field is made whose value says which way was taken, and of nobody what he or she is:
#: `plan`, `output_format`, `deliveryMethod`; not `blood_type`, `marital_status` or `care_plan`.
_IMPERSONAL = frozenset(
    "action algorithm aspect backend branch bucket cabin category channel class color colour compression currency "
    "cycle database delivery direction driver encoding engine environment event fare field file filter format "
    "frequency image input interval kind layout level locale log machine method mode model operation operator option "
    "order output package paper plan priority product protocol provider queue region render report request resolution "
    "response retry room runtime scale scheme seat service severity shipping size sort source stage state status "
    "storage strategy style subscription target template theme ticket tier timezone type unit units version view zone "
    "模式 类型 类别 方式 方法 级别 等级 格式 套餐 状态 优先级 舱位 币种 单位 排序 颜色 尺寸 规格 渠道".split()
)
#: Most different checks that worked, and that failed, among which one is looked for that did both.
_MOST_CHECKS = 40
#: What tells a fault from others of its class without speaking: a module, a route, a file.
_NAME = re.compile(r"(?!.*://)[\w.@:/<>-]{1,60}")
_WORDS_OF_A_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[\u4e00-\u9fff]+|\d+")
_PLAIN_VALUE = re.compile(r"[A-Za-z][A-Za-z_ -]{0,23}")
_WHO = re.compile(
    r"(?i)^(?:you(?: are|'re)?|i am|my name is|我是|你是)"
    r"\s+\S+(?:\s+\S+)?(?:\s*\([^)]*\))?(?:\s*[.。,，]|\s+and\s+|$)\s*"
)
#: Code and headings in a goal that is written as an issue.
_MARKUP = re.compile(r"```.*?(?:```|\Z)|^\s*(?:#+ [^\n]*|\*\*[^*\n]{1,60}\*\*:?)\s*$", re.DOTALL | re.MULTILINE)
_ASKED = re.compile(r"(?i)\b(?:you(?:r|'re)?|please|kindly)\b|请")
_ONLY_NAMES = re.compile(r"(?:\b(?:is|are)|[:：]|是) ?(?:<\w+>|…)?\.?$")
_LEADS_IN = re.compile(r"(?i)\b(?:following|currently)\b|[:：]$|以下|如下")
_QUOTES = re.compile(r"[\"“「『`][^\"”」』`]{2,40}[\"”」』`]")
_GREETING = re.compile(
    r"(?i)^(?:hi|hello|hey|dear|good (?:morning|evening|afternoon)|thanks?|请|你好)\b[^.]{0,30}[!.,]?$"
)


@dataclass(frozen=True)
class _Run:
    """A task with what was read from its steps once."""

    task: Task
    steps: Sequence[Step]
    attempts: Sequence[Attempt]
    edits: Sequence[Edit]
    hidden: Hidden
    review: Review
    tongue: str
    #: the goal in a few words
    title: str


def remembered(task: Task, steps: Sequence[Step], review: Review) -> tuple[Finding, ...]:
    """The memories of how a task went, beside what its review found; the most telling first.

    Repeats, polling, dumps and values of this task alone (ids, amounts, names, days) leave nothing.

    Args:
        task: ended, or still open.
        steps: its steps in order, without what recall put there.
        review: of the same steps.

    Returns:
        Findings of kind `decision` (what was asked, done, changed, found out, handed over, corrected) and `fact` (what
        a check showed), each with the part of the task that it tells in `structured`.
    """
    hidden = Hidden(steps, task.goal)
    attempts = attempts_of(steps)
    title, tongue = _title(task, steps, hidden), language_of(task, steps)
    run = _Run(task, steps, attempts, _own_edits(attempts), hidden, review, tongue, title)
    room = _room_beside(len(review.findings), len(steps))
    if not title or room <= 0:
        return ()
    made = sorted(_parts(run), key=lambda one: (-one[0], one[1].positions))
    kept: list[Finding] = []
    for _, finding in made:
        if len(kept) < room and not any(_says_again(finding, other) for other in (*review.findings, *kept)):
            kept.append(finding)
    return tuple(kept)


def room_for(steps: int) -> int:
    """Most memories of a task of so many steps, lessons included: 1 for two, 3 for ten, 6 for thirty, 12 at most."""
    return min(MOST, round(_PER_ROOT * math.sqrt(steps)))


def _room_beside(findings: int, steps: int) -> int:
    """Room beside what a task teaches: what it was and came to is told even when it taught much, unless that is all
    that one task may leave."""
    room = room_for(steps)
    least = (steps >= _TELLS_ITSELF) + (steps >= 2 * _TELLS_ITSELF)
    return min(max(room - findings, least), max(room, MOST_FINDINGS) - findings)


def _own_edits(attempts: Sequence[Attempt]) -> list[Edit]:
    """Edits that others may meet: of files that were there before the task, else of new ones that it did not make for
    itself to be run."""
    found = edits_of(attempts)
    shell = {one.position for one in attempts if one.act.words}
    commands = [one.act.command for one in attempts if one.is_own_script]
    new = [one for one in found if one.is_new and not shell.issuperset(one.positions)]
    lasting = [one for one in new if not any(one.name in command for command in commands)]
    return [one for one in found if not one.is_new] or lasting


def _says_again(finding: Finding, other: Finding) -> bool:
    if "task" in (finding.structured[PART], other.structured.get(PART)):
        return False  # what was asked and what came of it is said nowhere else
    mine = str(finding.structured.get("told", finding.summary))
    others = (other.structured.get("told"), other.structured.get("cause"), other.structured.get("action"))
    return any(alike(mine, words) for words in (*others, other.summary) if isinstance(words, str) and len(words) > 20)


def _parts(run: _Run) -> Iterator[tuple[float, Finding]]:
    yield from _whole(run)
    if len(run.edits) > 1:
        yield from _changes(run)
    yield from _proof(run)
    for one in handovers(run.steps, run.hidden):
        words = say("episode_handover", run.tongue, title=run.title, tool=quoted(one.tool), words=one.words)
        # A task of which no more is to be told has its end here.
        if not _called(run) and not run.edits and (end := _end(run)):
            words = say("episode_handover_end", run.tongue, words=words.rstrip(".。"), end=end)
        yield 5.8, _finding(run, "handover", words, (one.position,), told=one.words)
    for one in conclusions(run.steps, run.hidden):
        if one.weight >= _LEAST_TOLD:
            words = say("episode_found", run.tongue, title=run.title, words=one.words)
            yield one.weight, _finding(run, "conclusion", words, (one.position,), told=one.words)
    yield from _corrections(run)
    yield from _refusals(run)


def _finding(
    run: _Run,
    part: str,
    summary: str,
    positions: Sequence[int],
    *,
    told: str = "",
    kind: Kind = Kind.DECISION,
    basis: Basis = Basis.INFERRED,
    **more: Any,
) -> Finding:
    outcome = run.review.outcome
    structured: dict[str, Any] = {PART: part, "context": run.title, "outcome": outcome.value if outcome else ""}
    structured |= {"told": told} if told else {}
    return Finding(
        kind,
        summary,
        structured | {name: value for name, value in more.items() if value},
        basis=basis,
        confidence=0.6 if basis is not Basis.INFERRED else 0.5,
        positions=tuple(sorted(set(positions)))[:20],
        subject=_subject(run),
        key=f"episode: {run.task.id}: {part}: {positions[0] if positions else ''}",
    )


def _subject(run: _Run) -> str:
    """The project that a task belongs to; empty when it belongs to none."""
    if run.task.scope.startswith("project:"):
        return run.task.scope
    repo: object = run.task.environment.get("repo")
    return f"project:{repo}" if isinstance(repo, str) and repo else ""


# --- the goal -------------------------------------------------------------------------------------


def _goal_sentences(task: Task, steps: Sequence[Step], hidden: Hidden) -> list[str]:
    words = strip_injected(task.goal) or next((step.input for step in steps if step.action == "user"), "")
    kept: list[str] = []
    for sentence in sentences(_MARKUP.sub("\n", words[:4_000]))[:12]:
        bare = _WHO.sub("", " ".join(redact_secrets(sentence).split())).strip(" ,")
        line = hidden(bare, limit=_GOAL_CHARS)
        # Whoever asks says "you" and "please".
        if _GREETING.match(line) or _ONLY_NAMES.search(line) or reads_as_instruction(_ASKED.sub("", line)):
            continue
        if says_something(line, least=2):
            kept.append(line)
    return kept


def _title(task: Task, steps: Sequence[Step], hidden: Hidden) -> str:
    """The goal in a few words: its first sentence, or the first that names something where that one only leads in."""
    told = _goal_sentences(task, steps, hidden)
    if told and _LEADS_IN.search(told[0]):
        return _cut(next((one for one in told[:4] if _QUOTES.search(one)), told[0]), _TITLE_CHARS)
    return _cut((told or [""])[0], _TITLE_CHARS)


def _cut(words: str, limit: int) -> str:
    bare = words.strip().rstrip(".。,，;；:：")
    if len(bare) <= limit:
        return bare
    return bare[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,，;；:：") + "…"


# --- the task itself --------------------------------------------------------------------------------


def _whole(run: _Run) -> Iterator[tuple[float, Finding]]:
    """What was asked, what was done about it, and how it ended."""
    did = [part for part in (_edited(run), _called(run), _summary(run)) if part]
    end = _end(run)
    if not did and end and not handovers(run.steps, run.hidden):
        did = [part for part in (_looked_up(run),) if part]
    checked = _checked(run)
    lost = run.review.outcome is TaskStatus.FAILED and bool(checked) and not run.review.findings
    if not did and not lost:
        return  # that a check passed and the task went well tells nobody anything
    did += [part for part in (checked, end) if part]
    told = _goal_sentences(run.task, run.steps, run.hidden)
    goal = told[0]
    for sentence in told[1:4]:
        mark = "" if goal[-1] in ".!?。！？" else "." if run.tongue == "en" else "。"
        goal = f"{goal}{mark} {sentence}"
    joined = say("episode_join", run.tongue).join(did)
    words = say("episode_task", run.tongue, goal=_cut(goal, _GOAL_CHARS), did=joined)
    acting = [one.position for one in run.attempts if not one.act.is_dump] or [run.steps[-1].position]
    basis = Basis.VERIFIED if any(one.act.is_check and not one.failed for one in run.attempts[-3:]) else Basis.OBSERVED
    yield 6.0, _finding(run, "task", words, acting, basis=basis, told=joined, chosen=joined)


def _end(run: _Run) -> str:
    end = run.review.outcome
    return say(f"episode_end_{end.value}", run.tongue) if end is not None else ""


def _looked_up(run: _Run) -> str:
    """Of work on records: that nothing was changed, which may be just what is right."""
    looked = [one for one in run.attempts if one.act.arguments and not one.act.is_poll]
    names = list(dict.fromkeys(quoted(one.act.program) for one in looked))
    only_looked = all(one.act.is_dump or _CALCULATES.search(one.act.program.casefold()) for one in looked)
    if not run.hidden.has_records or len(looked) < 2 or not only_looked:
        return ""
    return say("episode_looked", run.tongue, tools=_listed(names[:_MOST_CALLS], run.tongue))


def _edited(run: _Run) -> str:
    if all(one.is_new for one in run.edits) and run.review.outcome is not TaskStatus.SUCCEEDED:
        return ""
    if len(run.edits) == 1:
        return _change_words(run.edits[0], run)
    names = list(
        dict.fromkeys(quoted(one.path) for one in sorted(run.edits, key=lambda one: (one.is_test, -one.lines)))
    )
    return say("episode_edited", run.tongue, files=_listed(names, run.tongue, most=_MOST_FILES)) if names else ""


def _change_words(edit: Edit, run: _Run) -> str:
    key = "made" if edit.is_new else "became" if edit.old and edit.new else "added" if edit.new else "edited"
    key = "dropped" if edit.old and not edit.new else key
    where = say("episode_where", run.tongue, where=quoted(edit.where)) if edit.where else ""
    return say(
        f"episode_file_{key}",
        run.tongue,
        file=quoted(edit.path) + where,
        old=quoted(edit.old),
        new=quoted(edit.new),
    )


def _called(run: _Run) -> str:
    """Calls of tools that did something, with what was chosen in them, the first of each."""
    calls: dict[str, list[Attempt]] = {}
    for one in run.attempts:
        act = one.act
        if act.kind == "call" and act.arguments and not act.is_poll and not _CALCULATES.search(act.program.casefold()):
            calls.setdefault(act.program, []).append(one)
    handed = {one.tool for one in handovers(run.steps, run.hidden)}
    told = [_call_words(*item, run.tongue) for item in calls.items() if item[0] not in handed][:_MOST_CALLS]
    return say("episode_called", run.tongue, calls=_listed(told, run.tongue)) if told else ""


def _call_words(program: str, tried: Sequence[Attempt], tongue: str) -> str:
    """One tool with what was chosen, how often it was called, and whether in vain: `refund` (method card, 3 times)."""
    failed = sum(one.failed for one in tried)
    notes = _chosen(tried[-1])[:_MOST_FIELDS]
    notes += [say("episode_times", tongue, count=len(tried))] if len(tried) > 1 else []
    if failed:
        notes.append(say("episode_in_vain" if failed == len(tried) else "episode_some_in_vain", tongue, count=failed))
    tool = quoted(program)
    return say("episode_call", tongue, tool=tool, notes=say("note_join", tongue).join(notes)) if notes else tool


def _listed(names: Sequence[str], tongue: str, *, most: int = 0) -> str:
    """Names in a row; of more than `most`, how many more."""
    shown = names[:most] if most else names
    more = say("episode_more", tongue, count=len(names) - most) if most and len(names) > most else ""
    return say("list_join", tongue).join(shown) + more


def _chosen(attempt: Attempt) -> list[str]:
    """Arguments of a call that say which way was taken, not for whom."""
    return [
        f"{name} {value}"
        for name, value in attempt.act.arguments.items()
        if _PLAIN_VALUE.fullmatch(value) and _is_impersonal(name) and not reads_as_instruction(value)
    ]


def _is_impersonal(field: str) -> bool:
    words = [word.casefold() for word in _WORDS_OF_A_NAME.findall(field)]
    return bool(words) and _IMPERSONAL.issuperset(words)


def _checked(run: _Run) -> str:
    """The last check; of a task that failed without one, what failed last."""
    checks = [one for one in run.attempts if one.act.is_check and _may_be_told(one)]
    if not checks and run.review.outcome is TaskStatus.FAILED:
        checks = [one for one in run.attempts[-3:] if one.failed and not one.only_looks and _may_be_told(one)]
    if not checks:
        return ""
    last = checks[-1]
    words = quoted(attempt_words(last))
    if last.failed:
        error = _error(last.fault)
        return say(
            "episode_check_failed" if error else "episode_check_failed_bare", run.tongue, check=words, error=error
        )
    return say("episode_check_passed", run.tongue, check=words)


def _may_be_told(attempt: Attempt) -> bool:
    """Whether a command may be named to others as what showed something: one that does harm would be run again."""
    return not reads_as_instruction(attempt.act.command) and not reads_as_instruction(attempt_words(attempt))


def _error(fault: Signature | None) -> str:
    """A fault by its class and by the name that it is about; never by the tool's own sentence, which whoever wrote it
    would speak with in the name of a check. Empty when it has no class of its own."""
    if fault is None or fault.error in ("", "error", "failed"):
        return ""
    parts = [fault.error, *([fault.detail] if _NAME.fullmatch(fault.detail) else [])]
    return ": ".join(parts)


def _summary(run: _Run) -> str:
    """What was said of the result when the task was ended."""
    words = run.task.outcome.strip()
    if words in _ENDED_ITSELF:
        return ""
    first = next(iter(sentences(strip_injected(words)[:600])), "")
    line = run.hidden(redact_secrets(first), limit=200).rstrip(".。")
    return "" if not says_something(line, least=1) or reads_as_instruction(line) else line


# --- parts of it --------------------------------------------------------------------------------------


def _changes(run: _Run) -> Iterator[tuple[float, Finding]]:
    """The edits that count, of a task that edited several files: code before tests, much before little."""
    ordered = sorted((one for one in run.edits if one.new or one.old), key=lambda one: (one.is_test, -one.lines))
    for place, edit in enumerate(ordered[:_MOST_EDITS]):
        change = _change_words(edit, run)
        words = say("episode_change", run.tongue, title=run.title, change=change)
        basis = Basis.OBSERVED
        yield 5.5 - 0.4 * place - edit.is_test, _finding(run, "change", words, edit.positions, basis=basis, told=change)


def _proof(run: _Run) -> Iterator[tuple[float, Finding]]:
    """The last check that failed before the edits and passed after them: how to see the fault, and that it is gone."""
    edited = {position for edit in run.edits for position in edit.positions}
    if not edited:
        return
    earliest, latest = min(edited), max(edited)
    failed = _once_each(one for one in run.attempts if one.failed and one.position < latest)[-_MOST_CHECKS:]
    worked = _once_each(one for one in reversed(run.attempts) if one.position > earliest and _shows_a_state(one))
    for last in filter(_may_be_told, worked[:_MOST_CHECKS]):
        first = next((one for one in failed if one.position < last.position and _shows_the_same(one, last)), None)
        if first is None or not any(first.position < place < last.position for place in edited):
            continue
        check, error = quoted(attempt_words(last)), _error(first.fault)
        key = "episode_proof" if error else "episode_proof_bare"
        words = say(key, run.tongue, title=run.title, check=check, error=error)
        positions = (first.position, last.position)
        found = f"{check} {error}".strip()
        yield 1.9, _finding(run, "proof", words, positions, kind=Kind.FACT, basis=Basis.VERIFIED, told=found)
        return


def _shows_a_state(attempt: Attempt) -> bool:
    """It worked, and that says how the code is: a check, a request, a program that was run."""
    act = attempt.act
    return not attempt.failed and not act.is_dump and (act.is_check or act.kind in ("http", "run"))


def _once_each(attempts: Iterable[Attempt]) -> list[Attempt]:
    """Of those that did the same, the first in the order given."""
    seen: dict[tuple[str, str], Attempt] = {}
    for one in attempts:
        seen.setdefault((one.step.action, one.step.input), one)
    return list(seen.values())


def _shows_the_same(failed: Attempt, worked: Attempt) -> bool:
    """The same check, or the very same command."""
    if failed.is_own_script or worked.is_own_script:
        return False
    if failed.act.is_check and worked.act.is_check:
        return same_goal(failed, worked)
    return bool(worked.act.command) and failed.act.command == worked.act.command


def _refusals(run: _Run) -> Iterator[tuple[float, Finding]]:
    """What a tool that works on records refused, and with which words: as far to be believed as the tool."""
    for one in run.attempts:
        if one.act.kind != "call" or not one.act.arguments or one.fault is None:
            continue
        error = run.hidden(error_words(one.fault), limit=160)
        if says_something(error, least=3) and not reads_as_instruction(error):
            words = say("episode_refused", run.tongue, title=run.title, tool=quoted(one.act.program), error=error)
            yield (
                3.4,
                _finding(run, "refusal", words, (one.position,), kind=Kind.FACT, basis=Basis.OBSERVED, told=error),
            )


def _corrections(run: _Run) -> Iterator[tuple[float, Finding]]:
    """What the user put right on the way, when it holds for this sort of task alone."""
    known = {position for one in run.review.findings if one.from_user for position in one.positions}
    has_acted, count = False, 0
    for step in run.steps:
        if step.action != "user":
            has_acted = has_acted or act_of(step.action, step.input).kind != "say"
            continue
        words = run.hidden(redact_secrets(strip_injected(step.input)[:300].split("```")[0]), limit=200)
        told = has_acted and CORRECTION.search(words) is not None and says_something(words, least=5)
        if not told or step.position in known or QUESTION.search(words) or is_dangerous(words) or count >= _MOST_SAID:
            continue
        count += 1
        summary = say("episode_corrected", run.tongue, title=run.title, words=words)
        yield 4.4, _finding(run, "correction", summary, (step.position,), basis=Basis.STATED, told=words)
