"""Hard terms: what must not differ when two texts are to mean the same."""

import re
from collections.abc import Iterator
from functools import lru_cache

from afterwit.text.tokens import CJK, STOP_EN, plain, trim

_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.\-]{1,20}://[^\s<>\"'，。；）】]+|(?<![\w.+\-])[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+", re.IGNORECASE
)
_QUOTED = re.compile(
    r"\"([^\"\n]{1,80})\"|“([^”\n]{1,80})”|「([^」\n]{1,80})」|『([^』\n]{1,80})』|《([^》\n]{1,80})》|`([^`\n]{1,80})`|"
    r"(?<!\w)['‘]([^'’\n]{1,80})['’](?!\w)"
)
_CHUNK = re.compile(rf"(?:[a-zA-Z0-9._\-/:@#+$%&~\\]+|(?![{CJK}])[^\W_])+(?:,\d{{3}}(?!\d))*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_SENTENCE_START = re.compile(r"(?:^|[.!?。！？；;:：\n])\s*[\"'“”‘’(（*\-•]*\s*$")
_CAMEL_INSIDE = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")

_NUMBER_WORDS = {
    word: str(value)
    for value, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), start=2)
} | {"hundred": "100", "thousand": "1000", "million": "1000000", "billion": "1000000000", "dozen": "12"}
_ALWAYS = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february april june july august september "
    "october november december".split()
)
_NEVER_NAMES = STOP_EN | {"user", "ok", "no", "yes", "not"}
_VERBS_AFTER_NAME = frozenset(
    "is was has had will can likes loves hates prefers uses works lives reports owns leads manages wants needs moved "
    "joined left said says thinks runs speaks knows studies teaches works worked lived became and drinks eats plays "
    "drives asked told wrote reviews reviewed approved owes met sold bought gave called".split()
)

_DIGITS_ZH = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_UNITS_ZH = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_COUNTED = re.compile(
    r"(?<![零〇一二两三四五六七八九十百千万亿])([零〇一二两三四五六七八九十百千万亿]{1,12})(个|人|年|月|日|号|天|点|次|块|元|岁|楼|层|室|杯|本|台|条|只|名|周|小时|分钟|"
    r"秒|米|公里|斤|公斤|版|期|章|页|级|楼|套|间|辆|张|份|家|位|倍|度|路|车间|单元|组|班|年级|季度|折|成|小|个月)"
)
_WEEKDAY_ZH = re.compile(r"(?:周|星期|礼拜)([一二三四五六日天])")
_ARTICLE_LIKE = frozenset("个人次条只名张份家位台本天块点小成间套杯")
_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田"
    "任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙段雷钱汤尹黎易武乔贺赖龚"
)
_NOT_NAMES = frozenset(
    (
        "高兴 高效 高级 高度 高中 高考 高速 高铁 高清 高层 方便 方法 方案 方向 方式 方面 方言 程序 程度 "
        "任务 任何 任意 任命 金额 金融 金属 金色 黄色 黄金 黄油 黄豆 白色 白天 白酒 白板 石头 石油 余额 "
        "余下 许多 许可 曾经 何时 何处 何必 周期 周末 周围 周年 马上 马路 马桶 马来 马达 罗马 韩国 韩语 "
        "江苏 江西 江南 苏州 徐州 郑州 谢谢 董事 熊猫 张开 陈旧 陈述 胡椒 胡同 叶子 夏天 夏季 夏令 毛巾 "
        "毛利 毛衣 易用 易错 康复 武器 武汉 龙头 龙虾 段落 雷达 钱包 史料 历史 顾客 顾问 范围 范例 钟头 "
        "钟表 田野 唐朝 宋朝 秦朝 汤面 孔径 陆地 陆续 贺卡 林业 江河 丁香 杜绝 戴着 姜汤 石墨 孙子 孙女 "
        "乔迁 雷雨 钱款 石板 白菜 白米"
    ).split()
)
_AFTER_NAME = (
    "喜欢|讨厌|是|在|住|说|负责|的|和|跟|与|向|给|有|会|去|爱|想|用|不|没|吃|喝|也|要|叫|来自|管|今|昨|明|曾|已|正|搬|毕业|"
    "工作|参加|认为|觉得|建议|决定|同意|要求|从|对|被|把|比|告诉|写|做|买|养|姓|偏好|希望|需要|汇报"
)
_NAME = re.compile(
    rf"(?:(?<![\u4e00-\u9fff])|(?<=[和跟给让由与对向比找叫是请]))"
    rf"([{_SURNAMES}][\u4e00-\u9fff]{{1,2}}?|[小老阿][{_SURNAMES}])(?=(?:{_AFTER_NAME})|[^\u4e00-\u9fff]|$)"
)
_TITLED = re.compile(
    rf"([{_SURNAMES}](?:先生|女士|小姐|老师|经理|医生|大夫|教授|同学|师傅|总|工(?=[^作程人业具])|哥|姐))"
)


# A new memory's are compared with those of every memory on its topic.
@lru_cache(maxsize=256)
def hard_terms(text: str) -> frozenset[str]:
    """Terms that two texts must share to mean the same; folded.

    Numbers (also Chinese ones before a measure word and English number words), versions, identifiers, codes, paths,
    addresses, quoted words, weekdays and months, Latin names with a capital inside a sentence, Chinese personal
    names where the words around them give them away. A capital at the start of a sentence counts only beside
    another sign of a name.
    """
    known = plain(text)
    terms: set[str] = set()
    rest = known
    if "@" in known or "://" in known:
        terms.update(found.group().casefold().rstrip(".,;:!?)") for found in _ADDRESS.finditer(known))
        rest = _ADDRESS.sub(" ", known)
    terms.update(
        next(filter(None, found.groups())).strip().casefold() for found in _QUOTED.finditer(rest) if any(found.groups())
    )
    terms.update(_latin_terms(rest))
    if not known.isascii():
        terms.update(_chinese_terms(rest))
    return frozenset(term for term in terms if term)


def _latin_terms(text: str) -> Iterator[str]:
    words = [(found.start(), _without_commas(trim(found.group().rstrip(",")))) for found in _CHUNK.finditer(text)]
    words = [(start, word) for start, word in words if word]
    shouting = text.upper() == text
    lone = len(words) == 1
    for place, (start, word) in enumerate(words):
        folded = word.casefold()
        if not word.isalpha() or _CAMEL_INSIDE.search(word):
            if not word.replace("-", "").replace("/", "").isalpha() or _CAMEL_INSIDE.search(word):
                yield folded
        elif folded in _NUMBER_WORDS:
            yield _NUMBER_WORDS[folded]
        elif folded in _ALWAYS or (len(word) > 1 and word.isupper() and not shouting):
            yield folded
        elif _is_capitalised(word) and folded not in _NEVER_NAMES:
            named = lone or (place + 1 < len(words) and words[place + 1][1] in _VERBS_AFTER_NAME)
            if named or not _SENTENCE_START.search(text[max(0, start - 8) : start]):
                yield folded
        elif folded == "may" and word == "May" and not _SENTENCE_START.search(text[max(0, start - 8) : start]):
            yield folded


def _without_commas(word: str) -> str:
    return _THOUSANDS.sub("", word) if "," in word else word


def _is_capitalised(word: str) -> bool:
    return word[0].isupper() and not word.isupper()


def _chinese_terms(text: str) -> Iterator[str]:
    for found in _COUNTED.finditer(text):
        value = _chinese_number(found.group(1))
        if value is not None and not (value == 1 and found.group(2) in _ARTICLE_LIKE):
            yield str(value)
    for found in _WEEKDAY_ZH.finditer(text):
        yield f"周{found.group(1)}".replace("天", "日")
    for pattern in (_NAME, _TITLED):
        for found in pattern.finditer(text):
            if found.group(1)[:2] not in _NOT_NAMES and not _WEEKDAY_ZH.match(found.group(1)):
                yield found.group(1)


def _chinese_number(digits: str) -> int | None:
    """Value of 二十三, 两百, 一万二千; None for what is no number, such as 十百."""
    total = section = number = 0
    if len(digits) > 1 and not any(digit in _UNITS_ZH for digit in digits):
        return int("".join(str(_DIGITS_ZH[digit]) for digit in digits))
    for digit in digits:
        if digit in _DIGITS_ZH:
            number = _DIGITS_ZH[digit]
        elif _UNITS_ZH[digit] >= 10_000:
            total = (total + section + number) * _UNITS_ZH[digit]
            section = number = 0
        else:
            section += (number or 1) * _UNITS_ZH[digit]
            number = 0
    return total + section + number
