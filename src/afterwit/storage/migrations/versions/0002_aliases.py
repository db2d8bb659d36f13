"""Other names of entities."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table of aliases."""
    op.create_table(
        "alias",
        sa.Column("space_id", _BIG, nullable=False),
        sa.Column("alias", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("source", sa.String(length=16), nullable=False),
        sa.Column("memory_id", sa.String(length=36), nullable=False),
        sa.Column("since_us", _BIG, nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["space.id"], name=op.f("fk_alias_space_id_space")),
        sa.PrimaryKeyConstraint("space_id", "alias", name=op.f("pk_alias")),
    )
