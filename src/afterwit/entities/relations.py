"""Questions that go along a relation: "what does the owner of Atlas prefer?", 我妻子喜欢什么.

A relation is read from the question ("the owner of Atlas"), looked up in a memory that names both ends ("Atlas
is owned by Priya"), and the question is asked again with the other end in its place ("what does priya prefer?").
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from afterwit import text
from afterwit.entities.names import bare, is_about, named_in, names_of, terms_naming
from afterwit.records import KeyFilter, Memory, Standing, Status, Trust
from afterwit.storage import Reader
from afterwit.vocabulary import USER

#: Links that a question is followed along, other ends that are tried at each, memories looked at for each;
#: ways in all, readings of one question.
MAX_LINKS, MAX_ENDS, MAX_BRIDGES = 2, 2, 30
MAX_WAYS, MAX_READINGS = 4, 6
#: Longest value, in characters, that is taken for a name.
LONGEST_VALUE = 40

#: Words for one relation in both languages; a question with one of them is answered by a memory with any other.
_RELATIONS: tuple[str, ...] = (
    "owner owners own owns owned lead leads leader led head maintainer maintain maintains maintained manager manage "
    "manages managed responsible charge runs run 负责人 负责 主管 领导 维护者 维护 管理 组长 经理 主理人 所有者",
    "boss supervisor manager manages reports report 上司 老板 领导 汇报 主管",
    "author authors wrote written writes creator created founder founded inventor 作者 写的 创建 创始人 创立",
    "wife husband spouse partner married 妻子 老婆 太太 丈夫 老公 爱人 配偶 媳妇",
    "girlfriend boyfriend partner 女朋友 男朋友 女友 男友 对象",
    "son daughter child children kid 儿子 女儿 孩子",
    "mother mom mum mama 母亲 妈妈 妈",
    "father dad papa 父亲 爸爸 爸",
    "brother sister sibling 哥哥 弟弟 姐姐 妹妹",
    "friend friends 朋友 好友 闺蜜",
    "colleague coworker teammate 同事 队友 搭档",
    "teacher mentor tutor coach 老师 导师 教练",
    "doctor dentist physician 医生 牙医 大夫",
    "assistant secretary 助理 秘书",
    "roommate flatmate neighbour neighbor landlord 室友 邻居 房东",
    "pet dog cat 宠物 狗 猫",
    "employer company works work 公司 雇主 单位 就职 任职 工作",
    "customer client 客户 甲方",
    "vendor supplier provider 供应商 厂商",
    "reviewer reviews reviewed approver approves 审核人 评审人 审批人 审批",
    "editor ide 编辑器",
    "database db store 数据库",
    "hometown birthplace born 家乡 老家 出生地",
)
_FAMILIES: tuple[frozenset[str], ...] = tuple(frozenset(words.split()) for words in _RELATIONS)
#: What somebody does: no name for anybody, unless 的 makes it one.
_VERBS_ZH = frozenset("负责 维护 管理 汇报 写的 创建 创立 就职 任职 工作 审核 审批".split())
_CHINESE_WORDS = sorted(
    {word for family in _FAMILIES for word in family - _VERBS_ZH if not word.isascii()}, key=len, reverse=True
)
_ZH = "|".join(map(re.escape, _CHINESE_WORDS))
_WORD = r"[a-z0-9][\w.+#-]*"
_ARTICLE = re.compile(r"(?:(?:the|our|my|an?|project) |项目\s*)+")
#: Between a relation and whose it is, and the other way round.
_OF = re.compile(r" (?:of|for|behind) ")
_POSSESSIVE = re.compile(r"['’]s? |\s*的")
_MY = re.compile(rf"\bmy (?P<relation>{_WORD})")
_RELATION_ZH = re.compile(_ZH)
_WHO_DOES = re.compile(
    r"(?:\bwhoever|\banyone who|"
    r"(?:\bthe )?\b(?:person|people|one|engineer|colleague|team|guy|woman|man)(?: who| that)?) "
    r"(?:is |was )?(?P<relation>own|owns|owned|lead|leads|maintain|maintains|manage|manages|run|runs|wrote|created|"
    r"founded|responsible for|in charge of|reviews|approves) "
)
_WHO_DOES_ZH = re.compile(
    r"(?P<relation>负责|维护|管理)\s*(?:项目)?\s*(?P<of>[\u4e00-\u9fffa-z0-9_.+#-]{1,16}?)\s*(?:项目)?\s*的(?:那个|那位)?"
    r"(?:人|同事|工程师|团队)"
)
_HAN = re.compile(r"[\u4e00-\u9fff]{1,8}")
_USER_SAID = re.compile(r"\b(?:user|i|my)\b|用户|我")
_USER_WORDS = frozenset(("my", "the user", "user", "我", "用户"))


@dataclass(frozen=True)
class Way:
    """A question asked again at the other end of a relation."""

    #: the question with the name in place of the relation, folded
    query: str
    #: every name of the entity at the end
    names: tuple[str, ...]
    #: from the entity in the question to the one at the end, two or three names
    chain: tuple[str, ...]
    #: what answers it may rest on
    where: KeyFilter

    @property
    def links(self) -> int:
        """Number of links from the question, at least 1."""
        return len(self.chain) - 1


@dataclass(frozen=True)
class _Phrase:
    """The words of a question that name something by its relation to something else."""

    text: str
    #: folded name of the known end; "user" for the user
    of: str
    relation: str


def ways(reader: Reader, space: str, query: str, where: KeyFilter) -> list[Way]:
    """Ways to go on from a question along relations that it names; none for most questions.

    Only memories that pass the key filter, that an agent or user vouches for and that are not refuted are links.

    Args:
        reader: a store or a transaction.
        space: the tenant.
        query: the question.
        where: the key filter of the search.

    Returns:
        At most four ways, nearest first.
    """
    folded = text.fold(query)
    if not any(True for _ in _phrases(folded)):
        return []
    trusted = replace(where, min_trust=max(where.min_trust, Trust.AGENT))
    if where.known_at is None:
        trusted = replace(trusted, statuses=(Status.ACTIVE,))
    trusted = replace(trusted, without_standings=tuple({*where.without_standings, Standing.REFUTED}))
    graph = _Graph(reader, space, trusted)
    found = graph.next_ways(folded, ())
    for way in list(found):
        if way.links < MAX_LINKS:
            found += graph.next_ways(way.query, way.chain)
    return found[:MAX_WAYS]


def _phrases(folded: str) -> Iterator[_Phrase]:
    """Readings of the question's words as "the RELATION of SOMETHING", the tightest first: in "the
    boss of atlas's owner" that is "atlas's owner"."""
    yield from _doers(folded)
    for match in _POSSESSIVE.finditer(folded):
        for of, start in _endings(folded, match.start(), 4):
            for relation, end in _beginnings(folded, match.end(), 2):
                yield _Phrase(folded[start:end], of, relation)
    for match in _MY.finditer(folded):
        yield _Phrase(match.group(), "my", match["relation"])
    for match in _OF.finditer(folded):
        for relation, start in _endings(folded, match.start(), 2):
            for of, end in _beginnings(folded, match.end(), 4):
                yield _Phrase(folded[start:end], of, relation)
    for match in _RELATION_ZH.finditer(folded):
        for of, start in _endings(folded, len(folded[: match.start()].rstrip()), 4):
            yield _Phrase(folded[start : match.end()], of, match.group())


def _doers(folded: str) -> Iterator[_Phrase]:
    """ "whoever owns atlas", "the people responsible for atlas", 负责 atlas 的人."""
    for match in _WHO_DOES.finditer(folded):
        for of, end in _beginnings(folded, match.end(), 4):
            yield _Phrase(folded[match.start() : end], of, match["relation"].split(" ")[0])
    for match in _WHO_DOES_ZH.finditer(folded):
        yield _Phrase(match.group(), match["of"], match["relation"])


def _beginnings(folded: str, start: int, most: int) -> Iterator[tuple[str, int]]:
    """What stands from a place on, longest first, and where it ends: up to so many words, or eight CJK letters."""
    article = _ARTICLE.match(folded, start)
    start = article.end() if article else start
    words = re.compile(rf"{_WORD}(?: {_WORD}){{0,{most - 1}}}", re.ASCII).match(folded, start)
    if words:
        ends = [start + found.end() for found in re.finditer(r"\S+", words.group())]
        yield from ((folded[start:end], end) for end in reversed(ends))
        return
    run = _HAN.match(folded, start)
    for end in range(run.end() if run else start, start, -1):
        yield folded[start:end], end


def _endings(folded: str, end: int, most: int) -> Iterator[tuple[str, int]]:
    """What stands up to a place, longest first, and where it starts, an article before it included."""
    words = re.search(rf"{_WORD}(?: {_WORD}){{0,{most - 1}}}$", folded[:end], re.ASCII)
    if words:
        starts = [words.start() + found.start() for found in re.finditer(r"\S+", words.group())]
        for start in starts:
            article = re.search(r"(?:\b(?:the|our|my|project) |项目\s*)+$", folded[:start])
            yield folded[start:end], article.start() if article else start
        return
    run = re.search(r"[\u4e00-\u9fff]{1,8}$", folded[:end])
    for start in range(run.start() if run else end, end):
        yield folded[start:end], start


class _Graph:
    """The memories of one search as a graph: two entities are linked by a memory about both."""

    def __init__(self, reader: Reader, space: str, where: KeyFilter) -> None:
        self._reader, self._space, self._where = reader, space, where
        self._names = names_of(reader, space)
        self._known = self._names.by_word(reader.known_subjects(space))

    def next_ways(self, query: str, chain: tuple[str, ...]) -> list[Way]:
        """Ways along the first reading of the question that a memory bears out."""
        for phrase, of, family in self._readings(query):
            ends = self._ends(query, of, family or frozenset((phrase.relation,)))
            if ends:
                made = (self._way(query, phrase, end, chain or (of,)) for end in ends)
                return [way for way in made if way is not None]
        return []

    def _readings(self, query: str) -> list[tuple[_Phrase, str, frozenset[str]]]:
        """The likeliest readings, with whose relation it is and the words for it: known names and relations first."""
        found: dict[tuple[str, str], tuple[_Phrase, str, frozenset[str]]] = {}
        for phrase in _phrases(query):
            of = USER if phrase.of in _USER_WORDS else phrase.of
            family = _family(phrase.relation)
            if (family or of in self._known) and text.query_tokens(bare(of)):
                found.setdefault((of, phrase.relation), (phrase, of, family))

        def doubt(reading: tuple[_Phrase, str, frozenset[str]]) -> int:
            _, of, family = reading
            return 2 - bool(family) - (of == USER or of in self._known)

        return sorted(found.values(), key=doubt)[:MAX_READINGS]

    def _way(self, query: str, phrase: _Phrase, end: str, chain: tuple[str, ...]) -> Way | None:
        asked = query.replace(phrase.text, f" {bare(end)} ", 1)
        rest = set(text.query_tokens(asked)) - set(text.query_tokens(bare(end)))
        if not any(len(token) > 1 or token.isascii() for token in rest):
            # Nothing is asked about the other end: the link itself is the answer.
            return None
        return Way(" ".join(asked.split()), self._names.all_of(end), (*chain, bare(end)), self._where)

    def _ends(self, query: str, of: str, family: frozenset[str]) -> list[str]:
        """Entities that memories name beside `of` with a word of the relation, the best memory's first."""
        near = self._names.all_of(USER if of == USER else self._known.get(of, (of,))[0])
        tokens = text.query_tokens(" ".join((*map(bare, near), *family)))
        scored = self._reader.search_words(self._space, self._where, tokens, limit=MAX_BRIDGES)
        rows = self._reader.get(self._space, [item.id for item in scored])
        found: dict[str, None] = {}
        for row in rows.values():
            folded = text.fold(row.summary)
            if not (_is_of(row, folded, near) and _tells(folded, family)):
                continue
            for end in self._named_beside(row, folded):
                root = self._names.root(end)
                told = bare(end)
                if (
                    root not in near
                    and root != USER
                    and not text.mentions(query, told)
                    and not self._says(told, near, family)
                ):
                    found[root] = None
        return list(found)[:MAX_ENDS]

    @staticmethod
    def _says(told: str, near: Sequence[str], family: frozenset[str]) -> bool:
        """Whether what looks like a name only repeats the known end or the relation."""
        return _tells(told, family) or any(text.mentions(told, bare(name)) for name in near)

    def _named_beside(self, row: Memory, folded: str) -> Iterator[str]:
        if row.subject:
            yield row.subject
        yield from (self._known[word][0] for word in named_in(folded, self._known))
        value = str(row.structured.get("value") or "")
        if 1 < len(value) <= LONGEST_VALUE and not value.isdigit():
            yield text.fold(value)
        yield from terms_naming(row)


def _family(relation: str) -> frozenset[str]:
    return frozenset[str]().union(*(family for family in _FAMILIES if relation in family))


def _is_of(row: Memory, folded: str, near: Sequence[str]) -> bool:
    if USER in near and (row.subject == USER or _USER_SAID.search(folded)):
        return True
    return is_about(row, near)


def _tells(folded: str, family: frozenset[str]) -> bool:
    tokens = set(text.index_tokens(folded))
    return any(set(text.query_tokens(word)) <= tokens if word.isascii() else word in folded for word in family)
