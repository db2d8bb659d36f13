"""Folders that hold a model in ONNX form: what must be in them, and how it is opened."""

import importlib
import json
from pathlib import Path
from typing import Any, cast

from afterwit.errors import ConfigError

#: What runs such a model.
PACKAGES = ("onnxruntime", "tokenizers")

#: Where an export keeps its graph, the first that is there.
_GRAPHS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")


def find(directory: str, *, task: str) -> tuple[Path, Path, Path]:
    """The folder, its graph and its tokenizer; loads nothing.

    Args:
        directory: path of the folder.
        task: what the model must have been exported for, as exporters call it: "feature-extraction" (embedders) or
            "text-classification" (cross-encoders).

    Raises:
        ConfigError: no such folder, or a file is missing.
    """
    folder = Path(directory).expanduser()
    if not folder.is_dir():
        raise ConfigError(f"There is no folder {folder}.", next_step="Name the folder of the model: onnx:/path/to/it.")
    graph, tokenizer = _graph(folder, task), folder / "tokenizer.json"
    if not tokenizer.is_file():
        raise ConfigError(f"{folder} holds no tokenizer.json.", next_step=_export(folder, task))
    return folder, graph, tokenizer


def _graph(folder: Path, task: str) -> Path:
    for name in _GRAPHS:
        if (folder / name).is_file():
            return folder / name
    found = [*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")]
    if len(found) == 1:
        return found[0]
    said = f"{len(found)} files *.onnx and none called model.onnx" if found else "no model.onnx"
    raise ConfigError(f"{folder} holds {said}.", next_step=_export(folder, task))


def _export(folder: Path, task: str) -> str:
    """How such a folder is made of a model in another form."""
    return (
        "It must hold model.onnx (or onnx/model.onnx) and tokenizer.json. To make both: pip install "
        f"'optimum[onnxruntime]', then optimum-cli export onnx --model MODEL --task {task} {folder}"
    )


def read_settings(path: Path) -> dict[str, Any]:
    """A JSON object that a model's folder may hold; empty when it does not.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"Cannot read {path}: {error}.", next_step="Check or export the model anew.") from error
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def read_tokenizer(path: Path) -> Any:
    """The tokenizer of a folder, of the package `tokenizers`, which raises bare exceptions of its own making."""
    tokenizers: Any = importlib.import_module("tokenizers")
    return tokenizers.Tokenizer.from_file(str(path))


def open_session(graph: Path) -> Any:
    """A graph in memory, ready to run on one thread; raises whatever onnxruntime raises."""
    # An import of 0.2 s that belongs into the background.
    runtime: Any = importlib.import_module("onnxruntime")
    options = runtime.SessionOptions()
    # Its own pools spin while they wait, at the cost of everything else on the machine.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return runtime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
