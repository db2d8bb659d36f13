"""What becomes of trust when the same is said by somebody else, through every way in that merges."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from afterwit.config import load_settings
from afterwit.embedding import HashEmbedder
from afterwit.records import Basis, Memory, Outcome, Standing, Trust
from afterwit.service import Afterwit, Writer
from afterwit.storage import open_store
from afterwit.testing import FixedClock

LINE = "Deploys of the gateway go out on Mondays."


@pytest.fixture
def memory() -> Iterator[Afterwit]:
    settings = load_settings(environ={}, overrides={"timezone": "UTC"})
    with Afterwit(open_store("sqlite://"), HashEmbedder(), settings=settings, clock=FixedClock()) as made:
        yield made


def by(memory: Afterwit, trust: Trust) -> Afterwit:
    return memory.as_writer(Writer(trust.name.lower(), trust, f"of {trust.name}"))


def only(memory: Afterwit) -> Memory:
    (row,) = memory.list(all_states=True)
    return row


@pytest.mark.parametrize("first", [Trust.EXTERNAL, Trust.AGENT, Trust.USER])
@pytest.mark.parametrize("second", [Trust.EXTERNAL, Trust.AGENT, Trust.USER])
def test_a_repeated_statement_is_trusted_as_its_first_writer_unless_a_user_repeats_it(
    memory: Afterwit, first: Trust, second: Trust
) -> None:
    by(memory, first).write(LINE, kind="fact")
    assert only(memory).trust is first
    written = memory.as_writer(Writer("another", second, "another session")).write(LINE, kind="fact")
    assert written.outcome is Outcome.MERGED
    assert only(memory).trust is (Trust.USER if Trust.USER in (first, second) else first)
    assert only(memory).support == 2


def test_an_agent_does_not_vouch_for_a_document_by_repeating_it(memory: Afterwit, tmp_path: Path) -> None:
    (tmp_path / "deploy.md").write_text(f"{LINE}\n", encoding="utf-8")
    memory.import_knowledge([tmp_path])
    assert (only(memory).trust, only(memory).basis) == (Trust.EXTERNAL, Basis.IMPORTED)
    by(memory, Trust.AGENT).write(LINE, kind="fact")
    assert (only(memory).trust, only(memory).standing) == (Trust.EXTERNAL, Standing.PENDING)
    by(memory, Trust.USER).write(LINE, kind="fact")
    assert (only(memory).trust, only(memory).standing) == (Trust.USER, Standing.CONFIRMED)


def test_a_review_does_not_vouch_for_a_document_by_finding_the_same(memory: Afterwit, tmp_path: Path) -> None:
    rule = "Always run the migrations before you deploy the gateway."
    (tmp_path / "deploy.md").write_text(f"{rule}\n", encoding="utf-8")
    memory.import_knowledge([tmp_path])
    seen = by(memory, Trust.AGENT)
    seen.start_task("Deploy the gateway")
    seen.log_steps([{"action": "user", "input": rule}, {"action": "bash", "input": "make deploy", "ok": True}])
    seen.finish_task(outcome="success")
    kept = only(memory)
    assert (kept.summary, kept.trust) == (rule, Trust.EXTERNAL)
    assert kept.support == 2, "the review found it, too"
