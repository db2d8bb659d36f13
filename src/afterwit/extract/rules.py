"""The shape of a rule and of what it finds; the rules themselves are in `english` and `chinese`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from afterwit.records import Kind
from afterwit.vocabulary import fold_topic, topic_of_technology

#: Kinds that an assistant's own words may give; the others need the user's.
ASSISTANT_KINDS = frozenset({Kind.DECISION, Kind.LESSON, Kind.FAILURE})

#: Named groups of a pattern that become structured fields.
_FIELDS = ("chosen", "rejected", "rationale", "trigger", "situation", "action", "result")


@dataclass(frozen=True)
class Rule:
    """A sentence of this form says something of this kind."""

    kind: Kind
    #: searched from the sentence's start; named groups: `who`, `value` (in a second
    #: branch `other`), `word` (a topic's name) and
    #: the structured fields `chosen`, `rejected`, `rationale`, `trigger`, `situation`, `action`, `result`
    pattern: str
    #: fixed topic; empty = that of `word`, of a known technical name in `value`, or none
    topic: str = ""
    is_change: bool = False
    #: the value must be a known technical name or look like a name or version
    named: bool = False
    #: "pitfall" or "technique" for lessons whose form shows it
    nature: str = ""


def rule(
    kind: Kind, pattern: str, topic: str = "", *, is_change: bool = False, named: bool = False, nature: str = ""
) -> Rule:
    """A rule from an expression in which digits, word characters and spaces are those of ASCII."""
    return Rule(kind, pattern, topic, is_change, named, nature)


@dataclass(frozen=True)
class Found:
    """What a rule found in a sentence."""

    kind: Kind
    #: the words that name whom it is about, as written; empty = the rule does not say
    who: str = ""
    topic: str = ""
    value: str = ""
    is_change: bool = False
    structured: Mapping[str, Any] = field(default_factory=dict[str, Any])


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled at first use: all of them together take half a second, which a start does not have."""
    return re.compile(pattern, re.ASCII)


def compile_rules(rules: Sequence[Rule]) -> None:
    """Compile ahead of the first use."""
    for row in rules:
        _compiled(row.pattern)


def first_match(rules: Sequence[Rule], sentence: str) -> Found | None:
    """The first rule, in order, that the sentence fits."""
    for rule in rules:
        match = _compiled(rule.pattern).match(sentence)
        if match and (found := _found(rule, match)):
            return found
    return None


def _found(rule: Rule, match: re.Match[str]) -> Found | None:
    groups = {name: _clean(text) for name, text in match.groupdict().items() if text}
    value = groups.get("value") or groups.get("other") or groups.get("chosen") or ""
    known = topic_of_technology(value) if value else ""
    if rule.named and not (known or _looks_named(value)):
        return None
    topic = rule.topic or (fold_topic(groups["word"]) if "word" in groups else known)
    structured: dict[str, Any] = {
        **({"nature": rule.nature} if rule.nature else {}),
        **{name: groups[name] for name in _FIELDS if name in groups},
    }
    if "rejected" in structured and "chosen" not in structured and value:
        structured["chosen"] = value
    if "chosen" in structured and "rejected" in structured:
        structured["options"] = [structured["chosen"], structured["rejected"]]
    return Found(rule.kind, groups.get("who", ""), topic, value, rule.is_change, structured)


def _clean(text: str) -> str:
    return text.strip(" \t,.;:!，。；：！、~…\"'“”‘’「」`")


def _looks_named(value: str) -> bool:
    """Whether a value looks like a name, version, number or identifier: "Grafana", "v2", "user_id"."""
    return re.match(r"[A-Z][\w.+#-]*|\S*\d|\w+[._/-]\w+|`", value) is not None
