"""Names of running statements in the column `command` of sys.dm_exec_requests.

[DOC: sys.dm_exec_requests]
"""

from __future__ import annotations

import re
from typing import Final

from engine.tsql.language import statements as s

_BY_CLASS: Final[dict[type[s.Statement], str]] = {
    s.SetOption: "ALTER DATABASE",
    s.AlterFiles: "ALTER DATABASE",
    s.CreateEncryptionKey: "CREATE DATABASE ENCRYPTION KEY",
    s.ExecuteString: "EXECUTE",
    s.InsertExec: "INSERT",
    s.CursorAction: "OPEN CURSOR",
    **{
        kind: re.sub("(?<!^)(?=[A-Z])", " ", kind.__name__).upper()
        for kind in (
            s.CreateDatabase, s.CreateTable, s.AlterTable, s.CreateIndex, s.DropIndex, s.CreateProcedure,
            s.CreateFunction, s.CreateView, s.CreateSchema, s.DropObject, s.CreateLogin, s.AlterLogin,
            s.CreateUser, s.AlterUser, s.CreateEndpoint, s.AlterEndpoint, s.Waitfor, s.Checkpoint, s.Kill,
            s.Shutdown, s.Reconfigure, s.UseDatabase, s.Execute, s.FetchCursor,
        )
    },
}  # fmt: skip

PAGE_CHECKS: Final = frozenset({"CHECKDB", "CHECKALLOC", "CHECKTABLE", "CHECKFILEGROUP"})
"""DBCC commands that read pages: they run as DBCC TABLE CHECK. Known from public output."""

_TRANSACTIONS: Final = {
    "COMMIT": "COMMIT TRANSACTION",
    "ROLLBACK": "ROLLBACK TRANSACTION",
    "BEGIN": "BEGIN TRANSACTION",
}


def command_of(statement: s.Statement) -> str:
    """Return the command of *statement*."""
    if isinstance(statement, s.QueryStatement):
        first = statement.text.split(None, 1)[0].upper() if statement.text.strip() else "SELECT"
        return "SELECT" if first in ("WITH", "(") or first.startswith("(") else first
    if isinstance(statement, s.Backup | s.Restore | s.RestoreInfo):
        return statement.title
    if isinstance(statement, s.Dbcc):
        return "DBCC TABLE CHECK" if statement.command.upper() in PAGE_CHECKS else "DBCC"
    if isinstance(statement, s.Transaction):
        return _TRANSACTIONS.get(statement.verb.upper(), "SAVE TRANSACTION")
    return _BY_CLASS.get(type(statement), "SELECT")
