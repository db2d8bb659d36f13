"""A user's home directory with agents' clients in it, for tests: where their files are, and the command run there."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from afterwit.cli import cli
from afterwit.cli.clients import jsonc

CONFIG = {"darwin": "Library/Application Support"}.get(sys.platform, ".config")

#: client -> its file below the home directory, and the keys of the server, as its documentation says
FILES: dict[str, tuple[str, tuple[str, ...]]] = {
    "claude-code": (".claude.json", ("mcpServers",)),
    "claude-desktop": (f"{CONFIG}/Claude/claude_desktop_config.json", ("mcpServers",)),
    "codex": (".codex/config.toml", ("mcp_servers",)),
    "cursor": (".cursor/mcp.json", ("mcpServers",)),
    "vscode": (f"{CONFIG}/Code/User/mcp.json", ("servers",)),
    "windsurf": (".codeium/windsurf/mcp_config.json", ("mcpServers",)),
    "gemini-cli": (".gemini/settings.json", ("mcpServers",)),
    "qwen-code": (".qwen/settings.json", ("mcpServers",)),
    "opencode": (".config/opencode/opencode.json", ("mcp",)),
    "zed": (".config/zed/settings.json", ("context_servers",)),
    "cline": (".cline/data/settings/cline_mcp_settings.json", ("mcpServers",)),
    "roo": (
        f"{CONFIG}/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        ("mcpServers",),
    ),
    "continue": (".continue/mcpServers/afterwit.json", ("mcpServers",)),
    "trae": (f"{CONFIG}/Trae/User/mcp.json", ("mcpServers",)),
    "trae-cn": (f"{CONFIG}/Trae CN/User/mcp.json", ("mcpServers",)),
    "qoder": (".qoder/settings.json", ("mcpServers",)),
    "qoder-ide": (f"{CONFIG}/Qoder/SharedClientCache/mcp.json", ("mcpServers",)),
    "codebuddy": (".codebuddy/.mcp.json", ("mcpServers",)),
}
#: client -> file of its hooks, and units of its timeouts in a second
HOOKS = {
    "claude-code": (".claude/settings.json", 1),
    "codex": (".codex/hooks.json", 1),
    "gemini-cli": (".gemini/settings.json", 1000),
    "qwen-code": (".qwen/settings.json", 1000),
}


class Desk:
    """Runs commands in a home directory of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.project = home / "project"
        self.project.mkdir(parents=True)
        names = (
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "XDG_CONFIG_HOME",
            "OPENCODE_CONFIG",
            "QODER_CONFIG_DIR",
            "CLINE_DIR",
        )
        self._runner = CliRunner(
            env={
                **dict.fromkeys(names),
                "HOME": str(home),
                "PATH": str(home / "bin"),
                "AFTERWIT_DATA_DIR": str(home / "data"),
                "AFTERWIT_EMBEDDER": "none",
                "LC_ALL": "C.UTF-8",
            }
        )

    def run(self, *arguments: str, exit_code: int = 0) -> Result:
        result = self._runner.invoke(cli, arguments)
        assert result.exit_code == exit_code, (result.stdout, result.stderr)
        return result

    def json(self, *arguments: str, exit_code: int = 0) -> Any:
        return json.loads(self.run(*arguments, "--json", exit_code=exit_code).stdout)

    def set(self, **variables: str) -> None:
        """Give the commands variables of their environment."""
        self._runner.env = {**self._runner.env, **variables}

    def write(self, name: str, text: str) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def copies(self) -> list[Path]:
        return sorted(self.home.rglob("*.bak"))

    def tree(self) -> dict[str, bytes]:
        """Every file but the copies."""
        return {
            path.relative_to(self.home).as_posix(): path.read_bytes()
            for path in self.home.rglob("*")
            if path.is_file() and path.suffix != ".bak"
        }


def values_of(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    return tomllib.loads(text) if path.suffix == ".toml" else jsonc.load(text)


def server_of(path: Path, keys: tuple[str, ...]) -> dict[str, Any]:
    values: Any = values_of(path)
    for key in (*keys, "afterwit"):
        values = values[key]
    return values


def words_of(entry: dict[str, Any]) -> list[str]:
    return entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
