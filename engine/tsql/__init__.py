"""T-SQL on the simulated instances.

Windows use `submit_text`, `cancel_batches`, `check_syntax` and `list_candidates`. Programs that log in over
the network use `log_in`, `run_batch`, `reset_connection` and `close_program_connection`.

Importing this facade is fast: the hundred modules behind it are imported when the first world runs.

Guarantees
    A batch behaves as on the real server, or ends with the server's own error number or with "Not
    simulated: NAME". Nothing is accepted and ignored. The cost of a batch is counted in units of work,
    never timed, so a batch takes the same ticks on every machine. A batch that waits is plain data: it
    can be stored, forked and hashed.

The pipeline of a statement
    1. `clients` splits a submission at GO, replaces sqlcmd variables and opens the connection of the window.
    2. `language` turns a batch into tokens (lexer.py) and a flat list of instructions with jumps
       (compiler.py). A lark grammar parses commands such as ALTER DATABASE … SET PARTNER; compiler.py
       parses control flow.
    3. `batches.runner` runs the instructions of a batch and of the procedures that it calls. It stops when
    the
       work of the turn is used up, or when a statement waits for a lock, a commit or a delay.
    4. `batches.statement_gate` decides from a table whether the state of the database allows the statement.
    5. `query` parses a SELECT with sqlglot, binds names and types, rewrites it for SQLite and estimates its
       cost. The result is a plan of plain data.
    6. `query.scratch_database` runs the plan in a private in-memory SQLite database, which contains only the
       tables and views of the plan. `catalog` computes their rows from what this server knows of the world.
    7. `batches.statement_execution` applies changes by the functions of engine.protocol, mirroring,
       availability and cluster.

Why this way
    SQLite gives a complete and well-tested SELECT. Functions and rewrites cover the differences (`scalars`).
    A flat program with an instruction number is all that a waiting batch needs to continue after a restore.

Rejected
    A general SQL parser for commands: none accepts SET PARTNER. A query engine of our own: it would never be
    complete.
    Python generators for waiting batches: they can be neither stored nor forked. See decision 7.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.tsql.batches.context import SYSTEM_DATABASES
    from engine.tsql.clients.client import cancel_batches, submit_text
    from engine.tsql.clients.connections import is_reachable
    from engine.tsql.clients.logins import (
        change_connection,
        close_program_connection,
        is_connection_idle,
        log_in,
        reset_connection,
        run_batch,
    )
    from engine.tsql.clients.upkeep import HANDLERS, check_connections
    from engine.tsql.language.complete import list_candidates
    from engine.tsql.language.script import check_syntax, check_syntax_in_steps

__all__ = [
    "HANDLERS",
    "SYSTEM_DATABASES",
    "cancel_batches",
    "change_connection",
    "check_connections",
    "check_syntax",
    "check_syntax_in_steps",
    "close_program_connection",
    "is_connection_idle",
    "is_reachable",
    "list_candidates",
    "log_in",
    "reset_connection",
    "run_batch",
    "submit_text",
]  # fmt: skip

_MODULES: Final = {
    "SYSTEM_DATABASES": "batches.context",
    "cancel_batches": "clients.client",
    "change_connection": "clients.logins",
    "is_reachable": "clients.connections",
    "submit_text": "clients.client",
    "is_connection_idle": "clients.logins",
    "run_batch": "clients.logins",
    "log_in": "clients.logins",
    "close_program_connection": "clients.logins",
    "reset_connection": "clients.logins",
    "HANDLERS": "clients.upkeep",
    "check_connections": "clients.upkeep",
    "check_syntax": "language.script",
    "check_syntax_in_steps": "language.script",
    "list_candidates": "language.complete",
}
"""Name -> module of this package that defines the name."""


def __getattr__(name: str) -> object:
    """Import a name at its first use and store it in this module."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value
