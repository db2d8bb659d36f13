"""The controlled words: kinds, topics, subjects, tags, scopes, sources, and other names of technical things.

Words that mean the same fold to one, so that keys meet whatever spelling, case, width or script they
came in. Unknown kinds, scopes and sources are errors; unknown topics, tags and subjects are kept.
"""

import difflib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from afterwit.errors import InvalidInput, Sentence
from afterwit.messages import SENTENCES
from afterwit.records import GLOBAL, Basis, Kind
from afterwit.text import content_words, fold

#: Longest subject, topic, tag or scope, in characters.
MAX_NAME_CHARS = 200
#: Most tags of one memory.
MAX_TAGS = 20
#: The subject that stands for the person the agent works for.
USER = "user"

_KIND_WORDS: dict[Kind, str] = {
    Kind.PREFERENCE: "preferences, pref, user preference, like, dislike, taste, habit, 偏好, 用户偏好, 喜好, 习惯",
    Kind.FACT: "facts, info, information, knowledge, profile, user fact, semantic, 事实, 信息, 知识, 资料",
    Kind.CONSTRAINT: "constraints, requirement, restriction, limit, policy, 约束, 限制, 要求, 约定, 规定",
    Kind.DECISION: "decisions, choice, 决策, 决定, 选择, 选型",
    Kind.FAILURE: "failures, error, bug, failed attempt, mistake, 失败, 错误, 失误, 故障, 失败记录",
    Kind.LESSON: "lessons, lesson learned, technique, pitfall, experience, tip, gotcha, insight, "
    "教训, 经验, 技巧, 踩坑, 坑, 经验教训, 心得",
    Kind.RULE: "rules, principle, best practice, guideline, 规则, 规律, 原则, 准则, 最佳实践",
    Kind.INTENT: "intents, intention, todo, to do, reminder, plan, follow up, prospective, next time, "
    "待办, 待办事项, 提醒, 意图, 计划, 下次",
}


@dataclass(frozen=True)
class Topic:
    """One word of the topic vocabulary."""

    name: str
    #: one subject has one value at one time; a second value replaces the first or contradicts it
    single_valued: bool
    #: other words for it, folded
    synonyms: tuple[str, ...]


def fold_key(word: str) -> str:
    """Snake form of a word: "Job Title", "job-title" and "JobTitle" -> "job_title"; CJK kept, simplified."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", unicodedata.normalize("NFKC", word))
    return re.sub(r"[\s_\-]+", "_", fold(spaced)).strip("_")


def _words(text: str) -> tuple[str, ...]:
    """The table's words as `fold_key` gives them; they are written folded, so that importing costs no conversion."""
    return tuple(word.strip().replace(" ", "_") for word in text.split(","))


def _one(name: str, synonyms: str) -> Topic:
    return Topic(name, single_valued=True, synonyms=_words(synonyms))


def _many(name: str, synonyms: str) -> Topic:
    return Topic(name, single_valued=False, synonyms=_words(synonyms))


#: Every topic that has a fixed name. Others are free.
TOPICS: tuple[Topic, ...] = (
    _one(
        "residence",
        "home, home city, city, lives in, living place, home address, location, hometown now, current city, "
        "居住地, 住址, 住处, 现居地, 居住城市, 所在城市, 城市, 常住地, 家庭住址",
    ),
    _one(
        "employer",
        "company, workplace, work place, works at, current employer, 公司, 雇主, 工作单位, 单位, 单位名称, 任职公司",
    ),
    _one(
        "job_title",
        "job, title, position, occupation, profession, role title, career, 职位, 职务, 岗位, 职业, 工作职位, 头衔",
    ),
    _one("work_location", "work city, office location, 工作地, 工作地点, 工作城市, 办公地点"),
    _one("name", "full name, real name, user name, called, 姓名, 名字, 称呼, 用户姓名"),
    _one("birthday", "birth date, date of birth, dob, 生日, 出生日期"),
    _one("age", "years old, 年龄, 岁数"),
    _one("gender", "sex, 性别"),
    _one("height", "body height, 身高"),
    _one("birthplace", "hometown, place of birth, native place, 出生地, 家乡, 老家, 籍贯"),
    _many("education", "degree, education level, 学历, 教育背景, 教育程度"),
    _one("timezone", "time zone, tz, 时区"),
    _one("phone", "phone number, mobile, mobile number, telephone, 电话, 电话号, 手机号, 电话号码, 手机号码, 联系电话"),
    _one("email", "e mail, mail address, email address, 邮箱, 电子邮箱, 邮箱地址, 邮件地址"),
    _one("marital_status", "marriage, relationship status, 婚姻, 婚姻状况, 婚姻状态, 感情状况"),
    _one(
        "reply_language",
        "response language, answer language, preferred language, output language, 回复语言, 回答语言, 输出语言",
    ),
    _one("deadline", "due date, due, ship date, launch date, 截止日期, 截止时间, 最后期限, 期限, 上线日期"),
    _one("project_status", "status, progress, project progress, phase, 项目状态, 状态, 进度, 项目进度, 阶段"),
    _one("version", "current version, version number, release version, 版本, 版本号, 当前版本"),
    _one("budget", "cost limit, spending limit, 预算, 费用上限, 经费"),
    _many("package_manager", "pkg manager, package tool, 包管理器, 包管理工具, 包管理"),
    _many("ci", "continuous integration, ci cd, cicd, pipeline, 持续集成, 流水线"),
    _one("indentation", "indent, tabs or spaces, 缩进"),
    _many("family", "relatives, parents, siblings, family member, 家人, 家庭, 亲属, 家庭成员"),
    _many("children", "child, kids, son, daughter, 孩子, 子女, 儿子, 女儿, 小孩"),
    _many("pet", "pets, dog, cat, 宠物, 猫, 狗"),
    _many("diet", "dietary, eating habits, dietary restriction, dietary preference, 饮食, 饮食习惯, 忌口, 饮食偏好"),
    _many("allergy", "allergies, allergic, 过敏, 过敏源, 过敏原"),
    _many("health", "medical, illness, health condition, 健康, 身体状况, 健康状况, 疾病, 病史"),
    _many("language", "spoken language, languages, speaks, native language, 语言, 母语, 会说的语言"),
    _many("reply_style", "response style, answer style, tone, verbosity, 回复风格, 回答风格, 语气, 沟通风格"),
    _many("schedule", "calendar, availability, working hours, routine, 日程, 安排, 作息, 时间安排, 工作时间"),
    _many("travel", "trip, trips, journey, vacation, 出差, 旅行, 旅游, 行程, 出行"),
    _many("hobby", "hobbies, interest, interests, 爱好, 兴趣, 兴趣爱好"),
    _many("sport", "sports, exercise, fitness, workout, 运动, 健身, 锻炼, 体育"),
    _many("music", "songs, 音乐, 歌曲"),
    _many("film", "movie, movies, films, tv, 电影, 影视"),
    _many("book", "books, reading, 书, 书籍, 阅读"),
    _many("food", "foods, cuisine, dish, 食物, 美食, 菜, 菜系, 口味"),
    _many("drink", "drinks, beverage, coffee, tea, 饮料, 饮品, 咖啡, 茶"),
    _many("color", "colour, colors, 颜色"),
    _many("skill", "skills, expertise, 技能, 专长, 特长"),
    _many(
        "programming_language",
        "coding language, code language, programming languages, 编程语言, 开发语言, 程序语言",
    ),
    _many("framework", "frameworks, library, libraries, 框架, 库, 类库"),
    _many("database", "databases, db, data store, storage engine, 数据库, 资料库, 存储"),
    _many("editor", "ide, text editor, code editor, 编辑器, 代码编辑器, 开发工具"),
    _many("os", "operating system, platform, 操作系统, 系统平台"),
    _many("cloud", "cloud provider, hosting, 云, 云服务, 云平台, 云厂商"),
    _many("deployment", "deploy, release, rollout, 部署, 发布, 上线"),
    _many("testing", "test, tests, unit test, unit testing, qa, 测试, 单元测试, 单测"),
    _many("code_style", "coding style, style guide, formatting, naming, lint, 代码风格, 编码规范, 代码规范, 命名规范"),
    _many("api", "apis, endpoint, interface, rest api, 接口, api 接口"),
    _many("auth", "authentication, authorization, login, auth method, 鉴权, 认证, 授权, 登录, 身份验证"),
    _many("security", "secure, vulnerability, 安全, 漏洞, 安全性"),
    _many("performance", "perf, speed, latency, optimization, 性能, 性能优化, 延迟, 速度"),
    _many("network", "networking, proxy, dns, vpn, 网络, 代理"),
    _many("error", "errors, exception, bug, failure, 错误, 异常, 报错, 故障"),
    _many("meeting", "meetings, standup, appointment, 会议, 例会, 站会, 开会"),
    _many("contact", "contacts, contact person, owner, 联系人, 联系方式, 负责人"),
    _many("architecture", "design, system design, 架构, 系统设计, 设计"),
    _many("docs", "documentation, document, readme, 文档, 说明文档"),
    _many("git", "version control, branch, commit, branching, 版本控制, 分支, 提交规范"),
    _many("build", "compile, build system, bundler, 构建, 编译, 打包"),
    _many("logging", "logs, log, observability, monitoring, 日志, 监控"),
    _many("tooling", "tool, tools, toolchain, 工具, 工具链"),
    _many("model", "llm, ai model, language model, 模型, 大模型, 语言模型"),
    _many("prompt", "prompts, system prompt, 提示词, 提示语"),
    _many("workflow", "process, procedure, 流程, 工作流, 工作流程"),
    _many("environment", "env, environment variable, config, configuration, settings, 环境, 环境变量, 配置, 设置"),
)

_TOPIC_OF: dict[str, Topic] = {key: topic for topic in TOPICS for key in (topic.name, *topic.synonyms)}
_KIND_OF: dict[str, Kind] = {key: kind for kind, words in _KIND_WORDS.items() for key in (kind.value, *_words(words))}
_USER_WORDS = frozenset(
    _words(
        "user, the user, users, current user, this user, i, me, my, myself, self, human, the human, "
        "用户, 该用户, 当前用户, 使用者, 我, 本人, 我自己, 自己, 主人"
    )
)
_SOURCE_WORDS: dict[str, str] = {
    "user": "human, the user, person, 用户, 人, 我",
    "agent": "assistant, ai, bot, model, llm, 助手, 智能体, 代理",
    "tool": "tool output, tool call, command, shell, log, mcp, 工具, 工具输出, 命令",
    "test": "tests, ci, check, exit code, 测试, 单元测试, 验证",
    "web": "website, url, http, https, browser, page, internet, 网页, 网站, 互联网",
    "import": "imported, file, upload, export, migration, 导入, 文件",
    "review": "reflection, reviewer, self review, retrospective, 复盘, 反思, 回顾",
}
_SOURCE_OF: dict[str, str] = {key: kind for kind, words in _SOURCE_WORDS.items() for key in (kind, *_words(words))}
_BASIS_OF: dict[str, Basis] = {
    "user": Basis.STATED,
    "test": Basis.VERIFIED,
    "tool": Basis.OBSERVED,
    "agent": Basis.INFERRED,
    "review": Basis.REFLECTED,
    "web": Basis.IMPORTED,
    "import": Basis.IMPORTED,
}
_CONFIDENCE_OF: dict[Basis, float] = {
    Basis.STATED: 1.0,
    Basis.VERIFIED: 0.8,
    Basis.OBSERVED: 0.7,
    Basis.INFERRED: 0.6,
    Basis.REFLECTED: 0.6,
    Basis.IMPORTED: 0.6,
}
_SCOPE_FORMS = "Use global, project:NAME, session:ID or task:ID."


def fold_kind(word: str) -> Kind:
    """The kind that a word names: "preference", "Pref", 用户偏好 -> `Kind.PREFERENCE`.

    Raises:
        InvalidInput: no kind has this name; the message lists the eight and the nearest.
    """
    key = fold_key(word)
    if key in _KIND_OF:
        return _KIND_OF[key]
    raise InvalidInput(
        Sentence("Unknown kind {word}.", word=_shown(word)),
        next_step=Sentence(
            "{nearest}The kinds are {names}.",
            nearest=_nearest(key, _KIND_OF, {name: kind.value for name, kind in _KIND_OF.items()}),
            names=", ".join(Kind),
        ),
    )


def fold_topic(word: str) -> str:
    """The topic's fixed name: "Job Title", "job-title", 職位 -> "job_title"; unknown words in snake form.

    Raises:
        InvalidInput: over 200 characters or with control characters.
    """
    key = fold_key(_checked(word, "topic"))
    topic = _TOPIC_OF.get(key)
    return topic.name if topic else key


def is_single_valued(topic: str) -> bool:
    """Whether one subject has one value of it at one time; False for topics that have no fixed name."""
    known = _TOPIC_OF.get(fold_key(topic))
    return known is not None and known.single_valued


def is_known_topic(topic: str) -> bool:
    """Whether the vocabulary has a fixed name for it."""
    return fold_key(topic) in _TOPIC_OF


#: Topics of what somebody has or is for himself: what is filed there under one person says nothing of another.
PERSONAL_TOPICS = frozenset(
    "residence employer job_title work_location name birthday age gender height birthplace education timezone phone "
    "email marital_status family children pet diet allergy health hobby".split()
)


def words_of_topic(topic: str) -> frozenset[str]:
    """The words of a topic's names, Chinese characters one by one; none for topics that have no fixed name."""
    known = _TOPIC_OF.get(topic)
    names = " ".join((known.name, *known.synonyms)).replace("_", " ") if known else ""
    return frozenset(content_words(names))


def fold_subject(word: str) -> str:
    """Whom or what a memory is about, for comparison: "the user", "I", 我 -> "user"; "Alice " -> "alice".

    Names keep their script (張三 and 张三 stay two: characters that merge in simplified script
    are different surnames).

    Raises:
        InvalidInput: over 200 characters or with control characters.
    """
    text = _checked(word, "subject")
    return USER if fold_key(text) in _USER_WORDS else text.casefold()


def fold_tag(word: str) -> str:
    """A tag for comparison: NFKC, lower case, inner white space as one "-", a leading "#" dropped.

    Raises:
        InvalidInput: over 200 characters or with control characters.
    """
    return re.sub(r"\s+", "-", fold(_checked(word, "tag")).strip().lstrip("#"))


def fold_tags(words: Iterable[str]) -> tuple[str, ...]:
    """Tags folded, sorted, unique, without empty ones.

    Raises:
        InvalidInput: more than 20, or one that `fold_tag` refuses.
    """
    tags = tuple(sorted({tag for word in words if (tag := fold_tag(word))}))
    if len(tags) > MAX_TAGS:
        raise InvalidInput(
            Sentence("There are {count} tags; at most {most} are kept.", count=len(tags), most=MAX_TAGS),
            next_step="Keep the best ones.",
        )
    return tags


def fold_scope(text: str) -> str:
    """A valid scope, its name in NFKC and lower case, so that "Project:Atlas" and "project:atlas" meet.

    Raises:
        InvalidInput: not one of the four forms, over 200 characters or with control characters.
    """
    folded = _checked(text, "scope").casefold()
    if folded == GLOBAL:
        return GLOBAL
    sort, colon, name = (part.strip() for part in folded.partition(":"))
    if sort not in {"project", "session", "task"} or not colon or not name:
        raise InvalidInput(Sentence("{text} is not a scope.", text=_shown(text)), next_step=_SCOPE_FORMS)
    return f"{sort}:{name}"


def fold_source(word: str) -> str:
    """The kind of a source: "user", "agent", "tool", "test", "web", "import" or "review".

    Raises:
        InvalidInput: not a source; the message lists the seven.
    """
    key = fold_key(word)
    if key in _SOURCE_OF:
        return _SOURCE_OF[key]
    raise InvalidInput(
        Sentence("Unknown source {word}.", word=_shown(word)),
        next_step=Sentence(
            "{nearest}The sources are {names}.",
            nearest=_nearest(key, _SOURCE_OF, _SOURCE_OF),
            names=", ".join(_SOURCE_WORDS),
        ),
    )


def basis_of(source_kind: str) -> Basis:
    """The evidence that a source of this kind (as `fold_source` answers) gives; unknown kinds give `inferred`."""
    return _BASIS_OF.get(source_kind, Basis.INFERRED)


def confidence_of(basis: Basis) -> float:
    """How sure a memory starts, 0..1, when nobody says otherwise."""
    return _CONFIDENCE_OF[basis]


def _checked(word: str, what: str) -> str:
    text = " ".join(unicodedata.normalize("NFKC", word).split())
    if len(text) > MAX_NAME_CHARS:
        raise InvalidInput(
            Sentence(
                "The {what} has {count} characters; at most {most} are allowed.",
                what=what,
                count=len(text),
                most=MAX_NAME_CHARS,
            ),
            next_step=Sentence("Put the words into the text and give a short {what}.", what=what),
        )
    if any(unicodedata.category(char) in {"Cc", "Cs"} for char in text):
        raise InvalidInput(
            Sentence("The {what} has control characters: {text}.", what=what, text=_shown(text)),
            next_step="Remove them.",
        )
    return text


def _shown(word: str) -> str:
    return repr(word if len(word) <= 60 else word[:60] + "…")


def _nearest(key: str, known: Iterable[str], answers: dict[str, str]) -> str:
    close = difflib.get_close_matches(key[:MAX_NAME_CHARS], list(known), n=1, cutoff=0.7)
    return Sentence("Did you mean {name}? ", name=answers[close[0]]) if close else ""


# --- Technical things ------------------------------------------------------------------------------

_TECHNOLOGY_WORDS: dict[str, str] = {
    "programming_language": "python, java, javascript, typescript, golang, go, rust, c++, c#, ruby, php, kotlin, "
    "swift, scala, elixir, haskell, lua, perl, dart, julia, clojure, zig, node.js, nodejs",
    "framework": "react, vue, angular, svelte, next.js, nuxt, django, flask, fastapi, spring, spring boot, rails, "
    "laravel, express, nestjs, pytorch, tensorflow, pandas, tailwind, jquery, langchain, vite",
    "database": "postgresql, postgres, mysql, mariadb, sqlite, mongodb, redis, oracle, sql server, cassandra, "
    "clickhouse, elasticsearch, dynamodb, duckdb, tidb, oceanbase, qdrant, milvus, neo4j",
    "package_manager": "pnpm, npm, yarn, bun, pip, poetry, uv, conda, cargo, maven, gradle, brew, homebrew, pipenv",
    "editor": "vim, neovim, emacs, vscode, vs code, visual studio code, intellij, pycharm, cursor, zed, sublime, "
    "webstorm, goland, idea",
    "os": "linux, ubuntu, debian, macos, windows, fedora, centos, arch linux, windows 11, windows 10, alpine",
    "cloud": "aws, gcp, azure, google cloud, aliyun, alibaba cloud, 阿里云, 腾讯云, 华为云, cloudflare, vercel, heroku",
    "deployment": "docker, kubernetes, k8s, helm, argocd, terraform, ansible, nomad, systemd, docker compose",
    "ci": "github actions, gitlab ci, jenkins, circleci, travis, buildkite, drone",
    "testing": "pytest, jest, junit, vitest, mocha, cypress, playwright, selenium, unittest, testcontainers",
    "build": "webpack, bazel, cmake, make, ninja, rollup, esbuild, turbopack",
    "code_style": "ruff, black, eslint, prettier, tabs, spaces, snake_case, camelcase, gofmt",
    "tooling": "zsh, bash, fish, tmux, git, jira, notion, slack, figma, grafana, prometheus",
    "api": "rest, graphql, grpc, openapi, swagger, protobuf",
}
_TECHNOLOGY_OF: dict[str, str] = {
    name.strip(): topic for topic, names in _TECHNOLOGY_WORDS.items() for name in names.split(",")
}


def topic_of_technology(name: str) -> str:
    """The topic of a well-known technical name, whatever its version: "Java 17" gives "programming_language"."""
    folded = fold(name).strip()
    bare = re.sub(r"[\s@=v]*\d+(?:\.[\dx]+)*\+?$", "", folded)
    return _TECHNOLOGY_OF.get(folded) or _TECHNOLOGY_OF.get(bare, "")


# --- Marks of recalled text -----------------------------------------------------------------------

#: Name of the tag that encloses recalled memories in a prompt.
FENCE = "afterwit-memory"

_FENCED = re.compile(rf"<{FENCE}\b[^>]*>.*?(?:</{FENCE}\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_MARKED_LINE = re.compile(r"^.*\[m:[0-9a-f][0-9a-f-]{6,34}[0-9a-f]\].*$\n?", re.MULTILINE | re.IGNORECASE)
_STRAY_FENCE = re.compile(rf"</?{FENCE}\b[^>]*>", re.IGNORECASE)
#: What a search says about itself, on a line of its own; "{scopes}" is whatever it named.
_OF_A_SEARCH = re.compile(
    "^[ \\t]*(?:"
    + "|".join(
        re.escape(sentence).replace(re.escape("{scopes}"), "[^\\n]*")
        for key in ("nothing_relevant", "other_scopes")
        for sentence in SENTENCES[key]
    )
    + ")[ \\t]*$\\n?",
    re.MULTILINE,
)


def strip_injected(text: str) -> str:
    """Remove what recall itself put into the prompt, so that a memory never proves itself.

    Removes blocks `<afterwit-memory ...> ... </afterwit-memory>` (an unclosed one to the end), lines with
    an item mark `[m:ID]`, and the sentences with which a search says that it found nothing. Text without
    any comes back unchanged, byte for byte.
    """
    without = _MARKED_LINE.sub("", _FENCED.sub("", text))
    without = _OF_A_SEARCH.sub("", _STRAY_FENCE.sub("", without))
    return text if without == text else without.strip()
