"""What was so before: for a question that asks for it by words such as "previous" and 以前, and names no time.

Only what came before an answer is brought, along the links that say what replaced what, and what holds now stays
behind it. So a question is taken to ask for it only where its words leave little doubt: "what to run before a commit"
is about now, and "what did I say before" is about what was said.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from afterwit import rank, text
from afterwit.recall.answering import Hit, hit_tokens
from afterwit.recall.asking import Question, asks_current
from afterwit.records import LinkType, Memory, Status
from afterwit.storage import Reader
from afterwit.traits import Traits, traits_of
from afterwit.wanted import Term, terms_of

#: Memories that one answer may bring from before it, the nearest first, and links that lead to them.
_MOST, _FARTHEST = 3, 8
#: Characters up to which a text is one question; longer ones are read by no form.
_LONGEST = 400
#: Share of the words after "before" that what came later must have.
_NAMED = 0.5
_LITTLE = 0.5

_POLITE = re.compile(r"^(?:can|could|would|will) you (?:please )?(?:tell|show|remind|give) (?:me|us)\b", re.IGNORECASE)
#: Asks what is to be done, whenever.
_TO_DO = re.compile(
    r"\b(?:should|must|shall|can|could|may|might|needs?|have to|has to|how to|what to|how (?:do|does)|do (?:i|we)|"
    r"will|always|usually|normally|every|whenever)\b|"
    r"应该|应当|必须|需要|可以|能不能|能否|如何|每次|才能|该怎|该做|该先|先做|得先|(?<![主重想])要(?![求点员闻])|"
    r"怎么(?!.*的[?？ ]*$)",
    re.IGNORECASE,
)
_PAST_EN = re.compile(
    r"\b(?:did|didn't|was|were|had|led|ran|held|used)\b|(?<!\bis )(?<!\bare )(?<!\bbe )\b[a-z]{2,}ed\b", re.IGNORECASE
)
#: What was said, decided or met with once is not over for that.
_ONCE = re.compile(
    r"\b(?:say|said|tell|told|mention(?:ed)?|discuss(?:ed)?|talk(?:ed)?|ask(?:ed)?|agreed?|decided?|wrote|noted?|"
    r"record(?:ed)?|why|choose|chose|pick(?:ed)?|learn(?:ed|t)?|fix(?:ed)?|solved?|tr(?:y|ied)|see|seen|saw|met|happen(?:ed)?|fail(?:ed)?)\b|"
    r"说|提[到过及起]|讲|聊|讨论|告诉|问|约定|商量|决定|定[的了下]|遇到|碰到|解决|修复|踩|试|记[录下得]|发生|出现|失败|选|为什么|为何|为啥|出过|犯",
    re.IGNORECASE,
)
_PRIOR_EN = re.compile(
    r"\b(?:previous|former)\b(?! (?:to|days?|nights?|times?|sessions?|conversations?|chats?|messages?|meetings?|calls?|"
    r"discussions?|sprints?|turns?|questions?|answers?|steps?|tasks?|runs?|attempts?|pages?|lines?|commands?)\b)",
    re.IGNORECASE,
)
_PRIOR_PAST_EN = re.compile(
    r"\b(?:the|my|our|their|his|her|its|your|\w+'s) (?:old|original|earlier|prior)\b(?! to)", re.IGNORECASE
)
_FORMERLY_EN = re.compile(r"\b(?:previously|formerly|originally|initially|at first|in the past|back then)\b", re.I)
_USED_TO = re.compile(
    r"^(?!.*\b(?:is|are|was|were|be|been|being|gets?|got)\b.*\bused to\b).*\b(?:used to|did\b.*\buse to)\b",
    re.IGNORECASE,
)
_BEFORE_EN = re.compile(
    r"\b(?:before|prior to)\b(?: (?P<plain>that|this|then|now|the (?:change|switch|move|migration|upgrade|update)))?"
    r"\s*(?P<later>[^?.!,]*)",
    re.IGNORECASE,
)
_PRIOR_ZH = re.compile(
    r"(?:上一|前一)(?:个|任|份|家|位)(?!月|季|星期|礼拜|周|会话|对话|问题|任务|步骤|版本|小时|回合|阶段)|上任(?!务)|前任|"
    r"(?:以前|之前|原来|原先|原本|从前|先前)的(?!时候)|曾用|前(?:雇主|东家|公司|主管|负责人|老板)|"
    r"旧(?:地址|住址|端口|域名|号码|电话|邮箱|名字?|密码|值)"
)
_FORMERLY_ZH = re.compile(
    r"(?:原来|原先|原本|从前|曾经?(?=[住在是用任叫做当]|经)|早先|先前|当初|最初|过去|以往)(?!如此|的?时候)"
)
_BEFORE_ZH = re.compile(r"(?P<later>[^，,。；;？?]*?)\s*(?:(?P<ever>以前)|之前|此前)(?!的?时候)(?P<rest>.*)")
_SOMEBODY_ZH = re.compile(r"(?:^|用户|我们?|咱们?|您|你们?|[他她它]们?|[a-z0-9])的?$", re.IGNORECASE)
_BECAME_ZH = re.compile(r"[搬换改迁转切升]|加入|入职|取代|接替|替代|更新")
#: After these 之前 stands beside what was so, not behind something that is done.
_WAS_ZH = re.compile(r"\s*(?:一直|都|还)?(?:住|是(?!否|不是)|叫|由|姓|属于|负责|用的|用过|养)")
_WAS_EVER_ZH = re.compile(r"\s*(?:一直|都|还)?(?:住|是(?!否|不是)|叫|由|姓|属于|负责|用|养|谁|哪|什么|多少|几|在)")
#: A memory that says so itself is meant by the word, and not by its time.
_SAYS_SO = re.compile(
    r"\b(?:before|prior|previous(?:ly)?|former(?:ly)?|original(?:ly)?|used to)\b|以前|之前|此前|上一|前任|原来",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Before:
    """That a question asks for what was so before."""

    #: what came after it, as the question names it; "" = whatever holds now
    later: str = ""


def asks_before(query: str) -> Before | None:
    """Whether a question asks for what was so before, by words that name no time; None when it does not."""
    if len(query) > _LONGEST:
        return None
    plain = _POLITE.sub("", text.fold(query).strip())
    if _TO_DO.search(plain):
        return None
    if not plain.isascii() and re.search(r"[\u4e00-\u9fff]", plain):
        return _asked_in_chinese(plain)
    return _asked_in_english(plain)


def _asked_in_english(query: str) -> Before | None:
    past = _PAST_EN.search(query)
    if _PRIOR_EN.search(query) or (past and _PRIOR_PAST_EN.search(query)):
        return Before()
    if _USED_TO.search(query):
        return Before()
    found = _BEFORE_EN.search(query) if past else None
    if found is not None and found["later"].strip():
        return Before(found["later"].strip())
    if _ONCE.search(query):
        return None
    return Before() if found is not None or (past and _FORMERLY_EN.search(query)) else None


def _asked_in_chinese(query: str) -> Before | None:
    if _PRIOR_ZH.search(query):
        return Before()
    found = _BEFORE_ZH.search(query)
    if found is not None:
        later = found["later"].strip()
        if _BECAME_ZH.search(later):
            return Before(later)
        beside = _WAS_EVER_ZH if found["ever"] else _WAS_ZH
        if not _SOMEBODY_ZH.search(later) and not beside.match(found["rest"]):
            return Before(later) if not _ONCE.search(found["rest"]) else None
    said = found or _FORMERLY_ZH.search(query)
    return Before() if said is not None and not _ONCE.search(query) else None


def with_former(reader: Reader, space: str, question: Question, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, each behind what was so before it where the question asks for that; otherwise the hits as they are.

    Args:
        reader: a store or a transaction.
        space: the tenant.
        question: names no time.
        hits: what answers it now.
    """
    where = question.where
    is_asked = bool(hits) and not question.exhaustive and asks_current(where) and where.valid_at == question.now
    before = asks_before(question.query) if is_asked else None
    if before is None:
        return list(hits)
    past = replace(where, statuses=(Status.SUPERSEDED,), valid_at=None)
    taken = {hit.memory.id for hit in hits}
    ordered: list[Hit] = []
    for hit in hits:
        former = [old for old in _before(reader, space, hit.memory, before) if past.passes(old) and old.id not in taken]
        for place, old in enumerate(_over(former, question)[:_MOST], start=1):
            taken.add(old.id)
            ordered.append(Hit(old, hit.relevance, hit.score, why={"former": float(place), "relevance": hit.relevance}))
        ordered.append(hit)
    return ordered[: rank.within_budget([hit_tokens(hit) for hit in ordered], question.budget_tokens, question.k)]


def _over(former: Sequence[Memory], question: Question) -> list[Memory]:
    """Those that held once and do no more; what was corrected never did."""
    return [
        old
        for old in former
        if old.valid_to is not None
        and (old.valid_from or old.happened_at) < old.valid_to <= question.now
        and not _SAYS_SO.search(old.summary)
    ]


def _before(reader: Reader, space: str, memory: Memory, before: Before) -> Iterator[Memory]:
    """What a memory has replaced, the latest first, as far as it came before what the question names."""
    later = [memory]
    for _ in range(_FARTHEST):
        links = reader.links(space, [row.id for row in later])
        ids = [link.target_id for link in links if link.type is LinkType.SUPERSEDES]
        ends = {row.id: row for row in later}
        rows = [row for row in reader.get(space, ids).values() if row.superseded_by in ends]
        for row in rows:
            if _comes_before(row, ends[row.superseded_by], before):
                yield row
        later = rows
        if not later:
            return


def _comes_before(old: Memory, new: Memory, before: Before) -> bool:
    if not before.later or before.later == text.fold(old.subject.rpartition(":")[2]):
        return True
    terms = [term for term in terms_of(before.later) if term.weight > _LITTLE]
    share = _share(terms, traits_of(new))
    return share >= _NAMED and _share(terms, traits_of(old)) < share


def _share(terms: Sequence[Term], told: Traits) -> float:
    """How much of some words a text has, in either language, 0..1."""
    met = [term.weight for term in terms if term.tokens <= told.tokens or term.same & told.concepts]
    return sum(met) / (sum(term.weight for term in terms) or 1.0)
