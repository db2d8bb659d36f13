"""The doctor: looks at everything that memory needs, and says what to do about what is wrong."""

from typing import Any

import click

from afterwit.cli.options import json_option
from afterwit.cli.session import Session, pass_session
from afterwit.cli.words import tell


@click.command("doctor", short_help="Check that everything works. 体检。")
@json_option
@pass_session
def doctor(session: Session) -> int:
    """Check Python, SQLite, files, database, embedder and settings; say what to do about each.

    检查运行环境、数据库、嵌入模型与设置，并说明如何处理；有失败项时退出码为 1。

    \b
    Examples:
      afterwit doctor
      afterwit doctor --json
    """
    from afterwit.cli.checks import examine  # noqa: PLC0415 - brings the store and the embedder along

    findings = examine(session)
    failed = sum(finding.level == "fail" for finding in findings)
    warned = sum(finding.level == "warn" for finding in findings)

    def values() -> dict[str, Any]:
        return {"ok": not failed, "checks": [finding.values() for finding in findings]}

    def prose() -> str:
        verdict = tell("unhealthy", failed=failed, warned=warned) if failed or warned else tell("healthy")
        return "\n".join([*(finding.text() for finding in findings), verdict])

    session.answer(values, prose)
    return 1 if failed else 0
