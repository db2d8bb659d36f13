"""A second look at the best candidates of a search, for those who configure one: `Reranker` and `open_reranker`.

Importing this package loads no model and no provider's library.
"""

from afterwit.config import Settings
from afterwit.errors import ConfigError
from afterwit.llm import LLM
from afterwit.rerank.base import Reranker

__all__ = ["Reranker", "open_reranker"]


def open_reranker(settings: Settings, llm: LLM | None) -> Reranker | None:
    """Make the reranker that the settings name; does not load or connect yet.

    Args:
        settings: `reranker` says which.
        llm: the language model in use, for "llm".

    Returns:
        The reranker, or None for an empty `reranker`: then results stay in the order of their relevance.

    Raises:
        ConfigError: an unknown kind, a package or file that is missing, or "llm" without a language model.
    """
    kind, _, place = settings.reranker.partition(":")
    # Only who asks for one pays for the import of what it needs.
    match kind, place:
        case "", "":
            return None
        case "onnx", folder if folder:
            from afterwit.rerank.onnx import open_cross_encoder  # noqa: PLC0415

            return open_cross_encoder(folder)
        case "llm", "":
            if llm is None:
                raise ConfigError(
                    'reranker is "llm" but llm is empty.',
                    next_step="Name a language model in llm, or leave reranker empty.",
                )
            from afterwit.rerank.by_llm import LLMReranker  # noqa: PLC0415

            return LLMReranker(llm)
        case _:
            raise ConfigError(
                f"Unknown reranker {settings.reranker!r}.", next_step='Use "onnx:FOLDER" or "llm", or leave it empty.'
            )
