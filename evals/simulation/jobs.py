"""What the agent is asked to do: jobs with a trap each, the ways it may try, and goals in many words.

Goals and names come in two sets: `learn`, in which a trap is met for the first time, and `held`, worded
differently and about other things, in which it is met again.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

#: A way to do something: commands that are run one after the other.
Way = tuple[str, ...]


@dataclass(frozen=True)
class Family:
    """Jobs that fall into the same trap. `{name}` stands for what a single job is about."""

    name: str
    #: words by which a text shows that it is about this: a program, a service
    about: tuple[str, ...]
    #: what anybody would try first; fails
    default: str
    #: what else one may think of; one of them works
    others: tuple[Way, ...]
    #: "learn" or "held" -> what single jobs are about
    names: Mapping[str, tuple[str, ...]]
    #: ("learn" or "held", "en" or "zh") -> goals
    goals: Mapping[tuple[str, str], tuple[str, ...]]


@dataclass(frozen=True)
class Job:
    """One thing to do."""

    family: str
    goal: str
    about: tuple[str, ...]
    default: Way
    others: tuple[Way, ...]

    @cached_property
    def ways(self) -> tuple[Way, ...]:
        """The default, and what else one may think of."""
        return (self.default, *self.others)


def job(family: Family, part: str, language: str, draw: random.Random) -> Job:
    """A job of a family, about one of its names and in one of its wordings."""
    name = draw.choice(family.names[part])
    goal = draw.choice(family.goals[part, language])
    others = tuple(tuple(command.replace("{name}", name) for command in way) for way in family.others)
    return Job(
        family.name, goal.replace("{name}", name), family.about, (family.default.replace("{name}", name),), others
    )


def _names(learn: str, held: str) -> dict[str, tuple[str, ...]]:
    return {"learn": tuple(learn.split()), "held": tuple(held.split())}


def _goals(
    learn_en: Sequence[str], held_en: Sequence[str], learn_zh: Sequence[str], held_zh: Sequence[str]
) -> dict[tuple[str, str], tuple[str, ...]]:
    return {
        ("learn", "en"): tuple(learn_en),
        ("held", "en"): tuple(held_en),
        ("learn", "zh"): tuple(learn_zh),
        ("held", "zh"): tuple(held_zh),
    }


def _service(name: str, works_with: str, held_en: Sequence[str], held_zh: Sequence[str]) -> Family:
    upper, address = name.upper(), f"https://{name}.acme.dev/{{name}}"
    return Family(
        name=f"{name}-auth",
        about=(f"{name}.acme.dev", f"{name} api", f"{name} service", f"{upper}_KEY", f"{upper}_TOKEN"),
        default=f'curl -si "{address}"',
        others=(
            (f'curl -si -H "X-Api-Key: ${upper}_KEY" "{address}"',),
            (f'curl -si -H "Authorization: Bearer ${upper}_TOKEN" "{address}"',),
            (f'curl -si -H "Authorization: Basic ${upper}_KEY" "{address}"',),
            (f'curl -si "{address}?api_key=${upper}_KEY"',),
            (f'curl -si -H "Cookie: session=${upper}_TOKEN" "{address}"',),
        ),
        names=_names(works_with, "exports pages totals history"),
        goals=_goals(
            (f"Fetch the {{name}} from the {name} API", f"Get the latest {{name}} over {name}.acme.dev"),
            held_en,
            (f"从 {name} API 获取 {{name}} 数据", f"调用 {name}.acme.dev 接口取最新的 {{name}}"),
            held_zh,
        ),
    )


ORDERS = _service(
    "orders",
    "items returns carts invoices",
    (
        "We need last month's {name} out of the orders service as JSON",
        "Check with curl what the orders API says about {name}",
        "Compare the {name} of two customers, reading them from orders.acme.dev",
    ),
    (
        "需要从 orders 服务导出上个月的 {name}",
        "用 curl 看一下 orders API 里 {name} 的情况",
        "对比两个客户在 orders.acme.dev 上的 {name}",
    ),
)
BILLING = _service(
    "billing",
    "payments credits plans quotas",
    (
        "Accounting wants the {name} that the billing service holds",
        "Read {name} through the billing API and count them",
    ),
    ("财务需要 billing 服务里的 {name}", "通过 billing API 读取 {name} 并统计数量"),
)
DATABASE = Family(
    name="database-ssl",
    about=("psql", "db.acme.dev"),
    default='psql "host=db.acme.dev dbname=shop user=app" -c "SELECT count(*) FROM {name}"',
    others=(
        ('psql "host=db.acme.dev dbname=shop user=app sslmode=require" -c "SELECT count(*) FROM {name}"',),
        ('psql "host=db.acme.dev dbname=shop user=app sslmode=disable" -c "SELECT count(*) FROM {name}"',),
        ('psql "host=db.acme.dev port=5433 dbname=shop user=app" -c "SELECT count(*) FROM {name}"',),
        ('psql "host=db.acme.dev dbname=shop user=admin" -c "SELECT count(*) FROM {name}"',),
        ('psql "host=db.acme.dev dbname=shop user=app connect_timeout=60" -c "SELECT count(*) FROM {name}"',),
    ),
    names=_names("orders customers refunds", "shipments suppliers vouchers"),
    goals=_goals(
        ("Count the rows of the {name} table with psql", "Query the shop database for the number of {name}"),
        (
            "How many {name} do we have? Ask the production database",
            "Use psql to see whether {name} is empty",
            "The dashboard shows no {name}; look them up on db.acme.dev",
        ),
        ("用 psql 统计 {name} 表的行数", "查询 shop 数据库里 {name} 的数量"),
        (
            "生产数据库里现在有多少 {name}？查一下",
            "用 psql 确认 {name} 表是不是空的",
            "看板上没有 {name}，到 db.acme.dev 里核对",
        ),
    ),
)
MIGRATION = Family(
    name="migration-first",
    about=("manage.py", "migrate"),
    default="python manage.py report {name}",
    others=(
        ("python manage.py migrate", "python manage.py report {name}"),
        ("python manage.py check", "python manage.py report {name}"),
        ("python manage.py collectstatic --noinput", "python manage.py report {name}"),
        ("python manage.py clearsessions", "python manage.py report {name}"),
        ("python manage.py report {name} --database replica",),
    ),
    names=_names("invoice ledger payroll", "stock tax discount"),
    goals=_goals(
        ("Run the {name} report with manage.py", "Produce the {name} report of the shop"),
        (
            "Management asks for the {name} figures; the Django command `report` makes them",
            "Generate {name} with python manage.py report on a fresh checkout",
        ),
        ("用 manage.py 跑 {name} 报表", "生成商城的 {name} 报表"),
        ("管理层要 {name} 数据，用 Django 的 report 命令生成", "在新检出的代码上用 python manage.py report 出 {name}"),
    ),
)
PACKAGES = Family(
    name="npm-flag",
    about=("npm", "ERESOLVE"),
    default="npm install {name}",
    others=(
        ("npm install {name} --legacy-peer-deps",),
        ("npm install {name} --ignore-scripts",),
        ("npm install {name} --prefer-offline",),
        ("npm install {name} --no-audit",),
        ("npm cache clean --force", "npm install {name}"),
    ),
    names=_names("chart-kit date-grid rich-table", "map-view tree-menu pdf-panel"),
    goals=_goals(
        ("Install {name} with npm", "Add the package {name} to the frontend"),
        (
            "The new page needs {name}; make it available through npm",
            "Put {name} among the npm dependencies",
        ),
        ("用 npm 安装 {name}", "给前端加上 {name} 这个包"),
        ("新页面要用 {name}，通过 npm 装上", "把 {name} 加进 npm 依赖"),
    ),
)
FOLDER = Family(
    name="make-folder",
    about=("make",),
    default="make {name}",
    others=(
        ("cd services/api && make {name}",),
        ("cd frontend && make {name}",),
        ("cd infra && make {name}",),
        ("make -B {name}",),
        ("make -k {name}",),
    ),
    names=_names("lint schema docs", "coverage stubs bundle"),
    goals=_goals(
        ("Run make {name}", "Get the make target {name} to pass"),
        ("Before the release, `make {name}` has to go through", "Call make for {name} and see what it says"),
        ("运行 make {name}", "让 make 的目标 {name} 通过"),
        ("发版前要跑通 make {name}", "执行 make，目标是 {name}，看看结果"),
    ),
)
FILES = Family(
    name="script-folder",
    about=("convert.py",),
    default="python etl/convert.py data/{name}",
    others=(
        ("cd etl && python convert.py ../data/{name}",),
        ("cd data && python ../etl/convert.py {name}",),
        ("cd config && python ../etl/convert.py ../data/{name}",),
        ("python etl/convert.py ./data/{name}",),
        ("python etl/convert.py data/{name} --verbose",),
    ),
    names=_names("sales.csv visits.csv hours.csv", "returns.csv leads.csv meters.csv"),
    goals=_goals(
        ("Convert {name} to Parquet with etl/convert.py", "Turn data/{name} into Parquet"),
        ("The analysts want {name} as Parquet; convert.py does that", "Run convert.py on {name}"),
        ("用 etl/convert.py 把 {name} 转成 Parquet", "把 data/{name} 转换为 Parquet"),
        ("分析师要 Parquet 格式的 {name}，用 convert.py 转", "对 {name} 运行 convert.py"),
    ),
)
REGION = Family(
    name="deploy-region",
    about=("shipit",),
    default="shipit deploy {name}",
    others=(
        ("shipit deploy {name} --region eu-1",),
        ("shipit deploy {name} --region us-1",),
        ("shipit deploy {name} --force",),
        ("shipit deploy {name} --env production",),
        ("shipit login", "shipit deploy {name}"),
    ),
    names=_names("cart search mailer", "pricing catalog profile"),
    goals=_goals(
        ("Deploy {name} with shipit", "Roll out {name} by shipit deploy"),
        ("Ship the service {name} with shipit", "Bring {name} live; we use shipit for that"),
        ("用 shipit 部署 {name}", "通过 shipit deploy 发布 {name}"),
        ("用 shipit 上线 {name} 服务", "把 {name} 发布上线，我们用的是 shipit"),
    ),
)
FLAKY = Family(
    name="flaky",
    about=("kubectl",),
    default="kubectl rollout status deployment/{name}",
    others=(
        ("kubectl rollout status deployment/{name}",),
        ("kubectl rollout status --timeout=60s deployment/{name}",),
        ("kubectl rollout status --watch=true deployment/{name}",),
    ),
    names=_names("cart search mailer", "pricing catalog profile"),
    goals=_goals(
        ("Wait for the rollout of {name} with kubectl",),
        ("See with kubectl whether {name} is rolled out",),
        ("用 kubectl 等待 {name} 发布完成",),
        ("用 kubectl 看看 {name} 是否发布完成",),
    ),
)

#: Families that are met from the first day; `REGION` is kept for what is planted.
TRAPS: tuple[Family, ...] = (ORDERS, BILLING, DATABASE, MIGRATION, PACKAGES, FOLDER, FILES)
