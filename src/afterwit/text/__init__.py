"""Text in Chinese and English: index tokens, sameness of meaning, size. Pure functions; stored text never changes."""

from afterwit.text.limits import check_text, sentences
from afterwit.text.names import mentions
from afterwit.text.polarity import is_negated
from afterwit.text.sameness import content_words, language, same_statement, statement_key
from afterwit.text.secrets import REDACTED, redact_secrets
from afterwit.text.size import count_tokens, truncate
from afterwit.text.terms import hard_terms
from afterwit.text.tokens import fold, index_tokens, query_runs, query_tokens

__all__ = [
    "REDACTED",
    "check_text",
    "content_words",
    "count_tokens",
    "fold",
    "hard_terms",
    "index_tokens",
    "is_negated",
    "language",
    "mentions",
    "query_runs",
    "query_tokens",
    "redact_secrets",
    "same_statement",
    "sentences",
    "statement_key",
    "truncate",
]
