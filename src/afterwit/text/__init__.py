"""Text in Chinese and English: index tokens, sameness of meaning, size. Pure functions; stored text never changes."""

from afterwit.text.limits import check_text
from afterwit.text.tokens import fold, index_tokens, query_tokens

__all__ = [
    "check_text",
    "fold",
    "index_tokens",
    "query_tokens",
]
