"""One run of the command line: its settings, the memory it opens, and how it answers."""

import json
import logging
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from afterwit.cli.words import tell
from afterwit.clock import utc_now
from afterwit.config import Settings, load_settings
from afterwit.records import Trust

if TYPE_CHECKING:
    from afterwit.embedding import Embedder
    from afterwit.service import Afterwit

#: Seconds between two lines of progress where no bar can be drawn.
LINE_EVERY_S = 5.0


@dataclass
class Session:
    """What all commands share."""

    #: settings given as options, such as --data-dir
    overrides: dict[str, str] = field(default_factory=dict[str, str])
    #: answer in JSON
    as_json: bool = False

    @cached_property
    def settings(self) -> Settings:
        """The settings in force.

        Raises:
            ConfigError: one is wrong.
        """
        return load_settings(overrides=self.overrides)

    @cached_property
    def embedder(self) -> "Embedder | None":
        """The embedder that the settings name, not loaded yet.

        Raises:
            ConfigError: there is no such embedder.
        """
        from afterwit.embedding import open_embedder  # noqa: PLC0415 - brings numpy along

        return open_embedder(self.settings)

    @contextmanager
    def memory(self, *, embeds: bool = False, asks: bool = False) -> "Generator[Afterwit]":
        """The memory, opened for the person at the keyboard.

        Args:
            embeds: text will be embedded for sure, so the model loads while the rest is imported.
            asks: a language model may be asked, if there is one.

        Raises:
            ConfigError: a setting is wrong.
            StorageError: the store cannot be opened.
        """
        settings, embedder = self.settings, self.embedder
        logging.basicConfig(level=settings.log_level, format="%(levelname)s: %(message)s", stream=sys.stderr)
        if embeds and embedder is not None:
            embedder.warm()
        # The service brings SQLAlchemy along, which `--help` must not pay for.
        from afterwit.llm import open_llm  # noqa: PLC0415
        from afterwit.service import Afterwit, Writer  # noqa: PLC0415
        from afterwit.storage import open_store  # noqa: PLC0415

        # What a person repeats within a day counts once.
        writer = Writer(name="user", trust=Trust.USER, session=f"cli:{utc_now():%Y-%m-%d}")
        llm = open_llm(settings) if asks else None
        store = open_store(settings.store, lock_wait_s=settings.lock_wait_s)
        with Afterwit(store, embedder, settings=settings, writer=writer, llm=llm) as memory:
            yield memory

    def answer(self, values: Callable[[], Any], prose: Callable[[], str]) -> None:
        """Print a result: as one JSON document, or as text for people.

        Args:
            values: makes the JSON values.
            prose: makes the text. Only one of the two is called.
        """
        if self.as_json:
            say_json(values())
        elif text := prose():
            click.echo(text)

    @contextmanager
    def progress(self, label: str, length: int) -> Generator[Callable[[int], None]]:
        """A progress bar on standard error if it is a terminal, else a line now and then.

        Args:
            label: what is being done.
            length: how many steps there are in all.

        Yields:
            Call it with the number of steps that were done since the last call.
        """
        if not self.as_json and not sys.stderr.isatty():
            yield _Lines(label, length).update
            return
        with click.progressbar(length=length, label=label, file=sys.stderr, hidden=self.as_json, show_pos=True) as bar:
            yield bar.update

    def may_ask(self) -> bool:
        """Whether a question on the terminal would be answered by a person."""
        return not self.as_json and sys.stdin.isatty() and sys.stderr.isatty()


class _Lines:
    """Progress where no bar can be drawn, as in a log: a line on standard error now and then."""

    def __init__(self, label: str, length: int) -> None:
        self._label = label
        self._length = length
        self._done = 0
        self._told_at = time.monotonic()

    def update(self, steps: int) -> None:
        """So many more steps were done; says so if nothing was said for a while and there is more to do."""
        self._done += steps
        now = time.monotonic()
        if now - self._told_at >= LINE_EVERY_S and self._done < self._length:
            self._told_at = now
            click.echo(tell("progress", label=self._label, done=self._done, length=self._length), err=True)


def say_json(values: Any) -> None:
    """Print one JSON document; terminals without UTF-8 get escapes, so that it stays parseable."""
    encoding = (getattr(sys.stdout, "encoding", "") or "").lower().replace("-", "")
    click.echo(json.dumps(values, ensure_ascii=encoding != "utf8", indent=2))


pass_session = click.make_pass_decorator(Session, ensure=True)
