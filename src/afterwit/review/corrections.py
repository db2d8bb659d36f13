"""What the user said in a task that holds beyond it: corrections, wishes, rules, and what was to be undone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afterwit.records import Kind, Step
from afterwit.review.actions import act_of
from afterwit.review.changes import general
from afterwit.review.instructions import is_dangerous
from afterwit.review.wording import CORRECTION, LASTING, ONE_OFF, PREAMBLE, QUESTION, REVERT, RULE
from afterwit.text import redact_secrets, sentences
from afterwit.vocabulary import strip_injected

#: A statement shorter than this says nothing alone; a longer one is a text, not a correction.
_SHORTEST, _LONGEST = 4, 300
#: A message longer than this is material; its first sentences are heard.
_HEARD_CHARS = 2_000


@dataclass(frozen=True)
class Said:
    """One sentence of the user that is worth keeping."""

    #: the user's words, without courtesy and secrets
    words: str
    kind: Kind
    position: int
    #: what the agent had done when the user spoke; empty at the beginning
    about: str = ""
    #: it corrects the agent, rather than tell it something new
    is_correction: bool = False
    #: the user wants what was done undone
    is_revert: bool = False


def said_by_user(steps: Sequence[Step]) -> list[Said]:
    """Sentences of the user that hold beyond this task, in order, each once.

    Kept are corrections that name a way ("no, use pnpm"), lasting wishes and rules ("never commit to main"), and
    requests to undo what was done. Questions, remarks about the piece of work at hand, quoted material and text that
    recall put there are left out.
    """
    kept: dict[str, Said] = {}
    about = ""
    for step in steps:
        act = act_of(step.action, step.input)
        if step.action != "user":
            if act.kind != "say" and not act.is_dump:
                about = general(act.command if act.words else act.program, limit=80)
            continue
        for one in _statements(step, about):
            kept.setdefault(one.words.casefold(), one)
    whole = sorted(kept.values(), key=lambda one: -len(one.words))
    repeated = {id(one) for at, one in enumerate(whole) if any(_holds(other, one) for other in whole[:at])}
    return [one for one in kept.values() if id(one) not in repeated]


def _holds(longer: Said, shorter: Said) -> bool:
    """Whether the same was said elsewhere in more words."""
    return shorter.words.casefold() in longer.words.casefold() and longer.is_revert == shorter.is_revert


def _statements(step: Step, about: str) -> Iterator[Said]:
    words = strip_injected(step.input or step.output)[:_HEARD_CHARS]
    if "```" in words:
        words = words.split("```", 1)[0]
    corrects = bool(about) and CORRECTION.search(words) is not None
    for sentence in sentences(redact_secrets(words))[:12]:
        said = _statement(sentence, corrects=corrects)
        if said:
            kind = Kind.CONSTRAINT if RULE.search(said) else Kind.PREFERENCE
            yield Said(said, kind, step.position, about, corrects)
    if about and REVERT.search(words) and not QUESTION.search(words.strip()):
        yield Said(
            " ".join(words.split())[:_LONGEST], Kind.FAILURE, step.position, about, is_correction=True, is_revert=True
        )


def _statement(sentence: str, *, corrects: bool) -> str:
    """The sentence without its courtesy when it holds beyond the task; empty otherwise."""
    bare = PREAMBLE.sub("", sentence).strip(" \t,，。.;；!！")
    if not _SHORTEST <= len(bare) <= _LONGEST or QUESTION.search(sentence) or is_dangerous(bare):
        return ""
    lasting = LASTING.search(bare) is not None
    if ONE_OFF.search(bare) and not RULE.search(bare):
        return ""
    if not lasting and not (corrects and CORRECTION.search(sentence) and RULE.search(bare)):
        return ""
    if REVERT.search(bare) and not LASTING.search(bare):
        return ""
    return bare[:1].upper() + bare[1:]
