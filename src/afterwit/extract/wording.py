"""Words around a statement: what leads in, whom it is about, and how it reads in the third person."""

import re
import unicodedata

from afterwit.extract.doubt import reports_user
from afterwit.vocabulary import USER, fold_subject

_LEAD_EN = re.compile(
    r"(?:(?:no|yes|yeah|yep|ok|okay|well|so|and|but|also|actually|btw|by the way|fyi|note|remember|please "
    r"note|please remember|for the record|"
    r"hey|hi|hello|thanks|thank you|great|sure|anyway|oh|ah|right|sorry|wait|hmm|plus|oops|one more thing|"
    r"just so you know|correction|"
    r"important|heads up|first|second|finally|to be clear|honestly|in fact|update|wrong|that's wrong|that "
    r"is wrong|not quite)(?:\s*[,.!:;]+\s*|\s+-+\s+|\s*—\s*)"
    r"|(?:(?:please )?(?:remember|note|keep in mind|be aware|bear in mind|know)(?: that)? (?=i\b|we\b|"
    r"my\b|our\b|the\b))"
    r"|(?:(?:the )?user (?:has |just |explicitly |clearly |also )*(?:said|stated|says|states|mentioned|"
    r"confirmed|told me|told us|told the agent)(?: that|:)?\s+)"
    r"|(?:(?:the )?user (?:has |explicitly |clearly |also )*(?:asked|asks|requested|requests|insisted|told)"
    r"(?: (?:me|us|you|the agent|the assistant))? to )"
    r"|(?:(?:and|but|so|also|because) )"
    r"|(?:i (?:already |just )?(?:told you|said|mentioned)(?: that|:)? (?=i\b|we\b|my\b|our\b))"
    r"|(?:(?:i think|i believe|i guess|as you know|like i said|as i said|for me|personally|in my opinion|imo),? )"
    r"|(?:(?:since|in|as of|starting|last|this|on|these days|nowadays|right now|currently|today|yesterday|"
    r"recently)(?: [\w'-]+){0,3}, )"
    r"|(?:for (?:this|the|our|my|all|every) (?:[\w-]+ ){1,3}?, ?)|(?:for (?:this|the|our|my|all|every) "
    r"[\w-]+(?: [\w-]+)?, ))+",
    re.IGNORECASE,
)
_LEAD_ZH = re.compile(
    r"(?:(?:嗯+|哦|噢|啊|哎|唉|对了?|另外|还有|顺便(?:说|提)一[下句]|顺便|那个|好的?|好吧|行|不对|不是|不|"
    r"错了?|你(?:弄|搞|说|记)错了|搞错了|其实|实际上|说实话|坦白说|"
    r"请?记住|请?记一下|请?注意|提醒一下|补充(?:一下|一点)?|你知道吗|告诉你|跟你说|我跟你说|我说过|"
    r"我之前说过|谢谢(?:你)?|再说一遍|更正(?:一下)?|纠正(?:一下)?|"
    r"哈喽|你好|您好|总之|最后|首先|第[一二三四五]|没事|没错|是的|收到|重要|备注|说明一下|简单说|总的来说|"
    r"用户(?:明确|曾|刚才|之前|也|已|已经|再次|多次|反复|特别)*(?:说|表示|提到|告诉我|强调|指出|确认|声明)"
    r")(?:过|了|道)?[，,。.：:！!；;、\s]+"
    r"|用户(?:明确|曾|刚才|之前|也|已|已经|再次|多次|反复|特别)*(?:表示|提到过?|告诉我|强调|指出|声明|"
    r"说过?|要求|希望(?=助手|所有|代码|回答|回复|用))"
    r"|(?:但是?|而且|不过|所以|因此|并且|然后|另外|还有|其实|说实话|说真的|(?:请|帮我)?记住|(?:请|"
    r"帮我)?记一下|对了|现在开始)(?=我|用户|咱|以后|别|不要|请|项目|公司|下次|这个|所有|接口)"
    r"|(?:我觉得|我认为|个人觉得|我感觉|据我所知)(?=我|我们|公司)"
    r"|(?:\d{4}年)?(?:\d{1,2}月)?(?:\d{1,2}[日号])?(?:起|开始|以来|，|,)(?=我|用户|项目|公司)"
    r"|(?:从|自)?(?:去年|今年|上个?月|上周|昨天|今天|最近|这个?月|前年|"
    r"\d{4}年(?:\d{1,2}月(?:\d{1,2}[日号])?)?)(?:起|开始|以来)?[，,]?(?=我|用户|项目|公司))+"
)
_CORRECTS = re.compile(
    r"(?:no|wrong|actually|correction|sorry|wait|not quite|that's wrong|that is wrong|oops)\b\s*[,.!:;—-]"
    r"|(?:不对|不是|不|错了?|你?(?:弄|搞|说|记)错了|更正(?:一下)?|纠正(?:一下)?)[，,。.：:！!；;、\s]",
    re.IGNORECASE,
)
_PROJECT_EN = re.compile(r"\b[Pp]roject ([A-Z][\w-]*|[a-z][\w-]*[-_][\w-]+)|\b(?:[Tt]he )?([A-Z][\w-]+) project\b")
_PROJECT_ZH = re.compile(
    r"项目\s*[“\"「]?([A-Za-z][\w-]*)|([A-Za-z][\w-]*)[”\"」]?\s*项目|([\u4e00-\u9fff]{2,4})项目(?=的|用|"
    r"使用|采用|改|截止|预算|要|上线)"
)
_NOT_PROJECTS = frozenset(
    "the our my this that new old whole open side pet python go java 我们 这个 那个 该 本 整个 新 开源 其他 所有 每个 "
    "公司 当前 我的 大家 咱们".split()
)
_SELF = re.compile(
    r"(?:i|we|my|our|me|the user|this user|user|the user's|user's|我们?的?|咱们?|本人|用户|该用户)$", re.IGNORECASE
)
_OF_SELF = re.compile(
    r"(?:my|our|the user's|user's)\s+|(?:我们?|用户|该用户)(?:的一个|的|那个|有个|家)?", re.IGNORECASE
)
#: Relatives and roles of whom one usually has several: no slot for values.
_SEVERAL = re.compile(
    r"(?:friend|colleague|coworker|neighbou?r|client|roommate)s?$|(?:同事|朋友|同学|室友|客户|邻居|下属|"
    r"孩子)$",
    re.IGNORECASE,
)
_TEAM_WORDS = re.compile(
    r"(?:team|company|app|service|backend|front-?end|api|codebase|repo|repository|site|website|server|"
    r"cluster|stack|pipeline|infrastructure|infra|"
    r"product|production|prod|staging|ci|deployment|system|worker|database|monorepo|project|everyone)$"
    r"|公司|团队|小组|部门|项目|产品|系统|服务|平台|后端|前端|服务端|客户端|接口|网站|生产环境|测试环境|"
    r"集群|仓库|数据库|缓存|部署|构建|大家",
    re.IGNORECASE,
)
_THEY = re.compile(r"^(?:they are|they're|they|he|she)\b", re.IGNORECASE)
_THEIR = re.compile(r"^(?:their|his|her)\b", re.IGNORECASE)
_HE_ZH = re.compile("(?:他|她|自己|我)(?!们)")
_VERB_ZH = re.compile("不|没|更|最|喜欢|偏|讨厌|住|搬|对[^了，]{1,12}过敏|想|爱|正在|现在|已经|目前")
_HEDGE = re.compile(
    r"\b(?:seems? to|appears? to|probably|apparently|likely|perhaps|maybe|presumably) |(?:可能|似乎|好像|"
    r"看起来|看来|大概|或许|也许|应该是?)(?=[^，,。]*$)",
    re.IGNORECASE,
)
_PERSON = re.compile(r"[A-Z][a-z]+(?: (?:[A-Z]\.|[A-Z][a-z]+))?|[\u4e00-\u9fff]{2,4}")


def without_lead(sentence: str) -> str:
    """The sentence without words that only lead in: "No, ", "btw ", 对了，, 用户说."""
    shorter = sentence[match.end() :] if (match := _LEAD_EN.match(sentence)) else sentence
    shorter = shorter[match.end() :] if (match := _LEAD_ZH.match(shorter)) else shorter
    return shorter.lstrip() or sentence


def plainly(sentence: str) -> str:
    """The statement without lead words and hedges, the user named where it is reported of the user: what forms fit.

    "User said they seem to prefer Vim" -> "user prefer Vim", 用户明确表示他可能不吃辣 -> 用户不吃辣.
    """
    core = without_lead(sentence)
    if core != sentence and reports_user(sentence):
        core = _THEIR.sub("user's", _THEY.sub(_user_for, core, count=1), count=1)
        core = _HE_ZH.sub("用户", core, count=1) if _HE_ZH.match(core) else core
        core = f"用户{core}" if _VERB_ZH.match(core) else core
    return _HEDGE.sub("", core)


def _user_for(pronoun: re.Match[str]) -> str:
    return "user is" if "re" in pronoun.group().lower() else "user"


def corrects(sentence: str) -> bool:
    """Whether it begins by rejecting what was said before: "No, ", 不对，."""
    return _CORRECTS.match(sentence) is not None


def subject_of(who: str, sentence: str) -> str:
    """Whom a statement is about, folded: "user", a person's name, a relative, "project:NAME" or "" when unsure.

    Args:
        who: the words that stand as the statement's subject; "" when there are none.
        sentence: the whole statement, in which a project may be named.
    """
    project = _project_in(sentence)
    if project:
        return project
    who = re.sub(r"(?:'s|’s|的)$", "", who.strip())
    if not who:
        return ""
    if _SELF.match(who):
        return USER
    if (relation := _OF_SELF.match(who)) and relation.end() < len(who):
        other = who[relation.end() :]
        if _SEVERAL.search(other):
            return ""
        if _TEAM_WORDS.search(other):
            return USER
        return fold_subject(f"user's {other}" if other.isascii() else f"用户的{other}")
    if _TEAM_WORDS.search(who):
        return ""
    return fold_subject(who) if _PERSON.fullmatch(who) else ""


def _project_in(sentence: str) -> str:
    for pattern in (_PROJECT_EN, _PROJECT_ZH):
        for match in pattern.finditer(sentence):
            name = next(group for group in match.groups() if group)
            if name.casefold() not in _NOT_PROJECTS:
                return f"project:{unicodedata.normalize('NFKC', name).casefold()}"
    return ""


# --- Third person ---------------------------------------------------------------------------------

_AUXILIARIES = {
    "am": "is",
    "'m": "is",
    "have": "has",
    "'ve": "has",
    "do": "does",
    "don't": "does not",
    "didn't": "did not",
    "haven't": "has not",
    "'ll": "will",
    "'d": "would",
    "can't": "cannot",
    "won't": "will not",
}
#: Words that stay as they are after "User".
_SAME = frozenset(
    "was can cannot will had did must should would could may moved lived worked joined started switched got chose "
    "decided went became picked left turned grew studied graduated changed upgraded migrated settled opted selected "
    "tried learned bought adopted stopped made found met quit spent built wrote ran took gave told set".split()
)
_ADVERBS = frozenset(
    "really usually always never generally currently now just still also mostly actually recently personally typically "
    "strongly definitely absolutely already finally no longer only often sometimes".split()
)
_I_START = re.compile(r"I(?P<short>'(?:m|ve|ll|d))?\s+(?P<rest>.+)", re.DOTALL)
_OTHER_ENGLISH = re.compile(r"\b(?:I|we|us|our|ours|mine)\b|\bI['’]")


def third_person(sentence: str, *, chinese: bool) -> str:
    """The statement as one about the user, where that is safe; otherwise the sentence as it is.

    "I prefer tabs" -> "User prefers tabs", 我不吃辣 -> 用户不吃辣.
    """
    return _third_person_zh(sentence) if chinese else _third_person_en(sentence)


def _third_person_zh(sentence: str) -> str:
    if not re.search(r"我(?!们|国|行|司)", sentence) or re.search(r"自我|我俩|我方", sentence):
        return sentence
    changed = re.sub(r"我(?!们|国|行|司)", "用户", sentence)
    return re.sub(r"(?:你|您)(?!们)", "助手", changed)


def _third_person_en(sentence: str) -> str:
    start = _I_START.match(sentence.replace("’", "'"))
    if start:
        changed = _conjugated(start["short"] or "", start["rest"])
    elif match := re.match(r"[Mm]y\s+(.+)", sentence, re.DOTALL):
        changed = f"User's {match[1]}"
    else:
        return sentence
    if not changed:
        return sentence
    head, rest = changed.split(" ", 1)
    rest = re.sub(r"\bmyself\b", "themselves", re.sub(r"\bme\b", "them", re.sub(r"\bmy\b", "their", rest)))
    rest = re.sub(r"\byour\b", "the agent's", re.sub(r"\byou\b", "the agent", rest))
    return sentence if _OTHER_ENGLISH.search(rest) else f"{head} {rest}"


def _conjugated(short: str, rest: str) -> str:
    if short:
        return f"User {_AUXILIARIES[short]} {rest}"
    words = rest.split(" ")
    place = 0
    while place < len(words) - 1 and words[place].lower() in _ADVERBS:
        place += 1
    verb = words[place]
    if verb in _AUXILIARIES:
        words[place] = _AUXILIARIES[verb]
    elif not re.fullmatch(r"[a-z]+", verb):
        return ""
    elif verb not in _SAME and not verb.endswith("ed"):
        words[place] = _with_s(verb)
    return " ".join(["User", *words])


def _with_s(verb: str) -> str:
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return verb + "es"
    return verb[:-1] + "ies" if re.search(r"[^aeiou]y$", verb) else verb + "s"
