"""What an agent concluded on the way: causes, properties of what it worked on, refusals, and what it handed over."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afterwit.records import Step
from afterwit.review.actions import Act, act_of, spoken
from afterwit.review.instructions import reads_as_instruction
from afterwit.review.signatures import is_failure
from afterwit.review.values import Hidden, says_something
from afterwit.review.wording import CAUSE, PLAN
from afterwit.text import index_tokens, redact_secrets, sentences
from afterwit.vocabulary import strip_injected

#: Most characters of a sentence that is kept, and fewest of one that says anything.
LONGEST, SHORTEST = 300, 40
#: Characters of a step's reasons that are read, and sentences of them.
_READ_CHARS, _READ_SENTENCES = 4_000, 24
#: Most conclusions of one task: about twice as many as it may leave memories.
MOST = 24
#: Share of common words from which two sentences say the same.
_SAME = 0.6

#: The agent states how something is, as it found out.
_FOUND = re.compile(
    r"(?i)\b(?:turns out|turned out|indicat(?:es?|ing)|suggests?(?: that)?|means? that|which means|this means|"
    r"explains|"
    r"root cause|caused by|stems from|comes from|vulnerab\w+|(?:does|do|did)(?: not|n't) (?:support|allow|cover|"
    r"accept|"
    r"have|include|handle|check|match)|only (?:supports?|allows?|accepts?|works?)|requires?|should not be|expects?|"
    r"entitled|"
    r"eligible|"
    r"instead of|rather than|truncat\w+|overflow\w*|compar(?:es|ed)|identical|mismatch\w*|discrepanc\w+|insufficient|"
    r"(?:is|are) (?:not|missing|wrong|set to|ideal|based on|computed|encoded|encrypted|stored|called)|must (?:be|"
    r"have)|"
    r"incorrect(?:ly)?|enough|only covers?|but|allows? \w+ to|no additional|because|since|due to|so that|"
    r"if and only if|unless)\b|"
    r"原因|因为|由于|说明|意味着|原来|其实|不支持|不允许|只能|只有|必须|需要先|取决于|导致|不匹配|不一致|不足|缺少"
)
#: It says that something cannot be had: by whose rules, and why.
REFUSES = re.compile(
    r"(?i)\b(?:(?:can(?:no|')t|can not|unable to|not able to|may not|(?:is|are) not|(?:isn|"
    r"aren)'t) (?:be )?(?:cancel\w*|"
    r"chang\w*|modif\w*|refund\w*|possible|allowed|permitted|eligible|available|offer\w*|provid\w*|process\w*|"
    r"waiv\w*|add\w*|"
    r"remov\w*|compensat\w*|approv\w*)|(?:policy|rules?) (?:do(?:es)? not|don't|doesn't|prohibits?|forbids?)|"
    r"against (?:our |the )?"
    r"policy)\b|不(?:能|可以|允许|支持)(?:取消|修改|更改|退款|退货|办理|提供)|(?:政策|规定)不允许"
)
#: What only tells how the work is getting on.
_PROGRESS = re.compile(
    r"(?i)\b(?:success\w*|as expected|is (?:now )?(?:present|correct|ready|removed|done)|has been (?:added|updated|"
    r"created|"
    r"removed|fixed|resolved)|good sign|to (?:ensure|make sure|confirm|verify|see)|prudent|we (?:have|are|"
    r"can) (?:now|see)|"
    r"we(?:'ve| have) (?:found|got|obtained|collected)|likely (?:to be )?in|should be (?:in|at)|no longer needed|"
    r"works? now|"
    r"proceed|navigate|open the|(?:submit|run|re-?run|execute) (?:the|"
    r"our|it)|"
    r"will (?:be|now|also)|so far|step \d)\b|\bI (?:have|see|am)\b|成功了?[。！]?$|正常[。！]?$|看一下|继续"
)
#: A way that is taken, with what it is for: what was planned is what was done.
_WAY = re.compile(
    r"(?i)\b(?:to (?:undo|reverse|invert|recover|avoid|bypass|work around|speed up|reduce|extract|decode|decrypt|"
    r"reconstruct|normali[sz]e)|by (?:implementing|using|undoing|reversing|passing|setting|replacing|splitting|"
    r"escaping)|"
    r"(?:using|with|apply(?:ing)?|for) (?:the |an? )?(?:[\w`'’-]+ ){1,4}(?:attack|method|approach|algorithm|theorem|"
    r"solver))\b|"
    r"(?:通过|借助|利用|改用).{2,30}(?:来|以|实现|绕过|避免)"
)
_ABOUT_TO = re.compile(
    r"^(?i:(?:now |next |then |first |so |in the script,? )*(?:let me|let's|let us|(?:we|i)(?:'ll| will| can|"
    r" should| am going to"
    r"| are going to| need to)(?: now| first| then| try to)*)[, ]+)"
)
_GUESSES = re.compile(r"(?i)\b(?:might|may|maybe|perhaps|possib\w+|likely|probably|could be|seems?)\b|可能|也许|大概")
#: Begins with a word for what was said right before.
_REFERS = re.compile(
    r"^(?:This|That|These|Those|It|They|He|She|Such|Since (?:it|this|that|they)\b|"
    r"The (?:error|discrepancy|message|problem|issue|difference))\b|^(?:这|那|它|其)"
)
_GLUED = re.compile(r"(?<=[\w`)\]])([.!?])(?=[A-Z][a-z]*,? \w)")
_AT_A_LINE = re.compile(r"(?i),? (?:on|at|in|near|around|of) (?:the )?lines? \d+(?:[-–]\d+)?\b")
#: What whoever takes over is asked to do, which goes without saying.
_REQUEST = re.compile(
    r"(?i)\b(?:please|kindly|requir(?:es|ing) (?:an? )?(?:human|further|immediate)|"
    r"request(?:s|ing) (?:an? )?(?:human|transfer|further|immediate)|"
    r"needs? (?:further |immediate )?(?:assistance|help) (?:from|beyond|with (?:this|her|his))|"
    r"assistance (?:from an? human|is|required)|assistance required|seeks? further assistance|further assistance)\b|请"
)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_PLACEHOLDER = re.compile(r"<\w+>")
_ASKS = re.compile(r"[?？]\s*$")
_NAMED = re.compile(r"`[^`\n]+`|\b\w+[._]\w+\b|\b[a-z]+[A-Z]\w+\b|\b\w+\(\)|\"[^\"\n]{2,60}\"")
#: A field of a call in which the agent tells whoever takes over what it is about.
_HANDED_FIELDS = ("summary", "reason", "message", "description", "details", "note")
#: The name of a tool, in words, that gives something to a person or a queue; no money and no file.
_HANDS_OVER = re.compile(
    r"\bescalat|\bhand ?(?:off|over)\b|"
    r"\b(?:transfer|refer|assign|route|forward|delegate|connect|contact|request|hand)\b.*\b(?:humans?|agents?|"
    r"representatives?|operators?|staff|specialists?|supervisors?|support|teams?|queues?|help ?desk)\b|"
    r"\b(?:create|open|file|raise|submit|log|assign)\b.*\b(?:tickets?|(?:support|help) (?:case|request))\b|"
    r"转接|转人工|人工|工单"
)
_LEADING = re.compile(
    r"^(?i:(?:(?:i'm|i am|we're|we are) (?:very |so )?sorry,?(?: but)?|unfortunately|(?:很|非常)?抱歉|对不起|"
    r"also|and|but|so|however|thus|therefore|hence|anyway|well|okay|ok|here|now|i think(?: that)?|"
    r"it (?:seems|looks|appears)(?: like| that)?|we are indeed seeing that|indeed)[, ，]+)+"
)


@dataclass(frozen=True)
class Conclusion:
    """One sentence of an agent that may help whoever does something like it."""

    #: without values of this task and secrets
    words: str
    position: int
    #: how much it is likely to tell, about 1 to 4
    weight: float


@dataclass(frozen=True)
class Handover:
    """A task, or a part of it, that the agent gave to somebody else."""

    #: the tool with which it did
    tool: str
    #: what it said it was about
    words: str
    position: int


def conclusions(steps: Sequence[Step], hidden: Hidden) -> list[Conclusion]:
    """Sentences in which the agent states what it found out or why something cannot be done; the most telling first,
    each once, `MOST` at most. What it is going to do, and how far it is, is left out, and so is whatever gives orders.
    """
    found: list[Conclusion] = []
    for step in steps:
        found += _of_step(step, hidden)
    found.sort(key=lambda one: (-one.weight, one.position))
    kept: list[tuple[Conclusion, frozenset[str]]] = []
    for one in found:
        mine = _tokens(one.words)
        if not any(_overlap(mine, others) for _, others in kept):
            kept.append((one, mine))
        if len(kept) == MOST:
            break
    return [one for one, _ in kept]


def handovers(steps: Sequence[Step], hidden: Hidden) -> list[Handover]:
    """What was given to somebody else to do, in the agent's words at that moment; what nobody took is left out."""
    made: list[Handover] = []
    for step in steps:
        act = act_of(step.action, step.input)
        hands_over = act.kind != "say" and bool(act.arguments) and _HANDS_OVER.search(spoken(act.program)) is not None
        if not hands_over or is_failure(step):
            continue
        said = _handed(act)
        told = [one for one in sentences(redact_secrets(strip_injected(said))) if not _REQUEST.search(one)]
        plain = [line for one in told if says_something(line := hidden(one, limit=LONGEST), least=3)]
        words = " ".join(plain)
        words = words if len(words) <= LONGEST else words[: LONGEST - 1].rsplit(" ", 1)[0] + "…"
        if words and says_something(words) and not reads_as_instruction(words):
            made.append(Handover(act.program, words[:1].upper() + words[1:], step.position))
    return made


def alike(one: str, other: str) -> bool:
    """Whether two sentences say about the same, by their words."""
    return _overlap(_tokens(one), _tokens(other))


def _tokens(words: str) -> frozenset[str]:
    return frozenset(index_tokens(words))


def _overlap(mine: frozenset[str], others: frozenset[str]) -> bool:
    return len(mine & others) >= _SAME * max(1, min(len(mine), len(others)))


def _of_step(step: Step, hidden: Hidden) -> list[Conclusion]:
    """The telling sentences of one step; those that follow each other are one, as far as they go."""
    found: list[Conclusion] = []
    before, goes_on = "", False
    for sentence in _reasons(step):
        bare = _AT_A_LINE.sub("", sentence)
        whole = (
            f"{before} {bare}" if _REFERS.search(bare) and not goes_on and len(before) + len(bare) < LONGEST else bare
        )
        words = _LEADING.sub("", hidden(redact_secrets(whole), limit=LONGEST)).strip()
        weight = _weight(words)
        before = bare
        if not weight or not says_something(words, least=6):
            goes_on = False
            continue
        words = _ABOUT_TO.sub("", words)
        words = words[:1].upper() + words[1:]
        if goes_on and len(found[-1].words) + len(words) < LONGEST:
            joined = f"{found[-1].words} {words}"
            found[-1] = Conclusion(joined, step.position, max(found[-1].weight, weight) + 0.2)
        else:
            found.append(Conclusion(words, step.position, weight))
        goes_on = True
    return found


def _handed(act: Act) -> str:
    return next((act.arguments[name] for name in _HANDED_FIELDS if len(act.arguments.get(name, "")) >= SHORTEST), "")


def _reasons(step: Step) -> Iterator[str]:
    if step.action == "user":
        return
    told = [step.rationale]
    if act_of(step.action, step.input).kind == "say":
        told += [step.input, step.output]
    for words in told:
        text = _GLUED.sub(r"\1 ", strip_injected(words)[:_READ_CHARS])
        yield from sentences(text)[:_READ_SENTENCES]


def _weight(words: str) -> float:
    """How much a sentence tells; 0 when it is to be left out."""
    length = len(words) + len(_CHINESE.findall(words))  # one of these says as much as two letters
    if not SHORTEST <= length or len(words) > LONGEST or words.endswith("…") or _ASKS.search(words):
        return 0.0
    if reads_as_instruction(words):
        return 0.0
    refuses, causes = REFUSES.search(words) is not None, CAUSE.search(words) is not None
    cues = len({found.group().casefold() for found in _FOUND.finditer(words)})
    is_way = _WAY.search(words) is not None
    is_plan = PLAN.search(words) is not None
    if is_plan and not (is_way and _ABOUT_TO.search(words)):
        return 0.0
    if not (cues or refuses or is_way) or (_PROGRESS.search(words) and not (refuses or causes)):
        return 0.0
    named = min(2, len(_NAMED.findall(words)))
    told = 0.4 * min(cues, 3) + 0.3 * named + 0.8 * causes + 1.0 * refuses + 0.4 * is_way
    return (
        1.0 + told - 0.4 * (_GUESSES.search(words) is not None) - 0.3 * is_plan - 0.2 * len(_PLACEHOLDER.findall(words))
    )
