"""Statements that tell of a change put an end to what was known before it, and to nothing else."""

from collections.abc import Iterator

import pytest

from afterwit.config import load_settings
from afterwit.extract.changing import told
from afterwit.records import Outcome, Trust
from afterwit.service import Afterwit, Writer
from afterwit.storage import open_store
from afterwit.testing import FixedClock, HashEmbedder
from afterwit.testing.samples import NOW

#: What was known, and what tells of its end.
CHANGES = [
    ("The team uses MySQL.", "The team switched from MySQL to PostgreSQL."),
    ("Bob uses Vim.", "Bob switched from Vim to Zed."),
    ("Atlas uses MySQL as its database.", "We migrated Atlas from MySQL to PostgreSQL."),
    ("The API port is 8080.", "The API port was changed to 9090."),
    ("后端端口是 7001。", "后端端口改成了 7002。"),
    ("用户的电话是 13800000001。", "用户的电话换成了 13900000002。"),
    ("The team lead of Atlas is Bob Miller.", "Alice Chen took over from Bob Miller as team lead of Atlas."),
    ("The user drives a Volvo.", "The user sold the Volvo and drives a Tesla now."),
    ("The release is on Friday 2026-12-04.", "The release was postponed to 2026-12-11."),
    ("The database is MySQL.", "We switched the database from MySQL to PostgreSQL."),
    ("The Atlas API listens on port 8080.", "The Atlas API now listens on port 9090 instead of 8080."),
    ("项目截止日期是12月10日。", "项目截止日期改为12月24日。"),
    ("王芳是北斗项目的负责人。", "北斗项目的负责人换成了李雷。"),
    ("My phone number is 555-0101.", "My new phone number is 555-0202."),
    ("The office wifi password is blue-otter-7.", "The office wifi password was changed to red-fox-9."),
    ("The deadline of the Atlas beta is 2026-12-15.", "The deadline of the Atlas beta was moved to 2027-01-20."),
    ("The Atlas API listens on port 8080.", "The Atlas API now listens on port 9090."),
    ("The weekly meeting is on Tuesday at 10.", "The weekly meeting was moved to Wednesday at 10."),
    ("周会在周二上午十点。", "周会改到每周三上午十点。"),
    ("数据库是 MySQL。", "数据库从 MySQL 换成了 PostgreSQL。"),
    ("我们用 MySQL 作数据库。", "我们把数据库从 MySQL 迁移到了 PostgreSQL。"),
    ("The build server is ci-old.example.com.", "The build server is now ci-new.example.com."),
    ("The rate limit is 100 requests per minute.", "The rate limit was raised from 100 to 250 requests per minute."),
    ("The rate limit is 100 requests per minute.", "The rate limit was raised to 250 requests per minute."),
    ("会议室是 301。", "会议室换到了 305。"),
    ("项目经理是王芳。", "李雷接替王芳担任项目经理。"),
    ("Our CI runs on Jenkins.", "Jenkins was replaced by GitHub Actions."),
    ("We use Jenkins for CI.", "We replaced Jenkins with GitHub Actions."),
    ("用户开沃尔沃。", "用户卖掉了沃尔沃，现在开特斯拉。"),
    ("The on-call engineer is Dana Reyes.", "The on-call engineer is now Priya Nair."),
    ("项目部署在 Docker 上。", "项目现在部署在 Kubernetes 上。"),
    ("值班电话是 8001。", "值班电话现在是 8002。"),
    ("The user's home address is 5 Oak Street.", "The user's new home address is 9 Elm Road."),
    ("Standup is at 9:30.", "Standup moved to 10:00."),
    ("The price of the basic plan is 10 dollars.", "The price of the basic plan rose to 12 dollars."),
    ("The timeout is 30 seconds.", "We raised the timeout to 60 seconds."),
    ("超时时间是 30 秒。", "我们把超时时间改成 60 秒。"),
    ("The primary contact at Globex is Ann Lee.", "Ann Lee left, and Tom Berg is the primary contact at Globex."),
    ("版本号是 2.3。", "版本号升级到 2.4。"),
]

#: What was known, and what tells of something else.
OTHERS = [
    ("We use Vim.", "Bob switched from Vim to Zed."),
    ("Ann uses Vim.", "Bob switched from Vim to Zed."),
    ("医生让用户每天吃一片降压药。", "医生现在让用户每天再多走半小时路。"),
    ("项目用 ESLint 检查代码。", "项目现在又加上了 Prettier 做格式化。"),
    ("The API port of staging is 8080.", "The API port was changed to 9090."),
    ("The admin port is 8081.", "The API port was changed to 9090."),
    ("The meeting is at 10.", "The meeting was moved to room 5."),
    ("Bob Miller is a dentist.", "Bob Miller moved to Berlin."),
    ("The user's sister lives in Berlin.", "The user's brother moved to Berlin."),
    ("Atlas's MySQL backups run at 3 am.", "We migrated Atlas from MySQL to PostgreSQL."),
    ("Zephyr uses MySQL.", "We migrated Atlas from MySQL to PostgreSQL."),
    ("npm audit must pass before merge.", "We switched from npm to pnpm."),
    ("The tests fail on Windows.", "The tests now pass."),
    ("The logo is huge.", "The logo was changed to blue."),
    ("Bob Miller reviews the API.", "Alice Chen took over from Bob Miller as team lead of Atlas."),
    ("Bob Miller lives in Leeds.", "Alice Chen took over from Bob Miller as team lead of Atlas."),
    ("背景很大。", "背景换成了蓝色。"),
    ("测试端口是 7001。", "后端端口改成了 7002。"),
    ("王芳喜欢喝茶。", "北斗项目的负责人从王芳换成了李雷。"),
    ("王芳住在北京。", "李雷接替王芳担任项目经理。"),
    ("The user's Volvo is red.", "The user sold the Volvo and drives a Tesla now."),
    ("The user's wife drives a Volvo.", "The user sold the Volvo and drives a Tesla now."),
    ("The release is called Aurora.", "The release was postponed to 2026-12-11."),
    ("The release was delayed by 3 days.", "The release was postponed to 2026-12-11."),
    ("The API port should be 8080.", "The API port was changed to 9090."),
    ("Server host-1 runs Debian.", "Server host-2 now runs Debian."),
    ("Error 1205 occurs in checkout.", "Error 1213 now occurs in checkout."),
    ("The API port is 8080.", "The API port will be changed to 9090."),
    ("The API port is 8080.", "Should the API port be changed to 9090?"),
    ("Alice's deadline is 2026-12-15.", "Bob's deadline was moved to 2027-01-20."),
    ("张三的电话是 13800000001。", "李四的电话换成了 13900000002。"),
    ("The budget of Atlas is 5000 dollars.", "The budget of Beidou was raised to 6000 dollars."),
    ("The user likes tea.", "The user likes coffee instead of sugar."),
    ("We use Redis for caching and for queues.", "We use Kafka for queues instead of Redis."),
    ("The user is vegetarian.", "The user is now in Berlin."),
    ("用户对花生过敏。", "用户现在是产品经理。"),
    ("Room 101 is booked by Ann.", "Room 102 is now booked by Ann."),
    ("The meeting room is 301.", "The meeting room was painted blue."),
    ("The service restarts at 3:00.", "The service was moved to 10.0.0.5."),
    ("We deploy on Fridays.", "We moved the office to 5 Oak Street."),
]


def ends(before: str, after: str, value: str = "") -> bool:
    change = told(after)
    return change is not None and change.ends(before, value)


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_a_change_ends_what_was(before: str, after: str) -> None:
    assert ends(before, after)
    assert not ends(after, before)


@pytest.mark.parametrize(("before", "after"), OTHERS)
def test_a_change_leaves_what_it_is_not_about(before: str, after: str) -> None:
    assert not ends(before, after)


@pytest.mark.parametrize(
    ("after", "is_end"),
    [
        ("Ann Lee left; Bo Tan answers the phone there.", True),
        ("Ann Lee was fired, and Bo Tan answers the phone there.", True),
        ("Ann Lee left for lunch, and Bo Tan answers the phone.", False),
        ("Ann Lee has not left; Bo Tan is a second one.", False),
        ("Besides Ann Lee, Bo Tan, who moved here from Rome, is one.", False),
        ("Bo Tan stands in beside Ann Lee for replacement parts.", False),
        ("Joanna Lee left; Bo Tan answers the phone there.", False),
    ],
)
def test_of_what_is_filed_alike_the_named_value_ends(after: str, is_end: bool) -> None:
    assert ends("Hotel Miro: ask for Ann Lee.", after, "Ann Lee") is is_end


@pytest.mark.parametrize(
    ("after", "is_end"),
    [
        ("顾雯离职了，有事找秦朗。", True),
        ("顾雯调岗了，有事找秦朗。", True),
        ("顾雯没有离职，秦朗是第二联系人。", False),
        ("除了顾雯，曾强也是联系人。", False),
        ("交换机的事找秦朗，其他还是顾雯。", False),
        ("周五以前找秦朗，其他时候找顾雯。", False),
    ],
)
def test_of_what_is_filed_alike_the_named_value_ends_in_chinese(after: str, is_end: bool) -> None:
    assert ends("宏泰这边由法务经理顾雯对接。", after, "顾雯") is is_end


@pytest.fixture(params=["hash", "none"])
def memory(request: pytest.FixtureRequest) -> Iterator[Afterwit]:
    settings = load_settings(environ={}, overrides={"embedder": request.param})
    embedder = HashEmbedder() if request.param == "hash" else None
    user = Writer(name="user", trust=Trust.USER)
    made = Afterwit(open_store("sqlite://"), embedder, settings=settings, writer=user, clock=FixedClock(NOW))
    yield made
    made.close()


def found(memory: Afterwit, query: str) -> list[str]:
    return [hit.memory.summary for hit in memory.search(query).hits]


@pytest.mark.parametrize(
    ("before", "after", "query"),
    [
        ("The API port is 8080.", "The API port was changed to 9090.", "What is the API port?"),
        ("Atlas uses MySQL as its database.", "We migrated Atlas from MySQL to PostgreSQL.", "Which database has it?"),
        ("后端端口是 7001。", "后端端口改成了 7002。", "后端端口是多少？"),
        ("王芳是北斗项目的负责人。", "北斗项目的负责人换成了李雷。", "北斗项目的负责人是谁？"),
    ],
)
def test_what_was_before_a_change_is_not_found_beside_it(memory: Afterwit, before: str, after: str, query: str) -> None:
    old = memory.write(before)
    done = memory.write(after)
    assert (done.outcome, done.related) == (Outcome.SUPERSEDED, (old.id,))
    assert before not in found(memory, query)
    assert found(memory, query) == [after]


def test_a_change_in_another_scope_or_pool_ends_nothing(memory: Afterwit) -> None:
    memory.write("The API port is 8080.", scope="project:atlas")
    memory.write("The API port is 8080.", scope="project:atlas", role="tester")
    assert memory.write("The API port was changed to 9090.").outcome is Outcome.STORED
    done = memory.write("The API port was changed to 9090.", scope="project:atlas", role="tester")
    assert len(done.related) == 1


def test_what_comes_from_outside_waits_where_it_would_end_what_is_known(memory: Afterwit) -> None:
    memory.write("The API port is 8080.")
    outside = memory.as_writer(Writer(name="web", trust=Trust.EXTERNAL))
    assert outside.write("The API port was changed to 9090.", source="user").outcome is Outcome.QUARANTINED
    assert found(memory, "What is the API port?") == ["The API port is 8080."]


def test_a_list_is_not_looked_through_for_what_a_change_is_about(memory: Afterwit) -> None:
    for number in range(60):
        memory.write(f"Server {number} listens on port {9000 + number}.")
    assert memory.write("Server 7 now listens on port 7777.").outcome is Outcome.SUPERSEDED
    assert "Server 8 listens on port 9008." in found(memory, "Which port does server 8 listen on?")
