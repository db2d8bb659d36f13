"""Tokens, sameness, polarity, size and admission of Chinese and English text."""

import re
import warnings
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit.errors import InvalidInput
from afterwit.text import (
    check_text,
    count_tokens,
    fold,
    hard_terms,
    index_tokens,
    is_negated,
    language,
    query_tokens,
    same_statement,
    sentences,
    truncate,
)

#: Any code points, lone surrogates included.
ANY_TEXT = st.text(st.characters(exclude_categories=()))
ALLOWED = re.compile("[\\w._\\-/:@#+$%&~\\\\\U00020000-\U0003134f]")


def finds(query: str, row: str) -> bool:
    """Whether every token asked for is one under which the row is kept."""
    asked = query_tokens(query)
    return bool(asked) and set(asked) <= set(index_tokens(row))


CHINESE_WORDS = [
    ("杭州", "用户现在住在杭州的西湖区附近"),
    ("上海", "他去年从北京搬到上海工作了"),
    ("咖啡", "用户每天早上都要喝一杯咖啡才清醒"),
    ("部署", "周五下午绝对不能部署到生产环境"),
    ("测试", "提交代码之前必须跑完所有单元测试"),
    ("数据", "他负责整个公司的数据迁移项目"),
    ("过敏", "用户对花生严重过敏所以不能吃"),
    ("会议", "每周三上午十点的会议改到下午了"),
    ("项目", "这个项目的负责人是张三和李四"),
    ("缓存", "页面变慢是因为缓存没有及时失效"),
    ("密码", "用户不希望在日志里看到密码原文"),
    ("接口", "支付接口的超时时间设成三十秒"),
    ("日志", "出错的时候先看日志再重启服务"),
    ("服务", "订单服务依赖库存中心的结果"),
    ("权限", "没有管理员权限就不能删除用户"),
    ("版本", "线上跑的还是旧版本的镜像文件"),
    ("编译", "编译失败多半是依赖没有装全"),
    ("内存", "机器内存不足会导致进程被杀"),
    ("主键", "每张表都必须有自增主键字段"),
    ("索引", "查询太慢就给那一列加个索引"),
    ("回滚", "发布失败以后立刻回滚到上一版"),
    ("重试", "网络抖动时最多重试三次再报错"),
    ("队列", "消息队列积压超过一万就要告警"),
    ("预算", "这趟旅行的预算不超过五千元"),
    ("机票", "帮他订了下周飞成都的机票"),
    ("酒店", "他喜欢住离车站近的酒店房间"),
    ("素食", "她吃素食已经有十几年时间了"),
    ("孩子", "他家里有两个孩子在上小学"),
    ("生日", "妈妈的生日是农历八月十五"),
    ("跑步", "他坚持每天早晨跑步五公里"),
    ("钢琴", "女儿从五岁开始学习弹钢琴"),
    ("论文", "她正在写关于气候的毕业论文"),
    ("邮件", "重要通知一律用邮件发给全组"),
    ("深色", "编辑器一直使用深色主题模式"),
    ("缩进", "代码风格要求用四个空格缩进"),
    ("目的", "这次重构的目的只是降低耦合"),
    ("茶", "用户下午喜欢喝茶"),
    ("辣", "他不太能吃辣的菜"),
]


@pytest.mark.parametrize(("word", "row"), CHINESE_WORDS)
def test_a_short_chinese_word_is_found_inside_a_sentence_without_spaces(word: str, row: str) -> None:
    assert finds(word, row)
    assert word in index_tokens(row)


def test_a_chinese_word_does_not_find_the_other_sentences() -> None:
    for word, own in CHINESE_WORDS:
        others = [row for _, row in CHINESE_WORDS if row != own and word not in row]
        assert not any(finds(word, row) for row in others), word


IDENTIFIERS = [
    ("get_user", ["get", "user"]),
    ("getUserName", ["get", "user", "name"]),
    ("PascalCase", ["pascal", "case"]),
    ("HTTPServer2", ["http", "server", "2"]),
    ("foo.bar()", ["foo", "bar"]),
    ("pkg::Type", ["pkg", "type"]),
    ("kebab-case", ["kebab", "case"]),
    ("E1234", ["1234"]),
    ("ERR_CONN_RESET", ["err", "conn", "reset"]),
    ("TS2345", ["2345"]),
    ("/etc/nginx/nginx.conf", ["etc", "nginx", "nginx.conf"]),
    ("C:\\a\\b.txt", ["b.txt", "txt"]),
    ("src/app/main.py:42", ["src", "app", "main.py", "main", "42"]),
    ("v1.2.3", ["1.2.3", "1.2"]),
    ("3.11", []),
    ("1.0.0-rc.1", ["1.0.0", "1.0"]),
    ("bob@example.com", ["bob", "example.com"]),
    ("https://example.com/docs/setup", ["example.com", "docs", "setup"]),
    ("@scope/pkg", ["scope", "pkg", "scope/pkg"]),
    ("--flag-name", ["flag-name", "flag", "name"]),
    ("$HOME", ["home"]),
    ("C++", []),
    ("C#", []),
    (".NET", ["net"]),
    ("deadbeef12", []),
    ("550e8400-e29b-41d4-a716-446655440000", []),
    ("~/.bashrc", ["bashrc"]),
    ("__init__", ["init"]),
    ("useEffect", ["use", "effect"]),
    ("np.array", ["np", "array"]),
    ("org.apache.kafka", ["apache", "kafka"]),
    ("user_id=42", ["user_id", "42"]),
    ("CVE-2024-3094", ["cve", "2024", "3094"]),
    ("192.168.1.10:8080", ["192.168.1.10", "8080"]),
    ("std::vector<int>", ["std", "vector", "int"]),
    ("npm:left-pad", ["left-pad", "left", "pad"]),
]


@pytest.mark.parametrize(("identifier", "parts"), IDENTIFIERS)
@pytest.mark.parametrize("row", ["Never touch {} in production.", "报错以后检查{}再重启", "`{}`, they said"])
def test_an_identifier_is_found_whole_and_by_its_parts(identifier: str, parts: list[str], row: str) -> None:
    text = row.format(identifier)
    for query in [identifier, *parts]:
        assert finds(query, text), query


def test_a_whole_identifier_matches_more_of_its_own_row_than_of_a_lookalike() -> None:
    asked = set(query_tokens("get_user"))
    assert "get_user" in asked & set(index_tokens("call get_user first"))
    assert "get_user" not in index_tokens("call get_users first")
    assert "get_user" not in index_tokens("get the user")


@pytest.mark.parametrize(
    ("simplified", "traditional"),
    [("用户喜欢喝茶", "用戶喜歡喝茶"), ("数据库", "資料庫".replace("資料", "數據")), ("台湾乌龙茶", "臺灣烏龍茶")],
)
def test_traditional_and_simplified_find_each_other(simplified: str, traditional: str) -> None:
    assert index_tokens(simplified) == index_tokens(traditional)
    assert query_tokens(simplified) == query_tokens(traditional)
    assert fold(simplified) == fold(traditional)


def test_full_width_forms_fold() -> None:
    assert fold("ＡＰＩ　Ｋｅｙ１２") == "api key12"
    assert index_tokens("ＡＰＩ") == index_tokens("api")
    assert finds("v1.2.3", "版本ｖ１．２．３发布")


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("deploying", "never deploy on Friday"),
        ("preference", "the user prefers tea"),
        ("tests", "run every test"),
        ("migration", "two migrations failed"),
        ("Running", "he runs daily"),
        ("user's dog", "the users have a dog"),
        ("allergies", "an allergy to nuts"),
    ],
)
def test_forms_of_an_english_word_find_each_other(query: str, row: str) -> None:
    assert finds(query, row)


@pytest.mark.parametrize(
    ("query", "tokens"),
    [
        ("What does the user like?", ["user", "like"]),
        ("用户喜欢喝什么茶？", ["用户", "户喜", "喜欢", "欢喝", "茶"]),
        ("我的猫叫什么", ["猫"]),
        ("怎么部署", ["部署"]),
        ("他住在哪里", ["住"]),
        ("这次的目的是什么", ["次", "目的"]),
        ("了解一下有没有缓存吗", ["了解", "缓存"]),
        ("what is it", ["what", "is", "it"]),
        ("tea tea TEA", ["tea"]),
        ("who runs the IT department", ["run", "it", "depart"]),
        ("", []),
        ("👍 ... !!", []),
    ],
)
def test_a_query_keeps_what_it_is_about(query: str, tokens: list[str]) -> None:
    assert query_tokens(query) == tokens


def test_japanese_and_korean_runs_are_found() -> None:
    assert finds("東京", "来週東京タワーへ行きます")
    assert finds("タワー", "来週東京タワーへ行きます")
    assert finds("서울", "저는 서울에 살아요")


@given(ANY_TEXT)
def test_tokens_of_any_text_are_clean_and_repeatable(text: str) -> None:
    for tokens in (index_tokens(text), query_tokens(text)):
        assert all(token and len(token) <= 256 for token in tokens)
        assert all(ALLOWED.fullmatch(character) for token in tokens for character in token)
        assert not any(re.search(r'[\s"]', token) for token in tokens)
    assert index_tokens(text) == index_tokens(text)
    asked = query_tokens(text)
    assert len(asked) == len(set(asked))


@given(ANY_TEXT)
def test_no_text_breaks_the_other_functions(text: str) -> None:
    assert isinstance(fold(text), str)
    assert language(text) in ("zh", "en")
    assert count_tokens(text) >= 0
    assert isinstance(is_negated(text), bool)
    assert all(hard_terms(text))
    assert same_statement(text, text) in (True, False)
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@given(ANY_TEXT, st.integers(0, 40))
def test_a_truncated_text_keeps_its_budget_and_its_beginning(text: str, limit: int) -> None:
    shorter = truncate(text, limit)
    assert count_tokens(shorter) <= limit or shorter == text == ""
    assert shorter == text or text.startswith(shorter.removesuffix("…"))


def test_a_truncated_text_ends_at_a_word() -> None:
    text = "The user prefers dark_mode_setting over light mode in all editors"
    for limit in range(3, 14):
        kept = truncate(text, limit).removesuffix("…")
        assert text.startswith(kept + " ") or kept == text


SAME = [
    ("The user likes tea.", "User likes tea"),
    ("用户喜欢喝茶。", "用戶喜歡喝茶"),
    ("Does not use Java", "doesn't use Java"),
    ("likes tea and coffee", "likes coffee and tea"),
    ("User likes Python", "user likes python"),
    ("Ｕｓｅｒ likes tea", "user likes tea!"),
    ("用户的猫叫咪咪", "用户猫叫咪咪。"),
    ("It's raining", "it is raining"),
    ("The users like tabs", "user likes tab"),
    ("cannot eat nuts", "can't eat nuts"),
]
DIFFERENT = [
    ("张三喜欢咖啡", "李四喜欢咖啡"),
    ("Prefers tabs over spaces", "Prefers spaces over tabs"),
    ("A reports to B", "B reports to A"),
    ("Alice reports to Bob", "Bob reports to Alice"),
    ("Room 101", "Room 102"),
    ("uses v1.2", "uses v1.3"),
    ("uses Java", "does not use Java"),
    ("likes green tea and coffee", "likes green coffee and tea"),
    ("The user lives in Hangzhou", "The user lived in Hangzhou"),
    ("works in IT", "works in it"),
    ("用户喜欢茶吗？", "用户喜欢茶"),
    ("Does the user like tea?", "The user does like tea"),
    ("版本>=3.10", "版本<=3.10"),
    ("feels 👍", "feels 👎"),
    ("likes C", "likes C++"),
    ("likes C++", "likes C#"),
    ("call get_user first", "call get_users first"),
    ("Alice likes tea", "Alicia likes tea"),
    ("用户不吃辣", "用户吃辣"),
    ("temp is -5", "temp is 5"),
    ("does not like tea but likes coffee", "likes tea but does not like coffee"),
    ("张三比李四高", "李四比张三高"),
    ("Dogs chase cats", "Cats chase dogs"),
    ("meets at 10:30", "meets at 10:31"),
    ("university policy", "universe policy"),
    ("costs $5", "costs 5%"),
    ("用户住在杭州", "用户住在上海"),
    ("三个人", "两个人"),
    ("10² rows", "102 rows"),
    ("about ~5 rows", "about 5 rows"),
    ("用户戒了烟", "用户抽烟"),
    ("", ""),
    ("...", "!!!"),
]


@pytest.mark.parametrize(("a", "b"), SAME)
def test_the_same_statement_in_another_form_is_the_same(a: str, b: str) -> None:
    assert same_statement(a, b)
    assert same_statement(b, a)


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_another_statement_is_not_the_same(a: str, b: str) -> None:
    assert not same_statement(a, b)
    assert not same_statement(b, a)


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("does not use Java", True),
        ("don't use tabs", True),
        ("never", True),
        ("no longer lives there", True),
        ("avoid tabs", True),
        ("stopped using Vim", True),
        ("用户不吃辣", True),
        ("没有车", True),
        ("别用 npm", True),
        ("不要部署", True),
        ("不再用 Java", True),
        ("禁止周五部署", True),
        ("尚未完成", True),
        ("不必重启", True),
        ("他没来", True),
        ("对花生不过敏", True),
        ("味道不错", False),
        ("不仅快而且好", False),
        ("不过他喜欢", False),
        ("差不多十个", False),
        ("特别喜欢", False),
        ("不得不用", False),
        ("是不是喜欢", False),
        ("有没有车", False),
        ("不，用 pnpm", False),
        ("不同的方案", False),
        ("未来计划", False),
        ("无论如何", False),
        ("别人喜欢茶", False),
        ("没问题", False),
        ("not only fast but cheap", False),
        ("no problem", False),
        ("No, use pnpm", False),
        ("room No. 5", False),
        ("can't wait to use it", False),
        ("he knows Java", False),
        ("the bus stopped", False),
    ],
)
def test_polarity(text: str, negated: bool) -> None:
    assert is_negated(text) is negated


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Room 101", {"101"}),
        ("upgrade to v1.2", {"v1.2"}),
        ("call get_user with 3 args", {"get_user", "3"}),
        ("Alice", {"alice"}),
        ("Alice likes tea", {"alice"}),
        ("Meet Alice Smith on Monday", {"alice", "smith", "monday"}),
        ("Prefers tabs. Uses Vim", {"vim"}),
        ("The user prefers Python 3.11", {"python", "3.11"}),
        ("张三喜欢咖啡", {"张三"}),
        ("小王负责部署", {"小王"}),
        ("李老师说", {"李老师"}),
        ("他有三个孩子和两只猫", {"3", "2"}),
        ("住在三十二楼", {"32"}),
        ("每周三开会", {"周三"}),
        ("买一个苹果", set()),
        ("高兴的是程序在运行", set()),
        ("点“退款”按钮", {"退款"}),
        ("mail a@b.co or https://x.io/a.", {"a@b.co", "https://x.io/a"}),
        ("2025-03-01 and 1,000 rows", {"2025-03-01", "1000"}),
        ("run `npm ci` after TS2345", {"npm ci", "ts2345"}),
        ("two cats", {"2"}),
        ("a well-known work/life rule", set()),
    ],
)
def test_hard_terms(text: str, terms: set[str]) -> None:
    assert hard_terms(text) == terms


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("用户喜欢 Visual Studio Code", "zh"),
        ("The user likes 北京烤鸭 a lot", "en"),
        ("把 foo_bar 改成 baz", "zh"),
        ("123 !", "en"),
        ("", "en"),
    ],
)
def test_language(text: str, known: str) -> None:
    assert language(text) == known


ORDINARY_EN = [
    "The user prefers dark mode and uses Vim on a work laptop with a German keyboard.",
    "Deploys never happen on Friday afternoon because nobody is on call during the weekend.",
    "She moved from Berlin to Lisbon last spring and works remotely for a small startup.",
    "I have been learning the piano for three years, and I practice almost every evening.",
    "When the build fails, check the cache first, then delete node_modules and install again.",
    "His daughter is allergic to peanuts, so please suggest restaurants that take this seriously.",
    "We decided to keep PostgreSQL because the team already knows how to operate it well.",
    "Remember to ask about the budget before booking any flights or hotels for the trip.",
]
ORDINARY_ZH = [
    "用户喜欢在早上喝一杯咖啡，然后开始写代码。",
    "周五下午不要部署到生产环境，因为周末没有人值班。",
    "他去年从杭州搬到上海，现在在一家互联网公司工作。",
    "我们决定继续使用这个数据库，因为团队已经很熟悉它的运维方式。",
    "这个接口的超时时间改成三十秒，失败以后最多重试三次。",
    "她对花生过敏，推荐餐厅的时候一定要注意这一点。",
    "编译失败的时候，先检查缓存，再删除依赖目录重新安装。",
    "女儿从五岁开始学钢琴，每天晚上都要练习半个小时。",
]
ODD = [
    "https://github.com/org/repo-name/blob/main/src/app/main.py#L42",
    "550e8400-e29b-41d4-a716-446655440000",
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0",
    '{"a": [1, 2, {"b": null}], "name": "get_user"}',
    "用户在 Visual Studio Code 里用 Vim 插件，版本 v1.2.3，路径 /etc/nginx/nginx.conf",
    "用戶喜歡在臺灣喝烏龍茶，並且習慣繁體中文介面。",
    "こんにちは、東京タワーへ行きました。",
    "안녕하세요 저는 서울에 살아요",
    "👍🎉😂 great",
    "def f(x):\n    return x + 1\n\n\nprint(f(2))",
    "2025-03-01T09:00:00+08:00 ERROR ERR_CONN_RESET at 192.168.1.101:8080",
    "Привет, как дела? Я живу в Москве",
]


@lru_cache(maxsize=1)
def encoding():
    with warnings.catch_warnings():  # the package reads its data with a call that Python 3.11 deprecates
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai  # noqa: PLC0415

        return bpe_openai.get_encoding("o200k_base")


def true_tokens(text: str) -> int:
    return len(encoding().encode(text))


@pytest.mark.parametrize("text", [*ORDINARY_EN, *ORDINARY_ZH])
def test_the_token_estimate_of_an_ordinary_sentence_is_within_a_fifth(text: str) -> None:
    assert 0.85 <= count_tokens(text) / true_tokens(text) <= 1.2


@pytest.mark.parametrize(
    "texts", [ORDINARY_EN, ORDINARY_ZH, [a + b for a, b in zip(ORDINARY_EN, ORDINARY_ZH, strict=True)]]
)
def test_the_token_estimate_of_ordinary_text_is_within_15_percent(texts: list[str]) -> None:
    text = "\n".join(texts)
    assert 0.85 <= count_tokens(text) / true_tokens(text) <= 1.15


@pytest.mark.parametrize("text", ODD)
def test_the_token_estimate_is_never_far_below_the_truth(text: str) -> None:
    assert count_tokens(text) >= 0.8 * true_tokens(text)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("I use v1.2.3. It works. Pi is 3.14.", ["I use v1.2.3.", "It works.", "Pi is 3.14."]),
        ("See e.g. nginx.conf or https://a.b/c.html. Bye.", ["See e.g. nginx.conf or https://a.b/c.html.", "Bye."]),
        ("Dr. Smith said hi... and left. J. Doe agrees.", ["Dr. Smith said hi... and left.", "J. Doe agrees."]),
        ("用户喜欢茶。他住在杭州！真的吗？", ["用户喜欢茶。", "他住在杭州！", "真的吗？"]),
        ("是的……大概吧。版本3.11。", ["是的……大概吧。", "版本3.11。"]),
        ("1. Install it.\n2. Run it.", ["1. Install it.", "2. Run it."]),
        ("It was 2024. Then we moved.", ["It was 2024.", "Then we moved."]),
        ('He said "stop." Then left.', ['He said "stop."', "Then left."]),
        ("他说：“走吧。”然后走了。", ["他说：“走吧。”", "然后走了。"]),
        ("Tea, coffee, etc. Then more!", ["Tea, coffee, etc.", "Then more!"]),
        ("At 5 p.m. we meet.", ["At 5 p.m. we meet."]),
        ("", []),
    ],
)
def test_sentences(text: str, pieces: list[str]) -> None:
    assert sentences(text) == pieces


@pytest.mark.parametrize("text", ["hello", "用户\n喜欢\t茶\r\n", "ＡＢＣ 👍 e\u0301", "a" * 16_384, "\u200b.\x7f"])
def test_good_text_is_let_through_byte_for_byte(text: str) -> None:
    assert check_text(text, field="content") is text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (7, "must be text, not int"),
        (b"bytes", "must be text, not bytes"),
        ("", "is empty"),
        (" \n\t", "is empty"),
        ("a\x00b", r"U\+0000 at character 1"),
        ("a\x1b[0m", r"U\+001B"),
        ("a\ud800", "lone surrogate at character 1"),
        ("a" * 16_385, "16385 bytes"),
        ("茶" * 5_462, "16386 bytes"),
    ],
)
def test_bad_text_is_refused_with_a_way_out(text: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        check_text(text, field="content")
    assert caught.value.message.startswith("content ")
    assert caught.value.next_step


def test_blank_text_can_be_allowed() -> None:
    assert check_text("", field="reason", allow_empty=True) == ""


REPEATED = [
    "a",
    "aA",
    "A",
    "1.1",
    "a/b",
    "_",
    "-x",
    "__-",
    "a-",
    "我",
    "十",
    "张",
    "a@",
    "“",
    "1,000",
    "1. ",
    "no ",
    "👍",
    "\n",
]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", REPEATED)
def test_a_long_repetitive_text_is_read_in_linear_time(piece: str) -> None:
    text = piece * (16_000 // len(piece))
    index_tokens(text)
    query_tokens(text)
    hard_terms(text)
    is_negated(text)
    same_statement(text, text + "x")
    sentences(text)
    truncate(text, 50)
