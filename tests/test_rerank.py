"""A second look at the best candidates: by a cross-encoder of the user's own, by a language model, or by nobody."""

import json
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evals.bench_reranker import Arm, MadeUp, figures, measure
from evals.suites.precision import read_worlds
from tests.onnx_files import cross_encoder, look_up_model, tokenizer_json

from afterwit import rank, text
from afterwit.config import Settings, load_settings
from afterwit.embedding import HashEmbedder
from afterwit.errors import AfterwitError, ConfigError, ProviderError, TooManyRequests
from afterwit.recall import SearchAnswer
from afterwit.rerank import Reranker, open_reranker
from afterwit.rerank.by_llm import GRADES, LLMReranker
from afterwit.serve.prose import search_text
from afterwit.service import Afterwit
from afterwit.storage import open_store
from afterwit.testing import FixedClock, ScriptedLLM

pytest.importorskip("onnxruntime")

#: [UNK], apple, pear, plum: a text is about what its fruits are.
FRUITS = [[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [2.0, 2.0]]
CLOCK = FixedClock()


def settings_for(**values: str | float) -> Settings:
    return load_settings(environ={"AFTERWIT_DATA_DIR": "/nonexistent"}, overrides=values)


def folder_of(tmp_path: Path, graph: bytes, *, longest: int = 0) -> Path:
    folder = tmp_path / "cross-encoder"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(graph)
    (folder / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    if longest:
        (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": longest}), encoding="utf-8")
    return folder


def opened(folder: Path) -> Reranker:
    made = open_reranker(settings_for(reranker=f"onnx:{folder}"), None)
    assert made is not None
    return made


# --- Cross-encoders -------------------------------------------------------------------------------


def test_cross_encoder_reads_query_and_text_together(tmp_path: Path) -> None:
    reranker = opened(folder_of(tmp_path, cross_encoder(FRUITS, bias=-4.0)))
    found = reranker.scores("apple", ["an apple", "a pear", "plum", "nothing of that"], deadline_s=20)
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-np.array([5.0, -4.0, 2.0, -4.0]))), atol=1e-6)
    other = reranker.scores("pear", ["an apple", "a pear"], deadline_s=20)
    assert other[0] < 0.5 < other[1]


def test_two_labels_are_no_and_yes(tmp_path: Path) -> None:
    reranker = opened(folder_of(tmp_path, cross_encoder(FRUITS, bias=-4.0, labels=2)))
    found = reranker.scores("apple", ["apple", "pear"], deadline_s=20)
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-2 * np.array([5.0, -4.0]))), atol=1e-6)


def test_as_much_is_read_as_the_model_takes(tmp_path: Path) -> None:
    reranker = opened(folder_of(tmp_path, cross_encoder(FRUITS, bias=-4.0), longest=10))
    near, far = reranker.scores("apple", ["x x x x apple", f"{'x ' * 50}apple"], deadline_s=20)
    assert far < 0.5 < near


def test_texts_of_any_kind_have_a_score(tmp_path: Path) -> None:
    reranker = opened(folder_of(tmp_path, cross_encoder(FRUITS)))
    found = reranker.scores("", ["", "\ud800", "apple " * 100_000], deadline_s=20)
    assert np.isfinite(found).all()


def test_time_that_is_up_while_it_reads_is_an_error(tmp_path: Path) -> None:
    reranker = opened(folder_of(tmp_path, cross_encoder(FRUITS)))
    reranker.scores("apple", ["apple"], deadline_s=20)
    with pytest.raises(ProviderError, match=r"had read \d+ of 100000 candidates within 0.001 s") as caught:
        reranker.scores("apple", ["apple"] * 100_000, deadline_s=0.001)
    assert caught.value.reason == "timeout"


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (b"no graph", "cannot be loaded"),
        (look_up_model(FRUITS), "gave an array of shape"),
        (look_up_model(FRUITS, input_name="pixels"), "takes pixels"),
        (cross_encoder(FRUITS, labels=3), r"gave an array of shape \(1, 3\)"),
        (cross_encoder([[float("nan")] * 2] * 4), "not one finite score"),
    ],
)
def test_model_that_is_no_cross_encoder_is_told(tmp_path: Path, graph: bytes, said: str) -> None:
    with pytest.raises(ProviderError, match=said) as caught:
        opened(folder_of(tmp_path, graph)).scores("apple", ["apple"], deadline_s=20)
    assert "one label" in caught.value.next_step


def test_closed_reranker_says_so(tmp_path: Path) -> None:
    reranker = opened(folder_of(tmp_path, cross_encoder(FRUITS)))
    reranker.warm()
    reranker.close()
    with pytest.raises(ProviderError, match="closed"):
        reranker.scores("apple", ["apple"], deadline_s=20)


# --- Settings -------------------------------------------------------------------------------------


def test_none_is_the_default() -> None:
    assert open_reranker(settings_for(), None) is None


@pytest.mark.parametrize(
    ("reranker", "said"),
    [
        ("llm", "llm is empty"),
        ("onnx:", "Unknown reranker"),
        ("cohere:m", "Unknown reranker"),
        ("llm:x", "Unknown reranker"),
        ("onnx:/nowhere", "no folder"),
    ],
)
def test_what_cannot_be_opened_is_refused_with_a_next_step(reranker: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        open_reranker(settings_for(reranker=reranker), None)
    assert caught.value.next_step


def test_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, cross_encoder(FRUITS))
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ConfigError, match=r"tokenizer\.json"):
        opened(folder)


def test_folder_of_a_model_in_another_form_is_told_how_to_export_it(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"holds no model\.onnx") as caught:
        opened(tmp_path)
    assert f"--task text-classification {tmp_path}" in caught.value.next_step


def test_service_opens_the_reranker_that_the_settings_name(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, cross_encoder(FRUITS))
    with Afterwit.open(data_dir=str(tmp_path), embedder="hash", reranker=f"onnx:{folder}", log_level="ERROR") as memory:
        assert memory.reranker is not None
        assert memory.reranker.name == f"onnx:{folder}"
    assert memory.reranker is None


# --- A language model -----------------------------------------------------------------------------


def rated(*pairs: tuple[int, int]) -> dict[str, Any]:
    return {"ratings": [{"number": number, "relevance": relevance} for number, relevance in pairs]}


def test_language_model_grades_the_candidates() -> None:
    llm = ScriptedLLM([rated((2, 3), (1, 1), (2, 0), (9, 3), (0, 3))])
    found = LLMReranker(llm).scores(
        "Who drinks tea?", ["Bo drinks coffee.", "Ana drinks tea.", "It rains."], deadline_s=1
    )
    assert found.tolist() == [GRADES[1], GRADES[3], GRADES[0]]
    assert "2. Ana drinks tea." in llm.prompts[0].content
    assert llm.prompts[0].purpose == "rerank/1"


def test_secrets_are_not_sent() -> None:
    llm = ScriptedLLM([rated((1, 3))])
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    LLMReranker(llm).scores(f"What is {key}?", [f"The key is {key}."], deadline_s=1)
    assert key not in llm.prompts[0].content
    assert "The key is" in llm.prompts[0].content


def test_long_candidates_share_what_a_small_model_can_read() -> None:
    long = "The gateway listens on port 8443 and is restarted at night. " * 20
    llm = ScriptedLLM([rated((1, 3)), rated((1, 3))])
    LLMReranker(llm).scores("port?", [f"Note {number}: {long}" for number in range(30)], deadline_s=1)
    asked = llm.prompts[0].content
    assert 2_000 < text.count_tokens(asked) < 2_800
    assert all(f"Note {number}: The gateway listens" in asked for number in range(30))
    LLMReranker(llm).scores("port?", [long], deadline_s=1)
    assert long[:490] in llm.prompts[1].content


# --- In a search ----------------------------------------------------------------------------------

STATEMENTS = (
    "Deployments of the gateway run every Tuesday.",
    "Deployments of the gateway need two reviewers.",
    "Deployments of the gateway are done by the release team.",
)
QUERY = "gateway deployments"


class Scripted:
    """Scores by rule; keeps what it was asked."""

    name = "scripted"

    def __init__(self, score: Callable[[str], float]) -> None:
        self.score = score
        self.asked: list[list[str]] = []

    def scores(self, query: str, texts: Any, *, deadline_s: float) -> np.ndarray[Any, Any]:
        self.asked.append(list(texts))
        return np.array([self.score(one) for one in texts])

    def warm(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture
def memory() -> Iterator[Afterwit]:
    settings = settings_for(timezone="UTC")
    with Afterwit(open_store("sqlite://"), HashEmbedder(), settings=settings, clock=CLOCK) as memory:
        for statement in STATEMENTS:
            memory.write(statement, kind="fact")
        yield memory


def summaries(answer: SearchAnswer) -> list[str]:
    return [hit.memory.summary for hit in answer.hits]


def test_reranker_decides_the_order_and_shows_its_part(memory: Afterwit) -> None:
    plain = memory.search(QUERY)
    assert set(summaries(plain)) == set(STATEMENTS)
    assert all("reranker" not in hit.why for hit in plain.hits)
    for favourite in STATEMENTS:
        memory.rerank_with(Scripted(lambda one, best=favourite: 0.9 if one == best else 0.6))
        answer = memory.search(QUERY)
        assert summaries(answer)[0] == favourite
        assert answer.hits[0].why["reranker"] == 0.9
        assert answer.degraded == ()
    memory.rerank_with(None)
    assert memory.search(QUERY) == plain


def test_what_the_reranker_takes_for_unrelated_does_not_pass_the_cut(memory: Afterwit) -> None:
    query = "deployments and upkeep"
    assert set(summaries(memory.search(query))) == set(STATEMENTS)
    memory.rerank_with(Scripted(lambda one: 0.95 if "reviewers" in one else 0.001))
    assert summaries(memory.search(query)) == [STATEMENTS[1]]
    memory.rerank_with(Scripted(lambda _: 0.001))
    answer = memory.search(query)
    assert (answer.hits, bool(answer.message)) == ((), True)


def test_what_a_reranker_rejects_stands_where_the_evidence_is_plain(memory: Afterwit) -> None:
    (plain,) = memory.search("How are deployments done?").hits
    memory.rerank_with(Scripted(lambda _: 0.001))
    (hit,) = memory.search("How are deployments done?").hits
    assert hit.memory == plain.memory
    assert hit.relevance < plain.relevance


def test_what_is_about_somebody_else_is_not_lifted(memory: Afterwit) -> None:
    memory.write("Zhang Wei prefers green tea.", kind="preference", subject="Zhang Wei")
    memory.write("Li Na prefers green tea.", kind="preference", subject="Li Na")
    memory.rerank_with(Scripted(lambda _: 0.99))
    assert "Li Na prefers green tea." not in summaries(memory.search("What tea does Zhang Wei prefer?"))


def test_what_was_replaced_is_not_read_again_and_does_not_lose_its_successor(memory: Afterwit) -> None:
    old = "The lift at Maple Court is serviced by Brandon Lifts, phone 555 0199."
    for content in (old, "Kestrel took over from Brandon."):
        memory.write(
            content,
            subject="maple court",
            topic="lift_service",
            structured={"value": content, "single_valued": True},
            happened_at="2025-01-01",
        )
    query = "Who services the lift at Maple Court?"
    plain = memory.search(query).hits[0].relevance
    reranker = Scripted(lambda _: 0.001)
    memory.rerank_with(reranker)
    (hit,) = memory.search(query).hits
    assert (hit.memory.summary, hit.relevance) == ("Kestrel took over from Brandon.", plain)
    assert old not in reranker.asked[0]


def test_at_most_thirty_candidates_are_read_again(memory: Afterwit) -> None:
    memory.write_many((f"Gateway deployments number {number} went well.", {"kind": "fact"}) for number in range(60))
    reranker = Scripted(lambda _: 0.7)
    memory.rerank_with(reranker)
    first = memory.search(QUERY, top_k=3)
    assert [len(asked) for asked in reranker.asked] == [30]
    more = memory.search(QUERY, top_k=20, budget_tokens=4000)
    assert summaries(more)[: len(first.hits)] == summaries(first)
    assert set(reranker.asked[0]) == set(reranker.asked[1])


@pytest.mark.parametrize(
    "error",
    [
        ProviderError("It is down.", next_step="Start it."),
        TooManyRequests("The budget is used up.", next_step="Wait."),
    ],
)
def test_reranker_that_fails_leaves_the_plain_order_and_says_so(memory: Afterwit, error: AfterwitError) -> None:
    plain = memory.search(QUERY)

    def fail(_: str) -> float:
        raise error

    memory.rerank_with(Scripted(fail))
    answer = memory.search(QUERY)
    assert answer.hits == plain.hits
    assert answer.degraded == (f"reranker: {error}",)
    told = search_text(answer, query=QUERY, now=CLOCK())
    assert f"The results were not read again, they are in the usual order: {error}" in told
    chinese = search_text(answer, query="网关的部署", now=CLOCK())
    assert "结果未经重排" in chinese


def test_answer_without_its_reranker_is_not_kept(memory: Afterwit) -> None:
    calls: list[int] = []

    def once(_: str) -> float:
        calls.append(1)
        if len(calls) == 1:
            raise ProviderError("It is slow.")
        return 0.9

    memory.rerank_with(Scripted(once))
    assert memory.search(QUERY).degraded
    assert memory.search(QUERY).degraded == ()


def test_question_for_a_time_alone_is_not_read_again(memory: Afterwit) -> None:
    reranker = Scripted(lambda _: 0.001)
    memory.rerank_with(reranker)
    assert len(memory.search("today").hits) == len(STATEMENTS)
    assert reranker.asked == []


def test_no_reading_of_the_store_is_open_while_a_reranker_reads(memory: Afterwit) -> None:
    written = "Deployments of the gateway are announced on Mondays."

    def write_meanwhile(one: str) -> float:
        memory.write(written, kind="fact")
        return 0.01 if "reviewers" in one else 0.9

    memory.rerank_with(Scripted(write_meanwhile))
    answer = memory.search(QUERY)
    # A search that had kept its reading open would answer from before the write.
    assert set(summaries(answer)) == {*STATEMENTS, written} - {STATEMENTS[1]}
    (late,) = [hit for hit in answer.hits if hit.memory.summary == written]
    assert "reranker" not in late.why


def with_llm(script: list[Any], **values: str | float) -> Afterwit:
    settings = settings_for(timezone="UTC", reranker="llm", **values)
    llm = ScriptedLLM(script)
    memory = Afterwit(open_store("sqlite://"), HashEmbedder(), settings=settings, llm=llm, clock=CLOCK)
    memory.rerank_with(open_reranker(settings, memory.llm))
    for statement in STATEMENTS:
        memory.write(statement, kind="fact")
    return memory


def test_language_model_in_a_search_is_metered_and_kept_within_its_budget() -> None:
    def prefer_reviewers(prompt: Any) -> dict[str, Any]:
        lines = [line for line in prompt.content.splitlines() if "reviewers" in line]
        return rated((int(lines[0].partition(".")[0]), 3))

    with with_llm([prefer_reviewers]) as memory:
        assert summaries(memory.search(QUERY)) == [STATEMENTS[1]]
        (use,) = memory.store.usage(memory.space, CLOCK(), CLOCK() + timedelta(seconds=1))
        assert (use.purpose, use.error) == ("rerank/1", "")
        assert memory.search(QUERY).degraded == ()
    with with_llm([], llm_budget_tokens=20) as memory:
        answer = memory.search(QUERY)
        assert len(answer.hits) == len(STATEMENTS)
        assert answer.degraded[0].startswith("reranker: The language model's budget for today is used up")


def test_search_does_not_wait_for_a_slow_cross_encoder(tmp_path: Path, memory: Afterwit) -> None:
    reranker = opened(folder_of(tmp_path, cross_encoder(FRUITS)))
    loaded = threading.Event()
    loading = reranker._loading  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
    load = loading._load
    loading._load = lambda: (loaded.wait(20), load())[1]
    memory.rerank_with(reranker)
    memory.settings = settings_for(timezone="UTC", reranker_timeout_s=0.05)
    answer = memory.search(QUERY)
    loaded.set()
    assert answer.degraded[0].startswith("reranker: The reranker was not loaded within 0.05 s.")
    assert len(answer.hits) == len(STATEMENTS)


# --- The sum --------------------------------------------------------------------------------------


def test_second_opinion_is_the_weighted_mean_of_log_odds() -> None:
    likely = np.array([0.5, 0.9, 0.9, 0.2, 0.7])
    opinion = np.array([0.9, 0.5, 0.1, 0.999999, np.nan])
    both = rank.with_second_opinion(likely, opinion)
    odds = np.array([1, 9, 9, 0.25, 7 / 3]) ** 0.6 * np.array([9, 1, 1 / 9, 49, 1]) ** 0.4
    np.testing.assert_allclose(both[:4], (odds / (1 + odds))[:4])
    assert both[4] == pytest.approx(0.7), "where it was not asked, nothing changes"
    sure = rank.with_second_opinion(np.array([0.92, 0.94]), np.zeros(2))
    assert sure[0] < rank.WEIGHTS.cut < sure[1]


def test_opinions_of_a_known_quality_show_what_their_share_is_worth() -> None:
    (world,) = read_worlds("precision_atlas.json")
    arms = {
        "none": Arm(None, 0.0),
        "right": Arm(MadeUp(9.0, 1.0), rank.WEIGHTS.reranker),
        "wrong, and heard alone": Arm(MadeUp(9.0, -1.0), 0.95),
    }
    both = {name: figures(sums)[2] for name, sums in measure([world], arms, embedder="hash").items()}
    assert both["wrong, and heard alone"] < both["none"] < both["right"]
    assert rank.with_second_opinion.__name__ == "with_second_opinion", "the product's own way is back"
