"""Settings from defaults, file, environment and call."""

from dataclasses import fields
from pathlib import Path

import pytest

from afterwit.config import SETTINGS, Settings, load_settings
from afterwit.errors import ConfigError


def test_table_and_record_name_the_same_settings() -> None:
    assert {setting.name for setting in SETTINGS} == {field.name for field in fields(Settings)}
    assert len(SETTINGS) <= 30


def test_later_sources_win(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('top_k = 7\nport = 9000\nspace = "file"\n', encoding="utf-8")
    environ = {"AFTERWIT_DATA_DIR": str(tmp_path), "AFTERWIT_PORT": "9001", "AFTERWIT_SPACE": "environ"}
    settings = load_settings(environ=environ, overrides={"space": "call"})
    assert (settings.top_k, settings.port, settings.space) == (7, 9001, "call")
    assert settings.store == f"sqlite:///{tmp_path / 'memory.db'}"


def test_empty_variable_means_the_default() -> None:
    assert load_settings(environ={"AFTERWIT_TOP_K": ""}).top_k == 5


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("top_k", "many"),
        ("top_k", "0"),
        ("top_k", "51"),
        ("port", "70000"),
        ("embedder_timeout_s", "0"),
        ("log_level", "LOUD"),
        ("llm_extract", "yes"),
        ("space", " "),
        ("space", "a\tb"),
        ("space", "x" * 201),
        ("timezone", "Mars/Olympus"),
    ],
)
def test_impossible_value_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        load_settings(environ={f"AFTERWIT_{name.upper()}": value})


@pytest.mark.parametrize("words", ["colour = 1", "top_k = true", "not toml", 'top_k = "x"'])
def test_broken_file_is_refused(tmp_path: Path, words: str) -> None:
    (tmp_path / "config.toml").write_text(words, encoding="utf-8")
    with pytest.raises(ConfigError):
        load_settings(environ={"AFTERWIT_DATA_DIR": str(tmp_path)})


def test_data_directory_below_a_file_is_left_to_the_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    settings = load_settings(environ={}, overrides={"data_dir": str(tmp_path / "file" / "deeper")})
    assert isinstance(settings, Settings)
