"""Other names of the same thing: a question about k8s finds what is said of Kubernetes."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from afterwit.text import index_tokens
from afterwit.vocabulary import ALIASES

#: Names of one thing, each as the set of its index tokens.
Names = tuple[frozenset[str], ...]


@lru_cache(maxsize=4096)
def _tokens(name: str) -> frozenset[str]:
    return frozenset(index_tokens(name))


@lru_cache(maxsize=8)
def _known(groups: tuple[tuple[str, ...], ...]) -> tuple[Names, ...]:
    return tuple(tuple(_tokens(name) for name in group) for group in groups)


def spellings(
    tokens: Collection[str], groups: tuple[tuple[str, ...], ...] = ALIASES
) -> Mapping[str, Sequence[frozenset[str]]]:
    """Other ways to say what some words of a text say.

    Args:
        tokens: index tokens of the text.
        groups: names that mean the same, folded; each group is one thing.

    Returns:
        token -> sets of tokens; a text that holds all of one set says the same as that token.
        Tokens without another name are left out.
    """
    present = set(tokens)
    found: dict[str, list[frozenset[str]]] = {}
    for names in _known(groups):
        for name in names:
            if name and name <= present:
                for token in name:
                    found.setdefault(token, []).extend(other for other in names if other != name)
    return found
