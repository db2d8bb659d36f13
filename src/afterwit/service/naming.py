"""Other names: giving, learning, merging and splitting them, and what is known of one entity."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from afterwit import text
from afterwit.entities import Names, bare, entities_of, is_about, key_of, names_of, taught_aliases
from afterwit.errors import Conflict, Forbidden, InvalidInput, NotFound, Sentence
from afterwit.recall import Question
from afterwit.records import Alias, Change, DropAlias, KeyFilter, Memory, Outcome, Receipt, SetAlias, Trust
from afterwit.service.writing import Writer
from afterwit.storage import Reader, Store, Transaction
from afterwit.vocabulary import USER, fold_subject

#: Memories of one entity that are shown and looked through for related ones.
MOST_SHOWN = 20
#: Related entities that are named.
MOST_RELATED = 10


@dataclass(frozen=True)
class Entity:
    """What is known of somebody or something."""

    #: the name that stands for it
    name: str
    #: all its names, that one first
    names: tuple[str, ...]
    #: how they came to be one
    aliases: tuple[Alias, ...]
    #: active memories about it, at most 20, recorded last first
    memories: tuple[Memory, ...]
    #: entities that these memories name beside it, the most frequent first
    related: tuple[str, ...]


class Naming:
    """The part of the service that is about names."""

    store: Store
    space: str
    writer: Writer
    _clock: Callable[[], datetime]

    def alias(self, alias: str, name: str) -> Alias:
        """Let one name stand for another: both are one entity from now on, for old memories, too.

        Nothing is rewritten, so that `split_entity` undoes it exactly.

        Args:
            alias: the other name, such as "k8s".
            name: the name that it stands for, such as "kubernetes".

        Raises:
            InvalidInput: the names are one, empty or too long.
            Conflict: `alias` already stands for something else.
            Forbidden: the writer's words are not trusted.
        """
        return self._join(_folded(alias, "alias"), _folded(name, "name"))

    def merge_entities(self, one: str, other: str) -> Alias:
        """Make two entities one, all their names included; `other` is the name that stands for it.

        Returns:
            The alias that joins them; `split_entity` of its `alias` undoes the merge exactly.

        Raises:
            InvalidInput: they are one already, or a name is empty or too long.
            Forbidden: the writer's words are not trusted.
        """
        names = names_of(self.store, self.space)
        return self._join(names.root(_folded(one, "one")), names.root(_folded(other, "other")))

    def split_entity(self, alias: str, *, reason: str = "") -> Alias:
        """Take back that a name stands for another; what was written about either stays with its own name.

        Returns:
            What was dropped.

        Raises:
            NotFound: the name stands for nothing else.
            Forbidden: the writer's words are not trusted.
        """
        folded = _folded(alias, "alias")
        self._require_trust()
        now = self._clock()
        with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
            known = {item.alias: item for item in tx.aliases(self.space)}
            if folded not in known:
                raise NotFound(
                    Sentence("{alias!r} is no other name of anything here.", alias=alias),
                    next_step="List the entities to see their names.",
                )
            tx.apply([DropAlias(folded, reason)])
            return known[folded]

    def aliases(self) -> list[Alias]:
        """All other names of the space that count now, by alias."""
        return self.store.aliases(self.space)

    def entities(self) -> list[tuple[str, ...]]:
        """The names of every entity that is a subject or has another name; the one that stands for it first."""
        names = names_of(self.store, self.space)
        known = {*self.store.known_subjects(self.space), *(item.alias for item in self.aliases())}
        return [names.all_said(root) for root in sorted({names.root(name) for name in known})]

    def entity(self, name: str) -> Entity:
        """What is known of somebody or something, by any of its names.

        Raises:
            NotFound: nothing is.
        """
        names = names_of(self.store, self.space)
        folded = _folded(name, "name")
        mine = names.all_of(folded)
        aliases = tuple(item for item in self.aliases() if item.alias in mine or item.name in mine)
        memories = self._memories_about(mine)
        if not (aliases or memories):
            raise NotFound(
                Sentence("Nothing is known of {name!r} here.", name=name),
                next_step="List the entities to see their names.",
            )
        beside = Counter(
            other for memory in memories for other in entities_of(self.store, self.space, memory) if other not in mine
        )
        related = sorted(beside, key=lambda other: (-beside[other], other))[:MOST_RELATED]
        return Entity(names.root(folded), names.all_said(folded), aliases, tuple(memories), tuple(related))

    def _memories_about(self, names: tuple[str, ...]) -> list[Memory]:
        about = self.store.find(self.space, KeyFilter(subjects=names), limit=MOST_SHOWN)
        tokens = text.query_tokens(" ".join(map(bare, names)))
        scored = self.store.search_words(self.space, KeyFilter(), tokens, limit=4 * MOST_SHOWN) if tokens else []
        named = self.store.get(self.space, [item.id for item in scored]).values()
        found = {memory.id: memory for memory in (*about, *(row for row in named if is_about(row, names)))}
        newest = sorted(found.values(), key=lambda memory: memory.id)
        newest.sort(key=lambda memory: memory.recorded_at, reverse=True)
        return newest[:MOST_SHOWN]

    # --- what the other verbs need ---------------------------------------------------------------

    def _join(self, alias: str, name: str) -> Alias:
        self._require_trust()
        if alias == name:
            raise InvalidInput(Sentence("{alias!r} is one name.", alias=alias), next_step="Give two different names.")
        if alias == USER:
            alias, name = name, alias
        now = self._clock()
        made = Alias(self.space, alias, name, now)
        with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
            names = names_of(tx, self.space)
            known = {item.alias: item for item in tx.aliases(self.space)}
            if names.root(alias) == names.root(name):
                return known.get(alias) or known.get(name) or made
            if alias in known:
                raise Conflict(
                    Sentence("{alias!r} already stands for {name!r}.", alias=alias, name=known[alias].name),
                    next_step=Sentence(
                        "Split {alias!r} first, or merge {name!r} with {other!r}.",
                        alias=alias,
                        name=known[alias].name,
                        other=name,
                    ),
                )
            tx.apply([SetAlias(made)])
        return made

    def _require_trust(self) -> None:
        if self.writer.trust < Trust.AGENT:
            raise Forbidden("What is not trusted may not rename anything.", next_step="Let the user or agent do it.")

    def _learn_names(self, tx: Transaction, memory: Memory, receipt: Receipt) -> None:
        """Take up other names that a stored memory gives outright, if it is trusted."""
        kept = receipt.outcome in (Outcome.STORED, Outcome.SUPERSEDED) and receipt.id == memory.id
        if kept and memory.trust >= Trust.AGENT:
            changes = learned(tx, memory)
            if changes:
                tx.apply(changes)

    def _with_all_names(self, where: KeyFilter) -> KeyFilter:
        """A filter by subject means the entity, whatever it is called."""
        if not where.subjects:
            return where
        return replace(where, subjects=names_of(self.store, self.space).widened(where.subjects))

    def _asked_by_any_name(self, question: Question) -> Question:
        return replace(question, where=self._with_all_names(question.where))


def learned(reader: Reader, memory: Memory) -> list[Change]:
    """Changes for the other names that a memory gives.

    A name that would come to stand for two is dropped if it was learned and stays if it was given.
    """
    changes: list[Change] = []
    for taught in taught_aliases(memory.summary):
        names = names_of(reader, memory.space)
        alias, name = key_of(taught.alias), key_of(taught.name)
        if names.root(alias) == names.root(name):
            continue
        known = {item.alias: item for item in reader.aliases(memory.space)}
        if alias not in known:
            changes.append(SetAlias(Alias(memory.space, alias, name, memory.recorded_at, "learned", memory.id)))
        elif known[alias].memory_id:
            changes.append(DropAlias(alias, "stands for two"))
    return changes


def subject_names(reader: Reader, space: str, subject: str) -> tuple[str, ...]:
    """Every name under which memories about a subject may be kept."""
    return names_of(reader, space).all_of(subject)


def _folded(name: str, field: str) -> str:
    folded = key_of(fold_subject(text.check_text(name, field=field, max_bytes=1000)))
    if not folded:
        raise InvalidInput(Sentence("{field} is empty.", field=field), next_step="Pass at least one word.")
    return folded


__all__ = ["Entity", "Names", "Naming", "learned", "subject_names"]
