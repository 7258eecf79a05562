"""T-SQL statements as plain data. The parser creates them, and the executor reads them."""

from typing import Any

from msgspec import Struct


class VariableReference(Struct, frozen=True):
    """Variable `@name` in place of a literal."""

    name: str


Value = str | bytes | int | float | None | VariableReference
"""Literal, or the variable that contains the value."""

Pairs = tuple[tuple[str, Value], ...]
"""Options as (name, value), in the original order. An option without a value has None."""


class Statement(Struct, frozen=True):
    """Base class of statements."""


class LogicalDevice(str):
    """Logical name of a backup device (sp_addumpdevice), given instead of a file path."""


class OutputClause(Struct, frozen=True):
    """OUTPUT clause. *columns* is its column list, *into* the table after INTO; empty for a result set."""

    columns: str
    into: str = ""


# --- options of a database ------------------------------------------------------------------------------


class DatabaseStatement(Statement, frozen=True):
    """Base class of statements that name one database, such as ALTER DATABASE … SET."""

    database: str


class SetDatabaseOptionStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE … SET option [value] [WITH termination]."""

    options: tuple[tuple[str, str], ...]
    termination: str = ""


class AlterDatabaseFilesStatement(DatabaseStatement, frozen=True):
    """ALTER DATABASE with ADD FILE, ADD LOG FILE, MODIFY FILE, REMOVE FILE, MODIFY NAME, COLLATE and others."""

    action: str
    options: Pairs = ()


# --- endpoints, keys, certificates, logins --------------------------------------------------------------


class EndpointStatement(Statement, frozen=True, kw_only=True):
    """CREATE or ALTER ENDPOINT statement.

    A field is None or () if the statement does not contain its option.
    """

    name: str
    owner: str | None = None
    state: str | None = None
    protocol: str | None = None
    port: int | None = None
    ip: str | None = None
    payload: str | None = None
    """Kind of endpoint: DATABASE_MIRRORING, TSQL, SERVICE_BROKER or SOAP."""
    authentication: str | None = None
    certificate: str | None = None
    encryption: str | None = None
    algorithms: tuple[str, ...] = ()
    role: str | None = None


class CreateEndpointStatement(EndpointStatement, frozen=True, kw_only=True):
    """CREATE ENDPOINT … FOR DATABASE_MIRRORING."""


class AlterEndpointStatement(EndpointStatement, frozen=True, kw_only=True):
    """ALTER ENDPOINT statement."""


class DropStatement(Statement, frozen=True):
    """DROP statement. *kind*, in capitals, is ENDPOINT, LOGIN, DATABASE, MASTER KEY, TABLE or similar."""

    kind: str
    names: tuple[str, ...]
    if_exists: bool = False


class CreateSchemaStatement(Statement, frozen=True):
    """CREATE SCHEMA [name] AUTHORIZATION owner. The default name is the owner's name."""

    name: str
    owner: str = ""


class TransferObjectStatement(Statement, frozen=True):
    """ALTER SCHEMA schema TRANSFER kind::name."""

    schema: str
    name: str
    kind: str


class AlterAuthorizationStatement(Statement, frozen=True):
    """ALTER AUTHORIZATION ON DATABASE."""

    kind: str
    name: str
    owner: str


class MasterKeyStatement(Statement, frozen=True):
    """CREATE MASTER KEY."""

    password: Value = None


class CreateCertificateStatement(Statement, frozen=True, kw_only=True):
    """CREATE CERTIFICATE, from a file or self-signed."""

    name: str
    owner: str | None = None
    subject: str | None = None
    start_date: str | None = None
    expiry_date: str | None = None
    file: str | None = None
    private_key_file: str | None = None
    password: str | None = None
    """Password that protects the new private key. Without it, the master key protects it."""
    decryption: str | None = None
    """Password that decrypts the file of the private key."""


class BackupCertificateStatement(Statement, frozen=True):
    """BACKUP CERTIFICATE … TO FILE."""

    name: str
    file: str
    private_key_file: str | None = None
    password: str | None = None
    """Password that protects the file of the private key."""
    decryption: str | None = None
    """Password that protects the private key in the database."""


class LoginStatement(Statement, frozen=True, kw_only=True):
    """CREATE or ALTER LOGIN."""

    name: str
    windows: bool = False
    password: Value = None
    certificate: str | None = None
    state: str | None = None
    """ENABLE or DISABLE."""
    options: Pairs = ()


class CreateLoginStatement(LoginStatement, frozen=True, kw_only=True):
    """CREATE LOGIN statement."""


class AlterLoginStatement(LoginStatement, frozen=True, kw_only=True):
    """ALTER LOGIN statement."""


class UserStatement(Statement, frozen=True, kw_only=True):
    """CREATE or ALTER USER."""

    name: str
    login: str | None = None
    without_login: bool = False
    options: Pairs = ()


class CreateUserStatement(UserStatement, frozen=True, kw_only=True):
    """CREATE USER statement."""


class AlterUserStatement(UserStatement, frozen=True, kw_only=True):
    """ALTER USER statement."""


class AlterEventSessionStatement(Statement, frozen=True):
    """ALTER EVENT SESSION name ON SERVER STATE = START or STOP, or WITH (STARTUP_STATE = ON or OFF)."""

    name: str
    option: str
    value: str


class SetClusterPropertyStatement(Statement, frozen=True):
    """ALTER SERVER CONFIGURATION SET FAILOVER CLUSTER PROPERTY name = value."""

    name: str
    value: str


class PermissionStatement(Statement, frozen=True):
    """GRANT, REVOKE or DENY statement.

    In ON kind::name, *kind* and *name* are the words before and after `::`. Without ON, *kind* is SERVER or
    DATABASE.
    """

    verb: str
    permissions: tuple[str, ...]
    kind: str
    name: str
    grantees: tuple[str, ...]


class ChangeRoleStatement(Statement, frozen=True):
    """CREATE, ALTER or DROP of a database role. With *server*, the role is a server role."""

    verb: str
    name: str
    server: bool = False
    verb_of_member: str = ""
    """ADD or DROP, for ADD MEMBER or DROP MEMBER; empty for other forms."""
    member: str = ""
    owner: str = ""
    if_exists: bool = False


# --- backup, restore, databases -------------------------------------------------------------------------


class BackupStatement(Statement, frozen=True):
    """BACKUP DATABASE or BACKUP LOG."""

    backup_type: str
    """DATABASE or LOG."""
    database: Value
    devices: tuple[Value, ...]
    options: Pairs = ()

    @property
    def title(self) -> str:
        """Return the statement's name for messages."""
        return f"BACKUP {self.backup_type}"


class RestoreStatement(Statement, frozen=True):
    """RESTORE DATABASE or RESTORE LOG. *devices* is empty if the statement only recovers the database."""

    restore_type: str
    """DATABASE or LOG."""
    database: Value
    devices: tuple[Value, ...] = ()
    options: Pairs = ()
    moves: tuple[tuple[Value, Value], ...] = ()
    snapshot: str | None = None

    @property
    def title(self) -> str:
        """Return the statement's name for messages."""
        return f"RESTORE {self.restore_type}"


class RestoreInformationStatement(Statement, frozen=True):
    """RESTORE HEADERONLY, FILELISTONLY, LABELONLY or VERIFYONLY."""

    information: str
    """Kind of information, such as HEADERONLY."""
    devices: tuple[Value, ...]
    options: Pairs = ()

    @property
    def title(self) -> str:
        """Return the statement's name for messages. The form is seen in public output."""
        return "VERIFY DATABASE" if self.information == "VERIFYONLY" else f"RESTORE {self.information}"


class FileSpec(Struct, frozen=True):
    """File of CREATE DATABASE.

    *log* is True for a file after LOG ON. The names of the properties are in capitals.
    """

    properties: tuple[tuple[str, str], ...]
    log: bool = False


class CreateDatabaseStatement(Statement, frozen=True):
    """CREATE DATABASE statement."""

    name: str
    snapshot_of: str | None = None
    attach: str = ""
    """Word after FOR, such as ATTACH; empty without FOR."""
    files: tuple[FileSpec, ...] = ()
    options: Pairs = ()
    """Options outside the file list, with their values."""


class CreateEncryptionKeyStatement(Statement, frozen=True):
    """CREATE DATABASE ENCRYPTION KEY … BY SERVER CERTIFICATE, in the current database."""

    algorithm: str
    certificate: str


# --- instance -------------------------------------------------------------------------------------------


class ShutdownStatement(Statement, frozen=True):
    """SHUTDOWN [WITH NOWAIT]."""

    nowait: bool


class UseStatement(Statement, frozen=True):
    """USE database."""

    database: str


class DbccStatement(Statement, frozen=True):
    """DBCC command (arguments) WITH options."""

    command: str
    arguments: tuple[Value, ...] = ()
    options: tuple[str, ...] = ()


class ReconfigureStatement(Statement, frozen=True):
    """RECONFIGURE statement."""


class CheckpointStatement(Statement, frozen=True):
    """CHECKPOINT statement."""


class KillStatement(Statement, frozen=True):
    """KILL session."""

    spid: Value
    status_only: bool = False


class TransactionStatement(Statement, frozen=True):
    """BEGIN, COMMIT, ROLLBACK or SAVE TRANSACTION."""

    verb: str
    name: str = ""
    delayed_durability: bool = False


class WaitforStatement(Statement, frozen=True):
    """WAITFOR DELAY or WAITFOR TIME."""

    kind: str
    value: Value


# --- language elements ------------------------------------------------------------------------------------


class VariableDeclaration(Struct, frozen=True):
    """Variable in a DECLARE statement. *columns* is the column list of a table variable, as text."""

    name: str
    type: str
    default: str = ""
    columns: str = ""


class DeclareStatement(Statement, frozen=True):
    """DECLARE of one or more variables."""

    variables: tuple[VariableDeclaration, ...]


class SetVariableStatement(Statement, frozen=True):
    """SET @name = expression."""

    name: str
    expression: str


class SetSessionOptionStatement(Statement, frozen=True):
    """SET of a session option, such as SET NOCOUNT ON. *words* are in capitals."""

    words: tuple[str, ...]
    value: Value = None
    names: tuple[str, ...] = ()
    """Name of the table for IDENTITY_INSERT, in its original spelling."""


class PrintStatement(Statement, frozen=True):
    """PRINT statement."""

    expression: str


class QueryStatement(Statement, frozen=True):
    """SELECT or data change. sqlglot parses *text*, which excludes the OUTPUT clause."""

    text: str
    output: OutputClause | None = None


class ProcedureParameter(Struct, frozen=True):
    """Parameter of a procedure. *default* is the text of the default value; empty without one."""

    name: str
    type: str
    default: str = ""
    output: bool = False


class CreateProcedureStatement(Statement, frozen=True):
    """CREATE or ALTER PROCEDURE statement.

    *body* begins with line breaks, so that its lines have the same numbers as in the batch.
    """

    name: tuple[str, ...]
    parameters: tuple[ProcedureParameter, ...]
    body: str
    verb: str = "CREATE"
    program: tuple[Any, ...] = ()
    """Instructions of the body. Names in the body are resolved when the procedure is created."""


class CreateFunctionStatement(Statement, frozen=True):
    """CREATE or ALTER FUNCTION. *returned* is the expression after RETURN, *returns* the result type."""

    name: tuple[str, ...]
    parameters: tuple[ProcedureParameter, ...]
    returned: str
    returns: str = ""
    verb: str = "CREATE"
    body: str = ""
    """Text from BEGIN to END; empty if the body is only RETURN.

    With this text, *returned* is empty, or a table variable.
    """
    program: tuple[Any, ...] = ()
    """Instructions of the body. Names in the body are resolved when the function is created."""


class CreateViewStatement(Statement, frozen=True):
    """CREATE VIEW or ALTER VIEW."""

    name: tuple[str, ...]
    query: str
    verb: str = "CREATE"


class CreateTableStatement(Statement, frozen=True):
    """CREATE TABLE. *columns* is the text of the column list with its parentheses."""

    name: tuple[str, ...]
    columns: str
    options: tuple[tuple[str, str], ...] = ()


class CreateIndexStatement(Statement, frozen=True):
    """CREATE INDEX statement. Only a unique index has an effect on the results of statements."""

    table: tuple[str, ...]
    name: str
    columns: tuple[str, ...]
    unique: bool = False
    clustered: bool = False
    included: tuple[str, ...] = ()
    descending: tuple[str, ...] = ()
    filter: str = ""
    options: tuple[tuple[str, str], ...] = ()


class AlterTableStatement(Statement, frozen=True):
    """ALTER TABLE. *columns*: added definitions, in parentheses; *dropped*, *constraint*: names to drop."""

    name: tuple[str, ...]
    columns: str = ""
    dropped: tuple[str, ...] = ()
    constraint: str = ""
    default: tuple[str, str, str] | None = None
    """Column, expression and constraint name of ADD DEFAULT; None without this clause."""
    altered: str = ""
    """New definition of the column in ALTER COLUMN, in parentheses; empty without this clause."""
    unchecked: bool = False
    """True for WITH NOCHECK: existing rows may violate the constraint that the statement adds."""
    checked: bool = False
    """True for WITH CHECK: existing rows must satisfy an enabled constraint."""
    enabled: tuple[str, ...] = ()
    """Constraints in CHECK CONSTRAINT or NOCHECK CONSTRAINT. If *switch* is set, empty means ALL."""
    switch: str = ""
    """CHECK or NOCHECK before CONSTRAINT; empty for other forms."""
    if_exists: bool = False


class DropIndexStatement(Statement, frozen=True):
    """DROP INDEX. *indexes* contains (index name, table name) pairs."""

    indexes: tuple[tuple[str, tuple[str, ...]], ...]
    if_exists: bool = False


class StatisticsStatement(Statement, frozen=True):
    """CREATE STATISTICS or UPDATE STATISTICS of the table or view *name*. Statistics change no result."""

    verb: str
    name: tuple[str, ...]
    columns: tuple[str, ...] = ()


class ProcedureArgument(Struct, frozen=True):
    """Argument of a procedure call. *name* is empty for an argument that is passed by position."""

    name: str
    value: Value
    output: bool = False
    narrow: bool = False
    """True for a string literal without the prefix N."""
    default: bool = False
    """True for the keyword DEFAULT in place of a value."""


class ExecuteProcedureStatement(Statement, frozen=True):
    """EXEC procedure. *target*: variable that contains the procedure's name; empty without one."""

    procedure: str
    arguments: tuple[ProcedureArgument, ...] = ()
    returns: str = ""
    target: str = ""


class ExecuteAsStatement(Statement, frozen=True):
    """EXECUTE AS LOGIN = 'name' or EXECUTE AS USER = 'name'."""

    kind: str
    name: str


class ExecuteDynamicSqlStatement(Statement, frozen=True):
    """EXEC ('…' + @text) [AS USER = 'name'] [AT linked_server]."""

    expression: str
    linked_server: str = ""
    caller: ExecuteAsStatement | None = None
    """User or login that the text runs as; None for the caller."""


class InsertExecStatement(Statement, frozen=True):
    """INSERT target EXEC …: stores the result rows of a procedure or dynamic statement in a table."""

    target: str
    source: ExecuteProcedureStatement | ExecuteDynamicSqlStatement


class RaiserrorStatement(Statement, frozen=True):
    """RAISERROR statement."""

    message: Value
    severity: Value
    state: Value
    arguments: tuple[Value, ...] = ()
    options: tuple[str, ...] = ()
    number: Value = None
    """Message number in the old form `RAISERROR number text`, without parentheses."""


class ThrowStatement(Statement, frozen=True):
    """THROW number, message, state. If all three are None, the caught error is raised again."""

    number: Value = None
    message: Value = None
    state: Value = None


class DeclareCursorStatement(Statement, frozen=True):
    """DECLARE name CURSOR, or SET @name = CURSOR. *options* are words in capitals, such as STATIC."""

    name: str
    query: str
    options: tuple[str, ...] = ()


class CursorStatement(Statement, frozen=True):
    """OPEN, CLOSE or DEALLOCATE of a cursor. *is_global*: GLOBAL before the name."""

    verb: str
    name: str
    is_global: bool = False


class FetchCursorStatement(Statement, frozen=True):
    """FETCH from a cursor."""

    direction: str
    offset: Value
    name: str
    into: tuple[str, ...] = ()
    is_global: bool = False


class ReturnStatement(Statement, frozen=True):
    """RETURN [value]."""

    expression: str = ""


class RevertStatement(Statement, frozen=True):
    """REVERT, which ends EXECUTE AS."""


class UnsimulatedStatement(Statement, frozen=True):
    """Statement that is valid in SQL Server but not simulated."""

    name: str
    """Name of the statement, as shown in the message "Not simulated"."""
