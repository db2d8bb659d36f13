"""Shell commands: their parts, the program that decides, and what sort of thing it does."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from afterwit.review.programs import POLLS, PROGRAM_KINDS, RUNNERS, TWO_COMMANDS, WITH_COMMAND, WRAPPERS

_HEREDOC = re.compile(
    r"<<-?\s{0,3}['\"]?(?P<end>\w+)['\"]?(?P<rest>[^\n]*)(?:\n.*?(?:\n(?P=end)\s*?(?=\n|$)|\Z)|\Z)", re.DOTALL
)
_WRITTEN = re.compile(r"(?<![\d&>])>{1,2}\s?(?!&|/dev/)([^\s|;&<>]+)")
_SPLIT = re.compile(r"(\"(?:\\.|[^\"\\]){0,2000}\"|'[^']{0,2000}'|\$\([^()]{0,300}\))|(\|\||&&|;|\n|\|&?)")
_SETTING = re.compile(r"^[A-Za-z_]\w*=")
#: One argument that holds several settings, as `psql "host=db dbname=shop"` takes: none of the shell's variables.
PAIRS = re.compile(r"\w+=\S*(?:\s+\w+=\S*)+")
_REDIRECTION = re.compile(r"\s*(?:\d?>{1,2}\s?(?:&\d|[^\s|;&]+)|<\s[^\s|;&]+|\s&\s*$)")

#: Parts that only prepare, show or wait.
_ASIDE = frozenset(
    "cd pushd popd export set source . echo printf true sleep wait clear pwd date which type command".split()
)
#: Options before a command that take the next word along.
_TAKING = frozenset("-C -f --file -p --project -n --namespace --prefix -c --context --profile".split())
#: What only shortens or stores the output that a pipe carries on.
_PAGER = re.compile(r"\s*(?:tail|head|grep|egrep|rg|less|more|cat|tee|wc|sort|uniq|cut|sed -n|awk|jq|column|nl|fold)\b")
_FEEDS = frozenset(("echo", "printf", "cat", "yes"))


@dataclass(frozen=True)
class Command:
    """One shell command, and in it the part that decides."""

    #: program and command, without wrappers: "git push", "pytest", "docker compose up"
    program: str
    #: all words of the deciding part, wrappers and settings of variables included
    words: tuple[str, ...]
    #: the parts that matter, joined by " && "; no changes of directory, pagers or redirections
    text: str
    #: directory that was entered before
    directory: str = ""
    #: variables set for the deciding part or exported before it
    environment: tuple[str, ...] = ()
    kind: str = "run"
    #: the file that the command itself writes to; empty for none
    written: str = ""
    is_poll: bool = False


def parse_command(line: str) -> Command:
    """Take a shell command apart; never fails, whatever the text.

    Args:
        line: the command as it was given to a shell, perhaps several lines; 4,000 characters of it are read.
    """
    parts = [
        part
        for pipeline in _pipelines(_HEREDOC.sub(r"\g<rest>", line[:4_000]).strip())
        if (part := _part(pipeline)).words
    ]
    acting = [part for part in parts if not part.is_aside]
    main = acting[-1] if acting else parts[-1] if parts else _Part((), "")
    entered = [part.words[1] for part in parts if part.words[0] in ("cd", "pushd") and len(part.words) > 1]
    exported = [word for part in parts if part.words[0] == "export" for word in part.words[1:]]
    settings = [word for word in (*exported, *main.words) if _SETTING.match(word) and not PAIRS.fullmatch(word)]
    program = program_of(main.words)
    return Command(
        program,
        main.words,
        " && ".join(part.text for part in acting) or line.strip()[:400],
        entered[-1] if entered else "",
        tuple(settings[:5]),
        "edit" if main.written else kind_of(program, main.words),
        main.written,
        is_poll=POLLS.match(program) is not None or bool(parts and not acting and _waits(parts)),
    )


@dataclass(frozen=True)
class _Part:
    """What stands between `&&`, `;` and line ends."""

    #: words of the part of the pipeline that does the work: what is fed, else the first
    words: tuple[str, ...]
    text: str
    #: the file that its output goes to, when words are written there by `cat`, `echo` or `printf`
    written: str = ""

    @property
    def is_aside(self) -> bool:
        """It only prepares, shows or waits."""
        rest = _unwrapped(self.words)
        return not rest or (rest[0] in _ASIDE and not self.written)


def _part(pipeline: list[str]) -> _Part:
    first = _words(pipeline[0])
    fed = len(pipeline) > 1 and first[:1] and first[0] in _FEEDS
    text = " | ".join([pipeline[0], *(part for part in pipeline[1:] if fed or not _PAGER.match(part))])
    written = _WRITTEN.search(pipeline[0]) if first[:1] and first[0] in _FEEDS else None
    if written:
        return _Part(first, pipeline[0], written[1])
    return _Part(_words(pipeline[1]) if fed else first, _REDIRECTION.sub("", text).strip())


def _waits(parts: list[_Part]) -> bool:
    return any(part.words[0] in ("sleep", "wait") for part in parts)


def program_of(words: Sequence[str]) -> str:
    """The program with its command: `["sudo", "git", "-C", "x", "push"]` is "git push"."""
    rest = _unwrapped(words)
    if not rest:
        return ""
    name = rest[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe").removesuffix(".cmd")
    name = re.sub(r"\d{7,}", "<n>", name)  # a number of one run, no program's name
    if re.fullmatch(r"python[\d.]*|py|pypy3?", name):
        return _of_python(name, rest)
    if (
        name in ("php", "ruby", "node", "perl", "sh", "bash", "zsh", "deno", "ts-node", "tsx")
        and len(rest) > 1
        and not rest[1].startswith("-")
    ):
        script = rest[1].rpartition("/")[2]
        return program_of(rest[1:]) if script in WITH_COMMAND else f"{name} {script}"
    if name not in WITH_COMMAND:
        return name
    commands = _without_options(rest[1:])[:2]
    program = " ".join([name, *commands[:1]])
    return f"{program} {commands[1]}" if program in TWO_COMMANDS and len(commands) > 1 else program


def kind_of(program: str, words: Sequence[str]) -> str:
    """What sort of thing a program does; "run" when no class knows it."""
    if program in ("tee", "patch") or (program == "sed" and any(word.startswith("-i") for word in words)):
        return "edit"
    # What only looks comes first: `git log` is no change to a repository.
    for kind in ("read", *PROGRAM_KINDS):
        if PROGRAM_KINDS[kind].match(program):
            return kind
    return "run"


def _of_python(name: str, rest: Sequence[str]) -> str:
    for position, word in enumerate(rest[1:], start=1):
        if word == "-m" and position + 1 < len(rest):
            module = rest[position + 1]
            inner = [module, *rest[position + 2 :]]
            return f"{name} venv" if module == "venv" else program_of(inner) or module
        if word == "-c":
            return name
        if not word.startswith("-"):
            script = word.replace("\\", "/").rpartition("/")[2]
            return program_of([script, *rest[position + 1 :]]) if script in WITH_COMMAND else f"{name} {script}"
    return name


def _without_options(words: Sequence[str]) -> list[str]:
    """Words that are no options; `-C x`, `-f x` and the like take their argument along."""
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in (
                "-C",
                "-f",
                "--file",
                "-p",
                "--project",
                "-n",
                "--namespace",
                "--prefix",
                "-c",
                "--context",
                "--profile",
            )
        elif not _SETTING.match(word):
            kept.append(word)
    return kept


def _unwrapped(words: Sequence[str]) -> list[str]:
    rest = list(words)
    for _ in range(6):
        while rest and _SETTING.match(rest[0]):
            rest = rest[1:]
        if not rest:
            break
        if tuple(rest[:2]) in RUNNERS:
            rest = rest[2:]
        elif rest[0] in WRAPPERS:
            taken = WRAPPERS[rest[0]]
            rest = rest[1:]
            while rest and rest[0].startswith("-"):
                rest = rest[1:]
            rest = rest[taken:]
        else:
            break
    return rest


def _pipelines(line: str) -> list[list[str]]:
    """Parts between `&&`, `;`, `||` and line ends; each a list of the parts between pipes."""
    pipelines: list[list[str]] = [[""]]
    for piece in _SPLIT.split(line.replace("\\\n", " ")):
        if not piece:
            continue
        if piece in ("&&", "||", ";", "\n"):
            pipelines.append([""])
        elif piece in ("|", "|&"):
            pipelines[-1].append("")
        else:
            pipelines[-1][-1] += piece
    cleaned = [[part.strip() for part in pipeline if part.strip()] for pipeline in pipelines]
    return [pipeline for pipeline in cleaned if pipeline and not pipeline[0].startswith("#")]


def _words(part: str) -> tuple[str, ...]:
    part = _REDIRECTION.sub("", part).strip().lstrip("({").rstrip(")}")
    try:
        return tuple(shlex.split(part)[:200])
    except ValueError:
        return tuple(part.split()[:200])
