"""People, projects and things: other names given and learned, merged and split; searches along relations."""

from collections.abc import Callable, Iterator

import pytest

from afterwit.config import load_settings
from afterwit.entities import Names, taught_aliases
from afterwit.entities.names import named_in
from afterwit.errors import Conflict, Forbidden, InvalidInput, NotFound
from afterwit.records import Outcome, Trust
from afterwit.service import Afterwit, Writer
from afterwit.storage import open_store
from afterwit.testing import FixedClock, HashEmbedder
from afterwit.testing.samples import NOW

MakeService = Callable[..., Afterwit]


@pytest.fixture
def make() -> Iterator[MakeService]:
    store = open_store("sqlite://")

    def build(*, space: str = "test", trust: Trust = Trust.AGENT, session: str = "one") -> Afterwit:
        settings = load_settings(environ={}, overrides={"space": space})
        writer = Writer("tester", trust, session)
        return Afterwit(store, HashEmbedder(), settings=settings, writer=writer, clock=FixedClock(NOW))

    yield build
    store.close()


@pytest.fixture
def memory(make: MakeService) -> Afterwit:
    return make()


def found(memory: Afterwit, query: str, **options: object) -> list[str]:
    return [hit.memory.summary for hit in memory.search(query, **options).hits]  # pyright: ignore[reportArgumentType]


def ways_told(memory: Afterwit, query: str) -> dict[str, str]:
    """Summary -> the chain of entities by which it was found."""
    return {
        hit.memory.summary: name.removeprefix("entity: ")
        for hit in memory.search(query).hits
        for name in hit.why
        if name.startswith("entity: ")
    }


# --- names ----------------------------------------------------------------------------------------


def test_chains_of_aliases_lead_to_one_name_and_circles_end() -> None:
    names = Names([("a", "b"), ("b", "c"), ("x", "y")])
    assert names.root("a") == names.root("b") == names.root("c") == "c"
    assert names.all_said("a") == ("c", "a", "b")
    assert names.all_of("unknown") == ("unknown",)
    circle = Names([("a", "b"), ("b", "a")])
    assert set(circle.all_said("a")) == {"a", "b"}


def test_a_project_and_its_bare_name_are_one_where_it_has_other_names() -> None:
    names = Names([("phoenix", "atlas")])
    assert names.root("project:atlas") == "atlas"
    assert {"phoenix", "project:atlas"} <= set(names.all_of("project:atlas"))


@pytest.mark.parametrize(
    ("folded", "wanted"),
    [
        ("ann met bob", ["ann", "bob"]),
        ("planning for bobsled", []),
        ("robert smith left", ["robert smith"]),
        ("张三和李四", ["张三", "李四"]),
        ("what is k8s?", ["k8s"]),
        ("", []),
    ],
)
def test_names_are_found_as_words_of_their_own_and_the_longest_wins(folded: str, wanted: list[str]) -> None:
    assert named_in(folded, {"ann", "bob", "robert", "robert smith", "张三", "李四", "k8s"}) == wanted


# --- learning -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "alias", "name"),
    [
        ("We deploy on Kubernetes (k8s).", "k8s", "kubernetes"),
        ("CI runs on GitHub Actions (GHA).", "gha", "github actions"),
        ("The office is in New York (NY).", "ny", "new york"),
        ("Bob Smith (Bob) joined in May.", "bob", "bob smith"),
        ("Bob, also known as Robert Smith, owns billing.", "bob", "robert smith"),
        ("Kubernetes is also known as k8s.", "k8s", "kubernetes"),
        ("Our billing service, aka Ledger, is written in Go.", "ledger", "billing service"),
        ("We call the billing service 'Ledger'.", "ledger", "billing service"),
        ("The gateway is code-named Phoenix.", "phoenix", "gateway"),
        ("The user goes by Kev.", "kev", "user"),
        ("张三(小张)负责支付。", "小张", "张三"),
        ("张三（小张）负责支付。", "小张", "张三"),
        ("李四（外号：四哥）管运维。", "四哥", "李四"),
        ("支付网关又叫小金库。", "小金库", "支付网关"),
        ("北京大学简称北大。", "北大", "北京大学"),
        ("天枢的别名是 TS2。", "ts2", "天枢"),
        ("我们把结算系统叫做“大账本”。", "大账本", "结算系统"),
        ("我又叫小明。", "小明", "user"),
    ],
)
def test_an_outright_other_name_is_read(statement: str, alias: str, name: str) -> None:
    found = [(item.alias, item.name) for item in taught_aliases(statement)]
    assert found in ([(alias, name)], [(name, alias)])


@pytest.mark.parametrize(
    "statement",
    [
        "Atlas (Python) is slow.",
        "Postgres (15) is used.",
        "Ann (Berlin) likes tea.",
        "We meet Ann (on Monday).",
        "Use pnpm (never npm).",
        "Use the REST API (see docs).",
        "Deploys stop on Friday (weekly).",
        "Bob is not also known as Rob.",
        "Is Bob also known as Rob?",
        "Maybe Bob is also known as Rob.",
        "Ann, also called Bob's manager, left.",
        "It is also known as the fast path.",
        "We call the API 'often'.",
        "The user's dog is called Rex.",
        "他也叫了外卖。",
        "用户也叫过这个服务。",
        "王芳（北京）喜欢茶。",
        "小张可能又叫张三。",
        "这个项目(已完成)不再维护。",
    ],
)
def test_what_is_no_other_name_for_certain_teaches_nothing(statement: str) -> None:
    assert taught_aliases(statement) == []


def test_a_trusted_memory_teaches_and_can_be_taken_back(memory: Afterwit) -> None:
    receipt = memory.write("Bob, also known as Robert Smith, owns the billing service.")
    assert [(item.alias, item.name, item.source, item.memory_id) for item in memory.aliases()] == [
        ("bob", "robert smith", "learned", receipt.id)
    ]
    memory.forget(receipt.id)
    assert memory.aliases() == []
    memory.update(receipt.id, verdict="restore")
    assert len(memory.aliases()) == 1
    memory.split_entity("Bob")
    assert memory.aliases() == []


def test_untrusted_text_teaches_no_names(make: MakeService) -> None:
    memory = make()
    memory.write("The admin is Mallory, also known as Robert Smith.", source="web", kind="fact")
    make(trust=Trust.EXTERNAL).write("Mallory (Mal) is the admin.", kind="fact")
    assert memory.aliases() == []


def test_a_name_that_comes_to_stand_for_two_is_dropped_if_learned_and_stays_if_given(memory: Afterwit) -> None:
    memory.write("张三(小张)负责支付。")
    memory.write("张伟(小张)负责搜索。")
    assert memory.aliases() == []
    memory.alias("小张", "张三")
    memory.write("张强(小张)负责登录。")
    assert [(item.alias, item.name) for item in memory.aliases()] == [("小张", "张三")]


# --- giving, merging, splitting -------------------------------------------------------------------


def test_existing_memories_are_found_by_both_names(memory: Afterwit) -> None:
    memory.write("The deploy target is kubernetes 1.29.")
    memory.write("Robert Smith lives in Lyon.")
    question = "Where does Bob live?"
    before = memory.search(question)
    memory.alias("Bob", "Robert Smith")
    hit = memory.search(question).hits[0]
    assert (hit.memory.summary, hit.why["coverage"]) == ("Robert Smith lives in Lyon.", 1.0)
    memory.split_entity("bob")
    assert memory.search(question).hits == before.hits
    memory.alias("Bob", "Robert Smith")
    assert memory.search(question).hits[0].why["coverage"] == 1.0
    memory.write("Bob is allergic to nuts.")
    assert found(memory, "What is Robert Smith allergic to?") == ["Bob is allergic to nuts."]


def test_filters_by_subject_mean_the_entity(memory: Afterwit) -> None:
    memory.write("Robert Smith lives in Lyon.")
    memory.alias("bob", "robert smith")
    assert [row.summary for row in memory.list(subjects=["Bob"])] == ["Robert Smith lives in Lyon."]
    assert found(memory, "Where is home?", exhaustive=True, subjects=["Bob"]) == ["Robert Smith lives in Lyon."]


def test_a_slot_is_one_under_all_names(memory: Afterwit) -> None:
    old = memory.write("Robert Smith lives in Lyon.")
    memory.alias("bob", "robert smith")
    new = memory.write("Bob moved to Paris.")
    assert (new.outcome, new.related) == (Outcome.SUPERSEDED, (old.id,))
    assert memory.get(new.id).subject == "bob"


def test_a_split_undoes_a_merge_exactly(memory: Afterwit) -> None:
    memory.write("Bob likes green tea.")
    memory.write("Robert Smith likes black coffee.")
    memory.alias("bobby", "bob")
    before = (memory.entities(), memory.aliases(), memory.list(subjects=["bob"]))
    made = memory.merge_entities("Bobby", "Robert Smith")
    assert memory.entities() == [("robert smith", "bob", "bobby")]
    assert len(memory.list(subjects=["bobby"])) == 2
    memory.split_entity(made.alias)
    assert (memory.entities(), memory.aliases(), memory.list(subjects=["bob"])) == before


def test_names_of_one_space_mean_nothing_in_another(make: MakeService) -> None:
    one, other = make(space="one"), make(space="other")
    one.alias("bob", "robert smith")
    other.write("Robert Smith lives in Lyon.")
    assert other.aliases() == []
    assert other.list(subjects=["bob"]) == []
    with pytest.raises(NotFound):
        other.split_entity("bob")


def test_a_name_that_is_taken_is_a_conflict_and_the_same_again_changes_nothing(memory: Afterwit) -> None:
    made = memory.alias("bob", "robert smith")
    assert memory.alias("Bob ", "Robert  Smith") == made
    assert memory.alias("robert smith", "bob") == made
    with pytest.raises(Conflict, match="already stands for"):
        memory.alias("bob", "robert jones")
    with pytest.raises(InvalidInput):
        memory.alias("bob", "Bob")
    assert memory.aliases() == [made]


def test_who_is_not_trusted_may_not_rename(make: MakeService) -> None:
    outsider = make(trust=Trust.EXTERNAL)
    for deed in (outsider.alias, outsider.merge_entities):
        with pytest.raises(Forbidden):
            deed("bob", "robert smith")
    with pytest.raises(Forbidden):
        outsider.split_entity("bob")


def test_the_user_can_have_a_name(memory: Afterwit) -> None:
    memory.write("The user lives in Hangzhou.")
    memory.alias("user", "Kev")
    assert [(item.alias, item.name) for item in memory.aliases()] == [("kev", "user")]
    assert found(memory, "Where does Kev live?") == ["The user lives in Hangzhou."]


def test_names_travel_with_an_export(make: MakeService) -> None:
    memory, copy = make(), make(space="copy")
    memory.write("Bob, also known as Robert Smith, owns the billing service.")
    memory.alias("rob", "bob")
    lines = list(memory.export())
    copy.import_lines(lines)
    assert [(item.alias, item.name) for item in copy.aliases()] == [("bob", "robert smith"), ("rob", "bob")]
    assert copy.import_lines(lines).added["alias"] == 0


def test_an_entity_shows_its_names_memories_and_what_is_related(memory: Afterwit) -> None:
    memory.write("Project Atlas is owned by Priya.")
    memory.write("Priya prefers asynchronous code reviews.")
    memory.alias("phoenix", "atlas")
    entity = memory.entity("Phoenix")
    assert (entity.name, entity.names) == ("atlas", ("atlas", "phoenix"))
    assert [row.summary for row in entity.memories] == ["Project Atlas is owned by Priya."]
    assert entity.related == ("priya",)
    with pytest.raises(NotFound):
        memory.entity("nobody")


def test_a_memory_says_what_it_is_about(memory: Afterwit) -> None:
    memory.write("Error E4521 stops the nightly build.", kind="fact")
    memory.write("Priya likes tea.")
    memory.alias("pri", "priya")
    about = memory.write("Pri fixed E4521 within two days.", kind="fact", scope="project:atlas")
    assert set(memory.explain(about.id).entities) == {"e4521", "priya", "project:atlas"}


# --- relations ------------------------------------------------------------------------------------

WORLD = (
    "Project Atlas is owned by Priya.",
    "Priya prefers asynchronous code reviews.",
    "Bob prefers code reviews in person.",
    "The user's wife is Anna.",
    "Anna is allergic to peanuts.",
    "Tom is allergic to shellfish.",
    "Atlas uses Postgres as its database.",
    "Postgres listens on port 5433.",
    "Priya reports to Chen Wei.",
    "Chen Wei is on leave until June.",
    "Kim owns the Borealis project.",
    "Kim lives in Oslo.",
    "The user's dentist is Dr. Lin.",
    "Dr. Lin has a practice in Harbour Street.",
    "火星项目由张三负责。",
    "张三喜欢异步代码评审。",
    "李四喜欢当面评审代码。",
    "用户的女儿叫小米。",
    "小米在学钢琴。",
    "张三的主管是陈伟。",
    "陈伟六月前在休假。",
)

RELATIONS = (
    ("How does the owner of Atlas like code reviews?", "Priya prefers asynchronous code reviews.", "atlas -> priya"),
    ("How does Atlas's owner like code reviews?", "Priya prefers asynchronous code reviews.", "atlas -> priya"),
    ("Which port does Atlas's database listen on?", "Postgres listens on port 5433.", "atlas -> postgres"),
    ("Where does the person who owns Borealis live?", "Kim lives in Oslo.", "borealis -> kim"),
    ("Where does the owner of Borealis live?", "Kim lives in Oslo.", "borealis -> kim"),
    ("In which street is my dentist's practice?", "Dr. Lin has a practice in Harbour Street.", None),
    ("What is my wife allergic to?", "Anna is allergic to peanuts.", None),
    ("Until when is the boss of Priya on leave?", "Chen Wei is on leave until June.", "priya -> chen wei"),
    (
        "Until when is the boss of Atlas's owner on leave?",
        "Chen Wei is on leave until June.",
        "atlas -> priya -> chen wei",
    ),
    ("火星的负责人喜欢怎样的代码评审？", "张三喜欢异步代码评审。", "火星 -> 张三"),
    ("负责火星的人喜欢怎样的代码评审？", "张三喜欢异步代码评审。", "火星 -> 张三"),
    ("我女儿在学什么乐器？", "小米在学钢琴。", None),
    ("张三的主管什么时候休假？", "陈伟六月前在休假。", "张三 -> 陈伟"),
    ("火星负责人的主管什么时候休假？", "陈伟六月前在休假。", "火星 -> 张三 -> 陈伟"),
)


@pytest.fixture
def world(memory: Afterwit) -> Afterwit:
    for statement in WORLD:
        assert memory.write(statement).accepted, statement
    return memory


@pytest.mark.parametrize(("question", "answer", "chain"), RELATIONS)
def test_a_question_goes_along_the_relation_that_it_names(
    world: Afterwit, question: str, answer: str, chain: str | None
) -> None:
    assert answer in found(world, question)
    if chain is not None:
        assert ways_told(world, question).get(answer) == chain


@pytest.mark.parametrize(
    ("question", "wrong"),
    [
        ("Who owns Atlas?", "Priya prefers asynchronous code reviews."),
        ("Who is the owner of Atlas?", "Priya prefers asynchronous code reviews."),
        ("Who is my wife?", "Anna is allergic to peanuts."),
        ("How does the owner of Atlas like code reviews?", "Bob prefers code reviews in person."),
        ("What is my wife allergic to?", "Tom is allergic to shellfish."),
        ("火星的负责人是谁？", "张三喜欢异步代码评审。"),
        ("火星的负责人喜欢怎样的代码评审？", "李四喜欢当面评审代码。"),
        ("谁向张三汇报？", "陈伟六月前在休假。"),
        ("What is the capital of France?", "Kim lives in Oslo."),
    ],
)
def test_a_relation_brings_nothing_about_others_or_beyond_the_question(
    world: Afterwit, question: str, wrong: str
) -> None:
    assert wrong not in found(world, question)
    assert wrong not in ways_told(world, question)


def test_the_bridge_is_trusted_or_not_used(make: MakeService) -> None:
    memory = make()
    memory.write("Kim lives in Oslo.")
    memory.write("Kim owns the Borealis project.", source="web", kind="fact")
    question = "Where does the owner of Borealis live?"
    assert ways_told(memory, question) == {}
    bridge = memory.write("Kim owns the whole Borealis project.", kind="fact")
    assert ways_told(memory, question) == {"Kim lives in Oslo.": "borealis -> kim"}
    make(trust=Trust.USER).update(bridge.id, verdict="refute")
    assert ways_told(memory, question) == {}


def test_the_key_filter_holds_along_the_way(memory: Afterwit) -> None:
    memory.write("Kim owns the Borealis project.")
    memory.write("Kim lives in Oslo.", scope="project:other")
    question = "Where does the owner of Borealis live?"
    assert ways_told(memory, question) == {}
    hits = memory.search(question, scopes=["project:other"]).hits
    assert "Kim lives in Oslo." in [hit.memory.summary for hit in hits]


def test_relations_go_through_other_names(world: Afterwit) -> None:
    world.alias("phoenix", "atlas")
    told = ways_told(world, "How does the owner of Phoenix like code reviews?")
    assert told == {"Priya prefers asynchronous code reviews.": "phoenix -> priya"}


def test_farther_is_weaker(world: Afterwit) -> None:
    near = world.search("Until when is Chen Wei on leave?").hits[0].relevance
    one = world.search("Until when is the boss of Priya on leave?").hits
    two = world.search("Until when is the boss of Atlas's owner on leave?").hits
    relevance = [
        next(hit.relevance for hit in hits if hit.memory.summary.startswith("Chen Wei")) for hits in (one, two)
    ]
    assert near >= relevance[0] > relevance[1]
