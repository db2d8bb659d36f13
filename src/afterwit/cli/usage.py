"""What a command line that cannot be understood gets as an answer."""

import re

import click

from afterwit.errors import InvalidInput, Sentence

#: How click says it; the more special form of two comes first.
_FORMS = (
    "No such command {name}. (Did you mean one of: {near}?)",
    "No such command {name}. Did you mean {near}?",
    "No such command {name}.",
    "No such option {name}. (Did you mean one of: {near}?)",
    "No such option {name}. Did you mean {near}?",
    "No such option {name}.",
    "Missing argument {name}.",
    "Missing option {name}.",
    "Missing command.",
    "Invalid value for {name}: {value} is not a valid integer.",
    "Invalid value for {name}: {value} is not a valid float.",
    "Invalid value for {name}: {value} is not one of {choices}.",
    "Got unexpected extra argument ({names})",
    "Got unexpected extra arguments ({names})",
    "Option {name} requires an argument.",
    "Option {name} does not take a value.",
)
_PATTERNS = {
    form: re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(form)), re.DOTALL | re.ASCII) for form in _FORMS
}

#: Words of the library and of MCP for what is a command of another name here.
_ELSEWHERE = {
    "explain": "show ID",
    "confirm": "update ID --confirm",
    "refute": "update ID --refute",
    "restore": "update ID --restore",
    "entities": "entity list",
    "aliases": "entity list",
    "merge_entities": "entity merge",
    "split_entity": "entity split",
    "import_knowledge": "import-docs",
    "follow_session": "learn",
    "weekly_report": "health --report FILE",
}
_EVALUATION = Sentence("Quality is measured in a checkout of the source, with `make eval` or `python -m evals`.")


def usage_error(error: click.ClickException) -> InvalidInput:
    """The error of this package for one of click's."""
    place = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "afterwit"
    return InvalidInput(_sentence(error.format_message()), next_step=Sentence("See `{place} --help`.", place=place))


def _sentence(text: str) -> str:
    for form, pattern in _PATTERNS.items():
        if found := pattern.fullmatch(text):
            return Sentence(form, **found.groupdict())
    return text


def unknown_command(word: str, group: click.Group) -> InvalidInput | None:
    """The answer to a command that is none, where it is known what is meant; None where it is not.

    Args:
        word: what was given for a command.
        group: all commands there are.
    """
    said = Sentence("No such command {name}.", name=repr(word))
    if word in ("eval", "evals"):
        return InvalidInput(said, next_step=_EVALUATION)
    folded = word.casefold().replace("-", "_")
    bare = folded.removeprefix("memory_")
    for wanted in (folded, bare):
        command = _ELSEWHERE.get(wanted) or _within(wanted, group)
        if command:
            return InvalidInput(said, next_step=Sentence("Use `afterwit {command}`.", command=command))
    if bare != folded and bare in group.commands:
        return InvalidInput(said, next_step=Sentence("Use `afterwit {command}`.", command=bare))
    return None


def _within(word: str, group: click.Group) -> str:
    """The command of that name in one of the groups, such as "entity alias" for "alias" and "task start"."""
    for name, inner in group.commands.items():
        if isinstance(inner, click.Group):
            for own in inner.commands:
                if word in (own, f"{name}_{own}", f"{own}_{name}"):
                    return f"{name} {own}"
    return ""
