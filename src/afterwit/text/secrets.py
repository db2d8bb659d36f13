"""Secrets out of text: keys, tokens, passwords. By their form alone; no guessing from randomness."""

import re

#: What stands where a secret stood.
REDACTED = "[secret]"

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]{0,40}-----|\Z)", re.DOTALL
)
#: Tokens whose issuer gave them a prefix, and JSON web tokens.
_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    r"sk-[A-Za-z0-9_-]{16,}|(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9]{16,}|"
    r"gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{16,}|"
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|LTAI[A-Za-z0-9]{12,}|"
    r"AKID[A-Za-z0-9]{13,}|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}|"
    r"npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}|hf_[A-Za-z0-9]{20,}|gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,}|"
    r"dckr_pat_[A-Za-z0-9_-]{20,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{20,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|"
    r"tvly-[A-Za-z0-9-]{16,}|pplx-[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{30,}|dop_v1_[a-f0-9]{40,}|"
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"
    r")"
)
_USERINFO = re.compile(r"(?<=://)[^\s/@:'\"<>]{0,80}:[^\s/@'\"<>]{1,200}(?=@)")
_AUTHORIZATION = re.compile(
    r"(?i)\b((?:proxy-)?authorization['\"]?\s{0,3}[:=]\s{0,3}['\"]?(?:bearer|basic|token|digest|apikey)\s{1,3}|bearer\s{1,3})"
    r"(?![<$\[{])([A-Za-z0-9._~+/=-]{8,})"
)
_NAMED = re.compile(
    r"(?i)pass|pwd|secret|key|credential|token|bearer|authorization|curl|mysql|mariadb|密码|口令|密钥|令牌|私钥"
)
_NAME = (
    r"[A-Za-z0-9_.-]{0,40}(?:passw(?:or)?d|passwd|passphrase|pwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|"
    r"auth[_-]?key|account[_-]?key|credential|token)(?:_?\d{1,4}|_value)?"
)
#: NAME=value as in a shell, a URL or a settings file; the value may be quoted.
_ASSIGNED = re.compile(
    rf"(?i)(?<![A-Za-z0-9_.$-])({_NAME}['\"]?\s?=\s?)(\"[^\"\n]{{1,300}}\"|'[^'\n]{{1,300}}'|[^\s'\"&;,|<>()]{{3,300}})"
)
#: "name": "value" and name: value as in JSON, YAML and headers.
_KEYED = re.compile(
    rf"(?i)(?<![A-Za-z0-9_.$-])({_NAME}['\"]?\s{{0,3}}:\s{{0,3}})(\"[^\"\n]{{1,300}}\"|'[^'\n]{{1,300}}'|[^\s'\",;|<>(){{}}\[\]]{{6,300}})"
)
_OPTION = re.compile(
    rf"(?i)(?<!\S)(--?{_NAME}\s{{1,3}})(\"[^\"\n]{{1,300}}\"|'[^'\n]{{1,300}}'|[^\s'\"-][^\s'\"]{{2,300}})"
)
_CURL_USER = re.compile(r"(\bcurl\b[^\n|;&]{0,300}?\s(?:-u|--user)\s{0,3}['\"]?[^\s:'\"]{1,80}:)([^\s'\"]{1,200})")
_MYSQL_PASSWORD = re.compile(
    r"(\b(?:mysql|mysqldump|mariadb)\b[^\n|;&]{0,200}?\s-p)([^\s'\"]{1,100}|'[^'\n]{1,100}'|\"[^\"\n]{1,100}\")"
)
_CHINESE = re.compile(
    r"((?:密码|口令|密钥|令牌|私钥)\s{0,2}(?:是|为|[:：=])\s{0,2})([A-Za-z0-9!@#$%^&*._~+/=-]{4,200})"
)
#: What stands for a value without being one: references, placeholders, types, words of code.
_REFERENCE = re.compile(
    r"(?i)^['\"]?(?:\$|<|\{|[./~]|\[secret\]|%\w+%|\*{3,}|x{3,}|\.{3}|your[_-]|changeme|example|placeholder|none\b|null\b|true\b|"
    r"false\b|undefined\b|str(?:ing)?\b|int\b|bytes\b|optional\b|any\b|os\.|process\.|env\.|self\.|config\.|settings\.|"
    r"get|read|load|required|missing|invalid|expired|not\b|is\b)"
)


def redact_secrets(text: str) -> str:
    """The text with `[secret]` in place of keys, tokens, passwords and private keys.

    Recognises them by what they say of themselves: an issuer's prefix, a PEM block, a JSON web token, the userinfo of
    a URL, an Authorization header, and the value that is given to a name such as `password` or `API_KEY`, in English
    or Chinese. Numbers, hashes and identifiers without such a name stay. Redacting twice changes nothing more.
    """
    if "PRIVATE KEY" in text:
        text = _PRIVATE_KEY.sub(REDACTED, text)
    text = _PREFIXED.sub(REDACTED, text)
    if "://" in text:
        text = _USERINFO.sub(REDACTED, text)
    if not _NAMED.search(text):  # most outputs name none, and the patterns below look at every word
        return text
    text = _AUTHORIZATION.sub(rf"\g<1>{REDACTED}", text)
    for pattern in (_CURL_USER, _MYSQL_PASSWORD, _ASSIGNED, _OPTION, _CHINESE):
        text = pattern.sub(_redacted, text)
    return _KEYED.sub(_redacted_when_secret, text)


def _redacted(found: re.Match[str]) -> str:
    value = found[2]
    if _REFERENCE.match(value):
        return found.group()
    quote = value[0] if value[0] in "'\"" and value[-1] == value[0] else ""
    return f"{found[1]}{quote}{REDACTED}{quote}"


def _redacted_when_secret(found: re.Match[str]) -> str:
    """After a colon prose follows as often as a secret: an unquoted word without digit or sign is prose."""
    value = found[2]
    if value[0] not in "'\"" and not re.search(r"\d|[^\w\s]", value):
        return found.group()
    return _redacted(found)
