"""Cross-encoders in ONNX form: a model in a folder of the user's own reads query and text together."""

import time
from collections.abc import Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterwit.embedding import onnx_files, packages
from afterwit.embedding.base import Background, prepare
from afterwit.errors import ProviderError

#: Tokens read of each pair when the model allows more.
_MOST_TOKENS = 512

#: Characters of each text that are tokenized: more than the tokens that are read.
_CHARACTERS = 4_000

#: Logits beyond this say no more.
_SURE = 30.0


@dataclass(frozen=True)
class CrossEncoder:
    """What it takes to run one model."""

    folder: Path
    graph: Path
    tokenizer: Path
    #: tokens read of a query with a text, marks included
    max_tokens: int


class OnnxReranker:
    """Reads one pair at a time on one thread: a few milliseconds each for a small model."""

    def __init__(self, model: CrossEncoder) -> None:
        """Nothing is loaded yet."""
        self._model = model
        self._loading: Background[_Loaded] | None = Background(self._load, finishes_before_exit=True)

    @property
    def name(self) -> str:
        """See `Reranker.name`."""
        return f"onnx:{self._model.folder}"

    def scores(self, query: str, texts: Sequence[str], *, deadline_s: float) -> NDArray[np.float64]:
        """See `Reranker.scores`; reads as many tokens of a pair as the model takes, 512 at most."""
        end = time.monotonic() + deadline_s
        loading = self._loading
        if loading is None:
            raise ProviderError("The reranker is closed.", next_step="Open a new one.")
        try:
            loaded = loading.start().result(deadline_s)
        except FutureTimeout:
            raise self._late("was not loaded", deadline_s) from None
        asked, found = prepare(query, characters=_CHARACTERS), np.empty(len(texts))
        for place, one in enumerate(texts):
            if time.monotonic() > end:
                raise self._late(f"had read {place} of {len(texts)} candidates", deadline_s)
            found[place] = loaded.score(asked, prepare(one, characters=_CHARACTERS))
        return found

    def warm(self) -> None:
        """See `Reranker.warm`."""
        if self._loading is not None:
            self._loading.start()

    def close(self) -> None:
        """See `Reranker.close`."""
        self._loading = None

    def _load(self) -> "_Loaded":
        try:
            return _Loaded(self._model)
        except ImportError as error:
            raise ProviderError(f"A package is incomplete: {error}.", next_step="Install onnxruntime anew.") from error

    def _late(self, what: str, deadline_s: float) -> ProviderError:
        return ProviderError(
            f"The reranker {what} within {deadline_s:g} s.",
            next_step="Use a smaller model, or raise reranker_timeout_s.",
            reason="timeout",
        )


class _Loaded:
    """A model in memory."""

    def __init__(self, model: CrossEncoder) -> None:
        self._name = model.folder.name
        try:
            self._tokenizer = onnx_files.read_tokenizer(model.tokenizer)
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(model.max_tokens)
            self._session = onnx_files.open_session(model.graph)
        except ImportError:
            raise
        except Exception as error:
            # Both packages raise bare exceptions of their own making.
            raise self._error(f"cannot be loaded: {error}") from error
        self._inputs = [one.name for one in self._session.get_inputs()]
        unknown = set(self._inputs) - {"input_ids", "attention_mask", "token_type_ids"}
        if unknown or "input_ids" not in self._inputs:
            raise self._error(f"takes {', '.join(self._inputs)}, not token ids")
        outputs = [one.name for one in self._session.get_outputs()]
        self._output = "logits" if "logits" in outputs else outputs[0]
        self.score("memory", "memory")

    def score(self, query: str, text: str) -> float:
        """How likely the text answers the query, 0..1."""
        pair = self._tokenizer.encode(query, text)
        given = {"input_ids": pair.ids, "attention_mask": [1] * len(pair.ids), "token_type_ids": pair.type_ids}
        feed = {name: np.array([given[name]], dtype=np.int64) for name in self._inputs}
        try:
            found: Any = self._session.run([self._output], feed)[0]
            logits = np.asarray(found, dtype=np.float64).ravel()
        except Exception as error:
            raise self._error(f"fails: {error}") from error
        if logits.size not in (1, 2) or np.shape(found)[0] != 1 or not np.isfinite(logits).all():
            raise self._error(f"gave an array of shape {np.shape(found)}, not one finite score for a pair")
        # Two classes are "does not answer" and "answers".
        logit = float(logits[0] if logits.size == 1 else logits[1] - logits[0])
        return float(1.0 / (1.0 + np.exp(-np.clip(logit, -_SURE, _SURE))))

    def _error(self, what: str) -> ProviderError:
        return ProviderError(
            f"The reranker {self._name} {what}.",
            next_step="Export a cross-encoder with one label: optimum-cli export onnx --task text-classification.",
            reason="model",
        )


def open_cross_encoder(directory: str) -> OnnxReranker:
    """Find a model in a folder that holds model.onnx (or onnx/model.onnx) and tokenizer.json; loads nothing.

    Raises:
        ConfigError: no such folder, a file is missing, or a package is.
    """
    packages.require(
        onnx_files.PACKAGES, value=f"onnx:{directory}", install="afterwit[onnx]", setting="reranker", otherwise=""
    )
    folder, graph, tokenizer = onnx_files.find(directory, task="text-classification")
    said = onnx_files.read_settings(folder / "tokenizer_config.json").get("model_max_length")
    most = min(said, _MOST_TOKENS) if isinstance(said, int) and said > 8 else _MOST_TOKENS
    return OnnxReranker(CrossEncoder(folder, graph, tokenizer, most))
