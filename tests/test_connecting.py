"""Connecting agents' clients: their files gain what is ours, lose it again, and keep everything else."""

import json
import os
import re
import shlex
import stat
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import afterwit
from afterwit.cli.clients.launch import Launch
from afterwit.cli.clients.machine import Machine
from afterwit.cli.clients.table import CLIENTS
from desk import FILES, HOOKS, Desk, server_of, values_of, words_of

COMMENTED = """{
    // what I like
    "theme": "One Dark",  /* really */
    "KEY": {
        "other": {"command": "other", "args": []},
    },
    // the end
}
"""
PLAIN = """{
  "theme": "One Dark",
  "KEY": {
    "other": {
      "command": "other",
      "args": []
    }
  }
}"""
CODEX = """# mine
model = "gpt" # good

[mcp_servers.other]
command = "other" # keep
args = [
  "a", # one
  "]",
]

[projects."/srv/我的 项目"]
trust_level = "trusted"
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(tmp_path / "用户 的 家")
    monkeypatch.chdir(desk.project)
    return desk


def sample(client: str, text: str) -> str:
    codex = CODEX.replace("\n", "\r\n") if "\r\n" in text else CODEX
    return codex if client == "codex" else text.replace("KEY", FILES[client][1][-1])


# --- each client ----------------------------------------------------------------------------------


def test_the_table_and_this_file_know_the_same_clients() -> None:
    assert {client.name for client in CLIENTS} == {*FILES, "dify"}
    assert {client.name for client in CLIENTS if client.hooks} == set(HOOKS)
    assert all(client.source.startswith("https://") for client in CLIENTS)


@pytest.mark.parametrize("client", FILES)
def test_a_client_without_a_file_gets_one_and_loses_it_again(desk: Desk, client: str) -> None:
    before = desk.tree()
    answer = desk.json("connect", client)
    path = desk.home / FILES[client][0]
    assert answer["changed"] is True
    assert answer["files"][0] == {"path": str(path), "action": "created", "backup": None}
    entry = server_of(path, FILES[client][1])
    assert words_of(entry) == [sys.executable, "-m", "afterwit", "--data-dir", str(desk.home / "data"), "mcp"]
    assert (entry.get("env") or entry.get("environment")) == {"AFTERWIT_EMBEDDER": "none"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    desk.run("disconnect", client)
    assert desk.tree() == before


@pytest.mark.parametrize(
    ("client", "style"),
    [
        *((client, COMMENTED) for client in FILES),
        ("cursor", PLAIN),
        ("gemini-cli", COMMENTED.replace("\n", "\r\n")),
        ("codex", COMMENTED.replace("\n", "\r\n")),
        ("vscode", COMMENTED.replace("    ", "\t")),
    ],
)
def test_what_is_there_stays_and_comes_back_byte_for_byte(desk: Desk, client: str, style: str) -> None:
    text = sample(client, style)
    path = desk.write(FILES[client][0], text)
    path.chmod(0o640)
    answer = desk.json("connect", client)
    after = path.read_bytes().decode()
    ours = server_of(path, FILES[client][1])
    assert words_of(ours)[0] == sys.executable
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    backup = Path(answer["files"][0]["backup"])
    assert backup.read_bytes() == text.encode()
    assert stat.S_IMODE(backup.stat().st_mode) == 0o640
    # Every line that was there is still there, in its order, with its comments, but for one comma.
    kept = iter(line.rstrip("\r,") for line in after.split("\n"))
    assert all(line.rstrip("\r,") in kept for line in text.split("\n") if line.strip())
    assert ("\r\n" in text) == ("\r\n" in after)
    assert "\n" not in after.replace("\r\n", "") or "\r\n" not in text
    desk.run("disconnect", client)
    assert path.read_bytes() == text.encode()


def test_a_file_of_one_line_stays_one_line(desk: Desk) -> None:
    text = '{"mcpServers": {"other": {"command": "other"}}, "x": [1]}'
    path = desk.write(".cursor/mcp.json", text)
    desk.run("connect", "cursor")
    after = path.read_text(encoding="utf-8")
    assert after.startswith('{"mcpServers": {"other": {"command": "other"}, "afterwit": {')
    assert after.endswith('}}, "x": [1]}')
    assert "\n" not in after
    path.write_text(after.replace("[1]", "[2]"), encoding="utf-8")
    desk.run("disconnect", "cursor")
    assert path.read_text(encoding="utf-8") == text.replace("[1]", "[2]")


@pytest.mark.parametrize("client", FILES)
def test_connecting_twice_changes_nothing_and_makes_no_second_copy(desk: Desk, client: str) -> None:
    desk.write(FILES[client][0], sample(client, PLAIN))
    desk.run("connect", client)
    before, copies = desk.tree(), desk.copies()
    assert "already connected" in desk.run("connect", client).stdout
    assert desk.json("connect", client)["changed"] is False
    assert (desk.tree(), desk.copies()) == (before, copies)


@pytest.mark.parametrize("client", FILES)
def test_what_the_user_changed_meanwhile_stays_when_disconnecting(desk: Desk, client: str) -> None:
    path = desk.write(FILES[client][0], sample(client, COMMENTED))
    before = values_of(path)
    desk.run("connect", client)
    text = path.read_text(encoding="utf-8")
    if client == "codex":
        path.write_text(text + "\n[tui]\nnotifications = true\n", encoding="utf-8")
        expected = before | {"tui": {"notifications": True}}
    else:
        path.write_text(text.replace("{", '{ "added": [1], ', 1), encoding="utf-8")
        expected = {"added": [1]} | before
    desk.run("disconnect", client)
    assert values_of(path) == expected
    assert "other" in path.read_text(encoding="utf-8")
    assert "afterwit" not in path.read_text(encoding="utf-8")
    assert "is not connected" in desk.run("disconnect", client).stdout


@pytest.mark.parametrize("client", FILES)
def test_a_dry_run_shows_the_difference_and_changes_nothing(desk: Desk, client: str) -> None:
    desk.write(FILES[client][0], sample(client, PLAIN))
    before = desk.tree()
    shown = desk.run("connect", client, "--dry-run").stdout
    assert f"--- {desk.home / FILES[client][0]}" in shown
    assert any(line.startswith("+") and "afterwit" in line for line in shown.splitlines())
    assert desk.json("connect", client, "--dry-run")["diff"]
    desk.run("disconnect", client, "--dry-run")
    assert desk.tree() == before
    assert desk.copies() == []


@pytest.mark.parametrize("client", FILES)
def test_a_file_that_cannot_be_read_is_not_touched(desk: Desk, client: str) -> None:
    broken = "a = 1\nb = = 2\n" if client == "codex" else '{\n  "a": 1,\n  "b" 2\n}\n'
    path = desk.write(FILES[client][0], broken)
    before = desk.tree()
    line = 2 if client == "codex" else 3
    for command in ("connect", "disconnect"):
        error = desk.json(command, client, exit_code=2)["error"]
        assert str(path) in error["message"]
        assert f"line {line}" in error["message"]
        assert "Nothing was changed" in error["message"]
    assert desk.tree() == before
    assert desk.copies() == []


@pytest.mark.parametrize("client", [client.name for client in CLIENTS if client.project])
def test_a_project_has_a_connection_of_its_own(desk: Desk, client: str) -> None:
    answer = desk.json("connect", client, "--project")
    assert all(Path(each["path"]).is_relative_to(desk.project) for each in answer["files"])
    assert not (desk.home / FILES[client][0]).exists()
    shown = desk.json("connections", "--no-check")["clients"]
    assert {each["state"] for each in shown if each["scope"] == "project"} == {"connected"}
    desk.run("disconnect", client, "--project")
    assert list(desk.project.rglob("*.json")) == list(desk.project.rglob("*.toml")) == []


# --- hooks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", HOOKS)
def test_hooks_call_this_very_afterwit_with_a_timeout(desk: Desk, client: str) -> None:
    desk.run("connect", client)
    name, units = HOOKS[client]
    hooks = values_of(desk.home / name)["hooks"]
    assert {"SessionStart", "SessionEnd"} <= set(hooks)
    assert len(hooks) >= 7
    for event, (group,) in hooks.items():
        (hook,) = group["hooks"]
        words = shlex.split(hook["command"])
        word = re.sub("(?<!^)(?=[A-Z])", "-", event).lower()
        assert words[0] == "AFTERWIT_EMBEDDER=none"
        assert words[1:] == [
            *(sys.executable, "-I", "-S", "-c", words[5], str(Path(afterwit.__file__).with_name("__main__.py"))),
            *("--data-dir", str(desk.home / "data"), "hook", word, "--client", client),
        ]
        assert hook["type"] == "command"
        assert 3 * units <= hook["timeout"] <= 30 * units


@pytest.mark.parametrize("client", HOOKS)
def test_without_hooks_others_stay_and_ours_go(desk: Desk, client: str) -> None:
    own = '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "mine hook start"}]}]}}'
    path = desk.write(HOOKS[client][0], own)
    desk.run("connect", client)
    assert len(values_of(path)["hooks"]["SessionStart"]) == 2
    desk.run("connect", client, "--no-hooks")
    assert values_of(path)["hooks"] == json.loads(own)["hooks"]
    assert desk.json("connect", client, "--no-hooks")["changed"] is False


def test_hooks_of_an_older_python_are_replaced_not_doubled(desk: Desk) -> None:
    old = "/old/bin/python -m afterwit --space work hook stop --client claude-code"
    group = {"hooks": [{"type": "command", "command": "mine"}, {"type": "command", "command": old, "timeout": 5}]}
    path = desk.write(".claude/settings.json", json.dumps({"hooks": {"Stop": [group], "Notification": [group]}}))
    desk.run("connect", "claude-code")
    hooks = values_of(path)["hooks"]
    commands = [hook["command"] for group in hooks["Stop"] for hook in group["hooks"]]
    assert commands[0] == "mine"
    assert len(commands) == 2
    assert sys.executable in commands[1]
    assert hooks["Notification"] == [{"hooks": [{"type": "command", "command": "mine"}]}]


def _first_hook(desk: Desk, event: str) -> str:
    """The command line that Claude Code runs."""
    hooks = values_of(desk.home / HOOKS["claude-code"][0])["hooks"]
    return str(hooks[event][0]["hooks"][0]["command"])


def _run_hook(command: str, payload: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("AFTERWIT_")}
    return subprocess.run(  # noqa: S602  as clients do
        command, shell=True, input=payload, env=environ, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_hook_whose_afterwit_is_gone_does_not_stop_the_agent(desk: Desk) -> None:
    desk.run("connect", "claude-code")
    command = _first_hook(desk, "PreToolUse")
    gone = command.replace(str(Path(afterwit.__file__).parent), str(desk.home / "gone" / "afterwit"))
    assert gone != command
    done = _run_hook(gone, "{}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_hook_starts_without_site_packages_and_still_reaches_the_whole_command_line(desk: Desk) -> None:
    desk.run("connect", "claude-code")
    command = _first_hook(desk, "SessionStart")
    done = _run_hook(f"{command} --in-process", '{"hook_event_name": "Stop"}')
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_a_command_line_of_windows_has_its_paths_in_quotes(tmp_path: Path) -> None:
    machine = Machine("win32", tmp_path, {}, tmp_path)
    launch = Launch(r"C:\Program Files\py\python.exe", ("-m", "afterwit", "--data-dir", r"D:\我的"), {"A": "b"})
    assert launch.hook("stop", "codex", machine) == (
        r'"C:\Program Files\py\python.exe" -m afterwit --data-dir "D:\我的" hook stop --client codex'
    )
    main = r"C:\Program Files\py\Lib\site-packages\afterwit\__main__.py"
    quick = replace(launch, main=main).hook("stop", "codex", machine)
    code = quick.split('"')[3]
    assert not set(code) & set("\\$`%!"), "a shell would read it"
    assert quick == (
        rf'"C:\Program Files\py\python.exe" -I -S -c "{code}" "{main}" --data-dir "D:\我的" hook stop --client codex'
    )


# --- what may be in the way -----------------------------------------------------------------------


def test_an_entry_of_an_older_python_is_updated_and_keeps_what_the_user_added(desk: Desk) -> None:
    old = {
        "command": "/old/python",
        "args": ["-m", "afterwit", "mcp"],
        "autoApprove": ["memory_search"],
        "env": {"X": "1"},
    }
    path = desk.write(".cursor/mcp.json", json.dumps({"mcpServers": {"afterwit": old}}, indent=2))
    (standing,) = [each for each in desk.json("connections", "--no-check", exit_code=1)["clients"] if each["found"]]
    assert (standing["state"], standing["command_exists"]) == ("other", False)
    desk.run("connect", "cursor")
    entry = server_of(path, ("mcpServers",))
    assert words_of(entry)[0] == sys.executable
    assert entry["autoApprove"] == ["memory_search"]
    assert entry["env"] == {"X": "1", "AFTERWIT_EMBEDDER": "none"}


def test_a_table_of_an_older_python_is_updated_line_by_line(desk: Desk) -> None:
    text = (
        '[mcp_servers."afterwit"] # mine\ncommand = \'/old\' # old\nargs = [ "-m",\n # why\n "afterwit"]\n'
        'startup_timeout_sec = 20\n\n[mcp_servers.afterwit.env]\nX = "1"\n\n[z]\n'
    )
    path = desk.write(".codex/config.toml", text)
    desk.run("connect", "codex")
    entry = server_of(path, ("mcp_servers",))
    assert words_of(entry)[0] == sys.executable
    assert entry["startup_timeout_sec"] == 20
    assert entry["env"] == {"X": "1", "AFTERWIT_EMBEDDER": "none"}
    assert f"command = {json.dumps(sys.executable)} # old\n" in path.read_text(encoding="utf-8")
    desk.run("disconnect", "codex")
    assert path.read_text(encoding="utf-8") == "\n[z]\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".cursor/mcp.json", '{"mcpServers": {"afterwit": {"url": "http://127.0.0.1:8765/mcp"}}}'),
        (".cursor/mcp.json", '{"mcpServers": {"afterwit": "x"}}'),
        (".cursor/mcp.json", '{"mcpServers": [1]}'),
        (".codex/config.toml", 'mcp_servers = { afterwit = { command = "x" } }\n'),
        (".codex/config.toml", "mcp_servers = { other = {} }\n"),
    ],
)
def test_what_takes_our_place_is_not_overwritten(desk: Desk, name: str, text: str) -> None:
    path = desk.write(name, text)
    desk.json("connect", "codex" if "codex" in name else "cursor", exit_code=5)
    assert path.read_text(encoding="utf-8") == text


def test_a_read_only_file_is_left_alone_and_so_is_every_other(desk: Desk) -> None:
    path = desk.write(".claude/settings.json", "{}")
    path.chmod(0o444)
    before = desk.tree()
    error = desk.json("connect", "claude-code", exit_code=3)["error"]
    assert str(path) in error["message"]
    assert desk.tree() == before


@pytest.mark.parametrize(
    "data", [b'{"a": "\xff"}', b"\x00\x01", b"[1]", b'{"a": 1, "a": 2}', b'{"a": 1} x', b"{'a': 1}"]
)
def test_what_is_no_document_is_refused(desk: Desk, data: bytes) -> None:
    path = desk.write(".cursor/mcp.json", "")
    path.write_bytes(data)
    assert "line 1" in desk.json("connect", "cursor", exit_code=2)["error"]["message"]
    assert path.read_bytes() == data


def test_an_empty_file_and_a_byte_order_mark_are_no_obstacles(desk: Desk) -> None:
    empty = desk.write(".cursor/mcp.json", "\n")
    marked = desk.write(".qwen/settings.json", '\ufeff{"a": 1}')
    desk.run("connect", "cursor")
    desk.run("connect", "qwen", "--no-hooks")
    assert words_of(server_of(empty, ("mcpServers",)))
    assert marked.read_bytes().startswith(b"\xef\xbb\xbf{")
    assert words_of(server_of(marked, ("mcpServers",)))
    desk.run("disconnect", "qwen")
    assert marked.read_text(encoding="utf-8") == '\ufeff{"a": 1}'


def test_a_link_stays_a_link(desk: Desk) -> None:
    target = desk.write("dotfiles/cursor.json", PLAIN)
    link = desk.home / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(target)
    desk.run("connect", "cursor")
    assert link.is_symlink()
    assert "afterwit" in target.read_text(encoding="utf-8")


def test_secrets_near_a_change_are_not_shown(desk: Desk) -> None:
    secret = "sk-" + "proj-" + "a1B2" * 12
    desk.write(".cursor/mcp.json", json.dumps({"mcpServers": {"x": {"env": {"OPENAI_API_KEY": secret}}}}, indent=1))
    assert secret not in desk.run("connect", "cursor", "--dry-run").stdout


def test_variables_of_a_client_decide_where_its_files_are(desk: Desk) -> None:
    desk.set(CODEX_HOME=str(desk.home / "c"), CLAUDE_CONFIG_DIR=str(desk.home / "d"))
    desk.write(".codex/config.toml", "")
    desk.run("connect", "codex")
    desk.run("connect", "claude")
    assert (desk.home / "c" / "config.toml").exists()
    assert (desk.home / "c" / "hooks.json").exists()
    assert (desk.home / "d" / ".claude.json").exists()
    assert (desk.home / "d" / "settings.json").exists()


@pytest.mark.parametrize("there", ["mcp.json", ".mcp.json"])
def test_of_several_places_the_one_that_is_there_is_used(desk: Desk, there: str) -> None:
    path = desk.write(f".codebuddy/{there}", "{}")
    desk.run("connect", "codebuddy")
    assert "afterwit" in path.read_text(encoding="utf-8")


def test_opencode_2_has_its_servers_one_level_deeper(desk: Desk) -> None:
    path = desk.write(
        ".config/opencode/opencode.jsonc", '{\n  "mcp": {"servers": {"x": {"type": "local", "command": []}}},\n}\n'
    )
    before = path.read_text(encoding="utf-8")
    desk.run("connect", "opencode")
    assert words_of(server_of(path, ("mcp", "servers")))[0] == sys.executable
    desk.run("disconnect", "opencode")
    assert path.read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("system", "client", "place"),
    [
        ("win32", "claude-desktop", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("darwin", "claude-desktop", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", "vscode", "AppData/Roaming/Code/User/mcp.json"),
        ("darwin", "zed", ".config/zed/settings.json"),
        ("win32", "zed", "AppData/Roaming/Zed/settings.json"),
        ("win32", "opencode", ".config/opencode/opencode.json"),
    ],
)
def test_places_differ_between_systems(tmp_path: Path, system: Any, client: str, place: str) -> None:
    machine = Machine(system, tmp_path, {}, tmp_path)
    (chosen,) = [each for each in CLIENTS if each.name == client]
    assert machine.choose(chosen.user) == tmp_path / place


# --- other forms ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("client", "entry"),
    [
        ("claude-code", {"type": "http", "url": "URL"}),
        ("codex", {"url": "URL"}),
        ("windsurf", {"serverUrl": "URL"}),
        ("gemini-cli", {"httpUrl": "URL"}),
        ("opencode", {"type": "remote", "url": "URL"}),
        ("vscode", {"type": "http", "url": "URL"}),
        ("cline", {"type": "streamableHttp", "url": "URL"}),
    ],
)
def test_a_server_elsewhere_is_named_by_its_address_and_has_no_hooks(
    desk: Desk, client: str, entry: dict[str, str]
) -> None:
    url = "http://127.0.0.1:8765/mcp"
    desk.run("connect", client, "--url", url)
    path = desk.home / FILES[client][0]
    assert server_of(path, FILES[client][1]) == {key: value.replace("URL", url) for key, value in entry.items()}
    assert "hook" not in "".join(each.decode() for each in desk.tree().values())
    desk.run("connect", client, "--url", url)
    desk.run("disconnect", client)
    assert desk.json("connections", "--no-check")["clients"][0]["state"] == "absent"


def test_dify_is_told_what_to_enter(desk: Desk) -> None:
    answer = desk.json("connect", "dify")
    assert answer["url"] == "http://127.0.0.1:8765/mcp"
    assert answer["header"].startswith("Authorization: Bearer ")
    assert answer["url"] in desk.run("connect", "dify").stdout


def test_printing_shows_files_and_changes_none(desk: Desk) -> None:
    before = desk.tree()
    files = {Path(each["path"]).name: each["content"] for each in desk.json("connect", "codex", "--print")["files"]}
    assert words_of(tomllib.loads(files["config.toml"])["mcp_servers"]["afterwit"])[0] == sys.executable
    assert "SessionStart" in json.loads(files["hooks.json"])["hooks"]
    assert desk.tree() == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("connect", "emacs"),
        ("connect", "claude-desktop", "--project"),
        ("connect", "claude-desktop", "--url", "http://127.0.0.1/mcp"),
        ("connect", "cursor", "--url", "ftp://x"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_next_step(desk: Desk, arguments: tuple[str, ...]) -> None:
    before = desk.tree()
    assert desk.json(*arguments, exit_code=2)["error"]["next_step"]
    assert desk.tree() == before


def test_options_of_the_memory_are_passed_on(desk: Desk) -> None:
    desk.run("--space", "工作", "connect", "cursor")
    entry = server_of(desk.home / ".cursor" / "mcp.json", ("mcpServers",))
    assert entry["args"][-3:] == ["--space", "工作", "mcp"]
