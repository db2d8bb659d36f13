"""What a sentence or question is about, by the words it uses: the key side of a question.

"Where does she live?" and 她搬到上海了 share no word, but both are about residence. The names are
those of `vocabulary.TOPICS`. A cue may be wrong; it counts as evidence, never as a filter.
"""

import re
from functools import lru_cache

#: topic -> (English cue, matched at word starts; Chinese cue)
_CUES: dict[str, tuple[str, str]] = {
    "residence": (
        r"liv(?:e|es|ed|ing) (?:in|at|now)|where .{0,24}\blive|mov(?:e|es|ed|ing) to|reside|"
        r"address|home ?town",
        r"住(?!院|宿)|搬到|搬去|搬家|定居|居住|家在|哪个城市",
    ),
    "employer": (
        r"work(?:s|ed|ing)? (?:at|for)\b|where .{0,24}\bwork|employer|company|employed|joined",
        r"公司|上班|入职|任职|雇主|单位|就职|跳槽",
    ),
    "job_title": (
        r"job|position|occupation|profession|promoted|works? as|title",
        r"职位|职务|岗位|职业|升职|担任|什么工作",
    ),
    "birthday": (
        r"birthday|birth ?date|born on|when .{0,16}\bborn",
        r"生日|出生(?!地)",
    ),
    "age": (
        r"age\b|years old|how old",
        r"年龄|岁|多大",
    ),
    "birthplace": (
        r"born in|birth ?place|hometown|where .{0,16}\bborn|grew up",
        r"出生地|老家|家乡|籍贯|哪里人",
    ),
    "family": (
        r"wife|husband|mother|father|parents?|brother|sister|spouse|family|married|cousin|aunt|"
        r"uncle",
        r"妻子|丈夫|老婆|老公|妈|爸|父母|父亲|母亲|哥哥|弟弟|姐姐|妹妹|家人|结婚|爱人",
    ),
    "children": (
        r"child|children|kids?\b|son\b|daughter|baby",
        r"孩子|儿子|女儿|小孩|宝宝",
    ),
    "pet": (
        r"pets?\b|dogs?\b|cats?\b|puppy|kitten",
        r"宠物|猫|狗",
    ),
    "diet": (
        r"eat|eats\b|diet|vegetarian|vegan|allerg|spicy|meal|restaurant|lunch|dinner|cook",
        r"吃|忌口|饮食|素食|口味|过敏|辣|餐|做饭",
    ),
    "drink": (
        r"drink|coffee|tea\b|beer|wine|beverage",
        r"喝|咖啡|茶|酒|饮料",
    ),
    "travel": (
        r"trip|travel|vacation|flight|hotel|visit|journey",
        r"出差|旅行|旅游|机票|航班|酒店|行程|度假",
    ),
    "hobby": (
        r"hobb|free time|spare time|enjoys?\b|interests?\b",
        r"爱好|兴趣|业余|闲暇",
    ),
    "sport": (
        r"sports?\b|run(?:s|ning)?\b|gym|swim|football|basketball|hik(?:e|es|ing)|yoga|tennis|"
        r"marathon",
        r"运动|跑步|健身|游泳|足球|篮球|爬山|徒步|瑜伽|网球|马拉松",
    ),
    "music": (
        r"music|song|band\b|concert|guitar|piano|sing",
        r"音乐|歌|乐队|演唱会|吉他|钢琴",
    ),
    "film": (
        r"movies?\b|films?\b|watch(?:es|ed|ing)?\b|tv\b|series",
        r"电影|影片|电视剧|看片|追剧",
    ),
    "book": (
        r"books?\b|read(?:s|ing)?\b|novel|author",
        r"书(?!面|签)|阅读|小说|作者",
    ),
    "health": (
        r"health|sick|ill(?:ness)?\b|doctor|hospital|medicine|pain|surgery",
        r"健康|生病|医生|医院|吃药|手术|身体|疼",
    ),
    "education": (
        r"degree|universit|college|school|studied|major(?:ed)?\b|graduat",
        r"学历|大学|学校|毕业|专业|读书|留学",
    ),
    "schedule": (
        r"schedule|calendar|available|routine|working hours|every (?:day|week|morning|monday)",
        r"日程|安排|作息|每天|每周|时间表",
    ),
    "meeting": (
        r"meeting|stand-?up|appointment|sync\b",
        r"会议|开会|例会|站会",
    ),
    "reply_language": (
        r""
        r"(?:answer|reply|respond|write)\w* (?:to me )?in (?:chinese|english|french|german|japanese|spanish)|"
        r"which language .{0,24}(?:answer|reply|respond)",
        r"用(?:中文|英文|英语|日语|汉语)(?:回|答|写)|什么语言(?:回|答)",
    ),
    "reply_style": (
        r"concise|verbose|brief|tone|answers?\b|repl(?:y|ies)|detailed",
        r"简洁|详细|语气|回复|回答|啰嗦|简短",
    ),
    "programming_language": (
        r"language|written in|python|java\b|golang|rust\b|typescript|kotlin|c\+\+",
        r"编程语言|语言|编写",
    ),
    "framework": (
        r"framework|library|react|vue|django|spring|flask|fastapi",
        r"框架|类库",
    ),
    "database": (
        r"database|db\b|postgres\w*|mysql|sqlite|mongo\w*|redis|sql\b|table",
        r"数据库|存储|库表",
    ),
    "package_manager": (
        r"package manager|pnpm|npm\b|yarn|pip\b|poetry|uv\b|install dependenc",
        r"包管理|依赖(?:用|管理)",
    ),
    "deployment": (
        r"deploy|release|roll ?out|ship\b|production|staging",
        r"部署|发布|上线|生产环境",
    ),
    "ci": (
        r"\bci\b|pipeline|github actions|jenkins|continuous integration",
        r"流水线|持续集成",
    ),
    "testing": (
        r"tests?\b|testing|pytest|jest|fixtures?|coverage",
        r"测试|单测|用例",
    ),
    "auth": (
        r"auth\w*|token|login|log in|sign in|password|credential|api key|oauth",
        r"鉴权|认证|登录|令牌|密钥|授权|密码",
    ),
    "api": (
        r"api\b|endpoint|request|header|rest\b",
        r"接口|请求|端点",
    ),
    "editor": (
        r"editor|ide\b|vim|emacs|vs ?code",
        r"编辑器|开发工具",
    ),
    "os": (
        r"operating system|linux|windows|mac ?os|ubuntu",
        r"操作系统",
    ),
    "code_style": (
        r"style|format(?:ting|ter)?\b|lint|indent|tabs\b|naming|convention",
        r"风格|规范|缩进|格式化|命名",
    ),
    "error": (
        r"error|fail(?:s|ed|ure)?\b|exception|crash|bug\b|broken",
        r"错误|报错|失败|异常|崩溃|故障",
    ),
    "performance": (
        r"performance|slow\b|latency|fast(?:er)?\b|optimi[sz]",
        r"性能|慢|延迟|优化",
    ),
    "logging": (
        r"log(?:s|ging)?\b|monitor",
        r"日志|监控",
    ),
    "deadline": (
        r"deadline|due\b|ship date|launch date|by when",
        r"截止|期限|什么时候(?:上线|交付|完成)",
    ),
    "budget": (
        r"budget|cost|price|expensive|spend",
        r"预算|费用|成本|花费|价格",
    ),
    "version": (
        r"versions?\b|upgrade",
        r"版本|升级",
    ),
    "git": (
        r"git\b|branch|commit|merge|rebase|pull request",
        r"分支|提交|合并|代码库",
    ),
    "docs": (
        r"documentation|docs\b|readme|wiki",
        r"文档",
    ),
    "contact": (
        r"owner|responsible|in charge|contact|who (?:owns|reviews|maintains)",
        r"负责人|负责|联系人|谁管",
    ),
}

_ENGLISH = {topic: re.compile(rf"\b(?:{english})") for topic, (english, _) in _CUES.items()}
_CHINESE = {topic: re.compile(chinese) for topic, (_, chinese) in _CUES.items()}
_ANY_ENGLISH = re.compile("|".join(pattern.pattern for pattern in _ENGLISH.values()))
_ANY_CHINESE = re.compile("|".join(pattern.pattern for pattern in _CHINESE.values()))


def topics_of(folded: str) -> frozenset[str]:
    """Topics that a folded text speaks or asks about; often none, sometimes several."""
    return frozenset(topic for topic in _CUES if _speaks_of(folded, topic)) if has_topic(folded) else frozenset()


def speaks_of_any(folded: str, topics: frozenset[str]) -> bool:
    """Whether a folded text speaks of at least one of some topics; quicker than `topics_of`."""
    english, chinese = _cues_of(topics)
    if english is None or chinese is None:
        return False
    return english.search(folded) is not None or (not folded.isascii() and chinese.search(folded) is not None)


# Asked of every candidate of a search in turn.
@lru_cache(maxsize=64)
def _cues_of(topics: frozenset[str]) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    """The cues of several topics as one pattern for each language; None for none."""
    cues = [_CUES[topic] for topic in sorted(topics) if topic in _CUES]
    if not cues:
        return None, None
    return (
        re.compile(rf"\b(?:{'|'.join(english for english, _ in cues)})"),
        re.compile("|".join(chinese for _, chinese in cues)),
    )


def has_topic(folded: str) -> bool:
    """Whether a folded text speaks of any topic at all."""
    return _ANY_ENGLISH.search(folded) is not None or (not folded.isascii() and _ANY_CHINESE.search(folded) is not None)


def _speaks_of(folded: str, topic: str) -> bool:
    if _ENGLISH[topic].search(folded) is not None:
        return True
    return not folded.isascii() and _CHINESE[topic].search(folded) is not None


def cue_topics() -> frozenset[str]:
    """Names of the topics that have cues."""
    return frozenset(_CUES)
