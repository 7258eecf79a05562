"""Table of options: an effect changes the world, a no-op does not change it, and a refusal raises an error."""

from __future__ import annotations

import re
from typing import Final

import pytest

from engine.model import World
from engine.protocol.backup import BackupFile
from engine.tsql.language import option_table
from engine.tsql.language.option_table import EFFECT, REFUSED, OptionRule
from tests.engine.availability.worlds import apply_lines, build_ag_lab
from tests.engine.tsql.console import Answer, run_seconds, submit_batch
from tests.engine.worlds import P, build_lab
from tests.events import read_field

SERVER: Final = "NODE_1"
PREPARATION_SCRIPT: Final = r"""CREATE TABLE t (a int NOT NULL, b int); CREATE INDEX i ON t (b)
GO
CREATE LOGIN known WITH PASSWORD = 'Pa55!!'
CREATE LOGIN orphan WITH PASSWORD = 'Pa55!!', SID = 0x000000000000000000000000000000A0
GO
CREATE USER someone WITHOUT LOGIN
GO
CREATE DATABASE Plain
GO
EXEC sp_configure 'show advanced options', 1; RECONFIGURE
GO
BACKUP DATABASE Plain TO DISK = 'D:\p.bak'"""

RESTORE_STATEMENTS: Final = (
    r"RESTORE DATABASE Other FROM DISK = 'D:\p.bak' WITH MOVE 'Plain' TO 'D:\o.mdf', "
    r"MOVE 'Plain_log' TO 'D:\o.ldf'"
)

TEMPLATES: Final = {
    "CREATE INDEX": ("CREATE INDEX n ON t (a) WITH ({})", "CREATE INDEX n ON t (a)"),
    "COLUMN": ("CREATE TABLE n (a int, b varchar(5) {})", "CREATE TABLE n (a int, b varchar(5))"),
    "CREATE TABLE": ("CREATE TABLE n (a int) WITH ({})", "CREATE TABLE n (a int)"),
    "CREATE LOGIN": (
        "CREATE LOGIN n WITH PASSWORD = 'Pa55!!', {}",
        "CREATE LOGIN n WITH PASSWORD = 'Pa55!!'",
    ),
    "ALTER LOGIN": ("ALTER LOGIN known WITH {}", ""),
    "CREATE USER": ("CREATE USER n FOR LOGIN known WITH {}", "CREATE USER n FOR LOGIN known"),
    "ALTER USER": ("ALTER USER someone WITH {}", ""),
    "CREATE DATABASE": ("CREATE DATABASE n {}", "CREATE DATABASE n"),
    "ALTER DATABASE SET": ("ALTER DATABASE Plain SET {}", ""),
    "sp_configure": ("EXEC sp_configure '{}', {number}; RECONFIGURE", ""),
    "trace flag": ("DBCC TRACEON ({}, -1)", ""),
    "BACKUP": (
        r"BACKUP DATABASE Plain TO DISK = 'D:\q.bak' WITH {}",
        r"BACKUP DATABASE Plain TO DISK = 'D:\q.bak'",
    ),
    "RESTORE": (
        RESTORE_STATEMENTS + ", {}",
        RESTORE_STATEMENTS,
    ),
}
"""Kind of statement -> (statement with a place for the option, same statement without it)."""

EXAMPLES: Final = {
    ("CREATE LOGIN", "PASSWORD"): "CREATE LOGIN n WITH PASSWORD = 'Qa55!!'",
    ("CREATE LOGIN", "SID"): "SID = 0x000000000000000000000000000000AB",
    ("CREATE LOGIN", "DEFAULT_DATABASE"): "DEFAULT_DATABASE = Plain",
    ("CREATE LOGIN", "DEFAULT_LANGUAGE"): "DEFAULT_LANGUAGE = Deutsch",
    ("CREATE LOGIN", "CHECK_POLICY"): "CHECK_POLICY = OFF",
    ("CREATE LOGIN", "MUST_CHANGE"): "CREATE LOGIN n WITH PASSWORD = 'Pa55!!' MUST_CHANGE",
    ("CREATE LOGIN", "HASHED"): "CREATE LOGIN n WITH PASSWORD = 0x01 HASHED",
    ("ALTER LOGIN", "PASSWORD"): "PASSWORD = 'Qa55!!'",
    ("ALTER LOGIN", "DEFAULT_DATABASE"): "DEFAULT_DATABASE = Plain",
    ("ALTER LOGIN", "DEFAULT_LANGUAGE"): "DEFAULT_LANGUAGE = Deutsch",
    ("ALTER LOGIN", "CHECK_POLICY"): "CHECK_POLICY = OFF",
    ("ALTER LOGIN", "MUST_CHANGE"): "PASSWORD = 'Qa55!!' MUST_CHANGE",
    ("ALTER LOGIN", "HASHED"): "PASSWORD = 0x01 HASHED",
    ("ALTER LOGIN", "UNLOCK"): "PASSWORD = 'Pa55!!' UNLOCK",
    ("ALTER LOGIN", "OLD_PASSWORD"): "PASSWORD = 'Pa55!!' OLD_PASSWORD = 'Pa55!!'",
    ("CREATE USER", "CERTIFICATE"): "CREATE USER n FROM CERTIFICATE c",
    ("CREATE USER", "PASSWORD"): "PASSWORD = 'Pa55!!'",
    ("ALTER USER", "PASSWORD"): "PASSWORD = 'Pa55!!'",
    ("ALTER USER", "LOGIN"): "LOGIN = orphan",
    ("CREATE INDEX", "DROP_EXISTING ON"): "CREATE INDEX i ON t (a) WITH (DROP_EXISTING = ON)",
    ("CREATE INDEX", "IGNORE_DUP_KEY"): "CREATE UNIQUE INDEX n ON t (a) WITH (IGNORE_DUP_KEY = ON)",
    ("CREATE INDEX", "FILLFACTOR"): "FILLFACTOR = 70",
    ("CREATE INDEX", "ON"): "CREATE INDEX n ON t (a) ON {}",
    ("CREATE INDEX", "FILESTREAM_ON"): "CREATE INDEX n ON t (a) FILESTREAM_ON {}",
    ("CREATE TABLE", "ON"): "CREATE TABLE n (a int) ON {}",
    ("CREATE TABLE", "TEXTIMAGE_ON"): "CREATE TABLE n (a int) TEXTIMAGE_ON {}",
    ("CREATE TABLE", "FILESTREAM_ON"): "CREATE TABLE n (a int) FILESTREAM_ON {}",
    ("COLUMN", "PERSISTED"): "CREATE TABLE n (a int, b AS a * 2 PERSISTED)",
    ("COLUMN", "COLLATE"): "COLLATE {}",
    ("COLUMN", "MASKED"): "MASKED WITH (FUNCTION = 'default()')",
    ("COLUMN", "ENCRYPTED"): "ENCRYPTED WITH (COLUMN_ENCRYPTION_KEY = k)",
    ("COLUMN", "GENERATED"): "GENERATED ALWAYS AS ROW START",
    ("CREATE DATABASE", "COLLATE"): "COLLATE {}",
    ("CREATE DATABASE", "WITH"): "WITH TRUSTWORTHY ON",
    (
        "CREATE DATABASE",
        "FILEGROUP",
    ): r"ON (NAME = n, FILENAME = 'D:\n.mdf'), FILEGROUP f (NAME = m, FILENAME = 'D:\m.ndf')",
    ("ALTER DATABASE SET", "RECOVERY"): "RECOVERY SIMPLE",
    ("ALTER DATABASE SET", "DELAYED_DURABILITY"): "DELAYED_DURABILITY = FORCED",
    ("ALTER DATABASE SET", "TRUSTWORTHY"): "TRUSTWORTHY ON",
    ("ALTER DATABASE SET", "COMPATIBILITY_LEVEL"): "COMPATIBILITY_LEVEL = 110",
    ("ALTER DATABASE SET", "VARDECIMAL_STORAGE_FORMAT"): "VARDECIMAL_STORAGE_FORMAT {}",
    ("ALTER DATABASE SET", "HONOR_BROKER_PRIORITY"): "HONOR_BROKER_PRIORITY {}",
    ("ALTER DATABASE SET", "AUTO_CREATE_STATISTICS ON (*"): "AUTO_CREATE_STATISTICS ON (INCREMENTAL = ON)",
    ("ALTER DATABASE SET", "CHANGE_TRACKING"): "CHANGE_TRACKING = {}",
    ("ALTER DATABASE SET", "QUERY_STORE"): "QUERY_STORE = {}",
    ("sp_configure", "max worker threads"): "EXEC sp_configure 'max worker threads', 300; RECONFIGURE",
    ("sp_configure", "show advanced options"): "EXEC sp_configure 'show advanced options', 0; RECONFIGURE",
    ("sp_configure", "Agent XPs"): "EXEC sp_configure 'Agent XPs', 0; RECONFIGURE",
}
"""Option texts or complete statements, for values that the table does not determine."""

BACKUP_EXAMPLES: Final = {
    "NAME": "NAME = 'n'", "DESCRIPTION": "DESCRIPTION = 'd'", "EXPIREDATE": "EXPIREDATE = '2099-01-01'",
    "STANDBY": r"STANDBY = 'D:\u.tuf'", "STOPAT": "STOPAT = '2099-01-01'", "FILE": "FILE = 1",
    "RETAINDAYS": "RETAINDAYS = 3", "BLOCKSIZE": "BLOCKSIZE = 512", "BUFFERCOUNT": "BUFFERCOUNT = 5",
    "MAXTRANSFERSIZE": "MAXTRANSFERSIZE = 65536", "STATS": "STATS = 10", "MEDIANAME": "MEDIANAME = 'm'",
    "MEDIADESCRIPTION": "MEDIADESCRIPTION = 'm'", "PASSWORD": "PASSWORD = 'Pa55!!'", "CREDENTIAL": "CREDENTIAL = 'c'",
    "STOPATMARK": "STOPATMARK = 'm'", "STOPBEFOREMARK": "STOPBEFOREMARK = 'm'",
    "ENCRYPTION": "ENCRYPTION (ALGORITHM = AES_256, SERVER CERTIFICATE = c)",
}  # fmt: skip
"""Options of BACKUP and RESTORE with values."""

MINIMUM_VALUES: Final = {
    "max server memory (MB)": 4096, "min memory per query (KB)": 2048, "index create memory (KB)": 2048,
    "locks": 6000, "network packet size (B)": 8192,
}  # fmt: skip

OPTIONS_TESTED_ELSEWHERE: Final = frozenset(
    [
        "ONLINE",
        "OFFLINE",
        "ENCRYPTION",
        "MULTI_USER",
        "SINGLE_USER",
        "RESTRICTED_USER",
        "READ_WRITE",
        "READ_ONLY",
        "EMERGENCY",
        "NO_TRUNCATE",
        "TRUNCATE_ONLY",
        "NO_LOG",
        "NORECOVERY",
        "STANDBY",
        "STOPAT",
        "CHECKSUM",
        "NO_CHECKSUM",
        "NO_COMPRESSION",
        "SKIP",
        "STATS",
        "FILE",
        "REPLACE",
        "COPY_ONLY",
        "DIFFERENTIAL",
        "RECOVERY",
        "INIT",
        "FORMAT",
    ]
)
"""Options whose effects are tested in tests/statement_gate.py, or in tests of databases and backups."""


def build_statement(rule: OptionRule) -> str:
    """Return a statement that holds the option with the first value of the rule."""
    value = {"*": "x", "#": "1"}.get(rule.values[0], rule.values[0])
    names = ((rule.statement, name) for name in (rule.option, f"{rule.option} {value}"))
    text = next((EXAMPLES[key] for key in names if key in EXAMPLES), None)
    if text is None and rule.statement in ("BACKUP", "RESTORE"):
        text = BACKUP_EXAMPLES.get(rule.option, rule.option)
    if text is None:
        is_named_alone = rule.statement in ("sp_configure", "trace flag")
        separator = " " if rule.statement == "ALTER DATABASE SET" else " = "
        text = (
            rule.option
            if is_named_alone or not value or (rule.values[0] == "*" and "" in rule.values)
            else f"{rule.option}{separator}{value}"
        )
    text = text.format(value)
    is_statement = text.startswith(("CREATE ", "EXEC ", "ALTER "))
    number = MINIMUM_VALUES.get(rule.option, 1)
    return text if is_statement else TEMPLATES[rule.statement][0].format(text, number=number)


def build_prepared_world() -> World:
    world = build_ag_lab(version=2022)
    for batch in PREPARATION_SCRIPT.split("\nGO\n"):
        answer = submit_batch(world, SERVER, batch, wait_s=60)
        assert not [text for text in answer.texts if "Msg" in text], answer.texts
    return world


@pytest.fixture(scope="module")
def base() -> World:
    return build_prepared_world()


def collect_state(world: World) -> tuple[object, ...]:
    """Return all state that a statement can change, without counters that every statement increments."""
    copies = {key: (c.recovery_model, c.db_state, c.delayed_durability, c.trustworthy, c.compatibility_level,
                    c.file_options, c.extra_files) for key, c in world.copies.items()}  # fmt: skip
    instances = {
        name: (i.trace_flags, i.max_worker_threads, tuple((x.name, x.sid if x.sid > 100 and x.sid < 200 else 0,
               x.password, x.default_database, x.default_language, x.check_policy, x.check_expiration)
               for x in i.logins),
               tuple((x.name, x.sid) for x in i.users))
        for name, i in world.instances.items()
    }  # fmt: skip
    backups = {
        place: [backup_set.details for backup_set in file.sets]
        for place, file in world.files.items()
        if place[1].endswith(".bak") and isinstance(file, BackupFile)
    }
    return (
        backups,
        copies,
        instances,
        {key: value for key, value in world.objects.items() if "~" not in key[2] or "options" in key[2]},
    )


def is_replaced(rule: OptionRule) -> bool:
    """Return whether a later version has another rule for the same value."""
    return any(
        (other.statement, other.option) == (rule.statement, rule.option)
        and other.since > rule.since
        and set(other.values) & set(rule.values)
        for other in option_table.read_rules()
    )


def run_statement(base: World, statement: str) -> tuple[Answer, World]:
    world = base.fork()
    return submit_batch(world, SERVER, statement, wait_s=60), world


@pytest.mark.parametrize(
    "rule",
    [
        rule
        for rule in option_table.read_rules()
        if not (
            rule.statement in ("ALTER DATABASE SET", "BACKUP", "RESTORE")
            and rule.treatment == EFFECT
            and rule.option in OPTIONS_TESTED_ELSEWHERE
        )
        and not is_replaced(rule)
        and (rule.statement, rule.option) != ("sp_configure", "SQL Mail XPs")
        and (rule.statement, rule.option) != ("sp_configure", "Web Assistant Procedures")
    ],
    ids=lambda rule: f"{rule.statement} {rule.option} {'|'.join(rule.values)}",
)
def test_each_line_of_the_option_table_is_true(base: World, rule: OptionRule) -> None:
    answer, world = run_statement(base, build_statement(rule))
    refused = [text for text in answer.texts if text.startswith("Not simulated: ")]
    errors = [m for m in read_field(answer.event, "messages") if m["severity"] > 10]
    if rule.treatment == REFUSED:
        assert refused, (build_statement(rule), answer.texts)
        assert errors
        assert collect_state(world) == collect_state(base)
        return
    assert not errors, (build_statement(rule), answer.texts)
    _, plain_state = run_statement(base, TEMPLATES[rule.statement][1] or "SELECT 1")
    if rule.treatment == EFFECT:
        assert collect_state(world) != collect_state(plain_state), build_statement(rule)
    elif rule.statement not in ("sp_configure", "trace flag"):  # these options show the value that was set
        assert _format_without_options(collect_state(world)) == _format_without_options(
            collect_state(plain_state)
        ), build_statement(rule)


def _format_without_options(value: object) -> str:
    """Return *value* as text without the option texts that stored definitions keep unchanged."""
    return re.sub(r"options=\((?:\([^()]*\),? ?)*\)", "options=()", str(value))


def test_no_option_is_listed_twice_with_the_same_value() -> None:
    seen_keys: set[tuple[str, str, int, str]] = set()
    for rule in option_table.read_rules():
        for value in rule.values:
            key = rule.statement, rule.option, rule.since, value
            assert key not in seen_keys, key
            seen_keys.add(key)


def test_each_version_knows_its_options_of_databases() -> None:
    for version, option, number in (
        (2017, "ACCELERATED_DATABASE_RECOVERY = OFF", 102),
        (2019, "ACCELERATED_DATABASE_RECOVERY = OFF", None),
        (2019, "ACCELERATED_DATABASE_RECOVERY = ON", 50000),
        (2005, "ENCRYPTION ON", 102),
        (2005, "CHANGE_TRACKING = ON", 102),
        (2016, "MIXED_PAGE_ALLOCATION OFF", None),
        (2014, "MIXED_PAGE_ALLOCATION OFF", 102),
        (2022, "AUTO_CLOSE MAYBE", 102),
        (2019, "QUERY_STORE = OFF", None),
        (2022, "QUERY_STORE = OFF", 50000),
    ):
        world = build_lab(workload="none")
        world.update_instance(P, version=version)
        answer = submit_batch(world, P, f"ALTER DATABASE Sales SET {option}", 3)
        is_refused = any(text.startswith("Not simulated: ") for text in answer.texts)
        assert (50000 if is_refused else next(iter(answer.numbers), None)) == number, (version, option)


def test_query_store_is_on_in_databases_of_sql_server_2022() -> None:
    world = build_lab(workload="none")
    states = "SELECT is_query_store_on FROM sys.databases WHERE name IN ('master', 'Sales') ORDER BY name"
    assert submit_batch(world, P, "SELECT COUNT(*) FROM sys.databases").value == 5
    for version, expected, state in ((2019, 0, "OFF"), (2022, 1, "READ_WRITE")):
        world.update_instance(P, version=version)
        assert submit_batch(world, P, states).grids == [[[0], [expected]]]
        query = "USE Sales; SELECT actual_state_desc FROM sys.database_query_store_options"
        assert submit_batch(world, P, query).value == state


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE INDEX n ON t (a) WITH (NOSUCH = ON)",
        "CREATE LOGIN n WITH PASSWORD = 'Pa55!!', NOSUCH = ON",
        "CREATE USER n WITH NOSUCH = x",
        "CREATE TABLE n (a int) WITH (NOSUCH = 1)",
    ],
)
def test_an_unknown_option_is_an_error(base: World, statement: str) -> None:
    assert run_statement(base, statement)[0].numbers == [155]


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("CREATE INDEX n ON t (a) WITH (FILLFACTOR = 101)", 129),
        ("CREATE INDEX n ON t (a) WITH (IGNORE_DUP_KEY = ON)", 1916),
        ("CREATE INDEX n ON t (a) WITH (DROP_EXISTING = ON)", 7999),
        ("CREATE TABLE n (a int, b AS GETDATE() PERSISTED)", 4936),
        ("CREATE LOGIN n WITH PASSWORD = 'Pa55!!', CHECK_POLICY = OFF, CHECK_EXPIRATION = ON", 15122),
        (r"CREATE DATABASE n ON (NAME = n, FILENAME = 'Q:\n.mdf')", 5133),
        (r"CREATE DATABASE n ON (NAME = n, FILENAME = 'D:\n.mdf', SIZE = 1MB)", 1803),
    ],
)
def test_an_invalid_option_value_raises_the_servers_error(base: World, statement: str, number: int) -> None:
    assert run_statement(base, statement)[0].numbers[:1] == [number]


def test_a_filtered_unique_index_checks_only_rows_within_its_filter(base: World) -> None:
    world = base.fork()
    submit_batch(world, SERVER, "CREATE UNIQUE INDEX u ON t (b) WHERE b IS NOT NULL", 1)
    assert submit_batch(world, SERVER, "INSERT t VALUES (1, NULL), (2, NULL), (3, 1)", 1).numbers == []
    assert 2601 in submit_batch(world, SERVER, "INSERT t VALUES (4, 1)", 1).numbers
    result = submit_batch(
        world, SERVER, "SELECT has_filter, filter_definition FROM sys.indexes WHERE name = 'u'", 1
    )
    assert result.grids == [[[True, "(b IS NOT NULL)"]]] or result.grids == [[[1, "(b IS NOT NULL)"]]]


def test_create_database_places_its_files_and_sizes_the_log(base: World) -> None:
    world = base.fork()
    text = r"""CREATE DATABASE n ON PRIMARY (NAME = n_data, FILENAME = 'D:\x\n.mdf', SIZE = 40MB, FILEGROWTH = 10%),
        (NAME = n2, FILENAME = 'D:\x\n2.ndf', SIZE = 8MB, MAXSIZE = 1GB)"""
    assert submit_batch(world, SERVER, text, 2).numbers == []
    rows = submit_batch(
        world, SERVER, "SELECT name, physical_name, size, is_percent_growth FROM n.sys.database_files", 2
    )
    assert [row[:3] for row in rows.grids[0]] == [
        ["n_data", r"D:\x\n.mdf", 5120], ["n_log", rows.grids[0][1][1], 1536], ["n2", r"D:\x\n2.ndf", 1024],
    ]  # fmt: skip
    assert rows.grids[0][0][3]


def test_a_static_configuration_option_waits_for_the_next_start(base: World) -> None:
    world = base.fork()
    submit_batch(world, SERVER, "EXEC sp_configure 'fill factor (%)', 80; RECONFIGURE", 1)
    query = "SELECT value, value_in_use FROM sys.configurations WHERE name = 'fill factor (%)'"
    assert submit_batch(world, SERVER, query, 1).grids == [[[80, 0]]]
    apply_lines(world, f"restart-service {SERVER}")
    run_seconds(world, 60)
    assert submit_batch(world, f"{SERVER}#2", query, 1).grids == [[[80, 80]]]


BACKUP_PLAIN = r"BACKUP DATABASE Plain TO DISK = 'D:\x.bak'"


def test_stored_backup_options_are_in_msdb(base: World) -> None:
    world = base.fork()
    options = "NAME = N'full', DESCRIPTION = 'before', CHECKSUM, COMPRESSION, STATS = 25, RETAINDAYS = 2"
    texts = submit_batch(world, SERVER, f"{BACKUP_PLAIN} WITH {options}", 60).texts
    assert [line for line in texts if "percent" in line] == [
        f"{n} percent processed." for n in (25, 50, 75, 100)
    ]
    assert "file 'Plain_log' on file 1." in texts[-2]
    second_texts = submit_batch(world, SERVER, f"{BACKUP_PLAIN} WITH DIFFERENTIAL, NOINIT", 60).texts
    assert second_texts[0].endswith("file 'Plain' on file 2.")
    assert second_texts[-1].startswith("BACKUP DATABASE WITH DIFFERENTIAL successfully processed")
    query = """SELECT name, description, has_backup_checksums, DATEDIFF(day, backup_start_date, expiration_date),
        CASE WHEN compressed_backup_size < backup_size THEN 1 ELSE 0 END FROM msdb.dbo.backupset
        WHERE database_name = 'Plain' AND backup_set_id > 1
        ORDER BY backup_set_id DESC"""
    rows = submit_batch(world, SERVER, query, 2).grids[0]
    assert [[row[0], row[1], int(row[2]), *row[3:]] for row in rows[:2]] == [
        [None, None, 0, None, 0], ["full", "before", 1, 2, 1],
    ]  # fmt: skip
    assert submit_batch(world, SERVER, f"{BACKUP_PLAIN} WITH INIT", 5).numbers == [4030, 3013]
    assert 3014 in submit_batch(world, SERVER, f"{BACKUP_PLAIN} WITH INIT, SKIP", 60).numbers


def test_restore_history_records_replace_and_stopat(base: World) -> None:
    world = base.fork()
    submit_batch(world, SERVER, BACKUP_PLAIN, 60)
    restore = r"RESTORE DATABASE Plain FROM DISK = 'D:\x.bak' WITH "
    assert submit_batch(world, SERVER, f"{restore} REPLACE, CHECKSUM", 5).numbers == [3187, 3013]
    texts = submit_batch(world, SERVER, f"{restore} REPLACE, STATS = 50, STOPAT = '2099-01-01'", 60).texts
    assert [line for line in texts if "percent" in line] == [
        "50 percent processed.",
        "100 percent processed.",
    ]
    rows = submit_batch(world, SERVER, "SELECT replace, stop_at FROM msdb.dbo.restorehistory", 2).grids[0]
    assert [(bool(replaced), str(stop)[:10]) for replaced, stop in rows] == [(True, "2099-01-01")]


@pytest.mark.parametrize("setting", ["backup compression default", "backup checksum default"])
def test_a_backup_default_applies_to_the_next_backup(base: World, setting: str) -> None:
    world = base.fork()
    submit_batch(world, SERVER, f"EXEC sp_configure '{setting}', 1; RECONFIGURE", 1)
    submit_batch(world, SERVER, BACKUP_PLAIN, 60)
    rows = submit_batch(
        world,
        SERVER,
        """SELECT TOP 1 has_backup_checksums FROM msdb.dbo.backupset WHERE database_name = 'Plain'
        ORDER BY backup_set_id DESC""",
        2,
    ).grids[0]
    assert [bool(row[0]) for row in rows] == [True]  # a compressed backup has checksums, too


def test_sid_of_another_login_is_refused(base: World) -> None:
    assert run_statement(
        base, "CREATE LOGIN n WITH PASSWORD = 'Pa55!!', SID = 0x000000000000000000000000000000A0"
    )[0].numbers == [15433]


@pytest.mark.parametrize(
    ("version", "year"), [(2014, "6.3"), (2017, "2012 R2"), (2019, "2016"), (2022, "2016")]
)
def test_version_command_reports_a_supported_windows_version(version: int, year: str) -> None:
    assert year in submit_batch(build_ag_lab(version=version), SERVER, "SELECT @@VERSION", 1).value


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("CREATE INDEX n ON t (a) WITH ()", 102),
        ("CREATE INDEX n ON t (a) WITH (,)", 102),
        ("CREATE INDEX n ON t (a) WITH (= 70)", 102),
        ("CREATE INDEX n ON t (a) WITH", 102),
        ("CREATE INDEX n ON t (a) WHERE", 156),
        ("CREATE INDEX n ON t (a) WHERE a IN (SELECT a FROM t)", 10735),
        ("CREATE INDEX n ON t (a) WHERE 1 / a = 1", 10735),
        ("CREATE INDEX n ON t (a) WHERE b = 1; ALTER TABLE t DROP COLUMN b", 5074),
        ("CREATE TABLE n (a int GENERATED ALWAYS", 102),
        ("CREATE DATABASE n = = ( ) )", 102),
        ("CREATE DATABASE n ON ()", 102),
        ("CREATE DATABASE n ON (NAME)", 102),
        ("CREATE DATABASE n ON (NAME = f, FILENAME = 'x')", 5105),
        (r"CREATE DATABASE n ON (NAME = f, FILENAME = 'D:\f.mdf', SIZE = 0)", 5174),
        (r"BACKUP DATABASE Plain TO DISK = 'D:\y.bak' WITH RETAINDAYS = 1e308", 102),
        ("CREATE LOGIN n WITH PASSWORD = 'Pa55!!', SID = 0x" + "F" * 99, 15419),
        ("CREATE LOGIN n WITH PASSWORD = 'Pa55!!', SID = 0x1234", 15419),
    ],
)
def test_a_hostile_option_is_an_error_of_the_server(base: World, statement: str, number: int) -> None:
    assert number in run_statement(base, statement)[0].numbers


@pytest.mark.parametrize("value", ["\u0661\u0662", "\u00b2", "'x'"])
def test_non_ascii_digits_are_refused(base: World, value: str) -> None:
    answer, _ = run_statement(base, f"CREATE INDEX n ON t (a) WITH (FILLFACTOR = {value})")
    assert any(text.startswith("Not simulated") for text in answer.texts)


@pytest.mark.parametrize(
    ("column", "allowed"),
    [
        ("u varchar(80) NOT NULL", True),
        ("k varchar(20)", True),
        ("c nvarchar(9)", False),
        ("k varchar(3)", False),
        ("p bigint NOT NULL", False),
    ],
)
def test_alter_column_widens_a_text_used_by_a_key_or_check(base: World, column: str, allowed: bool) -> None:
    world = base.fork()
    text = """CREATE TABLE n (p int PRIMARY KEY, u varchar(50) NOT NULL UNIQUE, k varchar(9),
        c varchar(9) CHECK (c > ''))
        CREATE INDEX x ON n (k)"""
    assert submit_batch(world, SERVER, text, 1).numbers == []
    texts = submit_batch(world, SERVER, f"ALTER TABLE n ALTER COLUMN {column}", 1).texts
    assert any("Not simulated" in line for line in texts) is not allowed
