"""Bringing in documents as seed memories."""

from typing import TYPE_CHECKING, Any

import click

from afterwit.cli.moving import embed_rows, missing_vectors
from afterwit.cli.options import TEXT, json_option
from afterwit.cli.session import Session, pass_session
from afterwit.cli.words import tell

if TYPE_CHECKING:
    from afterwit.service.knowledge import FileReport, KnowledgeReport


@click.command("import-docs", short_help="Bring in documents as seed memories. 导入文档知识。")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=TEXT)
@click.option("--scope", type=TEXT, default="", help="Where it applies: global, project:NAME, session:ID or task:ID.")
@click.option("--role", type=TEXT, default="", help="Agent role in whose pool it belongs; default: the shared pool.")
@click.option("--dry-run", is_flag=True, help="Only show what would be brought in.")
@click.option("--prune", is_flag=True, help="Also take out what came from files that a folder no longer has.")
@json_option
@pass_session
def import_docs(session: Session, paths: tuple[str, ...], scope: str, role: str, dry_run: bool, prune: bool) -> None:
    """Bring in what Markdown and text files say, file by file or folder by folder.

    把 Markdown 和文本文件（或整个文件夹）切成短小的段落，作为种子知识导入；自己验证过的经验排在它们之前。

    Files are cut into short passages under their headings. They rank below what was seen and
    proved here. Run it again after the files have changed: only what is new or different is
    touched, and what a file no longer says leaves recall. Passages that give orders to the
    agent, and files that are binary, too large or not UTF-8, are skipped with the reason.

    \b
    Examples:
      afterwit import-docs docs/ --scope project:atlas --dry-run
      afterwit import-docs docs/ --scope project:atlas
      afterwit import-docs 手册.md README.md
      afterwit import-docs docs/ --scope project:atlas --prune
    """
    with session.memory(embeds=not dry_run) as memory:
        report = memory.import_knowledge(paths, scope=scope, role=role, dry_run=dry_run, prune=prune)
        if not dry_run and report.total("added") + report.total("replaced"):
            embed_rows(session, memory, missing_vectors(memory))

    def values() -> dict[str, Any]:
        from afterwit.serve.tending import knowledge_json  # noqa: PLC0415 - brings the wire format along

        return knowledge_json(report)

    session.answer(values, lambda: _lines(report))


def _lines(report: "KnowledgeReport") -> str:
    lines = [_line(file, report) for file in report.files if file.status != "unchanged" or file.refused]
    counts = {name: report.total(name) for name in ("added", "replaced", "retired", "known")}
    files = ", ".join(f"{count} {status}" for status, count in report.by_status.items()) or "0"
    key = "docs_would_import" if report.is_dry_run else "docs_imported"
    return "\n".join([*(line for line in lines if line), tell(key, files=files, **counts)])


def _line(file: "FileReport", report: "KnowledgeReport") -> str:
    if file.status == "skipped":
        return tell("docs_skipped", name=file.name, reason=tell(f"docs_{file.reason}"))
    counts = {"added": file.added, "replaced": file.replaced, "retired": file.retired}
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    lines = [f"{file.name}: {file.status}" + (f" ({told})" if told else "")]
    if report.is_dry_run:
        lines += [f"    {line}" for line in file.first_lines]
    lines += [tell("docs_refused", reason=item.reason, line=item.line) for item in file.refused]
    return "\n".join(lines)
