"""What the word index holds and is asked for: folded words, CJK pairs, identifiers whole and in parts."""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import pairwise
from typing import Any

#: Letters of scripts written without spaces between words; indexed as overlapping pairs.
CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f"
)
#: Longest token; longer ones are cut to this many characters, in rows and queries alike.
MAX_TOKEN = 256

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WIDE_STOP = re.compile("[，。；：！？、（）【】《》「」『』“”‘…·—]")
#: Those that would become part of a word.
_WIDE_JOINT = re.compile("[：’…]")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])['’](?:s\b)?(?=\w|\b|$)")
# Runs of ASCII first, which need no look ahead: a third of the time; a seventh where there is nothing else.
_CHUNK = re.compile(rf"[{CJK}]+|(?:[a-zA-Z0-9._\-/:@#+$%&~\\]+|(?![{CJK}])[^\W_])+")
_ASCII_CHUNK = re.compile(r"[a-zA-Z0-9._\-/:@#+$%&~\\]+")
_IS_CJK = re.compile(f"[{CJK}]")
_FIRST_CJK = CJK[0]
_PIECE = re.compile(r"[/\\:@]+")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+(?:[-+._]?[a-z0-9]+(?:[.\-][a-z0-9]+)*)?", re.IGNORECASE)
_HEX = re.compile(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}", re.IGNORECASE)
_MARKS = re.compile(r"[._\-#+$%&~]+")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

STOP_EN = frozenset(
    "a about am an and any are as at be been being but by can could did do does doing for from had has have having he "
    "her here hers him his how i if in into is it its itself let me might mine must my of on or our ours shall she "
    "should so some than that the their theirs them then there these they this those to too us was we were what when "
    "where which while who whom whose why will with would you your yours please tell know does dont doesnt didnt isnt "
    "arent wasnt im ive youre whats hows wheres whos id ill lets".split()
)
_STOP_ZH = (
    "什么时候 为什么 是什么 叫什么 做什么 干什么 什么样 怎么样 怎么办 有没有 是不是 能不能 会不会 要不要 "
    "可不可以 多少 几点 哪个 哪些 哪里 哪儿 哪位 哪种 什么 怎么 怎样 如何 请问 告诉 知道 一下 关于 "
    "的话 还是 或者 以及 因为 所以 但是 如果 我们 你们 他们 她们 它们 自己 这个 那个 这些 那些 这里 "
    "那里 可以 应该 现在 的 了 吗 呢 吧 啊 呀 嘛 是 在 我 你 您 他 她 它 这 那 哪 谁 有 和 "
    "与 就 都 也 很 请 把 被 给 对"
).split()
_WHOLE_ZH = (
    "目的 的确 的士 打的 了解 为了 除了 了不起 受不了 在线 存在 实在 内在 潜在 正在 在职 在家 所在 "
    "是非 于是 自我 我国 他人 其他 吉他 你好 您好 那么 有效 有限 没有 所有 拥有 有关 有用 有趣 私有 "
    "持有 占有 具有 含有 有机 有声 有色 和平 和谐 温和 饱和 总和 和解 与会 参与 赋予 成就 就业 就绪 "
    "就医 就诊 就近 首都 都市 成都 京都 也许 请求 申请 邀请 请假 请客 聘请 把握 把手 把关 被动 被子 "
    "棉被 给予 供给 发给 对象 对比 对话 对齐 对应 对接 反对 针对 绝对 相对 对账 配对 校对 核对 对方 "
    "面对 对外 对内 对手 对照 对称 对数 应对 比对 派对 对策 对立 对联 很久 呢子 也门 那霸 哪吒 有赞 "
    "有道 有氧 有线 有偿 国有 特有 享有 和服 和田 和牛 柔和 共和 中和 缓和 嘛呢"
).split()
_ZH_PARTS = re.compile(f"({'|'.join(_WHOLE_ZH)})|{'|'.join(_STOP_ZH)}")


@lru_cache(maxsize=1)
def _simplifier() -> Callable[[str], str]:
    opencc: Any = import_module("opencc")  # 16 ms, needed by Chinese text only
    return opencc.OpenCC("t2s").convert


@lru_cache(maxsize=1)
def _stemmer() -> tuple[Any, threading.Lock]:
    snowball: Any = import_module("Stemmer")  # a compiled library, needed by English text only
    return snowball.Stemmer("english", 0), threading.Lock()


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """Stem of a folded word (Snowball English); other scripts come back unchanged."""
    stemmer, lock = _stemmer()
    with lock:  # the compiled stemmer keeps state and may not be shared between threads at once
        return stemmer.stemWord(word)


def plain(text: str) -> str:
    """NFKC and simplified Chinese, case kept, lone surrogates blanked."""
    return text if text.isascii() else _kept_plain(text)


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", _SURROGATE.sub(" ", text))
    return _simplifier()(text) if _HAN.search(text) else text


#: Asked in turn for the folded form of a text, its language and its hard terms.
_kept_plain = lru_cache(maxsize=256)(_plain)


def fold(text: str) -> str:
    """Make two spellings of the same words equal, for search and comparison only.

    Full-width forms become plain (NFKC), case is folded, traditional Chinese becomes simplified, and a lone
    surrogate becomes a space. Never store the result in place of the text.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", plain(text).casefold())


def index_tokens(text: str) -> list[str]:
    """Tokens under which a row is found, in order, repeats kept.

    English words are stemmed. Chinese, Japanese and Korean runs give every character and every pair of neighbours,
    so that words of one and two characters are found without spaces. An identifier, path, version or address gives
    itself whole and its parts.

    Returns:
        Folded tokens without white space or quotes, each of 1 to `MAX_TOKEN` letters, digits or `._-/:@#+$%&~\\`.
    """
    found: list[str] = []
    for chunk in _chunks(text):
        if chunk[0] >= _FIRST_CJK and _IS_CJK.match(chunk):
            found.extend(chunk)
            found.extend(map("".join, pairwise(chunk)))
        else:
            found.extend(_latin_tokens(chunk))
    return found


def query_tokens(text: str) -> list[str]:
    """Tokens to look for, each once, in order; stop and question words are left out.

    Chinese runs are cut at stop words and give pairs; a single character left between two cuts is kept as it is.
    When only stop words were asked, they are what is looked for.
    """
    kept, dropped = query_runs(text)
    return list(
        dict.fromkeys(token for run, is_cjk in kept or dropped for token in (_pairs(run) if is_cjk else (run,)))
    )


def query_runs(text: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """What to look for, in order: English tokens and runs of CJK letters, each with whether it is one of those.

    Returns:
        What is left without stop and question words, and what was left out with them; Chinese runs stand whole
        in the second.
    """
    kept: list[tuple[str, bool]] = []
    dropped: list[tuple[str, bool]] = []
    mixed = text.upper() != text  # then IT and US in capitals are names
    for chunk in _chunks(text):
        if _IS_CJK.match(chunk):
            kept.extend((run, True) for run in _content_runs(chunk))
            dropped.append((chunk, True))
        else:
            stop = chunk.casefold() in STOP_EN and not (mixed and chunk.isupper() and len(chunk) > 1)
            (dropped if stop else kept).extend((token, False) for token in _latin_tokens(chunk))
    return kept, dropped


def _chunks(text: str) -> list[str]:
    """Runs of CJK letters and of everything that can be part of a word or identifier, simplified, case kept."""
    is_ascii = text.isascii()
    if not is_ascii:
        # Most need no text of their own.
        text = _plain(_WIDE_STOP.sub(" ", text)) if _WIDE_JOINT.search(text) else plain(text)
    if "'" in text or "’" in text:
        text = _APOSTROPHE.sub("", text)
    return (_ASCII_CHUNK if is_ascii else _CHUNK).findall(text)


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def _content_runs(run: str) -> list[str]:
    """What a Chinese query run is about: the run cut at stop words, but not inside words that contain one."""
    marked = _ZH_PARTS.sub(lambda found: found.group(1) or " ", run)
    return marked.split()


@lru_cache(maxsize=16_384)
def _latin_tokens(chunk: str) -> tuple[str, ...]:
    """Tokens of one run without CJK letters: the word's stem, or the identifier whole and in parts."""
    chunk = trim(chunk)
    if not chunk:
        return ()
    if chunk.isalpha() and not _CAMEL.search(chunk):
        return (_word(chunk),)
    return tuple(dict.fromkeys(token for token in _identifier_tokens(chunk) if token))


def trim(chunk: str) -> str:
    """Take sentence punctuation off both ends, but leave what belongs: `.NET`, `C++`, `C#`, `--flag`, `$HOME`, `5%`."""
    if chunk.isalnum():
        return chunk
    chunk = chunk.rstrip("._-/:@$&~\\" if not chunk.startswith("__") else ".-/:@$&~\\")
    start = 0
    while start < len(chunk) and not chunk[start].isalnum():
        start += 1
    if start == len(chunk):
        return ""
    lead = chunk[:start]
    kept = re.search(r"(?:--?|(?:\.\.?|~)?/|\$|@|#|_+|\\\\)?\.?$", lead[-4:])
    return (kept.group() if kept and not lead.endswith("...") else "") + chunk[start:].rstrip("&")


def _identifier_tokens(chunk: str) -> Iterator[str]:
    whole = chunk.casefold()
    yield whole[:MAX_TOKEN]
    if chunk.isalnum():
        # E4711 or getUser: none of what marks tell.
        if not _HEX.fullmatch(chunk):
            yield from _part_words(chunk)
        return
    yield _edge(whole)
    if _is_version(chunk):
        yield from _version_prefixes(whole)
        return
    if _HEX.fullmatch(chunk):
        return
    for piece in _PIECE.split(chunk):
        bare = piece.strip("._-#+$%&~")
        if not bare:
            continue
        yield _edge(piece.casefold())
        if _is_version(bare):
            yield from _version_prefixes(bare.casefold())
        elif not _HEX.fullmatch(bare):
            yield from _part_words(bare)


def _is_version(chunk: str) -> bool:
    return len(chunk) <= 64 and _VERSION.fullmatch(chunk) is not None


def _edge(folded: str) -> str:
    """The identifier without the marks around it: `--flag-name` -> `flag-name`; C++ and C# stay."""
    bare = folded.strip("._-/:@$&~\\%").lstrip("#+")
    return bare[:MAX_TOKEN] if len(bare) > 1 or bare.isdigit() else ""


def _version_prefixes(version: str) -> Iterator[str]:
    """`v1.2.3` is also found as `1.2.3` and `1.2`, never as a bare 1."""
    bare = version.removeprefix("v")
    yield bare[:MAX_TOKEN]
    numbers = re.match(r"\d+(?:\.\d+)+", bare)
    parts = numbers.group().split(".")[:4] if numbers else []
    for size in range(len(parts), 1, -1):
        yield ".".join(parts[:size])[:MAX_TOKEN]


def _part_words(piece: str) -> Iterator[str]:
    for part in _MARKS.split(piece):
        words = [word for run in _WORD.findall(part) for word in _CAMEL.split(run)]
        if len(words) > 1 and len(part) > 1:
            yield part.casefold()[:MAX_TOKEN]
        for word in words:
            if word.isdigit():
                yield word[:MAX_TOKEN]
            elif len(word) > 1:
                yield _word(word)


def _word(word: str) -> str:
    return _stem(unicodedata.normalize("NFKC", word.casefold())[:MAX_TOKEN])
