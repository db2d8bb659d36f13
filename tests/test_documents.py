"""The documents say what is there: every name is documented, every command shown runs, both languages agree."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from afterwit import errors
from afterwit.cli import cli
from afterwit.config import SETTINGS
from afterwit.serve.tools import TOOLS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])

#: Rows of docs/features.md.
FEATURES = [
    f"{letter}{number}"
    for letter, count in (("M", 7), ("W", 6), ("S", 11), ("F", 5), ("L", 13), ("G", 6), ("E", 6))
    for number in range(1, count + 1)
]

#: A code block that must run is marked by this comment on the line before its fence.
RUN_MARK = "<!-- run -->"


@dataclass(frozen=True)
class Block:
    """One fenced code block of a page."""

    language: str
    code: str
    runs: bool
    line: int


def read(path: Path) -> str:
    """A page's text."""
    return path.read_text(encoding="utf-8")


def blocks(text: str) -> Iterator[Block]:
    """The fenced code blocks of a page, in order."""
    for found in re.finditer(r"^(?P<mark>[^\n]*\n)?```(?P<language>\w*)\n(?P<code>.*?)^```$", text, re.M | re.S):
        runs = (found["mark"] or "").strip() == RUN_MARK
        yield Block(found["language"], found["code"], runs, text.count("\n", 0, found.start("code")) + 1)


def without_code(text: str) -> str:
    """A page without its fenced code blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def headings(text: str) -> list[str]:
    """The headings of a page, with their level's marks."""
    return re.findall(r"^#+ .+$", without_code(text), re.M)


def name_of(page: Path) -> str:
    """A page's path as people write it."""
    return page.relative_to(ROOT).as_posix()


def page_names(pages: list[Path]) -> list[str]:
    """Names for pytest."""
    return [name_of(page) for page in pages]


# --- Reference ------------------------------------------------------------------------------------


def command_names(group: click.Group, prefix: str = "") -> Iterator[str]:
    """Every command and sub-command, as it is typed after `afterwit`."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        yield f"{prefix}{name}"
        if isinstance(command, click.Group):
            yield from command_names(command, f"{prefix}{name} ")


def test_every_command_is_documented() -> None:
    reference = read(DOCS / "reference" / "cli.md")
    missing = [name for name in command_names(cli) if f"afterwit {name}" not in reference]
    assert not missing


def test_every_setting_is_documented() -> None:
    reference = read(DOCS / "reference" / "settings.md")
    missing = [
        setting.name for setting in SETTINGS if setting.name not in reference or setting.sentence not in reference
    ]
    assert not missing


def test_every_error_is_documented() -> None:
    reference = read(DOCS / "reference" / "errors.md")
    missing = [
        error.__name__
        for error, answer in errors.ANSWERS.items()
        if error.__name__ not in reference or f"`{answer.code}`" not in reference or str(answer.http) not in reference
    ]
    assert not missing


def test_every_tool_is_documented_with_all_its_arguments() -> None:
    sections = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", read(DOCS / "reference" / "tools.md"), re.M | re.S))
    assert list(sections) == [tool.name for tool in TOOLS]
    for tool in TOOLS:
        missing = [argument for argument in tool.properties if f"`{argument}`" not in sections[tool.name]]
        assert not missing, f"{tool.name}: {missing}"
        assert " ".join(tool.description.split()) in " ".join(sections[tool.name].split())


# --- Features -------------------------------------------------------------------------------------


def feature_rows() -> dict[str, str]:
    """Id -> status cell of docs/features.md."""
    rows = re.findall(r"^\| ([A-Z]\d+) \|[^|]+\| (.+) \|$", read(DOCS / "features.md"), re.M)
    return dict(rows)


def test_every_feature_has_a_row_in_order() -> None:
    assert list(feature_rows()) == FEATURES


def test_every_test_named_as_proof_exists() -> None:
    unknown: list[str] = []
    for id, status in feature_rows().items():
        named = re.findall(r"`((?:tests|src)/[\w/]+\.py)::(\w+)(?:::(\w+))?`", status)
        if not named and "not yet" not in status:
            unknown.append(f"{id}: names no test and does not say “not yet”")
        for path, *parts in named:
            if not (ROOT / path).exists() or not defines(ROOT / path, [part for part in parts if part]):
                unknown.append(f"{id}: {path}::{'::'.join(parts)}")
    assert not unknown


def defines(path: Path, parts: list[str]) -> bool:
    """Whether a file defines the function, or the class and its method, of that name."""
    body = ast.parse(read(path)).body
    for part in parts:
        found = next(
            (
                node
                for node in body
                if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == part
            ),
            None,
        )
        if found is None:
            return False
        body = found.body
    return True


# --- Pages ----------------------------------------------------------------------------------------


def test_both_readmes_have_the_same_shape() -> None:
    english, chinese = read(ROOT / "README.md"), read(ROOT / "README.zh-CN.md")
    assert [heading.split()[0] for heading in headings(english)] == [
        heading.split()[0] for heading in headings(chinese)
    ]
    for language in ("sh", "json", "python"):
        ours = [block.code for block in blocks(english) if block.language == language]
        theirs = [block.code for block in blocks(chinese) if block.language == language]
        assert ours == theirs


def test_agents_page_is_short() -> None:
    assert len(read(ROOT / "AGENTS.md").splitlines()) <= 150


def test_decisions_are_numbered_and_short() -> None:
    parts = re.split(r"^## ", read(DOCS / "design.md"), flags=re.M)[1:]
    decisions = [part for part in parts if re.match(r"\d+\. ", part)]
    assert [int(part.split(".")[0]) for part in decisions] == list(range(1, len(decisions) + 1))
    long = [part.splitlines()[0] for part in decisions if len(part.strip().splitlines()) > 12 + 1]
    assert not long


@pytest.mark.parametrize("page", PAGES, ids=page_names(PAGES))
def test_links_lead_somewhere(page: Path) -> None:
    broken: list[str] = []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(read(page))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        goal = page.parent / path if path else page
        if not goal.exists() or (anchor and goal.suffix == ".md" and anchor not in anchors(goal)):
            broken.append(target)
    assert not broken


def anchors(page: Path) -> set[str]:
    """What GitHub makes of a page's headings."""
    plain = (re.sub(r"[`*]", "", heading.lstrip("# ")) for heading in headings(read(page)))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}


# --- Commands that are shown run ------------------------------------------------------------------

RUNNING = [page for page in PAGES if any(block.runs for block in blocks(read(page)))]


def environment(home: Path) -> dict[str, str]:
    """A clean home without network, with `afterwit` and `python` of this environment first on PATH."""
    nowhere = "http://127.0.0.1:9"
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AFTERWIT_", "OPENAI_"))}
    return kept | {
        "HOME": str(home),
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "http_proxy": nowhere,
        "https_proxy": nowhere,
        "no_proxy": "127.0.0.1,localhost",
        "PYTHONWARNINGS": "error::DeprecationWarning:afterwit",
    }


@pytest.mark.parametrize("page", RUNNING, ids=page_names(RUNNING))
def test_commands_shown_in_a_page_run(page: Path, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash, "the shown commands are for a POSIX shell"
    marked = [block for block in blocks(read(page)) if block.runs]
    assert {block.language for block in marked} <= {"sh", "python"}
    # Shell blocks of a page are one session: later ones use what earlier ones set.
    session = "".join(f": line {block.line}\n{block.code}" for block in marked if block.language == "sh")
    scripts = [[bash, "-xeuo", "pipefail", "-c", session]] if session else []
    scripts += [[sys.executable, "-c", block.code] for block in marked if block.language == "python"]
    for script in scripts:
        result = subprocess.run(
            script,
            cwd=tmp_path,
            env=environment(tmp_path),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=240,
        )
        assert result.returncode == 0, f"{name_of(page)}:\n{result.stdout}"


def test_readme_shows_commands_that_run() -> None:
    for page in (ROOT / "README.md", DOCS / "tutorial.md"):
        assert page in RUNNING
