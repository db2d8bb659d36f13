"""Words of a task without what belongs to it alone: who it was for, which record, how much, on which day."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from afterwit.records import Step
from afterwit.review.actions import act_of
from afterwit.review.changes import general
from afterwit.review.normalising import readable

#: Whoever work on records is done for.
_ROLES = "user|customer|client|member|guest|patient|student|tenant|employee|passenger|visitor|subscriber"
#: Fields of a call whose value is somebody's, whatever it looks like.
_PERSONAL = re.compile(
    rf"(?i)(?:^|_)(?:(?:{_ROLES})s?|username|email|mail|phone|mobile|address|dob|birth\w*|"
    r"card|iban|account|token|password|id|ids|uuid|code)$|姓名|电话|邮箱|地址|身份证"
)
_NAMES = re.compile(rf"(?i)(?:^|_)(?:first|last|full|given|family|middle|contact|holder|{_ROLES})_?name$|姓名")
#: Fields whose id may be made of somebody's name.
_WHOSE = re.compile(rf"(?i)(?:^|_)(?:{_ROLES})(?:_?(?:id|name))?$|^username$")
#: A person after the word for what he or she is.
_CALLED = re.compile(
    rf"(\b(?i:{_ROLES})(?: name)?,? (?:[^.]{{0,40}}? (?:from|to) )?)"
    r"[A-Z][a-z]+ [A-Z][a-z]+"
)
#: Fields that hold words, not values.
_WORDS = re.compile(r"(?i)(?:^|_)(?:summary|reason|message|note|notes|text|description|thought|content|query|body)$")
#: Tools of programmers take names of files and commands, which are looked for again.
_OF_FILES = frozenset(
    "command cmd script file_path filepath path file filename notebook_path url code sql query pattern glob".split()
)
#: Ids that nobody has to name as such where the work is on records: `anna_berg_2041`, `7XK2P9`.
_IDS = re.compile(
    r"\b[a-z]+(?:_[a-z]+)*_\d{3,}\b|\b(?=[A-Z0-9]{5,10}\b)[A-Z0-9]*\d[A-Z0-9]*[A-Z][A-Z0-9]*\b|"
    r"(?<=ID: )[A-Z0-9]{5,10}\b|(?<=ID )[A-Z0-9]{5,10}\b"
)
#: What stands after the word for a record.
_RECORD = re.compile(
    r"\b((?:order|booking|reservation|account|ticket|case|invoice|contract|claim|shipment|appointment|confirmation|"
    r"flight)s?(?: (?:number|no\.?|code|id|ID|is))?:?) "
    r"(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,10}\b"
)
#: What ids begin with that are made of no name.
_KINDS = frozenset(
    "account booking card case contract credit debit invoice item order payment product reservation ticket".split()
)
_KNOWN_CODES = re.compile(r"^(?:[A-Z]{1,5}\d{1,4}|\d+[A-Z]{1,2})$")
_AMOUNT = re.compile(
    r"(?:[$€£¥￥]\s?)\d[\d,.]*\d|[$€£¥￥]\s?\d\b|\b(?<!-)\d{4,}\b(?!-)|\b\d[\d,.]*\d?\s?(?:USD|EUR|RMB|元|块)"
)
#: Marks that tell nothing where they stand, and what a person is called by beside his or her role.
_ASIDE = re.compile(r"\s*\((?:[\w ]{0,24}:? ?)?<id>\)|(?:,? (?:and )?(?:(?:user )?IDs?:? )?'?<id>'?)+(?=[ ,.;:]|$)")
_PERSON = re.compile(rf"(?i)\b(?:the )?({_ROLES}),? <name>,?")
_STOPS = re.compile(r"\.(?:\s*\.)+")
_TWICE = re.compile(r"<name> <name>")
_MIXED = re.compile(r"\w*<n>\w+|\w+<n>|\$<n>")
_PLACEHOLDER = re.compile(r"<\w+>|#<n>|…")


class Hidden:
    """Takes the values of one task out of words that are to be kept."""

    def __init__(self, steps: Sequence[Step], goal: str = "") -> None:
        """Learn from the calls of a task which values are its own.

        Args:
            steps: all of them; only calls that take named arguments and are no tools of programmers count.
            goal: what it is about; an id in it tells how somebody is called.
        """
        named: dict[str, str] = {}
        people: list[str] = []
        has_calls = False
        for step in steps:
            act = act_of(step.action, step.input)
            if act.kind not in ("say", "edit") and act.arguments and _OF_FILES.isdisjoint(map(_folded, act.arguments)):
                has_calls = True
                for field, value in leaves(step.input):
                    if mark := _mark(field, value):
                        named.setdefault(value, mark)
                    if _WHOSE.search(field):
                        people.append(value)
        for known in [*people, *_IDS.findall(goal)] if has_calls else ():
            for part in _names_in(known):
                named.setdefault(part.capitalize(), "<name>")
        #: it works on records of people or things, by calls
        self.has_records = has_calls
        longest = sorted(named, key=len, reverse=True)[:500]
        self._marks = named
        self._own = re.compile("|".join(rf"(?<!\w){re.escape(value)}(?!\w)" for value in longest)) if longest else None

    def __call__(self, words: str, *, limit: int) -> str:
        """Words on one line, without secrets and values of this task, at most `limit` characters."""
        line = " ".join(readable(words).split())
        if self._own is not None:
            line = self._own.sub(lambda found: self._marks[found.group()], line)
        if self.has_records:
            line = _IDS.sub(lambda found: found.group() if _KNOWN_CODES.match(found.group()) else "<id>", line)
            line = _RECORD.sub(r"\1 <id>", _AMOUNT.sub("<n>", line))
            line = _PERSON.sub(
                lambda found: f"the {found[1].lower()}", _TWICE.sub("<name>", _CALLED.sub(r"\1<name>", line))
            )
            line = _STOPS.sub(".", _ASIDE.sub("", line))
        return _MIXED.sub("<n>", general(line, limit=limit))


def _folded(field: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", field).casefold()


def _names_in(known: str) -> list[str]:
    """Names of which an id is made: two of `anna_berg_2041`, none of `gift_card_2041` or `user_2041`."""
    parts = known.split("_")
    if not _IDS.fullmatch(known) or not known.islower() or not _KINDS.isdisjoint(parts):
        return []
    return [part for part in parts if part.isalpha() and len(part) >= 2 and part not in _ROLES.split("|")]


def says_something(words: str, *, least: int = 4) -> bool:
    """Whether enough words are left beside placeholders and numbers for others to learn from."""
    left = _PLACEHOLDER.sub(" ", words)
    count = len(re.findall(r"[^\W\d_]{2,}", left)) + len(re.findall(r"[\u4e00-\u9fff]", left)) // 2
    return count >= least and len(_PLACEHOLDER.findall(words)) * 3 <= count


def _mark(field: str, value: str) -> str:
    """What stands in the place of a value; empty when it may be kept."""
    if len(value) < 2 or len(value) > 80 or _WORDS.search(field):
        return ""
    if _NAMES.search(field):
        return "<name>"
    has_digit = any(letter.isdigit() for letter in value)
    if _PERSONAL.search(field) and (has_digit or "@" in value or " " in value):
        return "<id>"
    if not has_digit or len(value) < 3:
        return ""
    return "<n>" if re.fullmatch(r"[\d.,]+", value) else "<date>" if re.match(r"\d{4}-\d\d-\d\d", value) else "<id>"


def leaves(given: str) -> Iterator[tuple[str, str]]:
    """The values of a call's arguments with the names of their fields, four levels deep; none when it has no named
    arguments."""
    try:
        value: Any = json.loads(given)
    except (ValueError, RecursionError):
        return
    yield from _inside("", value, 0)


def _inside(field: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and depth < 4:
        for name, one in cast("Mapping[str, Any]", value).items():
            yield from _inside(name, one, depth + 1)
    elif isinstance(value, list) and depth < 4:
        for one in cast("list[Any]", value)[:50]:
            yield from _inside(field, one, depth + 1)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield field, str(value).strip()
