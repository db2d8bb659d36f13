"""What texts are about, by their words."""

from collections import Counter

import pytest

from afterwit.cues import cue_topics, topics_of
from afterwit.spelling import aliases, spellings
from afterwit.text import fold, index_tokens
from afterwit.traits import Traits
from afterwit.vocabulary import TOPICS


def test_cues_name_topics_of_the_vocabulary() -> None:
    assert cue_topics() <= {topic.name for topic in TOPICS}


@pytest.mark.parametrize(
    ("question", "statement", "topic"),
    [
        ("Where does she live?", "她搬到上海了。", "residence"),
        ("用户有什么忌口？", "The user does not eat spicy food.", "diet"),
        ("谁负责支付模块？", "Priya is the owner of the payment module.", "contact"),
        ("How do I sign in?", "登录要用短信验证码。", "auth"),
        ("上线时间是哪天，什么时候交付？", "The deadline is 1 May.", "deadline"),
        ("Which editor does Ann use?", "Ann 用的编辑器是 Vim。", "editor"),
        ("单测怎么跑？", "Tests are run with pytest -q.", "testing"),
    ],
)
def test_question_and_statement_meet_in_a_topic_across_languages(question: str, statement: str, topic: str) -> None:
    assert topic in topics_of(fold(question)) & topics_of(fold(statement))


@pytest.mark.parametrize("words", ["", "😀", "the quick brown fox", "天气不错"])
def test_words_without_a_cue_have_no_topic(words: str) -> None:
    assert topics_of(fold(words)) == frozenset()


def test_traits_of_a_text() -> None:
    traits = Traits("Room 101 用 get_user()", extra="ann")
    assert traits.language in {"en", "zh"}
    assert "101" in traits.hard_terms
    assert {"get_user", "ann"} <= traits.tokens


def test_aliases_lead_both_ways_and_leave_other_words_alone() -> None:
    found = spellings(index_tokens("k8s gha pg banana"))
    assert frozenset(index_tokens("kubernetes")) in found["k8s"]
    assert frozenset(index_tokens("github actions")) in found["gha"]
    assert frozenset(index_tokens("postgresql")) in found["pg"]
    assert "banana" not in found
    (kubernetes,) = index_tokens("kubernetes")
    assert frozenset(index_tokens("k8s")) in spellings([kubernetes])[kubernetes]


def test_the_known_names_are_written_folded_and_each_is_of_one_thing() -> None:
    names = [name for group in aliases() for name in group]
    assert all(len(group) > 1 for group in aliases())
    assert [name for name in names if name != fold(name).strip()] == []
    assert [name for name, times in Counter(names).items() if times > 1] == []
    assert all(index_tokens(name) for name in names)


def test_name_of_several_words_counts_only_whole() -> None:
    assert "action" not in spellings(["action"])
    both = spellings(index_tokens("github actions"))
    assert all(frozenset({"gha"}) in names for names in both.values())
