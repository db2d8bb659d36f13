"""Chinese time phrases: 昨天, 上周三, 三天前, 2025年3月, 去年三月, 最近7天."""

import re
from collections.abc import Callable

from afterwit.dates import spans
from afterwit.dates.spans import YEARS, Span, Today, Unit

_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "半": 0}
_NUM = r"(?:\d{1,4}|[一二两三四五六七八九十百]{1,5})"
_UNITS: dict[str, Unit] = {
    "分钟": "minute",
    "小时": "hour",
    "个小时": "hour",
    "个钟头": "hour",
    "天": "day",
    "日": "day",
    "周": "week",
    "个星期": "week",
    "星期": "week",
    "个礼拜": "week",
    "个月": "month",
    "个季度": "quarter",
    "年": "year",
}
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_DAYS = {
    "今天": 0,
    "今日": 0,
    "昨天": -1,
    "昨日": -1,
    "前天": -2,
    "大前天": -3,
    "明天": 1,
    "明日": 1,
    "后天": 2,
    "大后天": 3,
}
_PARTS = {
    "凌晨": (0, 6),
    "早上": (5, 12),
    "早晨": (5, 12),
    "上午": (5, 12),
    "中午": (11, 14),
    "下午": (12, 18),
    "傍晚": (16, 20),
    "晚上": (18, 30),
    "夜里": (18, 30),
    "晚": (18, 30),
    "早": (5, 12),
}
_PART = "|".join(sorted(_PARTS, key=len, reverse=True))
_YEARS = {"今年": 0, "本年": 0, "去年": -1, "前年": -2, "大前年": -3, "明年": 1, "后年": 2}
_NEAR = {"这": 0, "本": 0, "上": -1, "上上": -2, "下": 1, "下下": 2, "这个": 0, "上个": -1, "上上个": -2, "下个": 1}
_NEAR_WORD = "上上个|下下个|上上|下下|这个|上个|下个|这|本|上|下"
#: What a bare month may follow, so that a name such as 三月 is not taken for one.
_MONTH_AFTER = re.compile(r"(?:^|[\s，。！？、；：,.!?;:（(]|[在从到自于至和年])$")
_NAMED = re.compile(r"(?:叫|是|名|姓)$")

Build = Callable[[re.Match[str], Today], Span | None]


def number(digits: str) -> int:
    """Value of 12, 三, 十二 or 二十三, of at most three places."""
    if digits.isdigit():
        return int(digits)
    total = current = 0
    for digit in digits:
        if digit in "十百":
            total += (current or 1) * (10 if digit == "十" else 100)
            current = 0
        else:
            current = _DIGITS[digit]
    return total + current


def count_of(digits: str) -> int | None:
    """Value of 三 or 十二; None for 几 and 数."""
    return None if digits in ("几", "数") else number(digits)


def _day(found: re.Match[str], today: Today) -> Span:
    return _part(spans.day(today, _DAYS[found.group(1)]), found.group(2))


def _short_day(found: re.Match[str], today: Today) -> Span:
    offset = {"今": 0, "昨": -1, "前": -2, "明": 1}[found.group(1)]
    return _part(spans.day(today, offset), "晚" if found.group(2) == "晚" else "早")


def _part(span: Span, words: str | None) -> Span:
    return spans.hours(span, *_PARTS[words]) if words else span


def _week(found: re.Match[str], today: Today) -> Span | None:
    near, weekday_word = found.group(1), found.group(2)
    offset = _offset(near)
    if weekday_word is None:
        return spans.week(today, offset)
    if weekday_word == "末":
        return spans.weekend(today, offset)
    return _part(spans.day(today, 7 * offset + _weekday_number(weekday_word) - today.now.weekday()), found.group(3))


def _bare_weekday(found: re.Match[str], today: Today) -> Span:
    if found.group(1) == "末":
        back = 1 if today.leaning == "past" and today.now.weekday() < 5 else 0
        return spans.weekend(today, -back)
    return _part(spans.weekday(today, _weekday_number(found.group(1))), found.group(2))


def _weekday_number(word: str) -> int:
    return "一二三四五六日".index(word.replace("天", "日"))


def _offset(near: str) -> int:
    return _NEAR[near if near in _NEAR else near.removesuffix("个")]


def _near_month(found: re.Match[str], today: Today) -> Span | None:
    span = spans.month(today, _offset(found.group(1)))
    if found.group(2):
        return spans.date_of(span.start.year, span.start.month, number(found.group(2)))
    return _slice(span, found.group(3))


def _near_quarter(found: re.Match[str], today: Today) -> Span:
    return spans.quarter(today, _offset(found.group(1)))


def _slice(span: Span, word: str | None) -> Span:
    match word:
        case "初" | "上旬" | "月初":
            return spans.third(span, 0)
        case "中" | "中旬" | "月中":
            return spans.third(span, 1)
        case "底" | "末" | "下旬" | "月底":
            return spans.third(span, 2)
        case _:
            return span


def _year(found: re.Match[str], today: Today) -> Span | None:
    if found["near"]:
        number_of_year = today.now.year + _YEARS[found["near"]]
    else:
        number_of_year = int(found["year"])
    if number_of_year not in YEARS:
        return None
    return _in_year(number_of_year, found)


def _in_year(of_year: int, found: re.Match[str]) -> Span:
    if found["month"]:
        day_number = number(found["day"]) if found["day"] else None
        return _slice(spans.date_of(of_year, number(found["month"]), day_number), found["slice"])
    if found["quarter"]:
        return spans.months_of(of_year, 3 * number(found["quarter"]) - 2, 3)
    match found["part"]:
        case "上半年":
            return spans.months_of(of_year, 1, 6)
        case "下半年":
            return spans.months_of(of_year, 7, 6)
        case "年初" | "初":
            return spans.months_of(of_year, 1, 3)
        case "年底" | "年末" | "底" | "末":
            return spans.months_of(of_year, 11, 2)
        case _:
            return spans.year(of_year)


def _part_of_year(found: re.Match[str], today: Today) -> Span:
    return _in_year(today.now.year, found)


def _bare_month(found: re.Match[str], today: Today) -> Span | None:
    before = spans.preceding(found.string, found.start())
    day_word = found["day"]
    spelled = not found["month"].isdigit()
    if not day_word and spelled and (_NAMED.search(before) or not _MONTH_AFTER.search(before)):
        return None
    span = spans.without_year(today, number(found["month"]), number(day_word) if day_word else None)
    return _slice(span, found["slice"])


def _bare_quarter(found: re.Match[str], today: Today) -> Span:
    first = 3 * number(found.group(1)) - 2
    return spans.months_of(spans.without_year(today, first, None).start.year, first, 3)


def _ago(found: re.Match[str], today: Today) -> Span:
    unit = _UNITS[found.group(2)]
    if found.group(1) == "几":
        return Span(spans.ago(today, 7, unit).start, spans.ago(today, 2, unit).end, unit)
    return spans.ago(today, number(found.group(1)), unit)


def _half_year_ago(_: re.Match[str], today: Today) -> Span:
    return spans.month(today, -6)


def _rolling(found: re.Match[str], today: Today) -> Span:
    count, unit = found.group(1), _UNITS[found.group(2)]
    return spans.rolling(today, 7 if count == "几" and unit == "day" else 3 if count == "几" else number(count), unit)


def _ahead(found: re.Match[str], today: Today) -> Span:
    return spans.ahead(today, 3 if found.group(1) == "几" else number(found.group(1)), _UNITS[found.group(2)])


def _later(found: re.Match[str], today: Today) -> Span | None:
    if today.leaning != "future":
        return None
    return spans.ahead(today, number(found.group(1)), _UNITS[found.group(2)])


def _these_days(_: re.Match[str], today: Today) -> Span:
    return spans.rolling(today, 7, "day")


_IN_YEAR = (
    rf"(?:的?(?:(?P<month>{_NUM})月(?:份)?(?:(?P<day>{_NUM})[日号]|(?P<slice>[初中底末]|[上中下]旬))?|"
    rf"第?(?P<quarter>[一二三四1-4])季度|(?P<part>上半年|下半年|年?[初底末])))?"
)
#: Each phrase and how its span is found.
RULES: tuple[tuple[re.Pattern[str], Build], ...] = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        (
            rf"((?<!大)大前天|(?<!大)大后天|今天|今日|昨天|昨日|(?<![目之以提])前天|明天|明日|(?<![然最今之以先])后天)"
            rf"(?!气)(?:的?({_PART}))?",
            _day,
        ),
        (r"([今昨前明])(晚(?!餐|饭|期)|早(?!餐|饭|期|已))(?:上)?", _short_day),
        (
            rf"(?<!以)({_NEAR_WORD})(?:周|星期|礼拜)([一二三四五六日天末])?(?!期|边|围|岁|年|转|全|报|刊|[一二三四五六日天])"
            rf"(?:的?({_PART}))?",
            _week,
        ),
        (
            rf"(?<![每一二两三四五六七八九十几\d上下这本个])(?:周|星期|礼拜)([一二三四五六日天末])"
            rf"(?![次般定起直常志历程期记]|个)(?:的?({_PART}))?",
            _bare_weekday,
        ),
        (
            rf"(?<!以)({_NEAR_WORD})月(?![球亮光饼薪经])份?(?:的?(?:({_NUM})[日号]|([初中底末]|[上中下]旬)))?",
            _near_month,
        ),
        (r"(上上个|上个|这个|下个|上|本|下)季度", _near_quarter),
        (
            rf"(?:(?P<near>大前年|今年|本年|(?<!过)去年|(?<![目之以提当大])前年|明年|(?<![然最今之以])后年)"
            rf"|(?<!\d)(?P<year>\d{{4}})年(?![会货级款版]))度?{_IN_YEAR}",
            _year,
        ),
        (r"(?<![年半])(?P<part>上半年|下半年|年初|年底|年末)(?P<month>)(?P<quarter>)", _part_of_year),
        (
            rf"(?<![\d.第个十一二三四五六七八九/])(?<!\d-)(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月"
            rf"(?![球亮光饼薪经子])份?(?:(?P<day>{_NUM})[日号]|(?P<slice>[初中底末]|[上中下]旬))?"
            rf"(?!喜欢|说|同学|老师)",
            _bare_month,
        ),
        (r"(?<![度年])第([一二三四1-4])季度", _bare_quarter),
        (rf"(?<!第)({_NUM}|几)({_UNIT})(?:之|以)?前(?![端台后夕提景进往任列])", _ago),
        (rf"(?<!第)({_NUM})({_UNIT})(?:之|以)?后(?![端台])", _later),
        (r"半年(?:之|以)?前", _half_year_ago),
        (rf"(?:最近|过去|(?<![附靠接临将])近|这)的?({_NUM}|几)({_UNIT})(?!前)(?:内|里|来|以来)?", _rolling),
        (rf"(?:未来|接下来|今后)的?({_NUM}|几)({_UNIT})(?:内|里)?", _ahead),
        (r"(?:这|近|前)几天(?!前)|这些天", _these_days),
    )
)
