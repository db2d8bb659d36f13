"""Questions about what was so before: by a time, and by words such as "previous" and 以前."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from afterwit.config import load_settings
from afterwit.recall.former import asks_before
from afterwit.service import Afterwit
from afterwit.storage import open_store
from afterwit.testing import FixedClock, HashEmbedder

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
HANGZHOU, SHANGHAI = "The user lives in Hangzhou.", "The user moved to Shanghai."
BOB_HANGZHOU, BOB_SHANGHAI = "Bob Miller lives in Hangzhou.", "Bob Miller moved to Shanghai."


@pytest.fixture(params=["hash", "none"])
def memory(request: pytest.FixtureRequest) -> Iterator[Afterwit]:
    settings = load_settings(environ={}, overrides={"embedder": request.param, "timezone": "UTC"})
    embedder = HashEmbedder() if request.param == "hash" else None
    made = Afterwit(open_store("sqlite://"), embedder, settings=settings, clock=FixedClock(NOW))
    made.write("The roof of Maple Court was mended in May.")
    yield made
    made.close()


@pytest.fixture
def moved(memory: Afterwit) -> Afterwit:
    for old, new in ((HANGZHOU, SHANGHAI), (BOB_HANGZHOU, BOB_SHANGHAI)):
        memory.write(old, valid_from="2023-05-01")
        memory.write(new, valid_from="2025-03-01")
    return memory


def found(memory: Afterwit, query: str, **options: object) -> list[str]:
    return [hit.memory.summary for hit in memory.search(query, **options).hits]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "time",
    ["in 2024", "in January 2025", "before March 2025", "before 2025", "until March 2025", "before 2025-03-01"],
)
@pytest.mark.parametrize(("who", "answer"), [("the user", HANGZHOU), ("Bob Miller", BOB_HANGZHOU)])
def test_the_number_of_a_year_is_no_code_to_what_held_then(moved: Afterwit, time: str, who: str, answer: str) -> None:
    hits = moved.search(f"Where did {who} live {time}?").hits
    assert hits[0].memory.summary == answer
    assert hits[0].warnings == ("was true until 2025-03-01",)


def test_what_holds_now_answers_for_a_time_since_it_began(moved: Afterwit) -> None:
    assert found(moved, "Where did the user live in April 2025?")[0] == SHANGHAI
    assert found(moved, "2025-04-05用户住在哪里")[0] == SHANGHAI


def test_a_code_beside_a_time_is_still_one(memory: Afterwit) -> None:
    memory.write("The gateway answered with E4021 for an hour.", happened_at="2025-03-05")
    memory.write("The gateway answered with E7788 for an hour.", happened_at="2025-03-06")
    assert found(memory, "For how long did the gateway answer with E4021 in March 2025?") == [
        "The gateway answered with E4021 for an hour."
    ]


PAST_QUESTIONS = (
    "Where did {} live before Shanghai?",
    "Where did {} live before moving to Shanghai?",
    "Before moving to Shanghai, where did {} live?",
    "Where did {} live before?",
    "Where did {} live before that?",
    "Where did {} use to live?",
    "What was {}'s previous home city?",
    "Can you tell me {}'s former address?",
    "Where did {} previously live?",
    "Where did {} live originally?",
    "{} 之前住在哪里",
    "{} 以前住在哪里？",
    "{} 原来住在哪里",
    "{} 原來住在哪裡",
    "{} 上一个住址是什么",
    "{} 以前的住址",
    "{} 搬到上海之前住在哪里",
)


@pytest.mark.parametrize("question", PAST_QUESTIONS)
@pytest.mark.parametrize(
    ("who", "answer"), [("the user", HANGZHOU), ("Bob Miller", BOB_HANGZHOU)], ids=["the user", "Bob Miller"]
)
def test_words_for_the_past_bring_what_was_replaced_before_what_holds(
    moved: Afterwit, question: str, who: str, answer: str
) -> None:
    is_chinese = not question.isascii()
    query = question.format("用户" if is_chinese and who == "the user" else who)
    assert found(moved, query.replace("用户 ", "用户"))[:1] == [answer]
    (said,) = moved.search(query).hits[0].warnings
    assert "2025-03-01" in said


@pytest.mark.parametrize(
    "question",
    [
        "Where does the user live?",
        "Where does the user live now?",
        "Where must parcels for the user go before Friday's move?",
        "What did the user say before about where they live?",
        "用户住在哪里",
        "用户现在住在哪里",
        "用户之前说过住在哪里",
        "寄包裹之前要查用户住在哪里吗",
    ],
)
def test_a_question_about_the_present_gets_nothing_that_was_replaced(moved: Afterwit, question: str) -> None:
    assert HANGZHOU not in found(moved, question)


@pytest.mark.parametrize(
    ("query", "is_asked", "later"),
    [
        ("What was the old API port?", True, ""),
        ("What was the API port before the change?", True, ""),
        ("Who led the team prior to Ann?", True, "ann"),
        ("支付项目以前谁负责", True, ""),
        ("支付项目之前由谁负责", True, ""),
        ("支付项目的前负责人是谁", True, ""),
        ("旧端口是多少", True, ""),
        ("换成 Postgres 之前用什么数据库", True, "换成 postgres"),
        ("Where is the old printer?", False, ""),
        ("What is the tool used to build?", False, ""),
        ("What must run before a deploy?", False, ""),
        ("How do I restore the previous release?", False, ""),
        ("What did we do in the previous session?", False, ""),
        ("Why did we originally choose Postgres?", False, ""),
        ("Have we fixed this before?", False, ""),
        ("我之前说过喜欢什么咖啡", False, ""),
        ("发布之前要做什么", False, ""),
        ("上一个版本怎么恢复", False, ""),
        ("当初为什么选 Postgres", False, ""),
        ("这个错误以前出现过吗", False, ""),
    ],
)
def test_only_words_that_leave_little_doubt_ask_for_what_was_before(query: str, is_asked: bool, later: str) -> None:
    asked = asks_before(query)
    assert (asked is not None) is is_asked
    assert asked is None or asked.later == later


def test_what_came_before_a_thing_that_is_named_came_right_before_it(memory: Afterwit) -> None:
    for year, city in enumerate(("Hangzhou", "Shanghai", "Shenzhen"), start=2022):
        memory.write(f"Bob Miller lives in {city}.", valid_from=f"{year}-01-01")
    assert found(memory, "Where did Bob Miller live before Shanghai?") == [
        "Bob Miller lives in Hangzhou.",
        "Bob Miller lives in Shenzhen.",
    ]
    assert found(memory, "Where did Bob Miller live before?") == [
        "Bob Miller lives in Shanghai.",
        "Bob Miller lives in Hangzhou.",
        "Bob Miller lives in Shenzhen.",
    ]


def test_what_is_to_be_done_before_something_is_asked_of_the_present(memory: Afterwit) -> None:
    memory.write(
        "The check before a commit is make lint.", subject="checks", topic="commit_check", valid_from="2025-01-01"
    )
    new = "The check before a commit is make all."
    memory.write(new, subject="checks", topic="commit_check", structured={"single_valued": True})
    for query in (
        "Which check was it before a commit?",
        "What should I check before a commit?",
        "提交之前跑什么 check",
    ):
        assert found(memory, query) in ([new], [])


def test_an_answer_that_replaced_nothing_still_comes(memory: Afterwit) -> None:
    memory.write("We decided to freeze the schema before the release.")
    assert found(memory, "What did we decide before the release?") == [
        "We decided to freeze the schema before the release."
    ]
    memory.write("The user lives in Hangzhou.")
    assert found(memory, "用户以前住在哪里")[:1] == [HANGZHOU]


def test_what_was_corrected_was_never_so(memory: Afterwit) -> None:
    receipt = memory.write("Bob Miller lives in Hangzhou.", valid_from="2024-01-01")
    memory.update(receipt.id, content="Bob Miller lives in Huzhou.")
    assert found(memory, "Where did Bob Miller live before?") == ["Bob Miller lives in Huzhou."]


def test_the_past_is_not_brought_from_where_nobody_may_look(moved: Afterwit) -> None:
    assert found(moved, "Where did the user live before?", scopes=["project:other"])[:1] == [HANGZHOU]
    moved.write("Carol Reed lives in Hangzhou.", valid_from="2023-01-01", scope="project:a")
    moved.write("Carol Reed moved to Shanghai.", valid_from="2025-03-01", scope="project:a")
    assert not [text for text in found(moved, "Where did Carol Reed live before?") if "Carol" in text]
    assert len(found(moved, "Where did the user live before?", top_k=1)) == 1


def test_a_long_text_is_no_question_for_what_was_before() -> None:
    assert asks_before("用户以前住在哪里？") is not None
    assert asks_before("用户以前住在哪里" * 100) is None
