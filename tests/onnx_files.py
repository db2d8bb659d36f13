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


def _node(kind: str, inputs: Sequence[str], output: str, attributes: bytes = b"") -> bytes:
    return _bytes(1, b"".join(_bytes(1, one) for one in inputs) + _bytes(2, output) + _bytes(4, kind) + attributes)


def _int_attribute(name: str, value: int) -> bytes:
    return _bytes(5, _bytes(1, name) + _number(3, value) + _number(20, 2))


def _tensor(name: str, shape: Sequence[int], values: Sequence[float], kind: int) -> bytes:
    packed = struct.pack(f"<{len(values)}{'f' if kind == _FLOAT else 'q'}", *values)
    return _bytes(
        5, b"".join(_number(1, one) for one in shape) + _number(2, kind) + _bytes(8, name) + _bytes(9, packed)
    )


def cross_encoder(rows: Sequence[Sequence[float]], *, bias: float = 0.0, labels: int = 1) -> bytes:
    """A model that reads a pair: it sums the table's rows over each side, and its logit is their product and a bias.

    Args:
        rows: the table, one row for each token.
        bias: added to the product.
        labels: numbers per pair; the product goes to the last one, the others are its negative.
    """
    width = len(rows[0])
    nodes = (
        _node("Gather", ("table", "input_ids"), "all"),
        _node("Cast", ("token_type_ids",), "second", _int_attribute("to", _FLOAT)),
        _node("Unsqueeze", ("second", "last"), "mask"),
        _node("Mul", ("all", "mask"), "masked"),
        _node("ReduceSum", ("masked", "middle"), "text", _int_attribute("keepdims", 0)),
        _node("ReduceSum", ("all", "middle"), "both", _int_attribute("keepdims", 0)),
        _node("Sub", ("both", "text"), "query"),
        _node("Mul", ("query", "text"), "products"),
        _node("ReduceSum", ("products", "middle"), "product", _int_attribute("keepdims", 1)),
        _node("Add", ("product", "bias"), "logit"),
        _node("Mul", ("logit", "signs"), "logits"),
    )
    constants = (
        _tensor("table", (len(rows), width), [value for row in rows for value in row], _FLOAT),
        _tensor("last", (1,), (2,), _INT64),
        _tensor("middle", (1,), (1,), _INT64),
        _tensor("bias", (1,), (bias,), _FLOAT),
        _tensor("signs", (labels,), [-1.0] * (labels - 1) + [1.0], _FLOAT),
    )
    inputs = b"".join(
        _bytes(11, _port(name, _INT64, ("batch", "sequence")))
        for name in ("input_ids", "attention_mask", "token_type_ids")
    )
    output = _bytes(12, _port("logits", _FLOAT, ("batch", "labels")))
    graph = b"".join(nodes) + _bytes(2, "pairs") + b"".join(constants) + inputs + output
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
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [{"Sequence": {"id": "A", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                "special_tokens": {},
            },
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
