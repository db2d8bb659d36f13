"""Two runs of one fault in the same words: what differs from run to run goes out, what tells faults apart stays."""

import re
import unicodedata
from functools import lru_cache

from afterwit.text import redact_secrets

#: Longest line that is kept of an output.
LINE_CHARS = 160

#: An output is looked at from both ends: the cause stands at one of them, and the work stays bounded.
_HEAD_CHARS, _TAIL_CHARS, _LONGEST_LINE = 8_000, 16_000, 600

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)|\x1b[@-Z\\^_]|\x1b\[[0-?]{0,40}[ -/]{0,10}[@-~]|"
    r"\[\d{1,2}(?:;\d{1,3}){0,4}m"
)
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\U000e0000-\U000e007f\ud800-\udfff]+"
)
#: How some clients mark that a tool failed.
_ERROR_TAG = re.compile(r"</?(?:tool_use_error|error)>")
_SPACE = re.compile(r"\s+")

#: Files whose name tells the fault: the same in every checkout.
_TELLING_FILES = re.compile(
    r"(?i)(?:^|[/\\])((?:package(?:-lock)?|tsconfig|composer|pnpm-lock|docker-compose|compose|pyproject|requirements[\w-]*|"
    r"setup|manage|conftest|poetry|cargo|gemfile|makefile|dockerfile|pom|build|gradlew|mvnw|go|pipfile|alembic|"
    r"jest\.config|vite\.config|webpack\.config|next\.config|docker|index|cmakelists|kubeconfig|known_hosts)"
    r"(?:\.(?:json|ya?ml|toml|txt|py|xml|gradle|mod|sum|lock|ini|sock|[jt]s|pid|sh))?|\.env(?:\.\w{1,20})?|\.npmrc|\.git|venv|\.venv|node_modules)$"
)

_URL = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20})://([^\s'\"<>)\]}，。；]{1,400})")
_HOST = re.compile(r"^(?:[^/@]{1,200}@)?(\[[0-9a-fA-F:]+\]|[^/:?#]{1,200})(?::\d{1,5})?([^?#]*)")
_LOCAL = re.compile(
    r"(?i)^(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[[0-9a-f:]+\]|\d{1,3}(?:\.\d{1,3}){3}|host\.docker\.internal)$"
)
_SEGMENT_ID = re.compile(r"^(?:\d[\w.-]*|[0-9a-fA-F-]{8,}|(?=[^/]*\d)[\w.-]{12,}|<\w+>)$")

_PATH = re.compile(
    r"(?<![\w<>/\\:.@~-])(?:~|\.{1,2})?/(?:[^\s'\"`<>|,;:()\[\]{}*，。；：、“”‘’]{1,300})|\b[A-Za-z]:\\[^\s'\"`<>|,;()\[\]{}]{1,300}"
)
_RELATIVE = re.compile(r"(?<![\w<>/\\.@~:-])(?:[\w.@+-]{1,80}/){1,12}[\w.@+-]{1,80}(?:\.[A-Za-z]\w{0,5})(?![\w/])")

_REPLACED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<id>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"), "<time>"),
    (re.compile(r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?\b"), "<time>"),
    (re.compile(r"\b\d{4}年\d{1,2}月\d{1,2}日"), "<time>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "<address>"),
    (re.compile(r"\bsha(?:1|256|512):[0-9a-fA-F]{6,}"), "<hash>"),
    (re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b"), "<host>"),
    (re.compile(r"(?i)(?<![\w:])(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{1,4}(?![\w:])|(?<![\w:])::1(?![\w:])"), "<host>"),
    (re.compile(r"(?i)\blocalhost:\d{1,5}\b"), "<host>"),
    (re.compile(r"(?<=[\w>]):\d{2,5}\b(?!\w)"), ":<n>"),
    (re.compile(r"(?=[0-9a-fA-F]{0,64}\d)(?=[0-9a-fA-F]{0,64}[a-fA-F])\b[0-9a-fA-F]{7,128}\b"), "<hash>"),
    (re.compile(r"(?i)\b(?:tmp|temp|pytest|build|run)[._-](?=[a-z0-9]{0,16}\d)[a-z0-9]{5,16}\b"), "<temp>"),
    (re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,60}\.[\w.-]{2,60}\b"), "<email>"),
    (
        re.compile(
            r"(?i)\b(user(?:name)?|role|account|用户)(\s{0,2}[=:：]?\s{0,2})(['\"“‘「])([^'\"”’」<>\n]{1,60})(['\"”’」])(?:@(['\"])[^'\"\n]{1,60}\6)?"
        ),
        r"\1\2<user>",
    ),
    (re.compile(r"(?<![\w<])['\"“‘`]([^'\"“”‘’`\n<>]{61,})['\"”’`]"), "<text>"),
    (re.compile(r"\d{7,}"), "<n>"),
    (
        re.compile(
            r"(?<![\w.<-])[-+]?\d+(?:[.,]\d+)*(?:\s?(?:ms|s|sec|seconds|minutes|bytes|[KMG]i?B|%|秒|分钟|字节))?(?![\w>])"
        ),
        "<n>",
    ),
)
_REPEATED = re.compile(r"(<n>)(?:[\s,:/x×-]{0,2}<n>)+")


@lru_cache(maxsize=64)
def readable(output: str) -> str:
    """An output without escapes, control characters, overwritten progress and secrets, at most 24,000 characters:
    its beginning and its end, long lines cut."""
    if len(output) > _HEAD_CHARS + _TAIL_CHARS:
        output = f"{output[:_HEAD_CHARS]}\n{output[-_TAIL_CHARS:]}"
    text = _CONTROL.sub("", _ESCAPES.sub("", output).replace("\r\n", "\n"))
    # A carriage return begins a line anew, as progress bars do: what it overwrote was never to stay.
    shown = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return redact_secrets(_ERROR_TAG.sub("", "\n".join(line[:_LONGEST_LINE] for line in shown)))


def one_line(text: str, *, limit: int = LINE_CHARS) -> str:
    """A text on one line, cut at a word's end to `limit` characters."""
    line = _SPACE.sub(" ", text).strip()
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[limit // 2 :] else cut).rstrip(" ,;:，；：、") + "…"


def normalise(text: str, *, limit: int = LINE_CHARS) -> str:
    """One line in which paths, numbers, hashes, ids, times, addresses, user names and secrets are placeholders.

    Words, error classes and codes (`E0432`, `TS2345`, `utf8`), module and command names stay, and so does the name
    of a file that is the same in every checkout (`package.json`). Normalising twice changes nothing more.

    Args:
        text: a line or a few.
        limit: most characters of the result.
    """
    line = one_line(unicodedata.normalize("NFC", readable(text)), limit=limit)
    for _ in range(4):
        again = one_line(_placeholders(line), limit=limit)
        if again == line:
            break
        line = again
    return line


def _placeholders(line: str) -> str:
    line = redact_secrets(line)
    line = _URL.sub(lambda found: f"{found[1].lower()}://{route(found[2])}", line)
    line = _PATH.sub(_path, line)
    line = _RELATIVE.sub(_path, line)
    for pattern, replacement in _REPLACED:
        line = pattern.sub(replacement, line)
    return _REPEATED.sub(r"\1", line)


def is_telling_file(name: str) -> bool:
    """Whether a file's name is the same in every checkout and so tells the fault: `package.json`, `.env`."""
    return "." in name and _TELLING_FILES.search(name) is not None


def _path(found: re.Match[str]) -> str:
    telling = _TELLING_FILES.search(found.group().rstrip("."))
    return telling[1] if telling else "<path>"


def route(address: str) -> str:
    """The host and the shape of the route of an address without its scheme: `api.example.com/users/:id`.

    The query goes out, and so do a port, an address of this machine or network, and segments that are ids.
    """
    found = _HOST.match(address)
    if found is None:
        return "<host>"
    host = "<host>" if _LOCAL.match(found[1]) or found[1] == "<host>" else found[1].lower()
    segments = [":id" if _SEGMENT_ID.match(one) else one for one in found[2].rstrip(".,").split("/") if one]
    return "/".join([host, *segments[:6]])
