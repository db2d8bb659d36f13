"""Which names belong together, and which of them a text names."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache

from afterwit import text
from afterwit.records import Memory
from afterwit.storage import Reader
from afterwit.text.tokens import CJK
from afterwit.vocabulary import USER

#: Words or CJK characters, spaces and marks between them, that a name found in a text may span.
LONGEST_NAME = 12

PROJECT = "project:"

_PIECE = re.compile(rf"(?:(?![{CJK}])[^\W_])+|[\s\S]")
#: Hard terms that name nothing: numbers, amounts, dates, days.
_NO_NAME = re.compile(
    r"[\d\W_]+|v?\d[\w.:%/-]*|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|"
    r"august|september|october|november|december|周[一二三四五六日]"
)


class Names:
    """The other names of a space's entities."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        """Take the aliases of a space as pairs of an alias and the name that it stands for."""
        self._name_of = dict(pairs)

    def __bool__(self) -> bool:
        """Whether any name has another."""
        return bool(self._name_of)

    def root(self, name: str) -> str:
        """The name that stands for the entity: the end of the chain of aliases; the name itself without one."""
        place = key_of(name)
        if place not in self._members:
            return name
        seen = {place}
        while (further := self._name_of.get(place)) is not None and further not in seen:
            seen.add(further)
            place = further
        return place

    def all_said(self, name: str) -> tuple[str, ...]:
        """The names of the entity as people say them: the one that stands for it first, then by alphabet."""
        root = self.root(name)
        return self._groups.get(root, (name,))

    def all_of(self, name: str) -> tuple[str, ...]:
        """Every subject under which the entity may be kept, folded, the name that stands for it first."""
        root = self.root(name)
        said = self._groups.get(root)
        if said is None:
            return (name,)
        return tuple(dict.fromkeys((*said, *(f"{PROJECT}{other}" for other in said if other != USER), name)))

    def widened(self, names: Iterable[str]) -> tuple[str, ...]:
        """The names with all other names of the same entities, sorted."""
        return tuple(sorted({other for name in names for other in self.all_of(name)}))

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The names of each entity that has several, as they stand in a folded text."""
        return tuple(tuple(dict.fromkeys(map(bare, names))) for _, names in sorted(self._groups.items()))

    def named(self, folded: str, subjects: Iterable[str]) -> set[str]:
        """Every name of the entities that a text names, the user's left out unless the user has a name.

        Args:
            folded: the text as `text.fold` returns it.
            subjects: names that are known besides the aliases, folded.
        """
        known = self.by_word(subjects)
        return {other for word in named_in(folded, known) for name in known[word] for other in self.all_of(name)}

    def by_word(self, subjects: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """Name as it stands in a folded text -> subjects and aliases that are said so; not the user."""
        return _by_word(self, tuple(subjects))

    def known(self) -> Iterator[str]:
        """All names that have another."""
        for names in self._groups.values():
            yield from names

    @cached_property
    def _members(self) -> frozenset[str]:
        return frozenset((*self._name_of, *self._name_of.values()))

    @cached_property
    def _groups(self) -> dict[str, tuple[str, ...]]:
        members: dict[str, set[str]] = {}
        for alias, name in self._name_of.items():
            members.setdefault(self.root(alias), set()).update((alias, name))
        return {root: (root, *sorted(names - {root})) for root, names in members.items()}


def names_of(reader: Reader, space: str) -> Names:
    """The other names that hold in a space now."""
    return _kept(tuple((item.alias, item.name) for item in reader.aliases(space)))


# Asked by every search and seldom changed; a change makes another key.
@lru_cache(maxsize=64)
def _kept(pairs: tuple[tuple[str, str], ...]) -> Names:
    return Names(pairs)


@lru_cache(maxsize=64)
def _by_word(names: Names, subjects: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for name in (*subjects, *names.known()):
        if name != USER:
            found.setdefault(bare(name), {})[name] = None
    return {word: tuple(said) for word, said in found.items()}


def key_of(name: str) -> str:
    """A folded name as aliases have it: "project:atlas" and "atlas" are one."""
    return name.removeprefix(PROJECT)


def bare(name: str) -> str:
    """A name as it stands in a folded text: "project:atlas" gives "atlas"."""
    return text.fold(name.rpartition(":")[2])


def named_in(folded: str, words: Collection[str]) -> list[str]:
    """Which of the names stand in a text as words of their own, in order; the longest where they overlap.

    Takes time by the length of the text, not by the number of names.

    Args:
        folded: the text as `text.fold` returns it.
        words: names as `bare` returns them; a set or the like.
    """
    pieces = _PIECE.findall(folded)
    found: dict[str, None] = {}
    place = 0
    while place < len(pieces):
        size = min(LONGEST_NAME, len(pieces) - place)
        while size and "".join(pieces[place : place + size]) not in words:
            size -= 1
        if size:
            found["".join(pieces[place : place + size])] = None
        place += max(size, 1)
    return list(found)


def is_about(memory: Memory, names: Iterable[str]) -> bool:
    """Whether a memory has one of the names as its subject, or names it."""
    wanted = list(names)
    folded = text.fold(memory.summary)
    return memory.subject in wanted or any(name != USER and text.mentions(folded, bare(name)) for name in wanted)


def terms_naming(memory: Memory) -> Iterator[str]:
    """Identifiers, quoted and capitalised names of a memory's text, folded and sorted."""
    for term in sorted(text.hard_terms(memory.summary)):
        if len(term) > 1 and not _NO_NAME.fullmatch(term):
            yield term


def entities_of(reader: Reader, space: str, memory: Memory) -> tuple[str, ...]:
    """What a memory is about: its subject and project, the known subjects and aliases that it names, and the
    identifiers and names that another memory has, too. Each by the name that stands for it, sorted."""
    names = names_of(reader, space)
    known = names.by_word(reader.known_subjects(space))
    found = {known[word][0] for word in named_in(text.fold(memory.summary), known)}
    found |= {memory.subject} - {""}
    if memory.scope.startswith("project:"):
        found.add(memory.scope)
    taken = {bare(name) for name in found}
    for term in terms_naming(memory):
        tokens = text.query_tokens(term)
        inside = any(text.mentions(word, term) for word in taken)
        if term not in taken and not inside and tokens:
            counts = reader.word_statistics(space, tokens).containing
            if min(counts.get(token, 0) for token in tokens) > 1:
                found.add(term)
    return tuple(sorted({names.root(name) for name in found}))
