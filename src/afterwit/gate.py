"""Is this worth keeping? Refuses what is nothing but noise, and says why.

Rules only, no model. Two mistakes are possible and both are costly: kept noise dilutes every later
answer, a refused statement is lost. So a rule refuses only text that has *nothing but* noise in it:
a greeting with a statement, a lesson that quotes an error line, a fact with numbers all pass.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from afterwit.text import fold, language, sentences
from afterwit.vocabulary import strip_injected

#: Longest statement, in characters. A memory is one or two sentences; more than this fits no answer's budget.
MAX_STATEMENT_CHARS = 4_000

#: reason -> (English, Chinese)
_MESSAGES: dict[str, tuple[str, str]] = {
    "": ("Worth keeping.", "值得记住。"),
    "empty": (
        "The text is empty; write one sentence that will still be true and useful later.",
        "内容为空；请写一句以后仍然成立、仍然有用的话。",
    ),
    "too_long": (
        f"The text is longer than {MAX_STATEMENT_CHARS} characters; write the conclusion in one or two sentences, "
        "or several conclusions one by one.",
        f"内容超过 {MAX_STATEMENT_CHARS} 个字符；请用一两句话写出结论，多个结论请分开写。",
    ),
    "injected": (
        "This is text that recall itself put into the prompt; write only what is new.",
        "这是记忆召回自己放进上下文的内容；请只写新的信息。",
    ),
    "no_content": (
        "There is no statement in this; write a whole sentence that says what is so about whom.",
        "这里没有可记的陈述；请写一句完整的话，说明谁怎么样。",
    ),
    "chatter": (
        "This is small talk or a note on what is being done now; write what was learned or agreed instead.",
        "这只是寒暄或当下动作的说明；请写下得到的结论或约定。",
    ),
    "status_noise": (
        "This is a passing status; write what it proves, or the cause and what to do next time.",
        "这只是一时的状态；请写它说明了什么，或原因以及下次怎么做。",
    ),
    "raw_dump": (
        "This is raw output, code or a transcript; write the conclusion in a sentence and quote at most a line.",
        "这是原始输出、代码或对话记录；请用一句话写出结论，最多引用一行。",
    ),
    "question": (
        "This is a question; write the answer once it is known.",
        "这是一个问题；请在有答案之后写下答案。",
    ),
}


@dataclass(frozen=True)
class Verdict:
    """Whether a text may become a memory."""

    accepted: bool
    #: "" when accepted, otherwise "empty", "too_long", "injected", "no_content", "chatter", "status_noise",
    #: "raw_dump" or "question"
    reason: str
    #: one sentence in the text's language: why, and what to write instead
    message: str


def judge(text: str, *, explicit: bool) -> Verdict:
    """Decide whether a text is worth keeping.

    Args:
        text: what someone wants remembered.
        explicit: the writer gave a kind, so it is a deliberate statement: then only empty, oversized,
            recalled, dumped, status and greeting texts are refused, and any short wording passes.
    """
    reason = _refusal(text, explicit=explicit)
    english, chinese = _MESSAGES[reason]
    return Verdict(not reason, reason, chinese if language(text) == "zh" else english)


def _refusal(text: str, *, explicit: bool) -> str:
    if not text.strip():
        return "empty"
    own = strip_injected(text)
    if not _has_letters(own):
        return "injected" if own != text else "no_content"
    if len(own) > MAX_STATEMENT_CHARS:
        return "raw_dump" if _is_dump(own) else "too_long"
    if _is_dump(own):
        return "raw_dump"
    tests = _NOISE if explicit else _NOISE + _VAGUE
    reasons = {_noise_of(sentence, tests) for sentence in sentences(own) if _has_letters(sentence)}
    if "" in reasons:
        return ""
    return min(reasons, key=_PRIORITY.index, default="no_content")


def _has_letters(text: str) -> bool:
    return any(char.isalpha() for char in text)


def _noise_of(sentence: str, tests: "tuple[tuple[str, Callable[[str], bool]], ...]") -> str:
    folded = fold(sentence).replace("’", "'").strip()
    return next((reason for reason, is_noise in tests if is_noise(folded)), "")


def _phrases(words: str) -> re.Pattern[str]:
    """One expression that takes the longest listed phrase; Latin ones only as whole words."""
    listed = sorted((word.strip() for word in words.split(",")), key=len, reverse=True)
    latin = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in listed if word.isascii())
    han = "|".join(re.escape(word) for word in listed if not word.isascii())
    return re.compile("|".join(part for part in (rf"(?<![\w'])(?:{latin})(?![\w'])" if latin else "", han) if part))


# --- Small talk -----------------------------------------------------------------------------------

_SMALL_TALK = _phrases(
    "hi, hello, hey, hiya, there, good morning, morning, good afternoon, good evening, good night, thanks, "
    "thank you, thank, thx, ty, so much, very much, a lot, a million, for your help, for the help, for that, "
    "for this, ok, okay, k, kk, alright, all right, sure, yes, yeah, yep, yup, no, nope, great, cool, nice, awesome, "
    "perfect, excellent, wonderful, amazing, fantastic, brilliant, fine, good, job, work, well done, got it, "
    "understood, i see, i understand, makes sense, that makes sense, sounds good, looks good, looks good to me, "
    "lgtm, no problem, no worries, you're welcome, welcome, my pleasure, bye, goodbye, see you, see ya, later, "
    "tomorrow, cheers, please, sorry, oops, hmm, hm, um, uh, ah, oh, haha, hahaha, lol, right, exactly, correct, "
    "of course, noted, roger, will do, wow, congrats, congratulations, happy to help, glad to help, "
    "let me know if you need anything else, let me know, anything else, how are you, how's it going, i'm fine, "
    "i'm good, nice to meet you, go ahead, go on, continue, proceed, next, never mind, nevermind, wait, one moment, "
    "just a moment, one sec, one second, just a second, hold on, that's it, that's all, that is all, i agree, "
    "agreed, absolutely, definitely, indeed, it is, that's, that is, it's, everyone, all, guys, team, to hear that, "
    "again, you, so, very, much, too, and, the, keep going, keep it up, have a nice day, have a good one, my friend, "
    "friend, sir, buddy, mate, then, now, on it, working on it, i'm on it, as an ai language model, "
    "how can i help you, how can i help, today, 你好, 您好, 嗨, 哈喽, 哈啰, 在吗, 在不在, 早, 早上好, 早安, 上午好, "
    "中午好, 下午好, 晚上好, 晚安, 谢谢, 谢了, 多谢, 感谢, 辛苦, 好, 好的, 好吧, 好嘞, 好滴, 嗯, 恩, 哦, 噢, 喔, 行, "
    "可以, 没问题, 收到, 明白, 知道, 了解, 懂, 对, 是, 没错, 不是, 不用, 不客气, 不用谢, 客气, 太好了, 太棒了, 真棒, "
    "棒, 厉害, 牛, 赞, 完美, 不错, 很好, 挺好, 哈哈, 呵呵, 嘿嘿, 再见, 拜拜, 回见, 明天见, 加油, 稍等, 稍候, 请稍等, "
    "等一下, 等等, 请, 继续, 开始吧, 抱歉, 对不起, 不好意思, 没事, 没关系, 当然, 确实, 同意, 就这样, 先这样, 各位, "
    "大家, 你, 您, 的, 了, 啊, 呀, 吧, 呢, 啦, 哈, 嘛, 一下, 片刻, 非常, 很, 真, 太, 那, 就, 都, 也, 帮助, 帮忙, "
    "这样, 有什么可以帮你, 有什么可以帮您, 随时告诉我, 朋友, 老师, 同学, 咱, 今天, 先, 再, 我, 已经, 还"
)
_GREETING_TO = re.compile(
    r"(?:hi|hello|hey|dear|thanks|thank you|bye|good (?:morning|evening|night))[,\s]+[\w.]+(?:\s\w+)?"
    r"|[\u4e00-\u9fff]{1,4}(?:你好|您好|早上好|晚上好|辛苦了|再见|早)"
    r"|(?:你好|您好|谢谢|感谢|再见|拜拜|早上好|晚安)[，,]?[\u4e00-\u9fff]{1,4}"
)
_LOOKING_EN = re.compile(
    r"(?:(?:ok|okay|sure|alright|great|hmm|now|first|next|so|well|yes)[,.!\s]+)*"
    r"(?:let me|let's|let us|i'll|i will|i am going to|i'm going to|i'm gonna|now i|i'm now|i am now|i'm|i am"
    r"|i need to)\s+"
    r"(?:now |first |just |quickly |then |also |go ahead and |start by |try to |currently )*"
    r"(?:check|checking|look|looking|see|take a|have a|get back|get started|read|reading|open|opening|run|running|"
    r"think|search|searching|explore|exploring|examine|examining|investigate|review|reviewing|continue|begin|"
    r"double-check|verify|dig into|inspect|find out|figure|fetch|start)\b(?P<rest>.*)"
)
_DURABLE_EN = re.compile(
    r"\b(?:always|never|every|each|because|unless|until|next time|from now on|before|whenever|must|daily|weekly|"
    r"on (?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|next (?:week|month|year)|marathon|20\d\d)"
)
_LOOKING_ZH = re.compile(
    r"(?:(?:好的?|嗯|行|可以|收到|明白了?|没问题|首先|那|现在|接下来|然后)[，,。！!\s]*)*"
    r"(?:让我|我(?:先|来|马上|这就|去|再|现在(?:就|来|去)?|这边|会先)|正在|马上|这就|我正在|接下来我?(?:会|来|将|要)?)"
    r"(?:先|来|去|再|就|帮你|为你|给你|为您|帮您|继续|快速|仔细)*"
    r"(?:看|查|检查|查看|查找|查询|分析|确认|搜索|搜|读取|读|打开|运行|跑|试|想|思考|排查|定位|核实|了解)"
    r"(?:一下|看看|看|下|试|想|一遍|找)?[^，,。；;]{0,12}[。.!！…~]*"
)
_DURABLE_ZH = re.compile("以后|每|总是|永远|必须|因为|下次|明天|下周|下个月|明年|之前")


def _is_small_talk(folded: str) -> bool:
    if len(folded) > 160:
        return False
    if not _has_letters(_SMALL_TALK.sub(" ", folded)):
        return True
    return _GREETING_TO.fullmatch(folded.strip(" .!,~。！，")) is not None


def _is_looking(folded: str) -> bool:
    """Whether it only announces a glance at something: "OK, let me check", 我先看一下."""
    english = _LOOKING_EN.fullmatch(folded)
    if english:
        return len(english["rest"].split()) <= 12 and not _DURABLE_EN.search(folded)
    if _DURABLE_ZH.search(folded):
        return False
    return all(_LOOKING_ZH.fullmatch(clause) or _is_small_talk(clause) for clause in re.split("[,，]", folded))


# --- Passing status -------------------------------------------------------------------------------

_STATUS_SIGN = _phrases(
    "passed, passes, passing, pass, failed, fails, succeeded, succeeds, success, successful, successfully, "
    "completed, complete, finished, done, saved, updated, created, deleted, written, pushed, merged, committed, "
    "deployed, built, started, stopped, restarted, running, installed, uploaded, downloaded, loaded, compiled, "
    "executed, returned, got, exit, exited, ok, green, up, fixed, changed, removed, added, applied, opened, closed, "
    "ready, no errors, no error, works, work, working, worked, 成功, 完成, 完毕, 通过, 正常, 结束, 没问题, 没有问题, "
    "没有报错, 没报错, 无报错, 无错误, 没有错误, 返回, 好了, 搞定, 失败, 已保存, 已更新, 已提交, 已推送, 已部署, "
    "已启动, 已修改, 已创建, 已删除, 已运行, 已执行, 已安装, 已修复, 已关闭, 已打开, 保存了, 更新了, 提交了, 推送了, "
    "改好, 跑通, 修改完成, 改完, 写完, 做完, 跑完"
)
_STATUS_WORDS = _phrases(
    "a, an, the, all, now, just, is, are, was, were, has, have, been, it, i, we, to, in, of, with, and, code, "
    "status, result, output, test, tests, unit, build, file, files, change, changes, commit, deploy, deployment, "
    "server, service, request, response, command, script, job, pipeline, ci, lint, linter, task, step, steps, "
    "everything, page, as, migration, migrations, install, installation, download, upload, container, image, "
    "package, packages, dependencies, http, exit, exited, branch, pr, ticket, compilation, process, check, checks, "
    "error, errors, warnings, warning, zero, no, without, any, seconds, second, minutes, ms, s, min, insertions, "
    "deletions, line, lines, suite, successfully, again, already, locally, so, far, good, fine, well, edit, edits, "
    "found, skipped, today, yesterday, report, program, app, 测试, 单元测试, 用例, 单测, 构建, 编译, 部署, 文件, "
    "代码, 任务, 步骤, 服务, 服务器, 请求, 接口, 命令, 脚本, 数据, 页面, 修改, 安装, 下载, 上传, 提交, 推送, 运行, "
    "执行, 保存, 更新, 启动, 状态码, 状态, 响应, 程序, 应用, 依赖, 改动, 操作, 流水线, 检查, 配置, 结果, 输出, 日志, "
    "已经, 已, 都, 全部, 全, 所有, 一切, 目前, 现在, 刚刚, 刚才, 刚, 了, 的, 地, 完, 好, 个, 条, 项, 次, 秒, 分钟, "
    "毫秒, 我, 把, 也, 均, 第, 步, 为, 是, 耗时, 共, 并, 和, 本地, 今天, 跑, 没有, 无, 报错, 错误, 显示, 这个, 该, "
    "重启, 创建"
)
# A name or path ends where Chinese words begin: they are what is said of it.
_STATUS_TOKENS = re.compile(
    r"`[^`]*`|[!-~]*[A-Za-z0-9_-]+\.(?!\d)[A-Za-z]\w{0,4}\b|[!-~]*/[!-~]+|"
    r"\b[0-9a-f]{7,40}\b|#\d+|\d+(?:[.:/]\d+)*%?(?:ms|s|m)?\b"
)


def _is_status(folded: str) -> bool:
    if len(folded) > 120 or not (_STATUS_SIGN.search(folded) or re.search(r"(?<!\d)[1-5]\d\d(?!\d)", folded)):
        return False
    left = _STATUS_WORDS.sub(" ", _STATUS_SIGN.sub(" ", _STATUS_TOKENS.sub(" ", folded)))
    return not _has_letters(left)


# --- Questions and fragments ----------------------------------------------------------------------

_ASKS_EN = re.compile(
    r"(?:(?:and|so|but|hey|ok|please|also|well)[,\s]+)*(?:"
    r"(?:can|could|would|will|should|shall|may) (?:you|we|i|it)\b"
    r"|(?:do|did|have|are|were) (?:you|we|they|i)\b|(?:does|is|was|has) (?:it|there|this|that|the|he|she|anyone)\b"
    r"|(?:what|who|where|how|why|which|when)(?:'s| is| are| do| does| did| can| should| would| was| were| will)\b)"
)
_ASKS_ZH = re.compile(
    r"请问.*|(?:怎么|如何|为什么|为啥|为何|能不能|可不可以|能否|是否|有没有|你觉得)[^，,：:；;]{1,24}"
    r"|.*(?:吗|怎么办|是什么|为什么|怎么样|怎么回事|多少钱|几点|在哪儿?|是谁|啥意思|什么意思)"
    r"|.*(?:怎么|如何|什么|谁|哪|多少|几|为何).*呢"
)
_TELLS_ZH = re.compile("取决|见文档|参见|由.+决定|都可以|都行|用户|必须|应该|需要|知道|说明|问过")


def _is_question(folded: str) -> bool:
    bare = folded.rstrip(" \"'”’)）】」~。.!！…")
    if bare.endswith(("?", "？")):
        return True
    if _ASKS_EN.match(bare):
        return ":" not in bare and len(bare.split()) >= 3
    return _ASKS_ZH.fullmatch(bare) is not None and not _TELLS_ZH.search(bare)


def _is_fragment(folded: str) -> bool:
    """Whether it is one word, or two Chinese characters: nothing is said about anything."""
    bare = folded.strip(" \"'“”‘’()（）。.,，!！")
    if re.fullmatch(r"[\u3400-\u9fff]+", bare):
        return len(bare) <= 2
    return len(bare.split()) == 1 and not re.search(r"[\u3400-\u9fff]|[=:]", bare)


_BARE_ERROR = re.compile(r"(?:[\w.]+\.)?\w*(?:error|exception)(?: \[?\w+\]?)?:? .*|error(?:\[\w+\])?: .*")
_ADVICE = re.compile(
    r"\b(?:use|fix|fixed|install|because|when|if|need|needs|means|caused|cause|instead|by|try|set|add|must|should|"
    r"unless|after|before|happens|solve|solved|due|never|always|avoid)\b|解决|改|原因|用|因为|需|应|表示|说明|导致|不要|避免|时"
)


def _is_bare_error(folded: str) -> bool:
    return _BARE_ERROR.fullmatch(folded) is not None and not _ADVICE.search(folded)


_NOISE: tuple[tuple[str, Callable[[str], bool]], ...] = (("chatter", _is_small_talk), ("status_noise", _is_status))
_VAGUE: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("chatter", _is_looking),
    ("question", _is_question),
    ("raw_dump", _is_bare_error),
    ("no_content", _is_fragment),
)
#: Which reason is told when the sentences have several.
_PRIORITY = ("question", "raw_dump", "status_noise", "chatter", "no_content")


# --- Raw dumps ------------------------------------------------------------------------------------

_LEVEL = r"(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|TRACE|CRITICAL|SEVERE)"
_STAMP = r"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?"
#: Lines that no person writes as a statement: one alone is a dump.
_MACHINE = re.compile(
    rf"\s*(?:{_STAMP}[\s|\-]*(?:\[[^\]]*\][\s|\-]*)*\[?{_LEVEL}\b.*"
    r"|Traceback \(most recent call last\):?.*|File \".*\", line \d+.*|at [\w.$<>/]+\s?\(.*\)|at \S+:\d+:\d+"
    r"|Caused by: .*"
    r"|goroutine \d+ \[.*|diff --git .*|@@ -\d.*|index [0-9a-f]{6,}\.\.[0-9a-f]{6,}.*"
    r"|[d-][rwx-]{9}[.+@]?\s.*|data:[\w/+.-]+;base64,.*|[A-Za-z0-9+/_-]{80,}={0,2}"
    r"|<(?:!doctype|html|\?xml|body|div|table|script|svg)\b.*|\S+@[\w-]+:\S*[$#] .*"
    r"|(?:\d{1,3}\.){3}\d{1,3} \S+ \S+ \[.*)\s*",
    re.IGNORECASE,
)
#: Lines that look so too, but may stand alone in a statement: it takes several of them.
_LIKELY = re.compile(
    rf"\s*(?:{_STAMP}.*|\[?\d\d:\d\d:\d\d\]?.*|\[?{_LEVEL}\]?[\s:|].*|[A-Z][a-z]{{2}} +\d+ \d\d:\d\d:\d\d .*"
    r"|[\[\]{}(),;<>/\s]+|\"[^\"]+\"\s*:\s*.*|</?[a-zA-Z][^>]*>.*|\|.*\||[|+=\-:\s]{5,}"
    r"|[\w.]*(?:Error|Exception)(?::.*)?|\^+|\.{3} \d+ more.*|[$%>] \S.*|\d+ passed.*"
    r"|.*\[\s*\d+%\].*|.*\b(?:PASSED|FAILED)\b.*|.*\d+%\s*\|.*|(?:[0-9a-f]{2}[ :]){8,}.*"
    r"|(?:def|class|function|func|fn|const|let|var|import|from|return|public|private|static|async|export|package|"
    r"#include|if|for|while|else|elif|try|except|catch|switch|case|SELECT|INSERT|UPDATE|CREATE|WHERE)\b.*[;:{}()=,]\s*"
    r"|[\w.\[\]\"']+\s*(?:[+\-*/]?=|:=)\s*\S.*|.*[;{}]\s*|(?://|/\*|\*/|#!).*|[\w.]+\(.*\)|import [\w.{}, ]+"
    r"|from \S+ import .*"
    r"|(?:[+-]|\*\*\*|---|\+\+\+) ?[^\s].*[;:{}()=\]].*|[+-]\w.*|return .*)\s*"
)
_FENCED_CODE = re.compile(r"^\s*(?:```|~~~).*?^\s*(?:```|~~~)\s*$", re.DOTALL | re.MULTILINE)
_ROLE_LABEL = re.compile(
    r"^\s*(?:\*\*|#+ |\[|<)?(user|assistant|human|ai|system|tool|bot|agent|claude|chatgpt"
    r"|用户|助手|助理|系统|客服|机器人|人类)"
    r"(?:\*\*|\]|>)?\s*(?:\([^)]*\)\s*)?[:：]",
    re.IGNORECASE | re.MULTILINE,
)


def _is_dump(text: str) -> bool:
    return _is_structure(text) or _is_transcript(text) or _is_mostly_code(text) or _is_machine_output(text)


def _is_structure(text: str) -> bool:
    """Whether the whole text is one JSON object or list, or one piece of markup."""
    bare = text.strip()
    if bare[0] in "{[" and bare[-1] in "}]":
        try:
            return isinstance(json.loads(bare), dict | list)
        except (ValueError, RecursionError):
            return len(re.findall(r"[\"']\w+[\"']\s*:", bare)) >= 2
    return bare[0] == "<" and bare[-1] == ">" and len(re.findall(r"</?[a-zA-Z][^>]*>", bare)) >= 2


def _is_transcript(text: str) -> bool:
    return len({label.lower() for label in _ROLE_LABEL.findall(text)}) >= 2


def _is_mostly_code(text: str) -> bool:
    fenced = sum(len(block) for block in _FENCED_CODE.findall(text))
    return fenced * 2 > len(text.strip())


def _is_machine_output(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip()]
    certain = [bool(_MACHINE.fullmatch(line)) for line in lines]
    machine = [
        sure or bool(_LIKELY.fullmatch(line)) or _is_number_row(line) for line, sure in zip(lines, certain, strict=True)
    ]
    if all(machine):
        return any(certain) or len(lines) >= 3
    size = sum(len(line) for line, is_machine in zip(lines, machine, strict=True) if is_machine)
    return sum(machine) >= 3 and size * 10 >= 6 * sum(map(len, lines))


def _is_number_row(line: str) -> bool:
    fields = [field for field in re.split(r"[\s,;|]+", line.strip()) if field]
    return (
        len(fields) >= 3
        and sum(bool(re.fullmatch(r"[-+]?[\d.,:%$e-]+", field)) for field in fields) * 3 >= len(fields) * 2
    )
