"""The tables, for every SQL engine. Times are integer microseconds (`_us`), JSON is text.

A memory's key inside the database is `row`: the space's number times 2**32 plus the memory's own
number in that space, so that the rows of one space lie side by side.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

#: Memories that one space can hold over its life.
ROWS_PER_SPACE = 2**32
#: Longest id, in ASCII characters.
ID_LENGTH = 36
#: Longest name of a space, scope, role, subject, topic, tag or model, in characters.
NAME_LENGTH = 255

#: 64 bits everywhere; in SQLite only the type name INTEGER makes a primary key the row id.
_BIG = BigInteger().with_variant(Integer(), "sqlite")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

space = Table(
    "space",
    metadata,
    Column("id", _BIG, primary_key=True, autoincrement=True),
    Column("name", String(NAME_LENGTH), nullable=False, unique=True),
    # counts changes of what can be searched; caches follow it
    Column("change_seq", _BIG, nullable=False, default=0),
    # last sequence number of the history
    Column("event_seq", _BIG, nullable=False, default=0),
    # number that the next memory gets
    Column("next_number", _BIG, nullable=False, default=1),
)

memory = Table(
    "memory",
    metadata,
    Column("row", _BIG, primary_key=True, autoincrement=False),
    Column("space_id", _BIG, ForeignKey("space.id"), nullable=False),
    Column("id", String(ID_LENGTH), nullable=False),
    Column("changed_seq", _BIG, nullable=False),
    Column("scope", String(NAME_LENGTH), nullable=False),
    Column("role", String(NAME_LENGTH), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("subject", String(NAME_LENGTH), nullable=False),
    Column("topic", String(NAME_LENGTH), nullable=False),
    Column("tags", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("standing", String(16), nullable=False),
    Column("trust", SmallInteger, nullable=False),
    Column("happened_us", _BIG, nullable=False),
    Column("recorded_us", _BIG, nullable=False),
    Column("valid_from_us", _BIG),
    Column("valid_to_us", _BIG),
    Column("valid_to_believed_us", _BIG),
    Column("retired_us", _BIG),
    Column("basis", String(16), nullable=False),
    Column("confidence", Double, nullable=False),
    Column("source_kind", String(NAME_LENGTH), nullable=False),
    Column("source_ref", Text, nullable=False),
    Column("superseded_by", String(ID_LENGTH), nullable=False),
    Column("supporters", Text, nullable=False),
    Column("last_validated_us", _BIG),
    Column("last_used_us", _BIG),
    Column("use_count", Integer, nullable=False),
    Column("helped", Double, nullable=False),
    Column("harmed", Double, nullable=False),
    Column("applies", Text, nullable=False),
    Column("structured", Text, nullable=False),
    Column("summary", Text, nullable=False),
    # `text.statement_key` of the summary
    Column("statement_key", String(32), nullable=False),
    Column("raw", Text, nullable=False),
    UniqueConstraint("space_id", "id"),
    Index(None, "space_id", "changed_seq"),
    # with the id, so that paging through a whole space never leaves the index
    Index(None, "space_id", "recorded_us", "id"),
    Index(None, "space_id", "status", "recorded_us"),
    Index(None, "space_id", "status", "happened_us"),
    Index(None, "space_id", "subject", "topic"),
    Index(None, "space_id", "statement_key"),
)

memory_tag = Table(
    "memory_tag",
    metadata,
    Column("row", _BIG, ForeignKey("memory.row", ondelete="CASCADE"), primary_key=True),
    Column("tag", String(NAME_LENGTH), primary_key=True),
)

#: What remains of an erased memory, so that other processes drop it from their caches.
tombstone = Table(
    "tombstone",
    metadata,
    Column("row", _BIG, primary_key=True, autoincrement=False),
    Column("space_id", _BIG, ForeignKey("space.id"), nullable=False),
    Column("changed_seq", _BIG, nullable=False),
    Index(None, "space_id", "changed_seq"),
)

model = Table(
    "model",
    metadata,
    Column("id", _BIG, primary_key=True, autoincrement=True),
    Column("name", String(NAME_LENGTH), nullable=False, unique=True),
    Column("dimensions", Integer, nullable=False),
)

vector = Table(
    "vector",
    metadata,
    Column("model_id", _BIG, ForeignKey("model.id"), primary_key=True),
    Column("row", _BIG, ForeignKey("memory.row", ondelete="CASCADE"), primary_key=True),
    # little-endian float16
    Column("data", LargeBinary(65_535), nullable=False),
    Index(None, "row"),
)

#: What the word index is made from: each memory's tokens in order, joined by single spaces, in the
#: form in which the engine indexes them.
word = Table(
    "word",
    metadata,
    Column("row", _BIG, ForeignKey("memory.row"), primary_key=True, autoincrement=False),
    # number of tokens
    Column("length", Integer, nullable=False),
    Column("tokens", Text, nullable=False),
)

link = Table(
    "link",
    metadata,
    Column("space_id", _BIG, ForeignKey("space.id"), primary_key=True),
    Column("source_id", String(ID_LENGTH), primary_key=True),
    Column("type", String(16), primary_key=True),
    Column("target_id", String(NAME_LENGTH), primary_key=True),
    Column("created_us", _BIG, nullable=False),
    Column("note", Text, nullable=False),
    Index(None, "space_id", "target_id"),
)

#: Other names of entities. `name` may be an alias itself: chains are followed by readers.
alias = Table(
    "alias",
    metadata,
    Column("space_id", _BIG, ForeignKey("space.id"), primary_key=True),
    Column("alias", String(NAME_LENGTH), primary_key=True),
    Column("name", String(NAME_LENGTH), nullable=False),
    # "given" or "learned"
    Column("source", String(16), nullable=False),
    # the memory that it was learned from, or empty
    Column("memory_id", String(ID_LENGTH), nullable=False),
    Column("since_us", _BIG, nullable=False),
)

use = Table(
    "use",
    metadata,
    Column("space_id", _BIG, ForeignKey("space.id"), primary_key=True),
    Column("id", String(ID_LENGTH), primary_key=True),
    Column("memory_id", String(ID_LENGTH), nullable=False),
    Column("used_us", _BIG, nullable=False),
    Column("task_id", String(ID_LENGTH), nullable=False),
    Column("cited", Boolean, nullable=False),
    Column("withheld", Boolean, nullable=False, server_default=false()),
    Column("credit", Double, nullable=False, server_default="0"),
    Index(None, "space_id", "memory_id", "used_us"),
    Index(None, "space_id", "task_id"),
)

task = Table(
    "task",
    metadata,
    Column("space_id", _BIG, ForeignKey("space.id"), primary_key=True),
    Column("id", String(ID_LENGTH), primary_key=True),
    Column("goal", Text, nullable=False),
    Column("started_us", _BIG, nullable=False),
    Column("scope", String(NAME_LENGTH), nullable=False),
    Column("role", String(NAME_LENGTH), nullable=False),
    Column("constraints", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("outcome", Text, nullable=False),
    Column("ended_us", _BIG),
    Column("session", String(NAME_LENGTH), nullable=False, server_default=""),
    Column("environment", Text, nullable=False, server_default="{}"),
    Column("step_limit", Integer, nullable=False, server_default="500"),
    Column("deadline_us", _BIG),
    Column("reviewed_us", _BIG),
    Column("review_error", Text, nullable=False, server_default=""),
    Index(None, "space_id", "status", "started_us"),
)

step = Table(
    "step",
    metadata,
    Column("space_id", _BIG, ForeignKey("space.id"), primary_key=True),
    Column("task_id", String(ID_LENGTH), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("id", String(ID_LENGTH), nullable=False),
    Column("action", String(NAME_LENGTH), nullable=False),
    Column("happened_us", _BIG, nullable=False),
    Column("input", Text, nullable=False),
    Column("output", Text, nullable=False),
    Column("rationale", Text, nullable=False),
    Column("ok", Boolean),
    UniqueConstraint("space_id", "id"),
)

event = Table(
    "event",
    metadata,
    Column("space_id", _BIG, ForeignKey("space.id"), primary_key=True),
    Column("sequence", _BIG, primary_key=True),
    Column("action", String(32), nullable=False),
    Column("memory_id", String(ID_LENGTH), nullable=False),
    Column("at_us", _BIG, nullable=False),
    Column("actor", String(NAME_LENGTH), nullable=False),
    Column("detail", Text, nullable=False),
    Index(None, "space_id", "memory_id", "sequence"),
)

#: Calls of a language model.
llm_usage = Table(
    "llm_usage",
    metadata,
    Column("id", _BIG, primary_key=True, autoincrement=True),
    Column("space_id", _BIG, ForeignKey("space.id"), nullable=False),
    Column("at_us", _BIG, nullable=False),
    # name and version of the prompt
    Column("purpose", String(NAME_LENGTH), nullable=False),
    Column("model", String(NAME_LENGTH), nullable=False),
    Column("input_tokens", Integer, nullable=False),
    Column("output_tokens", Integer, nullable=False),
    Column("ok", Boolean, nullable=False),
    # one word; empty when it went well
    Column("error", String(64), nullable=False),
    Index(None, "space_id", "at_us"),
)

#: Facts about the file itself: "erase_pending" while freed pages may still hold erased text.
flag = Table(
    "flag",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)
