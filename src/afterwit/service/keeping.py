"""Values that an application keeps under keys: found again by key exactly, and by their words like any memory."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b

from afterwit import text
from afterwit.errors import InvalidInput
from afterwit.recall import Hit
from afterwit.records import (
    ITEM,
    Add,
    Basis,
    Change,
    Json,
    KeyFilter,
    Kind,
    Memory,
    Retire,
    Revise,
    Source,
    Status,
    Supersede,
    Trust,
    Vector,
    new_id,
)
from afterwit.service.options import MAX_TEXT_BYTES, SearchOptions, check_json
from afterwit.service.tasks import Tasks
from afterwit.service.updating import cascade
from afterwit.service.writing import SUMMARY_TOKENS
from afterwit.storage import Reader, Transaction
from afterwit.vocabulary import fold_scope

#: Tags of values: those that a search may find, and those that are only found by key.
_SEARCHED, _UNSEARCHED = "kv", "kv-unsearched"
#: Most tokens of a search's hits: a program reads them, not a model.
_BUDGET_TOKENS = 20_000
_PAGE = 500


@dataclass(frozen=True)
class Keep:
    """One value to keep, to replace, or to take out of recall."""

    #: labels of the place, outermost first; not empty
    namespace: tuple[str, ...]
    #: name of the value in its namespace
    key: str
    #: at most 16 KiB as JSON; None = forget it
    value: Json | None
    #: what a search finds it by; "" = it is found by its key alone
    words: str = ""


class Keeping(Tasks):
    """The part of the service that keeps values under keys.

    A value is a memory of the scope `project:LABEL.LABEL...`: other doors see, explain and forget it. Unlike what
    is written, it is neither judged nor merged, for its key says which one is meant.
    """

    _vectors: Callable[[Sequence[Memory]], dict[str, Vector]]
    _embed_later: Callable[[Sequence[Memory], Mapping[str, Vector]], None]

    def keep(self, values: Sequence[Keep]) -> None:
        """Keep, replace and forget values, all or none; of several for one key the last one counts.

        What is replaced stays as history. Forgetting what is not there does nothing.

        Raises:
            InvalidInput: no namespace or key, one that is too long, or a value that is not JSON or too large.
            StorageError: the store could not be written.
        """
        now = self._clock()
        latest = {(value.namespace, value.key): value for value in values}
        made = {address: self._made(value, now) for address, value in latest.items() if value.value is not None}
        # A value that is there already is not embedded again.
        known = {address: self._find(self.store, *address, now) for address in made}
        fresh = [new for address, new in made.items() if _SEARCHED in new.tags and not _is_same(known[address], new)]
        vectors = self._vectors(fresh)
        with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
            for address in latest:
                old, new = self._find(tx, *address, now), made.get(address)
                if new is None:
                    tx.apply([] if old is None else _forgotten(tx, old))
                else:
                    tx.apply(_put(old, new, vectors.get(new.id), now))
        self._embed_later(fresh, vectors)

    def kept(self, namespace: tuple[str, ...], key: str) -> Memory | None:
        """The value of a key as a memory, None when there is none. `structured["item"]["value"]` is the value;
        it was first kept at `happened_at`, and as it is now at `recorded_at`.

        Raises:
            InvalidInput: no namespace or key, or one that is too long.
        """
        return self._find(self.store, namespace, key, self._clock())

    def kept_below(self, namespace: tuple[str, ...] = ()) -> list[Memory]:
        """All values of a namespace and of those below it, recorded last first; () = of all."""
        scopes = self._scopes_below(namespace)
        if not scopes:
            return []
        where = KeyFilter(scopes=scopes, tags=(_SEARCHED, _UNSEARCHED), valid_at=self._clock())
        return [memory for memory in _all(self.store, self.space, where) if _is_below(memory, namespace)]

    def search_kept(
        self,
        query: str,
        namespace: tuple[str, ...] = (),
        *,
        among: Sequence[Memory] | None = None,
        top_k: int = 10,
        is_cut: bool = True,
    ) -> list[Hit]:
        """Values of a namespace and of those below it that matter for a question, best first.

        Args:
            query: a sentence or words.
            namespace: () = all of them.
            among: only these; None = all.
            top_k: at most this many, 1..50.
            is_cut: leave out what is not relevant enough or says nearly the same as a better one; False = rank all.

        Raises:
            InvalidInput: an empty query, or top_k out of range.
        """
        scopes = self._scopes_below(namespace)
        if among is not None:
            # Their keys are part of the query: what was left out cannot take the place of what matters.
            among = [memory for memory in among if _SEARCHED in memory.tags]
        if not scopes or among == []:
            return []
        tags = [_SEARCHED] if among is None else sorted({_tag_of(memory) for memory in among})
        options: SearchOptions = {
            "scopes": scopes,
            "tags": tags,
            "top_k": top_k,
            "budget_tokens": _BUDGET_TOKENS,
            "exhaustive": not is_cut,
        }
        return [hit for hit in self.search(query, **options).hits if _is_below(hit.memory, namespace)]

    # --- parts -----------------------------------------------------------------------------------

    def _find(self, reader: Reader, namespace: tuple[str, ...], key: str, now: datetime) -> Memory | None:
        where = KeyFilter(scopes=(scope_of(namespace),), tags=(_tag(namespace, key),), valid_at=now)
        address = (list(namespace), key)
        return next((found for found in _all(reader, self.space, where) if _address(found) == address), None)

    def _made(self, value: Keep, now: datetime) -> Memory:
        item = {"namespace": list(value.namespace), "key": value.key, "value": value.value}
        words = value.words.strip()
        whole = words.encode()[:MAX_TEXT_BYTES].decode(errors="ignore")
        summary = text.truncate(whole, SUMMARY_TOKENS) if text.count_tokens(whole) > SUMMARY_TOKENS else whole
        return Memory(
            id=new_id(now),
            space=self.space,
            summary=summary or value.key,
            kind=Kind.FACT,
            recorded_at=now,
            happened_at=now,
            scope=scope_of(value.namespace),
            tags=tuple(sorted({_SEARCHED if words else _UNSEARCHED, _tag(value.namespace, value.key)})),
            raw=whole if summary != whole else "",
            structured=check_json({ITEM: item}, "value"),
            basis=Basis.OBSERVED,
            trust=min(self.writer.trust, Trust.AGENT),
            source=Source("agent", self.writer.session),
            # That this is the key's value is certain, whatever it says.
            confidence=1.0,
            supporters=(self.writer.session,),
        )

    def _scopes_below(self, namespace: tuple[str, ...]) -> tuple[str, ...]:
        scopes = self.store.known_scopes(self.space)
        if not namespace:
            return tuple(scope for scope in scopes if scope.startswith("project:"))
        own = scope_of(namespace)
        return tuple(scope for scope in scopes if scope == own or scope.startswith(f"{own}."))


def scope_of(namespace: Sequence[str]) -> str:
    """The scope of a namespace: ("users", "Ann") -> "project:users.ann". Several namespaces may share one; values
    know their own.

    Raises:
        InvalidInput: no labels, or more than 200 characters.
    """
    if not namespace or not all(namespace):
        raise InvalidInput("A namespace needs labels, none of them empty.", next_step='For example ("users", "ann").')
    # Without white space, which scopes lose at their ends, the scope of a namespace begins those below it.
    return fold_scope("project:" + ".".join(re.sub(r"\s", "_", label) for label in namespace))


def _tag(namespace: Sequence[str], key: str) -> str:
    """A tag that one value has, whatever its labels fold to: keys like "profile" are the same in many namespaces."""
    text.check_text(key, field="key")
    address = json.dumps([list(namespace), key]).encode()
    return f"{_SEARCHED}-{blake2b(address, digest_size=8).hexdigest()}"


def _address(memory: Memory) -> tuple[list[str], str] | None:
    item = memory.structured.get(ITEM)
    return (item["namespace"], item["key"]) if item else None


def _tag_of(memory: Memory) -> str:
    item = memory.structured[ITEM]
    return _tag(item["namespace"], item["key"])


def _is_below(memory: Memory, namespace: Sequence[str]) -> bool:
    address = _address(memory)
    return address is not None and address[0][: len(namespace)] == list(namespace)


def _put(old: Memory | None, new: Memory, vector: Vector | None, now: datetime) -> list[Change]:
    if old is None:
        return [Add(new, vector)]
    if _is_same(old, new):
        return [Revise(old.id, {"last_validated_at": now}, reason="kept again")]
    following = replace(new, happened_at=old.happened_at, valid_from=now)
    return [Add(following, vector), Supersede(old.id, new.id, valid_to=now, reason="replaced")]


def _forgotten(tx: Transaction, old: Memory) -> list[Change]:
    children = cascade(tx, replace(old, status=Status.FORGOTTEN))
    return [*children, Retire(old.id, Status.FORGOTTEN, "removed")]


def _is_same(old: Memory | None, new: Memory) -> bool:
    if old is None:
        return False
    return (old.structured, old.summary, old.tags) == (new.structured, new.summary, new.tags)


def _all(reader: Reader, space: str, where: KeyFilter) -> Iterator[Memory]:
    offset = 0
    while page := reader.find(space, where, limit=_PAGE, offset=offset):
        yield from page
        offset += len(page)
