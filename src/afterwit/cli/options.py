"""Options that several commands share, and how values are read."""

import json
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from afterwit.cli.session import Session
from afterwit.errors import InvalidInput, Sentence

F = TypeVar("F", bound=Callable[..., Any])


class Text(click.ParamType):  # pyright: ignore[reportMissingTypeArgument]
    """Text that is valid Unicode; bytes of an argument that were not UTF-8 are refused."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text itself.

        Raises:
            InvalidInput: it was not UTF-8.
        """
        text = str(value)
        if any("\ud800" <= character <= "\udfff" for character in text):
            name = param.human_readable_name if param else "text"
            raise InvalidInput(
                Sentence("{name} is not valid UTF-8.", name=name), next_step="Use a terminal or file encoded in UTF-8."
            )
        return text


class JsonObject(Text):
    """A JSON object."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The parsed object.

        Raises:
            InvalidInput: not JSON.
        """
        text = super().convert(value, param, ctx)
        try:
            return json.loads(text)
        except ValueError as error:
            name = param.human_readable_name if param else "value"
            raise InvalidInput(
                Sentence("{name} is not JSON: {problem}.", name=name, problem=error),
                next_step="""Quote it for the shell: '{"value": "Shanghai"}'.""",
            ) from None


TEXT = Text()
JSON = JsonObject()


def _set_json(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        context.ensure_object(Session).as_json = True


def _set_override(context: click.Context, option: click.Parameter, value: str | None) -> None:
    if value is None:
        return
    if not value.strip():
        raise InvalidInput(
            Sentence("--{name} is empty.", name=str(option.name).replace("_", "-")),
            next_step="Give a value or leave it out.",
        )
    context.ensure_object(Session).overrides[str(option.name)] = value


def place_options(*, hidden: bool) -> Callable[[F], F]:
    """--data-dir and --space; commands take them too, without listing them in their help."""

    def decorate(function: F) -> F:
        function = click.option(
            "--space",
            type=TEXT,
            expose_value=False,
            callback=_set_override,
            hidden=hidden,
            help="Space to read and write. 记忆空间。",
        )(function)
        return click.option(
            "--data-dir",
            type=click.Path(),
            expose_value=False,
            callback=_set_override,
            hidden=hidden,
            help="Directory of the database. Default: ~/.afterwit. 数据目录。",
        )(function)

    return decorate


def json_option(function: F) -> F:
    """--json, and the hidden --data-dir and --space that every command takes."""
    function = place_options(hidden=True)(function)
    return click.option(
        "--json",
        "as_json",
        is_flag=True,
        expose_value=False,
        callback=_set_json,
        help="Print one JSON document, errors included.",
    )(function)


def _many(name: str, plural: str, text: str) -> Callable[[F], F]:
    return click.option(name, plural, type=TEXT, multiple=True, metavar="TEXT", help=f"{text}; repeatable.")


_KEYS: tuple[Callable[[Any], Any], ...] = (
    _many("--scope", "scopes", "Also look in this scope: project:NAME, session:ID or task:ID"),
    _many(
        "--kind",
        "kinds",
        "Only this kind: preference, fact, constraint, decision, failure, lesson, rule or intent",
    ),
    _many("--topic", "topics", "Only this topic"),
    _many("--subject", "subjects", "Only about this person or thing"),
    _many("--tag", "tags", "Only with this tag"),
    click.option("--role", type=TEXT, help="Look in the pool of this agent role first, then in the shared one."),
    click.option("--as-of", type=TEXT, metavar="TIME", help="What was true at this time, as known today."),
    click.option("--known-at", type=TEXT, metavar="TIME", help="What was believed at this time."),
    click.option("--since", type=TEXT, metavar="TIME", help="Only what happened from then on."),
    click.option("--until", type=TEXT, metavar="TIME", help="Only what happened before then."),
)


def key_options(function: F) -> F:
    """The keys by which search and list narrow."""
    for option in reversed(_KEYS):
        function = option(function)
    return function


def given(values: dict[str, Any]) -> dict[str, Any]:
    """What was said on the command line: options that were left out are dropped."""
    return {name: value for name, value in values.items() if value is not None and value != ()}


def read_text(words: tuple[str, ...], field: str) -> str:
    """The text of an argument: its words, or standard input for a single "-".

    Raises:
        InvalidInput: nothing was given, or not UTF-8.
    """
    if words == ("-",):
        return decode(sys.stdin.buffer.read(), field).rstrip("\r\n")
    return " ".join(words)


def decode(data: bytes, field: str) -> str:
    """Bytes as text; a byte order mark at the start is dropped.

    Raises:
        InvalidInput: not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InvalidInput(
            Sentence(
                "{field} is not valid UTF-8: byte 0x{byte:02x} in line {line}.",
                field=field,
                byte=data[error.start],
                line=line,
            ),
            next_step="Convert it first, for example with `iconv -f GB18030 -t UTF-8`.",
        ) from None
