"""Write the reference pages that the code itself knows best: cli.md, tools.md, settings.md, errors.md.

Run `python docs/generate_reference.py` after a command, a tool, a setting or an error has changed; a test
says when that is due.
"""

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from afterwit.cli import cli
from afterwit.config import SETTINGS
from afterwit.errors import ANSWERS
from afterwit.serve.tools import INSTRUCTIONS, TOOLS, ToolSpec

REFERENCE = Path(__file__).resolve().parent / "reference"
GENERATED = "<!-- Written by docs/generate_reference.py; change the code, then run it again. -->\n"

#: Columns of the help texts, whatever terminal this runs in.
WIDTH = 80


def cli_page() -> str:
    """Every command's `--help`."""
    parts = [
        "# Command line",
        GENERATED,
        "`afterwit COMMAND` and `python -m afterwit COMMAND` are the same. `--data-dir` and `--space` may stand before "
        "or after the command.",
        "",
        "- **Answers** go to standard output, as text for people or, with `--json`, as one JSON document. Progress, "
        "notes and errors go to standard error.",
        '- **Errors** say what happened and what to do. With `--json` they are `{"error": {"code", "message", '
        '"next_step"}}` on standard output. [Errors](errors.md) lists codes and exit statuses.',
        "- **An answer is no error**: a refused write and a search that finds nothing exit with 0. "
        "`afterwit doctor` exits with 1 when a check fails, `afterwit forget --erase` when you say no.",
        "- **Language**: where `LC_ALL`, `LC_MESSAGES` or `LANG` begins with `zh`, the command itself speaks Chinese, "
        "and so do the errors that wrong input meets: options, numbers, texts, times, ids, names, files and settings. "
        "Rarer errors, of the database, of models and of connected clients, are English; so are JSON, the lines of "
        "`afterwit doctor`, and, besides a sentence in Chinese, `--help`; "
        "what is said about a memory is in the memory's own language.",
        "- **Text** is UTF-8. Other bytes are refused, not guessed.",
        "",
        "## afterwit",
        "",
        _help(cli, "afterwit"),
    ]
    for name, command in cli.commands.items():
        parts += [f"## afterwit {name}", "", _help(command, f"afterwit {name}")]
        if isinstance(command, click.Group):
            for part, inner in command.commands.items():
                parts += [f"### afterwit {name} {part}", "", _help(inner, f"afterwit {name} {part}")]
    return "\n".join(parts).rstrip() + "\n"


def _help(command: click.Command, name: str) -> str:
    context = click.Context(command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH)
    context.help_option_names = ["-h", "--help"]
    return f"```text\n{command.get_help(context)}\n```\n"


def tools_page() -> str:
    """The MCP tools as an agent sees them."""
    parts = [
        "# MCP tools",
        GENERATED,
        "The same over stdio (`afterwit mcp`) and streamable HTTP (`afterwit serve`, at `/mcp`). Names, descriptions "
        "and schemas are static; nothing that is stored enters them. An answer is there twice, as structured content "
        "and as text, because clients show their model one or the other. An error is a result with `isError`, a code "
        "([errors](errors.md)), a sentence and what to do next.",
        "",
        "The server's instructions, which clients show even where they hide the tools:",
        "",
        f"> {INSTRUCTIONS}",
        "",
    ]
    for tool in TOOLS:
        parts += [
            f"## `{tool.name}`",
            "",
            f"> {tool.description}",
            "",
            f"{_hints(tool)} Required: {', '.join(f'`{name}`' for name in tool.required) or 'nothing'}.",
            "",
            "| Argument | Type | Meaning |",
            "|---|---|---|",
            *(
                f"| `{name}` | {_type(schema)} | {schema.get('description', '')} |"
                for name, schema in tool.properties.items()
            ),
            "",
        ]
    return "\n".join(parts)


def _hints(tool: ToolSpec) -> str:
    if tool.is_read_only:
        return "Changes nothing."
    told = "May remove what was there." if tool.is_destructive else "Changes memory; history is kept."
    return f"{told} The same call again changes nothing more." if tool.is_idempotent else told


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    if schema["type"] == "array":
        return f"list of {schema['items']['type']}s"
    if "minimum" in schema:
        return f"{schema['type']}, {schema['minimum']} to {schema['maximum']}"
    return str(schema["type"])


def settings_page() -> str:
    """The settings, their variables, defaults and meaning."""
    rows = [
        f"| `{setting.name}` | `AFTERWIT_{setting.name.upper()}` | {_default(setting.default)} | {setting.sentence} |"
        for setting in SETTINGS
    ]
    return "\n".join(
        [
            "# Settings",
            GENERATED,
            "Every setting has a default; none has to be given. What is given later in this list wins: the default, "
            "`config.toml` in the data directory, an environment variable, an option of the command. "
            "`afterwit doctor` shows what is in force and where it comes from.",
            "",
            "```toml",
            "# ~/.afterwit/config.toml",
            'space = "work"',
            'timezone = "Asia/Shanghai"',
            "```",
            "",
            "| Setting | Variable | Default | Meaning |",
            "|---|---|---|---|",
            *rows,
            "",
            "Keys are no settings, so that none lies in a file beside them: `embedder_key_env` and `llm_key_env` only "
            "name the variables that hold them, and `AFTERWIT_API_KEY` is read from the environment by "
            "`afterwit serve` alone.",
            "",
        ]
    )


def _default(value: str | int | float) -> str:
    return f"`{value}`" if value != "" else "empty"


def errors_page() -> str:
    """The error classes and what each door answers for them."""
    rows = [
        f"| `{error.__name__}` | `{answer.code}` | {answer.http} | {answer.exit} | {_meaning(error)} |"
        for error, answer in ANSWERS.items()
    ]
    return "\n".join(
        [
            "# Errors",
            GENERATED,
            "Every error is an `AfterwitError` with a `message`, what went wrong, and a `next_step`, what to do about "
            "it. The code is the same word in MCP, HTTP and `--json` answers. Nothing was changed unless the message "
            "says otherwise.",
            "",
            "| Class | Code | HTTP | Exit status | Meaning |",
            "|---|---|---|---|---|",
            *rows,
            "",
            "Ctrl-C ends a command with exit status 130. Expected outcomes are no errors: a refused write is a receipt "
            "that says why, an empty search a sentence that says so.",
            "",
        ]
    )


def _meaning(error: type[Exception]) -> str:
    return " ".join((inspect.getdoc(error) or "").partition("\n\n")[0].split())


PAGES = {"cli.md": cli_page, "tools.md": tools_page, "settings.md": settings_page, "errors.md": errors_page}


def main() -> None:
    """Write all pages."""
    REFERENCE.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
