"""What advice has in common, and what search makes of it: proved before unproved, and only where it applies."""

from collections.abc import Iterator
from typing import Any

import pytest

from afterwit import text
from afterwit.config import load_settings
from afterwit.errors import InvalidInput
from afterwit.matters import covers, names_service, names_tool, opposite_action, same_action, same_matter
from afterwit.records import Add, Kind, Memory, Standing
from afterwit.service import Afterwit
from afterwit.storage import open_store
from afterwit.testing import FixedClock
from afterwit.testing.samples import NOW, memory


def advice(number: int, situation: str, action: str, **fields: Any) -> Memory:
    told = {name: fields.pop(name) for name in ("signature", "tool") if name in fields}
    values: dict[str, Any] = {
        "kind": Kind.LESSON,
        "space": "default",
        "structured": {"situation": situation, "action": action, "result": "works", **told},
    }
    return memory(number, f"{situation}: {action}", **values | fields)


PIP = "pip install fails with externally-managed-environment"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((PIP, "use venv", {}), ("pip install fails: externally-managed-environment on Debian", "use pipx", {}), True),
        ((PIP, "x", {"signature": "pip: a"}), ("words differ", "y", {"signature": "pip: a"}), True),
        ((PIP, "x", {"signature": "pip: a"}), (PIP, "x", {"signature": "pip: b"}), False),
        ((PIP, "x", {"tool": "pip"}), (PIP, "x", {"tool": "npm"}), False),
        ((PIP, "x", {}), ("pip install fails with a timeout", "x", {}), False),
        (("登录页报 CSRF 校验失败", "x", {}), ("登录页 CSRF 校验失败", "y", {}), True),
        (("登录页报 CSRF 校验失败", "x", {}), ("支付页面加载超时", "y", {}), False),
    ],
)
def test_advice_is_on_the_same_matter_by_fault_tool_or_words(one: Any, other: Any, expected: bool) -> None:
    made = [advice(number, situation, action, **more) for number, (situation, action, more) in enumerate((one, other))]
    assert same_matter(*made) is expected
    assert same_matter(*made[::-1]) is expected


@pytest.mark.parametrize(
    ("one", "other", "same", "opposite"),
    [
        (
            "Create a virtual environment with python -m venv",
            "Use python -m venv to create an environment",
            True,
            False,
        ),
        ("Retry the request three times", "Do not retry the request", False, True),
        ("Use pnpm", "Use poetry", False, False),
        ("清空缓存后再登录", "登录前先清空缓存", True, False),
        ("不要清空缓存", "先清空缓存", False, True),
        ("add the header `X-Key: $KEY`", "use `Bearer $TOKEN` instead of `X-Key: $KEY`", False, False),
        ("加上请求头 `X-Key: $KEY`", "用 `Bearer $TOKEN` 代替 `X-Key: $KEY`", False, False),
        ("use `Bearer $TOKEN`", "use `Bearer $TOKEN` instead of `X-Key: $KEY`", True, False),
    ],
)
def test_actions_agree_oppose_or_have_nothing_in_common(one: str, other: str, same: bool, opposite: bool) -> None:
    made = [advice(number, "s", action) for number, action in enumerate((one, other))]
    assert (same_action(*made), opposite_action(*made)) == (same, opposite)


def test_what_was_tried_in_vain_opposes_what_is_advised() -> None:
    tried = advice(1, "s", "Retry the request three times", kind=Kind.FAILURE)
    assert opposite_action(tried, advice(2, "s", "Retry the request three times"))
    assert same_action(tried, advice(2, "s", "Do not retry the request three times"))


@pytest.fixture
def service() -> Iterator[Afterwit]:
    settings = load_settings(environ={}, overrides={"embedder": "none"})
    made = Afterwit(open_store("sqlite://"), None, settings=settings, clock=FixedClock(NOW))
    yield made
    made.close()


def put(service: Afterwit, *memories: Memory) -> None:
    with service.store.transaction("default", now=NOW, actor="test") as tx:
        tx.apply(Add(one) for one in memories)


def found(service: Afterwit, query: str = "pip install externally-managed-environment", **options: Any) -> list[str]:
    return [hit.memory.id[-2:] for hit in service.search(query, **options).hits]


def test_unproved_advice_is_shown_only_where_nothing_is_proved(service: Afterwit) -> None:
    put(service, advice(1, PIP, "use venv"), advice(2, PIP, "use --break-system-packages"))
    assert sorted(found(service)) == ["01", "02"]
    put(service, advice(3, PIP, "use pipx", standing=Standing.CONFIRMED))
    assert found(service) == ["03"]
    # On another matter, unproved advice is better than none.
    put(service, advice(4, "pip install hangs behind the proxy", "set HTTPS_PROXY"))
    assert found(service, "pip install hangs behind the proxy") == ["04"]


def test_what_was_seen_elsewhere_is_said_so_and_goes_last(service: Afterwit) -> None:
    put(
        service,
        advice(1, PIP, "use venv one", applies={"tool": "pip", "version": "23.0"}),
        advice(2, PIP, "use venv two", applies={"tool": "pip", "version": "24.0"}),
    )
    answer = service.search("pip install externally-managed-environment", environment={"tools": {"pip": "23.1"}})
    assert [hit.memory.id[-1] for hit in answer.hits] == ["1", "2"]
    assert "seen with pip 24.0, you have 23.1" in answer.hits[1].warnings
    answer = service.search("pip install externally-managed-environment", environment={"tools": {"pip": "24.2"}})
    assert [hit.memory.id[-1] for hit in answer.hits] == ["2", "1"]
    assert not any("seen with" in warning for hit in service.search(PIP).hits for warning in hit.warnings)
    chinese = service.search(
        "pip 安装 externally-managed-environment 报错怎么办", environment={"tools": {"pip": "24.2"}}
    )
    assert any("见于 pip 23.0，当前为 24.2" in hit.warnings for hit in chinese.hits)


def test_what_was_proved_not_to_hold_here_is_left_out(service: Afterwit) -> None:
    put(service, advice(1, PIP, "use venv", applies={"only": {"pip": "<24"}}))
    assert found(service, environment={"tools": {"pip": "23.1"}}) == ["01"]
    assert found(service, environment={"tools": {"pip": "24.1"}}) == []
    assert found(service) == ["01"]


def test_an_environment_must_be_an_object(service: Afterwit) -> None:
    with pytest.raises(InvalidInput, match="environment must be an object"):
        service.search("x", environment="linux")  # type: ignore[typeddict-item]


# --- tools that are named -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("goal", "tool", "domain", "is_named"),
    [
        ("Put map-view among the npm dependencies", "npm", "", True),
        ("新页面要用 map-view，通过npm装上", "npm", "", True),
        ("Put map-view among the dependencies", "npm", "", False),
        ("Run make stubs before the release", "make", "", True),
        ("Before the release, `make stubs` has to go through", "make", "", True),
        ("发版前要跑通 make coverage", "make", "", True),
        ("Make a plan for the release and make it short", "make", "", False),
        ("Write a python script", "python", "", False),
        ("Use curl to read the billing API", "curl", "", False),
        ("Get the pages out of the orders service", "curl", "orders.acme.dev", True),
        ("需要从 orders 服务导出 totals", "curl", "orders.acme.dev", True),
        ("Compare what orders.acme.dev says of two customers", "curl", "orders.acme.dev", True),
        ("Count the orders of last month", "curl", "orders.acme.dev", False),
        ("Use curl to read the billing API", "curl", "orders.acme.dev", False),
        ("Read the API of the app", "curl", "api.app.dev", False),
    ],
)
def test_a_goal_names_the_tool_or_service_that_advice_is_about(
    goal: str, tool: str, domain: str, is_named: bool
) -> None:
    advice = memory(1, "Advice.", kind=Kind.LESSON, structured={"tool": tool, "domain": domain})
    assert names_tool(text.fold(goal), advice) is is_named
    assert not names_tool(text.fold(goal), memory(1, "Fact.", structured={"tool": tool, "domain": domain}))


def test_a_goal_that_names_a_tool_finds_what_went_wrong_with_it(service: Afterwit) -> None:
    put(service, advice(1, "npm error code ERESOLVE", "add --legacy-peer-deps", tool="npm"))
    assert found(service, "Put map-view among the npm dependencies") == ["01"]
    assert not found(service, "Put map-view on the page")


def test_a_briefing_tells_what_went_wrong_with_the_tools_that_the_goal_names_once(service: Afterwit) -> None:
    for number, target in enumerate(("lint", "schema", "docs"), start=1):
        situation = f"make: *** No rule to make target '{target}'. Stop."
        put(service, advice(number, situation, "run it in the directory `services/api`", tool="make"))
    put(service, advice(4, "npm error code ERESOLVE", "add --legacy-peer-deps", tool="npm"))
    told = service.start_task("Before the release, `make stubs` has to go through").cases
    assert [hit.memory.structured["tool"] for hit in told] == ["make"]
    assert not service.start_task("Make a plan for the release").cases


@pytest.mark.parametrize(
    ("goal", "field", "is_named"),
    [
        ("Run convert.py on returns.csv", {"tool": "python", "program": "python convert.py"}, True),
        (
            "在新检出的代码上用 python manage.py report 出 tax",
            {"tool": "python", "program": "python manage.py report"},
            True,
        ),
        ("Write a python script", {"tool": "python", "program": "python convert.py"}, False),
        ("Convert returns.csv to Parquet", {"tool": "python", "program": "python convert.py"}, False),
        ("到 db.acme.dev 里核对", {"tool": "psql", "host": "db.acme.dev"}, True),
        ("Use psql to see whether it is empty", {"tool": "psql", "host": "db.acme.dev"}, True),
        ("Look it up on web.acme.dev", {"tool": "psql", "host": "db.acme.dev"}, False),
    ],
)
def test_a_script_and_a_host_are_names_of_a_tool_too(goal: str, field: dict[str, str], is_named: bool) -> None:
    assert names_tool(text.fold(goal), memory(1, "Advice.", kind=Kind.LESSON, structured=field)) is is_named


@pytest.mark.parametrize(
    ("domain", "name", "is_it"),
    [
        ("orders.acme.dev", "orders-api", True),
        ("orders.acme.dev:8443", "Orders Service", True),
        ("billing.acme.dev", "orders-api", False),
        ("api.acme.dev", "api", False),
        ("orders.acme.dev", "curl", False),
        ("", "orders-api", False),
    ],
)
def test_a_service_is_named_by_its_host(domain: str, name: str, is_it: bool) -> None:
    assert names_service(domain, name) is is_it


@pytest.mark.parametrize(
    ("against", "fault", "expected"),
    [
        ("make: no rule for target", "make: no rule for target: docs", True),
        ("make: no rule for target: docs", "make: no rule for target: docs", True),
        ("http: http 401: x.dev", "http: http 401: x.dev/a", True),
        ("http: http 401: x.dev", "http: http 401: x.device.com/a", False),
        ("make: no rule for target: docs", "make: no rule for target", False),
        ("", "make: no rule for target", False),
    ],
)
def test_a_wider_fault_takes_in_those_of_its_sort(against: str, fault: str, expected: bool) -> None:
    assert covers(against, fault) is expected
