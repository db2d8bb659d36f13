"""A real language model, small and on this machine: what it answers has the form that was asked for, every time.

It is too small to be right: nothing here looks at what it says.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from tests.small_model import served

from afterwit import prompts
from afterwit.clock import utc_now
from afterwit.config import Settings, load_settings
from afterwit.embedding import HashEmbedder
from afterwit.llm import LLM, Answer, open_llm
from afterwit.prompts import Extraction, Prompt, Review
from afterwit.records import Basis, Kind, LinkType, Memory, Outcome, Source, Standing, Trust
from afterwit.service import Afterwit, Writer
from afterwit.service.extracting import MAX_ASKED_TOKENS
from afterwit.storage import LLMUse, open_store
from afterwit.text import count_tokens, hard_terms, sentences

pytestmark = pytest.mark.slow

#: One thread of a busy machine writes some ten tokens a second.
PATIENCE_S = 200.0


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served() as url:
        yield url


def settings_for(url: str, **values: str | float) -> Settings:
    named = {"llm": "openai:smollm2-135m", "llm_url": url, "timezone": "UTC"}
    return load_settings(environ={}, overrides=named | values)


@pytest.fixture
def llm(url: str, monkeypatch: pytest.MonkeyPatch) -> LLM:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    made = open_llm(settings_for(url))
    assert made is not None
    return made


class Report(BaseModel):
    """Bounded in every field, so that it ends whatever the model thinks of."""

    outcome: Literal["succeeded", "failed"]
    steps: Annotated[list[int], Field(max_length=3)]
    remark: Annotated[str, Field(min_length=1, max_length=40)]


def test_answer_of_a_real_model_has_the_form(llm: LLM) -> None:
    asked = Prompt(
        "test", 1, "Say how the task ended, as JSON.", "1. run tests -> 2 failed\n2. fix\n3. run tests -> ok"
    )
    answer = llm.answer(asked, schema=Report, max_tokens=200, timeout_s=PATIENCE_S)
    assert isinstance(answer.output, Report)
    assert answer.usage.input_tokens > 20
    assert 5 < answer.usage.output_tokens <= 200


# --- The service with it ----------------------------------------------------------------------------


class Patient:
    """The real model, for a busy machine: given time, and cut off early when it goes in circles."""

    def __init__(self, llm: LLM, *, most: int, framed: bool = False) -> None:
        """Ask nothing yet.

        Args:
            llm: is asked.
            most: most tokens of an answer.
            framed: put a lesson's words into sentences and name the first step where it names none, and let the first
                statement quote the text, so that what so small a model says comes through as a larger one's words do.
        """
        self._llm = llm
        self._most = most
        self._framed = framed
        self.answers: list[Any] = []

    @property
    def model(self) -> str:
        return self._llm.model

    def warm(self) -> None:
        self._llm.warm()

    def answer(self, prompt: Prompt, *, schema: type[Any], max_tokens: int, timeout_s: float) -> Answer[Any]:
        answer = self._llm.answer(prompt, schema=schema, max_tokens=min(max_tokens, self._most), timeout_s=PATIENCE_S)
        if isinstance(answer.output, Review) and self._framed:
            for lesson in answer.output.lessons:
                lesson.situation = f"A small model describes it: {lesson.situation}"
                lesson.action = f"The model suggests this: {lesson.action}"
                lesson.steps = lesson.steps or [1]
        if isinstance(answer.output, Extraction) and self._framed:
            for statement in answer.output.statements[:1]:
                statement.summary = statement.quote = sentences(prompt.content.splitlines()[1])[0]
        self.answers.append(answer.output)
        return answer


def service(llm: LLM, url: str, **values: str | float) -> Afterwit:
    return Afterwit(open_store("sqlite://"), HashEmbedder(), settings=settings_for(url, **values), llm=llm)


def uses_of(memory: Afterwit) -> list[LLMUse]:
    now = utc_now()
    return memory.store.usage(memory.space, now - timedelta(days=1), now + timedelta(seconds=1))


def all_of(memory: Afterwit) -> list[Memory]:
    return memory.list(all_states=True, limit=100)


def by_model(memory: Afterwit) -> list[Memory]:
    return [row for row in all_of(memory) if "prompt" in row.structured]


STEPS: list[Any] = [
    {"action": "bash", "input": "pytest -q", "output": "E  ConnectionRefusedError: port 5432\n1 failed", "ok": False},
    {"action": "bash", "input": "docker compose up -d db", "output": "Started", "ok": True},
    {"action": "bash", "input": "pytest -q", "output": "41 passed in 3.02s", "ok": True},
]


@pytest.mark.parametrize("framed", [False, True], ids=["as it is", "in sentences"])
def test_a_task_reviewed_by_a_real_model_loses_nothing_whatever_it_says(llm: LLM, url: str, *, framed: bool) -> None:
    patient = Patient(llm, most=300, framed=framed)
    with service(patient, url) as memory:
        seen = memory.as_writer(Writer("agent", Trust.AGENT, "s1"))
        task = seen.start_task("Make the checkout tests pass").task
        seen.log_steps(STEPS)
        seen.finish_task(outcome="success")
        by_rule = [(row.id, row.summary, row.basis) for row in all_of(memory)]
        report = memory.review()

        assert report.tasks == (task.id,)
        (use,) = uses_of(memory)
        assert (use.purpose, use.model) == ("review/2", llm.model)
        assert use.input_tokens > 100
        assert use.output_tokens > 5
        assert [(row.id, row.summary, row.basis) for row in all_of(memory) if "prompt" not in row.structured] == by_rule
        steps = memory.store.steps(memory.space, task.id)
        assert [step.output for step in steps] == [step["output"] for step in STEPS]
        if report.failed:
            assert (use.error, report.waiting, patient.answers) == ("cut off", 1, [])
            assert "cut off" in memory.task(task.id).review_error
            assert by_model(memory) == []
            return
        (review,) = patient.answers
        assert isinstance(review, Review)
        assert (use.error, report.waiting, memory.task(task.id).review_error) == ("", 0, "")
        assert bool(framed and review.lessons) <= len(by_model(memory)) <= len(review.lessons) <= prompts.MOST_LESSONS
        for row in by_model(memory):
            assert (row.basis, row.standing, row.kind) == (Basis.REFLECTED, Standing.PENDING, Kind.LESSON)
            assert (row.trust, row.source) == (Trust.AGENT, Source("review", task.id))
            assert (row.structured["prompt"], row.structured["model"]) == ("review/2", llm.model)
            assert row.structured["nature"] in ("pitfall", "technique")
            assert all(row.structured[name].strip() for name in ("situation", "action", "result"))
            derived = [link for link in memory.explain(row.id).links if link.type is LinkType.DERIVED_FROM]
            assert {link.target_id for link in derived} & {step.id for step in steps}
        assert memory.review().tasks == (), "it is asked once"


NOTES = "The kettle is on the second floor. Nobody has cleaned it since May. The cups are blue and white."


@pytest.mark.parametrize(
    ("content", "most", "source", "trust"),
    [
        (NOTES, 600, "web", Trust.EXTERNAL),
        ("新的导入程序每晚要跑 40 分钟。他们认为是索引造成的。回滚不在考虑之内。", 120, "user", Trust.AGENT),
    ],
    ids=["English page", "Chinese user"],
)
def test_a_text_read_by_a_real_model_is_kept_whole_whatever_it_says(
    llm: LLM, url: str, content: str, most: int, source: str, trust: Trust
) -> None:
    patient = Patient(llm, most=most, framed=True)
    with service(patient, url) as memory:
        receipt = memory.write(content, source=source)
        assert receipt.outcome is Outcome.STORED
        (use,) = uses_of(memory)
        assert (use.purpose, use.error in ("", "cut off")) == ("extract/2", True)
        assert use.output_tokens > 5
        assert ("model_failed" in receipt.reasons) == bool(use.error)
        kept = " ".join(f"{row.summary} {row.raw}" for row in all_of(memory))
        for sentence in sentences(content):
            assert sentence in kept
        assert all(row.trust is trust for row in all_of(memory))
        assert bool(by_model(memory)) == any(answer.statements for answer in patient.answers)
        for row in by_model(memory):
            assert row.raw in content, "what it quotes stands in the text"
            assert hard_terms(row.summary) <= hard_terms(content)
            assert (row.structured["prompt"], row.structured["model"]) == ("extract/2", llm.model)
            stated = source == "user" and row.basis is Basis.STATED
            assert stated or (row.basis, row.standing) == (Basis.INFERRED, Standing.PENDING)


def test_a_text_beyond_its_context_is_refused_at_once_and_read_by_rules(llm: LLM, url: str) -> None:
    long = (
        "I prefer green tea. "
        + "The importer takes forty minutes every night, and nobody has found out why it is so slow. " * 120
    )
    assert count_tokens(long) < MAX_ASKED_TOKENS
    with service(Patient(llm, most=50), url) as memory:
        receipt = memory.write(long)
        assert (receipt.outcome, receipt.reasons[-1]) == (Outcome.STORED, "model_failed")
        assert "context" in receipt.message
        assert [use.error for use in uses_of(memory)] == ["too long"]
        assert "green tea" in all_of(memory)[0].summary


def test_a_spent_budget_asks_it_nothing(llm: LLM, url: str) -> None:
    patient = Patient(llm, most=50)
    with service(patient, url, llm_budget_tokens=1_000) as memory:
        task = memory.start_task("Make the checkout tests pass").task
        memory.log_steps(STEPS)
        memory.finish_task(outcome="success")
        report = memory.review()
        assert (list(report.failed), report.waiting) == ([task.id], 1)
        assert "budget" in memory.task(task.id).review_error
        assert memory.write(NOTES).reasons == ("new", "model_budget")
        assert (patient.answers, uses_of(memory)) == ([], [])


def test_real_model_reads_the_results_of_a_search_again(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    settings = settings_for(
        url, data_dir=str(tmp_path), embedder="hash", reranker="llm", reranker_timeout_s=60.0, log_level="ERROR"
    )
    with Afterwit.open(settings=settings) as memory:
        for statement in ("The gateway is deployed on Tuesdays.", "The gateway is written in Go."):
            memory.write(statement, kind="fact")
        answer = memory.search("When is the gateway deployed?", exhaustive=True)
        assert answer.degraded == ()
        assert all(0 < hit.why["reranker"] < 1 for hit in answer.hits)
        assert len(answer.hits) == 2
        now = answer.hits[0].memory.recorded_at
        day = now.replace(hour=0, minute=0, second=0, microsecond=0)
        uses = memory.store.usage(memory.space, day, now.replace(year=now.year + 1))
        assert [(use.purpose, use.error) for use in uses] == [("rerank/1", "")]
        assert uses[0].input_tokens > 100
