"""LangGraph's long-term store over Afterwit: `builder.compile(store=AfterwitStore(memory))`.

Needs `afterwit[langgraph]`.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, assert_never, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
)

from afterwit.errors import InvalidInput
from afterwit.records import ITEM, Memory
from afterwit.service import MAX_K, Afterwit, Keep

Values = dict[str, Any]


class AfterwitStore(BaseStore):
    """Keeps LangGraph's items as memories, in the scope `project:LABEL.LABEL...` of their namespace.

    Reads of a batch see the state before its puts, and its puts are all or none. What is replaced stays as history;
    what is deleted is forgotten, and `Afterwit.forget(id, erase=True)` removes it for good. Items do not expire.

    Example:
        >>> store = AfterwitStore(Afterwit.open())
        >>> store.put(("users", "ann"), "food", {"likes": "noodles without chili"})
        >>> store.search(("users",), query="What does Ann eat?")
    """

    __slots__ = ("_fields", "_is_cut", "_memory")

    def __init__(self, memory: Afterwit, *, fields: Sequence[str] = ("$",), only_relevant: bool = True) -> None:
        """Wrap a memory, which stays the caller's to close.

        Args:
            memory: where items are kept.
            fields: paths of what items are found by, unless a put says otherwise; "$" is all of a value.
            only_relevant: a search with a query returns what matters for it, which may be nothing; False = the
                best up to `limit`, relevant or not.
        """
        self._memory = memory
        self._fields = tuple(fields)
        self._is_cut = only_relevant

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the operations; one result each, None for puts.

        Raises:
            InvalidInput: a malformed operation; nothing was put.
            StorageError: the store could not be read or written.
        """
        asked = list(ops)
        puts = [self._put(op) for op in asked if isinstance(op, PutOp)]
        results = [self._read(op) for op in asked]
        if puts:
            self._memory.keep(puts)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the operations in a thread; see `batch`."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                found = self._memory.kept(op.namespace, op.key)
                return None if found is None else Item(**_fields_of(found))
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
            case PutOp():
                return None
            case _:
                assert_never(op)

    def _put(self, op: PutOp) -> Keep:
        if op.ttl is not None:
            raise InvalidInput("Items here do not expire.", next_step="Leave ttl out, and delete what is over.")
        if op.value is None or op.index is False:
            return Keep(op.namespace, op.key, op.value)
        value = dict(op.value)
        parts = [part for path in op.index or self._fields for part in _words_at(value, path)]
        return Keep(op.namespace, op.key, value, "; ".join(parts))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        _check_page(op.limit, op.offset)
        page = slice(op.offset, op.offset + op.limit)
        found = None
        if op.filter or not op.query:
            found = [
                row for row in self._memory.kept_below(op.namespace_prefix) if _matches(_value(row), op.filter or {})
            ]
        if not op.query:
            return [SearchItem(**_fields_of(row)) for row in (found or [])[page]]
        top_k = min(page.stop, MAX_K)
        if not top_k:
            return []
        hits = self._memory.search_kept(op.query, op.namespace_prefix, among=found, top_k=top_k, is_cut=self._is_cut)
        return [SearchItem(**_fields_of(hit.memory), score=hit.relevance) for hit in hits[page]]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        _check_page(op.limit, op.offset)
        all_of_them = {tuple[str, ...](row.structured[ITEM]["namespace"]) for row in self._memory.kept_below()}
        matching = (each for each in all_of_them if all(_is_at(each, where) for where in op.match_conditions or ()))
        return sorted({each[: op.max_depth] for each in matching})[op.offset : op.offset + op.limit]


def _fields_of(memory: Memory) -> Values:
    item = memory.structured[ITEM]
    return {
        "namespace": tuple(item["namespace"]),
        "key": item["key"],
        "value": _value(memory),
        "created_at": memory.happened_at,
        "updated_at": max(memory.recorded_at, memory.last_validated_at or memory.recorded_at),
    }


def _value(memory: Memory) -> Values:
    return memory.structured[ITEM]["value"]


def _check_page(limit: int, offset: int) -> None:
    if limit < 0 or offset < 0:
        raise InvalidInput(
            f"limit and offset must not be negative, not {limit} and {offset}.", next_step="Begin with offset 0."
        )


# --- what an item is found by -----------------------------------------------------------------------


def _words_at(value: Values, path: str) -> list[str]:
    if path != "$":
        return get_text_at_path(value, path)
    leaves = list(_leaves(value, ""))
    # The name of the only one says nothing that would tell it from others: {"memory": "Ann likes tea"}.
    return [leaf for _, leaf in leaves] if len(leaves) == 1 else [f"{name}: {leaf}" for name, leaf in leaves]


def _leaves(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """The texts and numbers in a value, each under the nearest name."""
    if isinstance(value, Mapping):
        for key, inner in cast("Mapping[str, Any]", value).items():
            yield from _leaves(inner, key)
    elif isinstance(value, list | tuple):
        for inner in cast("Sequence[Any]", value):
            yield from _leaves(inner, name)
    elif value is not None and str(value).strip():
        yield name, str(value)


# --- filters ----------------------------------------------------------------------------------------

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda value, bound: value > bound,
    "$gte": lambda value, bound: value >= bound,
    "$lt": lambda value, bound: value < bound,
    "$lte": lambda value, bound: value <= bound,
}


def _matches(value: Any, wanted: Any) -> bool:
    """Whether a value fits a filter: equal, in the fields that the filter names, or by operators."""
    if isinstance(wanted, Mapping):
        parts = cast("Mapping[str, Any]", wanted)
        if any(name.startswith("$") for name in parts):
            return all(_holds(value, operator, bound) for operator, bound in parts.items())
        if not isinstance(value, Mapping):
            return False
        fields = cast("Mapping[str, Any]", value)
        return all(_matches(fields.get(name), part) for name, part in parts.items())
    if isinstance(wanted, list | tuple):
        return bool(value == list(cast("Sequence[Any]", wanted)))
    return bool(value == wanted)


def _holds(value: Any, operator: str, bound: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return (value == bound) is (operator == "$eq")
    compare = _ORDERS.get(operator)
    if compare is None:
        raise InvalidInput(
            f"Unknown operator {operator!r} in a filter.", next_step=f"Use $eq, $ne, {', '.join(_ORDERS)}."
        )
    alike = all(isinstance(one, int | float) for one in (value, bound)) or (
        isinstance(value, str) and isinstance(bound, str)
    )
    return alike and compare(value, bound)


def _is_at(namespace: tuple[str, ...], where: MatchCondition) -> bool:
    """Whether a namespace begins or ends with a path, in which "*" is any label."""
    if len(namespace) < len(where.path):
        return False
    labels = namespace[: len(where.path)] if where.match_type == "prefix" else namespace[-len(where.path) :]
    return all(wanted in ("*", label) for label, wanted in zip(labels, where.path, strict=True))
