"""Names of running statements in the column `command` of sys.dm_exec_requests.

[DOC: sys.dm_exec_requests]
"""

from __future__ import annotations

from typing import Final

from engine.tsql.language import statements as s

_BY_CLASS: Final[dict[type[s.Statement], str]] = {
    s.SetOption: "ALTER DATABASE",
    s.AlterFiles: "ALTER DATABASE",
    s.CreateDatabase: "CREATE DATABASE",
    s.CreateEncryptionKey: "CREATE DATABASE ENCRYPTION KEY",
    s.CreateTable: "CREATE TABLE",
    s.AlterTable: "ALTER TABLE",
    s.CreateIndex: "CREATE INDEX",
    s.DropIndex: "DROP INDEX",
    s.CreateProcedure: "CREATE PROCEDURE",
    s.CreateFunction: "CREATE FUNCTION",
    s.CreateView: "CREATE VIEW",
    s.CreateSchema: "CREATE SCHEMA",
    s.DropObject: "DROP OBJECT",
    s.CreateLogin: "CREATE LOGIN",
    s.AlterLogin: "ALTER LOGIN",
    s.CreateUser: "CREATE USER",
    s.AlterUser: "ALTER USER",
    s.CreateEndpoint: "CREATE ENDPOINT",
    s.AlterEndpoint: "ALTER ENDPOINT",
    s.Waitfor: "WAITFOR",
    s.Checkpoint: "CHECKPOINT",
    s.Kill: "KILL",
    s.Shutdown: "SHUTDOWN",
    s.Reconfigure: "RECONFIGURE",
    s.UseDatabase: "USE DATABASE",
    s.Execute: "EXECUTE",
    s.ExecuteString: "EXECUTE",
    s.InsertExec: "INSERT",
    s.CursorAction: "OPEN CURSOR",
    s.FetchCursor: "FETCH CURSOR",
}

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
