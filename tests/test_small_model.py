"""A real language model, small and on this machine: what it answers has the form that was asked for, every time.

It is too small to be right: nothing here looks at what it says.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field
from tests.small_model import served

from afterwit import prompts
from afterwit.config import Settings, load_settings
from afterwit.errors import ProviderError
from afterwit.llm import LLM, open_llm
from afterwit.prompts import Prompt, Review
from afterwit.service import Afterwit

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


def test_review_by_a_real_model_has_the_form_or_is_cut_off(llm: LLM) -> None:
    transcript = "1. run pytest -> cannot connect to port 5432\n2. start the database -> ok\n3. run pytest -> 41 passed"
    asked = prompts.review(goal="Make the tests pass", outcome="succeeded", transcript=transcript)
    try:
        review = llm.answer(asked, schema=Review, max_tokens=300, timeout_s=PATIENCE_S).output
    except ProviderError as error:
        assert error.reason == "cut off"
        assert error.tokens[1] >= 300
    else:
        assert len(review.lessons) <= prompts.MOST_LESSONS
        assert all(lesson.situation and lesson.action and lesson.result for lesson in review.lessons)


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
