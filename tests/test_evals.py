"""The evaluation suites: figures, loaders, the hand-written corpora, and one small run of each kind."""

import ast
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from evals.__main__ import main
from evals.conversations import Conversation, Probe, without_unknown
from evals.measures import Metric, Observation, bootstrap, figure, ranking_values, rows, wilson
from evals.product import ARMS, Entry
from evals.running import DataMissing, Run, StopWatch
from evals.suites import SUITES
from evals.suites.beam import pieces, read_chat
from evals.suites.dialogues import read_locomo, turn_ids
from evals.suites.own import read_corpus
from evals.suites.precision import BLIND, judge, read_worlds

EVALS = Path(__file__).resolve().parent.parent / "evals"


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def _run(name: str, data: Path, tmp_path: Path, *more: str) -> dict[str, Any]:
    """Run a suite on small data with the hash embedder and return its record."""
    out = tmp_path / f"{name}.out.json"
    assert main([name, "--data", str(data), "--json", str(out), "--embedder", "hash", *more]) == 0
    return json.loads(out.read_text(encoding="utf-8"))


def _figure(record: dict[str, Any], group: str, arm: str, name: str) -> float:
    row = next(row for row in record["rows"] if (row["group"], row["arm"]) == (group, arm))
    return row["figures"][name]["value"]


# --- figures -------------------------------------------------------------------------------------


def test_wilson_interval_agrees_with_published_values() -> None:
    low, high = wilson(81, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)
    assert wilson(0, 10)[0] == 0.0
    assert wilson(10, 10)[1] == pytest.approx(1.0)
    assert wilson(0, 0) == (0.0, 1.0)


def test_bootstrap_is_the_same_each_time_and_holds_the_ratio() -> None:
    clusters = [(3.0, 4.0), (1.0, 5.0), (2.0, 2.0), (0.0, 3.0)]
    low, high = bootstrap(clusters)
    assert bootstrap(clusters) == (low, high)
    assert low <= 6 / 14 <= high
    assert bootstrap([(1.0, 2.0)]) == (0.5, 0.5)


def test_a_value_that_is_missing_does_not_count() -> None:
    seen = [Observation("ours", ("all",), "a", {"x": 1.0}), Observation("ours", ("all",), "b", {})]
    found = figure(seen, Metric("x", "share"))
    assert found is not None
    assert (found.value, found.n) == (1.0, 1)
    assert figure(seen, Metric("y")) is None


def test_a_ratio_weighs_every_returned_memory_the_same() -> None:
    seen = [
        Observation("ours", ("all",), "a", {"right": 1.0, "returned": 1.0}),
        Observation("ours", ("all",), "b", {"right": 1.0, "returned": 3.0}),
        Observation("ours", ("all",), "c", {"right": 0.0, "returned": 0.0}),
    ]
    found = figure(seen, Metric("right", per="returned"))
    assert found is not None
    assert found.value == 0.5


def test_rows_keep_groups_in_the_order_of_appearance() -> None:
    seen = [Observation(arm, ("b", "a"), "x", {"v": 1.0}) for arm in ("ours", "words")]
    assert [(row.group, row.arm) for row in rows(seen, [Metric("v")])] == [
        ("b", "ours"),
        ("b", "words"),
        ("a", "ours"),
        ("a", "words"),
    ]


def test_ranking_values_of_a_known_ranking() -> None:
    values = ranking_values(["x", "a", "y", "z", "w", "b"], ["a", "b", "c"], depths=(5, 10))
    assert values["R@5"] == pytest.approx(1 / 3)
    assert values["R@10"] == pytest.approx(2 / 3)
    assert values["hit@5"] == 1.0
    assert values["MRR"] == 0.5
    assert values["P@5"] == 0.2
    nothing = ranking_values([], ["a"], depths=(5,))
    assert (nothing["R@5"], nothing["hit@5"], nothing["MRR"]) == (0.0, 0.0, 0.0)
    assert "P@5" not in nothing


# --- data ----------------------------------------------------------------------------------------


def test_missing_data_is_said_with_the_expected_layout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["locomo", "--data", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "locomo" in said
    assert "Expected:" in said
    assert "AFTERWIT_DATA" in said


def test_data_folder_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWIT_DATA", str(tmp_path))
    with pytest.raises(DataMissing):
        Run().files("realtalk", "Chat_*.json", layout="x")
    _write(tmp_path / "realtalk" / "Chat_1.json", {})
    assert [path.name for path in Run().files("realtalk", "Chat_*.json", layout="x")] == ["Chat_1.json"]


def test_unknown_arm_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["precision", "--arms", "ours,magic"]) == 2
    assert "magic" in capsys.readouterr().err


def test_stop_watch_sums_what_was_timed() -> None:
    watch = StopWatch()
    assert watch.call("a", lambda: 7) == 7
    assert "1 calls" in watch.summary()["a"]


def test_malformed_turn_ids_are_normalised() -> None:
    assert turn_ids(["D8:6; D9:17", "D:11:26", "D30:05", "D", "D1:1 D1:2", "D1:1"]) == (
        "D8:6",
        "D9:17",
        "D11:26",
        "D30:5",
        "D1:1",
        "D1:2",
    )


def test_evidence_that_does_not_exist_is_dropped_with_its_question() -> None:
    now = datetime(2024, 1, 1, tzinfo=UTC)
    asked = (Probe("q", now, ("a", "gone", "a"), ("all",)), Probe("q2", now, ("gone",), ("all",)))
    kept = without_unknown(Conversation("c", (Entry("a", "text", now),), asked, {}))
    assert [probe.evidence for probe in kept.probes] == [("a",)]


def test_pieces_lose_no_word_and_keep_to_their_size() -> None:
    text = "first line\n" + "word " * 300 + "\n\nlast paragraph\n" + "x" * 950
    cut = pieces(text, size=400)
    assert all(0 < len(piece) <= 400 for piece in cut)
    assert "".join("".join(cut).split()) == "".join(text.split())


def _locomo_sample() -> dict[str, Any]:
    return {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ana",
            "session_10": [{"speaker": "Ana", "dia_id": "D10:1", "text": "I adopted a grey parrot called Kiwi."}],
            "session_10_date_time": "9:05 am on 3 June, 2023",
            "session_2": [
                {"speaker": "Ben", "dia_id": "D2:1", "text": "My sister plays the cello in Vienna."},
                {"speaker": "Ana", "dia_id": "D2:2", "text": "", "blip_caption": "a photo of a red kayak"},
                {"speaker": "Ben", "dia_id": "D2:3", "text": ""},
            ],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
        },
        "qa": [
            {"question": "What is the name of Ana's grey parrot?", "evidence": ["D10:01"], "category": 4},
            {"question": "Which instrument does Ben's sister play?", "evidence": ["D2:1"], "category": 1},
            {"question": "Where does Ana keep her red kayak?", "evidence": ["D2:2"], "category": 5},
        ],
    }


def test_locomo_reads_sessions_by_number_with_time_speaker_and_caption() -> None:
    conversation = read_locomo(_locomo_sample())
    assert [entry.key for entry in conversation.entries] == ["D2:1", "D2:2", "D10:1"]
    assert conversation.entries[1].content == " [shares a photo of a red kayak]"
    assert conversation.entries[2].at == datetime(2023, 6, 3, 9, 5, tzinfo=UTC)
    assert conversation.entries[0].speaker == "Ben"
    assert conversation.sessions["D10:1"] == "session_10"


def test_locomo_suite_finds_evidence_and_keeps_figures_only(tmp_path: Path) -> None:
    _write(tmp_path / "locomo" / "locomo_x.json", [_locomo_sample()])
    record = _run("locomo", tmp_path, tmp_path)
    assert _figure(record, "1-4", "words", "R@5") == 1.0
    assert _figure(record, "1-4", "ranked", "R@5") == 1.0
    assert _figure(record, "5", "everything", "R@20") == 1.0
    assert _figure(record, "1-4", "ours", "foreign") == 0
    assert "parrot" not in json.dumps(record)


def test_realtalk_suite_reads_its_own_times(tmp_path: Path) -> None:
    turns = [
        {"clean_text": "I work at the harbour museum.", "speaker": "Emi", "date_time": "29.12.2023, 22:42:04"},
        {"clean_text": "My exam is on Friday.", "speaker": "Kay", "date_time": "30.12.2023, 10:00:00"},
    ]
    chat = {
        "name": {},
        "session_1": [{**turn, "dia_id": f"D1:{n}"} for n, turn in enumerate(turns, start=1)],
        "qa": [{"question": "Where does Emi work? At a museum?", "evidence": ["D1:1"], "category": 2}],
    }
    _write(tmp_path / "realtalk" / "Chat_1_Emi_Kay.json", chat)
    assert _figure(_run("realtalk", tmp_path, tmp_path), "1-4", "words", "hit@5") == 1.0


@pytest.mark.parametrize("suite", ["memdaily", "memdaily-noise"])
def test_memdaily_suites_ask_at_the_time_of_the_question(suite: str, tmp_path: Path) -> None:
    trajectory = {
        "tid": 3,
        "message_list": [
            {"mid": 0, "message": "我的表弟是一位兽医。", "time": "2024年04月01日 周一 08:30", "place": "广东深圳"},
            {"mid": 1, "message": "我下个月去桂林出差。", "time": "2024年04月02日 周二 09:00", "place": "广东深圳"},
        ],
        "question_list": [
            {"qid": 0, "question": "我的表弟是做什么的？", "target_step_id": [[0]], "time": "2024年04月03日 周三 07:00"}
        ],
    }
    _write(tmp_path / "memdaily" / "01_simple_roles.json", [trajectory])
    _write(tmp_path / "memdaily" / "06_noisy_roles.json", [trajectory])
    record = _run(suite, tmp_path, tmp_path)
    assert _figure(record, "all", "words", "R@5") == 1.0


def test_beam_messages_lose_their_marker_and_updates_name_the_stale(tmp_path: Path) -> None:
    chat = [
        {
            "batch_number": 1,
            "turns": [
                [
                    {
                        "role": "user",
                        "id": 0,
                        "time_anchor": "March-15-2024",
                        "content": "The API takes 800 ms. ->-> 1,1",
                    },
                    {"role": "assistant", "id": 1, "content": "Let us look at caching of the API responses."},
                    {"role": "user", "id": 2, "content": "After caching the API takes 250 ms."},
                ]
            ],
        }
    ]
    questions = {
        "knowledge_update": [
            {
                "question": "How long does the API take?",
                "source_chat_ids": {"original_info": [0], "updated_info": [2]},
            }
        ],
        "abstention": [{"question": "Who wrote it?"}],
    }
    folder = tmp_path / "beam100k" / "1"
    _write(folder / "chat.json", chat)
    _write(folder / "probing_questions.json", questions)
    conversation = read_chat(folder / "chat.json")
    assert conversation.entries[0].content == "The API takes 800 ms."
    assert conversation.entries[0].at == datetime(2024, 3, 15, tzinfo=UTC)
    assert [(probe.stale, probe.newest) for probe in conversation.probes] == [(("0",), ("2",))]
    record = _run("beam", tmp_path, tmp_path, "--arms", "words,everything")
    assert _figure(record, "all", "words", "R@5") == 1.0
    assert _figure(record, "all", "everything", "newest first") == 1.0


def test_longmemeval_counts_marked_turns_and_leaves_out_abstention(tmp_path: Path) -> None:
    haystack = [
        [
            {"role": "user", "content": "I repotted the olive tree today.", "has_answer": True},
            {"role": "assistant", "content": "Use soil with sand."},
        ],
        [{"role": "user", "content": "Which train goes to Lyon?"}],
    ]
    question = {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "What did I repot? The olive tree?",
        "question_date": "2023/05/30 (Tue) 10:00",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/10 (Wed) 12:00"],
        "haystack_sessions": haystack,
        "answer_session_ids": ["s1"],
    }
    unanswerable = {**question, "question_id": "q2_abs"}
    _write(tmp_path / "longmemeval" / "longmemeval_s.json", [question, unanswerable])
    record = _run("longmemeval", tmp_path, tmp_path)
    assert _figure(record, "all", "words", "R@5") == 1.0
    assert _figure(record, "all", "words", "session R@5") == 1.0
    assert next(row for row in record["rows"] if row["group"] == "all")["n"] == 1


def test_memconflict_wants_the_current_value_and_the_stronger_evidence(tmp_path: Path) -> None:
    def update(date: str, before: str | None, after: str) -> dict[str, Any]:
        return {"persona": "p", "date": date, "attribute": "Residence", "before": before, "after": after}

    def static(role: str, date: str, value: str) -> dict[str, Any]:
        about = {"persona": "p", "kind": "Static_Conflict_Information", "Conflict_ID": "SC_1"}
        return {**about, "Role": role, "date": date, "Target_Field_Path": "Birthplace", "Value": value}

    updates = [update("2022-01-03", None, "Darwin"), update("2022-06-03", "Darwin", "Melbourne")]
    conflicts = [static("Point_A", "2022-01-03", "Perth"), static("Point_B", "2023-01-03", "Dublin")]
    for name, lines in (("updates", updates), ("conflicts", conflicts)):
        path = tmp_path / "memconflict" / f"memconflict_{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    record = _run("memconflict", tmp_path, tmp_path)
    for group in ("current value, changed", "first value, as of then", "true before a later false claim (web)"):
        assert _figure(record, group, "ours", "first") == 1.0
        assert _figure(record, group, "ours", "stale or false above") == 0.0


# --- own corpora ---------------------------------------------------------------------------------


def test_precision_corpus_is_as_large_and_as_mixed_as_promised() -> None:
    worlds = [world for world in read_worlds() if world.split != BLIND]
    cases = [case for world in worlds for case in world.cases]
    chinese = [case for case in cases if any("\u4e00" <= letter <= "\u9fff" for letter in case["query"])]
    assert len(worlds) >= 8
    assert all(15 <= len(world.entries) <= 40 for world in worlds)
    assert len(cases) >= 150
    assert 0.4 <= len(chinese) / len(cases) <= 0.6
    assert sum(bool(case.get("empty")) for case in cases) >= 30
    splits = {name: [world for world in worlds if world.split == name] for name in ("dev", "held_out", "fresh")}
    sizes = {name: sum(len(world.cases) for world in some) for name, some in splits.items()}
    assert sum(sizes.values()) == len(cases)
    assert min(sizes.values()) >= 100


def test_precision_worlds_end_before_their_questions_are_asked() -> None:
    for world in read_worlds():
        assert max(entry.at for entry in world.entries) < world.now, world.name
        assert len({entry.key for entry in world.entries}) == len(world.entries), world.name


def test_precision_cases_name_memories_that_exist_and_do_not_contradict_themselves() -> None:
    for world in read_worlds():
        known = {entry.key for entry in world.entries}
        before: set[str] = set()
        for case in world.cases:
            must, may, never = (set(case.get(name, ())) for name in ("must", "may", "must_not"))
            assert must | may | never <= known, case["id"]
            assert not (must & may or must & never or may & never), case["id"]
            assert bool(must) != bool(case.get("empty")), case["id"]
            assert case["tags"], case["id"]
            assert case["id"] not in before
            assert {case[name] for name in ("same_as", "prefix_of") if name in case} <= before, case["id"]
            before.add(case["id"])


@pytest.mark.parametrize("name", ["crosslingual", "identifiers"])
def test_small_corpora_ask_only_for_what_they_hold(name: str) -> None:
    data = json.loads((EVALS / "corpora" / f"{name}.json").read_text(encoding="utf-8"))
    assert len(read_corpus(name).probes) == len(data["cases"])


def test_judge_tells_right_from_wrong_silence() -> None:
    asked = {"must": ["a"], "may": ["b"], "must_not": ["c"]}
    assert judge(asked, ["a", "b"], {}) == {
        "returned": 2.0,
        "mean returned": 2.0,
        "precision": 2.0,
        "clean": 1.0,
        "recall": 1.0,
        "wanted": 1.0,
        "top-1": 1.0,
    }
    wrong = judge(asked, ["c", "a"], {})
    assert (wrong["precision"], wrong["clean"], wrong["recall"], wrong["top-1"]) == (1.0, 0.0, 1.0, 0.0)
    assert judge({"empty": True}, [], {})["empty right"] == 1.0
    assert judge({"empty": True}, ["a"], {})["empty right"] == 0.0
    assert judge({**asked, "same_as": "x"}, ["a"], {"x": ["a", "b"]})["stable"] == 0.0
    assert judge({**asked, "prefix_of": "x"}, ["a"], {"x": ["a", "b"]})["stable"] == 1.0


def test_precision_suite_gives_the_same_record_twice(tmp_path: Path) -> None:
    first = _run("precision", tmp_path, tmp_path, "--limit", "1")
    assert first == _run("precision", tmp_path, tmp_path, "--limit", "1")
    assert {row["arm"] for row in first["rows"]} == set(ARMS)


# --- what cannot be run ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["precision", "identifiers", "all"])
def test_an_embedder_that_is_none_is_said_before_anything_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--embedder", "nope"]) == 2
    told = capsys.readouterr()
    assert told.err.startswith("Unknown embedder 'nope'. Use ")
    assert told.err.count("\n") == 1
    assert told.out == ""


@pytest.mark.parametrize(
    ("content", "why"), [(b'["\xff\xfe"]', "is not UTF-8: byte 0xff at 2."), (b"[1, ", "is not JSON: ")]
)
@pytest.mark.parametrize(
    ("suite", "file"),
    [
        ("memdaily", "memdaily/simple.json"),
        ("locomo", "locomo/locomo10.json"),
        ("longmemeval", "longmemeval/longmemeval_s.json"),
        ("memconflict", "memconflict/memconflict_updates.jsonl"),
    ],
)
def test_data_that_cannot_be_read_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, why: str, suite: str, file: str
) -> None:
    path = tmp_path / file
    path.parent.mkdir()
    path.write_bytes(content)
    assert main([suite, "--data", str(tmp_path), "--embedder", "none"]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"{suite}: {path} {why}")
    assert told.count("\n") == 1


@pytest.mark.parametrize("option", ["--limit", "--first"])
@pytest.mark.parametrize("value", ["-5", "many", "1.5"])
def test_a_number_of_cases_is_a_whole_number(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["precision", f"{option}={value}"])
    assert ended.value.code == 2
    assert f"argument {option}: must be a whole number, 0 or more" in capsys.readouterr().err


# --- the suites as code --------------------------------------------------------------------------


def test_only_one_file_of_the_suites_imports_the_product() -> None:
    importing: set[str] = set()
    for path in EVALS.rglob("*.py"):
        if path.name.startswith("bench"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if any(name.partition(".")[0] == "afterwit" for name in names):
                importing.add(path.name)
    assert importing == {"product.py"}


def test_every_suite_says_what_it_measures() -> None:
    assert all(suite.__doc__ for suite in SUITES.values())
