"""Commands that change what is remembered: write, update, forget."""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from afterwit.cli.options import JSON, TEXT, decode, given, json_option, read_text
from afterwit.cli.session import Session, pass_session
from afterwit.cli.wording import reworded, worded
from afterwit.cli.words import tell
from afterwit.errors import ANSWERS, InvalidInput, Sentence
from afterwit.records import Memory, Outcome, Receipt
from afterwit.serve.wire import error_json, receipt_json

if TYPE_CHECKING:
    from afterwit.service import Afterwit

#: Lines that one transaction writes.
BATCH = 64

_VERDICTS = "--confirm, --refute, --restore, --done and --dismiss"


@click.command("write", short_help="Remember a statement. 写入记忆。")
@click.argument("content", nargs=-1, type=TEXT)
@click.option("--stdin", "from_lines", is_flag=True, help="Read standard input: one statement per line.")
@click.option("--kind", type=TEXT, help="preference, fact, constraint, decision, failure, lesson, rule or intent.")
@click.option("--subject", type=TEXT, help="Whom or what it is about; people are best called by name.")
@click.option("--topic", type=TEXT, help="What about them: residence, diet, reply_style, ...")
@click.option("--scope", type=TEXT, help="Where it applies: global, project:NAME, session:ID or task:ID.")
@click.option("--role", type=TEXT, help="Agent role in whose pool it belongs; default: the shared pool.")
@click.option("--tag", "tags", type=TEXT, multiple=True, help="A tag; repeatable.")
@click.option("--confidence", type=float, help="How sure, 0 to 1.")
@click.option("--happened-at", type=TEXT, metavar="TIME", help="When it happened.")
@click.option("--valid-from", type=TEXT, metavar="TIME", help="From when it holds.")
@click.option("--expires-at", type=TEXT, metavar="TIME", help="Until when it holds.")
@click.option("--raw", type=TEXT, help="The words it was drawn from.")
@click.option("--structured", type=JSON, metavar="JSON", help='More about it, such as {"value": "Shanghai"}.')
@click.option("--source", type=TEXT, help="user, agent, tool, test, web, import or review.")
@click.option("--source-ref", type=TEXT, help="File, URL or session it can be traced to.")
@click.option("--task-id", type=TEXT, help="Task in which it was learned.")
@json_option
@pass_session
def write(session: Session, content: tuple[str, ...], from_lines: bool, **fields: Any) -> int:
    """Remember a statement, or what a longer text states.

    记住一句话；较长的文字会按规则（配置了语言模型时也由模型）提取其中的结论。CONTENT 为 - 时从标准输入读取全文。

    CONTENT is one or two sentences that will still be true and useful later, or "-" to read a
    text from standard input. Noise is refused, with the reason; a repeat is counted; a change
    replaces what was and keeps it as history. A text of several sentences is also read by the
    language model, if there is one.

    \b
    Examples:
      afterwit write "The user prefers concise answers."
      afterwit write "用户从杭州搬到了上海" --valid-from 2025-03-01
      afterwit write "Use uv, not pip, in this repo." --kind constraint --scope project:atlas
      afterwit write - < notes.txt
      afterwit write --stdin --kind fact < statements.txt
    """
    if from_lines:
        if content:
            raise InvalidInput("Both CONTENT and --stdin were given.", next_step="Leave one of them out.")
        return _write_lines(session, given(fields))
    if not content:
        raise InvalidInput(
            "There is nothing to write.", next_step='Give a sentence, "-" to read a text, or --stdin to read lines.'
        )
    text = read_text(content, "content")
    with session.memory(embeds=True, asks=session.settings.llm_extract == "on" and not fields["kind"]) as memory:
        receipt = memory.write(text, **given(fields))  # pyright: ignore[reportArgumentType]
        session.answer(lambda: receipt_json(receipt), lambda: _told(memory, receipt))
    return 0


@click.command("update", short_help="Correct, confirm, refute, extend or restore. 更正记忆。")
@click.argument("memory_id", metavar="ID", type=TEXT)
@click.option("--content", type=TEXT, help="The right words; what was there stays as history.")
@click.option("--confirm", "verdicts", flag_value="confirm", multiple=True, help="It is right.")
@click.option("--refute", "verdicts", flag_value="refute", multiple=True, help="It is wrong; never recall it.")
@click.option("--restore", "verdicts", flag_value="restore", multiple=True, help="Recall it again.")
@click.option("--done", "verdicts", flag_value="done", multiple=True, help="An intent is carried out.")
@click.option("--dismiss", "verdicts", flag_value="dismiss", multiple=True, help="An intent is not wanted any more.")
@click.option("--kind", type=TEXT, help="preference, fact, constraint, decision, failure, lesson, rule or intent.")
@click.option("--subject", type=TEXT, help="Whom or what it is about.")
@click.option("--topic", type=TEXT, help="What about them.")
@click.option("--tag", "tags", type=TEXT, multiple=True, help="A tag; repeatable; replaces all tags.")
@click.option("--confidence", type=float, help="How sure, 0 to 1.")
@click.option("--valid-from", type=TEXT, metavar="TIME", help="From when it holds.")
@click.option("--expires-at", type=TEXT, metavar="TIME", help="Until when it holds.")
@click.option("--structured", type=JSON, metavar="JSON", help="More about it; replaces what was there.")
@click.option("--reason", type=TEXT, help="Why; kept in the history.")
@json_option
@pass_session
def update(session: Session, memory_id: str, verdicts: tuple[str, ...], **fields: Any) -> None:
    """Correct, confirm, refute, extend or restore a memory. The history keeps what was.

    更正、确认、否定、延长或恢复一条记忆；历史会保留。

    ID is a whole id or the last 8 or more characters of it.

    \b
    Examples:
      afterwit update 4f1c09ab77d2 --content "The user lives in Shanghai."
      afterwit update 4f1c09ab77d2 --confirm --reason "用户已确认"
      afterwit update 4f1c09ab77d2 --expires-at 2026-12-31
      afterwit update 4f1c09ab77d2 --done              # an intent; see afterwit intents
    """
    if len(verdicts) > 1:
        raise InvalidInput(
            "Several verdicts were given.", next_step=Sentence("Give one of {verdicts}.", verdicts=_VERDICTS)
        )
    if verdicts and fields.get("content") is not None:
        raise InvalidInput(
            Sentence("--content and --{verdict} do not go together.", verdict=verdicts[0]),
            next_step="Corrected words need no verdict; drop it.",
        )
    chosen = given(fields) | ({"verdict": verdicts[0]} if verdicts else {})
    if not set(chosen) - {"reason"}:
        raise InvalidInput(
            "Nothing to change was given.",
            next_step=Sentence("Give --content, a verdict ({verdicts}) or a field.", verdicts=_VERDICTS),
        )
    with session.memory(embeds=fields.get("content") is not None) as memory:
        receipt = memory.update(memory_id, **chosen)  # pyright: ignore[reportArgumentType]
        session.answer(lambda: receipt_json(receipt), lambda: _told(memory, receipt))


@click.command("forget", short_help="Keep out of recall, or erase for good. 遗忘或彻底抹除。")
@click.argument("memory_id", metavar="ID", type=TEXT)
@click.option("--erase", is_flag=True, help="Remove every trace of it for good.")
@click.option("--yes", is_flag=True, help="Erase without asking.")
@click.option("--reason", type=TEXT, help="Why; kept in the history.")
@json_option
@pass_session
def forget(session: Session, memory_id: str, erase: bool, yes: bool, reason: str | None) -> int:
    """Keep a memory out of recall, or erase it for good.

    默认只是不再召回，可用 update --restore 恢复；--erase 彻底抹除，无法撤销。

    ID is a whole id or the last 8 or more characters of it. Without --erase it can be restored
    with `afterwit update ID --restore`.

    \b
    Examples:
      afterwit forget 4f1c09ab77d2
      afterwit forget 4f1c09ab77d2 --erase --yes --reason "用户要求删除"
    """
    with session.memory() as memory:
        if erase and not yes and not _may_erase(session, memory.get(memory_id)):
            click.echo(tell("nothing_erased"), err=True)
            return 1
        receipt = memory.forget(memory_id, reason=reason or "", erase=erase)
        session.answer(lambda: receipt_json(receipt), lambda: _told(memory, receipt))
    return 0


def _may_erase(session: Session, memory: Memory) -> bool:
    if not session.may_ask():
        raise InvalidInput("Erasing cannot be undone.", next_step="Add --yes if that is meant.")
    return click.confirm(tell("ask_erase", summary=memory.summary), err=True)


def _told(memory: "Afterwit", receipt: Receipt) -> str:
    """A receipt for people: the sentence, and the memory as it was understood."""
    from afterwit.cli.prose import receipt_lines  # noqa: PLC0415 - prose brings the text layer along

    ids = {part.id for part in (receipt, *receipt.parts) if part.id and part.outcome is not Outcome.ERASED}
    known = {id: memory.get(id) for id in ids}
    return receipt_lines(receipt, known)


# --- many lines ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """What became of the lines of standard input, by line number."""

    receipts: dict[int, Receipt]
    #: malformed lines, of which nothing was stored
    refused: dict[int, InvalidInput]

    def counts(self) -> Counter[str]:
        """Number of lines by outcome."""
        counts = Counter(receipt.outcome.value for receipt in self.receipts.values())
        return counts + Counter(invalid_input=len(self.refused))


def _write_lines(session: Session, fields: dict[str, Any]) -> int:
    text = decode(sys.stdin.buffer.read(), "standard input")
    lines = [(number, line.rstrip("\r")) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise InvalidInput("Standard input holds no statement.", next_step="Pipe one statement per line.")
    written = Written({}, {})
    with session.memory(embeds=True) as memory, session.progress("write", len(lines)) as advance:
        for start in range(0, len(lines), BATCH):
            batch = lines[start : start + BATCH]
            _write_batch(memory, batch, fields, written)
            advance(len(batch))
    if len({str(error) for error in written.refused.values()}) == 1 and not written.receipts:
        raise next(iter(written.refused.values()))
    session.answer(lambda: _written_json(written), lambda: _written_prose(written, len(lines)))
    if not written.refused:
        return 0
    if not session.as_json:
        click.echo(tell("lines_refused", count=len(written.refused)), err=True)
    return ANSWERS[InvalidInput].exit


def _write_batch(memory: "Afterwit", batch: Sequence[tuple[int, str]], fields: Any, written: Written) -> None:
    """Write some lines at once; if one of them is malformed, one by one, so that it stops no other."""
    try:
        receipts = memory.write_many([(text, fields) for _, text in batch])
    except InvalidInput:
        for number, text in batch:
            try:
                written.receipts[number] = memory.write(text, **fields)
            except InvalidInput as error:
                written.refused[number] = error
    else:
        written.receipts.update((number, receipt) for (number, _), receipt in zip(batch, receipts, strict=True))


def _written_json(written: Written) -> dict[str, Any]:
    answers = {number: receipt_json(receipt) for number, receipt in written.receipts.items()}
    answers |= {
        number: error_json(error, said=lambda text: worded(text, "en")) for number, error in written.refused.items()
    }
    return {
        "counts": dict(written.counts()),
        "lines": [{"line": number} | answers[number] for number in sorted(answers)],
    }


def _how_to_confirm(receipt: Receipt) -> str:
    return tell("confirm_kept_aside").format(id=receipt.id) if receipt.outcome is Outcome.QUARANTINED else ""


def _written_prose(written: Written, lines: int) -> str:
    told = {number: reworded(error) for number, error in written.refused.items()}
    told |= {
        number: f"{receipt.message} {_how_to_confirm(receipt)}".rstrip()
        for number, receipt in written.receipts.items()
        if receipt.outcome in (Outcome.REJECTED, Outcome.QUARANTINED)
    }
    counts = ", ".join(f"{count} {outcome}" for outcome, count in written.counts().items())
    sentences = [tell("line_refused", line=number, message=told[number]) for number in sorted(told)]
    return "\n".join([*sentences, tell("lines_written", lines=lines, counts=counts)])
