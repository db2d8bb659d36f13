"""Recorded agent runs, looked back at by rules: how many memories they leave, and whether the right ones.

`evals/corpora/trajectory_rubric.json` says, in our own words, what each run must teach (its findings) and what is to
be remembered of it (`kept`), and what must not be. The runs of `swe_agent` carry the output of real commands; those of
`tau_airline` have calls and thoughts without outputs, and a recorded reward, which is taken for what was said at their
end. Half of the runs were not read, nor what the rules leave of them, while the rules were made: groups "unread".
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.measures import Metric, Observation, rows
from evals.product import Lookback, TaskStatus, TaskStep, look_back
from evals.report import Report
from evals.running import DataMissing, Run, progress, read_json, read_json_lines
from evals.suites.own import CORPORA

METRICS = (
    Metric("found", per="expected"),
    Metric("forbidden", "sum"),
    Metric("too many", "share"),
    Metric("findings"),
    Metric("lessons"),
    Metric("kept found", per="kept expected"),
    Metric("kept forbidden", "sum"),
    Metric("kept too many", "share"),
    Metric("memories"),
    Metric("per 30 steps", per="thirties"),
    Metric("per 30 turns", per="thirty turns"),
    Metric("points"),
    Metric("judged", "share"),
)
HEADLINE = ("all", "swe_agent", "tau_airline", "swe_agent, unread", "tau_airline, unread")

#: Commands of the SWE-agent's own interface; everything else it types goes to a shell.
_OWN_COMMANDS = re.compile(
    r"^(?:open|goto|scroll_up|scroll_down|create|edit|insert|submit|find_file|search_file|search_dir|set_cursors|"
    r"decompile|disassemble|connect_\w+|debug_\w+)$"
)


def evaluate(run: Run) -> Report:
    """Every recorded run of the data sets that are there."""
    rubric = read_rubric()
    recorded = [*_swe_agent(run), *_tau_airline(run)]
    if not recorded:
        raise DataMissing("No recorded runs: neither swe_agent/*.traj nor tau_airline/experience.jsonl.")
    observations: list[Observation] = []
    failures: list[str] = []
    for one in progress(run.limited(recorded), total=len(recorded), label="trajectories"):
        found = run.watch.call("look back", lambda: look_back(one.goal, one.steps, outcome=one.outcome))  # noqa: B023
        wanted = criteria(rubric, one.source, one.name)
        values, amiss = judge(found, len(one.steps), wanted)
        also, lacking = judge_kept(found, wanted)
        values |= also | {"thirty turns": max(one.turns, len(one.steps)) / 30}
        failures += [f"{one.name}: {line}" for line in (*amiss, *lacking)]
        half = "unread" if one.name in rubric["unread"][one.source] else "read"
        groups = ("all", one.source, f"{one.source}, {half}")
        observations.append(Observation("ours", groups, f"{one.source}/{one.name}", values))
    notes = (
        "found: facts of the rubric that a finding meets, of all that there are; forbidden: patterns met in memories",
        "too many: runs that leave more findings than the rubric allows; judged: runs whose outcome the signs show",
        "kept: the memories of how a run went; memories: these and the findings; turns count messages, steps calls",
        "unread: runs that nobody read, nor what is left of them, while the rules were made",
    )
    found_rows = rows(observations, METRICS)
    return Report("trajectories", "none", METRICS, found_rows, notes, run.watch.summary(), failures, HEADLINE)


def read_rubric() -> Mapping[str, Any]:
    """The checked-in rubric."""
    return read_json(CORPORA / "trajectory_rubric.json")


def criteria(rubric: Mapping[str, Any], source: str, name: str) -> Mapping[str, Any]:
    """What one run is judged by: its own part of the rubric, or that of its data set, with what holds everywhere."""
    part: Mapping[str, Any] = rubric[source].get(name, rubric[source] if "must_not" in rubric[source] else {})
    everywhere = rubric["everywhere"]
    return {
        "must": part.get("must", ()),
        "must_not": part.get("must_not", ()),
        "never": everywhere["must_not"],
        "most_findings": part.get("most_findings", everywhere["most_findings"]),
        "kept": _kept_criteria(rubric, source, name),
    }


def _kept_criteria(rubric: Mapping[str, Any], source: str, name: str) -> Mapping[str, Any]:
    """What the memories of how a run went are judged by: as for the run, else for its data set, and everywhere."""
    whole: Mapping[str, Any] = rubric[source].get("kept", {})
    part: Mapping[str, Any] = rubric[source].get(name, {}).get("kept") or whole.get("runs", {}).get(name, {})
    own = rubric[source].get("must_not", ())
    return {
        "must": part.get("must", ()),
        "must_not": (*own, *whole.get("must_not", ()), *part.get("must_not", ()), *rubric["everywhere"]["must_not"]),
        "most": part.get("most", whole.get("most", rubric["everywhere"]["most_kept"])),
    }


def judge_kept(found: Lookback, wanted: Mapping[str, Any]) -> tuple[dict[str, float], list[str]]:
    """What the memories of how one run went are worth.

    Args:
        found: what looking back gave.
        wanted: with `kept`: `must` (facts, each with patterns that one memory or finding must meet), `must_not`
            (patterns that no memory may meet) and `most` (memories).

    Returns:
        As `judge`.
    """
    asked = wanted["kept"]
    told = (*found.kept, *found.findings)
    missing = [
        fact["id"]
        for fact in asked["must"]
        if not any(all(re.search(one, words, re.IGNORECASE) for one in fact["all"]) for words in told)
    ]
    everything = "\n".join(found.kept)
    forbidden = [pattern for pattern in asked["must_not"] if re.search(pattern, everything)]
    too_many = len(found.kept) > asked["most"]
    values = {
        "kept expected": float(len(asked["must"])),
        "kept found": float(len(asked["must"]) - len(missing)),
        "kept forbidden": float(len(forbidden)),
        "kept too many": float(too_many),
        "memories": float(len(found.findings) + len(found.kept)),
        "per 30 steps": float(len(found.findings) + len(found.kept)),
        "per 30 turns": float(len(found.findings) + len(found.kept)),
    }
    amiss = [*(f"not kept: {one}" for one in missing), *(f"kept, but forbidden: {one}" for one in forbidden)]
    return values, [*amiss, *([f"kept too many: {len(found.kept)}"] if too_many else [])]


def judge(found: Lookback, steps: int, wanted: Mapping[str, Any]) -> tuple[dict[str, float], list[str]]:
    """What looking back at one run is worth.

    Args:
        found: what it gave.
        steps: how many steps the run has.
        wanted: `must` (facts, each with patterns that one finding must meet), `must_not` (patterns that no finding may
            meet), `never` (patterns that neither findings nor points may meet), `most_findings`.

    Returns:
        Values by metric; and a line for each fact that is missing and each forbidden pattern that is met.
    """
    missing = [
        fact["id"]
        for fact in wanted["must"]
        if not any(all(re.search(one, words, re.IGNORECASE) for one in fact["all"]) for words in found.findings)
    ]
    kept = "\n".join(found.findings)
    told = "\n".join((kept, *found.points))
    forbidden = [pattern for pattern in wanted["must_not"] if re.search(pattern, kept)]
    forbidden += [pattern for pattern in wanted["never"] if re.search(pattern, told)]
    values = {
        "expected": float(len(wanted["must"])),
        "found": float(len(wanted["must"]) - len(missing)),
        "forbidden": float(len(forbidden)),
        "too many": float(len(found.findings) > wanted["most_findings"]),
        "findings": float(len(found.findings)),
        "lessons": float(found.lessons),
        "thirties": steps / 30,
        "points": float(len(found.points)),
        "judged": float(bool(found.outcome)),
    }
    return values, [*(f"missing: {one}" for one in missing), *(f"forbidden: {one}" for one in forbidden)]


@dataclass(frozen=True)
class Recorded:
    """One recorded run."""

    #: data set, and name within it
    source: str
    name: str
    goal: str
    steps: Sequence[TaskStep]
    #: messages of the conversation; 0 = not recorded
    turns: int = 0
    #: None = not recorded
    outcome: TaskStatus | None = None


def _swe_agent(run: Run) -> Iterator[Recorded]:
    for path in _files(run, "swe_agent", "*.traj", layout="trajectories of SWE-agent, one JSON file each"):
        data = read_json(path)
        steps = [_typed(one) for one in data["trajectory"]] if "trajectory" in data else [*_called(data["history"])]
        yield Recorded("swe_agent", path.stem, _goal(data["history"]), steps)


def _files(run: Run, folder: str, pattern: str, *, layout: str) -> list[Path]:
    try:
        return run.files(folder, pattern, layout=layout)
    except DataMissing:
        return []


def _goal(history: Sequence[Mapping[str, Any]]) -> str:
    """The issue's text: what follows its heading in the last message before the agent's first, without instructions."""
    asked = [str(one["content"]) for one in history if one.get("role") == "user" and not one.get("is_demo")]
    words = asked[0] if asked else ""
    return words.rpartition("ISSUE:")[2].partition("INSTRUCTIONS:")[0].strip()[:2_000]


def _typed(one: Mapping[str, Any]) -> TaskStep:
    action = str(one["action"]).strip()
    command, _, rest = action.partition("\n") if "\n" in action.split(" ", 1)[0] else action.partition(" ")
    output, thought = str(one.get("observation") or ""), str(one.get("thought") or "")
    if _OWN_COMMANDS.match(command):
        return TaskStep(command, rest, output, thought)
    return TaskStep("bash", action, output, thought)


def _called(history: Sequence[Mapping[str, Any]]) -> Iterator[TaskStep]:
    """Steps of a history in which the agent calls functions: a call, then the tool's answer."""
    asked: tuple[str, str, str] | None = None
    for one in history:
        if one.get("role") == "assistant" and one.get("tool_calls"):
            call = one["tool_calls"][0]["function"]
            asked = str(call["name"]), str(call["arguments"]), str(one.get("content") or "")
        elif one.get("role") == "tool" and asked:
            yield TaskStep(asked[0], asked[1], str(one.get("content") or ""), asked[2])
            asked = None


def _tau_airline(run: Run) -> Iterator[Recorded]:
    for path in _files(run, "tau_airline", "experience.jsonl", layout="one agent run a line"):
        for one in read_json_lines(path):
            steps = [_spoken_or_called(name, given) for name, given in one["tool_calls"]]
            name = f"{one['task_id']}-{one['trial']}"
            outcome = None if "reward" not in one else TaskStatus.SUCCEEDED if one["reward"] else TaskStatus.FAILED
            yield Recorded("tau_airline", name, one["instruction"], steps, one.get("turns", 0), outcome)


def _spoken_or_called(name: str, given: str) -> TaskStep:
    if name == "think":
        return TaskStep("note", "", rationale=json.loads(given).get("thought", ""))
    return TaskStep(name, given)
