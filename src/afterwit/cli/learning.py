"""Learning from sessions that agents' clients have kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from afterwit.cli.moving import embed_rows, missing_vectors
from afterwit.cli.options import TEXT, json_option
from afterwit.cli.session import Session, pass_session
from afterwit.cli.wording import reworded, worded
from afterwit.cli.words import tell
from afterwit.clock import format_time, parse_time
from afterwit.errors import AfterwitError, Conflict, InvalidInput, Sentence

if TYPE_CHECKING:
    from afterwit.service import Afterwit
    from afterwit.service.turns import Followed, SessionTask, Taught
    from afterwit.transcripts import SessionFile

#: Things learned that are listed for people.
_SHOWN = 200
#: Characters of a goal that are shown.
_GOAL_CHARS = 100


@dataclass
class _Found:
    """What was found in all sessions."""

    sessions: "list[Followed]" = field(default_factory=list["Followed"])
    #: file -> why it was not read
    failed: dict[str, AfterwitError] = field(default_factory=dict[str, AfterwitError])
    #: what was told of already: in a dry run nothing is stored, so a second session seems to teach it anew
    _told: set[str] = field(default_factory=set[str])

    def add(self, found: "Followed") -> None:
        self.sessions.append(replace(found, tasks=tuple(map(self._told_once, found.tasks))))

    def _told_once(self, task: "SessionTask") -> "SessionTask":
        taught: list[Taught] = []
        for one in task.taught:
            again = one.outcome == "new" and one.summary in self._told
            self._told.add(one.summary)
            taught.append(replace(one, outcome="known") if again else one)
        return replace(task, taught=tuple(taught))

    @property
    def tasks(self) -> int:
        """Tasks to which something was added."""
        return sum(len(session.tasks) for session in self.sessions)

    def count(self, *, known: bool) -> int:
        """Things that are new, or that are known."""
        taught = (one for session in self.sessions for task in session.tasks for one in task.taught)
        return sum(_is_known(one) == known for one in taught)


def _is_known(taught: "Taught") -> bool:
    return taught.outcome in ("known", "merged")


@click.command("learn", short_help="Learn from past sessions. 从历史会话学习。")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=TEXT)
@click.option("--client", type=TEXT, default="", help="Only of this client, such as claude_code or codex.")
@click.option("--since", type=TEXT, metavar="TIME", help="Only sessions that changed from then on.")
@click.option("--project", type=TEXT, default="", metavar="NAME", help="Only sessions of this project.")
@click.option("--apply/--dry-run", "applies", default=False, help="Store it; without this it is only shown.")
@click.option("--limit", type=int, metavar="N", help="At most so many sessions, the latest ones.")
@json_option
@pass_session
def learn(
    session: Session,
    paths: tuple[str, ...],
    client: str,
    since: str | None,
    project: str,
    applies: bool,
    limit: int | None,
) -> int:
    """Read the sessions that agents' clients have kept, and draw lessons from them.

    读取各客户端保存的历史会话，总结教训、偏好与约束；默认只展示将学到什么，加 --apply 才会写入。

    Without PATH, the sessions of Claude Code, Codex, Gemini CLI, Qwen Code and opencode are
    found where these keep them; PATH names session files, or folders of them. Each request
    becomes a task. Nothing is stored without --apply, and nothing is learned twice. Files that
    cannot be read are named with the reason; then the exit status is 1.

    \b
    Examples:
      afterwit learn
      afterwit learn --client codex --since 2026-03-01 --project atlas
      afterwit learn --apply
      afterwit learn ~/.claude/projects/-home-me-atlas --apply
    """
    if limit is not None and limit < 1:
        raise InvalidInput(
            Sentence("--limit must be at least 1, not {limit}.", limit=limit),
            next_step="Leave it out for all sessions.",
        )
    found = _Found()
    files = _files(found, paths, client, parse_time(since, field="since") if since else None)
    files = files[-limit:] if limit else files
    with session.memory(embeds=applies and bool(files)) as memory:
        with session.progress("learn", len(files)) as advance:
            for file in files:
                _follow(found, memory, file, project=project, dry_run=not applies)
                advance(1)
        if applies and found.count(known=False):
            embed_rows(session, memory, missing_vectors(memory))
        waits = applies and bool(found.tasks) and bool(memory.settings.llm)
        session.answer(lambda: _json(found, applies), lambda: _lines(found, applies=applies, waits=waits))
    return 1 if found.failed else 0


def _files(found: _Found, paths: tuple[str, ...], client: str, since: datetime | None) -> "list[SessionFile]":
    from afterwit.transcripts import client_named, find_sessions, sessions_in  # noqa: PLC0415

    if client:
        client = client_named(client).name
    if not paths:
        return find_sessions(client, since=since)
    files: dict[tuple[Path, str], SessionFile] = {}
    for path in paths:
        try:
            for one in sessions_in(Path(path).expanduser(), client=client):
                files[one.path.absolute(), one.session_id] = one
        except InvalidInput as error:
            found.failed[path] = error
    kept = [one for one in files.values() if since is None or one.modified >= since]
    return sorted(kept, key=lambda one: (one.modified, str(one.path), one.session_id))


def _follow(found: _Found, memory: "Afterwit", file: "SessionFile", *, project: str, dry_run: bool) -> None:
    try:
        followed = memory.follow_session(
            file.path, client=file.client, session_id=file.session_id, project=project, dry_run=dry_run
        )
    except (InvalidInput, Conflict) as error:
        found.failed[str(file.path)] = error
    else:
        if followed.reason != "elsewhere":
            found.add(followed)


# --- answers --------------------------------------------------------------------------------------


def _json(found: _Found, applied: bool) -> dict[str, Any]:
    return {
        "applied": applied,
        "sessions": [_session_json(one) for one in found.sessions],
        "failed": {path: reworded(error, "en") for path, error in found.failed.items()},
        "tasks": found.tasks,
        "new": found.count(known=False),
        "known": found.count(known=True),
    }


def _session_json(one: "Followed") -> dict[str, Any]:
    from afterwit.serve.wire import filled  # noqa: PLC0415 - brings the wire format along

    return filled(
        {
            "client": one.client,
            "session": one.session,
            "file": str(one.path),
            "modified": format_time(one.modified),
            "scope": one.scope if one.session else "",
            "tasks": [_task_json(task) for task in one.tasks],
            "passed_over": one.passed_over,
            "reason": one.reason,
        }
    )


def _task_json(one: "SessionTask") -> dict[str, Any]:
    from afterwit.serve.tasks import task_json  # noqa: PLC0415
    from afterwit.serve.wire import filled  # noqa: PLC0415

    taught = [
        filled({"summary": it.summary, "kind": it.kind.value, "outcome": it.outcome, "id": it.memory_id})
        for it in one.taught
    ]
    return task_json(one.task) | {"steps": one.steps, "is_new": one.is_new, "learned": taught}


def _lines(found: _Found, *, applies: bool, waits: bool) -> str:
    if not found.sessions and not found.failed:
        return tell("learn_none")
    lines: list[str] = []
    for one in found.sessions:
        lines += _session_lines(one)
    left = len(lines) - _SHOWN
    if left > 0:
        lines = [*lines[:_SHOWN], tell("learn_more", count=left)]
    lines += [tell("learn_busy", path=one.path) for one in found.sessions if one.reason == "busy"]
    for path, error in found.failed.items():
        lines.append(tell("learn_failed", path=path, reason=worded(error.message)))
        lines += [tell("next_step", next_step=worded(error.next_step))] if error.next_step else []
    counts = {"sessions": len(found.sessions), "tasks": found.tasks}
    counts |= {"new": found.count(known=False), "known": found.count(known=True)}
    key = ("learned" if applies else "would_learn") if found.tasks else "would_learn_nothing"
    return "\n".join([*lines, tell(key, **counts), *([tell("learn_waits")] if waits else [])])


def _session_lines(one: "Followed") -> Sequence[str]:
    """Where from, and what; nothing for a session that teaches nothing new."""
    from afterwit.serve.prose import quoted  # noqa: PLC0415 - brings the text layer along
    from afterwit.transcripts import CLIENTS  # noqa: PLC0415

    lines: list[str] = []
    for task in one.tasks:
        new = [it for it in task.taught if not _is_known(it)]
        if new:
            goal = quoted(task.task.goal)[:_GOAL_CHARS]
            lines.append(tell("learn_task", goal=goal, status=task.task.status.value))
            lines += [f"    {it.kind.value}: {quoted(it.summary)}" for it in new]
    if not lines:
        return ()
    date = f"{next(iter(one.tasks)).task.started_at:%Y-%m-%d %H:%M}Z"
    place = {"client": CLIENTS[one.client].title, "date": date, "scope": one.scope, "path": quoted(str(one.path))}
    return [tell("learn_session", **place), *lines]
