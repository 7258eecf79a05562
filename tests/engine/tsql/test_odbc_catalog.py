"""Catalog procedures for drivers, as the catalog functions of ODBC Driver 18 call them."""

from __future__ import annotations

import pytest

from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import DB, P, build_lab
from tests.events import read_field

SETUP_SCRIPT = f"""USE {DB}
CREATE TABLE parent (id int NOT NULL PRIMARY KEY, name nvarchar(40) NOT NULL, price decimal(9,2) NULL)
CREATE TABLE child (id int IDENTITY NOT NULL PRIMARY KEY, parent_id int NOT NULL REFERENCES parent (id))"""


def test_tables_columns_and_keys_match_the_documentation() -> None:
    world = build_lab()
    submit_batch(world, P, SETUP_SCRIPT, wait_s=1)

    def query_rows(call: str) -> list[tuple[object, ...]]:
        return [tuple(row) for row in submit_batch(world, P, f"USE {DB} EXEC {call}").grids[-1]]

    assert [row[1:4] for row in query_rows("sp_tables 'p%'")] == [("dbo", "parent", "TABLE")]
    assert (
        query_rows("sp_tables @table_name = '', @table_owner = '', @table_qualifier = '%'")[0][1:]
        == (None,) * 4
    )
    assert query_rows("sp_tables @table_type = \"'VIEW'\"") == []
    # name, ODBC code, type, precision, length, scale, radix, nullable
    assert [row[3:11] for row in query_rows("[sys].sp_columns_100 'parent'")] == [
        ("id", 4, "int", 10, 4, 0, 10, 0),
        ("name", -9, "nvarchar", 40, 80, None, None, 0),
        ("price", 3, "decimal", 9, 11, 2, 10, 1),
    ]
    assert query_rows("sp_columns 'child', @column_name = 'id'")[0][5] == "int identity"
    assert [row[2:5] for row in query_rows("sp_pkeys 'parent'")] == [("parent", "id", 1)]
    (key,) = query_rows("sp_fkeys 'parent'")
    assert (key[2:4], key[6:11]) == (("parent", "id"), ("child", "parent_id", 1, 1, 1))
    assert query_rows("sp_fkeys @fktable_name = 'parent'") == []
    submit_batch(world, P, f"USE {DB} CREATE INDEX a_price ON parent (price DESC, name)", wait_s=1)
    table, index, *others = query_rows("sp_statistics 'parent'")
    assert [row[5:10:2] for row in others] == [("a_price", 1, "D"), ("a_price", 2, "A")]
    assert (table[6], index[3], index[6:9]) == (0, 0, (1, 1, "id"))
    assert [row[:2] for row in query_rows("sp_special_columns 'parent'")] == [(0, "id")]
    types = {row[0]: row for row in query_rows("sp_datatype_info_90")}
    assert types["int"][1:3] == (4, 10)
    assert types["nvarchar"][3:5] == ("N'", "'")
    assert [row[0] for row in query_rows("sp_datatype_info @data_type = -5")] == [
        "bigint",
        "bigint identity",
    ]
    schemas = submit_batch(world, P, f"USE {DB} SELECT * FROM INFORMATION_SCHEMA.SCHEMATA").grids[-1]
    assert "dbo" in [row[1] for row in schemas]


def test_date_codes_follow_the_odbc_version() -> None:
    """pyodbc sends as many fractional digits as the first type with code 93 has."""
    world = build_lab()
    world.update_instance(P, version=2014)

    def query_date_codes(call: str) -> list[list[object]]:
        return [row[:3] for row in submit_batch(world, P, f"EXEC {call}").grids[0] if "date" in row[0]]

    old = [["datetime", 93, 23], ["smalldatetime", 93, 16]]
    new = [["datetimeoffset", -155, 34], ["date", 91, 10], ["datetime2", 93, 27], *old]
    assert query_date_codes("sp_datatype_info_100 @ODBCVer = 3") == new
    assert query_date_codes("sp_datatype_info_100 93, @ODBCVer = 3") == new[2:]
    assert query_date_codes("sp_datatype_info_90 @ODBCVer = 3")[-2:] == old


def test_without_exec_the_first_parameter_can_be_named() -> None:
    """JDBC requests the list of types in this form."""
    world = build_lab()
    assert (
        submit_batch(world, P, "sp_datatype_info_100 @ODBCVer=2").grids
        == submit_batch(world, P, "EXEC sp_datatype_info_100").grids
    )
    assert [
        message["number"]
        for message in read_field(submit_batch(world, P, "EXEC @r = sp_who").event, "messages")
    ] == [137]


PARAMETER_TYPES: tuple[tuple[str, object], ...] = (
    ("INSERT t (b, s, d) VALUES (@P1, @P2, @P3)",
     [("@P1", "varbinary(max)"), ("@P2", "varchar(20)"), ("@P3", "decimal(10,2)")]),
    ("INSERT t VALUES (@P1, @P2, @P3, @P4)",
     [("@P1", "varbinary(max)"), ("@P2", "varchar(20)"), ("@P3", "decimal(10,2)"), ("@P4", "datetime2(3)")]),
    ("UPDATE t SET b = @P1 WHERE id IN (@P2, 1) AND s LIKE @P3 AND d > @P4",
     [("@P1", "varbinary(max)"), ("@P2", "int"), ("@P3", "varchar(8000)"), ("@P4", "numeric(38,19)")]),
    ("SELECT * FROM t x ORDER BY id OFFSET @P1 ROWS FETCH NEXT @P2 ROWS ONLY",
     [("@P1", "bigint"), ("@P2", "bigint")]),
    ("SELECT name FROM sys.indexes WHERE object_id = @id OR name = @name",
     [("@id", "int"), ("@name", "nvarchar(128)")]),
    ("EXEC pp @P1, @P2", [("@P1", "int"), ("@P2", "nvarchar(40)")]),
    ("SELECT 1", []),
    ("SELECT 1 WHERE 1e5 = @P1", [("@P1", "float")]),
    ("SELECT 1 WHERE GETDATE() = @P1", [("@P1", "datetime")]),
    ("WITH q AS (SELECT id AS k FROM t) SELECT k FROM q WHERE k = @P1", [("@P1", "int")]),
    ("SELECT q.k FROM (SELECT s AS k FROM t) q WHERE q.k = @P1", [("@P1", "varchar(20)")]),
    ("DELETE t WHERE id = @P1", [("@P1", "int")]),
    ("DECLARE @x int, @y TABLE (a varchar(7)) SET @x = @P1 SELECT a FROM @y WHERE a = @P2",
     [("@P1", "int"), ("@P2", "varchar(7)")]),
    ("EXEC pp @a = @a, @b = @b", [("@a", "int"), ("@b", "nvarchar(40)")]),
    ("CREATE PROC z @q int AS SELECT @q", []),
    ("INSERT t (s) VALUES (@p, @q)", 110),
    ("INSERT t VALUES (@p, @q, @r, @v, @w)", 213),
    ("INSERT t (nope) VALUES (@p)", 207),
    ("SELECT id FROM t WHERE nope = @p", 207),
    ("EXEC nope @p", 2812),
    ("SELECT id = @p FROM t", 11506),
    ("SELECT @p", 11506),
    ("SELECT 1 WHERE @p = @q", 11503),
    ("SELECT id FROM t WHERE id = @p OR id = @p", 11508),
    ("SELECT 1 WHERE @p IS NULL", 11502),
)  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), PARAMETER_TYPES, ids=[case[0] for case in PARAMETER_TYPES])
def test_undeclared_parameters_get_the_types_of_the_documentation(text: str, wanted: object) -> None:
    world = build_lab()
    world.update_instance(P, version=2022)
    submit_batch(
        world,
        P,
        "CREATE TABLE t (id int IDENTITY, b varbinary(max), s varchar(20), d decimal(10,2), e datetime2(3))",
    )
    submit_batch(world, P, "CREATE PROC pp @a int, @b nvarchar(40) AS SELECT 1")
    answer = submit_batch(world, P, f"EXEC sp_describe_undeclared_parameters N'{text}'", wait_s=1)
    if isinstance(wanted, int):
        assert answer.numbers == [wanted]
    else:
        assert [(row[1], row[3]) for row in answer.grids[0]] == wanted


@pytest.mark.parametrize(
    "text",
    [
        "PRINT @p",
        "RETURN @p",
        "WAITFOR DELAY @p",
        "SELECT LEN(@p)",
        "SELECT CASE object_id WHEN @p THEN 1 END FROM sys.columns",
    ],
)
def test_a_place_whose_type_is_not_deduced_is_refused(text: str) -> None:
    (message,) = submit_batch(
        build_lab(), P, f"EXEC sp_describe_undeclared_parameters N'{text}'", wait_s=1
    ).texts
    assert message.startswith("Not simulated: the type of the undeclared parameter @p")


def test_a_parameter_is_input_unless_it_is_only_assigned() -> None:
    world = build_lab()
    submit_batch(world, P, "CREATE TABLE t (id int) CREATE TABLE u (id int)")
    submit_batch(world, P, "CREATE PROC pp @a int OUTPUT AS SELECT 1")
    flags = {
        "IF @p = 1 SELECT 1": [1, 0],
        "SELECT @p = id FROM t": [0, 1],
        "UPDATE t SET @p = id": [0, 1],
        "UPDATE t SET id = @p": [1, 0],
        "SET @p = 1": [0, 1],
        "EXEC pp @p OUTPUT": [1, 1],
        "EXEC pp @p": [1, 0],
    }
    for text, wanted in flags.items():
        (row,) = submit_batch(world, P, f"EXEC sp_describe_undeclared_parameters N'{text}'", wait_s=1).grids[
            0
        ]
        assert row[19:21] == wanted, text


def test_declared_parameters_have_their_type_and_the_caller_has_none() -> None:
    world = build_lab()
    declared = "EXEC sp_describe_undeclared_parameters N'SELECT 1 WHERE @p = @q', N'@p smallint'"
    assert [row[1:4:2] for row in submit_batch(world, P, declared).grids[0]] == [["@q", "smallint"]]
    bad_batch = "EXEC sp_describe_undeclared_parameters N'SELECT 1 WHERE 1 = @q', N'@p nope'"
    assert submit_batch(world, P, bad_batch).numbers == [2715]
    outside = (
        "DECLARE @t TABLE (a int) EXEC sp_describe_undeclared_parameters N'SELECT a FROM @t WHERE a = @p'"
    )
    assert submit_batch(world, P, outside).numbers == [1087]


def test_columns_have_the_bytes_and_digits_of_their_type() -> None:
    world = build_lab()
    world.update_instance(P, version=2022)
    submit_batch(
        world,
        P,
        "CREATE TABLE t (a datetime2(0), b datetime2(3), c time(1), d datetimeoffset(4), e text, f sql_variant)",
    )
    sizes = submit_batch(
        world, P, "SELECT max_length, precision, scale FROM sys.columns WHERE object_id = OBJECT_ID('t')"
    ).grids
    assert sizes == [[[6, 19, 0], [7, 23, 3], [3, 10, 1], [9, 31, 4], [16, 0, 0], [8016, 0, 0]]]
    (_, columns, *_) = submit_batch(world, P, "EXEC sp_help t").grids
    assert [[str(cell).strip() for cell in row[3:6]] for row in columns[:2]] == [
        ["6", "19", "0"],
        ["7", "23", "3"],
    ]
    assert [row[6:9] for row in submit_batch(world, P, "EXEC sp_columns t").grids[0]][:2] == [
        [19, 38, 0],
        [23, 46, 3],
    ]
