"""Other names of the same thing: a question about k8s finds what is said of Kubernetes."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from afterwit.text import index_tokens

#: Names that mean the same, folded; each group is one thing.
Groups = tuple[tuple[str, ...], ...]

_ALIASES = Path(__file__).parent / "aliases.txt"


@lru_cache(maxsize=1)
def aliases() -> Groups:
    """What is generally known by several names: Kubernetes and k8s, 微信 and WeChat."""
    lines = _ALIASES.read_text(encoding="utf-8").splitlines()
    return tuple(tuple(line.split(" = ")) for line in lines if line and not line.startswith("#"))


@lru_cache(maxsize=8)
def _by_token(groups: Groups) -> Mapping[str, Sequence[tuple[frozenset[str], Sequence[frozenset[str]]]]]:
    """First token of a name -> the name's tokens, and those of the other names of the same thing."""
    found: dict[str, list[tuple[frozenset[str], Sequence[frozenset[str]]]]] = defaultdict(list)
    for group in groups:
        names = [frozenset(index_tokens(name)) for name in group]
        for name in filter(None, names):
            found[min(name)].append((name, [other for other in names if other != name]))
    return found


def spellings(tokens: Collection[str], groups: Groups | None = None) -> Mapping[str, Sequence[frozenset[str]]]:
    """Other ways to say what some words of a text say.

    Args:
        tokens: index tokens of the text.
        groups: names that mean the same; those of `aliases` unless said.

    Returns:
        token -> sets of tokens; a text that holds all of one set says the same as that token.
        Tokens without another name are left out.
    """
    present = set(tokens)
    known = _by_token(aliases() if groups is None else groups)
    found: dict[str, list[frozenset[str]]] = {}
    for token in sorted(present & known.keys()):
        for name, others in known[token]:
            if name <= present:
                for each in name:
                    found.setdefault(each, []).extend(others)
    return found
