"""Tests of real drivers against `mirrordrill serve` in a separate process."""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, cast
from uuid import UUID

import mssql_python
import pymssql
import pyodbc
import pytds
import pytest
import sqlalchemy

from app.files.folders import PROFILE_FOLDER_VARIABLE
from tests.drivers.follow import DRIVERS as BY_DRIVER
from tests.drivers.follow import ODBC, follow_failover
from tests.drivers.profiles import build_client_name, build_lab_text
from tests.drivers.relay import Relay
from tests.forked import Program, run_program

PROFILES = {"pyodbc": "odbc-18", "mssql-python": "mssql-python", "pymssql": "freetds"}
"""Driver -> profile of the simulated client in the lab that is compared with it.

Connection strings name no partner. `make drivers` tests python-tds, because it leaks a socket at each failed
login.
"""


@dataclass
class ServeProcess:
    servers: dict[str, dict[str, Any]]
    certificate: Path
    input_stream: IO[str]
    """Stream for input lines."""
    event_lines: list[str] = field(default_factory=list)
    """Events received so far, one JSON object per line."""

    @property
    def principal(self) -> dict[str, Any]:
        return self.servers["SERVER_A"]

    def write_line(self, line: str) -> None:
        self.input_stream.write(line + "\n")
        self.input_stream.flush()


@pytest.fixture(scope="module")
def served_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProcess]:
    """Yield the lab with servers of version 2014. At the end, kill the process and replay its record."""
    folder = tmp_path_factory.mktemp("served")
    record, certificate, lab = folder / "run.json", folder / "run.pem", folder / "lab.toml"
    lab.write_text(build_lab_text({(profile, "told") for profile in PROFILES.values()}, 0), encoding="utf-8")
    environment = {**os.environ, PROFILE_FOLDER_VARIABLE: str(folder / "profile")}
    words = ("serve", lab, "--port-base", "0", "--record", record, "--certificate", certificate)
    with Program(*words, environment=environment) as running:
        first = json.loads(running.stdout.readline())
        served = ServeProcess(first["servers"], certificate, running.stdin)
        reading = threading.Thread(target=lambda: served.event_lines.extend(running.stdout), daemon=True)
        reading.start()  # a full pipe would block the process
        yield served
        running.kill()
        reading.join(10)
    assert run_program("replay", record, environment=environment).returncode == 0


def connect_pytds(server: dict[str, Any], **options: Any) -> Any:
    return pytds.connect(
        dsn=server["host"],
        database="Sales",
        user=server["login"],
        password=server["password"],
        port=server["port"],
        login_timeout=30,
        **options,
    )


def connect_pymssql(server: dict[str, Any], **options: Any) -> Any:
    return pymssql.connect(
        server=server["host"],
        port=str(server["port"]),
        user=server["login"],
        password=server["password"],
        database="Sales",
        login_timeout=30,
        **options,
    )


def build_odbc_string(server: dict[str, Any], encrypt: str) -> str:
    return (
        f"Server={server['host']},{server['port']};Database=Sales;UID={server['login']};PWD={server['password']};"
        f"Encrypt={encrypt};TrustServerCertificate={'no' if encrypt.startswith('strict') else 'yes'}"
    )


def connect_pyodbc(server: dict[str, Any], encrypt: str = "yes", **options: Any) -> Any:
    return pyodbc.connect(f"Driver={ODBC};{build_odbc_string(server, encrypt)}", timeout=30, **options)


def connect_mssql_python(server: dict[str, Any], encrypt: str = "yes", **options: Any) -> Any:
    return mssql_python.connect(build_odbc_string(server, encrypt), **options)


DRIVERS: dict[str, tuple[Callable[..., Any], str]] = {
    "python-tds": (connect_pytds, "%s"),
    "pymssql": (connect_pymssql, "%s"),
    "pyodbc": (connect_pyodbc, "?"),
    "mssql-python": (connect_mssql_python, "?"),
}
"""Driver -> connect function and parameter marker."""
EACH_DRIVER = pytest.mark.parametrize("driver", DRIVERS)


def connect_to_principal(driver: str, served: ServeProcess, **options: Any) -> Any:
    return DRIVERS[driver][0](served.principal, **options)


# --- logins ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("driver", "hidden", "options"),
    [
        ("python-tds", "none", {}),
        ("python-tds", "all", {"cafile": "CERTIFICATE", "validate_host": False}),
        ("python-tds", "login", {"cafile": "CERTIFICATE", "validate_host": False, "enc_login_only": True}),
        ("pymssql", "none", {"encryption": "off"}),
        ("pymssql", "login", {"encryption": "request"}),
        ("pymssql", "all", {"encryption": "require"}),
        ("pyodbc", "login", {"encrypt": "no"}),
        ("pyodbc", "all", {"encrypt": "yes"}),
        ("pyodbc", "strict", {"encrypt": "strict;ServerCertificate=CERTIFICATE"}),
        ("mssql-python", "login", {"encrypt": "no"}),
        ("mssql-python", "all", {"encrypt": "yes"}),
        ("mssql-python", "strict", {"encrypt": "strict;ServerCertificate=CERTIFICATE"}),
    ],
    ids=str,
)
def test_a_login_works_with_and_without_tls(
    served_lab: ServeProcess, driver: str, hidden: str, options: dict[str, Any]
) -> None:
    """Text that TLS encrypts does not appear on the wire."""
    connection_options = {
        name: value.replace("CERTIFICATE", str(served_lab.certificate)) if isinstance(value, str) else value
        for name, value in options.items()
    }
    relay = Relay(served_lab.principal["port"])
    connection = DRIVERS[driver][0]({**served_lab.principal, "port": relay.port}, **connection_options)
    cursor = connection.cursor()
    cursor.execute("SELECT @@SERVERNAME")
    assert tuple(cursor.fetchone()) == ("SERVER_A",)
    assert relay.way == hidden
    connection.close()


def test_an_untrusted_certificate_is_refused_by_a_verifying_client(served_lab: ServeProcess) -> None:
    with pytest.raises(pyodbc.OperationalError, match="certificate verify failed"):
        connect_pyodbc(served_lab.principal, "strict")


# --- values ------------------------------------------------------------------------------------------------

NEGATIVE_OFFSET_ZONE = dt.timezone(dt.timedelta(hours=-5, minutes=-30))
VALUES: dict[str, tuple[str, object]] = {
    "bit": ("1", True),
    "tinyint": ("255", 255),
    "smallint": ("-32768", -32768),
    "int": ("-2147483648", -2147483648),
    "bigint": ("9223372036854775807", 9223372036854775807),
    "decimal(15,4)": ("'-12345678901.2345'", Decimal("-12345678901.2345")),
    "decimal(38,0)": (f"-{'9' * 38}", Decimal("-" + "9" * 38)),
    "decimal(38,38)": (f"0.{'9' * 38}", Decimal("0." + "9" * 38)),
    "money": ("-922337203685477.5808", Decimal("-922337203685477.5808")),
    "smallmoney": ("'214748.3647'", Decimal("214748.3647")),
    "float": ("'1.5e300'", 1.5e300),
    "real": ("'1.25'", 1.25),
    "date": ("'2005-11-07'", dt.date(2005, 11, 7)),
    "time(3)": ("'23:59:59.123'", dt.time(23, 59, 59, 123000)),
    "datetime2(6)": ("'9999-12-31 23:59:59.999999'", dt.datetime(9999, 12, 31, 23, 59, 59, 999999)),
    "datetimeoffset(3)": (
        "'2005-11-07 12:34:56.789 -05:30'",
        dt.datetime(2005, 11, 7, 12, 34, 56, 789000, NEGATIVE_OFFSET_ZONE),
    ),
    "datetime": ("'2005-11-07 12:34:56.997'", dt.datetime(2005, 11, 7, 12, 34, 56, 997000)),
    "smalldatetime": ("'2005-11-07 12:34'", dt.datetime(2005, 11, 7, 12, 34)),
    "char(5)": ("'Äb'", "Äb   "),
    "varchar(20)": ("N'Ä€b'", "Ä€b"),
    "varchar(max)": ("N'Ä€b'", "Ä€b"),
    "ntext": ("N'Ω😀'", "Ω😀"),
    "sql_variant": ("7", 7),
    "nchar(5)": ("N'Ωb'", "Ωb   "),
    "nvarchar(20)": ("N'Ω😀'", "Ω😀"),
    "nvarchar(max)": ("REPLICATE(CAST(N'Ω' AS nvarchar(max)), 9000)", "Ω" * 9000),
    "binary(4)": ("0x01FF", b"\x01\xff\0\0"),
    "varbinary(20)": ("0x01FF", b"\x01\xff"),
    "varbinary(max)": ("0x01FF", b"\x01\xff"),
    "uniqueidentifier": (
        "'6F9619FF-8B86-D011-B42D-00C04FC964FF'",
        UUID("6f9619ff-8b86-d011-b42d-00c04fc964ff"),
    ),
    "xml": ("'<a>x</a>'", "<a>x</a>"),
}
"""Type -> value in T-SQL notation, and the same value as a Python object."""


def convert_to_plain(value: object) -> object:
    """Convert driver-specific values: GUIDs to text, 4-byte floats to rounded floats."""
    if isinstance(value, str) and len(value) == 36 and value.count("-") == 4:
        return UUID(value)
    return bytes(value) if isinstance(value, bytearray) else value


@EACH_DRIVER
def test_each_type_arrives_with_its_value_and_as_null(served_lab: ServeProcess, driver: str) -> None:
    # ODBC SQL types -155, -16
    omitted_kinds = {"pyodbc": {"datetimeoffset(3)", "sql_variant"}}.get(driver, set())
    kinds = [kind for kind in VALUES if kind not in omitted_kinds]
    columns = ", ".join(f"CAST({VALUES[kind][0]} AS {kind}), CAST(NULL AS {kind})" for kind in kinds)
    connection = connect_to_principal(driver, served_lab)
    cursor = connection.cursor()
    cursor.execute(f"SELECT {columns}")
    (row,) = cursor.fetchall()
    values_by_kind = {kind: convert_to_plain(value) for kind, value in zip(kinds, row[::2], strict=True)}
    if driver == "pymssql":  # FreeTDS returns the bytes of a number in a sql_variant
        values_by_kind["sql_variant"] = int.from_bytes(cast("bytes", values_by_kind["sql_variant"]), "little")
    assert values_by_kind == {kind: VALUES[kind][1] for kind in kinds}
    assert set(row[1::2]) == {None}
    if driver != "pymssql":
        kinds = [
            "decimal(15,4)",
            "date",
            "datetime",
            "varbinary(20)",
            "uniqueidentifier",
            "money",
            "nchar(5)",
        ]
        values = ", ".join(f"CAST(CAST({VALUES[kind][0]} AS {kind}) AS sql_variant)" for kind in kinds)
        assert [convert_to_plain(value) for value in read_all(cursor, f"SELECT {values}")[0]] == [
            VALUES[kind][1] for kind in kinds
        ]
    connection.close()


@EACH_DRIVER
def test_ten_thousand_rows_arrive_in_order(served_lab: ServeProcess, driver: str) -> None:
    connection = connect_to_principal(driver, served_lab, autocommit=True)
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE big (n int IDENTITY, t nvarchar(10))")
    cursor.execute(
        "INSERT big SELECT N'row' FROM (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS v(x);"
        "INSERT big SELECT a.t FROM big a CROSS JOIN big b;"
        "INSERT big (t) SELECT TOP 9890 a.t FROM big a CROSS JOIN big b"
    )
    while cursor.nextset():
        pass
    cursor.execute("SELECT n, t, NULL FROM big ORDER BY n")
    assert [tuple(row) for row in cursor.fetchall()] == [(n, "row", None) for n in range(1, 10_001)]
    cursor.execute("DROP TABLE big")
    connection.close()


# --- refusals ------------------------------------------------------------------------------------------------

UNSIMULATED_BATCH = "EXEC sp_addextendedproperty 'a', 'b'"


@EACH_DRIVER
def test_an_unsimulated_feature_is_an_error_for_the_program(served_lab: ServeProcess, driver: str) -> None:
    connection = connect_to_principal(driver, served_lab, autocommit=True)
    cursor = connection.cursor()
    with pytest.raises(Exception, match="Not simulated"):
        cursor.execute(f"{UNSIMULATED_BATCH}; SELECT 1")
    connection.close()


def test_a_call_may_ask_for_the_default_of_the_procedure(served_lab: ServeProcess) -> None:
    connection = connect_to_principal("python-tds", served_lab, autocommit=True)
    cursor = connection.cursor()
    cursor.execute("CREATE PROCEDURE with_default @a int, @b int = 7 AS RETURN @a + @b")
    cursor.callproc("with_default", (1, pytds.default))
    assert cursor.get_proc_return_status() == 8
    cursor.execute("DROP PROCEDURE with_default")
    connection.close()


def test_a_database_change_is_no_error_for_pymssql(served_lab: ServeProcess) -> None:
    """INFO tokens with severity 10 are sent with class 0."""
    connection = connect_to_principal("pymssql", served_lab, autocommit=True)
    cursor = connection.cursor()
    cursor.execute("USE msdb")
    cursor.execute("SELECT DB_NAME()")
    assert cursor.fetchone() == ("msdb",)
    connection.close()


# --- parameters and transactions -----------------------------------------------------------------------------


@EACH_DRIVER
def test_parameters_and_transactions_work(served_lab: ServeProcess, driver: str) -> None:
    mark = DRIVERS[driver][1]
    connection = connect_to_principal(driver, served_lab)
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE t (a int, b nvarchar(20), c decimal(9,2))")
    connection.commit()
    rows = [(1, "ü'x", Decimal("1.50")), (2, None, None), (3, "z", Decimal("-2.25"))]
    cursor.executemany(f"INSERT t VALUES ({mark}, {mark}, {mark})", rows)
    connection.commit()
    cursor.execute(f"DELETE t WHERE a > {mark}", (1,))
    assert cursor.rowcount == 2
    cursor.execute("SELECT COUNT(*), @@TRANCOUNT FROM t")
    assert tuple(cursor.fetchone()) == (1, 1)
    connection.rollback()
    cursor.execute(f"SELECT a, b, c FROM t WHERE a <= {mark} ORDER BY a", (3,))
    assert [tuple(row) for row in cursor.fetchall()] == rows
    cursor.execute("DROP TABLE t")
    connection.commit()
    long = Decimal("-1234567890123456789012345678.0123456789")
    cursor.execute(f"SELECT CAST({mark} AS decimal(38,10))", (long,))
    assert cursor.fetchone()[0] == long
    cursor.execute(f"SELECT LEN(CAST({mark} AS nvarchar(max))), ORIGINAL_DB_NAME()", ("é" * 500_000,))
    assert tuple(cursor.fetchone()) == (500_000, "Sales")
    connection.close()


# --- errors --------------------------------------------------------------------------------------------------


def test_an_error_has_number_severity_state_procedure_and_line(served_lab: ServeProcess) -> None:
    with connect_pytds(served_lab.principal, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE PROCEDURE bad AS\nBEGIN\n  RAISERROR('bad news', 13, 42)\nEND")
        with pytest.raises(pytds.Error, match="bad news") as query_error:
            cursor.execute("\nEXEC bad")
        error = query_error.value
        assert (error.number, error.severity, error.state, error.line) == (50000, 13, 42, 3)
        assert (error.procname, error.srvname) == ("bad", "SERVER_A")
    with connect_pymssql(served_lab.principal, autocommit=True) as connection:
        # The error of this object has all details; that of the DB-API has only number and text.
        raw_connection = connection._conn
        with pytest.raises(pymssql._mssql.MSSQLDatabaseException) as driver_error:
            raw_connection.execute_non_query("\nEXEC bad")
        error = driver_error.value
        assert (error.number, error.severity, error.state, error.line) == (50000, 13, 42, 3)
        assert error.procname == b"bad"
        raw_connection.execute_non_query("DROP PROCEDURE bad")


def read_all(cursor: Any, text: str) -> list[Any]:
    """Run *text* and return all rows. The server sends the columns before it computes the first row."""
    cursor.execute(text)
    return list(cursor.fetchall())


@EACH_DRIVER
def test_an_error_is_raised_and_the_connection_continues(served_lab: ServeProcess, driver: str) -> None:
    connection = connect_to_principal(driver, served_lab, autocommit=True)
    cursor = connection.cursor()
    with pytest.raises(Exception, match="Divide by zero error encountered"):
        read_all(cursor, "\n\nSELECT 1/0")
    cursor.execute("SELECT 7")
    assert tuple(cursor.fetchone()) == (7,)
    connection.close()


def test_a_batch_reports_assignments_return_values_and_lost_transactions(served_lab: ServeProcess) -> None:
    with connect_pytds(served_lab.principal, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DECLARE @n int; SELECT @n = 1; SELECT @n = 2; SELECT @n")
        assert (cursor.description, cursor.nextset(), cursor.description) == (None, True, None)
        assert (cursor.nextset(), cursor.fetchall(), cursor.nextset()) == (True, [(2,)], False)
        cursor.execute("CREATE PROCEDURE status46 AS SELECT 45 RETURN 46")
        cursor.execute("EXEC status46")
        assert (cursor.fetchall(), cursor.get_proc_return_status()) == ([(45,)], 46)
        cursor.execute("DROP PROCEDURE status46")
    with connect_pytds(served_lab.principal, autocommit=False) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE lost (n int)")
        with pytest.raises(pytds.Error, match="already an object"):
            cursor.execute("CREATE TABLE lost (n int)")
        assert cursor.execute_scalar("SELECT COUNT(*) FROM sys.tables WHERE name = 'lost'") == 0
        assert cursor.execute_scalar("SELECT @@TRANCOUNT") == 1


def test_unsupported_login_options_are_refused_by_name(served_lab: ServeProcess) -> None:
    # a server without a partner
    connection_string = f"Driver={ODBC};{build_odbc_string(served_lab.principal, 'no')}".replace(
        "Sales", "master"
    )
    with pytest.raises(pyodbc.ProgrammingError, match="Not simulated: MARS"):
        pyodbc.connect(f"{connection_string};MARS_Connection=yes")
    new_password = 1226  # SQL_COPT_SS_OLDPWD
    with pytest.raises(pyodbc.ProgrammingError, match="Not simulated: a password change at login"):
        pyodbc.connect(connection_string, attrs_before={new_password: "old"})
    with connect_pytds(served_lab.principal, autocommit=True) as connection, connection.cursor() as cursor:
        with pytest.raises(pytds.Error, match="Not simulated: INSERT BULK"):
            cursor.copy_to(file=io.StringIO("1\n"), table_or_view="#x", columns=["n"])
        assert cursor.execute_scalar("SELECT 7") == 7


def test_calendar_limits_and_bytes_work_as_parameters(served_lab: ServeProcess) -> None:
    values_sent = (b"\0\1", dt.date(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999))
    with connect_pyodbc(served_lab.principal, autocommit=True) as connection:
        assert tuple(connection.execute("SELECT ?, ?, ?", values_sent).fetchone()) == values_sent


def test_a_scripted_login_has_its_own_password(served_lab: ServeProcess) -> None:
    target = {**served_lab.principal, "login": "bob", "password": "Passw0rd!x"}
    with connect_pytds(served_lab.principal, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE LOGIN bob WITH PASSWORD = 'Passw0rd!x'")
        cursor.execute("CREATE USER bob")
        with connect_pytds(target) as own_connection, own_connection.cursor() as pytds_cursor:
            assert pytds_cursor.execute_scalar("SELECT SUSER_SNAME()") == "bob"
        with pytest.raises(pytds.Error, match="Login failed for user 'bob'"):
            connect_pytds({**target, "password": "passw0rd!x"}, disable_connect_retry=True)
        cursor.execute("DROP USER bob")
        cursor.execute("DROP LOGIN bob")


def test_an_impossible_value_is_8023_and_a_table_parameter_is_refused_by_name(
    served_lab: ServeProcess,
) -> None:
    with connect_pyodbc(served_lab.principal, autocommit=True) as connection:
        with pytest.raises(pyodbc.Error, match="not a valid instance of data type float"):
            connection.execute("SELECT ?", float("nan"))
        assert connection.execute("SELECT 7").fetchval() == 7
    column = pytds.Column(type=pytds.tds_types.IntType())
    table = pytds.TableValuedParam(type_name="dbo.numbers", columns=(column,), rows=[(1,)])
    with connect_pytds(served_lab.principal, autocommit=True) as connection, connection.cursor() as cursor:
        with pytest.raises(pytds.Error, match="Not simulated: a table-valued parameter"):
            cursor.execute("SELECT * FROM %s", (table,))
        assert cursor.execute_scalar("SELECT 7") == 7


def test_an_odbc_call_is_prepared_and_repeated(served_lab: ServeProcess) -> None:
    connection = connect_pyodbc(served_lab.principal, autocommit=True)
    cursor = connection.cursor()
    cursor.execute("CREATE PROCEDURE twice @a int, @b nvarchar(20) AS SELECT 2 * @a, @b + @b")
    for number in (5, 6):
        cursor.execute("{CALL twice(?, ?)}", number, "ü")
        assert tuple(cursor.fetchone()) == (2 * number, "üü")
    cursor.execute("DROP PROCEDURE twice")
    connection.close()


@EACH_DRIVER
def test_an_unsimulated_feature_is_an_error_not_an_empty_result(
    served_lab: ServeProcess, driver: str
) -> None:
    connection = connect_to_principal(driver, served_lab, autocommit=True)
    cursor = connection.cursor()
    with pytest.raises(Exception, match="Not simulated: SQL_VARIANT_PROPERTY of TotalBytes"):
        cursor.execute("SELECT SQL_VARIANT_PROPERTY(1, 'TotalBytes')") or cursor.fetchall()
    # The table is created; a warning says that its timestamps stay NULL.
    cursor.execute("CREATE TABLE #t (a int, seen timestamp)")
    connection.close()


# --- cancel --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("driver", ["pyodbc", "mssql-python", "pymssql", "python-tds"])
def test_a_batch_is_canceled_and_the_connection_continues(served_lab: ServeProcess, driver: str) -> None:
    """Drivers without a cancel function cancel by a time-out."""
    slow = "WAITFOR DELAY '00:00:30'"
    connection = connect_to_principal(driver, served_lab)
    if driver == "mssql-python":
        connection.timeout = 1
    cursor = connection.cursor()
    began = time.monotonic()
    if driver == "python-tds":
        cursor.execute("SELECT 1")
        cursor.cancel()  # This sends an attention and waits for the answer.
    elif driver == "pymssql":
        cursor._source._conn.query_timeout = 1
        with pytest.raises(pymssql.DatabaseError):
            cursor.execute(slow)
        cursor._source._conn.query_timeout = 0  # The option applies to every connection of the process.
    elif driver == "pyodbc":
        by_hand = threading.Timer(0.5, cursor.cancel)
        by_hand.start()
        with pytest.raises(pyodbc.Error, match=r"(?i)cancel"):
            cursor.execute(slow)
        by_hand.join()  # Otherwise the thread could still run and cancel a later query.
    else:
        with pytest.raises(Exception, match=r"(?i)timeout"):
            cursor.execute(slow)
    assert time.monotonic() - began < 15
    if driver != "pymssql":  # pymssql closes a connection after a timeout
        if driver == "mssql-python":  # On a busy machine every query takes longer.
            connection.timeout = 0
            cursor = connection.cursor()
        cursor.execute("SELECT 7")
        assert tuple(cursor.fetchone()) == (7,)
    connection.close()


# --- SQLAlchemy ----------------------------------------------------------------------------------------------


DIALECTS = {"mssql+pymssql": connect_pymssql, "mssql+pyodbc": connect_pyodbc}


def create_sqlalchemy_engine(dialect: str, *servers: dict[str, Any]) -> sqlalchemy.Engine:
    """Return a connection pool to the first of *servers* that accepts logins."""

    def connect_in_turn() -> Any:
        for server in servers[:-1]:
            with suppress(Exception):
                return DIALECTS[dialect](server)
        return DIALECTS[dialect](servers[-1])

    return sqlalchemy.create_engine(f"{dialect}://", creator=connect_in_turn, pool_pre_ping=True)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_sqlalchemy_works_with_a_table(served_lab: ServeProcess, dialect: str) -> None:
    engine = create_sqlalchemy_engine(dialect, served_lab.principal)
    column, types = sqlalchemy.Column, sqlalchemy.types
    table = sqlalchemy.Table(
        "orders",
        sqlalchemy.MetaData(),
        column("id", types.Integer, primary_key=True),
        column("note", types.Unicode(50)),
        column("amount", types.Numeric(9, 2)),
        column("at", types.DateTime),
        column("open", types.Boolean),
    )
    row = ("ü", Decimal("-12.50"), dt.datetime(2005, 11, 7, 12, 34, 56), True)
    with engine.begin() as connection:
        table.create(connection)
        result = connection.execute(table.insert().values(dict(zip(table.c.keys()[1:], row, strict=True))))
        assert result.inserted_primary_key == (1,)
        connection.execute(table.insert(), [{"note": None}] * 2)
    with engine.connect() as connection:
        connection.execute(table.delete())
        with pytest.raises(sqlalchemy.exc.DBAPIError, match="bad news"):
            connection.exec_driver_sql("RAISERROR('bad news', 13, 42)")
        connection.rollback()
    ten = " CROSS JOIN ".join(
        f"(VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS {name}(x)" for name in "abcd"
    )
    with engine.begin() as connection:
        wanted = table.select().where(table.c.id <= sqlalchemy.bindparam("most")).order_by(table.c.id)
        nulls = (None,) * 4
        assert connection.execute(wanted, {"most": 2}).all() == [(1, *row), (2, *nulls)]
        assert connection.execute(sqlalchemy.select(sqlalchemy.func.count()).select_from(table)).scalar() == 3
        numbers = "a.x + 10 * b.x + 100 * c.x + 1000 * d.x"
        numbers_read = (
            connection.exec_driver_sql(f"SELECT {numbers} AS n FROM {ten} ORDER BY n").scalars().all()
        )
        assert numbers_read == list(range(10_000))
        assert [
            column["name"] for column in sqlalchemy.inspect(connection).get_columns("orders")
        ] == table.c.keys()
        table.drop(connection)
    engine.dispose()


# --- failover: runs last, because it stops the principal --------------------------------------------------


def test_the_mirror_refuses_logins_to_its_database(served_lab: ServeProcess) -> None:
    with pytest.raises(pytds.Error, match="acting as a mirror database"):
        connect_pytds(served_lab.servers["SERVER_B"], disable_connect_retry=True)


def test_after_a_failover_each_driver_follows_its_profile_to_the_new_principal(
    served_lab: ServeProcess,
) -> None:
    target, run_ended = served_lab.principal, threading.Event()
    settings = {"HOST": target["host"], "PORT": str(target["port"]), "PARTNER": "", "PASSWORD": target["password"],
                "TIMEOUT": "0"}  # fmt: skip
    ready, recovered_s = threading.Semaphore(0), dict[str, float]()
    pools = [
        create_sqlalchemy_engine(dialect, target, served_lab.servers["SERVER_B"]) for dialect in DIALECTS
    ]
    for pool in pools:
        with pool.connect() as kept_connection:
            assert kept_connection.exec_driver_sql("SELECT @@SERVERNAME").scalar() == "SERVER_A"

    def run_application(name: str) -> None:
        if follow_failover(lambda: BY_DRIVER[name](settings), ready.release, run_ended.is_set):
            recovered_s[name] = time.monotonic()

    for name in PROFILES:
        threading.Thread(target=run_application, args=(name,), daemon=True).start()
    for _ in PROFILES:
        assert ready.acquire(timeout=30)
    served_lab.write_line("stop-service SERVER_A")
    deadline = time.monotonic() + 45
    while not {"pyodbc", "mssql-python"} <= {*recovered_s}:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    for connecting, _ in DRIVERS.values():
        connection = connecting(served_lab.servers["SERVER_B"])
        cursor = connection.cursor()
        cursor.execute("SELECT @@SERVERNAME, DB_NAME()")
        assert tuple(cursor.fetchone()) == ("SERVER_B", "Sales")
        connection.close()
    for pool in pools:
        with pool.connect() as new_connection:
            assert new_connection.exec_driver_sql("SELECT @@SERVERNAME").scalar() == "SERVER_B"
        pool.dispose()
    # This is longer than the pause between two logins, so all clients that can fail over have reconnected.
    time.sleep(2.5)
    events = [json.loads(line) for line in list(served_lab.event_lines)]
    (fault_s,) = (event["t_s"] for event in events if event["kind"] == "fault")
    simulated = {
        event["client"]: event["t_s"] - fault_s
        for event in events
        if event["kind"] == "client" and event.get("what") == "connected" and event["t_s"] > fault_s
    }
    followed = {name for name, profile in PROFILES.items() if build_client_name(profile, "told") in simulated}
    assert followed == {*recovered_s} == {"pyodbc", "mssql-python"}
    online = next(e["t_s"] for e in events if e.get("step") == "online" and e["kind"] == "failover") - fault_s
    assert all(
        online <= simulated[build_client_name(PROFILES[name], "told")] < online + 2.5 for name in recovered_s
    )
    assert abs(recovered_s["pyodbc"] - recovered_s["mssql-python"]) < 2.5
    run_ended.set()
