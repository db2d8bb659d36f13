"""What a step did: with which tool and program, to what, and whether it only looked."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

from afterwit.review.commands import Command, parse_command
from afterwit.review.normalising import normalise, route

_SAY = frozenset(
    ("user", "decision", "note", "think", "thought", "assistant", "message", "plan", "todowrite", "update_plan")
)
_SHELLS = re.compile(
    r"^(?:ba|z|fi|c|k)?sh$|shell|terminal|^(?:exec|execute|run)(?:_(?:command|bash|cmd))?$|^cmd$|command_line"
)
#: First match decides; tool names are split at "_", "." and camel humps before.
_TOOL_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "browse",
        re.compile(r"browser|playwright|puppeteer|selenium|navigate|click|web ?(?:fetch|search)|screenshot|snapshot"),
    ),
    ("sql", re.compile(r"sql|postgres|sqlite|run query|database query|bigquery|^query$")),
    ("http", re.compile(r"http|request|curl|^fetch$|fetch url|api call|^(?:get|post|put|patch|delete)$")),
    (
        "edit",
        re.compile(r"\b(?:edit|write|create|replace|patch|insert|delete file|rename|move file|append)|apply patch"),
    ),
    ("search", re.compile(r"\b(?:grep|ripgrep|glob(?!al)|search|find|list dir|codebase)|^ls$")),
    (
        "read",
        re.compile(
            r"^(?:get |list |show |describe )|"
            r"\b(?:read|view|open|cat\b|goto|scroll|outline|decompile|inspect|cursors?)"
        ),
    ),
    ("test", re.compile(r"\b(?:test|pytest|check(?!out)|lint|verify|diagnostics)")),
    ("install", re.compile(r"install")),
)
_LOOKS_ONLY = re.compile(r"snapshot|fetch|search|screenshot|text|content|console|network|extract")
_POLLS = re.compile(r"status|poll|wait|bash output|progress|logs?$|heartbeat")
_COMMAND_FIELDS = ("command", "cmd", "script", "commands")
_TARGET_FIELDS = (
    "file_path",
    "path",
    "filename",
    "file",
    "notebook_path",
    "selector",
    "element",
    "ref",
    "target",
    "url",
    "uri",
    "table",
    "query",
    "pattern",
)
#: A field with which a tool is told a file, or what to change in one; folded, in words.
_FILE_FIELD = re.compile(
    r"(?:^|\b(?:file|notebook|relative|absolute|target|test|name) ?)paths?$|\bfile ?(?:name)?s?$|\buris?$|"
    r"^(?:old|new) (?:str|string|text|source)$|^(?:(?:start|end|insert) )?line$|"
    r"^(?:edits|patch|patch text|diff|code edit|replacements|search|module|package|directory|cwd)$"
)
#: What `path` holds when it is one of files, and names of tools that work on nothing else.
_IS_A_PATH = re.compile(r"^(?:[/~.]|[A-Za-z]:)|\.\w{1,12}$|(?:^|/)\w*file$")
_OF_FILES = re.compile(r"^\w+$|\b(?:files?|dir|directory|folder|notebook|code|symbol|str|string|editor|patch)\b")
#: Tools that check code, whatever they are told.
_CHECKS_CODE = re.compile(r"\b(?:pytest|lint|diagnostics|type ?check|(?:run|unit|integration) (?:\w+ )?tests?)\b")
_ADDRESS = re.compile(r"\b(?:https?|wss?)://([^\s'\"<>)\]}]{1,400})")
_TABLE = re.compile(r"(?i)\b(?:from|into|update|table(?: if (?:not )?exists)?|join)\s+[`\"\[]?(\w[\w.]{0,60})")
_HUMPS = re.compile(r"(?<=[a-z\d])(?=[A-Z])|[_.\-]+")


@dataclass(frozen=True)
class Act:
    """One action, read from a step's tool and input."""

    #: the tool as it was called, folded: "bash", "mcp__browser__click"
    tool: str
    #: "run", "read", "search", "edit", "browse", "http", "sql", "test", "build", "install", "migrate", "service",
    #: "setup", "vcs", "call" (any other tool) or "say" (words, no action)
    kind: str
    #: the program with its command, "git push", or the name of a tool that runs none
    program: str = ""
    #: what it acted on: a file, the host and route of an address, a table; empty when nothing says so
    target: str = ""
    #: what was asked of the tool: a command without change of directory and pagers, or its input
    command: str = ""
    #: words of the deciding command
    words: tuple[str, ...] = ()
    #: arguments by name, for a tool that takes them as JSON
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    #: the host that was spoken to, without port; empty for none
    domain: str = ""
    #: the directory entered first, as in "cd web && npm test"
    directory: str = ""
    #: variables set for the command, as NAME=value
    environment: tuple[str, ...] = ()
    #: it asks how something is getting on
    is_poll: bool = False
    #: it only reads, lists or searches: its output is material, no report
    is_dump: bool = False

    @property
    def is_check(self) -> bool:
        """It shows whether the work is right: tests, a type check, a build, the step "check"."""
        return self.kind in ("test", "build")


#: A database's host in a command: "host=db.acme.dev", `-h db.acme.dev`, "postgres://app@db.acme.dev/shop".
_HOST = re.compile(r"(?:\bhost=|(?<!\S)(?:-h|--host)[ =]?|://(?:[^\s@/'\"]*@)?)([\w-]+(?:\.[\w-]+)*\.[a-zA-Z][\w-]+)")


def host_of(act: Act) -> str:
    """The host of the database that a command speaks to; empty when it is not named, and for what is no database."""
    found = _HOST.search(act.command) if act.kind == "sql" else None
    return found[1].casefold() if found else ""


@lru_cache(maxsize=2048)
def act_of(action: str, given: str) -> Act:
    """What a step did.

    Args:
        action: the tool's name, or "user", "decision", "check", "note".
        given: its input: a command, an address, a statement, or arguments as JSON. 20,000 characters are read.
    """
    tool = action.strip().casefold()
    arguments = _arguments(given)
    if tool in _SAY:
        return Act(tool, "say", tool)
    if tool == "check":
        command = parse_command(given)
        return Act(tool, "test", command.program or "check", command=command.text, words=command.words)
    line = next((arguments[name] for name in _COMMAND_FIELDS if name in arguments), "")
    if _SHELLS.search(tool.rpartition("__")[2]) or (not arguments and tool in ("", "run")):
        return _of_command(tool, parse_command(line or given[:4_000]))
    return _of_tool(tool, action, given, arguments)


def _of_command(tool: str, command: Command) -> Act:
    address = _ADDRESS.search(command.text)
    where = route(address[1]) if address else ""
    target = command.written or where
    if not target and command.kind == "sql":
        target = _first_group(_TABLE, command.text)
    if not target:
        target = next(
            (
                word
                for word in reversed(command.words[1:])
                if not word.startswith("-") and word not in command.program.split()
            ),
            "",
        )
    return Act(
        tool,
        command.kind,
        command.program,
        target[:200],
        command.text,
        command.words,
        domain=_host(where),
        directory=command.directory,
        environment=command.environment,
        is_poll=command.is_poll,
        is_dump=command.kind in ("read", "search"),
    )


def _of_tool(tool: str, action: str, given: str, arguments: Mapping[str, str]) -> Act:
    own = action.rpartition("__")[2]
    name = spoken(own)
    kind = next((kind for kind, pattern in _TOOL_KINDS if pattern.search(name)), "")
    if not kind and action.casefold().startswith("mcp__"):
        server = spoken(action[5:])
        kind = next((kind for kind, pattern in _TOOL_KINDS[:3] if pattern.search(server)), "")
    if not kind or _is_of_records(kind, name, given, arguments):
        kind = "call"
    if (
        kind == "call"
        and len(given) < 300
        and re.match(r"(?i)\s*(?:select|insert|update|delete|with|create|alter)\s", given)
    ):
        kind = "sql"
    text = given[:20_000]
    address = _ADDRESS.search(text)
    where = route(address[1]) if address else ""
    target = where or next((arguments[name] for name in _TARGET_FIELDS if arguments.get(name)), "")
    if kind == "sql":
        target = _first_group(_TABLE, text) or target
    if not target and not arguments:
        target = text.strip().split("\n", 1)[0]
    return Act(
        tool,
        kind,
        own,
        target[:200],
        text[:4_000],
        (),
        arguments,
        domain=_host(where),
        is_poll=bool(_POLLS.search(name)),
        is_dump=kind in ("read", "search") or (kind == "browse" and bool(_LOOKS_ONLY.search(name))),
    )


def spoken(tool: str) -> str:
    """The name of a tool as words: `createTicket`, `create_ticket` and `create-ticket` alike."""
    return " ".join(_HUMPS.split(tool)).casefold()


def _is_of_records(kind: str, name: str, given: str, arguments: Mapping[str, str]) -> bool:
    """Whether a tool whose name is that of an editor or a check works on records: it creates an event, opens a ticket,
    checks a balance, and is told no file and no command."""
    looks_like_code = kind == "edit" or (kind == "test" and not _CHECKS_CODE.search(name)) or name.startswith("open ")
    if not arguments or not looks_like_code or "*** Begin Patch" in given or any(map(arguments.get, _COMMAND_FIELDS)):
        return False
    for field_name, value in arguments.items():
        told = spoken(field_name)
        if _FILE_FIELD.search(told) and (told != "path" or _OF_FILES.search(name) or _IS_A_PATH.search(value)):
            return False
    return True


def shape(act: Act) -> str:
    """An action without what holds in one run alone, for telling repeats: tool, program and normalised arguments."""
    return f"{act.tool}\x1f{act.program}\x1f{normalise(act.command, limit=300)}"


def _arguments(given: str) -> dict[str, str]:
    """Arguments by name when the input is a JSON object, one level deep; values as text."""
    text = given.strip()
    if not text.startswith("{") or len(text) > 20_000:
        return {}
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    named = cast("dict[str, Any]", value)
    return {name: one if isinstance(one, str) else _as_text(name, one) for name, one in named.items()}


def _as_text(name: str, value: Any) -> str:
    if (
        name in _COMMAND_FIELDS
        and isinstance(value, list)
        and all(isinstance(one, str) for one in cast("list[Any]", value))
    ):
        words = cast("list[str]", value)
        # ["bash", "-lc", "..."]: the command is the last word
        return words[-1] if len(words) >= 3 and words[1] in ("-c", "-lc") else " ".join(words)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _first_group(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""


def _host(where: str) -> str:
    host = where.split("/", 1)[0]
    return "" if host == "<host>" else host
