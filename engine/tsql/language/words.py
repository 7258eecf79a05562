"""Reserved words of T-SQL, as far as they decide where a statement ends and which error it gets."""

from __future__ import annotations

from typing import Final

_STATEMENT: Final = """
ADD ALTER BACKUP BEGIN BREAK BULK CHECKPOINT CLOSE COMMIT CONTINUE CREATE DBCC DEALLOCATE DECLARE DELETE
DENY DISABLE DROP ELSE ENABLE END EXEC EXECUTE FETCH GOTO GRANT IF INSERT KILL MERGE OPEN PRINT RAISERROR
RECONFIGURE RESTORE RETURN REVERT REVOKE ROLLBACK SAVE SELECT SET SHUTDOWN THROW TRUNCATE UPDATE USE
WAITFOR WHILE WITH
"""

_OTHER: Final = """
ALL AND ANY AS ASC AUTHORIZATION BETWEEN BY CASE COLLATE COLUMN CONSTRAINT CROSS CURSOR DATABASE DEFAULT
DESC DISTINCT EXCEPT EXISTS EXTERNAL FOR FOREIGN FROM FULL FUNCTION GROUP HAVING IDENTITY IN INDEX INNER
INTERSECT INTO IS JOIN KEY LEFT LIKE NOT NULL OF OFF ON OPTION OR ORDER OUTER OVER PERCENT PIVOT PLAN
PRIMARY PROC PROCEDURE PUBLIC REFERENCES RIGHT RULE SCHEMA SOME STATISTICS TABLE THEN TO TOP TRAN
TRANSACTION TRIGGER UNION UNIQUE UNPIVOT USER VALUES VIEW WHEN WHERE
"""

STATEMENT_WORDS: Final = frozenset(_STATEMENT.split())
"""Words that may begin a statement (or a part of one)."""

KEYWORDS: Final = (STATEMENT_WORDS | frozenset(_OTHER.split())) - {"DISABLE", "ENABLE", "THROW"}
"""Reserved words: an error near one of them is message 156, near anything else 102."""

STOP_WORDS: Final = STATEMENT_WORDS - {"ADD", "DISABLE", "ENABLE", "THROW", "WITH"}
"""Words that end the statement before them even without a semicolon."""

FOLLOWING_PAIRS: Final = frozenset(
    {
        ("UNION", "SELECT"),
        ("ON", "DELETE"),
        ("ON", "UPDATE"),
        ("ALL", "SELECT"),
        ("EXCEPT", "SELECT"),
        ("INTERSECT", "SELECT"),
        ("ROW", "FETCH"),
        ("ROWS", "FETCH"),
        ("FOR", "UPDATE"),
        ("WITH", "ROLLBACK"),
        ("GRANT", "CREATE"),
        ("DENY", "CREATE"),
    }
)
"""After its first word the second one does not begin a statement."""

_PAIRS: Final = """
ALTER AVAILABILITY, CREATE AVAILABILITY, DROP AVAILABILITY,
ALTER DATABASE, ALTER ENDPOINT, ALTER AUTHORIZATION, ALTER CERTIFICATE, ALTER LOGIN, ALTER USER, ALTER MASTER,
ALTER SERVICE, CREATE ENDPOINT, CREATE CERTIFICATE, CREATE LOGIN, CREATE USER, CREATE MASTER, CREATE DATABASE,
DROP ENDPOINT, DROP CERTIFICATE, DROP LOGIN, DROP USER, DROP MASTER, DROP DATABASE, DROP TABLE, DROP PROC,
DROP PROCEDURE, DROP VIEW, DROP FUNCTION, BACKUP DATABASE, BACKUP LOG, BACKUP TRAN, BACKUP TRANSACTION,
BACKUP CERTIFICATE, BACKUP MASTER, BACKUP SERVICE, RESTORE DATABASE, RESTORE LOG, RESTORE TRAN,
RESTORE TRANSACTION, RESTORE HEADERONLY, RESTORE FILELISTONLY, RESTORE LABELONLY, RESTORE VERIFYONLY,
RESTORE MASTER, RESTORE SERVICE, SAVE TRAN, SAVE TRANSACTION
"""

COMMAND_PAIRS: Final = frozenset(
    (first, second) for first, second in (pair.split() for pair in _PAIRS.split(","))
)
"""Statements that the grammar of commands knows by their first two words."""

_SINGLE: Final = """
CHECKPOINT COMMIT DBCC DEALLOCATE DENY FETCH GRANT KILL RAISERROR RECONFIGURE REVOKE ROLLBACK SHUTDOWN THROW USE
WAITFOR
"""

COMMAND_WORDS: Final = frozenset(_SINGLE.split())
"""Statements that the grammar of commands knows by their first word."""

INNER_WORDS: Final[dict[str, frozenset[str]]] = {
    "ALTER": frozenset({"SET"}),
    "ALTER AVAILABILITY": frozenset({"SET", "GRANT", "DENY"}),
    "ALTER TABLE": frozenset({"SET", "ALTER", "DROP"}),
    "GRANT": STATEMENT_WORDS,
    "DENY": STATEMENT_WORDS,
    "REVOKE": STATEMENT_WORDS,
    "BULK": frozenset({"INSERT"}),
    "UPDATE": frozenset({"SET"}),
    "MERGE": STATEMENT_WORDS,
}
"""Words that begin statements and may also stand inside a statement that begins with the word or words given."""

BROKER_PAIRS: Final = frozenset(
    {
        ("SEND", "ON"),
        ("RECEIVE", "TOP"),
        ("GET", "CONVERSATION"),
        ("MOVE", "CONVERSATION"),
        ("END", "CONVERSATION"),
        ("BEGIN", "DIALOG"),
        ("BEGIN", "CONVERSATION"),
    }
)
"""Statements of Service Broker by their first two words."""
