"""What `afterwit doctor` says of a language model and a reranker."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.onnx_files import cross_encoder, tokenizer_json

from afterwit.cli import cli
from afterwit.clock import utc_now
from afterwit.storage import LLMUse, open_store


def checks(home: Path, *, exit_code: int = 0, **settings: str) -> dict[str, dict[str, str]]:
    """The doctor's findings about models, by name."""
    environ: dict[str, Any] = {f"AFTERWIT_{name.upper()}": value for name, value in settings.items()}
    place = {"HOME": str(home), "AFTERWIT_DATA_DIR": str(home / "data"), "AFTERWIT_EMBEDDER": "hash"}
    runner = CliRunner(env=place | environ)
    runner.invoke(cli, ["init"])
    result = runner.invoke(cli, ["doctor", "--json"])
    assert result.exit_code == exit_code, result.output
    found = json.loads(result.stdout)["checks"]
    return {check["name"]: check for check in found if check["name"].startswith(("language model", "reranker"))}


def test_nothing_is_said_where_there_is_none(tmp_path: Path) -> None:
    assert checks(tmp_path) == {}


def test_language_model_is_named_with_what_it_took_today_and_not_asked(tmp_path: Path) -> None:
    checks(tmp_path)
    store = open_store(f"sqlite:///{tmp_path / 'data' / 'memory.db'}")
    now = utc_now()
    for at in (now, now - timedelta(days=2)):
        store.record_usage("default", LLMUse(at, "review/1", "ollama:m", 1200, 34))
    store.close()
    found = checks(tmp_path, llm="ollama:m", reranker="llm")
    assert found["language model"]["message"] == "ollama:m, not asked now; 1,234 of 200,000 tokens used today"
    assert found["reranker"] == {"name": "reranker", "level": "ok", "message": "llm (ollama:m)"}


def test_reranker_is_tried(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(cross_encoder([[1.0]] * 4))
    (folder / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    assert checks(tmp_path, reranker=f"onnx:{folder}")["reranker"]["message"].startswith(f"onnx:{folder}, ")
    (folder / "model.onnx").write_bytes(b"none")
    found = checks(tmp_path, exit_code=1, reranker=f"onnx:{folder}")["reranker"]
    assert (found["level"], "cannot be loaded" in found["message"]) == ("fail", True)


def test_what_cannot_be_opened_is_a_finding_with_a_next_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (found,) = checks(tmp_path, exit_code=1, llm="openai:gpt-5-mini").values()
    assert (found["level"], "OPENAI_API_KEY" in found["next_step"]) == ("fail", True)
