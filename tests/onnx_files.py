"""Small ONNX models written by hand, field by field of onnx.proto, so that no exporter is needed."""

import json
import struct
from collections.abc import Sequence
from pathlib import Path

_FLOAT, _INT64 = 1, 7


def _varint(number: int) -> bytes:
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes([*made, number])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(raw)) + raw


def _port(name: str, kind: int, dimensions: Sequence[str]) -> bytes:
    shape = b"".join(_bytes(1, _bytes(2, one)) for one in dimensions)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def look_up_model(
    rows: Sequence[Sequence[float]], *, input_name: str = "input_ids", extra_inputs: Sequence[str] = (), axis: int = 0
) -> bytes:
    """A model whose answer for each token is the table's row of that number.

    Args:
        rows: the table.
        input_name: of the token ids.
        extra_inputs: taken and not used.
        axis: along which it looks up; 1 gives an answer of a wrong shape.
    """
    flat = struct.pack(f"<{len(rows) * len(rows[0])}f", *(value for row in rows for value in row))
    table = _number(1, len(rows)) + _number(1, len(rows[0])) + _number(2, _FLOAT) + _bytes(8, "table") + _bytes(9, flat)
    attribute = _bytes(1, "axis") + _number(3, axis) + _number(20, 2)
    node = (_bytes(1, "table") + _bytes(1, input_name) + _bytes(2, "last_hidden_state") + _bytes(4, "Gather")) + _bytes(
        5, attribute
    )
    ports = b"".join(_bytes(11, _port(name, _INT64, ("batch", "sequence"))) for name in (input_name, *extra_inputs))
    output = _bytes(12, _port("last_hidden_state", _FLOAT, ("a", "b", "c")))
    graph = _bytes(1, node) + _bytes(2, "look-up") + _bytes(5, table) + ports + output
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 13))


#: Splits at blanks and knows these words.
WORDS = ("[UNK]", "apple", "pear", "plum")


def tokenizer_json() -> str:
    """A tokenizer of whole words without marks, in the form of the package `tokenizers`."""
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": {"type": "Lowercase"},
            "pre_tokenizer": {"type": "WhitespaceSplit"},
            "post_processor": None,
            "decoder": None,
            "model": {
                "type": "WordLevel",
                "vocab": {word: number for number, word in enumerate(WORDS)},
                "unk_token": "[UNK]",
            },
        }
    )


def write_model(folder: Path, graph: bytes, *, pooling: str = "", most_tokens: int = 0, prompt: str = "") -> Path:
    """Lay a model out as sentence-transformers does."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(graph)
    (folder / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    if pooling:
        (folder / "1_Pooling").mkdir()
        said = {"word_embedding_dimension": 2, "pooling_mode_mean_tokens": False, pooling: True}
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(said), encoding="utf-8")
    if most_tokens:
        said = {"max_seq_length": most_tokens}
        (folder / "sentence_bert_config.json").write_text(json.dumps(said), encoding="utf-8")
    if prompt:
        said = {"prompts": {"query": prompt}, "default_prompt_name": "query"}
        (folder / "config_sentence_transformers.json").write_text(json.dumps(said), encoding="utf-8")
    return folder
