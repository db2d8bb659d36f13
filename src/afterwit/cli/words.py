"""What the command line itself says to people, in English and Chinese, and which of the two is spoken."""

import os
from collections.abc import Mapping

#: key -> (English, Chinese); values in braces are filled in by `tell`
SENTENCES: dict[str, tuple[str, str]] = {
    "error": ("Error: {message}", "错误：{message}"),
    "next_step": ("  Do: {next_step}", "  处理办法：{next_step}"),
    "interrupted": ("Interrupted.", "已中断。"),
    "related": ("related: {ids}", "相关：{ids}"),
    "reasons": ("why: {reasons}", "原因：{reasons}"),
    "line_refused": ("line {line}: {message}", "第 {line} 行：{message}"),
    "lines_refused": (
        "Error: {count} lines are malformed and were not written; mend them and write them alone.",
        "错误：{count} 行格式有误，未写入；请改正后单独写入。",
    ),
    "lines_written": ("{lines} lines: {counts}", "共 {lines} 行：{counts}"),
    "note": ("Note: {text}", "注意：{text}"),
    "none_listed": ("No memory matches.", "没有符合条件的记忆。"),
    "more_listed": (
        "{shown} of {total} shown; --limit and --offset show others.",
        "共 {total} 条，显示 {shown} 条；用 --limit 和 --offset 查看其余。",
    ),
    "omitted": ("{count} more were left out; --budget makes room.", "另有 {count} 条未列出；可用 --budget 放宽。"),
    "source_words": ("Source words", "原文"),
    "structured": ("Structured", "结构化内容"),
    "versions": ("Versions", "版本"),
    "links": ("Links", "关联"),
    "uses": ("Uses", "使用"),
    "events": ("History", "变更记录"),
    "ask_erase": (
        "Erase “{summary}” for good? This cannot be undone",
        "彻底抹除“{summary}”？此操作无法撤销",
    ),
    "nothing_erased": ("Nothing was erased.", "没有抹除任何内容。"),
    "ready": ("Memory is ready in {place}", "记忆库已就绪：{place}"),
    "was_ready": ("Memory was already set up in {place}", "记忆库早已就绪：{place}"),
    "connect": ("Connect an agent (--help lists the clients):", "接入智能体（--help 列出支持的客户端）："),
    "connect_by_hand": ("Or by hand:", "或者手动配置："),
    "client_connected": ("Connected: {client}.", "已接入：{client}。"),
    "already_connected": ("{client} is already connected; nothing was changed.", "{client} 早已接入，未做任何修改。"),
    "client_disconnected": ("Disconnected: {client}.", "已断开：{client}。"),
    "not_connected": ("{client} is not connected; nothing was changed.", "{client} 未接入，未做任何修改。"),
    "would_change": ("Nothing was changed.", "未做任何修改。"),
    "file_created": ("new", "新建"),
    "file_changed": ("changed", "已修改"),
    "file_unchanged": ("as it was", "未变"),
    "file_removed": ("removed, for nothing else was in it", "已删除（其中没有其他内容）"),
    "copy_in": ("before: {place}", "原内容备份于 {place}"),
    "then_session": ("A new session of {client} has it.", "新开一个 {client} 会话即可使用。"),
    "then_restart": ("Restart {client}.", "请重启 {client}。"),
    "then_codex": (
        "Codex runs new hooks only when you have trusted them: type /hooks there.",
        "Codex 只运行你信任过的钩子：请在其中输入 /hooks 确认。",
    ),
    "then_gemini": (
        "Gemini CLI starts no server in a folder that it does not trust: trust the folder there.",
        "Gemini CLI 在不受信任的目录中不会启动任何服务：请在其中信任该目录。",
    ),
    "then_trae": (
        "For a project's file, turn on project MCP in the settings of {client}.",
        "如使用项目级配置，请在 {client} 设置中启用项目级 MCP。",
    ),
    "trae_spaces": (
        "Trae cannot start a command whose path has a space; install Afterwit elsewhere, or use --url.",
        "Trae 无法启动路径中含空格的命令；请换个位置安装 Afterwit，或使用 --url。",
    ),
    "then_dify": (
        "Run `afterwit serve`, then in Dify: Tools > MCP > Add MCP Server (HTTP)\n"
        "  Server URL: {url} (as Dify's machine reaches it)\n"
        "  Server identifier: afterwit\n"
        "  Header, if the server has a key: {header}",
        "先运行 `afterwit serve`，再在 Dify 中：工具 > MCP > 添加 MCP 服务（HTTP）\n"
        "  服务端点 URL：{url}（以 Dify 所在机器能访问的地址为准）\n"
        "  服务器标识符：afterwit\n"
        "  请求头（如果设置了密钥）：{header}",
    ),
    "state_connected": ("connected", "已接入"),
    "state_other": ("connected with another command", "已接入，但命令与现在的不同"),
    "state_absent": ("installed, not connected", "已安装，未接入"),
    "state_unreadable": ("its file cannot be read: {problem}", "配置文件无法读取：{problem}"),
    "state_hooks": ("{count} hooks", "{count} 个钩子"),
    "state_gone": ("but there is no {command}", "但 {command} 不存在"),
    "state_answers": ("answers with {tools} tools in {ms} ms", "正常应答，{tools} 个工具，{ms} 毫秒"),
    "state_silent": ("but it does not work: {problem}", "但无法使用：{problem}"),
    "clients_absent": ("Not found here: {names}", "未发现：{names}"),
    "connect_one": ("`afterwit connect {client}` connects it.", "可用 `afterwit connect {client}` 接入。"),
    "try": ("Try it:", "试一试："),
    "exported": ("Exported to {place}: {counts}", "已导出到 {place}：{counts}"),
    "imported": (
        "Imported {counts}; {already_here} were already here.",
        "已导入 {counts}；{already_here} 条原本就有。",
    ),
    "would_import": (
        "Would import {counts}; {already_here} are already here. Nothing was changed.",
        "将导入 {counts}；{already_here} 条原本就有。未做任何修改。",
    ),
    "embedded_later": (
        "Meaning is not searched yet for what is new: {reason}",
        "新内容暂时不能按语义搜索：{reason}",
    ),
    "embed_interrupted": (
        "{done} of {missing} memories were embedded and stay so; `afterwit reindex` goes on from there.",
        "{missing} 条记忆中已为 {done} 条生成向量并保留；再次运行 `afterwit reindex` 会接着做。",
    ),
    "confirm_kept_aside": (
        "Confirm it with `afterwit update {{id}} --confirm`.",
        "用 `afterwit update {{id}} --confirm` 确认。",
    ),
    "progress": ("{label}: {done} of {length}", "{label}：{done}/{length}"),
    "embeds_elsewhere": (
        "Another process is embedding this space; waiting for it.",
        "另一个进程正在为此空间生成向量，等待其完成。",
    ),
    "joined": ("“{alias}” stands for “{name}” now.", "“{alias}”现在代表“{name}”。"),
    "split": ("“{alias}” no longer stands for “{name}”.", "“{alias}”不再代表“{name}”。"),
    "alias_given": ("{alias} stands for {name}: given", "{alias} 代表 {name}：手动添加"),
    "alias_learned": ("{alias} stands for {name}: learned from [m:{id}]", "{alias} 代表 {name}：学自 [m:{id}]"),
    "daemon_there": ("A daemon serves {place} already.", "{place} 已有后台进程在运行。"),
    "daemon_away": ("No daemon runs.", "后台进程未运行。"),
    "daemon_runs": (
        "The daemon runs: process {pid}, version {version}, {visitors} sessions.",
        "后台进程正在运行：进程 {pid}，版本 {version}，{visitors} 个会话。",
    ),
    "serve_runs": (
        "`afterwit serve` runs at {url} (process {pid}, version {version}), with {visitors} sessions beside it.",
        "afterwit serve 正在 {url} 运行（进程 {pid}，版本 {version}），另有 {visitors} 个会话。",
    ),
    "serve_ends": ("`afterwit serve` ends.", "afterwit serve 正在结束。"),
    "daemon_leaves": ("The daemon ends when its last session has.", "后台进程将在最后一个会话结束后退出。"),
    "no_tasks": ("There is no task.", "还没有任务。"),
    "no_entities": ("Nobody and nothing is known by name yet.", "还没有已知的人、项目或事物。"),
    "old_kept": (
        "Old vectors are kept: some memories have no new one yet.",
        "保留旧向量：部分记忆还没有新向量。",
    ),
    "reindexed": (
        "{embedded} memories embedded, {dropped} old vectors dropped.",
        "新增 {embedded} 条向量，删除旧向量 {dropped} 条。",
    ),
    "words_reindexed": ("Words of {rows} memories indexed anew.", "已重建 {rows} 条记忆的词索引。"),
    "docs_imported": (
        "{files}; {added} passages added, {replaced} replaced, {retired} taken out, {known} known already.",
        "文件：{files}；新增 {added} 段，替换 {replaced} 段，移出 {retired} 段，{known} 段已有。",
    ),
    "docs_would_import": (
        "{files}; {added} passages would be added, {replaced} replaced, {retired} taken out, {known} known. "
        "Nothing was changed.",
        "文件：{files}；将新增 {added} 段，替换 {replaced} 段，移出 {retired} 段，{known} 段已有。未做任何修改。",
    ),
    "docs_skipped": ("{name}: skipped, {reason}", "{name}：已跳过，{reason}"),
    "docs_refused": ("    left out ({reason}): {line}", "    未导入（{reason}）：{line}"),
    "docs_binary": ("it is no text", "不是文本文件"),
    "docs_not_utf8": ("it is not UTF-8; save it as UTF-8", "不是 UTF-8 编码，请另存为 UTF-8"),
    "docs_too_large": ("it is larger than 2 MiB; split it", "超过 2 MiB，请拆分"),
    "docs_empty": ("it is empty", "文件为空"),
    "docs_unreadable": ("it cannot be read; check its rights", "无法读取，请检查权限"),
    "docs_no_passage": ("there is nothing to remember in it", "其中没有可记的内容"),
    "learn_session": ("{client}, {date}, {scope}: {path}", "{client}，{date}，{scope}：{path}"),
    "learn_task": ("  Task “{goal}” ({status})", "  任务“{goal}”（{status}）"),
    "learn_more": ("... and {count} more; --json shows all.", "……另有 {count} 条；--json 可查看全部。"),
    "learn_failed": ("Not read: {path}: {reason}", "未读取：{path}：{reason}"),
    "learn_busy": ("Read by another process just now: {path}", "另一个进程正在读取：{path}"),
    "learn_none": (
        "No sessions were found. Name files or folders, or see --client and --since.",
        "没有找到会话。请指定文件或文件夹，或检查 --client 与 --since。",
    ),
    "would_learn": (
        "{sessions} sessions, {tasks} tasks: {new} things would be learned, {known} are known already. "
        "Nothing was stored; --apply stores them.",
        "{sessions} 个会话，{tasks} 个任务：将学到 {new} 条，{known} 条已知。未做任何修改；加 --apply 执行。",
    ),
    "would_learn_nothing": (
        "{sessions} sessions were looked at; there is nothing new to learn.",
        "已查看 {sessions} 个会话，没有新内容可学。",
    ),
    "learned": (
        "{sessions} sessions, {tasks} tasks: {new} things learned, {known} found again.",
        "{sessions} 个会话，{tasks} 个任务：学到 {new} 条，再次见到 {known} 条。",
    ),
    "learn_waits": (
        "What the language model would add waits for `afterwit review`.",
        "语言模型的补充分析等待 `afterwit review`。",
    ),
    "health_total": ("{total} memories: {statuses}", "共 {total} 条记忆：{statuses}"),
    "health_active": ("Active: {kinds}; {standings}", "有效：{kinds}；{standings}"),
    "report_written": ("The report is in {place}", "周报已写入 {place}"),
    "nothing_to_clean": ("There is nothing to clean.", "没有需要清理的。"),
    "would_clean": ("{count} may be taken out of recall; --apply does it.", "可清理 {count} 条；加 --apply 执行。"),
    "cleaned": ("{count} taken out of recall; each can be restored.", "已清理 {count} 条，不再召回；都可以恢复。"),
    "ask_clean": ("Take {count} memories out of recall?", "清理这 {count} 条记忆？"),
    "nothing_cleaned": ("Nothing was changed.", "未做任何修改。"),
    "ask_erase_task": (
        "Erase the task “{goal}” with its steps, and what was learned from nothing else? This cannot be undone",
        "彻底抹除任务“{goal}”及其步骤，以及只从中学到的内容？此操作无法撤销",
    ),
    "task_erased": ("Erased the task and {count} memories.", "已抹除任务和 {count} 条记忆。"),
    "lift_shown": (
        "Shown: {succeeded} of {count} tasks succeeded{share}.",
        "展示组：{count} 个任务中 {succeeded} 个成功{share}。",
    ),
    "lift_withheld": (
        "Withheld: {succeeded} of {count} tasks succeeded{share}.",
        "未展示组：{count} 个任务中 {succeeded} 个成功{share}。",
    ),
    "lift_difference": (
        "Difference: {difference}, 95 % interval {low} to {high}.",
        "差值：{difference}，95 % 置信区间 {low} 至 {high}。",
    ),
    "lift_unsure": ("That may be chance: the interval holds 0.", "差值可能是偶然的：区间包含 0。"),
    "lift_nothing": (
        "There is nothing to compare yet: that needs ended tasks to which lessons were shown, and ended tasks from "
        "which some were withheld.",
        "还没有可比较的数据：需要展示过经验的已结束任务，以及未展示的已结束任务。",
    ),
    "lift_how": (
        "Set holdout_share, such as AFTERWIT_HOLDOUT_SHARE=0.2, to leave a share of learned lessons out at random.",
        "请设置 holdout_share（如 AFTERWIT_HOLDOUT_SHARE=0.2），随机不展示一部分学到的经验。",
    ),
    "nothing_to_judge": ("No result of a review waits for a look.", "没有待抽查的复盘结果。"),
    "judge_sample": (
        "Say `afterwit update ID --confirm` or `--refute` of each.",
        "请逐条用 `afterwit update ID --confirm` 或 `--refute` 判断。",
    ),
    "nothing_to_roll_back": ("Nothing of that is remembered.", "没有符合条件的记忆。"),
    "goes": ("{count} go out of recall:", "{count} 条不再召回："),
    "comes_back": ("{count} come back:", "{count} 条恢复："),
    "loses_proof": ("{count} stay with less evidence:", "{count} 条保留但证据减少："),
    "seen_by": ("{count} tasks were shown some of it: {tasks}", "{count} 个任务看到过其中的内容：{tasks}"),
    "rolled_back": ("Done; each can be restored.", "已完成；都可以恢复。"),
    "would_roll_back": ("Nothing was changed; --yes does it.", "未做任何修改；加 --yes 执行。"),
    "no_intents": ("Nothing is to be done.", "没有待办。"),
    "intent_done": ("done", "已完成"),
    "intent_dismissed": ("dismissed", "已取消"),
    "intent_waits": ("waits for its moment", "等待时机"),
    "intent_waits_until": ("waits for {due}", "等到 {due}"),
    "healthy": ("Everything that was checked is fine.", "检查项全部正常。"),
    "unhealthy": ("{failed} failed, {warned} to look at.", "{failed} 项失败，{warned} 项需留意。"),
}


def language(environ: Mapping[str, str] | None = None) -> str:
    """The language in which people are spoken to: "zh" or "en", from LC_ALL, LC_MESSAGES, LANG."""
    given = os.environ if environ is None else environ
    locale = next((text for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (text := given.get(name))), "")
    return "zh" if locale.lower().startswith("zh") else "en"


def tell(key: str, **values: object) -> str:
    """The sentence `key` in the language of the terminal."""
    english, chinese = SENTENCES[key]
    return (chinese if language() == "zh" else english).format(**values)
