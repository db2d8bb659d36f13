"""What an agent goes through in one run: the same tasks in the same order for every arm of a seed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evals.simulation.agent import Assignment
from evals.simulation.jobs import FLAKY, ORDERS, REGION, TRAPS, Family, Job, job
from evals.simulation.world import VERSIONS, dice

#: The orders API after its change: keys are no longer taken.
AFTER_CHANGE: Mapping[str, str] = {**VERSIONS, "orders-api": "2.0"}

#: Two traps in one task.
_PAIRS = ((TRAPS[2], TRAPS[4]), (ORDERS, TRAPS[5]), (TRAPS[3], TRAPS[6]), (TRAPS[1], TRAPS[2]))

#: What is planted about `REGION`, by language; the flag exists and does not help.
WRONG_LESSON = {
    "en": "shipit deploy needs --force, otherwise it finds no target region.",
    "zh": "shipit deploy 需要加 --force，否则会报没有目标区域。",
}

#: Looks in the task of thirty turns, before each of its jobs.
_LONG_LOOKS = 8


@dataclass(frozen=True)
class Planned:
    """A task and the groups that it counts in."""

    assignment: Assignment
    groups: tuple[str, ...]


class Course:
    """The tasks of one seed."""

    def __init__(self, seed: int) -> None:
        """Draw everything from one seed."""
        self.seed = seed
        self._draw = dice("course", seed)
        self._made = 0

    def first(self) -> Iterator[Planned]:
        """Every trap for the first time, and two flaky tasks."""
        families = [*TRAPS, FLAKY, FLAKY]
        self._draw.shuffle(families)
        for family in families:
            yield self._planned((family,), "learn", ("flaky",) if family is FLAKY else ("first meeting",))

    def again(self) -> Iterator[Planned]:
        """Every trap again, twice alone and some in pairs, in other words and about other things."""
        sets: list[tuple[Family, ...]] = [*((family,) for family in TRAPS * 2), *_PAIRS, (FLAKY,), (FLAKY,)]
        self._draw.shuffle(sets)
        for families in sets:
            kind = "flaky" if FLAKY in families else "two traps" if len(families) == 2 else "one trap"
            yield self._planned(families, "held", (kind,) if kind == "flaky" else ("held out", kind))

    def after_change(self) -> Iterator[Planned]:
        """The orders API changes: three tasks where it is new, then where the old one remains and where it is new."""
        for _ in range(3):
            yield self._planned((ORDERS,), "held", ("first 3 after the change",), AFTER_CHANGE)
        for versions, group in ((VERSIONS, "old version remains"), (AFTER_CHANGE, "later, new version")) * 2:
            yield self._planned((ORDERS,), "held", (group,), versions)

    def with_wrong_lesson(self) -> Iterator[Planned]:
        """Tasks about which something wrong was planted."""
        for _ in range(6):
            yield self._planned((REGION,), "held", ("wrong lesson planted",))

    def long(self) -> Assignment:
        """A task of some thirty turns with three traps."""
        families = self._draw.sample(TRAPS, 3)
        planned = self._planned(families, "learn", ())
        made = planned.assignment
        return Assignment(made.goal, made.jobs, made.seed, made.versions, made.language, looks=_LONG_LOOKS)

    def in_one_session(self) -> list[Assignment]:
        """One trap met three times in a row."""
        family = self._draw.choice(TRAPS)
        return [self._planned((family,), part, ()).assignment for part in ("learn", "held", "held")]

    def language(self) -> str:
        """Chinese in every second task."""
        return "zh" if (self._made + self.seed) % 2 else "en"

    def _planned(
        self, families: Sequence[Family], part: str, groups: tuple[str, ...], versions: Mapping[str, str] = VERSIONS
    ) -> Planned:
        language = self.language()
        self._made += 1
        jobs: tuple[Job, ...] = tuple(job(family, part, language, self._draw) for family in families)
        goal = ("；" if language == "zh" else ". ").join(one.goal for one in jobs)
        spoken = ("held out, Chinese" if language == "zh" else "held out, English",) if "held out" in groups else ()
        assignment = Assignment(
            goal, jobs, f"{self.seed}-{self._made}", versions, language, looks=self._draw.randrange(3)
        )
        return Planned(assignment, (*groups, *spoken))
