"""The tools of the world: a command is parsed and carried out on a state, and prints what such tools print."""

import random
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

#: Versions of what the world runs, unless a task says otherwise.
VERSIONS: Mapping[str, str] = {"orders-api": "1.8", "psql": "16.3", "npm": "10.8", "shipit": "3.1"}

#: Values of the variables of a shell.
_VARIABLES = {name: f"{name.lower()}-value" for name in ("ORDERS_KEY", "ORDERS_TOKEN", "BILLING_KEY", "BILLING_TOKEN")}

_FOLDERS = frozenset(("", "services", "services/api", "frontend", "infra", "etl", "data", "config"))
_MAKE_TARGETS = {"services/api": frozenset(("lint", "schema", "docs", "coverage", "stubs", "bundle"))}

#: What a tool prints that loses its connection now and then.
_LOST = (
    "Unable to connect to the server: read tcp 10.0.0.7:52114->10.0.0.1:443: read: connection reset by peer",
    "Unable to connect to the server: net/http: TLS handshake timeout",
    "Error from server (ServiceUnavailable): the server is currently unable to handle the request",
)


def dice(*seed: object) -> random.Random:
    """Chance that falls the same way for the same seed."""
    return random.Random(" ".join(map(str, seed)))  # noqa: S311  not for secrets


@dataclass(frozen=True)
class Result:
    """What a command printed, and whether it did what it should."""

    output: str
    ok: bool


@dataclass
class World:
    """A checkout, a database, two services and a few tools, as they are when a task begins."""

    draw: random.Random
    versions: Mapping[str, str] = field(default_factory=lambda: VERSIONS)
    #: tools speak Chinese where they have translations
    is_chinese: bool = False
    #: share of calls that a shaky tool loses
    flakiness: float = 0.6
    _migrated: bool = False
    _folder: str = ""

    def run(self, command: str) -> Result:
        """Carry out a command line: parts joined by `&&`, each in the folder that `cd` left it in."""
        self._folder = ""
        result = Result("", True)
        outputs: list[str] = []
        for words in _parts(command):
            result = self._run_one(words)
            outputs.append(result.output)
            if not result.ok:
                break
        return Result("\n".join(output for output in outputs if output), result.ok)

    def _run_one(self, words: Sequence[str]) -> Result:
        words = [_expanded(word) for word in words]
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words = words[1:]
        name = words[0] if words else ""
        program = self._programs.get(name)
        if program is None:
            return Result(self._said(f"bash: {name}: command not found", f"bash: {name}: 未找到命令"), False)
        return program(words[1:])

    @cached_property
    def _programs(self) -> Mapping[str, Callable[[Sequence[str]], Result]]:
        return {
            "cd": self._cd,
            "curl": self._curl,
            "psql": self._psql,
            "python": self._python,
            "npm": self._npm,
            "make": self._make,
            "shipit": self._shipit,
            "kubectl": self._kubectl,
            "ls": lambda _: Result("Makefile\nREADME.md\nconfig\ndata\netl\nfrontend\ninfra\nservices", True),
            "cat": self._cat,
            "git": lambda _: Result("On branch main\nnothing to commit, working tree clean", True),
            "grep": lambda _: Result("services/api/app.py:12:    return render(rows)", True),
        }

    def _said(self, english: str, chinese: str) -> str:
        return chinese if self.is_chinese else english

    # --- programs --------------------------------------------------------------------------------

    def _cd(self, arguments: Sequence[str]) -> Result:
        folder = "/".join(part for part in (self._folder, *arguments) if part).rstrip("/")
        if folder not in _FOLDERS:
            english = f"bash: cd: {arguments[0]}: No such file or directory"
            return Result(self._said(english, f"bash: cd: {arguments[0]}: 没有那个文件或目录"), False)
        self._folder = folder
        return Result("", True)

    def _cat(self, arguments: Sequence[str]) -> Result:
        return Result(f"# {arguments[0]}\nHow to build and run the services. See docs/ for details.", True)

    def _curl(self, arguments: Sequence[str]) -> Result:
        address = next(word for word in arguments if word.startswith("https://"))
        headers = [value for flag, value in pairwise(arguments) if flag == "-H"]
        service = address.removeprefix("https://").partition(".")[0]
        if self._is_let_in(service, headers):
            name = re.split(r"[?/]", address.partition(".dev/")[2])[0]
            return Result(f'HTTP/1.1 200 OK\ncontent-type: application/json\n\n{{"{name}": [1, 2, 3]}}', True)
        message = self._said("missing or invalid credentials", "缺少凭证或凭证无效")
        body = f'{{"error": "unauthorized", "message": "{message}"}}'
        return Result(f"HTTP/1.1 401 Unauthorized\ncontent-type: application/json\n\n{body}", False)

    def _is_let_in(self, service: str, headers: Sequence[str]) -> bool:
        by_key = service == "orders" and self.versions["orders-api"].startswith("1.")
        if by_key:
            return f"X-Api-Key: {_VARIABLES['ORDERS_KEY']}" in headers
        return f"Authorization: Bearer {_VARIABLES[f'{service.upper()}_TOKEN']}" in headers

    def _psql(self, arguments: Sequence[str]) -> Result:
        given = dict(part.split("=", 1) for part in arguments[0].split())
        user, database = given.get("user", "app"), given["dbname"]
        host, port = given["host"], given.get("port", "5432")
        if port != "5432":
            english = f'psql: error: connection to server at "{host}", port {port} failed: Connection refused'
            chinese = f'psql: 错误: 连接到"{host}"上的服务器，端口{port}失败：拒绝连接'
            return Result(self._said(english, chinese), False)
        if given.get("sslmode") not in ("require", "verify-full"):
            entry = f'user "{user}", database "{database}", no encryption'
            english = f'FATAL:  no pg_hba.conf entry for host "10.0.0.7", {entry}'
            chinese = (
                f'致命错误:  没有用于主机 "10.0.0.7", 用户 "{user}", 数据库 "{database}", 无加密 的 pg_hba.conf 记录'
            )
            where = f'psql: error: connection to server at "{host}" (10.0.0.2), port {port} failed: '
            return Result(where + self._said(english, chinese), False)
        return Result(" count\n-------\n  1284\n(1 row)", True)

    def _python(self, arguments: Sequence[str]) -> Result:
        script = arguments[0]
        if script == "manage.py":
            return self._manage(arguments[1:])
        at_home = script == "convert.py" and self._folder == "etl"
        if at_home or script in ("etl/convert.py", "../etl/convert.py"):
            if at_home:
                return Result(f"wrote {arguments[1]}.parquet (812 rows)", True)
            missing = self._said("No such file or directory", "没有那个文件或目录")
            return Result(
                "Traceback (most recent call last):\n"
                f'  File "{script}", line 9, in <module>\n'
                '    settings = load(open("convert.toml", "rb"))\n'
                f"FileNotFoundError: [Errno 2] {missing}: 'convert.toml'",
                False,
            )
        missing = self._said("No such file or directory", "没有那个文件或目录")
        return Result(f"python: can't open file '{script}': [Errno 2] {missing}", False)

    def _manage(self, arguments: Sequence[str]) -> Result:
        match arguments[0]:
            case "migrate":
                self._migrated = True
                return Result("Operations to perform:\n  Apply all migrations: shop\nRunning migrations:\n  OK", True)
            case "report":
                if self._migrated:
                    return Result(f"{arguments[1]}: 14 rows written", True)
                return Result(
                    "Traceback (most recent call last):\n"
                    '  File "manage.py", line 22, in <module>\n'
                    f"django.db.utils.OperationalError: no such table: shop_{arguments[1]}",
                    False,
                )
            case "check":
                return Result("System check identified no issues (0 silenced).", True)
            case command:
                return Result(f"{command}: done.", True)

    def _npm(self, arguments: Sequence[str]) -> Result:
        if "--legacy-peer-deps" in arguments:
            return Result("added 14 packages in 3s", True)
        name = next(word for word in arguments[1:] if not word.startswith("-"))
        return Result(
            "npm error code ERESOLVE\n"
            "npm error ERESOLVE unable to resolve dependency tree\n"
            f'npm error Could not resolve dependency:\nnpm error peer react@"^17.0.0" from {name}@4.2.1\n'
            + self._said(
                "npm error Fix the upstream dependency conflict, or retry", "npm error 请解决上游依赖冲突，或重试"
            ),
            False,
        )

    def _make(self, arguments: Sequence[str]) -> Result:
        target = next(word for word in arguments if not word.startswith("-"))
        if target in _MAKE_TARGETS.get(self._folder, ()):
            return Result(f"{target}: done", True)
        english = f"make: *** No rule to make target '{target}'.  Stop."
        return Result(self._said(english, f"make: *** 没有规则可制作目标“{target}”。 停止。"), False)

    def _shipit(self, arguments: Sequence[str]) -> Result:
        if arguments[0] == "login":
            return Result("logged in as ci", True)
        if "--region" in arguments and arguments[arguments.index("--region") + 1] == "eu-1":
            return Result(f"{arguments[1]}: rolled out to eu-1, revision 88", True)
        english = f"shipit: error: no target region for service '{arguments[1]}'"
        return Result(self._said(english, f"shipit: 错误: 服务 '{arguments[1]}' 没有目标区域"), False)

    def _kubectl(self, arguments: Sequence[str]) -> Result:
        if self.draw.random() < self.flakiness:
            return Result(self.draw.choice(_LOST), False)
        return Result(f'deployment "{arguments[-1].rpartition("/")[2]}" successfully rolled out', True)


def _parts(command: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in shlex.split(command):
        if word == "&&":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _expanded(word: str) -> str:
    return re.sub(r"\$(\w+)", lambda found: _VARIABLES.get(found[1], ""), word)
