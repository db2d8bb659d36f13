"""The command line as people meet it: real processes, pipes, signals, odd terminals and broken disks."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

AFTERWIT = (sys.executable, "-m", "afterwit")
FORBIDDEN_AT_START = {"sqlalchemy", "numpy", "mcp", "alembic", "opencc", "sentencepiece", "asyncio"}

needs_posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell and signals")


def environ_at(home: Path) -> dict[str, str]:
    """An environment with a home and a data directory of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AFTERWIT_", "LC_", "LANG"))}
    return kept | {
        "HOME": str(home),
        "AFTERWIT_DATA_DIR": str(home / "data"),
        "AFTERWIT_EMBEDDER": "hash",
        "LC_ALL": "C.UTF-8",
    }


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return environ_at(tmp_path)


def run(
    environ: dict[str, str], *arguments: str | bytes, stdin: bytes = b"", exit_code: int = 0
) -> subprocess.CompletedProcess[bytes]:
    """Run a command as a process and check its exit status."""
    done = subprocess.run([*AFTERWIT, *arguments], env=environ, input=stdin, capture_output=True, check=False)
    assert done.returncode == exit_code, (done.stdout.decode(), done.stderr.decode())
    assert b"Traceback" not in done.stderr
    return done


def shell(environ: dict[str, str], script: str) -> subprocess.CompletedProcess[bytes]:
    """Run a script in which `afterwit` is the command."""
    command = shutil.which("bash")
    assert command is not None
    prelude = f'afterwit() {{ "{sys.executable}" -m afterwit "$@"; }}\n'
    return subprocess.run([command, "-c", prelude + script], env=environ, capture_output=True, check=False)


# --- main paths -----------------------------------------------------------------------------------


def test_first_steps_with_the_default_embedder(environ: dict[str, str]) -> None:
    del environ["AFTERWIT_EMBEDDER"], environ["AFTERWIT_DATA_DIR"]
    assert b".afterwit/memory.db" in run(environ, "init").stdout
    run(environ, "write", "--stdin", stdin="The user prefers concise answers.\n用户对花生过敏。\n".encode())
    assert b"concise answers" in run(environ, "search", "What style of answers does the user like?").stdout
    assert "花生" in run(environ, "search", "does the user have any allergies").stdout.decode()
    assert json.loads(run(environ, "doctor", "--json").stdout)["ok"] is True


def test_two_processes_share_one_memory(environ: dict[str, str]) -> None:
    receipt = json.loads(run(environ, "write", "The user likes green tea.", "--json").stdout)
    run(environ, "update", receipt["id"][-12:], "--content", "The user likes black tea.")
    assert b"black tea" in run(environ, "search", "which tea does the user like").stdout
    exported = run(environ, "export").stdout
    assert exported.count(b"\n") == 4
    run(environ, "forget", receipt["id"], "--erase", "--yes")
    assert b"green tea" not in run(environ, "export").stdout


def test_mcp_answers_on_standard_output_and_ends_with_its_input(environ: dict[str, str]) -> None:
    request = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    done = run(environ, "mcp", stdin=json.dumps(request).encode() + b"\n")
    answer = json.loads(done.stdout.splitlines()[0])
    assert answer["id"] == 1
    assert answer["result"]["serverInfo"]["name"] == "afterwit"


@needs_posix
def test_serve_listens_until_it_is_interrupted(environ: dict[str, str]) -> None:
    with subprocess.Popen(
        [*AFTERWIT, "serve", "--port", "0"], env=environ, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    ) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if b"http://" in line).decode()
        url = next(word for word in line.split() if word.startswith("http://"))
        with urllib.request.urlopen(f"{url}/health", timeout=30) as answer:  # noqa: S310 - our own server
            assert json.load(answer)["status"] == "ok"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
        assert b"Traceback" not in process.stderr.read()


# --- at a terminal --------------------------------------------------------------------------------


def at_terminal(environ: dict[str, str], *arguments: str, typed: bytes = b"") -> tuple[int, str]:
    """Run a command on a terminal of its own; its exit status and what it showed."""
    ours, theirs = os.openpty()
    os.write(ours, typed)
    with subprocess.Popen([*AFTERWIT, *arguments], env=environ, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while chunk := _read(ours):
            shown += chunk
        os.close(ours)
    return process.returncode, shown.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux's way to say that the other side was closed
        return b""


@needs_posix
def test_erasing_asks_a_person(environ: dict[str, str]) -> None:
    id = json.loads(run(environ, "write", "The user likes green tea.", "--json").stdout)["id"]
    status, shown = at_terminal(environ, "forget", id, "--erase", typed=b"n\n")
    assert status == 1
    assert "Erase “The user likes green tea.” for good?" in shown
    assert "Nothing was erased." in shown
    status, shown = at_terminal(environ, "forget", id, "--erase", typed=b"y\n")
    assert status == 0
    assert "erased [m:" in shown


@needs_posix
def test_progress_is_drawn_for_people_only(environ: dict[str, str], tmp_path: Path) -> None:
    run(environ, "write", "The user likes green tea.")
    file = str(tmp_path / "memories.jsonl")
    for arguments, label in ((["export", file], "export"), (["import", file], "import"), (["reindex"], "embed")):
        status, shown = at_terminal(environ, *arguments)
        assert status == 0
        assert f"{label}  [" in shown
    assert run(environ, "export", file, "--force").stderr == b""
    assert "export  [" not in at_terminal(environ, "export", file, "--force", "--json")[1]


# --- start-up -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["write", "--help"], ["search", "--help"], ["mcp", "-h"]]
)
def test_help_loads_nothing_heavy(environ: dict[str, str], arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from afterwit.cli import main\n"
        f"sys.argv[1:] = {arguments!r}\n"
        "try:\n    main()\n"
        "except SystemExit:\n    print('\\n' + ' '.join(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "afterwit.cli" in loaded
    assert not FORBIDDEN_AT_START & loaded


# --- text in odd encodings ------------------------------------------------------------------------


@needs_posix
def test_bytes_that_are_not_utf8_are_refused(environ: dict[str, str]) -> None:
    gbk = "用户喜欢绿茶".encode("gbk")
    assert b"CONTENT is not valid UTF-8" in run(environ, "write", gbk, exit_code=2).stderr
    assert b"QUERY is not valid UTF-8" in run(environ, "search", gbk, exit_code=2).stderr
    assert b"scope is not valid UTF-8" in run(environ, "write", "x", "--scope", gbk, exit_code=2).stderr
    assert b"in line 2" in run(environ, "write", "--stdin", stdin=b"The user likes tea.\n" + gbk, exit_code=2).stderr
    assert b"iconv" in run(environ, "write", "-", stdin=gbk, exit_code=2).stderr
    assert b"U+0000" in run(environ, "write", "-", stdin=b"The user likes\0tea.", exit_code=2).stderr
    assert json.loads(run(environ, "list", "--json").stdout)["total"] == 0


def test_output_survives_a_terminal_without_unicode(environ: dict[str, str]) -> None:
    run(environ, "write", "用户喜欢绿茶。")
    narrow = environ | {"PYTHONIOENCODING": "latin-1"}
    assert b"????" in run(narrow, "list").stdout
    assert "绿茶".encode("gbk") in run(environ | {"PYTHONIOENCODING": "gbk"}, "list").stdout
    assert json.loads(run(narrow, "list", "--json").stdout)["memories"][0]["summary"] == "用户喜欢绿茶。"
    assert "用户喜欢绿茶".encode() in run(narrow, "export").stdout
    assert run(narrow | {"LC_ALL": "zh_CN.UTF-8"}, "show", "abc", exit_code=2).stderr.startswith(b"??")


# --- pipes and signals ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A memory whose list does not fit into a pipe."""
    environ = environ_at(tmp_path_factory.mktemp("many"))
    lines = "".join(f"Room {number} of the north building is on floor {number % 7}.\n" for number in range(600))
    run(environ, "write", "--stdin", "--kind", "fact", stdin=lines.encode())
    return environ


@needs_posix
@pytest.mark.parametrize("command", ["list --limit 1000", "list --limit 1000 --json", "export", "--help"])
def test_reader_that_leaves_early_is_no_error(many: dict[str, str], command: str) -> None:
    done = shell(many, f"afterwit {command} | head -n 1")
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""


@needs_posix
def test_interrupt_ends_quietly_with_130(environ: dict[str, str]) -> None:
    with subprocess.Popen(
        [*AFTERWIT, "write", "--stdin"],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        # More than a pipe holds: when this returns, the command is reading.
        process.stdin.write(b"The user likes tea.\n" * 50_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert errors.strip() == b"Interrupted."


# --- private places -------------------------------------------------------------------------------


@needs_posix
@pytest.mark.parametrize(
    "arguments",
    [
        "write The user likes tea.",
        "write --stdin",
        "search tea",
        "task start tea",
        "learn",
        "mcp",
        "hook session-start",
    ],
)
def test_only_its_owner_may_look_into_a_data_directory_whatever_made_it(
    environ: dict[str, str], tmp_path: Path, arguments: str
) -> None:
    environ = environ | {"AFTERWIT_EMBEDDER": "use", "AFTERWIT_DATA_DIR": str(tmp_path / "new" / "data")}
    environ |= {"AFTERWIT_DAEMON_IDLE_S": "1", "XDG_RUNTIME_DIR": "", "TMPDIR": str(tmp_path)}
    subprocess.run(
        [*AFTERWIT, *arguments.split()], env=environ, input=b"The user likes tea.\n", check=False, timeout=60
    )
    made = [path for path in (tmp_path / "new").rglob("*") if path.is_dir()]
    assert tmp_path / "new" / "data" in made
    assert {path: path.stat().st_mode & 0o077 for path in made} == dict.fromkeys(made, 0)


# --- broken places --------------------------------------------------------------------------------


@needs_posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["list", "list --json", "export", "--help"])
def test_output_that_cannot_be_written_is_said_once(environ: dict[str, str], command: str) -> None:
    run(environ, "write", "The user likes tea.")
    done = shell(environ, f"afterwit {command} > /dev/full")
    assert done.returncode == 8
    assert done.stderr.startswith(b"Error: ")
    assert done.stderr.count(b"\n") == 2


def test_place_that_cannot_be_made_is_a_storage_error(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    store = f"sqlite:///{tmp_path / 'file' / 'data' / 'memory.db'}"
    error = run(environ | {"AFTERWIT_STORE": store}, "init", exit_code=8).stderr
    assert f"{tmp_path / 'file'} is a file, not a directory.".encode() in error
    assert b"Do: " in error


def test_damaged_database_is_a_storage_error(environ: dict[str, str], tmp_path: Path) -> None:
    run(environ, "init")
    (tmp_path / "data" / "memory.db").write_bytes(b"something else entirely" * 400)
    for command in (["list"], ["search", "tea"], ["write", "The user likes tea."], ["export"]):
        assert b"Do: " in run(environ, *command, exit_code=8).stderr


def test_newer_database_is_left_alone(environ: dict[str, str], tmp_path: Path) -> None:
    run(environ, "init")
    connection = sqlite3.connect(tmp_path / "data" / "memory.db")
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    assert b"newer Afterwit" in run(environ, "list", exit_code=8).stderr
    assert b"Upgrade" in run(environ, "doctor", exit_code=1).stdout


def test_database_that_another_process_holds_is_waited_for_and_then_given_up(
    environ: dict[str, str], tmp_path: Path
) -> None:
    run(environ, "write", "The user likes tea.")
    connection = sqlite3.connect(tmp_path / "data" / "memory.db", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    hasty = environ | {"AFTERWIT_LOCK_WAIT_S": "0.2"}
    error = run(hasty, "write", "The user likes coffee.", "--json", exit_code=8)
    assert json.loads(error.stdout)["error"]["code"] == "storage_error"
    assert b"likes tea" in run(hasty, "list").stdout
    connection.close()
    run(hasty, "write", "The user likes coffee.")


@needs_posix
def test_full_disk_undoes_the_write_and_keeps_what_was_there(environ: dict[str, str]) -> None:
    run(environ, "write", "The user likes tea.")
    lines = 'for i in $(seq 2000); do echo "Room $i of the north building is on floor $((i % 7))."; done'
    # A limit on the size of files, in KiB, fails writes as a full disk does.
    done = shell(environ, f'{lines} > "$HOME/lines"; ulimit -f 400; afterwit write --stdin --kind fact < "$HOME/lines"')
    assert done.returncode == 8, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Do: " in done.stderr
    assert b"likes tea" in run(environ, "search", "tea").stdout
    assert json.loads(run(environ, "doctor", "--json").stdout)["ok"] is True


@needs_posix
def test_full_disk_leaves_no_half_export(many: dict[str, str], tmp_path: Path) -> None:
    done = shell(many, f'ulimit -f 64; afterwit export "{tmp_path / "memories.jsonl"}"')
    assert done.returncode == 8, done.stderr
    assert b"Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_unexpected_error_is_one_sentence_and_a_traceback_only_on_demand(environ: dict[str, str]) -> None:
    script = (
        "import sys, types\n"
        "sys.modules['afterwit.service'] = types.ModuleType('afterwit.service')\n"
        "from afterwit.cli import main\n"
        "sys.argv[1:] = ['list']\n"
        "main()\n"
    )
    quiet = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, check=False)
    assert quiet.returncode == 1
    assert quiet.stderr.startswith(b"Error: Internal error: ImportError.\n")
    assert b"Traceback" not in quiet.stderr
    loud = environ | {"AFTERWIT_LOG_LEVEL": "DEBUG"}
    told = subprocess.run([sys.executable, "-c", script], env=loud, capture_output=True, check=False)
    assert b"Traceback" in told.stderr
