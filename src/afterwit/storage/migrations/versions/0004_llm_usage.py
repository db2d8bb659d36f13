"""What each call of a language model took."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table of calls."""
    op.create_table(
        "llm_usage",
        sa.Column("id", _BIG, autoincrement=True, nullable=False),
        sa.Column("space_id", _BIG, nullable=False),
        sa.Column("at_us", _BIG, nullable=False),
        sa.Column("purpose", sa.String(length=255), nullable=False),
        sa.Column("model", sa.String(length=255), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("ok", sa.Boolean(), nullable=False),
        sa.Column("error", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["space.id"], name=op.f("fk_llm_usage_space_id_space")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_llm_usage")),
    )
    op.create_index(op.f("ix_llm_usage_space_id_at_us"), "llm_usage", ["space_id", "at_us"])
