"""The façade. Every door (library, MCP, CLI, REST) calls these methods and nothing below them."""

import copy
import logging
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self, Unpack

from afterwit import text
from afterwit.clock import utc_now
from afterwit.config import Settings, load_settings
from afterwit.digest import Digest, digest
from afterwit.embedding import Embedder, open_embedder, to_vector
from afterwit.entities import entities_of
from afterwit.errors import Conflict, InvalidInput, NotFound, ProviderError, Sentence
from afterwit.extract import prepare
from afterwit.llm import LLM, open_llm
from afterwit.llm.metered import within_budget
from afterwit.messages import say
from afterwit.records import (
    GLOBAL,
    Add,
    Erase,
    Event,
    KeyFilter,
    Link,
    LinkType,
    Memory,
    Outcome,
    Receipt,
    RecordUse,
    Retire,
    Standing,
    Status,
    Trust,
    Use,
    Vector,
    new_id,
)
from afterwit.rerank import open_reranker
from afterwit.resolve import resolve
from afterwit.service import portability
from afterwit.service.answers import Answers
from afterwit.service.attending import Attending
from afterwit.service.conversation import Turn, turn_memories
from afterwit.service.extracting import Extracting
from afterwit.service.keeping import Keeping
from afterwit.service.known import known_of
from afterwit.service.options import (
    Moment,
    SearchOptions,
    UpdateFields,
    WriteFields,
    check_digest_budget,
    check_page,
    moment,
    read_filter,
)
from afterwit.service.portability import ImportReport
from afterwit.service.reembedding import OlderModels, Reembedding
from afterwit.service.tending import Tending
from afterwit.service.updating import (
    apply_correction,
    apply_fields,
    apply_verdict,
    cascade,
    corrected,
    read_update,
)
from afterwit.service.upkeep import Upkeep
from afterwit.service.writing import (
    Draft,
    Prepared,
    Setting,
    Writer,
    draft,
    embedded_texts,
    in_batches,
    summary_receipt,
    with_fields,
)
from afterwit.storage import Order, Store, Transaction, open_store
from afterwit.vocabulary import fold_scope

_log = logging.getLogger(__name__)

#: Memories written in one transaction by `write_many`.
BATCH = 64

#: Characters of an id's end that people may type instead of the whole.
SHORT_ID = 8


@dataclass(frozen=True)
class Version:
    """One state in the history of something that changed."""

    memory: Memory
    #: from when it held in the world; None = unknown
    since: datetime | None
    #: until when; None = still holds
    until: datetime | None
    #: one line: the sentence with its time
    line: str


@dataclass(frozen=True)
class Story:
    """Everything there is to know about one memory."""

    memory: Memory
    events: tuple[Event, ...]
    links: tuple[Link, ...]
    #: memories that the links name
    related: tuple[Memory, ...]
    uses: tuple[Use, ...]
    #: earlier and later values, oldest first
    versions: tuple[Version, ...]
    #: whom and what it is about, by the names that stand for them
    entities: tuple[str, ...] = ()


class Afterwit(Extracting, Tending, Attending, Upkeep, Keeping):
    """Long-term memory of one space.

    Safe to use from several threads; several processes may use the same store.

    Example:
        >>> memory = Afterwit.open()
        >>> memory.write("The user prefers concise answers.", kind="preference")
        >>> memory.search("How long should my answer be?").hits
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        *,
        settings: Settings,
        writer: Writer | None = None,
        llm: LLM | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Wire a service from its parts; `open` does it from settings.

        Args:
            store: where memories are kept; closed by `close`.
            embedder: makes vectors; None = search by words only.
            settings: space, time zone and defaults.
            writer: who writes; default an agent in a session of its own.
            llm: for what rules cannot do, within the token budget of the settings; None = rules alone.
            clock: reads the time, once per call.
        """
        self.settings = settings
        self.store = store
        self.space = settings.space
        self.embedder = embedder
        self._clock = clock
        self._answers = Answers()
        self._older = OlderModels(settings)
        self._reembedding = None if embedder is None else Reembedding(store, self.space, embedder, clock=clock)
        self.llm = within_budget(llm, store, settings, clock)
        writer = writer or Writer()
        self.writer = writer if writer.session else replace(writer, session=new_id(clock()))

    @classmethod
    def open(
        cls, *, settings: Settings | None = None, writer: Writer | None = None, **overrides: str | int | float
    ) -> Self:
        """Open the store and start loading the embedder in the background.

        Args:
            settings: all settings; None = read them (file, `AFTERWIT_*`).
            writer: who writes.
            **overrides: single settings by name, such as `data_dir="./memory"`.

        Raises:
            ConfigError: a setting is wrong.
            StorageError: the store cannot be opened.
        """
        settings = settings or load_settings(overrides=overrides)
        store = open_store(settings.store, lock_wait_s=settings.lock_wait_s)
        try:
            embedder = open_embedder(settings)
            if embedder is not None:
                embedder.warm()
            memory = cls(store, embedder, settings=settings, writer=writer, llm=open_llm(settings))
            memory.rerank_with(open_reranker(settings, memory.llm))
            return memory
        except BaseException:
            store.close()
            raise

    def as_writer(self, writer: Writer) -> "Afterwit":
        """The same memory seen by another writer; shares store, embedder and all that is kept."""
        seen = copy.copy(self)
        seen.writer = writer if writer.session else replace(writer, session=new_id(self._clock()))
        return seen

    def warm(self) -> None:
        """Load the embedder and embed what has no vector yet, in the background; returns at once."""
        if self.embedder is not None:
            self.embedder.warm()
        threading.Thread(target=prepare, name="afterwit-prepare", daemon=True).start()
        if self._reembedding is not None:
            self._reembedding.start()

    def close(self) -> None:
        """Stop what runs in the background, release the store and the embedder."""
        if self._reembedding is not None:
            self._reembedding.close()
        self._answers.clear()
        self._older.close()
        self.rerank_with(None)
        self.store.close()
        if self.embedder is not None:
            self.embedder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- write -----------------------------------------------------------------------------------

    def write_many(self, items: Iterable[str | tuple[str, WriteFields]]) -> list[Receipt]:
        """Remember several statements, by rules alone; faster than one by one. Batches of 64 are all or nothing.

        Args:
            items: statements, or each with what is known of it.

        Raises:
            InvalidInput: an item is malformed; earlier batches are stored, this one is not.
        """
        batches = in_batches(map(with_fields, items), BATCH)
        first = next(batches, None)
        receipts: list[Receipt] = []
        if first is None:
            return receipts
        prepared = self._prepare(first)
        # While a batch is stored, the next one is drafted and embedded: most of embedding leaves the lock to others.
        with ThreadPoolExecutor(1, thread_name_prefix="afterwit-prepare-batch") as ahead:
            for batch in batches:
                following = ahead.submit(self._prepare, batch)
                receipts += self._store(prepared)
                prepared = following.result()
        return receipts + self._store(prepared)

    def write_conversation(self, turns: Sequence[Turn], *, session: str, scope: str = GLOBAL) -> "list[str]":
        """Keep a conversation turn by turn, to be searched as evidence of who said what and when.

        Nothing is judged, extracted or merged: give statements worth believing to `write`. A turn is
        found by its words and by those of its neighbours.

        Args:
            turns: in order.
            session: name of the conversation, such as a session id or file.
            scope: where it applies.

        Returns:
            Ids of the turns, in order.

        Raises:
            InvalidInput: an empty text, speaker or session, or a naive time; nothing was stored.
        """
        now = self._clock()
        setting = Setting(self.space, self.writer, now, self.settings.timezone)
        named = text.check_text(session, field="session", max_bytes=1000)
        memories = turn_memories(turns, scope=fold_scope(scope), session=named, setting=setting)
        for first in range(0, len(memories), BATCH):
            part = memories[first : first + BATCH]
            vectors = self._vectors(part)
            with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
                tx.apply(Add(memory, vectors.get(memory.id)) for memory in part)
            self._embed_later(part, vectors)
        return [memory.id for memory in memories]

    def _prepare(self, batch: Sequence[tuple[str, WriteFields]]) -> Prepared:
        """Draft and embed a batch; nothing is written."""
        now = self._clock()
        setting = Setting(self.space, self.writer, now, self.settings.timezone)
        drafts = tuple((content, draft(content, fields, setting)) for content, fields in batch)
        memories = [one.memory for _, made in drafts if isinstance(made, list) for one in made]
        return Prepared(now, drafts, self._vectors(memories))

    def _store(self, prepared: Prepared) -> list[Receipt]:
        """Write a batch, all or nothing."""
        receipts: list[Receipt] = []
        stored: list[Memory] = []
        if all(isinstance(made, Receipt) for _, made in prepared.drafts):
            return [made for _, made in prepared.drafts if isinstance(made, Receipt)]
        with self.store.transaction(self.space, now=prepared.now, actor=self.writer.name) as tx:
            for content, made in prepared.drafts:
                if isinstance(made, Receipt):
                    receipts.append(made)
                    continue
                done = [self._store_one(tx, one, prepared.vectors.get(one.memory.id), prepared.now) for one in made]
                stored += [one.memory for one in made]
                receipts.append(summary_receipt(done, text.language(content)))
        self._embed_later(stored, prepared.vectors)
        return receipts

    def _store_one(self, tx: Transaction, one: Draft, vector: Vector | None, now: datetime) -> Receipt:
        memory = one.memory
        known = known_of(tx, self.space, memory)
        resolution = resolve(memory, known=known, now=now, is_change=one.is_change, vector=vector)
        tx.apply(resolution.changes)
        self._learn_names(tx, memory, resolution.receipt)
        return resolution.receipt

    def _vectors(self, memories: Sequence[Memory]) -> dict[str, Vector]:
        """Vectors by memory id; empty when the embedder fails, for rows can be embedded later."""
        embedder = self.embedder
        if embedder is None or not memories:
            return {}
        try:
            arrays = embedder.embed(embedded_texts(memories, self.store, self.space))
        except ProviderError as error:
            _log.warning("Stored without vectors, they will be made later: %s", error)
            return {}
        return {memory.id: to_vector(embedder.model, array) for memory, array in zip(memories, arrays, strict=True)}

    def _embed_later(self, memories: Sequence[Memory], vectors: Mapping[str, Vector]) -> None:
        """Have a running server make the vectors that these memories, which are stored now, still lack."""
        if self._reembedding is not None and len(vectors) < len(memories):
            self._reembedding.wake()

    def embed_missing(self) -> Generator[int]:
        """Embed what has no vector of the current model; yields how many were done here so far, the same
        number again while another process is at it.

        Raises:
            ProviderError: the embedder failed; what was done stays.
            StorageError: the store could not be read or written.
        """
        if self._reembedding is not None:
            yield from self._reembedding.run()

    def note_use(self, memory_ids: Sequence[str], *, task_id: str = "", cited: bool = False) -> None:
        """Record that memories were shown to a task, or cited by it.

        Raises:
            NotFound: an id is not in the space.
        """
        now = self._clock()
        with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
            tx.apply(RecordUse(Use(new_id(now), self.space, id, now, task_id, cited)) for id in memory_ids)

    # --- update and forget -----------------------------------------------------------------------

    def update(self, memory_id: str, **fields: Unpack[UpdateFields]) -> Receipt:
        """Correct, confirm, refute, extend or restore a memory. The history keeps what was.

        Args:
            memory_id: whole id, `m:ID`, or the last 8 or more characters.
            **fields: see `UpdateFields`; `verdict` is "confirm", "refute" or "restore", for an intent also
                "done" or "dismiss".

        Raises:
            NotFound: no such memory in this space.
            InvalidInput: nothing to change, or malformed.
            Forbidden: only the user may do this.
            Conflict: the memory's state does not allow it.
        """
        now = self._clock()
        update = read_update(fields, writer=self.writer, now=now)
        memory = self.get(memory_id)
        new = corrected(memory, update, writer=self.writer, now=now) if update.content else None
        vectors = self._vectors([new] if new is not None else [])
        with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
            memory = self._current(tx, memory.id)
            if new is None:
                if update.verdict:
                    return apply_verdict(tx, memory, update, writer=self.writer, now=now)
                return apply_fields(tx, memory, update)
            if memory.status not in (Status.ACTIVE, Status.QUARANTINED):
                raise Conflict(
                    Sentence("This memory is {status} and cannot be corrected.", status=memory.status.value),
                    next_step="Correct the one that replaced it, or write a new one.",
                )
            receipt = apply_correction(tx, memory, new, vectors.get(new.id), update.reason)
        self._embed_later([new], vectors)
        return receipt

    def forget(self, memory_id: str, *, reason: str = "", erase: bool = False) -> Receipt:
        """Take a memory out of recall; with `erase`, remove every trace of it.

        Args:
            memory_id: whole id, `m:ID`, or the last 8 or more characters.
            reason: kept in the history.
            erase: remove row, words, vectors, links and texts for good.

        Raises:
            NotFound: no such memory in this space.
        """
        now = self._clock()
        if reason:
            text.check_text(reason, field="reason", max_bytes=1000)
        id = self.resolve_id(memory_id)
        with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
            memory = self._current(tx, id)
            language = text.language(memory.summary)
            children = cascade(tx, replace(memory, status=Status.FORGOTTEN))
            related = tuple(change.memory_id for change in children)
            if erase:
                tx.apply([*children, Erase(id, reason)])
            elif memory.status is not Status.FORGOTTEN:
                tx.apply([*children, Retire(id, Status.FORGOTTEN, reason or "forgotten")])
        self._answers.clear()
        if erase:
            return Receipt(Outcome.ERASED, id, ("erased",), say("erased", language), related)
        return Receipt(Outcome.FORGOTTEN, id, ("forgotten",), say("forgotten", language), related)

    # --- look ------------------------------------------------------------------------------------

    def resolve_id(self, memory_id: str) -> str:
        """The whole id of a memory named by id, `m:ID`, `[m:ID]` or a part of at least 8 characters.

        Raises:
            InvalidInput: not an id, or several memories share that part.
            NotFound: no such memory in this space.
        """
        wanted = (
            text.check_text(memory_id, field="memory_id", max_bytes=200).strip().strip("[]").removeprefix("m:").lower()
        )
        if len(wanted) < SHORT_ID:
            raise InvalidInput(
                Sentence("{memory_id!r} is too short for an id.", memory_id=memory_id),
                next_step=Sentence("Give at least {least} characters of it.", least=SHORT_ID),
            )
        found = self.store.ids_starting_with(self.space, wanted, limit=2)
        if not found:
            raise NotFound(
                Sentence("There is no memory {memory_id!r} here.", memory_id=memory_id),
                next_step="Search for it, or list memories to see their ids.",
            )
        if len(found) > 1 and wanted not in found:
            raise InvalidInput(
                Sentence("Several memories have an id like {memory_id!r}.", memory_id=memory_id),
                next_step="Give the whole id.",
            )
        return wanted if wanted in found else found[0]

    def get(self, memory_id: str) -> Memory:
        """One memory, in any state.

        Raises:
            NotFound: no such memory in this space.
        """
        id = self.resolve_id(memory_id)
        return self._current(self.store, id)

    def _current(self, reader: Any, id: str) -> Memory:
        memory: Memory | None = reader.get(self.space, [id]).get(id)
        if memory is None:
            raise NotFound(
                Sentence("There is no memory {id!r} here any more.", id=id), next_step="Search for what there is now."
            )
        return memory

    def list(
        self, *, all_states: bool = False, limit: int = 50, offset: int = 0, **options: Unpack[SearchOptions]
    ) -> "list[Memory]":
        """Memories by keys alone, recorded last first.

        Args:
            all_states: also superseded, expired, quarantined, forgotten and refuted ones, in every scope.
            limit: at most this many, 1..1000.
            offset: leave out this many.
            **options: the keys of `SearchOptions`.

        Raises:
            InvalidInput: malformed keys or numbers.
        """
        check_page(limit, offset)
        where = self._listing(options, all_states=all_states)
        return self.store.find(self.space, where, order=Order.NEWEST, limit=limit, offset=offset)

    def count(self, *, all_states: bool = False, **options: Unpack[SearchOptions]) -> int:
        """Number of memories that `list` would go through."""
        return self.store.count(self.space, self._listing(options, all_states=all_states))

    def _listing(self, options: SearchOptions, *, all_states: bool) -> KeyFilter:
        where = read_filter(options, now=self._clock(), as_of=moment(options.get("as_of"), "as_of"))
        where = self._with_all_names(where)
        if not options.get("scopes"):
            where = replace(where, scopes=())
        if not options.get("role"):
            where = replace(where, roles=())
        if all_states:
            where = replace(where, statuses=tuple(Status), without_standings=(), valid_at=None)
        return where

    def explain(self, memory_id: str) -> Story:
        """One memory's whole story: source words, history, links, uses, versions.

        Raises:
            NotFound: no such memory in this space.
        """
        memory = self.get(memory_id)
        links = self.store.links(self.space, [memory.id])
        others = {id for link in links for id in (link.source_id, link.target_id)} - {memory.id}
        return Story(
            memory=memory,
            events=tuple(self.store.events(self.space, memory_id=memory.id)),
            links=tuple(links),
            related=tuple(self.store.get(self.space, sorted(others)).values()),
            uses=tuple(self.store.uses(self.space, memory.id)),
            versions=tuple(self.history(memory.id)),
            entities=entities_of(self.store, self.space, memory),
        )

    def history(self, memory_id: str) -> "list[Version]":
        """How something changed: earlier and later values of a memory, oldest first.

        Raises:
            NotFound: no such memory in this space.
        """
        memory = self.get(memory_id)
        rows, waiting = {memory.id: memory}, [memory.id]
        while waiting:
            links = [link for link in self.store.links(self.space, waiting) if link.type is LinkType.SUPERSEDES]
            ids = {id for link in links for id in (link.source_id, link.target_id)} - set(rows)
            found = self.store.get(self.space, sorted(ids))
            rows |= found
            waiting = list(found)
        return [_version(row) for row in sorted(rows.values(), key=_begins)]

    def summarize(
        self,
        *,
        budget_tokens: int = 400,
        since: Moment | None = None,
        scope: str = "",
        topic: str = "",
        language: str = "",
    ) -> Digest:
        """A digest of a scope, topic or time, made of the memories' own sentences, citing their ids.

        Args:
            budget_tokens: most tokens, 20..20000.
            since: only what happened from then on.
            scope: one scope with the global one; "" = all scopes.
            topic: one topic; "" = all.
            language: "zh" or "en" for the headings; "" = that of most memories.

        Raises:
            InvalidInput: malformed scope, topic, time or budget.
        """
        check_digest_budget(budget_tokens)
        options: SearchOptions = {"scopes": [scope] if scope else [], "topics": [topic] if topic else []}
        if since is not None:
            options["since"] = since
        memories = self.list(limit=1000, **options)
        chinese = sum(text.language(memory.summary) == "zh" for memory in memories)
        spoken = language or ("zh" if chinese * 2 > len(memories) else "en")
        return digest(memories, now=self._clock(), budget_tokens=budget_tokens, language=spoken)

    # --- move ------------------------------------------------------------------------------------

    def export(self) -> Iterator[str]:
        """Everything in the space as lines of JSON, oldest first; `import_lines` reads them back."""
        return portability.export_lines(self.store, self.space, now=self._clock())

    def import_lines(self, lines: Iterable[str]) -> ImportReport:
        """Read exported lines; what is already here stays as it is. All or nothing.

        Raises:
            InvalidInput: a line is not from an export; nothing was changed.
        """
        return portability.import_lines(self.store, self.space, lines, now=self._clock(), actor=self.writer.name)


def _begins(memory: Memory) -> tuple[datetime, datetime, str]:
    return (memory.valid_from or memory.happened_at, memory.recorded_at, memory.id)


def _version(memory: Memory) -> Version:
    since, until = memory.valid_from, memory.valid_to
    key = {(True, True): "from_until", (True, False): "since", (False, True): "until"}.get((bool(since), bool(until)))
    line = memory.summary
    if key:
        days = {"since": f"{since:%Y-%m-%d}" if since else "", "until": f"{until:%Y-%m-%d}" if until else ""}
        line = say(key, text.language(memory.summary), summary=memory.summary, **days)
    return Version(memory, since, until, line)


__all__ = ["Afterwit", "ImportReport", "Standing", "Story", "Trust", "Version"]
