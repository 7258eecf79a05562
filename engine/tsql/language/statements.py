"""Statements of T-SQL as plain data, between parser and executor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Variable:
    """`@name` in place of a value."""

    name: str


Value = str | bytes | int | float | None | Variable
"""Literal, or the variable with the value."""

Pairs = tuple[tuple[str, Value], ...]
"""Options as name and value, in written order; a bare option has the value None."""


@dataclass(frozen=True, slots=True)
class Statement:
    """Any statement."""


class LogicalDevice(str):
    """Name of a backup device of sp_addumpdevice, in place of a file."""


@dataclass(frozen=True, slots=True)
class OutputClause:
    """Columns to select from the tables inserted and deleted, and their target: an INSERT target, or a grid if ""."""

    columns: str
    into: str = ""


# --- options of a database ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OnDatabase(Statement):
    """An ALTER DATABASE … SET statement."""

    database: str


@dataclass(frozen=True, slots=True)
class SetOption(OnDatabase):
    """ALTER DATABASE … SET option [value] [WITH termination]."""

    options: tuple[tuple[str, str], ...]
    termination: str = ""


@dataclass(frozen=True, slots=True)
class AlterFiles(OnDatabase):
    """ALTER DATABASE with ADD FILE, ADD LOG FILE, MODIFY FILE, REMOVE FILE, MODIFY NAME, COLLATE and others."""

    action: str
    options: Pairs = ()


# --- endpoints, keys, certificates, logins --------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointStatement(Statement):
    """CREATE or ALTER ENDPOINT; None or () means an unspecified option."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateEndpoint(EndpointStatement):
    """CREATE ENDPOINT … FOR DATABASE_MIRRORING."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterEndpoint(EndpointStatement):
    """ALTER ENDPOINT."""


@dataclass(frozen=True, slots=True)
class DropObject(Statement):
    """DROP ENDPOINT, LOGIN, USER, CERTIFICATE, DATABASE, MASTER KEY, TABLE …; *kind* in capitals."""

    kind: str
    names: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateSchema(Statement):
    """CREATE SCHEMA name AUTHORIZATION owner; without a name the schema has the owner's name."""

    name: str
    owner: str = ""


@dataclass(frozen=True, slots=True)
class TransferObject(Statement):
    """ALTER SCHEMA schema TRANSFER kind::name."""

    schema: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class AlterAuthorization(Statement):
    """ALTER AUTHORIZATION ON DATABASE."""

    kind: str
    name: str
    owner: str


@dataclass(frozen=True, slots=True)
class MasterKey(Statement):
    """CREATE, ALTER, OPEN, CLOSE, BACKUP or RESTORE (SERVICE) MASTER KEY."""

    verb: str
    password: Value = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateCertificate(Statement):
    """CREATE CERTIFICATE, from a file or self-signed."""

    name: str
    owner: str | None = None
    subject: str | None = None
    start_date: str | None = None
    expiry_date: str | None = None
    file: str | None = None
    private_key_file: str | None = None
    password: str | None = None
    """Password that protects the new private key instead of the master key."""
    decryption: str | None = None
    """Password of the private key's file."""


@dataclass(frozen=True, slots=True)
class BackupCertificate(Statement):
    """BACKUP CERTIFICATE … TO FILE."""

    name: str
    file: str
    private_key_file: str | None = None
    password: str | None = None
    """Password that protects the file of the private key."""
    decryption: str | None = None
    """Password that protects the private key in the database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginStatement(Statement):
    """CREATE or ALTER LOGIN."""

    name: str
    windows: bool = False
    password: Value = None
    certificate: str | None = None
    state: str | None = None
    """ENABLE or DISABLE."""
    options: Pairs = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateLogin(LoginStatement):
    """CREATE LOGIN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterLogin(LoginStatement):
    """ALTER LOGIN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserStatement(Statement):
    """CREATE or ALTER USER."""

    name: str
    login: str | None = None
    without_login: bool = False
    options: Pairs = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateUser(UserStatement):
    """CREATE USER."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterUser(UserStatement):
    """ALTER USER."""


@dataclass(frozen=True, slots=True)
class AlterEventSession(Statement):
    """ALTER EVENT SESSION name ON SERVER STATE = START or STOP, or WITH (STARTUP_STATE = ON or OFF)."""

    name: str
    option: str
    value: str


@dataclass(frozen=True, slots=True)
class ClusterProperty(Statement):
    """ALTER SERVER CONFIGURATION SET FAILOVER CLUSTER PROPERTY name = value."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Permission(Statement):
    """GRANT, REVOKE or DENY; *kind* and *name* are the words before and after `::` (or SERVER)."""

    verb: str
    permissions: tuple[str, ...]
    kind: str
    name: str
    grantees: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangeRole(Statement):
    """CREATE, ALTER or DROP of a role of the database or the *server*."""

    verb: str
    name: str
    server: bool = False
    verb_of_member: str = ""
    """ADD or DROP MEMBER."""
    member: str = ""
    owner: str = ""
    if_exists: bool = False


# --- backup, restore, databases -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Backup(Statement):
    """BACKUP DATABASE or BACKUP LOG."""

    what: str
    database: Value
    devices: tuple[Value, ...]
    options: Pairs = ()

    @property
    def title(self) -> str:
        """Return the statement's name, for messages."""
        return f"BACKUP {self.what}"


@dataclass(frozen=True, slots=True)
class Restore(Statement):
    """RESTORE DATABASE or RESTORE LOG; without a device for the form that only recovers."""

    what: str
    database: Value
    devices: tuple[Value, ...] = ()
    options: Pairs = ()
    moves: tuple[tuple[Value, Value], ...] = ()
    snapshot: str | None = None

    @property
    def title(self) -> str:
        """Return the statement's name, for messages."""
        return f"RESTORE {self.what}"


@dataclass(frozen=True, slots=True)
class RestoreInfo(Statement):
    """RESTORE HEADERONLY, FILELISTONLY, LABELONLY or VERIFYONLY."""

    what: str
    devices: tuple[Value, ...]
    options: Pairs = ()

    @property
    def title(self) -> str:
        """Return the statement's name, for messages."""
        return f"RESTORE {self.what}"


@dataclass(frozen=True, slots=True)
class FileSpec:
    """File of CREATE DATABASE: its properties by name in capitals, and whether it follows LOG ON."""

    properties: tuple[tuple[str, str], ...]
    log: bool = False


@dataclass(frozen=True, slots=True)
class CreateDatabase(Statement):
    """CREATE DATABASE."""

    name: str
    snapshot_of: str | None = None
    attach: str = ""
    """Word after FOR."""
    files: tuple[FileSpec, ...] = ()
    options: Pairs = ()
    """Words outside the file list, with their values."""


@dataclass(frozen=True, slots=True)
class CreateEncryptionKey(Statement):
    """CREATE DATABASE ENCRYPTION KEY … BY SERVER CERTIFICATE, in its database."""

    algorithm: str
    certificate: str


# --- the instance ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shutdown(Statement):
    """SHUTDOWN [WITH NOWAIT]."""

    nowait: bool


@dataclass(frozen=True, slots=True)
class UseDatabase(Statement):
    """USE database."""

    database: str


@dataclass(frozen=True, slots=True)
class Dbcc(Statement):
    """DBCC command (arguments) WITH options."""

    command: str
    arguments: tuple[Value, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reconfigure(Statement):
    """RECONFIGURE."""


@dataclass(frozen=True, slots=True)
class Checkpoint(Statement):
    """CHECKPOINT."""


@dataclass(frozen=True, slots=True)
class Kill(Statement):
    """KILL session."""

    spid: Value
    status_only: bool = False


@dataclass(frozen=True, slots=True)
class Transaction(Statement):
    """BEGIN, COMMIT, ROLLBACK or SAVE of a transaction."""

    verb: str
    name: str = ""
    delayed_durability: bool = False


@dataclass(frozen=True, slots=True)
class Waitfor(Statement):
    """WAITFOR DELAY or WAITFOR TIME."""

    kind: str
    value: Value


# --- the language ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Declaration:
    """Variable of a DECLARE; *columns* is the text of a table variable's columns."""

    name: str
    type: str
    default: str = ""
    columns: str = ""


@dataclass(frozen=True, slots=True)
class Declare(Statement):
    """DECLARE of variables."""

    variables: tuple[Declaration, ...]


@dataclass(frozen=True, slots=True)
class Assign(Statement):
    """SET @name = expression."""

    name: str
    expression: str


@dataclass(frozen=True, slots=True)
class SetSession(Statement):
    """SET NOCOUNT ON and similar; *words* in capitals."""

    words: tuple[str, ...]
    value: Value = None
    names: tuple[str, ...] = ()
    """Table name for IDENTITY_INSERT, as written."""


@dataclass(frozen=True, slots=True)
class Print(Statement):
    """PRINT."""

    expression: str


@dataclass(frozen=True, slots=True)
class QueryStatement(Statement):
    """SELECT, INSERT, UPDATE, DELETE, MERGE or TRUNCATE: text for sqlglot, without its OUTPUT clause."""

    text: str
    output: OutputClause | None = None


@dataclass(frozen=True, slots=True)
class ProcedureParameter:
    """Parameter of a procedure; *default* is the text of a value, or empty."""

    name: str
    type: str
    default: str = ""
    output: bool = False


@dataclass(frozen=True, slots=True)
class CreateProcedure(Statement):
    """CREATE, ALTER or CREATE OR ALTER PROCEDURE; *body* starts on its line in the batch."""

    name: tuple[str, ...]
    parameters: tuple[ProcedureParameter, ...]
    body: str
    verb: str = "CREATE"
    program: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    """Instructions of the body; names are resolved at creation."""


@dataclass(frozen=True, slots=True)
class CreateFunction(Statement):
    """CREATE or ALTER FUNCTION: RETURN of an expression of the type *returns* or of a query, or a *body*."""

    name: tuple[str, ...]
    parameters: tuple[ProcedureParameter, ...]
    returned: str
    returns: str = ""
    verb: str = "CREATE"
    body: str = ""
    """BEGIN … END with more than RETURN, on the lines of the batch; *returned* is empty then."""
    program: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    """Instructions of the body; names are resolved at creation."""


@dataclass(frozen=True, slots=True)
class CreateView(Statement):
    """CREATE VIEW or ALTER VIEW."""

    name: tuple[str, ...]
    query: str
    verb: str = "CREATE"


@dataclass(frozen=True, slots=True)
class CreateTable(Statement):
    """CREATE TABLE; *columns* is the text including its brackets."""

    name: tuple[str, ...]
    columns: str
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CreateIndex(Statement):
    """Index of a table; only a unique one changes results."""

    table: tuple[str, ...]
    name: str
    columns: tuple[str, ...]
    unique: bool = False
    clustered: bool = False
    ignore_duplicates: bool = False
    included: tuple[str, ...] = ()
    descending: tuple[str, ...] = ()
    filter: str = ""
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class AlterTable(Statement):
    """Columns and constraints to add, as text in brackets, or names of columns or a constraint to drop."""

    name: tuple[str, ...]
    columns: str = ""
    dropped: tuple[str, ...] = ()
    constraint: str = ""
    default: tuple[str, str, str] | None = None
    """ADD DEFAULT: column, expression, name of the constraint."""
    altered: str = ""
    """ALTER COLUMN: the new column, in brackets."""
    unchecked: bool = False
    """True for WITH NOCHECK: existing rows may violate the new constraint."""
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropIndex(Statement):
    """DROP INDEX index ON table; *indexes*: (name, table) of each."""

    indexes: tuple[tuple[str, tuple[str, ...]], ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class Argument:
    """Argument of a procedure; an empty name means by position."""

    name: str
    value: Value
    output: bool = False
    narrow: bool = False
    """True for a text without N."""
    default: bool = False
    """True for DEFAULT instead of a value."""


@dataclass(frozen=True, slots=True)
class Execute(Statement):
    """EXEC procedure. *target* is set for a procedure whose name is in a variable."""

    procedure: str
    arguments: tuple[Argument, ...] = ()
    returns: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True)
class ExecuteString(Statement):
    """EXEC ('…' + @text) [AT linked_server]."""

    expression: str
    linked_server: str = ""


@dataclass(frozen=True, slots=True)
class InsertExec(Statement):
    """INSERT target EXEC …: the rows of a procedure go into a table."""

    target: str
    source: Execute | ExecuteString


@dataclass(frozen=True, slots=True)
class Raiserror(Statement):
    """RAISERROR."""

    message: Value
    severity: Value
    state: Value
    arguments: tuple[Value, ...] = ()
    options: tuple[str, ...] = ()
    number: Value = None
    """Number of the old form without brackets."""


@dataclass(frozen=True, slots=True)
class Throw(Statement):
    """THROW number, message, state; all None: raise the caught error again."""

    number: Value = None
    message: Value = None
    state: Value = None


@dataclass(frozen=True, slots=True)
class DeclareCursor(Statement):
    """DECLARE name CURSOR, SET @name = CURSOR; *options* in capitals: LOCAL, STATIC, SCROLL and others."""

    name: str
    query: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CursorAction(Statement):
    """OPEN, CLOSE or DEALLOCATE of a cursor."""

    verb: str
    name: str


@dataclass(frozen=True, slots=True)
class FetchCursor(Statement):
    """FETCH from a cursor."""

    direction: str
    offset: Value
    name: str
    into: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Return(Statement):
    """RETURN [value]."""

    expression: str = ""


@dataclass(frozen=True, slots=True)
class ExecuteAs(Statement):
    """EXECUTE AS LOGIN or USER = 'name'."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Revert(Statement):
    """REVERT of EXECUTE AS."""


@dataclass(frozen=True, slots=True)
class UnsimulatedStatement(Statement):
    """Valid statement that is not simulated; *what* names it."""

    what: str
