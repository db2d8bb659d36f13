"""Tending a space: its health, what may be cleaned away, and knowledge brought in from files."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from afterwit.dates.phrases import zone_of
from afterwit.errors import InvalidInput, Sentence
from afterwit.records import GLOBAL, Change, KeyFilter, Kind, Memory, Retire, Revise, Status, short_id
from afterwit.review.cleaning import CATEGORIES, Proposal, proposals
from afterwit.review.health import Health, examine
from afterwit.review.intents import Due, DueState, due_of, due_state
from afterwit.review.report import weekly_report
from afterwit.service.files import replace_file
from afterwit.service.knowledge import KnowledgeReport, Place, import_knowledge
from afterwit.service.options import fold_role
from afterwit.service.sessions import Sessions
from afterwit.service.surveying import Survey, material, survey, week_of
from afterwit.service.writing import in_batches
from afterwit.storage import Transaction
from afterwit.vocabulary import fold_scope

#: Memories that are taken out of recall in one transaction: others wait some 50 ms for it.
_CLEANED_AT_ONCE = 500
#: Intents that are listed at most.
_MOST_INTENTS = 1000


@dataclass(frozen=True)
class CleaningPlan:
    """What may be taken out of recall, or was."""

    proposals: tuple[Proposal, ...]
    #: whether it was done
    applied: bool

    @property
    def count(self) -> int:
        """Number of memories concerned."""
        return sum(len(item.ids) for item in self.proposals)


@dataclass(frozen=True)
class Intent:
    """Something that is to be done, and how it stands."""

    memory: Memory
    #: why it is to be brought up now; None = it waits for its time or trigger, or is settled
    state: DueState | None
    #: None = at no fixed time
    due: Due | None


class Tending(Sessions):
    """The part of the service for those who look after a memory."""

    # --- intents ---------------------------------------------------------------------------------

    def intents(self, *, scope: str = "", include_settled: bool = False) -> list[Intent]:
        """What is to be done, the most urgent first: overdue, due, for the next task, then what waits.

        Args:
            scope: only intents of this scope and the global one; "" = all scopes.
            include_settled: also those that are done or dismissed.

        Raises:
            InvalidInput: malformed scope.
        """
        now, zone = self._clock(), self.settings.timezone
        scopes = (GLOBAL, fold_scope(scope)) if scope else ()
        statuses = (Status.ACTIVE, Status.EXPIRED) if include_settled else (Status.ACTIVE,)
        where = KeyFilter(kinds=(Kind.INTENT,), statuses=statuses, scopes=scopes)
        rows = self.store.find(self.space, where, limit=_MOST_INTENTS)
        found = [
            Intent(row, due_state(row, now=now, timezone=zone, scope=row.scope), due_of(row, timezone=zone))
            for row in rows
        ]
        return sorted(found, key=_urgency)

    # --- health ----------------------------------------------------------------------------------

    def health(self) -> Health:
        """How the memory is: counts, and every figure that is worth a look, with what to do about it.

        Raises:
            StorageError: the store could not be read.
        """
        return self._health(survey(self.store, self.space), self._clock())

    def _health(self, found: Survey, now: datetime) -> Health:
        read = material(self.store, self.space, found, embedder=self.embedder, settings=self.settings, now=now)
        return examine(read, now=now, zone=zone_of(self.settings.timezone))

    def weekly_report(self, path: str | Path | None = None, *, days: int = 7, language: str = "en") -> str:
        """The last days as Markdown: what was written, replaced and learned, the health, what may be cleaned.

        Args:
            path: where to write it, in one piece or not at all; None = nowhere.
            days: how many, 1..366.
            language: "en" or "zh".

        Returns:
            The report.

        Raises:
            InvalidInput: `days` out of range, or the file cannot be written.
        """
        if not 1 <= days <= 366:
            raise InvalidInput(
                Sentence("days must be from 1 to 366, not {days}.", days=days), next_step="Give a number in that range."
            )
        now = self._clock()
        found = survey(self.store, self.space)
        health = self._health(found, now)
        plan = proposals(found.vitals, found.repeats, now=now)
        week = week_of(self.store, self.space, since=now - timedelta(days=days), health=health, proposals=plan)
        told = weekly_report(week, language=language, zone=zone_of(self.settings.timezone))
        if path is not None:
            replace_file(Path(path), told)
        return told

    # --- documents -------------------------------------------------------------------------------

    def import_knowledge(
        self,
        paths: Sequence[str | Path],
        *,
        scope: str = "",
        role: str = "",
        dry_run: bool = False,
        prune: bool = False,
    ) -> KnowledgeReport:
        """Bring in what documents say as seed memories: Markdown and text files, or folders of them.

        Each file is cut into passages of at most 200 tokens that make sense alone. They are of basis `imported` and
        trust `external`, so that what was seen and proved here ranks above them. Brought in again, unchanged files
        change nothing, changed passages supersede the old ones, and what a file no longer says leaves recall. A passage
        that somebody forgot or refuted stays out, and so does one that gives orders to the agent. Call `embed_missing`
        afterwards to have them found by meaning, too.

        Args:
            paths: files, or folders whose .md, .mdx, .markdown, .txt, .text, .rst and .adoc files are meant.
            scope: where the passages apply; "" = everywhere.
            role: in whose pool they belong; "" = the shared one.
            dry_run: only tell what would be done.
            prune: also take out the passages of files that a folder no longer has.

        Returns:
            What became of each file, and why some were skipped: one bad file does not stop the others.

        Raises:
            InvalidInput: a path that does not exist, or a malformed scope.
            StorageError: the store could not be written; what was brought in so far stays.
        """
        folded = fold_scope(scope) if scope else GLOBAL
        place = Place(self.space, folded, fold_role(role), self.writer.trust)
        done = import_knowledge(
            self.store, place, paths, now=self._clock(), actor=self.writer.name, dry_run=dry_run, prune=prune
        )
        if self._reembedding is not None and not dry_run and done.total("added") + done.total("replaced"):
            self._reembedding.wake()
        return done

    # --- cleaning --------------------------------------------------------------------------------

    def clean(self, *, dry_run: bool = True, only: Sequence[str] = ()) -> CleaningPlan:
        """Take out of recall what is over, said twice, known to be wrong, or never was of use.

        Nothing is erased: `update(id, verdict="restore")` brings each back. What the user states is never touched,
        but for being marked as expired once its own validity has ended.

        Args:
            dry_run: only tell what would be done.
            only: some of "expired", "duplicates", "refuted" and "stale"; () = all.

        Raises:
            InvalidInput: unknown category.
        """
        for category in only:
            if category not in CATEGORIES:
                raise InvalidInput(
                    Sentence("Unknown category {category!r}.", category=category),
                    next_step=Sentence("Use some of: {names}.", names=", ".join(CATEGORIES)),
                )
        now = self._clock()
        found = survey(self.store, self.space)
        wanted = tuple(
            item for item in proposals(found.vitals, found.repeats, now=now) if not only or item.category in only
        )
        if not dry_run:
            for item in wanted:
                self._carry_out(item, now)
        return CleaningPlan(wanted, applied=not dry_run)

    def _carry_out(self, proposal: Proposal, now: datetime) -> None:
        kept = proposal.kept or ("",) * len(proposal.ids)
        for batch in in_batches(zip(proposal.ids, kept, strict=True), _CLEANED_AT_ONCE):
            with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
                rows = tx.get(self.space, [id for pair in batch for id in pair if id])
                for id, stays in batch:
                    row = rows.get(id)
                    if row is not None and row.status is Status.ACTIVE:
                        tx.apply(_taken_out(tx, row, proposal, stays))


def _taken_out(tx: Transaction, row: Memory, proposal: Proposal, stays: str) -> list[Change]:
    """Changes that retire a memory; one that stays in its place takes over its supporters and uses."""
    if not stays:
        return [Retire(row.id, proposal.status, f"clean: {proposal.category}")]
    best = tx.get(row.space, [stays]).get(stays)
    if best is None or best.status is not Status.ACTIVE:
        return []
    used = [moment for moment in (best.last_used_at, row.last_used_at) if moment is not None]
    merged = {
        "supporters": tuple(sorted({*best.supporters, *row.supporters})),
        "use_count": best.use_count + row.use_count,
        "helped": best.helped + row.helped,
        "harmed": best.harmed + row.harmed,
        "last_used_at": max(used, default=None),
    }
    return [
        Revise(stays, merged, reason="clean: took in a duplicate"),
        Retire(row.id, proposal.status, f"clean: says what m:{short_id(stays)} says"),
    ]


_URGENCIES = ("overdue", "due", "triggered", "next_task")


def _urgency(intent: Intent) -> tuple[int, float, str]:
    place = _URGENCIES.index(intent.state.state) if intent.state is not None else len(_URGENCIES)
    at = intent.due.at.timestamp() if intent.due is not None else float("inf")
    return (place + (intent.memory.status is not Status.ACTIVE), at, intent.memory.id)
