"""What tasks teach: where they ran, whether they were looked back at, and what each use was worth."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_DOUBLE: sa.Double[Any] = sa.Double()


def upgrade() -> None:
    """Widen tasks and uses."""
    for column in (
        sa.Column("session", sa.String(length=255), nullable=False, server_default=""),
        sa.Column("environment", sa.Text(), nullable=False, server_default="{}"),
        sa.Column("step_limit", sa.Integer(), nullable=False, server_default="500"),
        sa.Column("deadline_us", _BIG),
        sa.Column("reviewed_us", _BIG),
        sa.Column("review_error", sa.Text(), nullable=False, server_default=""),
    ):
        op.add_column("task", column)
    op.create_index(op.f("ix_task_space_id_status_started_us"), "task", ["space_id", "status", "started_us"])
    op.add_column("use", sa.Column("withheld", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("use", sa.Column("credit", _DOUBLE, nullable=False, server_default="0"))
    op.create_index(op.f("ix_use_space_id_task_id"), "use", ["space_id", "task_id"])
