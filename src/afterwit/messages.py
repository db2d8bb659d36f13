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
        "If it is right, say so with memory_update on {id}.",
        "已搁置：它与证据更强的“{old}”矛盾（{old_basis} 对 {new_basis}）。若它才是对的，请用 memory_update 确认 {id}。",
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
    "degraded_vector": (
        "Meaning was not searched, only words: {reason}",
        "本次只按词搜索，未按语义搜索：{reason}",
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
    "no_such_memories": (
        "No memories here, so not counted as used: {ids}.",
        "以下编号不是这里的记忆，未计入使用：{ids}。",
    ),
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
