"""What two pieces of advice have in common: do they speak of the same situation, and do they say to do the same? Pure.

By the faults, tools and words that they hold. Precision before coverage: in doubt they have nothing in common.
"""

import re
from functools import lru_cache

from afterwit import text
from afterwit.records import Kind, Memory

#: Kinds that advise.
ADVICE = frozenset({Kind.LESSON, Kind.RULE, Kind.FAILURE})

#: Share of the words of the shorter text that the other must hold to speak of the same, and fewest such words.
_SAME_SITUATION = 0.7
_SAME_ACTION = 0.6
_LEAST_WORDS = 2

_IDLE = frozenset(
    text.index_tokens(
        "use using run running set add make do try call first then always never when if while before after with "
        "instead rather than avoid not don't need should must fail fails failed error errors works work "
        "使用 运行 执行 设置 改用 需要 必须 应该 如果 失败 报错 错误 不要 避免 可以"
    )
)
#: Interpreters, shells and what opens addresses: that one is named says nothing of what it is to run or open.
_ANY_TOOL = frozenset(
    "python python3 node bash sh zsh pwsh powershell sudo env curl wget http fetch shell user edit".split()
)
#: Tools whose names are words of everyday English; they are meant when they are quoted or called.
_PLAIN_WORDS = frozenset(
    "make go cat find test sort time just act less more date at write read open watch ping".split()
)
_CALLED = r"(?:[`'\"“]|\b(?:run|runs|running|call|calling|use|using|with|via|by|through|execute)\s+(?:the\s+)?)"
#: Parts of a host's name that many hosts have.
_ANY_HOST = frozenset("www api app dev test staging prod local localhost internal docs cdn static m".split())
_ANY_SERVICE = frozenset("service server client backend gateway http rest".split())
_SERVICE = re.compile(
    r"\b(?:apis?|services?|endpoints?|servers?|sites?|websites?|pages?|portals?|https?|urls?)\b|接口|服务|网站|站点|页面|端点"
)

#: What advice is to take the place of.
_IN_PLACE_OF = re.compile(
    r"\b(?:instead of|rather than|in place of)\b[^;；。\n]*|(?:代替|取代|替代|而不是|而非|，不用)[^;；。\n]*"
)
#: Words of order and time, which stand between words without a space.
_ORDER_ZH = re.compile("[之以]?[前后](?![端台缀者置门])|然后|先|再|时(?![间区钟长])|当(?!前)")


def field_of(memory: Memory, name: str) -> str:
    """A field of a piece of advice as text: "situation", "action", "signature", "tool", ...; "" when it has none."""
    value: object = memory.structured.get(name)
    return value if isinstance(value, str) else ""


def names_tool(folded: str, memory: Memory) -> bool:
    """Whether a text names the tool or the service that a piece of advice is about.

    What went wrong with it is worth knowing to whoever is about to use it, whatever for.

    Args:
        folded: the text as `text.fold` returns it.
        memory: with a field "domain", "host", "tool" or "program"; where there is a domain, it is what counts.
    """
    if memory.kind not in ADVICE:
        return False
    domain, tool = text.fold(field_of(memory, "domain")), text.fold(field_of(memory, "tool"))
    if domain:
        return text.mentions(folded, domain) or _names_service(folded, domain)
    host = text.fold(field_of(memory, "host"))
    if host and text.mentions(folded, host):
        return True
    if tool in _ANY_TOOL:
        # What a script wants is known by the script: `convert.py` of "python convert.py".
        tool = next((word for word in text.fold(field_of(memory, "program")).split()[1:] if "." in word), "")
    if not tool or tool in _ANY_TOOL or not text.mentions(folded, tool):
        return False
    is_plain = tool in _PLAIN_WORDS and text.language(folded) != "zh"
    return not is_plain or re.search(rf"{_CALLED}{re.escape(tool)}\b", folded) is not None


def names_service(domain: str, name: str) -> bool:
    """Whether a name in a list of tools is that of the service at a host: "orders-api" for orders.acme.dev."""
    labels = set(text.fold(domain).split(":", maxsplit=1)[0].split("."))
    words = set(re.findall(r"[a-z\d]+", text.fold(name))) - _ANY_HOST - _ANY_SERVICE
    return bool(words) and words <= labels


def _names_service(folded: str, domain: str) -> bool:
    """The orders service for orders.acme.dev: the first telling part of the name, in a text about services."""
    labels = [label for label in domain.split(":", maxsplit=1)[0].split(".")[:-1] if label not in _ANY_HOST]
    return bool(labels) and text.mentions(folded, labels[0]) and _SERVICE.search(folded) is not None


def covers(against: str, fault_key: str) -> bool:
    """Whether a fault is the one that advice is against, or one of those that a wider one takes in.

    Args:
        against: the field "signature" of advice: a fault's key or its beginning, "make: no rule for target".
        fault_key: the key of a fault.
    """
    return bool(against) and (fault_key == against or fault_key.startswith((f"{against}: ", f"{against}/")))


def same_matter(one: Memory, other: Memory) -> bool:
    """Whether both advise on the same situation: the same fault, or the same words about it."""
    if one.kind not in ADVICE or other.kind not in ADVICE:
        return False
    faults = field_of(one, "signature"), field_of(other, "signature")
    if all(faults):
        return covers(*faults) or covers(*reversed(faults))
    if _differ(field_of(one, "tool"), field_of(other, "tool")) or (
        _hard(one) and _hard(other) and not _hard(one) & _hard(other)
    ):
        return False
    return _overlap(_situation(one), _situation(other)) >= _SAME_SITUATION


def same_action(one: Memory, other: Memory) -> bool:
    """Whether both say to do the same; neither denies what the other advises."""
    told, also = _action(one), _action(other)
    if _speaks_against(one) != _speaks_against(other):
        return False
    return told == also or _overlap(_words(_advised(told)), _words(_advised(also))) >= _SAME_ACTION


def opposite_action(one: Memory, other: Memory) -> bool:
    """Whether one advises against what the other advises."""
    if _speaks_against(one) == _speaks_against(other):
        return False
    return _overlap(_words(_action(one)), _words(_action(other))) >= _SAME_ACTION


def _speaks_against(memory: Memory) -> bool:
    """Whether it says what not to do; a failure is something that was tried in vain."""
    return _denies(_action(memory)) != (memory.kind is Kind.FAILURE)


def _action(memory: Memory) -> str:
    return field_of(memory, "action") or memory.summary


def _advised(told: str) -> str:
    """What an action says to do, without what it is to take the place of."""
    return _IN_PLACE_OF.sub(" ", told) if not _denies(told) else told


def _situation(memory: Memory) -> frozenset[str]:
    return _words(field_of(memory, "situation") or memory.summary)


def matter_words(memory: Memory) -> frozenset[str]:
    """The telling words of the situation: advice on the same matter shares some of them, or a fault."""
    return _situation(memory)


def _hard(memory: Memory) -> frozenset[str]:
    return _hard_words(field_of(memory, "situation") or memory.summary)


@lru_cache(maxsize=8192)
def _hard_words(told: str) -> frozenset[str]:
    return frozenset(term for term in text.hard_terms(told) if not term.isalpha())


@lru_cache(maxsize=8192)
def _denies(told: str) -> bool:
    return text.is_negated(told)


def _differ(one: str, other: str) -> bool:
    return bool(one and other) and text.fold(one) != text.fold(other)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Share of the shorter one's words that are in both, 0..1; 0 where too few words are in common."""
    common = len(one & other)
    least = min(_LEAST_WORDS, len(one), len(other))
    return common / min(len(one), len(other)) if common >= max(1, least) else 0.0


@lru_cache(maxsize=8192)
def _words(told: str) -> frozenset[str]:
    return frozenset(text.query_tokens(_ORDER_ZH.sub(" ", told))) - _IDLE
