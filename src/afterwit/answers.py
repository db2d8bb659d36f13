"""What kind of answer a question asks for, and whether a text could be one.

"Until when?" wants a time, "how much?" a number, "who?" somebody. A text that is near in meaning but
has nothing of that kind rarely answers. All patterns are for texts as `text.fold` returns them.
"""

import re
from dataclasses import dataclass

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_NUMBER = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|half|twice|double"
_DIGIT_ZH = "一二三四五六七八九十百千万两半"


@dataclass(frozen=True)
class _Kind:
    asked: re.Pattern[str]
    told: re.Pattern[str]
    #: nothing else will do: a phone number has digits
    strict: bool = False


def _kind(asked: tuple[str, str], told: tuple[str, str], *, strict: bool = False) -> _Kind:
    return _Kind(re.compile("|".join(filter(None, asked))), re.compile("|".join(filter(None, told))), strict)


_KINDS: dict[str, _Kind] = {
    "when": _kind(
        (
            r"\bwhen\b|\b(?:what|which) (?:time|week|day|date|month|year)s?\b|\buntil when\b|\bon which\b|"
            r"\bhow (?:late|early|soon)\b|\bdeadline\b|\bdue\b",
            r"什么时候|何时|几点|哪(?:一)?天|几号|几月|哪年|哪个月|星期几|周几|时间是|日期|截止",
        ),
        (
            # One look for the beginning of a word, not one for each of these.
            rf"\b(?:(?:{_MONTHS}|{_DAYS})\b|\d{{1,2}}(?::\d\d)?\s?(?:am|pm|o'clock)\b|\d{{1,2}}:\d\d\b|"
            r"(?:19|20)\d\d\b|"
            r"(?:every|each|first|last|second|next|until|by|since|before|after|during)\b.{0,12}"
            rf"\b(?:day|week|month|year|quarter|hour|morning|evening|night|noon|{_MONTHS}|{_DAYS})s?\b|"
            r"(?:morning|evening|noon|night|midnight|weekend|weekday|spring|summer|autumn|winter)s?\b|"
            r"(?:dai|week|month|year)ly\b|at \d)",
            r"[\d一二三四五六七八九十]\s?(?:月|日|号|点|年|时)|周[一二三四五六日末]|星期|每(?:天|周|月|年|季|晚|日)|凌晨|早上|"
            r"上午|中午|下午|晚上|傍晚|[天日时]之?[内后前]|月底|月初|年底|年初|春节|季度|饭后|饭前",
        ),
    ),
    "how long": _kind(
        (
            r"\bhow (?:long|often|frequently)\b|\bwithin how\b|"
            r"\bhow many (?:days|weeks|months|hours|minutes|seconds|years)\b|"
            r"\b(?:latency|timeout|ttl|retention|interval|duration)\b",
            r"多久|多长时间|几(?:天|周|个月|小时|分钟|年)|多少(?:天|秒|分钟|小时)|间隔|频率|时长",
        ),
        (
            rf"\b(?:(?:\d+|{_NUMBER}|couple|few)[\s-]?"
            r"(?:ms|s|sec|min|h|second|minute|hour|day|night|week|month|year|millisecond)s?\b|"
            r"(?:dai|week|month|hour|year|night|annual)ly\b|"
            rf"(?:every|each) .{{0,10}}\b(?:day|week|month|year|hour|quarter|{_DAYS})|until\b)",
            rf"[\d{_DIGIT_ZH}几]\s?(?:个)?(?:毫秒|秒|分钟|小时|天|日|晚|周|星期|个月|月|年)|每(?:天|周|月|年|季|小时|隔|日|晚)",
        ),
    ),
    "how much": _kind(
        (
            r"\bhow (?:many|much|large|big|high|tall|old|far|fast|wide|heavy|deep|well)\b|"
            r"\b(?:limit|maximum|minimum|cost|price|budget|salary|rate|percentage|size|number|temperature|mileage|"
            r"amount|dose|threshold|quota|score)\b",
            r"多少|多大|多高|多远|多快|多重|多宽|几(?:个|次|条|份|位|人|台|块|岁|级|年级|层|楼|路|页)|上限|下限|最[大多低高]|价格|"
            r"费用|预算|成本|比例|温度|额度|超过|大小",
        ),
        (
            rf"\d|\b(?:{_NUMBER})\b",
            rf"[{_DIGIT_ZH}](?:个|次|条|份|位|人|台|块|元|岁|级|年级|层|楼|页|兆|度|成|倍|毫秒|秒|分|小时|天|周|月|年|公里|米|斤|行)|百分之",
        ),
    ),
    "where": _kind(
        (
            r"\bwhere\b|\blocation\b|\b(?:which|what) "
            r"(?:city|country|place|room|office|street|folder|directory|file|region|town|hotel|restaurant)\b",
            r"哪里|哪儿|在哪|什么地方|哪个(?:城市|地方|房间|国家|文件|目录)|地址|位置|放哪",
        ),
        (
            r"\b(?:in|at|on|under|near|from|to|into|behind|with|inside|above|below|via)\s+"
            r"(?:the |a |an |our |his |her |their )?[a-z0-9/~.]",
            r"[在住放搬去到里楼层路区市省]|位于",
        ),
    ),
    "why": _kind(
        (r"\bwhy\b|\breasons?\b|\bcaused?\b|\bwent wrong\b", r"为什么|为何|原因|怎么会|导致|起因|何以"),
        (
            r"\b(?:because|since|due to|caused?|reason|so that|so the|fixed|as|in order|means|"
            r"to (?:save|avoid|keep|prevent|reduce|protect|make sure|get|let)|after|otherwise)\b",
            r"因为|由于|原因|所以|导致|因此|避免|为了|是因|造成|引起|怕|否则|因",
        ),
    ),
    "which version": _kind(
        (r"\bversions?\b", r"版本|第几版"),
        (r"\bv?\d+(?:\.\d+)*\b", r"\d"),
    ),
    "phone number": _kind(
        (r"\b(?:tele)?phone number\b", r"电话号码|手机号|电话是"), (r"\d{5}|\d[\d -]{6}", ""), strict=True
    ),
    "mail address": _kind((r"\be-?mail address\b|\bemail\b", r"邮箱"), (r"@|\be?-?mail", r"邮"), strict=True),
    "birthday": _kind((r"\bbirthday\b|\bborn\b", r"生日|出生"), (r"\bbirth|\bborn\b", r"生日|出生|寿"), strict=True),
    "pay": _kind(
        (r"\bsalary\b|\bearns?\b|\bwages?\b", r"工资|薪水|月薪|年薪"),
        (r"\d|\bsalary|\bearn|\bwage", r"工资|薪|[百千万]"),
        strict=True,
    ),
    "password": _kind(
        (r"\bpasswords?\b", r"密码"), (r"\bpassw|\bcredential|\bsecret|\bkey\b", r"密码|口令|密钥|锁定"), strict=True
    ),
    "surname": _kind(
        (r"\bsurname\b|\blast name\b|\bfamily name\b", r"姓什么|贵姓"),
        (r"name\b|\b(?:mr|mrs|ms|dr)\b", r"姓"),
        strict=True,
    ),
    "blood type": _kind((r"\bblood (?:type|group)\b", r"血型"), (r"\bblood\b", r"血"), strict=True),
    "make": _kind(
        (r"\bwhat brand\b|\bwhich brand\b", r"型号|牌子|品牌"), (r"\bbrand|\bmake\b|[a-z]*\d", r"牌|型|\d"), strict=True
    ),
    "colour": _kind(
        (r"\b(?:what|which) colou?r\b", r"什么颜色"),
        (r"\b(?:red|blue|white|black|gr[ea]y|green|yellow|brown|pink|silver)\b", r"[红蓝白黑绿灰黄粉]|银色|棕"),
        strict=True,
    ),
}

#: "Who?" is told by a subject or a name, which folding takes away; see `names_somebody`.
_WHO = re.compile(
    r"\bwho(?:m|se)?\b|\bwhich (?:person|colleague|doctor|teacher|team)\b|谁|哪位|哪个人|什么人|联系人|负责人"
)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][a-z]+")
_ROLE = re.compile(
    r"\b(?:doctor|dentist|plumber|manager|team|wife|husband|brother|sister|mother|father|friend|neighbou?r|colleague|"
    r"owner|lead|teacher|engineer|landlord|customer|support|reception|admin)s?\b|"
    r"经理|医生|老师|同事|朋友|邻居|客服|负责|团队|组|妻子|丈夫|部门|老板|联系人|[王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗郑唐]"
)

_OF_FAILURE = re.compile(
    r"\b(?:wrong|fail\w*|problem|issue|error|crash\w*|broke\w*|stuck|hang\w*|trouble|bug)\b|"
    r"失败|出错|报错|问题|故障|崩溃|卡住|变慢|异常|怎么解决|坏"
)
_OF_RULE = re.compile(
    r"\b(?:should|must|may i|can i|can we|may we|allowed|how do i|how do we|ought|do i need|am i|rule|policy|limit)\b|"
    r"可以|应该|能不能|行不行|行吗|规定|注意|要求|要不要|是否|必须|怎么(?:写|发|做|配|登|处理)"
)

_ASKS = re.compile(
    r"[?？吗呢谁哪几]|什么|怎么|多少|为何|是否|能不能|要不要|"
    r"^(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|has|have|can|could|may|should|must|"
    r"will|would)\b"
)

WHO = "who"


def asked_kinds(folded: str) -> frozenset[str]:
    """Kinds of answer that a folded question asks for; often none."""
    found = {name for name, kind in _KINDS.items() if kind.asked.search(folded) is not None}
    return frozenset(found | {WHO}) if _WHO.search(folded) is not None else frozenset(found)


def is_strict(kind: str) -> bool:
    """Whether a text that tells nothing of the kind cannot be the answer."""
    return kind != WHO and _KINDS[kind].strict


def tells(kind: str, folded: str) -> bool:
    """Whether a folded text has something of a kind, other than "who"."""
    return _KINDS[kind].told.search(folded) is not None


def names_somebody(text: str) -> bool:
    """Whether a text, not folded, names somebody or the part that somebody plays."""
    return _NAME.search(text) is not None or _ROLE.search(text.lower()) is not None


def asks_something(query: str) -> bool:
    """Whether a text, folded or not, is a question, and no order or heading."""
    return _ASKS.search(query.lower()) is not None


def asks_of_failure(folded: str) -> bool:
    """Whether a folded question is about something that went wrong."""
    return _OF_FAILURE.search(folded) is not None


def asks_of_rule(folded: str) -> bool:
    """Whether a folded question is about what may, should or must be done."""
    return _OF_RULE.search(folded) is not None
