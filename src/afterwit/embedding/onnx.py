"""Sentence-embedding models in ONNX form: a folder of the user's own, or one that a package ships."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, assert_never, cast

import numpy as np
from numpy.typing import NDArray

from afterwit.embedding import onnx_files, packages
from afterwit.embedding.base import PREPARATION, Background, prepare
from afterwit.errors import ConfigError, ProviderError

Pooling = Literal["mean", "cls", "last"]

#: Tokens read of each text when the model allows more. Memories are one or two sentences.
_MOST_TOKENS = 512

#: Characters tokenized for each token that is read.
_CHARACTERS_PER_TOKEN = 16


@dataclass(frozen=True)
class OnnxModel:
    """What it takes to run one model."""

    #: for messages and the id
    name: str
    graph: Path
    #: files whose content changes the vectors
    files: tuple[Path, ...]
    #: makes the tokenizer, of the package `tokenizers`
    tokenizer: Callable[[], Any]
    pooling: Pooling = "mean"
    #: tokens read of each text, marks included
    max_tokens: int = _MOST_TOKENS
    #: put before every text
    prompt: str = ""


class OnnxEmbedder:
    """Runs one text at a time on one thread.

    Alone, because the common int8 exports scale their sums by the largest number of the whole batch:
    a text's vector would change with its neighbours.
    """

    def __init__(self, model: OnnxModel) -> None:
        """Nothing is loaded yet."""
        self._model = model
        self._loading: Background[_Loaded] | None = Background(self._load, finishes_before_exit=True)

    @property
    def model(self) -> str:
        """See `Embedder.model`; reads the files once to tell their digest."""
        model = self._model
        reading = f"{model.pooling}-{model.max_tokens}" + (f"-{model.prompt}" if model.prompt else "")
        return f"{model.name}/{packages.digest(model.files)}/{reading}/{PREPARATION}"

    @property
    def dimensions(self) -> int:
        """See `Embedder.dimensions`; loads the model."""
        return self._loaded().dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`; reads the first `max_tokens` tokens of each text."""
        loaded = self._loaded()
        rows = np.empty((len(texts), loaded.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = loaded.vector(self._prepared(text))
        return rows

    def warm(self) -> None:
        """See `Embedder.warm`."""
        if self._loading is not None:
            self._loading.start()

    def close(self) -> None:
        """See `Embedder.close`."""
        self._loading = None

    def _prepared(self, text: str) -> str:
        model = self._model
        return model.prompt + prepare(text, characters=model.max_tokens * _CHARACTERS_PER_TOKEN)

    def _loaded(self) -> "_Loaded":
        loading = self._loading
        if loading is None:
            raise ProviderError("The embedder is closed.", next_step="Open a new one.")
        return loading.result()

    def _load(self) -> "_Loaded":
        try:
            return _Loaded(self._model, probe=self._prepared("memory"))
        except ImportError as error:
            raise ProviderError(f"A package is incomplete: {error}.", next_step="Install onnxruntime anew.") from error


class _Loaded:
    """A model in memory."""

    def __init__(self, model: OnnxModel, *, probe: str) -> None:
        self._name = model.name
        self._pooling: Pooling = model.pooling
        try:
            tokenizer = model.tokenizer()
            tokenizer.no_padding()
            tokenizer.enable_truncation(model.max_tokens)
            session = onnx_files.open_session(model.graph)
        except ImportError:
            raise
        except Exception as error:
            # Both packages raise bare exceptions of their own making.
            raise self._error(f"cannot be loaded: {error}", "Check or export its files anew.") from error
        self._tokenizer, self._session = tokenizer, session
        self._inputs = [one.name for one in session.get_inputs()]
        unknown = set(self._inputs) - {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
        if unknown or "input_ids" not in self._inputs:
            raise self._error(
                f"takes {', '.join(self._inputs)}, not token ids", "Export a model for the task feature-extraction."
            )
        outputs = [one.name for one in session.get_outputs()]
        self._output = "sentence_embedding" if "sentence_embedding" in outputs else outputs[0]
        self.dimensions = len(self.vector(probe))

    def vector(self, text: str) -> NDArray[np.float32]:
        """Unit vector of a text: shape (dimensions,)."""
        encoding = self._tokenizer.encode(text)
        ids: list[int] = encoding.ids or [0]
        given = {
            "input_ids": ids,
            "attention_mask": [1] * len(ids),
            "token_type_ids": [0] * len(ids),
            "position_ids": list(range(len(ids))),
        }
        feed = {name: np.array([given[name]], dtype=np.int64) for name in self._inputs}
        try:
            found = np.asarray(self._session.run([self._output], feed)[0], dtype=np.float64)
        except Exception as error:
            raise self._error(f"fails: {error}", "Check or export its files anew.") from error
        pooled = self._pool(found, len(ids))
        length = float(np.linalg.norm(pooled))
        if not np.isfinite(length) or length < 1e-12:
            raise self._error("gave a vector without length", "Check or export its files anew.")
        return (pooled / length).astype(np.float32)

    def _pool(self, found: NDArray[np.float64], tokens: int) -> NDArray[np.float64]:
        if found.ndim == 2 and found.shape[0] == 1 and found.shape[1] > 0:
            return found[0]
        if found.ndim == 3 and found.shape[:2] == (1, tokens) and found.shape[2] > 0:
            match self._pooling:
                case "mean":
                    return found[0].mean(axis=0)
                case "cls":
                    return found[0, 0]
                case "last":
                    return found[0, -1]
                case _:
                    assert_never(self._pooling)
        raise self._error(
            f"gave an array of shape {found.shape} for {tokens} tokens", "Export a model for feature-extraction."
        )

    def _error(self, what: str, next_step: str) -> ProviderError:
        return ProviderError(f"The model {self._name} {what}.", next_step=next_step)


def open_onnx(directory: str) -> OnnxEmbedder:
    """Find a model in a folder that is laid out as sentence-transformers models are; loads nothing.

    Raises:
        ConfigError: no such folder, a file is missing, or a package is.
    """
    packages.require(onnx_files.PACKAGES, value=f"onnx:{directory}", install="afterwit[onnx]")
    folder, graph, tokenizer = onnx_files.find(directory, task="feature-extraction")
    settings = [folder / name for name in _SETTINGS if (folder / name).is_file()]
    # Large models keep their weights beside the graph.
    beside = [path for path in graph.parent.iterdir() if path.name.startswith(graph.name) and path.is_file()]
    return OnnxEmbedder(
        OnnxModel(
            f"onnx-{folder.resolve().name}",
            graph,
            (*beside, tokenizer, *settings),
            lambda: onnx_files.read_tokenizer(tokenizer),
            _pooling(folder),
            _max_tokens(folder),
            _prompt(folder),
        )
    )


_SETTINGS = ("1_Pooling/config.json", "config_sentence_transformers.json", "sentence_bert_config.json")


def _pooling(folder: Path) -> Pooling:
    """How token vectors become one, as the model's folder says; the mean when it says nothing.

    Raises:
        ConfigError: a way that is not offered, such as the maximum.
    """
    said = onnx_files.read_settings(folder / "1_Pooling" / "config.json")
    chosen = {name for name, value in said.items() if name.startswith("pooling_mode_") and value is True}
    match sorted(chosen):
        case [] | ["pooling_mode_mean_tokens"]:
            return "mean"
        case ["pooling_mode_cls_token"]:
            return "cls"
        case ["pooling_mode_lasttoken"]:
            return "last"
        case others:
            raise ConfigError(
                f"{folder} pools by {', '.join(others)}.", next_step="Use a model that pools by mean, cls or lasttoken."
            )


def _max_tokens(folder: Path) -> int:
    said = onnx_files.read_settings(folder / "sentence_bert_config.json").get("max_seq_length")
    return min(said, _MOST_TOKENS) if isinstance(said, int) and said > 2 else _MOST_TOKENS


def _prompt(folder: Path) -> str:
    said = onnx_files.read_settings(folder / "config_sentence_transformers.json")
    prompts, name = said.get("prompts"), said.get("default_prompt_name")
    return str(cast("dict[str, Any]", prompts).get(str(name), "")) if isinstance(prompts, dict) else ""
