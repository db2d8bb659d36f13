"""Did a step do what a memory advises? By the commands, identifiers and rare words that both hold.

Precision before coverage: a step that is wrongly taken for following a lesson would prove or refute it.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from afterwit import text
from afterwit.matters import field_of
from afterwit.records import Kind, Memory, Step

#: Share of the words of a command, and of the weight of all telling words, that a step must have.
_COMMAND_SHARE = 0.75
_WORDS_SHARE = 0.6
#: What an identifier, flag or path weighs beside a word.
_HARD_WEIGHT = 2.0

#: Characters of an action that are read; one is a sentence.
_READ = 1_000

#: Steps in which nothing is done.
_NOT_DOING = frozenset({"user", "note", "decision"})
#: Commands and tools that only look; looking at a file does not do what is advised about it.
_LOOKING = frozenset(
    "cat ls ll dir grep rg ag find fd head tail less more bat view read glob list search open_file read_file which "
    "where type stat wc tree pwd type file websearch webfetch list_dir ls_dir grep_search file_search".split()
)
_LEADERS = frozenset("sudo env time nice nohup exec command cd then do".split())

# What is said against or of the time: "instead of X", "leave out X", "before X", 而不是 X. What is left is what to do.
_ASIDE = re.compile(
    r"\b(?:instead of|rather than|in place of|as opposed to|without|and not|but not|not|never|don['’]t|do not|"
    r"avoid(?:ing)?|over|leave out|leaving out|drop(?:ping)?|omit(?:ting)?)\b[^,;.。；，\n]*(?:\.\w[^,;.。；，\n]*)*"
    r"|\b(?:replace|replacing|swap|swapping)\b.+?\b(?:with|by|for)\b"
    r"|\b(?:switch|switching|change|changing|move|moving|migrate)\b[^,;]*?\bfrom\b.+?\bto\b"
    r"|(?<=\w )\b(?:before|after)\b[^,;.。；，\n]*"
    r"|(?:而不是|而非|代替|取代|替代|不要|别再|别用|避免|不用|禁止|切勿|勿|去掉|去除|省略)[^,;。；，\n]*"
    r"|(?:把|将|从)[^,;。；，\n]+?(?:换成|改成|改为|替换为|改用|切换到)"
    r"|[^\s,;。；，]+(?: [^\s,;。；，]+)*\s*(?:->|→|=>)",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"`([^`\n]+)`|“([^”\n]+)”|\"([^\"\n]+)\"|「([^」\n]+)」")
_PLACEHOLDER = re.compile(r"<[^>]*>|\{[^}]*\}|\$\{?\w+\}?|\[[^\]]*\]|\.\.\.|…")
_ESCAPED = re.compile(r"\\[nrt]")
_WORD = re.compile(r"[^\s\"'`,;(){}\[\]|&<>“”「」，。；：！？、（）]+")
_CLAUSE = re.compile(r"[;&|\n(){}\"]+")

#: Words of advice that tell no action from another.
_GENERIC = frozenset(
    text.index_tokens(
        "use using run running set setting add make do try call first then before after when always ensure check "
        "instead with for and the it this that need must should again also only explicitly command option flag file "
        "使用 运行 执行 设置 添加 先 再 然后 改用 需要 必须 应该 命令 选项 之前 之后 时候"
    )
)
_CJK_ONLY = re.compile(r"[^\x00-\u2fff]+")


@dataclass(frozen=True)
class Advice:
    """What a memory says to do, as words to look for in steps."""

    #: words of the longest commands that are quoted
    commands: tuple[frozenset[str], ...]
    #: identifiers, flags, paths
    hard: frozenset[str]
    #: other telling words, as index tokens
    soft: frozenset[str]

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be told to follow it."""
        return not (self.commands or self.hard or self.soft)


def follows(step: Step, memory: Memory) -> bool:
    """Whether a step does what a memory advises.

    A failure, a decision or a fact advises nothing; of a lesson or rule it is the action, without what it
    speaks against. Reading about something is not doing it.
    """
    if memory.kind not in (Kind.LESSON, Kind.RULE) or step.action in _NOT_DOING or not step.input:
        return False
    action = str(memory.structured.get("action") or "")
    advice = advice_of(action or memory.summary)
    if advice.is_empty or (not action and not (advice.commands or advice.hard)):
        return False
    if _is_of_another_host(step, memory):
        return False
    given = _ESCAPED.sub(" ", step.input)
    words = _words(f"{step.action} {given}")
    if not action:
        advice = _of_prose(advice, step.action, given)
    if _only_looks(step.action, given) and not (words & _LOOKING & _all_words(advice)):
        return False
    if advice.commands:
        return any(len(command & words) >= _COMMAND_SHARE * len(command) for command in advice.commands)
    return _does(advice, step, given, words)


@lru_cache(maxsize=1024)
def advice_of(action: str) -> Advice:
    """What an action's words say to do; empty when they only say what not to do."""
    positive = _ASIDE.sub(" , ", action[:_READ])
    quoted = [next(filter(None, found.groups())) for found in _COMMAND.finditer(positive)]
    commands = [words for one in quoted if (words := _words(_PLACEHOLDER.sub(" ", one)))]
    longest = max(map(len, commands), default=0)
    plain = _PLACEHOLDER.sub(" ", positive)
    hard = frozenset(word for word in _words(plain) if _is_hard(word))
    soft = frozenset(text.query_tokens(plain)) - _GENERIC - hard
    if any(token.isascii() for token in soft) or hard:
        # Commands are in Latin letters: the Chinese words around them only tell when and why.
        soft = frozenset(token for token in soft if token.isascii())
    parts = {part for word in hard for part in text.index_tokens(word)}
    return Advice(tuple(one for one in commands if len(one) == longest), hard, soft - parts)


def _is_of_another_host(step: Step, memory: Memory) -> bool:
    """What one service wants, another may want too: doing it there proves nothing here."""
    domain = field_of(memory, "domain")
    return bool(domain) and "://" in step.input and domain not in step.input.casefold()


def _of_prose(advice: Advice, action: str, given: str) -> Advice:
    """What a whole sentence advises: its flags and identifiers, for the tool that it names. Its other words
    tell when and why, and stand in no command."""
    leaders = {token for word in _leaders(action, given) for token in text.index_tokens(word)}
    soft = advice.soft & leaders
    return replace(advice, soft=soft, hard=advice.hard if soft or len(advice.hard) > 1 else frozenset())


def _does(advice: Advice, step: Step, given: str, words: frozenset[str]) -> bool:
    tokens = frozenset(text.index_tokens(f"{step.action} {given}"))
    hard, soft = advice.hard & words, advice.soft & tokens
    weight = _HARD_WEIGHT * len(advice.hard) + len(advice.soft)
    if _HARD_WEIGHT * len(hard) + len(soft) < _WORDS_SHARE * weight or 2 * len(hard) < len(advice.hard):
        return False
    if len(hard) + len(soft) >= 2 or hard:
        return True
    # One word alone is a tool's name: it must be the command, not something that a command is about.
    leaders = {token for word in _leaders(step.action, given) for token in text.index_tokens(word)}
    return bool(soft & leaders)


def _words(given: str) -> frozenset[str]:
    return frozenset(word for found in _WORD.findall(text.fold(given)) if (word := found.strip(".:!?*")))


def _all_words(advice: Advice) -> frozenset[str]:
    return advice.hard.union(advice.soft, *advice.commands)


def _is_hard(word: str) -> bool:
    inner = word.strip("._-/:")
    if word.startswith("-"):
        return word.isascii() and bool(inner)
    return word.isascii() and bool(inner) and not inner.isalpha() and not inner.replace(".", "").isdigit()


def _leaders(action: str, given: str) -> list[str]:
    """The tool, and the word that each part of a command line begins with."""
    found = [text.fold(action).rpartition("__")[2]]
    for clause in _CLAUSE.split(text.fold(given)):
        words = [word for word in clause.split() if "=" not in word]
        while words and words[0] in _LEADERS:
            words = words[2:] if words[0] == "cd" else words[1:]
        found += words[:1]
    return found


def _only_looks(action: str, given: str) -> bool:
    tool, *commands = _leaders(action, given)
    if tool in _LOOKING:
        return True
    return bool(commands) and all(command in _LOOKING for command in commands) and tool not in ("edit", "write")
