"""Documents to passages: a Markdown or text file becomes short pieces, each of which makes sense alone. Pure."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from afterwit import text

#: Most tokens of a passage, its heading not counted.
MAX_PASSAGE_TOKENS = 200
#: Most tokens of the headings before it.
MAX_HEADING_TOKENS = 40
#: Items of a list that are shorter than this are joined with their neighbours, up to so many tokens.
_SHORT_ITEM_TOKENS = 12
_JOINED_ITEMS_TOKENS = 100


@dataclass(frozen=True)
class Passage:
    """A piece of a document."""

    #: the headings that it stands under, outermost first
    heading: tuple[str, ...]
    #: what it says, without marks of layout, except code
    body: str
    #: the lines that it was made from
    raw: str
    #: the part of it that is code, "" when there is none
    code: str = ""

    @property
    def summary(self) -> str:
        """The passage with its headings before it, so that it can be understood alone."""
        if not self.heading:
            return self.body
        path = text.truncate(" > ".join(self.heading), MAX_HEADING_TOKENS)
        return f"{path}: {self.body}"

    @property
    def prose(self) -> str:
        """What it says in words."""
        return self.body.replace(self.code, "").strip() if self.code else self.body

    @property
    def digest(self) -> str:
        """32 hexadecimal digits that equal passages share, wherever they stand in a file."""
        whole = "\x1f".join((*self.heading, self.body))
        return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def passages(content: str, *, is_markdown: bool) -> list[Passage]:
    """Cut a document into passages of at most 200 tokens, in its order.

    Headings go with what stands under them, an introducing sentence with the list or code after it, a table's column
    names with each of its rows. Front matter, comments, rules and pictures are left out.

    Args:
        content: the whole text.
        is_markdown: whether marks of layout mean something; plain text is only cut at blank lines.
    """
    plain = content.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not is_markdown:
        return [piece for block in _paragraphs(plain) for piece in _cut((), block, block)]
    found: list[Passage] = []
    blocks = _introduced(_blocks(_COMMENT.sub("", _FRONT_MATTER.sub("", plain)).split("\n")))
    for block in blocks:
        found += (piece for piece in _of_block(block) if _has_words(piece.body))
    return found


_AGENT_ADDRESSED = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|prior|above|earlier|all|any|your|system)\b.{0,30}"
    r"\b(?:instructions?|prompts?|rules?|guidelines?|context|messages?)\b"
    r"|\byou are (?:now|no longer)\b|\b(?:new|updated) (?:system )?instructions? ?:"
    r"|\bsystem prompt\b.{0,40}\b(?:reveal|print|show|leak|repeat|output)|\b(?:reveal|print|show|leak|repeat|output)\b"
    r".{0,40}\bsystem prompt\b"
    r"|\bdo(?:n't| not) (?:tell|inform|mention (?:this|it) to|reveal (?:this|it) to|ask) the (?:user|human|operator)\b"
    r"|\bwithout (?:telling|informing|asking) the (?:user|human|operator)\b"
    r"|<\s*/?\s*(?:system|assistant|im_start|im_end|instructions?)\b|\[/?INST\]|<\|"
    r"|(?:忽略|无视|忘记|不要理会|抛弃)(?:.{0,8})(?:之前|以上|上面|前面|此前|所有|一切|系统|原有)(?:.{0,8})(?:指令|指示|提示词?|规则|要求|设定|命令)"
    r"|(?:你|您)现在(?:是|不再是|扮演)|(?:不要|别|勿)(?:告诉|告知|通知|让|询问)(?:.{0,4})(?:用户|主人|使用者|操作者)"
    r"|(?:输出|泄露|打印|显示|重复)(?:.{0,8})系统提示词?",
    re.IGNORECASE | re.DOTALL,
)


def addresses_the_agent(words: str) -> bool:
    """Whether a text gives orders to the agent that reads it rather than tell what is so."""
    visible = "".join(sign for sign in words if unicodedata.category(sign) != "Cf")
    return _AGENT_ADDRESSED.search(unicodedata.normalize("NFKC", visible)) is not None


# --- Blocks ---------------------------------------------------------------------------------------

_FRONT_MATTER = re.compile(
    r"\A(?:---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)|\+\+\+[ \t]*\n.*?\n\+\+\+[ \t]*(?:\n|\Z))", re.DOTALL
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"[ \t>]*(```+|~~~+)")
_RULE = re.compile(r" {0,3}(?:[-*_][ \t]*){3,}$")
_ITEM = re.compile(r"([ \t]*)(?:([-*+•])|(\d{1,3}[.)、]))[ \t]+(?=\S)")
_TABLE_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_INTRODUCES = re.compile(r"[:：]\s*$")


@dataclass(frozen=True)
class _Block:
    #: "paragraph", "list", "code" or "table"
    sort: str
    heading: tuple[str, ...]
    lines: tuple[str, ...]
    #: the sentence before it that leads to it
    lead: str = ""


def _paragraphs(plain: str) -> list[str]:
    return [block.strip() for block in re.split(r"\n[ \t]*\n", plain) if block.strip()]


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    heading: list[tuple[int, str]] = []
    at = 0
    while at < len(lines):
        path = tuple(title for _, title in heading)
        level, title, after = _heading_at(lines, at)
        if level:
            heading = [item for item in heading if item[0] < level]
            if title:
                heading.append((level, title))
            at = after
        elif not lines[at].strip() or _RULE.match(lines[at]):
            at += 1
        else:
            sort, end = _extent(lines, at)
            yield _Block(sort, path, tuple(lines[at:end]))
            at = end


def _heading_at(lines: Sequence[str], at: int) -> tuple[int, str, int]:
    """Level, title and the line after a heading that begins here; level 0 when none does."""
    if found := _HEADING.match(lines[at]):
        return len(found.group(1)), _inline(found.group(2)), at + 1
    under = _UNDERLINE.match(lines[at + 1]) if at + 1 < len(lines) else None
    is_text = lines[at].strip() and not _ITEM.match(lines[at]) and "|" not in lines[at] and not _RULE.match(lines[at])
    if under and is_text:
        return (1 if under.group(1).startswith("=") else 2), _inline(lines[at]), at + 2
    return 0, "", at


def _extent(lines: Sequence[str], at: int) -> tuple[str, int]:
    """What begins at a line, and the line after it."""
    if fence := _FENCE.match(lines[at]):
        return "code", _end_of_code(lines, at, fence.group(1))
    if at + 1 < len(lines) and "|" in lines[at] and _TABLE_RULE.match(lines[at + 1]) and "|" in lines[at + 1]:
        return "table", next((i for i in range(at, len(lines)) if "|" not in lines[i]), len(lines))
    if _ITEM.match(lines[at]):
        return "list", _end_of_list(lines, at)
    if lines[at].startswith(("    ", "\t")):
        end = next((i for i in range(at, len(lines)) if not lines[i].startswith(("    ", "\t"))), len(lines))
        return "code", end
    end = at + 1
    while end < len(lines) and lines[end].strip() and not _begins_other(lines, end):
        end += 1
    return "paragraph", end


def _begins_other(lines: Sequence[str], at: int) -> bool:
    return bool(
        _FENCE.match(lines[at]) or _ITEM.match(lines[at]) or _HEADING.match(lines[at]) or _RULE.match(lines[at])
    )


def _end_of_code(lines: Sequence[str], at: int, fence: str) -> int:
    closing = re.compile(rf"[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$")
    return next((i + 1 for i in range(at + 1, len(lines)) if closing.match(lines[i])), len(lines))


def _end_of_list(lines: Sequence[str], at: int) -> int:
    """A list goes on over indented lines and single blank lines before another item or an indented line."""
    end = at
    while end < len(lines):
        if fence := _FENCE.match(lines[end]):
            if not lines[end].startswith((" ", "\t")):
                return end
            end = _end_of_code(lines, end, fence.group(1))
        elif lines[end].strip():
            if _HEADING.match(lines[end]) or _RULE.match(lines[end]):
                return end
            end += 1
        else:
            following = lines[end + 1] if end + 1 < len(lines) else ""
            if not (_ITEM.match(following) or (following.startswith(("  ", "\t")) and following.strip())):
                return end
            end += 1
    return end


def _introduced(blocks: Iterable[_Block]) -> Iterator[_Block]:
    """Join a sentence that leads to a list, table or code with what it leads to; code takes any paragraph before it."""
    waiting: _Block | None = None
    for block in blocks:
        if waiting is not None:
            leads = _INTRODUCES.search(waiting.lines[-1]) or block.sort == "code"
            same = waiting.heading == block.heading
            if same and leads and block.sort != "paragraph":
                block = _Block(block.sort, block.heading, block.lines, "\n".join(waiting.lines))  # noqa: PLW2901
            else:
                yield waiting
        waiting = block if block.sort == "paragraph" else None
        if waiting is None:
            yield block
    if waiting is not None:
        yield waiting


# --- Passages -------------------------------------------------------------------------------------


def _of_block(block: _Block) -> Iterator[Passage]:
    raw = "\n".join(block.lines)
    lead = _inline(block.lead)
    match block.sort:
        case "code":
            yield from _of_code(block, lead)
        case "table":
            yield from _of_table(block, lead)
        case "list":
            yield from _of_list(block, lead)
        case _:
            yield from _cut(block.heading, _inline(raw), raw)


def _cut(heading: tuple[str, ...], body: str, raw: str) -> Iterator[Passage]:
    """A text as one passage, or as several that end with a sentence."""
    if not _has_words(body):
        return
    pieces = _packed(_sentences(body), MAX_PASSAGE_TOKENS)
    for piece in pieces:
        yield Passage(heading, piece, raw if len(pieces) == 1 else piece)


def _sentences(body: str) -> list[str]:
    """Sentences, with the white space after each; one that is too long for a passage is cut at words."""
    found: list[str] = []
    rest = body
    for sentence in text.sentences(body):
        at = rest.find(sentence) + len(sentence)
        gap = re.match(r"\s*", rest[at:])
        whole, rest = rest[:at] + (gap.group() if gap else ""), rest[at + (gap.end() if gap else 0) :]
        found += [whole] if text.count_tokens(whole) <= MAX_PASSAGE_TOKENS else _broken(whole)
    return found


def _broken(long: str) -> list[str]:
    found: list[str] = []
    rest = long
    while text.count_tokens(rest) > MAX_PASSAGE_TOKENS:
        size = max(1, len(text.truncate(rest, MAX_PASSAGE_TOKENS).removesuffix("…")))
        found.append(rest[:size])
        rest = rest[size:]
    return [*found, rest] if rest.strip() else found


def _packed(parts: Sequence[str], most_tokens: int) -> list[str]:
    """Neighbours joined as long as they fit; each stripped of the white space around it."""
    found: list[str] = []
    sofar = ""
    for part in parts:
        if sofar and text.count_tokens(sofar + part) > most_tokens:
            found.append(sofar.strip())
            sofar = ""
        sofar += part
    return [*found, sofar.strip()] if sofar.strip() else found


def _of_code(block: _Block, lead: str) -> Iterator[Passage]:
    fenced = _FENCE.match(block.lines[0]) is not None
    mark = block.lines[0] if fenced else "```"
    inner = list(block.lines)
    if fenced:
        is_closed = len(inner) > 1 and _FENCE.match(inner[-1]) is not None
        inner = inner[1:-1] if is_closed else inner[1:]
    if not any(line.strip() for line in inner):
        yield from _cut(block.heading, lead, block.lead)
        return
    room = MAX_PASSAGE_TOKENS - 8
    intro = list(_cut(block.heading, lead, block.lead)) if lead else []
    first = intro.pop() if intro else None
    yield from intro
    parts = _packed_lines(inner, room - text.count_tokens(first.body) if first is not None else room, room)
    for place, part in enumerate(parts):
        code = "\n".join((mark, *part, "```"))
        before = f"{first.body}\n" if first is not None and place == 0 else ""
        original = f"{first.raw}\n" if first is not None and place == 0 else ""
        if part or before:
            yield Passage(
                block.heading, f"{before}{code}" if part else before.strip(), original + code, code if part else ""
            )


def _packed_lines(lines: Sequence[str], first_tokens: int, most_tokens: int) -> list[list[str]]:
    """Lines of code in groups that fit; the first one may have less room. Lines that are too long are cut."""
    groups: list[list[str]] = [[]]
    room = first_tokens
    for whole in lines:
        for line in _broken(whole) if text.count_tokens(whole) > most_tokens else [whole]:
            cost = text.count_tokens(line + "\n")
            if cost > room and (groups[-1] or len(groups) == 1):
                groups.append([])
                room = most_tokens
            groups[-1].append(line)
            room -= cost
    return groups


def _of_table(block: _Block, lead: str) -> Iterator[Passage]:
    names = _cells(block.lines[0])
    rows = [_row(names, _cells(line)) for line in block.lines[2:]]
    prefix = f"{lead} " if lead else ""
    room = max(40, MAX_PASSAGE_TOKENS - text.count_tokens(prefix))
    parts = [part for row in rows if row for part in (_broken(row) if text.count_tokens(row) > room else [row])]
    for body in _packed([f"{part}\n" for part in parts], room):
        yield from _cut(block.heading, prefix + body, prefix + body)


def _cells(line: str) -> list[str]:
    bare = line.strip().removeprefix("|")
    bare = bare.removesuffix("|") if not bare.endswith("\\|") else bare
    return [_inline(cell.replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", bare)]


def _row(names: Sequence[str], cells: Sequence[str]) -> str:
    """A row that needs no table: "Port: 8443; Protocol: TLS"."""
    told = [
        f"{names[place]}: {cell}" if place < len(names) and names[place] else cell
        for place, cell in enumerate(cells)
        if cell
    ]
    return "; ".join(told)


def _of_list(block: _Block, lead: str) -> Iterator[Passage]:
    """Steps stay together; other items stand alone when they say enough, each after the sentence that leads to them."""
    items = _items(block.lines)
    is_ordered = all(match.group(3) for item in items if (match := _ITEM.match(item[0])))
    prefix = f"{lead}\n" if lead else ""
    room = max(40, MAX_PASSAGE_TOKENS - text.count_tokens(prefix))
    told = [_item_text(item) for item in items]
    groups = _packed([f"{item}\n" for item in told], room) if is_ordered else _unordered(told, room)
    for group in groups:
        yield from _cut(block.heading, prefix + group, prefix + group)


def _items(lines: Sequence[str]) -> list[list[str]]:
    """Lines of each outermost item, with what is nested in it."""
    first = _ITEM.match(lines[0])
    depth = len(first.group(1).expandtabs(4)) if first else 0
    found: list[list[str]] = []
    for line in lines:
        match = _ITEM.match(line)
        if match and (not found or len(match.group(1).expandtabs(4)) <= depth + 1):
            found.append([line])
        elif found:
            found[-1].append(line)
    return found


def _item_text(lines: Sequence[str]) -> str:
    match = _ITEM.match(lines[0])
    number = f"{match.group(3)} " if match and match.group(3) else ""
    first = lines[0][match.end() :] if match else lines[0]
    if any(_FENCE.match(line) for line in lines[1:]):
        return number + "\n".join((first, *lines[1:])).strip()
    return number + _inline("\n".join((first, *(_ITEM.sub(r"\1- ", line) for line in lines[1:]))))


def _unordered(items: Sequence[str], room: int) -> list[str]:
    found: list[str] = []
    short: list[str] = []
    for item in items:
        if text.count_tokens(item) < _SHORT_ITEM_TOKENS:
            short.append(f"{item}\n")
        else:
            found += [*_packed(short, min(room, _JOINED_ITEMS_TOKENS)), item]
            short = []
    return found + _packed(short, min(room, _JOINED_ITEMS_TOKENS))


# --- Marks ----------------------------------------------------------------------------------------

_INLINE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\[!\[([^\]]*)\]\([^)]*\)\]\([^)]*\)"), ""),
    (re.compile(r"!\[([^\]]*)\]\([^)]*\)"), ""),
    (re.compile(r"\[([^\]]+)\]\(([^)\s]*)[^)]*\)"), r"\1"),
    (re.compile(r"\[([^\]]+)\]\[[^\]]*\]"), r"\1"),
    (re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>"), ""),
    (re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE), ""),
    (re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", re.DOTALL), r"\1"),
    # Around a single word these are more often part of it: __init__.
    (re.compile(r"(?<!\w)__(?=\S)(\w+\W.+?)(?<=\S)__(?!\w)", re.DOTALL), r"\1"),
    (re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<!\w)_(?=\S)([^_\n]+?)(?<=\S)_(?!\w)"), r"\1"),
    (re.compile(r"~~(.+?)~~", re.DOTALL), r"\1"),
)
_CODE_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)


def _inline(marked: str) -> str:
    """The words of a text without marks of layout; what stands in code is left as it is."""
    parts: list[str] = []
    last = 0
    for span in _CODE_SPAN.finditer(marked):
        parts += [_unmarked(marked[last : span.start()]), span.group()]
        last = span.end()
    joined = "".join([*parts, _unmarked(marked[last:])])
    return _unwrapped(joined).strip()


def _unmarked(marked: str) -> str:
    for pattern, plain in _INLINE:
        marked = pattern.sub(plain, marked)
    return marked


def _unwrapped(lines: str) -> str:
    """Lines of a paragraph as one line; nothing is put between Chinese characters."""
    found = [line.strip() for line in lines.split("\n")]
    joined = found[0] if found else ""
    for before, line in pairwise(found):
        is_item = _ITEM.match(line) is not None
        wide = (
            bool(before and line)
            and unicodedata.east_asian_width(before[-1]) in "WF"
            and (unicodedata.east_asian_width(line[0]) in "WF")
        )
        joined += ("\n" if is_item else "" if wide else " ") + line
    return joined


def _has_words(body: str) -> bool:
    return any(sign.isalnum() for sign in body)
