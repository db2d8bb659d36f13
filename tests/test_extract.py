"""Extraction by rule: what is found in Chinese and English, and above all what is not."""

from datetime import UTC, datetime

import pytest

from afterwit.errors import InvalidInput
from afterwit.extract import enrich, extract, prepare
from afterwit.records import Basis, Candidate, Kind

#: A Tuesday.
NOW = datetime(2025, 6, 10, 4, tzinfo=UTC)
ZONE = "Asia/Shanghai"

PREFERENCE, FACT, CONSTRAINT, DECISION, FAILURE, LESSON, INTENT = (
    Kind.PREFERENCE,
    Kind.FACT,
    Kind.CONSTRAINT,
    Kind.DECISION,
    Kind.FAILURE,
    Kind.LESSON,
    Kind.INTENT,
)

#: What a user says -> kinds under which it may be kept.
POSITIVE_EN: list[tuple[str, set[Kind]]] = [
    ("I prefer tabs over spaces.", {PREFERENCE}),
    ("I really don't like long explanations.", {PREFERENCE}),
    ("Please answer in Chinese.", {PREFERENCE}),
    ("Keep your answers short.", {PREFERENCE}),
    ("My favorite editor is Neovim.", {PREFERENCE}),
    ("I love hiking on weekends.", {PREFERENCE}),
    ("I don't eat pork.", {PREFERENCE}),
    ("Call me Sam.", {PREFERENCE, FACT}),
    ("I'd rather use SQLite for small tools.", {PREFERENCE}),
    ("I hate meetings before 10am.", {PREFERENCE}),
    ("I live in Berlin.", {FACT}),
    ("I moved to Shanghai last month.", {FACT}),
    ("I work at Siemens as a backend engineer.", {FACT}),
    ("I'm a data scientist.", {FACT}),
    ("My birthday is March 5.", {FACT}),
    ("I'm allergic to peanuts.", {FACT}),
    ("I'm vegetarian.", {FACT, PREFERENCE}),
    ("I have two kids.", {FACT}),
    ("I have a dog named Rex.", {FACT}),
    ("My wife is a doctor.", {FACT}),
    ("Alice works at Google.", {FACT}),
    ("I speak French.", {FACT}),
    ("My timezone is UTC+8.", {FACT}),
    ("I'm flying to Tokyo next Monday.", {FACT}),
    ("I'll be on vacation from Friday.", {FACT}),
    ("We use Grafana for dashboards.", {FACT}),
    ("Our backend is written in Go.", {FACT}),
    ("We switched to pnpm last week.", {FACT}),
    ("Production runs on Kubernetes.", {FACT}),
    ("The deadline is June 30.", {FACT}),
    ("The staging server is at staging.example.com.", {FACT}),
    ("Project Atlas uses Python 3.12.", {FACT}),
    ("We no longer use Jenkins.", {FACT}),
    ("I started at Stripe in April.", {FACT}),
    ("No, use pnpm instead of npm.", {CONSTRAINT, PREFERENCE}),
    ("Don't use jQuery, use plain JavaScript.", {CONSTRAINT, PREFERENCE}),
    ("Always use header token auth.", {CONSTRAINT}),
    ("Never push directly to main.", {CONSTRAINT}),
    ("Don't add comments that restate the code.", {CONSTRAINT}),
    ("From now on, write commit messages in English.", {CONSTRAINT, PREFERENCE}),
    ("All endpoints must return JSON.", {CONSTRAINT}),
    ("Secrets must never be logged.", {CONSTRAINT}),
    ("Deploys on Fridays are not allowed.", {CONSTRAINT}),
    ("We decided to drop Python 3.9 support because nobody uses it.", {DECISION}),
    ("We chose PostgreSQL over MySQL because we need row-level security.", {DECISION}),
    ("Let's go with Redis for the queue.", {DECISION}),
    ("The team settled on trunk-based development.", {DECISION}),
    ("Next time, check the cache headers first.", {INTENT, LESSON}),
    ("Remind me to renew the certificate next week.", {INTENT}),
    ("TODO later: clean up the feature flags.", {INTENT}),
    ("Don't forget to update the changelog.", {INTENT}),
    ("When we have time, we should look at the slow query.", {INTENT}),
    ("We need to revisit the retry policy after the release.", {INTENT}),
    ("The API needs the token in the header.", {LESSON, FACT, CONSTRAINT}),
    ("It turned out the proxy strips the header.", {LESSON}),
    ("The root cause was a stale DNS cache.", {LESSON}),
    ("The build only works with Node 20.", {LESSON}),
    ("The fix was to pin numpy below 2.", {LESSON}),
    ("If the upload times out, retry with a smaller chunk size.", {LESSON}),
    ("We tried mmap but it crashed on Windows.", {FAILURE, LESSON}),
    ("Lesson learned: run the migrations before the deploy.", {LESSON}),
    # forms that rules are not expected to all find
    ("Mornings are best for me.", {PREFERENCE, FACT}),
    ("Peanuts could kill me, so keep them off the menu.", {FACT, CONSTRAINT, PREFERENCE}),
    ("Home is Lisbon these days.", {FACT}),
    ("Postgres it is, since the team knows it.", {DECISION}),
    ("Two-space indentation, please.", {PREFERENCE, CONSTRAINT}),
]
POSITIVE_ZH: list[tuple[str, set[Kind]]] = [
    ("我不吃辣。", {PREFERENCE, FACT}),
    ("我喜欢喝美式咖啡。", {PREFERENCE}),
    ("以后都用中文回答我。", {PREFERENCE, CONSTRAINT}),
    ("回答尽量简短一点。", {PREFERENCE, CONSTRAINT}),
    ("我最喜欢的编辑器是 Neovim。", {PREFERENCE}),
    ("我讨厌早上开会。", {PREFERENCE}),
    ("我更喜欢用 Tab 缩进。", {PREFERENCE}),
    ("叫我小王就行。", {PREFERENCE, FACT}),
    ("我希望你先给结论再解释。", {PREFERENCE, CONSTRAINT}),
    ("我从来不喝牛奶。", {PREFERENCE, FACT}),
    ("我住在上海。", {FACT}),
    ("我上个月搬到杭州了。", {FACT}),
    ("我在字节跳动工作。", {FACT}),
    ("我是后端工程师。", {FACT}),
    ("我的生日是 5 月 1 日。", {FACT}),
    ("我对花生过敏。", {FACT}),
    ("我是素食主义者。", {FACT, PREFERENCE}),
    ("我有两个孩子。", {FACT}),
    ("我家养了一只猫。", {FACT}),
    ("我妻子是医生。", {FACT}),
    ("张三在腾讯上班。", {FACT}),
    ("李婷婷的邮箱是 liting@example.com。", {FACT}),
    ("我今年 32 岁。", {FACT}),
    ("我下周要去成都出差。", {FACT, INTENT}),
    ("我有高血压。", {FACT}),
    ("我老家是山东青岛。", {FACT}),
    ("我表弟在浙江杭州工作呢。", {FACT}),
    ("我们公司用的是 Java 17。", {FACT}),
    ("后端是用 Go 写的。", {FACT}),
    ("我们已经从 Jenkins 换成 GitHub Actions 了。", {FACT, DECISION}),
    ("生产环境部署在阿里云。", {FACT}),
    ("项目 Atlas 的截止日期是 6 月底。", {FACT}),
    ("测试环境的地址是 10.0.0.12。", {FACT}),
    ("上线时间改到 3 月 15 日了。", {FACT}),
    ("我们不再用 Jenkins 了。", {FACT}),
    ("我刚入职华为。", {FACT}),
    ("别用 npm，用 pnpm。", {CONSTRAINT, PREFERENCE}),
    ("不对，应该是 8080 端口。", {FACT, CONSTRAINT}),
    ("用 pnpm 代替 npm。", {CONSTRAINT, PREFERENCE}),
    ("接口统一使用请求头 token 鉴权。", {CONSTRAINT, FACT}),
    ("禁止直接推送到 main 分支。", {CONSTRAINT}),
    ("提交前必须跑单元测试。", {CONSTRAINT}),
    ("不要在代码里写死密码。", {CONSTRAINT}),
    ("以后提交信息都写英文。", {CONSTRAINT, PREFERENCE}),
    ("所有接口必须返回 JSON。", {CONSTRAINT}),
    ("我们决定用 Redis 做队列，因为已经部署好了。", {DECISION}),
    ("选了 PostgreSQL 没选 MySQL，因为需要行级安全。", {DECISION}),
    ("方案 A 被否了，因为成本太高。", {DECISION}),
    ("最终确定采用微服务架构。", {DECISION}),
    ("下次有空帮我看看性能优化。", {INTENT}),
    ("明天提醒我续签证书。", {INTENT}),
    ("别忘了更新变更日志。", {INTENT}),
    ("等上线之后再清理特性开关。", {INTENT}),
    ("待办：补充集成测试。", {INTENT}),
    ("这个接口的鉴权要用 header 里的 token。", {LESSON, FACT, CONSTRAINT}),
    ("原来是代理把请求头去掉了。", {LESSON}),
    ("根本原因是 DNS 缓存过期。", {LESSON}),
    ("解决办法是把 numpy 固定在 2 以下。", {LESSON}),
    ("返回 401 时要先刷新 token 再重试。", {LESSON, CONSTRAINT}),
    ("升级到 Node 20 才能编译通过。", {LESSON}),
    ("试过用 mmap，但是在 Windows 上崩溃。", {FAILURE, LESSON}),
    ("先执行迁移再部署，否则启动会报错。", {LESSON, CONSTRAINT}),
    # forms that rules are not expected to all find
    ("辣的我可碰不得。", {PREFERENCE, FACT}),
    ("早上九点前别给我排会。", {CONSTRAINT, PREFERENCE}),
    ("咱家俩娃，大的上小学。", {FACT}),
    ("存储这块就 Postgres 了。", {DECISION}),
    ("缩进两个空格。", {PREFERENCE, CONSTRAINT}),
]
#: What a user says that must not be kept.
NEGATIVE_EN = [
    "Do I prefer tabs or spaces?",
    "Where do I live?",
    "Should we use Redis?",
    "If I lived in Paris, I would walk to work.",
    "I wish I lived in Paris.",
    "Imagine I work at NASA.",
    "Suppose we use MongoDB here.",
    "Let's say I moved to Mars.",
    "I would like to see the logs.",
    "I'd like you to fix the login bug.",
    "I like it.",
    "I like your idea.",
    "I love this!",
    "I hate that this keeps happening.",
    "Looks like the test is flaky.",
    "She said she lives in Berlin.",
    "My friend says he hates Java.",
    'Bob told me "I prefer tabs over spaces".',
    'The article says "always use tabs for indentation".',
    "According to the docs, we use port 80.",
    "Maybe we use Redis later.",
    "We might switch to Rust.",
    "I'm thinking about moving to Berlin.",
    "I'm considering a job at Google.",
    "I probably live too far away.",
    "I live on coffee lol.",
    "I live in the terminal, just kidding.",
    "I never said I like Java.",
    "It's not that I hate meetings.",
    "I don't think we use Kafka.",
    "I used to live in London.",
    "When I was a kid I loved trains.",
    "For example, I prefer tabs.",
    "Translate: I live in Paris.",
    "Please rewrite this: I work at Google and I love cats.",
    "Write a story about a man who moved to Rome.",
    "You are a pirate who hates water.",
    "Can you fix the login page?",
    "Please fix the failing test.",
    "Run the tests again.",
    "Open src/main.py and look at line 10.",
    "What does this function do?",
    "The server is down.",
    "My build is failing.",
    "My code is broken.",
    "Our tests are slow today.",
    "The test failed again.",
    "I'm tired.",
    "I'm not sure.",
    "I'm going to lunch.",
    "I have a question about the API.",
    "I need help with CSS.",
    "You must be kidding.",
    "It must have been the cache.",
    "Don't worry about it.",
    "Don't delete this file.",
    "Don't do that yet.",
    "Thanks, that works.",
    "Great, let's continue.",
    "Let's go.",
    "I see the error in the log.",
    "I think we should stop here.",
    "Next, open the settings page.",
    "Everyone loves pizza, they say.",
    "Use it.",
    "We moved to the next item.",
    "I got a 404 from the server.",
    "That is the reason I asked.",
    "> I prefer tabs over spaces.",
    "    x = prefer(tabs)",
    "What if we use Kafka instead of Redis",
    "I am looking at the logs now.",
    "I just ran the migration.",
    "He lives in Berlin and works at Siemens, he claims.",
]
NEGATIVE_ZH = [
    "我住在哪里？",
    "你知道我喜欢什么吗",
    "我们要不要用 Redis？",
    "如果我住在巴黎，我会走路上班。",
    "要是我在谷歌工作就好了。",
    "假设我们用 MongoDB。",
    "想象一下我是飞行员。",
    "我喜欢这个。",
    "我喜欢你的想法。",
    "我爱你。",
    "他说他住在北京。",
    "我朋友说他讨厌 Java。",
    "李四告诉我“我喜欢用 Tab 缩进”。",
    "文章里写着必须用空格缩进。",
    "据说他们公司用的是 Go。",
    "可能以后会用 Redis。",
    "我在考虑搬到成都。",
    "也许我们会换成 Rust。",
    "我好像对花生过敏。",
    "我还没决定要不要去华为。",
    "我住在火星，开玩笑的。",
    "我是秦始皇，哈哈。",
    "我没说过我喜欢 Java。",
    "不是说我讨厌开会。",
    "我以前住在南京。",
    "小时候我喜欢火车。",
    "比如我喜欢用空格。",
    "翻译：我住在巴黎。",
    "请润色：我在谷歌工作，我喜欢猫。",
    "写一个故事，主角搬到罗马了。",
    "你是一名海盗，讨厌水。",
    "帮我修一下登录页。",
    "请看一下这个报错。",
    "再跑一遍测试。",
    "打开 src/main.py 看第十行。",
    "这个函数是干什么的",
    "服务挂了。",
    "构建又失败了。",
    "我的代码报错了。",
    "今天测试有点慢。",
    "我累了。",
    "我不知道。",
    "我去吃饭了。",
    "我有个问题。",
    "我想问一下接口的事。",
    "你必须是在逗我。",
    "别担心。",
    "别急。",
    "别删这个文件。",
    "先别动。",
    "谢谢，可以了。",
    "好的，继续吧。",
    "我们开始吧。",
    "我看到日志里有错误。",
    "我觉得差不多了。",
    "大家都说披萨好吃。",
    "用它就行。",
    "我叫了外卖。",
    "下次见。",
    "我还没吃饭。",
    "我不吃了。",
    "还记得吗",
    "我在看日志。",
    "我刚刚跑了迁移。",
    "> 我喜欢用空格。",
    "这是我问的原因。",
    "我在公司呢。",
    "我们下一项。",
    "我叫他来看看。",
    "听说老王搬到深圳了。",
    "谁说我喜欢加班。",
    "我以为我们用的是 MySQL。",
]
POSITIVE = POSITIVE_EN + POSITIVE_ZH
NEGATIVE = NEGATIVE_EN + NEGATIVE_ZH


def kinds(text: str) -> list[Kind]:
    return [candidate.kind for candidate in extract(text, now=NOW, timezone=ZONE)]


@pytest.mark.parametrize(
    ("positive", "negative"),
    [(POSITIVE_EN, NEGATIVE_EN), (POSITIVE_ZH, NEGATIVE_ZH)],
    ids=["english", "chinese"],
)
def test_precision_and_recall_on_written_sentences(positive: list[tuple[str, set[Kind]]], negative: list[str]):
    assert len(positive) >= 60
    assert len(negative) >= 60
    right = [text for text, allowed in positive if (found := kinds(text)) and set(found) <= allowed]
    wrong_kind = [(text, kinds(text)) for text, allowed in positive if not set(kinds(text)) <= allowed]
    false = [(text, kinds(text)) for text in negative if kinds(text)]
    missed = [text for text, _ in positive if not kinds(text)]
    precision = len(right) / (len(right) + len(wrong_kind) + len(false))
    recall = len(right) / len(positive)
    assert precision >= 0.95, (wrong_kind, false)
    assert recall >= 0.7, missed


def described(text: str) -> Candidate:
    return enrich(text, now=NOW, timezone=ZONE)


@pytest.mark.parametrize(
    ("text", "kind", "subject", "topic", "value"),
    [
        ("User moved to Shanghai", FACT, "user", "residence", "Shanghai"),
        ("User has lived in Shanghai since March 2025", FACT, "user", "residence", "Shanghai"),
        ("User works at ByteDance as a backend engineer", FACT, "user", "employer", "ByteDance"),
        ("User's favorite food is sushi", PREFERENCE, "user", "food", "sushi"),
        ("Alice's birthday is March 5", FACT, "alice", "birthday", "March 5"),
        ("My wife is a doctor", FACT, "user's wife", "job_title", "doctor"),
        ("Project Atlas switched from MySQL to PostgreSQL", FACT, "project:atlas", "database", "PostgreSQL"),
        ("Project Atlas uses Python 3.12", FACT, "project:atlas", "programming_language", "Python 3.12"),
        ("User prefers tabs over spaces", PREFERENCE, "user", "code_style", "tabs"),
        ("Always reply in English", PREFERENCE, "user", "reply_language", "English"),
        ("The deadline for project Atlas is June 30", FACT, "project:atlas", "deadline", "June 30"),
        ("Room 101 is for meetings", FACT, "", "", ""),
        ("用户搬到上海了", FACT, "user", "residence", "上海"),
        ("用户2025年3月搬到上海", FACT, "user", "residence", "上海"),
        ("我住在上海", FACT, "user", "residence", "上海"),
        ("用户在阿里巴巴工作", FACT, "user", "employer", "阿里巴巴"),
        ("用户的职位是后端工程师", FACT, "user", "job_title", "后端工程师"),
        ("我们公司用的是 Java 17", FACT, "user", "programming_language", "Java 17"),
        ("张三的生日是5月1日", FACT, "张三", "birthday", "5月1日"),
        ("李四住在北京", FACT, "李四", "residence", "北京"),
        ("我表弟的生日是7月15日", FACT, "用户的表弟", "birthday", "7月15日"),
        ("项目 Atlas 用的是 PostgreSQL 16", FACT, "project:atlas", "database", "PostgreSQL 16"),
        ("用户喜欢吃川菜", PREFERENCE, "user", "food", "川菜"),
        ("以后都用中文回答我", PREFERENCE, "user", "reply_language", "中文"),
        ("用户对花生过敏", FACT, "user", "allergy", "花生"),
    ],
)
def test_a_statement_is_described(text: str, kind: Kind, subject: str, topic: str, value: str):
    found = described(text)
    assert (found.kind, found.subject, found.topic, found.value) == (kind, subject, topic, value)
    assert found.summary == found.raw == text


@pytest.mark.parametrize("text", ["My friend lives in Rome", "我同事的生日是5月1日"])
def test_one_of_several_people_gets_no_slot(text: str):
    assert described(text).subject == ""


@pytest.mark.parametrize(
    ("text", "basis", "confidence"),
    [
        ("I prefer tabs", Basis.STATED, 1.0),
        ("我不吃辣", Basis.STATED, 1.0),
        ("User said they are allergic to peanuts", Basis.STATED, 1.0),
        ("用户明确表示不吃辣", Basis.STATED, 1.0),
        ("用户要求回答尽量简短", Basis.STATED, 1.0),
        ("User prefers tabs", Basis.INFERRED, 0.6),
        ("User seems to prefer Vim", Basis.INFERRED, 0.6),
        ("I probably prefer Vim", Basis.INFERRED, 0.6),
        ("用户似乎更喜欢 Vim", Basis.INFERRED, 0.6),
        ("用户可能住在北京", Basis.INFERRED, 0.6),
        ("She said she lives in Berlin", Basis.INFERRED, 0.6),
    ],
)
def test_only_own_or_reported_words_of_the_user_count_as_stated(text: str, basis: Basis, confidence: float):
    assert (described(text).basis, described(text).confidence) == (basis, confidence)


@pytest.mark.parametrize(
    ("text", "is_change", "is_negated"),
    [
        ("User moved to Shanghai", True, False),
        ("User lives in Shanghai", False, False),
        ("User no longer works at Google", True, True),
        ("User does not use Java", False, True),
        ("We stopped using Jenkins", True, True),
        ("No, use pnpm instead of npm", True, False),
        ("We chose PostgreSQL, not MySQL", False, False),
        ("用户搬到上海了", True, False),
        ("用户改用 pnpm 了", True, False),
        ("用户不再使用 Java", True, True),
        ("用户不用 Java", False, True),
        ("别用 npm，用 pnpm", True, False),
        ("我不吃辣", False, True),
    ],
)
def test_words_of_change_and_denial_are_seen(text: str, is_change: bool, is_negated: bool):
    assert (described(text).is_change, described(text).is_negated) == (is_change, is_negated)


def test_a_decision_keeps_choice_options_and_reason():
    english = described("We chose PostgreSQL over MySQL because we need row-level security.")
    assert english.structured == {
        "chosen": "PostgreSQL",
        "rejected": "MySQL",
        "options": ["PostgreSQL", "MySQL"],
        "rationale": "we need row-level security",
    }
    chinese = described("选了 PostgreSQL 没选 MySQL，因为需要行级安全")
    assert chinese.kind is DECISION
    assert chinese.structured["chosen"] == "PostgreSQL"
    assert chinese.structured["rejected"] == "MySQL"
    assert chinese.structured["rationale"] == "需要行级安全"
    plain = described("Decided to use FastAPI instead of Flask because of async support")
    assert (plain.value, plain.structured["rationale"]) == ("FastAPI", "async support")


def test_an_intent_keeps_its_trigger_or_due_time():
    assert described("下次有空帮我看看性能优化").structured["trigger"] == "下次"
    assert described("Next time, check the cache headers").structured["trigger"] == "Next time"
    assert described("Remind me to renew the domain on 2025-07-01").structured["due"] == "2025-06-30T16:00:00Z"
    assert described("明天提醒我续签证书").structured["due"] == "2025-06-10T16:00:00Z"


def test_a_lesson_keeps_its_parts_and_nature():
    found = described("If the upload times out, retry with a smaller chunk size.")
    assert found.kind is LESSON
    assert found.structured == {
        "situation": "the upload times out",
        "action": "retry with a smaller chunk size",
        "nature": "technique",
    }
    assert described("The root cause was a stale DNS cache").structured["nature"] == "pitfall"


def test_times_of_validity_are_read():
    trip = described("User is traveling to Tokyo until June 20")
    assert trip.valid_to == datetime(2025, 6, 20, 16, tzinfo=UTC)
    moved = described("用户2025年3月搬到上海")
    assert moved.valid_from == moved.happened_at == datetime(2025, 2, 28, 16, tzinfo=UTC)


def test_a_text_of_several_sentences_is_described_by_the_first_sure_one():
    found = described("Thanks! What a day. I moved to Shanghai. I love it.")
    assert (found.topic, found.value) == ("residence", "Shanghai")


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("I prefer tabs over spaces.", "User prefers tabs over spaces."),
        ("I don't eat pork.", "User does not eat pork."),
        ("I'm allergic to peanuts.", "User is allergic to peanuts."),
        ("I have two kids.", "User has two kids."),
        ("My birthday is March 5.", "User's birthday is March 5."),
        ("I moved to Berlin with my wife.", "User moved to Berlin with their wife."),
        ("By the way, I live in Oslo.", "User lives in Oslo."),
        ("We use Grafana for dashboards.", "We use Grafana for dashboards."),
        ("No, use pnpm instead of npm.", "use pnpm instead of npm."),
        ("我不吃辣。", "用户不吃辣。"),
        ("对了，我住在上海。", "用户住在上海。"),
        ("我们公司用的是 Java 17。", "我们公司用的是 Java 17。"),
        ("我希望你先给结论再解释。", "用户希望助手先给结论再解释。"),
    ],
)
def test_summaries_are_in_the_third_person_where_that_is_safe(text: str, summary: str):
    (found,) = extract(text, now=NOW, timezone=ZONE)
    assert (found.summary, found.raw) == (summary, text)


TRANSCRIPT = """User: Hi! I prefer tabs over spaces. Can you fix the login bug?
Assistant: Sure. I prefer spaces myself. It turned out the proxy strips the header.
User: No, use pnpm instead of npm.
```
I live in Rome.
```
[m:0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000] User lives in Paris
System: I am a teacher.
"""


def test_only_the_users_speech_gives_preferences_and_stated_facts():
    found = extract(TRANSCRIPT, now=NOW, timezone=ZONE)
    assert [(item.kind, item.raw, item.basis) for item in found] == [
        (PREFERENCE, "I prefer tabs over spaces.", Basis.STATED),
        (LESSON, "It turned out the proxy strips the header.", Basis.INFERRED),
        (CONSTRAINT, "No, use pnpm instead of npm.", Basis.STATED),
    ]


def test_chinese_transcripts_are_read_by_speaker():
    text = (
        "用户：你好，我不吃辣。帮我订个餐厅\n"
        "助手：好的，我喜欢川菜。我们决定用 Redis 做队列，因为已经部署好了。\n"
        "用户：我住在上海"
    )
    found = extract(text, now=NOW, timezone=ZONE)
    assert [(item.kind, item.basis) for item in found] == [
        (PREFERENCE, Basis.STATED),
        (DECISION, Basis.INFERRED),
        (FACT, Basis.STATED),
    ]


def test_several_statements_come_in_order_and_repeats_once():
    text = "I live in Oslo. I'm vegetarian.\n\nI live in Oslo.\n我对花生过敏。"
    assert [item.topic for item in extract(text, now=NOW, timezone=ZONE)] == ["residence", "diet", "allergy"]


def test_a_statement_taken_back_as_a_joke_is_dropped():
    assert extract("I live in Oslo. Just kidding!", now=NOW, timezone=ZONE) == []
    assert extract("我住在上海。开玩笑的。", now=NOW, timezone=ZONE) == []


def test_text_to_be_worked_on_is_not_taken_as_the_users_words():
    text = "Please translate the following:\n"
    assert extract(text + "I live in Paris.", now=NOW, timezone=ZONE) == []
    assert extract("请翻译下面这段话：\n我住在巴黎。我喜欢猫。", now=NOW, timezone=ZONE) == []


def test_recalled_memories_and_code_give_nothing():
    fenced = '<afterwit-memory id="1">\nUser prefers tabs.\nI live in Paris.\n</afterwit-memory>'
    assert extract(fenced, now=NOW, timezone=ZONE) == []
    assert extract("```\nI live in Paris.\n```", now=NOW, timezone=ZONE) == []


def test_an_unknown_zone_is_refused():
    with pytest.raises(InvalidInput):
        enrich("I moved to Oslo yesterday", now=NOW, timezone="Mars/Base")


@pytest.mark.parametrize("text", ["", "   ", "。", "\n\n", "🙂", "\ud800"])
def test_texts_without_words_give_nothing(text: str):
    assert extract(text, now=NOW, timezone=ZONE) == []
    assert enrich(text, now=NOW, timezone=ZONE).kind is FACT


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "unit",
    ["a", "I ", "我", "用A代替", "从A换成", "“", '"', "to avoid x, ", "User: ", "12:", "really ", "( ", "项目", "，"],
)
def test_hostile_repetition_is_read_quickly(unit: str):
    for size in (400, 16_000):
        text = (unit * size)[:size]
        extract(text, now=NOW, timezone=ZONE)
        enrich(text, now=NOW, timezone=ZONE)


@pytest.mark.parametrize("text", ["Please write commit messages in English.", "提交信息都用英文写。"])
def test_the_language_of_a_document_is_not_that_of_replies(text: str):
    assert "reply_language" not in [item.topic for item in extract(text, now=NOW, timezone=ZONE)]


@pytest.mark.parametrize("text", ["I'm moving to Berlin next month.", "我下个月要搬到苏州。"])
def test_a_planned_move_does_not_fill_the_slot_of_today(text: str):
    assert "residence" not in [item.topic for item in extract(text, now=NOW, timezone=ZONE)]


def test_rules_can_be_compiled_ahead():
    prepare()
    assert described("I live in Oslo").topic == "residence"
