"""Is someone or something named in a text?"""

import re

from afterwit.text.tokens import CJK

_WORD = re.compile(rf"(?![{CJK}])[^\W_]")


def mentions(folded: str, name: str) -> bool:
    """Whether a folded text names somebody or something.

    Args:
        folded: the text as `fold` returns it.
        name: a folded name; a prefix as in "project:atlas" is not needed in the text.

    Returns:
        True when the name stands in the text as words of its own ("Ann" is not in "planning"); Chinese names
        need no boundary.
    """
    word = name.rpartition(":")[2]
    place = folded.find(word) if word else -1
    while place >= 0:
        before, after = folded[place - 1 : place], folded[place + len(word) : place + len(word) + 1]
        if not (_joined(before, word[0]) or _joined(word[-1], after)):
            return True
        place = folded.find(word, place + 1)
    return False


def _joined(left: str, right: str) -> bool:
    return bool(left and right and _WORD.match(left) and _WORD.match(right))
