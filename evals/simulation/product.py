"""The memory under test, as the agent of the simulation meets it: through the public API, one session per task.

The one file of the simulation that imports the product.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast

from afterwit import Afterwit, Memory, Standing, Status, Writer
from afterwit.recall import Hit
from afterwit.serve.prose import search_text
from afterwit.text import count_tokens
from evals.product import Clock
from evals.simulation.agent import Told

#: Between two tasks, and between two steps of one.
_A_DAY, _A_STEP = timedelta(days=1), timedelta(seconds=20)

#: Kinds that tasks leave behind.
LEARNED = ("lesson", "failure", "rule")


@dataclass
class Diary:
    """One memory over many tasks of one agent."""

    service: Afterwit
    clock: Clock
    now: datetime
    #: the agent reads all that is stored, and not what the product picks
    shows_everything: bool = False
    _tasks: int = 0
    #: memory id -> sessions in which it was learned or helped
    sessions: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def session(self, name: str = "") -> "Session":
        """A session of its own for the next task, a day later; or one more task in a named session."""
        self._tasks += 1
        self.now += _A_DAY
        self.clock.set(self.now)
        writer = Writer(session=name or f"session-{self._tasks}")
        return Session(self, self.service.as_writer(writer))

    def plant(self, text: str, *, is_confirmed: bool) -> str:
        """Write a lesson as an agent would: as its own conclusion, or in the user's name and so confirmed at once."""
        self.now += _A_DAY
        self.clock.set(self.now)
        writer = self.service.as_writer(Writer(session=f"planted-{self._tasks}"))
        return writer.write(text, kind="lesson", source="user" if is_confirmed else "agent").id

    def stands(self, memory_id: str) -> str:
        """How far a memory is proved: "pending", "confirmed", "refuted"; "gone" when it is not current."""
        memory = self.service.get(memory_id)
        return memory.standing.value if memory.status is Status.ACTIVE else "gone"

    def learned(self) -> list[Memory]:
        """All that tasks left behind, oldest first."""
        found = self.service.list(all_states=True, limit=1000, kinds=LEARNED)
        return [memory for memory in found if memory.source.kind == "review"][::-1]

    def confirmed_by_one_session(self) -> list[Memory]:
        """Lessons that are held for proved though only one session, or none, speaks for them."""
        return [
            memory
            for memory in self.learned()
            if memory.standing is Standing.CONFIRMED and len(self._sessions_of(memory)) < 2
        ]

    def _sessions_of(self, memory: Memory) -> set[str]:
        space, store = self.service.space, self.service.store
        tasks = {use.task_id for use in store.uses(space, memory.id) if use.credit > 0}
        origins = {memory.source.ref, *memory.supporters} - {""}
        sessions = {task.session for id in tasks | origins if (task := store.task(space, id)) is not None}
        return sessions | {origin for origin in origins if store.task(space, origin) is None}

    def rows(self) -> int:
        """Number of memories, whatever their state."""
        return self.service.count(all_states=True)


@dataclass
class Session:
    """A memory during one task."""

    diary: Diary
    service: Afterwit
    #: what the task's end stored
    stored: int = 0
    _tokens: int = 0
    _task: str = ""

    @property
    def tokens(self) -> int:
        """Estimated tokens that the task was told."""
        return self._tokens

    def start(self, goal: str, environment: Mapping[str, object]) -> Sequence[Told]:
        """Begin a task and read the briefing."""
        briefing = self.service.start_task(goal, environment=cast("dict[str, Any]", dict(environment)))
        self._task = briefing.task.id
        if self.diary.shows_everything:
            return self._all()
        return self._read((*briefing.rules, *briefing.cases))

    def _all(self) -> list[Told]:
        found = self.service.list(limit=1000)
        self._tokens += sum(count_tokens(memory.summary) for memory in found)
        return [Told(memory.id, memory.summary, memory.kind.value) for memory in found]

    def _read(self, hits: Sequence[Hit]) -> list[Told]:
        self._tokens += sum(count_tokens(hit.memory.summary) for hit in hits)
        return [Told(hit.memory.id, hit.memory.summary, hit.memory.kind.value, hit.warnings) for hit in hits]

    def log(self, command: str, output: str, ok: bool | None) -> None:
        """Note a command and what came of it."""
        self._step()
        self.service.log_step(self._task, action="bash", input=command, output=output, ok=ok)

    def note(self, action: str, words: str, output: str = "") -> None:
        """Note something else than a command."""
        self._step()
        self.service.log_step(self._task, action=action, input=words, output=output)

    def ask(self, query: str) -> Sequence[Told]:
        """Search within the task."""
        if self.diary.shows_everything:
            return ()
        self._step()
        return self._read(self.service.search(query, task_id=self._task, kinds=LEARNED).hits)

    def pasted(self, query: str) -> str:
        """What a search prints, as it would stand in a prompt."""
        self._step()
        answer = self.service.search(query, task_id=self._task)
        return search_text(answer, query=query, now=self.diary.clock())

    def write(self, text: str) -> None:
        """Write something down."""
        self._step()
        self.service.write(text)

    def finish(self, outcome: str, used: Sequence[str]) -> None:
        """End the task."""
        self._step()
        receipt = self.service.finish_task(self._task, outcome=outcome, used=used)
        self.stored = sum(learned.outcome.value == "stored" for learned in receipt.learned)

    def _step(self) -> None:
        self.diary.now += _A_STEP
        self.diary.clock.set(self.diary.now)
