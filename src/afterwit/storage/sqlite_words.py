"""The word index of the embedded engine: FTS5 over our own tokens.

Every token carries its space's number in front, so that words of other spaces are other words.
FTS5 keeps the postings; scores are computed in `cache.py`, because FTS5's own bm25() knows only
the statistics of the whole file.
"""

import re
from collections.abc import Sequence

from sqlalchemy import Connection

from afterwit.storage.sqlite_files import driver

# The "ascii" tokenizer takes every character beyond ASCII as part of a word and folds only A to Z,
# so that what is indexed is exactly the tokens it is given. It is told the same of ASCII punctuation.
_TOKEN_CHARACTERS = "".join(chr(code) for code in range(0x21, 0x7F) if not chr(code).isalnum() and chr(code) != '"')
_UNFIT = re.compile(r'[\x00-\x20\x7f"]')

#: SQL that makes the index, on top of the tables.
CREATE_WORD_INDEX: tuple[str, ...] = (
    "CREATE VIRTUAL TABLE word_index USING fts5(tokens, content='word', content_rowid='row', columnsize=0, "
    f"""tokenize="ascii tokenchars '{_TOKEN_CHARACTERS.replace("'", "''")}'")""",
    "CREATE VIRTUAL TABLE word_instance USING fts5vocab('word_index', 'instance')",
)


def prefix(space_id: int) -> str:
    """What stands before every token of a space."""
    return f"{space_id:x}|"


def prefixed(space_id: int, tokens: Sequence[str]) -> list[str]:
    """The tokens as they are indexed; those that no index can hold are left out."""
    before = prefix(space_id)
    return [before + token for token in tokens if token and not _UNFIT.search(token)]


class SqliteWords:
    """Keeps FTS5 in step with the `word` table. FTS5 needs the old tokens to take them out."""

    def __init__(self, space_id: int) -> None:
        self._space_id = space_id

    def put_words(self, connection: Connection, row: int, tokens: Sequence[str]) -> None:
        """Index the tokens of a row, in place of what was there."""
        self.drop_words(connection, row)
        self.add_words(connection, row, tokens)

    def add_words(self, connection: Connection, row: int, tokens: Sequence[str]) -> None:
        """Index the tokens of a new row."""
        fit = prefixed(self._space_id, tokens)
        text = " ".join(fit)
        direct = driver(connection)
        direct.execute("INSERT INTO word(row, length, tokens) VALUES (?, ?, ?)", (row, len(fit), text))
        direct.execute("INSERT INTO word_index(rowid, tokens) VALUES (?, ?)", (row, text))

    def drop_words(self, connection: Connection, row: int) -> None:
        """Forget a row."""
        old = connection.exec_driver_sql("SELECT tokens FROM word WHERE row = ?", (row,)).scalar()
        if old is not None:
            connection.exec_driver_sql(
                "INSERT INTO word_index(word_index, rowid, tokens) VALUES ('delete', ?, ?)", (row, old)
            )
            connection.exec_driver_sql("DELETE FROM word WHERE row = ?", (row,))


def merge(connection: Connection) -> None:
    """Rewrite the index as one piece: the only way in which FTS5 lets go of removed words."""
    connection.exec_driver_sql("INSERT INTO word_index(word_index) VALUES ('optimize')")
