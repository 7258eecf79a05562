"""Environment of Alembic: each migration and its version row are one transaction on the open profile."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
