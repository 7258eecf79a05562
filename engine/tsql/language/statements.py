"""Statements of T-SQL as plain data, from the parser to the executor."""

from typing import Any

from msgspec import Struct


class Variable(Struct, frozen=True):
    """`@name` in place of a value."""

    name: str


Value = str | bytes | int | float | None | Variable
"""Literal, or variable that has the value."""

Pairs = tuple[tuple[str, Value], ...]
"""Options as (name, value), in the original order. An option without a value has None."""


class Statement(Struct, frozen=True):
    """Base class of statements."""


class LogicalDevice(str):
    """Name of a backup device (sp_addumpdevice) in place of a file."""


class OutputClause(Struct, frozen=True):
    """OUTPUT clause: columns of inserted and deleted, and the target of an INSERT; "": a result set."""

    columns: str
    into: str = ""


# --- options of a database ------------------------------------------------------------------------------


class OnDatabase(Statement, frozen=True):
    """ALTER DATABASE … SET statement."""

    database: str


class SetOption(OnDatabase, frozen=True):
    """ALTER DATABASE … SET option [value] [WITH termination]."""

    options: tuple[tuple[str, str], ...]
    termination: str = ""


class AlterFiles(OnDatabase, frozen=True):
    """ALTER DATABASE with ADD FILE, ADD LOG FILE, MODIFY FILE, REMOVE FILE, MODIFY NAME, COLLATE and others."""

    action: str
    options: Pairs = ()


# --- endpoints, keys, certificates, logins --------------------------------------------------------------


class EndpointStatement(Statement, frozen=True, kw_only=True):
    """CREATE or ALTER ENDPOINT. None or () means that the option is omitted."""

    name: str
    owner: str | None = None
    state: str | None = None
    protocol: str | None = None
    port: int | None = None
    ip: str | None = None
    payload: str | None = None
    """DATABASE_MIRRORING, or another kind of endpoint (TSQL, SERVICE_BROKER, SOAP)."""
    authentication: str | None = None
    certificate: str | None = None
    encryption: str | None = None
    algorithms: tuple[str, ...] = ()
    role: str | None = None


class CreateEndpoint(EndpointStatement, frozen=True, kw_only=True):
    """CREATE ENDPOINT … FOR DATABASE_MIRRORING."""


class AlterEndpoint(EndpointStatement, frozen=True, kw_only=True):
    """ALTER ENDPOINT."""


class DropObject(Statement, frozen=True):
    """DROP ENDPOINT, LOGIN, USER, CERTIFICATE, DATABASE, MASTER KEY, TABLE and others; *kind* in capitals."""

    kind: str
    names: tuple[str, ...]
    if_exists: bool = False


class CreateSchema(Statement, frozen=True):
    """CREATE SCHEMA name AUTHORIZATION owner. Without a name, the schema has the owner's name."""

    name: str
    owner: str = ""


class TransferObject(Statement, frozen=True):
    """ALTER SCHEMA schema TRANSFER kind::name."""

    schema: str
    name: str
    kind: str


class AlterAuthorization(Statement, frozen=True):
    """ALTER AUTHORIZATION ON DATABASE."""

    kind: str
    name: str
    owner: str


class MasterKey(Statement, frozen=True):
    """CREATE, ALTER, OPEN, CLOSE, BACKUP or RESTORE (SERVICE) MASTER KEY."""

    verb: str
    password: Value = None


class CreateCertificate(Statement, frozen=True, kw_only=True):
    """CREATE CERTIFICATE, from a file or self-signed."""

    name: str
    owner: str | None = None
    subject: str | None = None
    start_date: str | None = None
    expiry_date: str | None = None
    file: str | None = None
    private_key_file: str | None = None
    password: str | None = None
    """Password that protects the new private key in place of the master key."""
    decryption: str | None = None
    """Password that decrypts the private key's file."""


class BackupCertificate(Statement, frozen=True):
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


class CreateLogin(LoginStatement, frozen=True, kw_only=True):
    """CREATE LOGIN."""


class AlterLogin(LoginStatement, frozen=True, kw_only=True):
    """ALTER LOGIN."""


class UserStatement(Statement, frozen=True, kw_only=True):
    """CREATE or ALTER USER."""

    name: str
    login: str | None = None
    without_login: bool = False
    options: Pairs = ()


class CreateUser(UserStatement, frozen=True, kw_only=True):
    """CREATE USER."""


class AlterUser(UserStatement, frozen=True, kw_only=True):
    """ALTER USER."""


class AlterEventSession(Statement, frozen=True):
    """ALTER EVENT SESSION name ON SERVER STATE = START or STOP, or WITH (STARTUP_STATE = ON or OFF)."""

    name: str
    option: str
    value: str


class ClusterProperty(Statement, frozen=True):
    """ALTER SERVER CONFIGURATION SET FAILOVER CLUSTER PROPERTY name = value."""

    name: str
    value: str


class Permission(Statement, frozen=True):
    """GRANT, REVOKE or DENY. *kind* and *name* are the words before and after `::` (or SERVER)."""

    verb: str
    permissions: tuple[str, ...]
    kind: str
    name: str
    grantees: tuple[str, ...]


class ChangeRole(Statement, frozen=True):
    """CREATE, ALTER or DROP of a role in the database or, with *server*, on the server."""

    verb: str
    name: str
    server: bool = False
    verb_of_member: str = ""
    """ADD or DROP MEMBER."""
    member: str = ""
    owner: str = ""
    if_exists: bool = False


# --- backup, restore, databases -------------------------------------------------------------------------


class Backup(Statement, frozen=True):
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


class Restore(Statement, frozen=True):
    """RESTORE DATABASE or RESTORE LOG. The form that only recovers has no device."""

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


class RestoreInfo(Statement, frozen=True):
    """RESTORE HEADERONLY, FILELISTONLY, LABELONLY or VERIFYONLY."""

    information: str
    """Kind of information, such as HEADERONLY."""
    devices: tuple[Value, ...]
    options: Pairs = ()

    @property
    def title(self) -> str:
        """Return the statement's name for messages. Seen in public output."""
        return "VERIFY DATABASE" if self.information == "VERIFYONLY" else f"RESTORE {self.information}"


class FileSpec(Struct, frozen=True):
    """File of CREATE DATABASE: its properties, with names in capitals, and whether it follows LOG ON."""

    properties: tuple[tuple[str, str], ...]
    log: bool = False


class CreateDatabase(Statement, frozen=True):
    """CREATE DATABASE."""

    name: str
    snapshot_of: str | None = None
    attach: str = ""
    """Word after FOR, such as ATTACH; else empty."""
    files: tuple[FileSpec, ...] = ()
    options: Pairs = ()
    """Words outside the file list, with their values."""


class CreateEncryptionKey(Statement, frozen=True):
    """CREATE DATABASE ENCRYPTION KEY … BY SERVER CERTIFICATE, in the current database."""

    algorithm: str
    certificate: str


# --- instance -------------------------------------------------------------------------------------------


class Shutdown(Statement, frozen=True):
    """SHUTDOWN [WITH NOWAIT]."""

    nowait: bool


class UseDatabase(Statement, frozen=True):
    """USE database."""

    database: str


class Dbcc(Statement, frozen=True):
    """DBCC command (arguments) WITH options."""

    command: str
    arguments: tuple[Value, ...] = ()
    options: tuple[str, ...] = ()


class Reconfigure(Statement, frozen=True):
    """RECONFIGURE."""


class Checkpoint(Statement, frozen=True):
    """CHECKPOINT."""


class Kill(Statement, frozen=True):
    """KILL session."""

    spid: Value
    status_only: bool = False


class Transaction(Statement, frozen=True):
    """BEGIN, COMMIT, ROLLBACK or SAVE of a transaction."""

    verb: str
    name: str = ""
    delayed_durability: bool = False


class Waitfor(Statement, frozen=True):
    """WAITFOR DELAY or WAITFOR TIME."""

    kind: str
    value: Value


# --- language elements ------------------------------------------------------------------------------------


class Declaration(Struct, frozen=True):
    """Variable of a DECLARE. *columns* is the text of a table variable's columns."""

    name: str
    type: str
    default: str = ""
    columns: str = ""


class Declare(Statement, frozen=True):
    """DECLARE of variables."""

    variables: tuple[Declaration, ...]


class Assign(Statement, frozen=True):
    """SET @name = expression."""

    name: str
    expression: str


class SetSession(Statement, frozen=True):
    """SET NOCOUNT ON and similar; *words* in capitals."""

    words: tuple[str, ...]
    value: Value = None
    names: tuple[str, ...] = ()
    """Table name of IDENTITY_INSERT, in its original spelling."""


class Print(Statement, frozen=True):
    """PRINT."""

    expression: str


class QueryStatement(Statement, frozen=True):
    """SELECT, INSERT, UPDATE, DELETE, MERGE or TRUNCATE. *text* is for sqlglot, without the OUTPUT clause."""

    text: str
    output: OutputClause | None = None


class ProcedureParameter(Struct, frozen=True):
    """Parameter of a procedure. *default* is the text of a value, or empty."""

    name: str
    type: str
    default: str = ""
    output: bool = False


class CreateProcedure(Statement, frozen=True):
    """CREATE, ALTER or CREATE OR ALTER PROCEDURE. *body* begins on the same line as in the batch."""

    name: tuple[str, ...]
    parameters: tuple[ProcedureParameter, ...]
    body: str
    verb: str = "CREATE"
    program: tuple[Any, ...] = ()
    """Instructions of the body. Their names are resolved when the procedure is created."""


class CreateFunction(Statement, frozen=True):
    """CREATE or ALTER FUNCTION, which returns an expression of the type *returns* or a query, or has a *body*."""

    name: tuple[str, ...]
    parameters: tuple[ProcedureParameter, ...]
    returned: str
    returns: str = ""
    verb: str = "CREATE"
    body: str = ""
    """Text from BEGIN to END, if it has more than RETURN, on its lines in the batch. *returned* is then empty."""
    program: tuple[Any, ...] = ()
    """Instructions of the body. Their names are resolved when the function is created."""


class CreateView(Statement, frozen=True):
    """CREATE VIEW or ALTER VIEW."""

    name: tuple[str, ...]
    query: str
    verb: str = "CREATE"


class CreateTable(Statement, frozen=True):
    """CREATE TABLE. *columns* is the text including its parentheses."""

    name: tuple[str, ...]
    columns: str
    options: tuple[tuple[str, str], ...] = ()


class CreateIndex(Statement, frozen=True):
    """CREATE INDEX. Only a unique index has an effect on results."""

    table: tuple[str, ...]
    name: str
    columns: tuple[str, ...]
    unique: bool = False
    clustered: bool = False
    included: tuple[str, ...] = ()
    descending: tuple[str, ...] = ()
    filter: str = ""
    options: tuple[tuple[str, str], ...] = ()


class AlterTable(Statement, frozen=True):
    """ALTER TABLE: definitions to add, as text in parentheses, or names of columns or a constraint to drop."""

    name: tuple[str, ...]
    columns: str = ""
    dropped: tuple[str, ...] = ()
    constraint: str = ""
    default: tuple[str, str, str] | None = None
    """ADD DEFAULT: column, expression, name of the constraint; else None."""
    altered: str = ""
    """ALTER COLUMN: definition of the new column, in parentheses; else empty."""
    unchecked: bool = False
    """True for WITH NOCHECK: existing rows may violate the new constraint."""
    checked: bool = False
    """True for WITH CHECK: existing rows must satisfy an enabled constraint."""
    enabled: tuple[str, ...] = ()
    """Constraints of CHECK CONSTRAINT. Empty for all, with *switch*."""
    switch: str = ""
    """CHECK or NOCHECK before CONSTRAINT; else empty."""
    if_exists: bool = False


class DropIndex(Statement, frozen=True):
    """DROP INDEX. *indexes*: (name, table) of each."""

    indexes: tuple[tuple[str, tuple[str, ...]], ...]
    if_exists: bool = False


class Argument(Struct, frozen=True):
    """Argument of a procedure. An empty name means that it is passed by position."""

    name: str
    value: Value
    output: bool = False
    narrow: bool = False
    """True for a text without the prefix N."""
    default: bool = False
    """True for DEFAULT in place of a value."""


class Execute(Statement, frozen=True):
    """EXEC procedure. *target* is set if a variable contains the procedure's name."""

    procedure: str
    arguments: tuple[Argument, ...] = ()
    returns: str = ""
    target: str = ""


class ExecuteString(Statement, frozen=True):
    """EXEC ('…' + @text) [AT linked_server]."""

    expression: str
    linked_server: str = ""


class InsertExec(Statement, frozen=True):
    """INSERT target EXEC …, which stores the rows of a procedure."""

    target: str
    source: Execute | ExecuteString


class Raiserror(Statement, frozen=True):
    """RAISERROR."""

    message: Value
    severity: Value
    state: Value
    arguments: tuple[Value, ...] = ()
    options: tuple[str, ...] = ()
    number: Value = None
    """Number in the old form without parentheses."""


class Throw(Statement, frozen=True):
    """THROW number, message, state. All None: raise the caught error again."""

    number: Value = None
    message: Value = None
    state: Value = None


class DeclareCursor(Statement, frozen=True):
    """DECLARE name CURSOR or SET @name = CURSOR. *options* in capitals: LOCAL, STATIC, SCROLL and others."""

    name: str
    query: str
    options: tuple[str, ...] = ()


class CursorAction(Statement, frozen=True):
    """OPEN, CLOSE or DEALLOCATE of a cursor."""

    verb: str
    name: str


class FetchCursor(Statement, frozen=True):
    """FETCH from a cursor."""

    direction: str
    offset: Value
    name: str
    into: tuple[str, ...] = ()


class Return(Statement, frozen=True):
    """RETURN [value]."""

    expression: str = ""


class ExecuteAs(Statement, frozen=True):
    """EXECUTE AS LOGIN or USER = 'name'."""

    kind: str
    name: str


class Revert(Statement, frozen=True):
    """REVERT, which ends EXECUTE AS."""


class UnsimulatedStatement(Statement, frozen=True):
    """Valid statement that is not simulated. *what* names it."""

    name: str
    """Name of the statement."""
