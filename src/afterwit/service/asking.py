"""A finished task reviewed by a language model: one question about the task in a few points, the answer checked."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from afterwit import prompts, text
from afterwit.records import Basis, Kind, Step, Task
from afterwit.review.instructions import reads_as_instruction
from afterwit.review.lessons import Finding
from afterwit.review.trajectory import Episode

if TYPE_CHECKING:
    from afterwit.llm import LLM

#: Most tokens of the answer: five lessons of three sentences. The question has at most 8 points of 240 characters.
MAX_ANSWER_TOKENS = 1_500
#: How sure a model's words make a lesson; never as sure as what a check showed.
_CONFIDENCE = {"high": 0.8, "medium": 0.6, "low": 0.4}
#: Words that a situation and an action have at least.
_LEAST_WORDS = 2


def ask_for_lessons(
    llm: "LLM", task: Task, steps: Sequence[Step], episode: Episode, *, timeout_s: float
) -> list[Finding]:
    """What a language model says a task teaches; only what names points of the task that there are.

    Args:
        llm: is asked once.
        task: ended.
        steps: the task's.
        episode: the task in a few points; nothing else is shown.
        timeout_s: longest wait.

    Raises:
        ProviderError: the model did not answer, or not in the form.
        TooManyRequests: the token budget of the day is used up.
    """
    points = [point for point in episode.points if point.positions]
    if not points:
        return []
    transcript = "\n".join(f"{number}. [{point.role}] {point.text}" for number, point in enumerate(points, start=1))
    prompt = prompts.review(goal=text.redact_secrets(task.goal), outcome=_outcome(task), transcript=transcript)
    answer = llm.answer(prompt, schema=prompts.Review, max_tokens=MAX_ANSWER_TOKENS, timeout_s=timeout_s)
    there = {step.position for step in steps}
    findings: list[Finding] = []
    for lesson in answer.output.lessons:
        shown = [points[number - 1] for number in lesson.steps if 1 <= number <= len(points)]
        positions = tuple(sorted({place for point in shown for place in point.positions} & there))
        if positions and _says_something(lesson, task):
            findings.append(_finding(lesson, positions, made_by={"prompt": prompt.purpose, "model": llm.model}))
    return findings


def _says_something(lesson: prompts.Lesson, task: Task) -> bool:
    """Whether a lesson could help anybody: small models answer with a word, or with what the task was for."""
    if reads_as_instruction(f"{lesson.situation} {lesson.action} {lesson.result}"):
        return False
    situation, action = _words(lesson.situation), _words(lesson.action)
    return len(situation) >= _LEAST_WORDS and len(action) >= _LEAST_WORDS and not action <= _words(task.goal)


def _words(said: str) -> set[str]:
    """Words that carry meaning, those inside names too."""
    return set(text.query_tokens(re.sub(r"[\W_]+", " ", said)))


def _finding(lesson: prompts.Lesson, positions: tuple[int, ...], *, made_by: dict[str, str]) -> Finding:
    situation, action, result = (text.redact_secrets(part) for part in (lesson.situation, lesson.action, lesson.result))
    structured = {"situation": situation, "action": action, "result": result, "nature": lesson.nature, **made_by}
    return Finding(
        Kind.LESSON,
        _sentences(situation, action),
        structured,
        tuple(tag for tag in lesson.tags if tag),
        basis=Basis.REFLECTED,
        confidence=_CONFIDENCE[lesson.confidence],
        positions=positions,
    )


def _sentences(situation: str, action: str) -> str:
    """Situation and action as one or two sentences."""
    chinese = text.language(situation + action) == "zh"
    first = situation.rstrip(" .。,，;；:：")
    return f"{first}：{action}" if chinese else f"{first}: {action}"


def _outcome(task: Task) -> str:
    said = text.redact_secrets(task.outcome)
    return f"{task.status.value}: {said}" if said else task.status.value
