"""Texts for benchmarks: many different, plausible memories in English and Chinese, the same on every run."""

import random
from collections.abc import Iterator

_SERVICES = "billing checkout search inventory ledger catalog notifier gateway scheduler reports auth profile".split()
_TOOLS = "pytest docker terraform webpack kubectl alembic ruff celery nginx redis kafka vite cargo gradle".split()
_PEOPLE = "Ann Bo Chen Dana Erik Fatima Goran Hana Ivan Jun Kemi Lars Mei Nadia Omar Priya".split()
_PEOPLE_ZH = "张伟 王芳 李娜 刘洋 陈静 杨帆 赵磊 黄敏 周杰 吴倩 徐强 孙丽".split()
_CITIES_ZH = "杭州 上海 北京 成都 深圳 西安 南京 武汉 厦门 苏州".split()
_FOODS_ZH = "面条 火锅 米饭 饺子 烤鸭 豆腐 海鲜 羊肉 青菜 包子".split()

_ENGLISH = (
    "The {service} service fails with {code} when {tool} runs before the {other} service is up; start {other} first.",
    "{person} prefers {tool} over {other_tool} for the {service} service because builds finish {n} seconds sooner.",
    "Tests of {service} need {tool} {version}; version {old} breaks the {other} fixtures.",
    "We decided to keep {service} on port {port} since {other} already uses the one below.",
    "{person} reviews changes to {service} on weekdays and {person2} covers the {other} service.",
    "The {service} database must be migrated with {tool} before release {version}, otherwise {code} appears.",
    "Call {service}_{other}() with a timeout of {n} seconds; the default one leads to {code}.",
)
_CHINESE = (
    "{service} 服务启动前必须先运行 {tool}，否则会报 {code}。",
    "{name}喜欢吃{food}，但在{city}出差时只吃{food2}。",
    "{name}负责 {service} 模块，{name2}负责 {other} 模块，每周评审{n}次。",
    "项目决定用 {tool} {version} 构建 {service}，因为旧版 {old} 太慢。",
    "{city}机房的 {service} 端口是 {port}，不要改成 {n}。",
    "{name}要求 {service} 的接口统一带上请求头，超时时间为{n}秒。",
)


def memory_texts(count: int, *, seed: int = 7) -> Iterator[str]:
    """`count` sentences, about half of them Chinese, nearly all different."""
    pick = random.Random(seed)  # noqa: S311
    for _ in range(count):
        version = f"{pick.randint(1, 30)}.{pick.randint(0, 20)}.{pick.randint(0, 9)}"
        values = {
            "service": pick.choice(_SERVICES),
            "other": pick.choice(_SERVICES),
            "tool": pick.choice(_TOOLS),
            "other_tool": pick.choice(_TOOLS),
            "person": pick.choice(_PEOPLE),
            "person2": pick.choice(_PEOPLE),
            "name": pick.choice(_PEOPLE_ZH),
            "name2": pick.choice(_PEOPLE_ZH),
            "city": pick.choice(_CITIES_ZH),
            "food": pick.choice(_FOODS_ZH),
            "food2": pick.choice(_FOODS_ZH),
            "code": f"E{pick.randint(1000, 9999)}",
            "version": version,
            "old": f"{pick.randint(1, 30)}.{pick.randint(0, 20)}",
            "port": pick.randint(1024, 65000),
            "n": pick.randint(2, 900),
        }
        yield pick.choice(_ENGLISH if pick.random() < 0.5 else _CHINESE).format(**values)


def query_texts(count: int, *, seed: int = 11) -> list[str]:
    """`count` different questions about such memories: a repeated one would be answered from the kept answers."""
    pick = random.Random(seed)  # noqa: S311
    forms = (
        "why does the {service} service fail when {tool} runs first",
        "which version of {tool} do tests of {service} need",
        "who reviews changes to the {service} service",
        "what does error E{code} mean in {service}",
        "{name}喜欢吃什么",
        "{service} 服务启动前要做什么",
        "{city}机房的 {service} 端口是多少",
        "谁负责 {service} 模块",
    )
    found: dict[str, None] = {}
    while len(found) < count:
        question = pick.choice(forms).format(
            service=pick.choice(_SERVICES),
            tool=pick.choice(_TOOLS),
            name=pick.choice(_PEOPLE_ZH),
            city=pick.choice(_CITIES_ZH),
            code=pick.randint(1000, 9999),
        )
        found[question] = None
    return list(found)


#: Topics of the key-filter experiment: what a project has one of, and its possible values.
ATTRIBUTES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("programming_language", "The backend is written in {}.", ("Go", "Java", "Python", "Rust", "Kotlin", "Elixir")),
    ("database", "The main database is {}.", ("PostgreSQL", "MySQL", "MongoDB", "SQLite", "CockroachDB")),
    ("deployment", "Releases are deployed with {}.", ("Helm", "Nomad", "Ansible", "Fly", "Capistrano")),
    ("testing", "The tests are run with {}.", ("pytest", "JUnit", "vitest", "go test", "rspec")),
    ("auth", "接口鉴权统一使用{}。", ("请求头 token", "Cookie", "OAuth2", "双向 TLS", "API 密钥")),
    ("code_style", "代码风格遵循{}。", ("Google 规范", "PEP 8", "Airbnb 规范", "标准库风格", "公司内部规范")),
    ("logging", "日志统一输出到{}。", ("Loki", "Elasticsearch", "标准输出", "Kafka", "Syslog")),
    ("package_manager", "依赖用{}管理。", ("pnpm", "npm", "uv", "poetry", "cargo")),
)

#: topic -> the question asked about it, which does not name the project: the key does.
QUESTIONS = {
    "programming_language": "Which language is the backend written in?",
    "database": "Which database do we use?",
    "deployment": "How are releases deployed?",
    "testing": "What runs the tests?",
    "auth": "接口怎么鉴权？",
    "code_style": "代码风格用什么规范？",
    "logging": "日志输出到哪里？",
    "package_manager": "依赖用什么管理？",
}
