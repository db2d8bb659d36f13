"""Health, cleaning, intents and imported documents as JSON values: one encoder for REST and `--json`."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from afterwit.clock import format_time
from afterwit.serve.wire import memory_json

if TYPE_CHECKING:
    from afterwit.review.health import Health
    from afterwit.service.knowledge import FileReport, KnowledgeReport
    from afterwit.service.tending import CleaningPlan, Intent

Values = dict[str, Any]


def health_json(health: "Health", *, language: str = "en") -> Values:
    """Counts, and every figure with its level, what was found and what to do."""
    return {
        "level": health.level,
        "at": format_time(health.at),
        "total": health.total,
        "status": dict(health.by_status),
        "standing": dict(health.by_standing),
        "kind": dict(health.by_kind),
        "figures": [
            {
                "name": figure.name,
                "level": figure.level,
                "value": round(figure.value, 4),
                "message": figure.message(language),
            }
            | ({"next_step": advice} if (advice := figure.next_step(language)) else {})
            | ({"ids": list(figure.ids)} if figure.ids else {})
            for figure in health.figures
        ],
    }


def plan_json(plan: "CleaningPlan") -> Values:
    """What would be taken out of recall, or was, by category."""
    return {
        "applied": plan.applied,
        "count": plan.count,
        "proposals": [
            {
                "category": item.category,
                "count": len(item.ids),
                "status": item.status.value,
                "ids": list(item.ids),
            }
            | ({"kept": list(item.kept)} if item.kept else {})
            for item in plan.proposals
        ],
    }


def intent_json(intent: "Intent", *, now: datetime) -> Values:
    """Something to be done: the memory, and how it stands (`state` is "waiting" when nothing brings it up now)."""
    settled = intent.memory.structured.get("state")
    state = intent.state.state if intent.state is not None else settled or "waiting"
    values: Values = {"state": state}
    if intent.due is not None:
        values["due"] = format_time(intent.due.at)
    if intent.state is not None:
        values["why"] = intent.state.why
    return values | {"memory": memory_json(intent.memory, now=now)}


def knowledge_json(report: "KnowledgeReport") -> Values:
    """What became of each document, and the sums."""
    sums = {name: report.total(name) for name in ("added", "replaced", "retired", "known")}
    return {"dry_run": report.is_dry_run, **sums, "files": [_file_json(file) for file in report.files]}


def _file_json(file: "FileReport") -> Values:
    values: Values = {"name": file.name, "status": file.status}
    for name in ("reason", "added", "replaced", "retired", "known"):
        if value := getattr(file, name):
            values[name] = value
    if file.refused:
        values["refused"] = [{"reason": item.reason, "line": item.line} for item in file.refused]
    return values | ({"first_lines": list(file.first_lines)} if file.first_lines else {})
