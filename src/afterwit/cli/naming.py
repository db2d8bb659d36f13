"""The commands about names: entity alias, merge, split, list, show."""

from typing import TYPE_CHECKING

import click

from afterwit.cli.options import TEXT, json_option
from afterwit.cli.session import Session, pass_session
from afterwit.cli.words import language, tell
from afterwit.clock import utc_now
from afterwit.records import Alias
from afterwit.serve.wire import alias_json, entity_json

if TYPE_CHECKING:
    from afterwit.service import Entity


@click.group("entity", short_help="People, projects, things and their other names. 实体与别名。")
@json_option
def entity() -> None:
    """People, projects and things: their other names, and what is known of them.

    人、项目和事物：它们的别名，以及记忆中与之相关的内容。

    Names are learned, too, where a trusted memory gives one outright: "Kubernetes (k8s)",
    "Bob, also known as Robert Smith", 张三（小张）.

    \b
    Examples:
      afterwit entity alias k8s kubernetes
      afterwit entity merge 张工 张三
      afterwit entity show kubernetes
    """


@entity.command("alias", short_help="Let a name stand for another. 添加别名。")
@click.argument("alias", type=TEXT)
@click.argument("name", type=TEXT)
@json_option
@pass_session
def alias_(session: Session, alias: str, name: str) -> None:
    """Let ALIAS stand for NAME: both are one, for old memories, too.

    让 ALIAS 代表 NAME；两个名字从此视为同一个，旧记忆也不例外。记忆本身不改写，可用 split 撤销。

    \b
    Examples:
      afterwit entity alias k8s kubernetes
      afterwit entity alias 小张 张三
    """
    with session.memory() as memory:
        _joined(session, memory.alias(alias, name))


@entity.command("merge", short_help="Make two entities one. 合并实体。")
@click.argument("one", type=TEXT)
@click.argument("other", type=TEXT)
@json_option
@pass_session
def merge(session: Session, one: str, other: str) -> None:
    """Make two entities one, with all their names; OTHER is the name that stands for it.

    把两个实体合并为一个，连同各自的别名；以 OTHER 为代表名。可用 split 原样撤销。

    \b
    Examples:
      afterwit entity merge Bob "Robert Smith"
      afterwit entity merge 张工 张三
    """
    with session.memory() as memory:
        _joined(session, memory.merge_entities(one, other))


@entity.command("split", short_help="Take an alias back. 撤销别名或合并。")
@click.argument("alias", type=TEXT)
@click.option("--reason", type=TEXT, default="", help="Why; kept in the history.")
@json_option
@pass_session
def split(session: Session, alias: str, reason: str) -> None:
    """Take back that ALIAS stands for another name, whether it was given or learned.

    撤销一个别名（手动添加或自动学到的都可以）；记忆各归原来的名字。

    \b
    Examples:
      afterwit entity split k8s
      afterwit entity split 小张 --reason "是另一个人"
    """
    with session.memory() as memory:
        dropped = memory.split_entity(alias, reason=reason)
        session.answer(
            lambda: {"dropped": alias_json(dropped)},
            lambda: tell("split", alias=dropped.alias, name=dropped.name),
        )


@entity.command("list", short_help="All entities and their names. 列出实体。")
@json_option
@pass_session
def list_(session: Session) -> None:
    """List people, projects and things by the name that stands for each, with its other names.

    列出人、项目和事物，以代表名开头，其后是别名。

    \b
    Examples:
      afterwit entity list
      afterwit entity list --json
    """
    with session.memory() as memory:
        known = memory.entities()

        def prose() -> str:
            return "\n".join(_names(names) for names in known) or tell("no_entities")

        session.answer(lambda: {"entities": [{"name": names[0], "names": list(names)} for names in known]}, prose)


@entity.command("show", short_help="What is known of one. 查看一个实体。")
@click.argument("name", type=TEXT)
@json_option
@pass_session
def show(session: Session, name: str) -> None:
    """Show what is known of somebody or something, by any of its names.

    查看与某个人、项目或事物有关的记忆；任何一个名字都可以。

    \b
    Examples:
      afterwit entity show kubernetes
      afterwit entity show 小张 --json
    """
    with session.memory() as memory:
        found = memory.entity(name)
        session.answer(lambda: entity_json(found, now=utc_now()), lambda: _told(found))


def _joined(session: Session, alias: Alias) -> None:
    session.answer(lambda: {"alias": alias_json(alias)}, lambda: tell("joined", alias=alias.alias, name=alias.name))


def _names(names: tuple[str, ...]) -> str:
    from afterwit.serve.prose import quoted  # noqa: PLC0415 - brings the text layer along

    return quoted(" = ".join(names))


def _told(found: "Entity") -> str:
    from afterwit.serve.prose import memory_line, quoted  # noqa: PLC0415 - brings the text layer along

    now = utc_now()
    lines = [_names(found.names)]
    lines += [
        tell(f"alias_{alias.source}", alias=quoted(alias.alias), name=quoted(alias.name), id=alias.memory_id[-8:])
        for alias in found.aliases
    ]
    if found.related:
        lines.append(tell("related", ids=quoted(", ".join(found.related))))
    return "\n".join([*lines, *(memory_line(memory, now=now, spoken=language()) for memory in found.memories)])
