"""What makes a memory relevant: concepts, the words that matter in a question, the kind of answer it wants."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from afterwit import concepts
from afterwit.answers import asked_kinds, asks_of_failure, asks_of_rule, asks_something, is_strict
from afterwit.concepts import concepts_of, lexicon
from afterwit.config import load_settings
from afterwit.recall.asking import sides_of
from afterwit.recall.signals import is_turned
from afterwit.records import Kind
from afterwit.service import Afterwit
from afterwit.storage import open_store
from afterwit.testing import HashEmbedder
from afterwit.text import fold, index_tokens
from afterwit.traits import Traits
from afterwit.wanted import terms_of


@pytest.fixture(params=["hash", "none"])
def memory(request: pytest.FixtureRequest) -> Iterator[Afterwit]:
    settings = load_settings(environ={}, overrides={"embedder": request.param})
    made = Afterwit(open_store("sqlite://"), HashEmbedder() if request.param == "hash" else None, settings=settings)
    yield made
    made.close()


def found(memory: Afterwit, query: str) -> list[str]:
    return [hit.memory.summary for hit in memory.search(query).hits]


def meant(words: str) -> frozenset[int]:
    return concepts_of(frozenset(index_tokens(words))) - lexicon().fields


# --- concepts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the deployment", "上线以后"),
        ("她的工资", "her salary"),
        ("latency of the service", "服务的延迟"),
        ("log in", "登录"),
        ("the parcels were delivered", "快递到了"),
        ("pull request", "代码评审"),
        ("allergic", "过敏"),
    ],
)
def test_words_that_say_the_same_meet_across_languages_and_forms(one: str, other: str) -> None:
    assert meant(one) & meant(other)


@pytest.mark.parametrize(("one", "other"), [("a banana", "部署"), ("cats", "dogs"), ("", "数据库"), ("log", "in")])
def test_other_words_do_not_meet(one: str, other: str) -> None:
    assert not meant(one) & meant(other)


def test_an_expression_counts_only_whole() -> None:
    assert meant("washing machine") - meant("washing") - meant("machine")


def test_the_lists_are_written_folded() -> None:
    for path in Path(concepts.__file__).parent.glob("*.txt"):
        words = " ".join(line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
        assert words == fold(words), path.name


def test_every_line_of_the_lists_can_be_looked_up() -> None:
    known = {concept for entries in lexicon().by_token.values() for _, concept in entries}
    assert known == set(range(1, max(known) + 1))
    assert lexicon().fields < known


@pytest.mark.parametrize(
    ("told", "query"),
    [
        ("Our NPS is 41.", "what is our net promoter score"),
        ("RAG 索引每晚重建一次。", "检索增强生成的索引多久重建一次"),
        ("The class group is on WeChat.", "which class group is on 微信"),
    ],
)
def test_an_abbreviation_and_what_it_stands_for_meet(memory: Afterwit, told: str, query: str) -> None:
    memory.write(told, kind="fact")
    memory.write("The gate opens at seven.", kind="fact")
    assert found(memory, query) == [told]


@pytest.mark.parametrize(
    ("told", "query"),
    [
        ("Kowalski lives in Bonn.", "Where does the user live?"),
        ("Kowalski lives in Bonn.", "Where do I live?"),
        ("Kowalski lives in Bonn.", "Where does Dana Reyes live?"),
        ("王芳住在成都。", "用户住在哪里？"),
        ("王芳住在成都。", "李雷住在哪里？"),
    ],
)
def test_what_is_filed_under_another_is_no_answer_though_nothing_else_is_known(
    memory: Afterwit, told: str, query: str
) -> None:
    memory.write(told)
    assert found(memory, query) == []


@pytest.mark.parametrize(
    ("told", "query"),
    [
        ("Kowalski lives in Bonn.", "Where does Kowalski live?"),
        ("The user's sister lives in Bonn.", "Where does my sister live?"),
        ("王芳住在成都。", "王芳住在哪里？"),
    ],
)
def test_what_is_filed_under_whom_is_asked_about_is_the_answer(memory: Afterwit, told: str, query: str) -> None:
    memory.write(told)
    assert found(memory, query) == [told]


# --- what a question wants ------------------------------------------------------------------------


def test_chinese_is_parted_at_known_words_and_the_rest_into_pairs() -> None:
    terms = {term.word: term for term in terms_of("数据库多久备份一次？")}
    assert {"数据库", "备份"} <= terms.keys()
    assert "库备" not in terms
    assert terms["备份"].same & meant("backup")


def test_words_that_say_little_weigh_little() -> None:
    terms = {term.word: term.weight for term in terms_of("How do I use the oven?")}
    assert terms["oven"] == 1.0
    assert terms["use"] < 0.5
    assert "the" not in terms


def test_only_stop_words_are_looked_for_when_nothing_else_was_asked() -> None:
    assert [term.word for term in terms_of("what is it")] == ["what", "is", "it"]
    assert terms_of("") == ()


@pytest.mark.parametrize(
    ("question", "answer", "kind"),
    [
        ("When does the ferry leave?", "The ferry leaves at noon on Mondays.", "when"),
        ("渡轮几点开？", "渡轮中午开，周一停航。", "when"),
        ("How long are logs kept?", "Logs are kept for 30 days.", "how long"),
        ("日志保留多久？", "日志保留三十天。", "how long"),
        ("How much is it?", "It costs 12 euros.", "how much"),
        ("Why was it stopped?", "It was stopped because of the noise.", "why"),
        ("Who feeds it?", "Our neighbour Kim feeds it.", "who"),
        ("What is her phone number?", "Call her at 020 7946 0018.", "phone number"),
        ("Which version do we run?", "We run 3.12.", "which version"),
    ],
)
def test_answers_of_the_kind_that_is_asked_for_are_told_from_others(question: str, answer: str, kind: str) -> None:
    assert kind in asked_kinds(fold(question))
    assert Traits(answer).tells(kind)
    assert not Traits("the parser rejects commas").tells(kind)


def test_questions_for_nothing_in_particular_ask_for_no_kind() -> None:
    assert asked_kinds(fold("Tell me about the project")) == frozenset()
    assert is_strict("phone number")
    assert not is_strict("who")


def test_questions_of_failures_and_rules_are_known() -> None:
    assert asks_of_failure("what went wrong?")
    assert asks_of_failure("构建为什么失败")
    assert asks_of_rule("may i push to main?")
    assert not asks_of_rule("where is the key?")


# --- searches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", ["none"], indirect=True)
def test_a_question_in_other_words_of_another_language_is_answered(memory: Afterwit) -> None:
    memory.write("数据库每天凌晨三点备份。", kind="fact")
    memory.write("餐厅周一不开门。", kind="fact")
    memory.write("用户喜欢爬山。", kind="preference")
    assert found(memory, "When is the database backed up?") == ["数据库每天凌晨三点备份。"]


def test_somebody_elses_attribute_is_no_answer_to_a_question_about_the_user(memory: Afterwit) -> None:
    memory.write("The user's residence: Oslo.", kind="fact", subject="user", topic="residence")
    memory.write("The user's friend's residence: Bergen.", kind="fact", subject="user's friend", topic="residence")
    assert found(memory, "What is the user's residence?") == ["The user's residence: Oslo."]
    assert "The user's friend's residence: Bergen." in found(memory, "What is the residence of the user's friend?")


def test_each_of_two_persons_is_held_against_what_is_known_of_the_same_one() -> None:
    with Afterwit.open(store="sqlite://", embedder="use") as memory:
        for words in (
            "Anna lives in Graz since 2021.",
            "Ben lives in Leeds with his cat.",
            "Anna works as a nurse at the Landeskrankenhaus.",
            "Carla lives in Porto.",
            "Ben is allergic to nuts.",
            "Anna drives a red Skoda.",
        ):
            memory.write(words, kind="fact")
        both = {"Anna lives in Graz since 2021.", "Carla lives in Porto."}
        assert set(found(memory, "Anna's and Carla's cities")) == both


def test_what_is_known_of_a_person_does_not_answer_every_question_about_them(memory: Afterwit) -> None:
    memory.write("Noor owns the billing tables.", kind="fact", subject="Noor")
    memory.write("Stefan approves schema changes.", kind="fact", subject="Stefan")
    assert found(memory, "What is Noor's phone number?") == []
    assert found(memory, "Who owns the billing tables?") == ["Noor owns the billing tables."]


def test_a_code_that_nobody_noted_has_no_answer(memory: Afterwit) -> None:
    memory.write("E5021 from the loader means that the file has no header row.", kind=Kind.FAILURE.value)
    memory.write("E5012 from the loader means that the file is too large.", kind=Kind.FAILURE.value)
    assert found(memory, "What does E5099 from the loader mean?") == []
    assert found(memory, "What does E5012 from the loader mean?") == [
        "E5012 from the loader means that the file is too large."
    ]


def test_order_of_words_tells_who_does_what_to_whom(memory: Afterwit) -> None:
    memory.write("Anna reports to Boris.", kind="fact")
    memory.write("Boris reports to Clara.", kind="fact")
    assert found(memory, "Anna reports to whom?")[0] == "Anna reports to Boris."
    assert found(memory, "Boris reports to whom?")[0] == "Boris reports to Clara."


@pytest.mark.parametrize(
    ("question", "told", "turned"),
    [
        ("谁向李四汇报？", "张三向李四汇报工作。", False),
        ("谁向李四汇报？", "李四向王总汇报。", True),
        ("李四向谁汇报？", "李四向王总汇报。", False),
        ("李四向谁汇报？", "张三向李四汇报工作。", True),
        ("谁带李四？", "李四带三个人。", True),
        ("who reports to ann?", "bo reports to ann.", False),
        ("who reports to ann?", "ann reports to cy.", True),
        ("who does ann report to?", "ann reports to cy.", False),
        ("who knows 李四?", "bo reports to ann.", False),
    ],
)
def test_it_is_seen_when_a_text_says_it_of_the_other_one(question: str, told: str, *, turned: bool) -> None:
    assert is_turned(question, told, {"李四", "ann"}) is turned


def test_a_shorter_name_is_not_named_by_a_longer_one(memory: Afterwit) -> None:
    memory.write("王芳芳是小区物业的管家。", kind="fact", subject="王芳芳")
    memory.write("王芳是用户的大学同学。", kind="fact", subject="王芳")
    assert found(memory, "王芳是做什么的？") == ["王芳是用户的大学同学。"]


def test_an_amount_and_a_time_of_day_are_no_codes(memory: Afterwit) -> None:
    memory.write("单笔退款超过 500 元必须主管审批，客服不能直接同意。", kind="rule")
    assert found(memory, "客户退款 800 元，客服能直接同意吗？")
    memory.write("Never start a build by hand between 09:30 and 10:00.", kind="rule")
    assert found(memory, "May I start a build by hand at 9:45?")


# --- what a task wants -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("How do I run the tests", True),
        ("可以直接改配置吗", True),
        ("谁负责网关", True),
        ("Add a column to the orders table", False),
        ("修改优惠券接口", False),
        ("Tom", False),
    ],
)
def test_questions_are_told_from_orders_and_headings(text: str, *, asks: bool) -> None:
    assert asks_something(text) is asks


def test_a_task_with_several_sides_is_also_weighed_side_by_side() -> None:
    task = "Write a test for the endpoint: authentication and database."
    assert sides_of(task) == ["Write a test for the endpoint", "authentication", "database"]
    assert sides_of("实现短信登录和会员积分兑换") == ["实现短信登录", "会员积分兑换"]
    assert sides_of("Move to the next release") == []


DATABASE = "We chose PostgreSQL over MongoDB for the database because the figures need joins."


def test_what_one_side_of_a_task_names_stands_beside_the_answer(memory: Afterwit) -> None:
    flag = "The tests need the flag --run-slow, otherwise half of the tests are skipped."
    memory.write(flag, kind="lesson")
    memory.write(DATABASE, kind="decision")
    memory.write("The office in Lyon has a green carpet.", kind="fact")
    assert found(memory, "How do I run the tests?") == [flag]
    answer = memory.search("How do I run the tests?", task_context="Test the endpoint: login and database.")
    assert {hit.memory.summary for hit in answer.hits} == {flag, DATABASE}


def test_what_is_meant_for_such_a_task_comes_up_with_it(memory: Afterwit) -> None:
    wish = "When the ticket layout changes, print one on the thermal printer."
    memory.write(wish, kind="intent")
    memory.write("The office in Lyon has a green carpet.", kind="fact")
    answer = memory.search("Start with the drawing", task_context="Change the ticket layout")
    assert [hit.memory.summary for hit in answer.hits] == [wish]


def test_what_a_question_does_not_ask_and_no_side_names_stays_out(memory: Afterwit) -> None:
    rule = "Nobody may change the production settings between 18:00 and 22:00."
    memory.write(rule, kind="rule")
    memory.write("The keys of the payment gateway are rotated every 90 days by the security team.", kind="rule")
    answer = memory.search(
        "May I change the production settings now?", task_context="Find out why the payment gateway loses requests"
    )
    assert [hit.memory.summary for hit in answer.hits] == [rule]


def test_where_the_user_lives_is_no_answer_to_where_the_user_travels() -> None:
    with Afterwit.open(store="sqlite://", embedder="use") as memory:
        memory.write("用户搬到上海了。", source="user")
        memory.write("用户不吃辣。", source="user")
        assert found(memory, "用户在哪里出差？") == []
        assert found(memory, "用户住在哪里？") == ["用户搬到上海了。"]


@pytest.mark.parametrize(
    ("told", "asked", "other"),
    [
        (
            "Cave 2 is for the washed cheeses and is kept at 57 degrees.",
            "temperature of cave 2",
            "temperature of cave 3",
        ),
        ("Treadmill 17 has a new belt since October.", "When did treadmill 17 get its belt?", "treadmill 71"),
        ("5路公交车从北站开到大学城。", "5路车从哪里开到哪里？", "3路车从哪里开到哪里？"),
    ],
)
def test_what_has_another_number_is_another_thing(memory: Afterwit, told: str, asked: str, other: str) -> None:
    memory.write(told, kind="fact")
    memory.write("The lift is serviced by a firm from Leeds.", kind="fact")
    assert found(memory, asked) == [told]
    assert found(memory, other) == []


def test_a_number_that_counts_something_tells_no_things_apart(memory: Afterwit) -> None:
    lease, restart = "The lease of the workshop runs for 5 years and then ends.", "Wait 10 minutes before a restart."
    for told in (lease, restart):
        memory.write(told, kind="fact")
    assert found(memory, "Is the workshop's lease for 10 years?") == [lease]
    assert found(memory, "Should I wait 5 minutes before a restart?") == [restart]
    assert "other_code" not in memory.search("Should I wait 5 minutes before a restart?").hits[0].why


def test_a_name_alone_brings_all_that_is_known_of_it(memory: Afterwit) -> None:
    told = {"Aisha works the counter.", "Aisha saves for a pastry course in Lyon.", "Aisha has a cat called Miso."}
    for words in (*told, "The van is insured with Harbour Mutual."):
        memory.write(words, kind="fact")
    assert set(found(memory, "Aisha")) == told


@pytest.mark.parametrize("memory", ["none"], indirect=True)
def test_a_word_with_many_synonyms_leaves_room_for_those_of_the_others(memory: Afterwit) -> None:
    memory.write("The heating is switched on in October.", kind="fact")
    memory.write("The library closes at noon.", kind="fact")
    assert memory.search("几月份开始供暖？", exhaustive=True).hits[0].memory.summary.startswith("The heating")
