"""The controlled words: what folds to what, and what is refused."""

import pytest

from afterwit.errors import InvalidInput
from afterwit.messages import say
from afterwit.records import Basis, Kind
from afterwit.vocabulary import (
    MAX_NAME_CHARS,
    TOPICS,
    basis_of,
    confidence_of,
    fold_key,
    fold_kind,
    fold_scope,
    fold_source,
    fold_subject,
    fold_tag,
    fold_tags,
    fold_topic,
    is_single_valued,
    strip_injected,
    topic_of_technology,
)


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_names_itself(kind: Kind):
    assert fold_kind(kind.value) is kind
    assert fold_kind(f" {kind.value.upper()} ") is kind


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("user_preference", Kind.PREFERENCE),
        ("User Preference", Kind.PREFERENCE),
        ("pref", Kind.PREFERENCE),
        ("用户偏好", Kind.PREFERENCE),
        ("決策", Kind.DECISION),
        ("事实", Kind.FACT),
        ("失败", Kind.FAILURE),
        ("教训", Kind.LESSON),
        ("经验", Kind.LESSON),
        ("technique", Kind.LESSON),
        ("pitfall", Kind.LESSON),
        ("约束", Kind.CONSTRAINT),
        ("规则", Kind.RULE),
        ("best-practice", Kind.RULE),
        ("待办", Kind.INTENT),
        ("TODO", Kind.INTENT),
        ("reminder", Kind.INTENT),
    ],
)
def test_kind_synonyms_fold(word: str, kind: Kind):
    assert fold_kind(word) is kind


def test_unknown_kind_lists_the_eight_and_the_nearest():
    with pytest.raises(InvalidInput) as caught:
        fold_kind("preferrence")
    for kind in Kind:
        assert kind.value in str(caught.value)
    assert "Did you mean preference?" in str(caught.value)


@pytest.mark.parametrize("word", ["", "   ", "zzz", "x" * 5000])
def test_words_that_are_no_kind_are_refused(word: str):
    with pytest.raises(InvalidInput, match="Unknown kind"):
        fold_kind(word)


@pytest.mark.parametrize(
    ("word", "topic"),
    [
        ("Job Title", "job_title"),
        ("job-title", "job_title"),
        ("jobTitle", "job_title"),
        ("JOB_TITLE", "job_title"),
        ("职位", "job_title"),
        ("職位", "job_title"),
        ("Ｊｏｂ　Ｔｉｔｌｅ", "job_title"),
        ("居住地", "residence"),
        ("home city", "residence"),
        ("過敏", "allergy"),
        ("資料庫", "database"),
        ("Time Zone", "timezone"),
        ("rocket fuel", "rocket_fuel"),
        ("Rocket-Fuel", "rocket_fuel"),
        ("火箭燃料", "火箭燃料"),
        ("", ""),
    ],
)
def test_topics_fold_case_width_script_and_synonyms(word: str, topic: str):
    assert fold_topic(word) == topic


@pytest.mark.parametrize("topic", [topic.name for topic in TOPICS])
def test_folding_a_topic_twice_changes_nothing(topic: str):
    assert fold_topic(topic) == topic


def test_topic_names_are_unique_and_no_synonym_belongs_to_two():
    keys = [key for topic in TOPICS for key in {topic.name, *topic.synonyms}]
    assert sorted(key for key in set(keys) if keys.count(key) > 1) == []
    assert [key for key in keys if fold_key(key) != key] == []


@pytest.mark.parametrize(
    "word", ["residence", "employer", "Job Title", "生日", "timezone", "deadline", "婚姻状况", "version"]
)
def test_topics_with_one_value_at_a_time(word: str):
    assert is_single_valued(word)


@pytest.mark.parametrize(
    "word", ["hobby", "food", "programming_language", "package_manager", "孩子", "meeting", "rocket fuel", ""]
)
def test_topics_with_many_values(word: str):
    assert not is_single_valued(word)


@pytest.mark.parametrize("word", ["the user", "User", " user ", "用户", "用戶", "我", "me", "I", "Current User"])
def test_words_for_the_user_are_one_subject(word: str):
    assert fold_subject(word) == "user"


@pytest.mark.parametrize(
    ("word", "subject"),
    [
        ("张三", "张三"),
        ("  Alice   Smith ", "alice smith"),
        ("Ａｌｉｃｅ", "alice"),
        ("Project:Atlas", "project:atlas"),
        ("", ""),
    ],
)
def test_other_subjects_are_kept_for_comparison(word: str, subject: str):
    assert fold_subject(word) == subject


def test_different_surnames_stay_different():
    assert fold_subject("于明") != fold_subject("於明")
    assert fold_subject("张三") != fold_subject("李四")


def test_tags_are_folded_sorted_and_unique():
    assert fold_tags(["#Backend", "backend", " Data  Base ", "", "後端"]) == ("backend", "data-base", "后端")
    assert fold_tag("#") == ""


def test_too_many_tags_are_refused():
    with pytest.raises(InvalidInput, match="at most 20"):
        fold_tags(f"tag{number}" for number in range(21))


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("global", "global"),
        (" GLOBAL ", "global"),
        ("project:atlas", "project:atlas"),
        ("Project:Atlas ", "project:atlas"),
        ("project: Atlas", "project:atlas"),
        ("project：阿特拉斯", "project:阿特拉斯"),
        ("session:0190-AB", "session:0190-ab"),
        ("task:a:b", "task:a:b"),
    ],
)
def test_valid_scopes_fold(text: str, scope: str):
    assert fold_scope(text) == scope
    assert fold_scope(scope) == scope


@pytest.mark.parametrize("text", ["", "atlas", "project", "project:", "project:  ", "team:x", ":x", "globals", "全局"])
def test_other_scopes_are_refused_with_the_forms(text: str):
    with pytest.raises(InvalidInput, match="project:NAME, session:ID or task:ID"):
        fold_scope(text)


@pytest.mark.parametrize("fold_word", [fold_topic, fold_subject, fold_tag, fold_scope])
def test_names_that_are_too_long_or_have_control_characters_are_refused(fold_word):
    with pytest.raises(InvalidInput, match="at most 200"):
        fold_word("project:" + "x" * MAX_NAME_CHARS)
    with pytest.raises(InvalidInput, match="control"):
        fold_word("project:a\x00b")


@pytest.mark.parametrize(
    ("word", "source", "basis"),
    [
        ("user", "user", Basis.STATED),
        ("用户", "user", Basis.STATED),
        ("Human", "user", Basis.STATED),
        ("test", "test", Basis.VERIFIED),
        ("CI", "test", Basis.VERIFIED),
        ("tool output", "tool", Basis.OBSERVED),
        ("工具", "tool", Basis.OBSERVED),
        ("assistant", "agent", Basis.INFERRED),
        ("网页", "web", Basis.IMPORTED),
        ("https", "web", Basis.IMPORTED),
        ("import", "import", Basis.IMPORTED),
        ("复盘", "review", Basis.REFLECTED),
    ],
)
def test_sources_fold_and_give_their_evidence(word: str, source: str, basis: Basis):
    assert fold_source(word) == source
    assert basis_of(source) is basis


def test_unknown_sources_are_refused_and_give_no_strong_evidence():
    with pytest.raises(InvalidInput, match="user, agent, tool, test, web, import, review"):
        fold_source("rumour")
    assert basis_of("rumour") is Basis.INFERRED


def test_stronger_evidence_never_starts_less_sure():
    ordered = sorted(Basis, key=lambda basis: basis.strength)
    assert [confidence_of(basis) for basis in ordered] == sorted(confidence_of(basis) for basis in ordered)
    assert confidence_of(Basis.STATED) == 1.0


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("PostgreSQL", "database"),
        ("PostgreSQL 16", "database"),
        ("Java 17", "programming_language"),
        ("Python 3.12", "programming_language"),
        ("node.js v20.1", "programming_language"),
        ("pnpm@9", "package_manager"),
        ("阿里云", "cloud"),
        ("Windows 11", "os"),
        ("Gadget", ""),
        ("", ""),
    ],
)
def test_known_technologies_have_a_topic_whatever_their_version(name: str, topic: str):
    assert topic_of_technology(name) == topic


RECALLED = """<afterwit-memory nonce="a1">
[m:0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000] User lives in Shanghai
</afterwit-memory>"""


def test_recalled_blocks_and_marked_lines_are_removed():
    assert strip_injected(RECALLED) == ""
    assert strip_injected(f"before\n{RECALLED}\nafter") == "before\n\nafter"
    assert strip_injected("- [m:eeeeffff0000] User likes tea\nUser moved to Berlin") == "User moved to Berlin"
    assert strip_injected("<afterwit-memory>\nnever closed") == ""


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_a_search_says_of_itself_is_removed(language: str):
    nothing = say("nothing_relevant", language)
    elsewhere = say("other_scopes", language, scopes="project:atlas, project:b")
    assert strip_injected(nothing) == ""
    assert strip_injected(f"{nothing}\n{elsewhere}\nUser moved to Berlin") == "User moved to Berlin"
    quoted = f"The search said: {nothing}"
    assert strip_injected(quoted) == quoted


@pytest.mark.parametrize("text", ["plain  text \n", "see [m:2] and [m:note]", "", "用户不吃辣", "array[m:n] slice"])
def test_text_without_marks_comes_back_byte_for_byte(text: str):
    assert strip_injected(text) == text
