"""The clients that Afterwit can be connected to: which file each reads, and in what form.

Each row names the page of its documentation that it was written after. Forms change; a row is all there is to change.
"""

from dataclasses import dataclass
from typing import Literal

#: Where the clients' own settings for extensions of VS Code lie.
_VSCODE = "{config}/Code/User"


@dataclass(frozen=True)
class Event:
    """One hook of a client."""

    #: the client's name for it
    name: str
    #: how long the client waits for it, in seconds
    timeout_s: int
    #: tools or causes it is for; "" = all
    matcher: str = ""

    @property
    def word(self) -> str:
        """Its name on a command line: `session-start`."""
        return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in self.name).lstrip("-")


@dataclass(frozen=True)
class Hooks:
    """How a client runs commands at certain moments."""

    #: places of the file, and of the project's
    user: tuple[str, ...]
    project: str
    events: tuple[Event, ...]
    #: units of a timeout in a second
    units: int = 1
    #: a hook may have a name
    named: bool = False


@dataclass(frozen=True)
class Client:
    """One client."""

    #: as it is typed
    name: str
    title: str
    #: documentation of what stands here
    source: str
    #: places of the user's file, see `Machine.choose`; empty = it has none, what to enter is printed
    user: tuple[str, ...] = ()
    #: the project's file; "" = it has none
    project: str = ""
    #: keys of the object that holds the servers
    container: tuple[str, ...] = ("mcpServers",)
    form: Literal["json", "toml"] = "json"
    #: how a server that is started is written: command, args and env; with a type; or all words in one list
    style: Literal["plain", "typed", "list"] = "plain"
    #: key of a server's address; "" = none can be given
    address: str = "url"
    #: `type` beside an address; "" = none
    address_type: str = ""
    hooks: Hooks | None = None
    #: programs or places that show that it is installed
    programs: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    #: other words for it
    aliases: tuple[str, ...] = ()
    #: key of a sentence for after connecting; "" = a new session is enough
    then: str = ""


_CLAUDE_CODE = Client(
    "claude-code",
    "Claude Code",
    "https://code.claude.com/docs/en/mcp, https://code.claude.com/docs/en/hooks",
    user=("$CLAUDE_CONFIG_DIR/.claude.json", "~/.claude.json"),
    project=".mcp.json",
    style="typed",
    address_type="http",
    hooks=Hooks(
        user=("$CLAUDE_CONFIG_DIR/settings.json", "~/.claude/settings.json"),
        # The project's own settings.json is shared with others, whose Python is elsewhere.
        project=".claude/settings.local.json",
        events=(
            Event("SessionStart", 15),
            Event("UserPromptSubmit", 10),
            Event("PreToolUse", 10, "Bash|PowerShell"),
            Event("PostToolUseFailure", 10),
            Event("Stop", 10),
            Event("PreCompact", 10),
            Event("SessionEnd", 10),
        ),
    ),
    programs=("claude",),
    places=("~/.claude.json", "~/.claude"),
    aliases=("claude",),
)

_CODEX = Client(
    "codex",
    "Codex",
    "https://developers.openai.com/codex/mcp, https://developers.openai.com/codex/hooks",
    user=("$CODEX_HOME/config.toml", "~/.codex/config.toml"),
    project=".codex/config.toml",
    container=("mcp_servers",),
    form="toml",
    hooks=Hooks(
        user=("$CODEX_HOME/hooks.json", "~/.codex/hooks.json"),
        project=".codex/hooks.json",
        events=(
            Event("SessionStart", 15),
            Event("UserPromptSubmit", 10),
            Event("PreToolUse", 10, "Bash"),
            Event("PostToolUse", 10, "Bash"),
            Event("Stop", 10),
            Event("PreCompact", 10),
            # The most it allows.
            Event("SessionEnd", 3),
        ),
    ),
    programs=("codex",),
    places=("~/.codex",),
    then="then_codex",
)

_GEMINI = Client(
    "gemini-cli",
    "Gemini CLI",
    "https://geminicli.com/docs/tools/mcp-server, https://geminicli.com/docs/hooks/reference",
    user=("~/.gemini/settings.json",),
    project=".gemini/settings.json",
    address="httpUrl",
    hooks=Hooks(
        user=("~/.gemini/settings.json",),
        project=".gemini/settings.json",
        events=(
            Event("SessionStart", 15),
            Event("BeforeAgent", 10),
            Event("BeforeTool", 10, "run_shell_command"),
            Event("AfterTool", 10, "run_shell_command"),
            Event("AfterAgent", 10),
            Event("PreCompress", 10),
            Event("SessionEnd", 10),
        ),
        units=1000,
        named=True,
    ),
    programs=("gemini",),
    places=("~/.gemini",),
    aliases=("gemini",),
    then="then_gemini",
)

_QWEN = Client(
    "qwen-code",
    "Qwen Code",
    "https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/, .../features/hooks/",
    user=("~/.qwen/settings.json",),
    project=".qwen/settings.json",
    address="httpUrl",
    hooks=Hooks(
        user=("~/.qwen/settings.json",),
        project=".qwen/settings.json",
        events=(
            Event("SessionStart", 15),
            Event("UserPromptSubmit", 10),
            Event("PreToolUse", 10, "^run_shell_command$"),
            # A command that ended badly is no failed tool there.
            Event("PostToolUse", 10, "^run_shell_command$"),
            Event("PostToolUseFailure", 10),
            Event("Stop", 10),
            Event("PreCompact", 10),
            Event("SessionEnd", 10),
        ),
        # Seconds since 0.24; from 1000 on it reads milliseconds, as all versions before did.
        units=1000,
        named=True,
    ),
    programs=("qwen",),
    places=("~/.qwen",),
    aliases=("qwen",),
)

CLIENTS: tuple[Client, ...] = (
    _CLAUDE_CODE,
    Client(
        "claude-desktop",
        "Claude Desktop",
        "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
        user=("{config}/Claude/claude_desktop_config.json",),
        address="",
        places=("{config}/Claude",),
        then="then_restart",
    ),
    _CODEX,
    Client(
        "cursor",
        "Cursor",
        "https://cursor.com/docs/mcp",
        user=("~/.cursor/mcp.json",),
        project=".cursor/mcp.json",
        programs=("cursor", "cursor-agent"),
        places=("~/.cursor",),
    ),
    Client(
        "vscode",
        "VS Code",
        "https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
        user=(f"{_VSCODE}/mcp.json",),
        project=".vscode/mcp.json",
        container=("servers",),
        style="typed",
        address_type="http",
        programs=("code",),
        places=(_VSCODE,),
        aliases=("vs-code", "code", "copilot"),
    ),
    Client(
        "windsurf",
        "Windsurf",
        "https://docs.windsurf.com/windsurf/cascade/mcp",
        user=("~/.codeium/windsurf/mcp_config.json",),
        address="serverUrl",
        programs=("windsurf",),
        places=("~/.codeium/windsurf",),
        then="then_restart",
    ),
    _GEMINI,
    _QWEN,
    Client(
        "opencode",
        "opencode",
        "https://opencode.ai/docs/mcp-servers, https://opencode.ai/v2/docs/mcp-servers",
        user=(
            "$OPENCODE_CONFIG",
            "{xdg}/opencode/opencode.json",
            "{xdg}/opencode/opencode.jsonc",
            "{xdg}/opencode/config.json",
        ),
        project="opencode.json",
        container=("mcp",),
        style="list",
        address_type="remote",
        programs=("opencode",),
        places=("{xdg}/opencode",),
    ),
    Client(
        "zed",
        "Zed",
        "https://zed.dev/docs/ai/mcp",
        user=("{zed}/settings.json",),
        project=".zed/settings.json",
        container=("context_servers",),
        programs=("zed", "zeditor"),
        places=("{zed}",),
    ),
    Client(
        "cline",
        "Cline",
        "https://docs.cline.bot/mcp/configuring-mcp-servers",
        user=(
            "$CLINE_DIR/data/settings/cline_mcp_settings.json",
            "~/.cline/data/settings/cline_mcp_settings.json",
            f"{_VSCODE}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ),
        address_type="streamableHttp",
        programs=("cline",),
        places=("~/.cline", f"{_VSCODE}/globalStorage/saoudrizwan.claude-dev"),
    ),
    Client(
        "roo",
        "Roo Code",
        "https://docs.roocode.com/features/mcp/using-mcp-in-roo",
        user=(f"{_VSCODE}/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",),
        project=".roo/mcp.json",
        address_type="streamable-http",
        places=(f"{_VSCODE}/globalStorage/rooveterinaryinc.roo-cline",),
        aliases=("roo-code",),
    ),
    Client(
        "continue",
        "Continue",
        "https://docs.continue.dev/customize/deep-dives/mcp",
        # It reads every JSON file of this folder, in the form of Claude Desktop: this one is ours alone.
        user=("~/.continue/mcpServers/afterwit.json",),
        project=".continue/mcpServers/afterwit.json",
        address_type="streamable-http",
        programs=("cn",),
        places=("~/.continue",),
    ),
    Client(
        "trae",
        "Trae",
        "https://docs.trae.ai/ide/add-mcp-servers, https://www.volcengine.com/docs/86677/2137601",
        user=("{config}/Trae/User/mcp.json",),
        project=".trae/mcp.json",
        places=("{config}/Trae",),
        then="then_trae",
    ),
    Client(
        "trae-cn",
        "Trae CN",
        "https://www.volcengine.com/docs/86677/2137601",
        user=("{config}/Trae CN/User/mcp.json",),
        project=".trae/mcp.json",
        places=("{config}/Trae CN",),
        then="then_trae",
    ),
    Client(
        "qoder",
        "Qoder CLI",
        "https://docs.qoder.com/cli/mcp-reference, https://docs.qoder.com/cli/settings",
        user=("$QODER_CONFIG_DIR/settings.json", "~/.qoder/settings.json"),
        project=".qoder/settings.json",
        address_type="http",
        programs=("qodercli",),
        places=("~/.qoder",),
    ),
    Client(
        "qoder-ide",
        "Qoder IDE",
        "https://docs.qoder.com/user-guide/chat/model-context-protocol",
        user=("{config}/Qoder/SharedClientCache/mcp.json",),
        places=("{config}/Qoder",),
        then="then_restart",
    ),
    Client(
        "codebuddy",
        "CodeBuddy Code",
        "https://www.codebuddy.ai/docs/cli/mcp",
        # The first of these that is there is the only one it reads.
        user=("~/.codebuddy/.mcp.json", "~/.codebuddy/mcp.json", "~/.codebuddy.json"),
        project=".mcp.json",
        style="typed",
        address_type="http",
        programs=("codebuddy",),
        places=("~/.codebuddy", "~/.codebuddy.json"),
    ),
    Client(
        "dify",
        "Dify",
        "https://docs.dify.ai/en/use-dify/build/mcp",
        then="then_dify",
    ),
)

NAMES: tuple[str, ...] = tuple(client.name for client in CLIENTS)


def client_named(word: str) -> Client | None:
    """The client that a word means."""
    folded = word.strip().casefold().replace("_", "-").replace(" ", "-")
    return next((client for client in CLIENTS if folded == client.name or folded in client.aliases), None)
