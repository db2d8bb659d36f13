"""The sentences that agents and people read, in English and Chinese, in one table."""

#: key -> (English, Chinese); values in braces are filled in by `say`
SENTENCES: dict[str, tuple[str, str]] = {
    "nothing_relevant": (
        "No relevant memory was found; decide from the current context.",
        "未找到相关历史记忆，请基于当前上下文决策。",
    ),
    "other_scopes": (
        "Scopes that were not searched: {scopes}.",
        "未搜索的作用范围：{scopes}。",
    ),
    "stored": ("Remembered.", "已记住。"),
    "stored_for_review": (
        "Kept, but not recalled until someone confirms it.",
        "已保存，但在有人确认之前不会被召回。",
    ),
    "stored_parts": ("{count} memories were made from this text.", "从这段文字中记下了 {count} 条记忆。"),
    "read_rules_only": (
        "Read by rules alone: no language model is configured.",
        "仅按规则提取：未配置语言模型。",
    ),
    "read_too_long_for_model": (
        "Read by rules alone: it has more than {most} tokens; write it in parts for the model to read it.",
        "仅按规则提取：超过 {most} 个词元；请分段写入，模型才能读取。",
    ),
    "read_model_failed": (
        "Read by rules alone, for the language model did not answer: {error}",
        "仅按规则提取，语言模型没有给出结果：{error}",
    ),
    "read_model_budget": ("Read by rules alone: {error}", "仅按规则提取：{error}"),
    "nothing_extracted": (
        "Nothing was kept: the rules found no statement, and the language model gave none. {error} Try again later, or "
        "state it yourself in one or two sentences.",
        "没有保存任何内容：规则没有找到可记的陈述，语言模型也没有给出结果。{error} "
        "请稍后再试，或自己用一两句话写出结论。",
    ),
    "merged": (
        "Already known; this source was added to it ({support} independent so far).",
        "已有相同记忆，已计入这一来源（目前 {support} 个独立来源）。",
    ),
    "merged_same_source": (
        "Already known from this same source; nothing was added.",
        "同一来源已经说过，没有重复记录。",
    ),
    "superseded": (
        "Remembered as a change: it replaces “{old}”, which is kept as history until {until}.",
        "已记为变更：取代“{old}”，旧记忆作为历史保留至 {until}。",
    ),
    "recorded_as_past": (
        "Remembered as history: “{new}” is what holds since {until}.",
        "已记为历史：自 {until} 起为“{new}”。",
    ),
    "weaker_conflict": (
        "Kept aside: it contradicts “{old}”, which rests on stronger evidence ({old_basis} against {new_basis}). "
        "If it is right, have it confirmed: {id}.",
        "已搁置：它与证据更强的“{old}”矛盾（{old_basis} 对 {new_basis}）。若它才是对的，请确认它：{id}。",
    ),
    "soft_conflict": (
        "Remembered beside “{old}”, which says something slightly different; both will be shown.",
        "已记住；“{old}”的说法略有不同，两条都会显示。",
    ),
    "updated": ("Corrected.", "已更正。"),
    "confirmed": ("Confirmed.", "已确认。"),
    "refuted": ("Marked as wrong; it will not be recalled.", "已标记为错误，不再召回。"),
    "revised": ("Changed: {fields}.", "已修改：{fields}。"),
    "restored": ("Restored; it is recalled again.", "已恢复，会再次被召回。"),
    "unchanged": ("Nothing to change: it already is so.", "无需修改，本来就是这样。"),
    "forgotten": ("Forgotten; it is kept out of recall and can be restored.", "已遗忘，不再召回，仍可恢复。"),
    "erased": ("Erased without trace.", "已彻底抹除。"),
    "conflict_with": (
        "disagrees with [m:{id}] “{other}” ({basis}, {date}); prefer {prefer}",
        "与 [m:{id}]“{other}”（{basis}，{date}）矛盾；以{prefer}为准",
    ),
    "prefer_this": ("this one: it has the stronger or newer evidence", "本条（证据更强或更新）"),
    "prefer_other": ("the other: it has the stronger or newer evidence", "另一条（证据更强或更新）"),
    "prefer_neither": ("neither without asking", "不下定论，请先询问"),
    "was_true_until": ("was true until {until}", "仅在 {until} 之前成立"),
    "holds_from": ("does not hold before {start}", "{start} 起才成立"),
    "steps_of_task": ("steps of [t:{task}]", "[t:{task}] 的步骤"),
    "use_shown": ("shown", "已展示"),
    "use_cited": ("relied on", "被引用"),
    "use_withheld": ("withheld, to measure what it is worth", "为衡量作用而未展示"),
    "use_helped": ("helped ({credit})", "有帮助（{credit}）"),
    "use_harmed": ("harmed ({credit})", "有害（{credit}）"),
    "learned_before": (
        "Not kept: the same was learned before and was refuted or forgotten.",
        "未保存：同样的内容以前学到过，已被否定或遗忘。",
    ),
    "reviewed": (
        "{tasks} tasks reviewed, {learned} memories learned or found again.",
        "已复盘 {tasks} 个任务，学到或再次见到 {learned} 条。",
    ),
    "reviewed_nothing": (
        "{tasks} tasks reviewed; they teach nothing that would hold in others.",
        "已复盘 {tasks} 个任务，没有可用于其他任务的经验。",
    ),
    "nothing_to_review": ("No task waits for a review.", "没有等待复盘的任务。"),
    "review_failed": (
        "The review of {count} failed and will be tried again: {error}",
        "{count} 个复盘失败，稍后会重试：{error}",
    ),
    "review_waiting": ("{count} tasks wait for a review.", "还有 {count} 个任务等待复盘。"),
    "consolidated": (
        "{rules} rules made or weighed anew, {promoted} memories brought into the shared pool.",
        "新建或重新评估规则 {rules} 条，{promoted} 条进入共享池。",
    ),
    "rule": ("Rule: {summary}", "规则：{summary}"),
    "seen_elsewhere": ("seen with {wanted}, you have {given}", "见于 {wanted}，当前为 {given}"),
    "not_yet_proved": ("not yet proved", "尚未验证"),
    "intent_overdue": ("overdue since {due}", "已逾期，截止 {due}"),
    "intent_due": ("due {due}", "{due} 到期"),
    "intent_triggered": ("this task is about “{trigger}”", "当前任务涉及“{trigger}”"),
    "intent_next_task": ("meant for the next task", "留给下一个任务"),
    "intent_done": ("Done; it will not be brought up again.", "已完成，不再提起。"),
    "intent_dismissed": ("Dismissed; it will not be brought up again.", "已取消，不再提起。"),
    "to_be_verified": ("to be verified: last confirmed {months} months ago", "待核实：上次确认在 {months} 个月前"),
    "never_verified": (
        "to be verified: written {months} months ago and never confirmed",
        "待核实：{months} 个月前记下，从未确认",
    ),
    "health_junk": (
        "{count} of the {looked} newest memories would be refused by the gate today.",
        "最新的 {looked} 条记忆中，有 {count} 条按现在的写入规则会被拒绝。",
    ),
    "health_junk_do": (
        "Look at them with `afterwit show ID` and forget the useless ones.",
        "用 `afterwit show ID` 查看，遗忘没用的。",
    ),
    "health_duplicates": (
        "{exact} memories say what another one says; {alike} pairs of the {looked} newest nearly do.",
        "{exact} 条与其他记忆重复；最新的 {looked} 条中有 {alike} 对几乎相同。",
    ),
    "health_duplicates_do": (
        "`afterwit clean --only duplicates` merges the exact ones; look at the others.",
        "`afterwit clean --only duplicates` 合并完全相同的；其余请查看。",
    ),
    "health_contradictions": (
        "{pairs} pairs of active memories contradict each other; {refuted} are refuted and out of recall.",
        "{pairs} 对有效记忆互相矛盾；{refuted} 条已被否定、不再召回。",
    ),
    "health_contradictions_do": (
        "Confirm the right one or refute the wrong one with `afterwit update ID`.",
        "用 `afterwit update ID` 确认对的一条或否定错的一条。",
    ),
    "health_kept_aside": (
        "{count} memories are kept aside until the user decides, the oldest for {days} days.",
        "{count} 条记忆被搁置、等待用户决定，最久的已 {days} 天。",
    ),
    "health_kept_aside_do": (
        "`afterwit list --all` shows them; confirm or forget each.",
        "`afterwit list --all` 可查看；逐条确认或遗忘。",
    ),
    "health_expired": (
        "{count} memories are past the end of their validity but not marked as expired.",
        "{count} 条记忆已过有效期，但还没有标记为过期。",
    ),
    "health_expired_do": (
        "`afterwit clean --only expired --apply` marks them.",
        "`afterwit clean --only expired --apply` 可标记。",
    ),
    "health_to_be_verified": (
        "{count} active memories ({share}) were not confirmed for long; {stale} of them are stale.",
        "{count} 条有效记忆（{share}）很久没有确认，其中 {stale} 条已陈旧。",
    ),
    "health_to_be_verified_do": (
        "Confirm what still holds with `afterwit update ID --confirm`; `afterwit clean` proposes the stale ones.",
        "用 `afterwit update ID --confirm` 确认仍然成立的；`afterwit clean` 会列出陈旧的。",
    ),
    "health_pending": (
        "{count} memories wait to be proved, half of them for {median} days or more, the oldest for {oldest}.",
        "{count} 条记忆等待验证，一半已等 {median} 天以上，最久 {oldest} 天。",
    ),
    "health_pending_do": (
        "Let tasks end with an outcome and the ids they used, so that memories are proved; confirm what you know.",
        "让任务以结果结束并列出用到的记忆，记忆才能得到验证；你知道的可以直接确认。",
    ),
    "health_harm": (
        "{share} of the credit from tasks ({credits}) speaks against memories; {count} harmed more than they helped.",
        "任务反馈中有 {share} 认为记忆有害（共 {credits}）；{count} 条弊大于利。",
    ),
    "health_harm_do": ("Look at the worst ones and refute or narrow them.", "查看最差的几条，否定或收窄它们。"),
    "health_never_used": (
        "{count} of {old} memories older than 30 days were never used ({share}).",
        "{old} 条超过 30 天的记忆中，有 {count} 条从未用过（{share}）。",
    ),
    "health_never_used_do": (
        "Much is remembered that no task needs; `afterwit clean` proposes the stale part.",
        "记住的很多东西没有任务需要；`afterwit clean` 会列出陈旧的部分。",
    ),
    "health_mean_use": (
        "Each of {count} active memories was used {uses} times on average.",
        "{count} 条有效记忆平均每条用过 {uses} 次。",
    ),
    "health_write_spikes": (
        "Usually {usual} memories a day are written, {today} today; days that stand out this week: {days}.",
        "通常每天写入 {usual} 条，今天 {today} 条；本周异常的日子：{days}。",
    ),
    "health_write_spikes_do": (
        "See who wrote them with `afterwit list --since DAY --all`; forget what should not be there.",
        "用 `afterwit list --since 日期 --all` 查看是谁写的；遗忘不该有的。",
    ),
    "health_reviews": (
        "{waiting} ended tasks wait for their review; the review of {failed} failed.",
        "{waiting} 个已结束的任务等待复盘，其中 {failed} 个复盘失败。",
    ),
    "health_reviews_do": ("Run `afterwit review`.", "运行 `afterwit review`。"),
    "health_overdue_intents": ("{count} intents are overdue.", "{count} 条待办已逾期。"),
    "health_overdue_intents_do": (
        "`afterwit intents` shows them; say --done or --dismiss with `afterwit update ID`.",
        "`afterwit intents` 可查看；用 `afterwit update ID` 加 --done 或 --dismiss 处理。",
    ),
    "health_vectors": (
        "{count} memories have no vector of the present model.",
        "{count} 条记忆还没有当前模型的向量。",
    ),
    "health_vectors_do": ("Run `afterwit reindex`.", "运行 `afterwit reindex`。"),
    "health_model": (
        "The language model took {today} tokens today (budget {budget}) and {week} in seven days; {failed} of {calls} "
        "calls failed.",
        "语言模型今天用了 {today} 个 token（预算 {budget}），七天共 {week} 个；{calls} 次调用中 {failed} 次失败。",
    ),
    "health_model_do": (
        "Check llm with `afterwit doctor`, or raise llm_budget_tokens.",
        "用 `afterwit doctor` 检查 llm，或调高 llm_budget_tokens。",
    ),
    "clean_expired": ("{count} past the end of their validity", "{count} 条已过有效期"),
    "clean_duplicates": ("{count} that say what another memory says", "{count} 条与其他记忆重复"),
    "clean_refuted": ("{count} refuted more than 30 days ago", "{count} 条被否定超过 30 天"),
    "clean_stale": ("{count} never proved and never used", "{count} 条从未验证也从未用过"),
    "report_title": ("Memory of {space}, {since} to {until}", "{space} 的记忆周报，{since} 至 {until}"),
    "report_written": ("Written: {count}", "新写入：{count}"),
    "report_superseded": ("Superseded: {count}", "被取代：{count}"),
    "report_learned": ("Lessons learned: {count}", "新学到的经验：{count}"),
    "report_confirmed": ("Lessons confirmed: {count}", "得到验证的经验：{count}"),
    "report_refuted": ("Lessons refuted: {count}", "被否定的经验：{count}"),
    "report_health": ("Health", "健康状况"),
    "report_proposals": ("What may be cleaned", "可以清理的"),
    "report_level": ("Level", "级别"),
    "report_figure": ("Finding", "情况"),
    "report_none": ("None.", "无。"),
    "report_more": ("and {count} more", "另有 {count} 条"),
    "report_clean_how": (
        "`afterwit clean` shows them, `afterwit clean --apply` takes them out of recall; each can be restored.",
        "`afterwit clean` 可查看，`afterwit clean --apply` 使其不再召回；都可以恢复。",
    ),
    "degraded_vector": (
        "Meaning was not searched, only words: {reason}",
        "本次只按词搜索，未按语义搜索：{reason}",
    ),
    "degraded_reranker": (
        "The results were not read again, they are in the usual order: {reason}",
        "结果未经重排，按通常的顺序给出：{reason}",
    ),
    "until": ("{summary} (until {until})", "{summary}（至 {until}）"),
    "since": ("{summary} (since {since})", "{summary}（自 {since} 起）"),
    "from_until": ("{summary} ({since} to {until})", "{summary}（{since} 至 {until}）"),
    "steps_logged": ("{count} logged, {total} in all.", "已记录 {count} 步，共 {total} 步。"),
    "task_step_limit": (
        "The task reached its limit of {limit} steps and has ended; {lost} were not logged.",
        "任务已达到 {limit} 步上限并结束；有 {lost} 步未记录。",
    ),
    "task_already_ended": ("The task had ended already; nothing was changed.", "任务早已结束，未做任何修改。"),
    "task_ended": (
        "Ended: {status}. {learned} learned, {credited} memories credited.",
        "任务结束：{status}。学到 {learned} 条，为 {credited} 条记忆记功或记过。",
    ),
    "task_succeeded": ("success", "成功"),
    "task_failed": ("failure", "失败"),
    "task_abandoned": ("abandoned", "未完成"),
    "task_unknown": ("nothing shows how it went", "结果不明"),
    "no_such_memories": (
        "No memories here, so not counted as used: {ids}.",
        "以下编号不是这里的记忆，未计入使用：{ids}。",
    ),
    "lesson": (
        "{place}If {attempt} fails with “{error}”, {change}.",
        "{place}{attempt} 报错“{error}”时，{change}。",
    ),
    "lesson_of_cause": ("{place}{attempt} failed with “{error}”: {cause}", "{place}{attempt} 报错“{error}”：{cause}"),
    "lesson_place": ("On {domain}: ", "在 {domain} 上："),
    "change_both": ("{a}, then {b}", "{a}，再{b}"),
    "change_first": ("first run {a}", "先运行 {a}"),
    "change_add": ("add {a}", "加上 {a}"),
    "change_drop": ("leave out {a}", "去掉 {a}"),
    "change_replace": ("use {a} instead of {b}", "用 {a} 代替 {b}"),
    "change_swap": ("run {a} instead of {b}", "改为运行 {a}，不用 {b}"),
    "change_form": ("give {a} in the form {b}", "{a} 按 {b} 的格式填写"),
    "change_other": ("give another value for {a}", "{a} 换一个值"),
    "change_set": ("set {a}", "设置 {a}"),
    "change_directory": ("run it in the directory {a}", "在目录 {a} 下运行"),
    "change_command": ("run {a}", "改为运行 {a}"),
    "change_feed": ("give it its input through a pipe: {a}", "用管道给它输入：{a}"),
    "change_header": ("add the header {a}", "加上请求头 {a}"),
    "change_field": ("give {a} ({b})", "填上 {a}（{b}）"),
    "change_field_bare": ("give {a}", "填上 {a}"),
    "change_without": ("leave out {a}", "不要给 {a}"),
    "change_value": ("give {a} as {b}, not as {c}", "{a} 填 {b}，不要填 {c}"),
    "change_quoting": ("mind the quoting: {a}", "注意引号：{a}"),
    "change_escape": ("escape the backslashes in what is given to {a}", "给 {a} 的内容里的反斜杠要转义"),
    "change_wait": ("wait ({a}) and try again", "等一会儿（{a}）再试"),
    "change_retry": (
        "try the same again: it is flaky and worked at attempt {a}",
        "原样重试：它不稳定，第 {a} 次成功",
    ),
    "change_read": ("read the file first, then edit it", "先读这个文件，再修改"),
    "change_exact": (
        "read the file again and give the text to replace exactly as it stands, white space included",
        "重新读文件，被替换的文本要与原文完全一致，包括空白",
    ),
    "change_unique": (
        "give more lines around the text to replace, so that it is unique",
        "多给几行上下文，使被替换的文本唯一",
    ),
    "change_indentation": (
        "keep the indentation of the file in the text that replaces",
        "替换的文本要保持原文件的缩进",
    ),
    "change_statement": (
        "replace whole statements, with all their brackets, and check the range of lines",
        "替换完整的语句（括号成对），并核对行范围",
    ),
    "change_edit": ("change {a}: {b}", "修改 {a}：{b}"),
    "change_edit_bare": ("change {a}", "修改 {a}"),
    "result_worked": ("{a} worked after that.", "之后 {a} 成功。"),
    "result_passed": ("{a} passed after that.", "之后 {a} 通过。"),
    "result_failed": ("{a} failed {count} times: {error}", "{a} 失败 {count} 次：{error}"),
    "result_failed_once": ("{a} failed: {error}", "{a} 失败：{error}"),
    "situation": ("{attempt} failed with “{error}”", "{attempt} 报错“{error}”"),
    "dead_end": (
        "{place}{attempt} failed {count} times with “{error}”, and no way around it was found.",
        "{place}{attempt} 失败 {count} 次，报错“{error}”，没有找到解决办法。",
    ),
    "dead_end_once": (
        "{place}{attempt} ended in “{error}”, and no way around it was found.",
        "{place}{attempt} 最后报错“{error}”，没有找到解决办法。",
    ),
    "list_join": (", ", "、"),
    "note_join": (", ", "，"),
    "tried_in_vain": ("{account} Tried in vain: {ways}.", "{account}试过但无效：{ways}。"),
    "user_undid": ("The user had {about} undone: “{words}”", "用户要求撤销 {about}：“{words}”"),
    "decided": ("{chosen}", "{chosen}"),
    "decided_because": ("{chosen}, because {why}", "{chosen}，因为{why}"),
    "point_checks": ("{a}: {count} checks, the last one {state}", "{a}：检查 {count} 次，最后一次{state}"),
    "point_passed": ("passed", "通过"),
    "point_failed": ("failed", "未通过"),
    "point_edited": ("Edited {files}", "修改了 {files}"),
    "point_did": ("{a} ({count} times)", "{a}（{count} 次）"),
    "point_ended": ("The task {state}", "任务{state}"),
    "point_ended_succeeded": ("succeeded", "成功"),
    "point_ended_failed": ("failed", "失败"),
    "point_ended_abandoned": ("ended without a known result", "结束时结果不明"),
    "episode_task": ("Task “{goal}”: {did}.", "任务“{goal}”：{did}。"),
    "episode_join": ("; ", "；"),
    "episode_end_succeeded": ("it succeeded", "结果成功"),
    "episode_end_failed": ("it failed", "结果失败"),
    "episode_end_abandoned": ("its result is not known", "结果未知"),
    "episode_edited": ("edited {files}", "修改了 {files}"),
    "episode_where": (" ({where})", "（{where}）"),
    "episode_file_became": ("in {file}, {old} became {new}", "{file} 中 {old} 改成了 {new}"),
    "episode_file_added": ("in {file}, {new} was added", "{file} 中加上了 {new}"),
    "episode_file_dropped": ("in {file}, {old} was taken out", "{file} 中去掉了 {old}"),
    "episode_file_edited": ("{file} was edited", "修改了 {file}"),
    "episode_file_made": ("{file} was made", "新建了 {file}"),
    "episode_called": ("called {calls}", "调用了 {calls}"),
    "episode_call": ("{tool} ({notes})", "{tool}（{notes}）"),
    "episode_times": ("{count} times", "{count} 次"),
    "episode_in_vain": ("in vain", "未成"),
    "episode_some_in_vain": ("{count} in vain", "{count} 次未成"),
    "episode_more": (" (+{count})", "（另有 {count} 个）"),
    "episode_looked": ("only looked things up ({tools}), nothing was changed", "只查询（{tools}），没有改动"),
    "episode_check_passed": ("{check} passed at the end", "最后 {check} 通过"),
    "episode_check_failed": ("at the end {check} still failed with “{error}”", "最后 {check} 仍报错“{error}”"),
    "episode_check_failed_bare": ("at the end {check} still failed", "最后 {check} 仍未通过"),
    "episode_change": ("For “{title}”: {change}.", "为“{title}”：{change}。"),
    "episode_proof": (
        "For “{title}”: {check} failed with “{error}” before the change and passed after it.",
        "为“{title}”：改动前 {check} 报错“{error}”，改动后通过。",
    ),
    "episode_proof_bare": (
        "For “{title}”: {check} failed before the change and passed after it.",
        "为“{title}”：{check} 改动前未通过，改动后通过。",
    ),
    "episode_handover": ("“{title}” was handed over with {tool}: {words}", "“{title}”用 {tool} 转交：{words}"),
    "episode_handover_end": ("{words}; {end}.", "{words}；{end}。"),
    "episode_refused": (
        "On “{title}”: {tool} was refused with “{error}”.",
        "关于“{title}”：{tool} 被拒绝，返回“{error}”。",
    ),
    "episode_found": ("On “{title}”: {words}", "关于“{title}”：{words}"),
    "episode_corrected": ("On “{title}”, the user put it right: “{words}”", "关于“{title}”，用户纠正：“{words}”"),
    "nothing_to_summarize": ("There is nothing to summarize here.", "这里没有可总结的记忆。"),
}


def say(key: str, language: str, **values: object) -> str:
    """The sentence `key` in a language.

    Args:
        key: a key of `SENTENCES`.
        language: "zh" for Chinese, anything else is English.
        values: what the sentence's braces stand for.
    """
    english, chinese = SENTENCES[key]
    return (chinese if language == "zh" else english).format(**values)
