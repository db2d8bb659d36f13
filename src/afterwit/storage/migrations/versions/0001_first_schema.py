"""The first schema."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_DOUBLE: sa.Double[Any] = sa.Double()
_SQLITE_ONLY = (
    "CREATE VIRTUAL TABLE word_index USING fts5(tokens, content='word', content_rowid='row', columnsize=0, "
    "tokenize=\"ascii tokenchars '!#$%&''()*+,-./:;<=>?@[\\]^_`{|}~'\")",
    "CREATE VIRTUAL TABLE word_instance USING fts5vocab('word_index', 'instance')",
    "ANALYZE flag",
)
_SELECTIVITY = {
    "sqlite_autoindex_memory_1": "100000 100000 1",
    "ix_memory_space_id_changed_seq": "100000 100000 2",
    "ix_memory_space_id_recorded_us_id": "100000 100000 2 1",
    "ix_memory_space_id_status_recorded_us": "100000 100000 50000 2",
    "ix_memory_space_id_status_happened_us": "100000 100000 50000 2",
    "ix_memory_space_id_subject_topic": "100000 100000 200 5",
    "ix_memory_space_id_statement_key": "100000 100000 1",
}


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "flag",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_flag")),
    )
    op.create_table(
        "model",
        sa.Column("id", _BIG, autoincrement=True, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("dimensions", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model")),
        sa.UniqueConstraint("name", name=op.f("uq_model_name")),
    )
    op.create_table(
        "space",
        sa.Column("id", _BIG, autoincrement=True, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("change_seq", _BIG, nullable=False),
        sa.Column("event_seq", _BIG, nullable=False),
        sa.Column("next_number", _BIG, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_space")),
        sa.UniqueConstraint("name", name=op.f("uq_space_name")),
    )
    op.create_table(
        "event",
        sa.Column("space_id", _BIG, nullable=False),
        sa.Column("sequence", _BIG, nullable=False),
        sa.Column("action", sa.String(length=32), nullable=False),
        sa.Column("memory_id", sa.String(length=36), nullable=False),
        sa.Column("at_us", _BIG, nullable=False),
        sa.Column("actor", sa.String(length=255), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["space.id"], name=op.f("fk_event_space_id_space")),
        sa.PrimaryKeyConstraint("space_id", "sequence", name=op.f("pk_event")),
    )
    op.create_index(op.f("ix_event_space_id_memory_id_sequence"), "event", ["space_id", "memory_id", "sequence"])
    op.create_table(
        "link",
        sa.Column("space_id", _BIG, nullable=False),
        sa.Column("source_id", sa.String(length=36), nullable=False),
        sa.Column("type", sa.String(length=16), nullable=False),
        sa.Column("target_id", sa.String(length=255), nullable=False),
        sa.Column("created_us", _BIG, nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["space.id"], name=op.f("fk_link_space_id_space")),
        sa.PrimaryKeyConstraint("space_id", "source_id", "type", "target_id", name=op.f("pk_link")),
    )
    op.create_index(op.f("ix_link_space_id_target_id"), "link", ["space_id", "target_id"])
    op.create_table(
        "memory",
        sa.Column("row", _BIG, autoincrement=False, nullable=False),
        sa.Column("space_id", _BIG, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("changed_seq", _BIG, nullable=False),
        sa.Column("scope", sa.String(length=255), nullable=False),
        sa.Column("role", sa.String(length=255), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("topic", sa.String(length=255), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("standing", sa.String(length=16), nullable=False),
        sa.Column("trust", sa.SmallInteger(), nullable=False),
        sa.Column("happened_us", _BIG, nullable=False),
        sa.Column("recorded_us", _BIG, nullable=False),
        sa.Column("valid_from_us", _BIG, nullable=True),
        sa.Column("valid_to_us", _BIG, nullable=True),
        sa.Column("valid_to_believed_us", _BIG, nullable=True),
        sa.Column("retired_us", _BIG, nullable=True),
        sa.Column("basis", sa.String(length=16), nullable=False),
        sa.Column("confidence", _DOUBLE, nullable=False),
        sa.Column("source_kind", sa.String(length=255), nullable=False),
        sa.Column("source_ref", sa.Text(), nullable=False),
        sa.Column("superseded_by", sa.String(length=36), nullable=False),
        sa.Column("supporters", sa.Text(), nullable=False),
        sa.Column("last_validated_us", _BIG, nullable=True),
        sa.Column("last_used_us", _BIG, nullable=True),
        sa.Column("use_count", sa.Integer(), nullable=False),
        sa.Column("helped", _DOUBLE, nullable=False),
        sa.Column("harmed", _DOUBLE, nullable=False),
        sa.Column("applies", sa.Text(), nullable=False),
        sa.Column("structured", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("statement_key", sa.String(length=32), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["space.id"], name=op.f("fk_memory_space_id_space")),
        sa.PrimaryKeyConstraint("row", name=op.f("pk_memory")),
        sa.UniqueConstraint("space_id", "id", name=op.f("uq_memory_space_id_id")),
    )
    op.create_index(op.f("ix_memory_space_id_changed_seq"), "memory", ["space_id", "changed_seq"])
    op.create_index(op.f("ix_memory_space_id_recorded_us_id"), "memory", ["space_id", "recorded_us", "id"])
    op.create_index(op.f("ix_memory_space_id_statement_key"), "memory", ["space_id", "statement_key"])
    op.create_index(op.f("ix_memory_space_id_status_happened_us"), "memory", ["space_id", "status", "happened_us"])
    op.create_index(op.f("ix_memory_space_id_status_recorded_us"), "memory", ["space_id", "status", "recorded_us"])
    op.create_index(op.f("ix_memory_space_id_subject_topic"), "memory", ["space_id", "subject", "topic"])
    op.create_table(
        "step",
        sa.Column("space_id", _BIG, nullable=False),
        sa.Column("task_id", sa.String(length=36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("action", sa.String(length=255), nullable=False),
        sa.Column("happened_us", _BIG, nullable=False),
        sa.Column("input", sa.Text(), nullable=False),
        sa.Column("output", sa.Text(), nullable=False),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("ok", sa.Boolean(), nullable=True),
        sa.ForeignKeyConstraint(["space_id"], ["space.id"], name=op.f("fk_step_space_id_space")),
        sa.PrimaryKeyConstraint("space_id", "task_id", "position", name=op.f("pk_step")),
        sa.UniqueConstraint("space_id", "id", name=op.f("uq_step_space_id_id")),
    )
    op.create_table(
        "task",
        sa.Column("space_id", _BIG, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("goal", sa.Text(), nullable=False),
        sa.Column("started_us", _BIG, nullable=False),
        sa.Column("scope", sa.String(length=255), nullable=False),
        sa.Column("role", sa.String(length=255), nullable=False),
        sa.Column("constraints", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("ended_us", _BIG, nullable=True),
        sa.ForeignKeyConstraint(["space_id"], ["space.id"], name=op.f("fk_task_space_id_space")),
        sa.PrimaryKeyConstraint("space_id", "id", name=op.f("pk_task")),
    )
    op.create_table(
        "tombstone",
        sa.Column("row", _BIG, autoincrement=False, nullable=False),
        sa.Column("space_id", _BIG, nullable=False),
        sa.Column("changed_seq", _BIG, nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["space.id"], name=op.f("fk_tombstone_space_id_space")),
        sa.PrimaryKeyConstraint("row", name=op.f("pk_tombstone")),
    )
    op.create_index(op.f("ix_tombstone_space_id_changed_seq"), "tombstone", ["space_id", "changed_seq"])
    op.create_table(
        "use",
        sa.Column("space_id", _BIG, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("memory_id", sa.String(length=36), nullable=False),
        sa.Column("used_us", _BIG, nullable=False),
        sa.Column("task_id", sa.String(length=36), nullable=False),
        sa.Column("cited", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["space.id"], name=op.f("fk_use_space_id_space")),
        sa.PrimaryKeyConstraint("space_id", "id", name=op.f("pk_use")),
    )
    op.create_index(op.f("ix_use_space_id_memory_id_used_us"), "use", ["space_id", "memory_id", "used_us"])
    op.create_table(
        "memory_tag",
        sa.Column("row", _BIG, nullable=False),
        sa.Column("tag", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(["row"], ["memory.row"], name=op.f("fk_memory_tag_row_memory"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("row", "tag", name=op.f("pk_memory_tag")),
    )
    op.create_table(
        "vector",
        sa.Column("model_id", _BIG, nullable=False),
        sa.Column("row", _BIG, nullable=False),
        sa.Column("data", sa.LargeBinary(length=65535), nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["model.id"], name=op.f("fk_vector_model_id_model")),
        sa.ForeignKeyConstraint(["row"], ["memory.row"], name=op.f("fk_vector_row_memory"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("model_id", "row", name=op.f("pk_vector")),
    )
    op.create_index(op.f("ix_vector_row"), "vector", ["row"])
    op.create_table(
        "word",
        sa.Column("row", _BIG, autoincrement=False, nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["row"], ["memory.row"], name=op.f("fk_word_row_memory")),
        sa.PrimaryKeyConstraint("row", name=op.f("pk_word")),
    )

    if op.get_bind().dialect.name == "sqlite":
        for statement in _SQLITE_ONLY:
            op.execute(sa.text(statement.replace(":", "\\:")))
        statistics = sa.table("sqlite_stat1", sa.column("tbl"), sa.column("idx"), sa.column("stat"))
        rows = [{"tbl": "memory", "idx": name, "stat": stat} for name, stat in _SELECTIVITY.items()]
        op.bulk_insert(statistics, rows)
