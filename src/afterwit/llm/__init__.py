"""Language models, for those who configure one: the `LLM` protocol, its providers and `open_llm`.

Nothing in Afterwit needs one. Importing this package loads no provider's library; the first question does.
"""

from afterwit.config import Settings
from afterwit.llm.base import LLM, Answer, Output, Usage

__all__ = ["LLM", "Answer", "Output", "Usage", "open_llm"]


def open_llm(settings: Settings) -> LLM | None:
    """Make the language model that the settings name; does not load or connect yet.

    Returns:
        The model, or None for an empty `llm`: then rules decide.

    Raises:
        ConfigError: an unknown provider, no key, a malformed URL, or the extra `llm` is not installed.
    """
    if not settings.llm:
        return None
    from afterwit.llm.providers import open_endpoint  # noqa: PLC0415 - only who asks for one pays for it

    return open_endpoint(settings)
