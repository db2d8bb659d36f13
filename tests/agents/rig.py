"""A home of their own for agents' clients: a project, a memory, a model by script, and no way to anything else."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.agents.mock_llm import Call, Exchange, MockLLM, Turn
from tests.doors import client_command

AGENTS = Path(__file__).parent
ROOT = AGENTS.parent.parent

#: Longest wait for a client, in seconds: they are large, and a test machine may be busy.
PATIENCE_S = 240
#: Nobody listens there, so what is meant for other machines fails at once.
NOWHERE = "http://127.0.0.1:9"
#: Variables that a program needs to run at all; nothing else is handed on, least of all keys.
_NEEDED = ("PATH", "LANG", "LC_ALL", "TERM", "USER", "SHELL", "TMPDIR")

#: Fails without a region, in words that say nothing of the cure.
DEPLOY = """\
if [ "$1" = status ]; then echo "staging: up, 3 of 3 pods ready"; exit 0; fi
for word in "$@"; do
  if [ "$word" = --region=eu-west ]; then echo "deployed to $1"; exit 0; fi
done
echo "error: no default region is configured for this account" >&2
exit 1
"""


@dataclass(frozen=True)
class Rig:
    """A user's machine, as far as an agent's client sees it."""

    root: Path
    model: MockLLM

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "atlas"

    @property
    def data(self) -> Path:
        return self.root / "memory"

    def make(self) -> None:
        """The folders, and the program that the agent is to run."""
        self.home.mkdir()
        (self.project / ".git").mkdir(parents=True)
        (self.project / "deploy.sh").write_text(DEPLOY, encoding="utf-8")

    def environ(self) -> dict[str, str]:
        """The variables of a client: private places, keys that open nothing, and the model for all that is hosted."""
        return {name: os.environ[name] for name in _NEEDED if name in os.environ} | {
            "HOME": str(self.home),
            "HTTP_PROXY": NOWHERE,
            "HTTPS_PROXY": NOWHERE,
            "NO_PROXY": "127.0.0.1,localhost",
            "NO_COLOR": "1",
            "DO_NOT_TRACK": "1",
            "AFTERWIT_EMBEDDER": "none",
            "AFTERWIT_DAEMON_IDLE_S": "60",
            # Claude Code
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "sk-ant-none",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            # Gemini CLI
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": self.model.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            # Codex, Qwen Code and opencode
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": f"{self.model.url}/v1",
            "OPENAI_MODEL": "mock",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        }

    def run(self, program: str, *words: str, **variables: str) -> str:
        """What a client prints, run in the project; fails when it does."""
        done = subprocess.run(
            [*client_command(program, AGENTS), *words],
            env=self.environ() | variables,
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout + done.stderr

    def afterwit(self, *words: str) -> Any:
        """The answer of our own command, as JSON."""
        done = subprocess.run(
            [sys.executable, "-m", "afterwit", "--data-dir", str(self.data), *words, "--json"],
            env=self.environ(),
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def memories(self) -> list[dict[str, Any]]:
        """All that is remembered."""
        return self.afterwit("list")["memories"]

    def tasks(self) -> list[dict[str, Any]]:
        """All tasks, whatever became of them."""
        return self.afterwit("task", "list")["tasks"]

    def until_reviewed(self, tasks: int) -> None:
        """Wait until so many tasks have ended: sessions are read after their client has gone."""
        deadline = time.monotonic() + PATIENCE_S
        while len([task for task in self.tasks() if task["status"] != "open"]) < tasks:
            assert time.monotonic() < deadline, (self.tasks(), self.log())
            time.sleep(0.5)

    def log(self) -> str:
        """What the daemon had to say."""
        log = self.data / "daemon.log"
        return log.read_text(encoding="utf-8") if log.exists() else ""


# --- the clients ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Agent:
    """A client: how it is asked, and what its model sees."""

    #: as `afterwit connect` knows it
    client: str
    program: str
    #: words before and after a prompt
    before: tuple[str, ...]
    after: tuple[str, ...] = ()
    #: its tool that runs a command, and the name of its argument
    runner: str = "run_shell_command"
    argument: str = "command"
    more: dict[str, Any] = field(default_factory=dict[str, Any])
    #: the turns in which its model asks to be shown a tool of ours, or waits until there is one
    finding: tuple[Turn, ...] = ()
    #: its model calls a tool that it was shown by another tool, of this name
    caller: str = ""
    #: writes the settings that it needs beside what we connect
    prepare: Callable[[Rig], None] = lambda rig: None
    has_hooks: bool = True

    def connect(self, rig: Rig) -> None:
        """Give the client its own settings, then ours."""
        self.prepare(rig)
        rig.afterwit("connect", self.client)

    def ask(self, rig: Rig, prompt: str, **variables: str) -> str:
        """One session with one prompt."""
        return rig.run(self.program, *self.before, prompt, *self.after, **variables)

    def runs(self, command: str) -> Call:
        """The turn in which the model runs a command."""
        return Call(self.runner, {self.argument: command} | self.more)

    def remembers(self, tool: str, **arguments: str) -> tuple[Turn, ...]:
        """The turns in which the model calls a tool of ours."""
        call = Call(tool, arguments)
        if self.caller:
            call = Call(self.caller, {"name": f"mcp__afterwit__{tool}", "arguments": arguments})
        return *self.finding, call


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _codex(rig: Rig) -> None:
    provider = f'name = "mock"\nbase_url = "{rig.model.url}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n'
    head = 'model = "mock"\nmodel_provider = "mock"\ncheck_for_update_on_startup = false\n'
    _write(rig.home / ".codex" / "config.toml", f"{head}\n[model_providers.mock]\n{provider}")


def _gemini(rig: Rig, folder: str = ".gemini", key: str = "gemini-api-key") -> None:
    settings = {
        "security": {"auth": {"selectedType": key}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    _write(rig.home / folder / "settings.json", json.dumps(settings))


def _qwen(rig: Rig) -> None:
    _gemini(rig, ".qwen", "openai")  # which grew out of it


def _opencode(rig: Rig) -> None:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{rig.model.url}/v1", "apiKey": "none"},
        "models": {"mock": {"name": "mock"}},
    }
    settings = {"provider": {"mock": provider}, "model": "mock/mock", "small_model": "mock/mock", "share": "disabled"}
    _write(rig.home / ".config" / "opencode" / "opencode.json", json.dumps(settings))


CLAUDE_CODE = Agent(
    "claude-code",
    "claude",
    ("-p",),
    ("--output-format", "json", "--allowedTools", "Bash,mcp__afterwit"),
    runner="Bash",
    more={"description": "Run it"},
    finding=(Call("ToolSearch", {"query": "select:mcp__afterwit__memory_write"}),),
)
CODEX = Agent(
    "codex",
    "codex",
    (
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--dangerously-bypass-hook-trust",
        "--dangerously-bypass-approvals-and-sandbox",
    ),
    runner="exec_command",
    argument="cmd",
    # The first turn does not wait for its servers.
    finding=(Call("exec_command", {"cmd": "sleep 5"}),),
    prepare=_codex,
)
# Without a model's name it would ask a model which one to ask.
GEMINI = Agent("gemini-cli", "gemini", ("--yolo", "-m", "gemini-2.5-flash", "-p"), prepare=_gemini)
QWEN = Agent(
    "qwen-code",
    "qwen",
    ("--yolo", "-p"),
    more={"is_background": False},
    finding=(Call("tool_search", {"query": "select:mcp__afterwit__memory_write,mcp__afterwit__memory_search"}),),
    caller="tool_call",
    prepare=_qwen,
)
OPENCODE = Agent(
    "opencode",
    "opencode",
    ("run", "--auto"),
    runner="bash",
    more={"description": "Run it"},
    prepare=_opencode,
    has_hooks=False,
)
ALL = (CLAUDE_CODE, CODEX, GEMINI, QWEN, OPENCODE)


def words_of(exchange: Exchange) -> str:
    """All that a request tells the model, but for the descriptions of its tools."""
    told = {name: value for name, value in exchange.body.items() if name != "tools"}
    return json.dumps(told, ensure_ascii=False)
