"""What the agent chose, among what, and why."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afterwit.records import Step
from afterwit.review.actions import act_of
from afterwit.review.changes import general
from afterwit.review.instructions import reads_as_instruction
from afterwit.review.wording import CAUSE, CHOICE, PLAN, STRONG_CHOICE
from afterwit.text import redact_secrets, sentences
from afterwit.vocabulary import strip_injected

_LONGEST = 240
_OVER = re.compile(
    r"(?i)(?P<chosen>[^,.;，。；]{2,100}?)\s+(?:instead of|rather than|in favou?r over|"
    r"over)\s+(?P<other>[^,.;，。；]{2,60})|"
    r"(?P<chosen2>(?:选择?|用|采用|选用)[^，。；,;]{1,60}?)(?:，|,)?(?:而不是|而非|不用|代替|"
    r"替代)(?P<other2>[^，。；,;]{1,40})"
)
_BECAUSE = re.compile(
    r"(?i)(?:because|since|as it|due to|so that)\s+(?P<why>[^.;]{4,160})|(?:因为|由于|原因是)(?P<why2>[^。；]{2,120})"
)
_OF_FAILURE = re.compile(
    r"(?i)fail|error|time[ds]? ?out|broke|wrong|miss|refus|reject|crash|失败|报错|错误|超时|缺|拒绝|不通过|不能|崩溃"
)
_LEADING = re.compile(r"^(?i:because|since|as it|due to)\b[ ,]*|^(?:因为|由于|原因是)[，,]?")
#: Choosing the next click is no decision that anybody looks up.
_PASSING = re.compile(
    r"(?i)\b(?:next step|let me|let's (?:first|now|try|see|run|look|open|check)|i(?:'ll| will) (?:now|first|"
    r"try|run|look|open|check))\b|(?:先看|先试|接下来|下一步|让我)"
)


@dataclass(frozen=True)
class Decided:
    """One choice of the agent."""

    chosen: str
    #: what was not chosen; may be empty
    options: tuple[str, ...]
    why: str
    position: int
    #: logged as a decision, not read from the reasons of another step
    is_logged: bool


def decisions_of(steps: Sequence[Step]) -> list[Decided]:
    """Choices worth keeping, in order: logged decisions with a reason or options, and reasons of steps that name both
    what was chosen and what was not."""
    found: dict[str, Decided] = {}
    for step in steps:
        for one in _logged(step) if step.action == "decision" else _in_reasons(step):
            found.setdefault(one.chosen.casefold(), one)
    return list(found.values())


def _logged(step: Step) -> Iterator[Decided]:
    act = act_of("decision_log", step.input)
    given = act.arguments
    words = given.get("chosen") or given.get("decision") or ("" if given else step.input) or step.rationale
    why = given.get("rationale") or given.get("reason") or (step.rationale if words != step.rationale else "")
    options = _listed(given.get("options", ""))
    chosen = _clean(words)
    if not chosen or not (why or options or CHOICE.search(words)) or (_PASSING.search(chosen) and not options):
        return
    found = _OVER.search(chosen)
    if found and not options:
        options = (_clean(found["other"] or found["other2"] or ""),)
    because = _BECAUSE.search(chosen)
    yield Decided(
        chosen,
        options,
        _clean(why) or _clean((because["why"] or because["why2"]) if because else ""),
        step.position,
        is_logged=True,
    )


def _in_reasons(step: Step) -> Iterator[Decided]:
    if not step.rationale or step.action == "user":
        return
    for sentence in sentences(strip_injected(step.rationale)[:3_000])[:20]:
        found = _OVER.search(sentence)
        if found is None or not (STRONG_CHOICE.search(sentence) or CAUSE.search(sentence)) or _PASSING.search(sentence):
            continue
        chosen = _clean(sentence)
        because = _BECAUSE.search(sentence)
        if chosen:
            why = _clean((because["why"] or because["why2"]) if because else "")
            yield Decided(
                chosen, (_clean(found["other"] or found["other2"] or ""),), why, step.position, is_logged=False
            )


def cause_in(rationale: str) -> str:
    """The sentence of a step's reasons that says why something failed; empty when none does."""
    for sentence in sentences(strip_injected(rationale)[:3_000])[:20]:
        if CAUSE.search(sentence) and _OF_FAILURE.search(sentence) and not PLAN.search(sentence):
            return _clean(sentence)
    return ""


def _listed(options: str) -> tuple[str, ...]:
    if options.startswith("["):
        parts = re.findall(r'"([^"]{1,80})"', options)
    else:
        parts = re.split(r"\s*(?:[,;/|，；、]|\bor\b|\bvs\.?\b|还是|或)\s*", options)
    return tuple(clean for one in parts[:6] if (clean := _clean(one)))


def _clean(words: str) -> str:
    """Words fit to be kept: one line, without secrets and values of this task; empty when they give orders."""
    line = " ".join(redact_secrets(words).split())
    if reads_as_instruction(line):
        return ""
    return general(_LEADING.sub("", line), limit=_LONGEST).strip(" ,，;；")
