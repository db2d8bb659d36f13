"""What a machine can check about the code as such: size, layers, types, time, doubles, names."""

import ast
import dataclasses
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import afterwit
from afterwit import errors
from afterwit.config import SETTINGS, Settings
from afterwit.storage import schema

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "afterwit"
CODE_DIRECTORIES = ("src", "tests", "docs", "evals", "examples")
MOST_LINES = 600

#: Directories that hold nothing of ours.
_FOREIGN = {"node_modules", "__pycache__", "build", "dist"}

#: Written in parts, so that this file does not hold what it forbids.
_UNFINISHED = re.compile("TO" + "DO|FIX" + "ME|XX" + "X:")
_FOREIGN_PLACES = re.compile(
    "|".join(
        (
            "(?<![\\w.])/wo" + "rk/",
            "\\.\\./sha" + "red/(?!data)",
            "py" + "pi\\.org",
            "pythonho" + "sted",
            "npm" + "js\\.",
        )
    )
)


def python_files(*directories: str) -> Iterator[Path]:
    """Every Python file of ours below the directories."""
    for directory in directories:
        for path in sorted((ROOT / directory).rglob("*.py")):
            if not _FOREIGN & set(path.parts):
                yield path


def text_files() -> Iterator[Path]:
    """Every text file of the repository, whether or not it is under version control."""
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        hidden = any(part.startswith(".") and part not in (".ci", ".gitignore") for part in parts)
        if hidden or _FOREIGN & set(parts) or not path.is_file() or path.suffix in {".png", ".db", ".npz"}:
            continue
        yield path


def name(path: Path) -> str:
    """A path as people write it."""
    return path.relative_to(ROOT).as_posix()


def project() -> dict[str, Any]:
    """The parsed pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def all_errors(root: type[errors.AfterwitError]) -> Iterator[type[errors.AfterwitError]]:
    """The error classes of the tree, the root first."""
    yield root
    for child in root.__subclasses__():
        yield from all_errors(child)


# --- Size and shape -------------------------------------------------------------------------------


def test_no_file_is_longer_than_600_lines() -> None:
    long = {
        name(path): lines
        for path in python_files(*CODE_DIRECTORIES)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    }
    assert not long, f"Split these by what they are about: {long}"


def test_imports_only_point_down() -> None:
    command = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_module_has_a_place_in_the_layers() -> None:
    layers = project()["tool"]["importlinter"]["contracts"][0]["layers"]
    placed = {part.strip().removeprefix("afterwit.") for layer in layers for part in re.split(r"[|:]", layer)}
    modules = {path.stem for path in PACKAGE.glob("*.py")} | {
        path.parent.name for path in PACKAGE.glob("*/__init__.py")
    }
    assert modules - {"__init__", "__main__"} == placed


def test_ruff_checks_the_rules_we_rely_on() -> None:
    lint = project()["tool"]["ruff"]["lint"]
    wanted = "E F W I UP B BLE DTZ C90 PL RUF S T20 PTH".split()
    assert set(wanted) <= set(lint["select"])
    assert lint["mccabe"]["max-complexity"] == 10
    assert lint["pylint"]["max-args"] == 7


def test_the_package_is_checked_by_strict_types() -> None:
    pyright = project()["tool"]["pyright"]
    assert pyright["typeCheckingMode"] == "strict"
    assert pyright["include"] == ["src"]
    assert (PACKAGE / "py.typed").exists()


def test_warnings_are_errors_in_tests() -> None:
    assert project()["tool"]["pytest"]["ini_options"]["filterwarnings"][0] == "error"


# --- Time and doubles -----------------------------------------------------------------------------

#: Calls that read the clock of the machine; `time.monotonic` and `time.perf_counter` measure spans and may stay.
_CLOCK_CALLS = {
    *(f"{owner}.{call}" for owner in ("datetime", "date") for call in ("now", "utcnow", "today")),
    *(f"time.{call}" for call in ("time", "time_ns", "localtime", "gmtime", "ctime")),
}


def _clock_reads(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called = ".".join(ast.unparse(node.func).split(".")[-2:])
            if called in _CLOCK_CALLS:
                yield node.lineno, called
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            for alias in node.names:
                if f"time.{alias.name}" in _CLOCK_CALLS:
                    yield node.lineno, f"from time import {alias.name}"


def test_only_utc_now_reads_the_clock() -> None:
    reads = {
        f"{name(path)}:{line}": call
        for path in python_files("src")
        if path != PACKAGE / "clock.py"
        for line, call in _clock_reads(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert not reads, f"Take the time from the caller, as `now`: {reads}"


def test_the_check_for_clock_reads_finds_them() -> None:
    read = "import datetime, time\ndatetime.datetime.now()\ntime.time()\nfrom time import time_ns\ntime.monotonic()\n"
    assert {line for line, _ in _clock_reads(ast.parse(read))} == {2, 3, 4}


def test_tests_use_no_mock_library() -> None:
    users = [
        name(path)
        for path in python_files(*CODE_DIRECTORIES)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("unittest.mock", "mock")))
        or (isinstance(node, ast.Import) and any(a.name.startswith(("unittest.mock", "mock")) for a in node.names))
    ]
    assert not users, f"Use the doubles of afterwit.testing: {users}"


# --- Words that do not belong here ----------------------------------------------------------------


def _found(pattern: re.Pattern[str], paths: Iterator[Path]) -> list[str]:
    return [
        f"{name(path)}:{number}: {line.strip()[:100]}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]


def test_nothing_is_left_unfinished() -> None:
    left = [
        f"{name(path)}:{token.start[0]}: {token.string}"
        for path in python_files(*CODE_DIRECTORIES)
        for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
        if token.type == tokenize.COMMENT and _UNFINISHED.search(token.string)
    ]
    assert not left


def test_nothing_names_places_outside_the_repository() -> None:
    assert not _found(_FOREIGN_PLACES, text_files())


# --- Names ----------------------------------------------------------------------------------------


def _isort_key(word: str) -> tuple[int, str]:
    """The order of ruff's RUF022: CONSTANTS, then Classes, then the rest."""
    bare = word.lstrip("_")
    group = 0 if bare.isupper() and len(bare) > 1 else 1 if word[:1].isupper() else 2
    return group, word


def test_public_names_are_sorted_and_there() -> None:
    assert afterwit.__all__ == sorted(afterwit.__all__, key=_isort_key)
    assert len(set(afterwit.__all__)) == len(afterwit.__all__)
    for public in afterwit.__all__:
        assert getattr(afterwit, public) is not None


def test_every_error_has_an_answer() -> None:
    classes = set(all_errors(errors.AfterwitError))
    assert classes == set(errors.ANSWERS)
    assert {child.__name__ for child in classes} <= set(afterwit.__all__)
    codes = [answer.code for answer in errors.ANSWERS.values()]
    assert len(set(codes)) == len(codes)
    assert all(answer.exit != 0 for answer in errors.ANSWERS.values())


def test_the_tree_at_the_top_of_errors_is_the_real_one() -> None:
    drawn = re.findall(r"[├└]── (\w+)", errors.__doc__ or "")
    assert drawn == [child.__name__ for child in list(all_errors(errors.AfterwitError))[1:]]


def test_settings_are_few_and_match_their_values() -> None:
    assert len(SETTINGS) <= 30
    assert [setting.name for setting in SETTINGS] == [field.name for field in dataclasses.fields(Settings)]


def test_the_newest_migration_is_the_schema_that_the_code_knows() -> None:
    versions = sorted((PACKAGE / "storage" / "migrations" / "versions").glob("*.py"))
    assert [path.name[:4] for path in versions] == [f"{number:04}" for number in range(1, len(versions) + 1)]
    assert versions[-1].name[:4] == schema.HEAD


def test_versions_agree() -> None:
    assert afterwit.__version__ == project()["project"]["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {afterwit.__version__}" in changelog
