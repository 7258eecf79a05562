"""Exact decimals in result sets, PRINT and texts, by SQL Server's rules of precision and scale."""

from __future__ import annotations

import pytest

from tests.engine.tsql.console import Answer, submit_batch
from tests.engine.worlds import P, build_lab


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("CAST(12.5 AS decimal(10, 2))", "12.50"),
        ("CONVERT(numeric(5, 1), 3)", "3.0"),
        ("CAST(7 AS decimal(5))", 7),
        ("10 / 4", 2),
        ("10 / 4.0", "2.500000"),
        ("CAST(1 AS decimal(10, 4)) / 3", "0.333333"),
        ("ROUND(2.567, 1)", "2.600"),
        ("1.5 * 2.25", "3.375"),
        ("1.5 + 2.25", "3.75"),
        ("CAST(1.239 AS money)", "1.239"),
        ("ISNULL(CAST(NULL AS decimal(5, 2)), 0)", "0.00"),
        ("CASE WHEN 1 = 1 THEN 1.50 ELSE 0 END", "1.50"),
        ("CAST(0.1 AS float) + 1", 1.1),
        ("CAST(CAST(2 AS decimal(4, 1)) AS varchar(10)) + ' MB'", "2.0 MB"),
    ],
)
def test_an_expression_has_the_digits_of_its_type(expression: str, expected: object) -> None:
    assert submit_batch(build_lab(), P, f"SELECT {expression}").value == expected


def test_a_variable_has_the_digits_of_its_declaration() -> None:
    text = "DECLARE @d decimal(10, 2) SET @d = 5 PRINT @d PRINT 'x' + CAST(@d AS varchar(10)) SELECT @d"
    answer = submit_batch(build_lab(), P, text)
    assert (answer.texts[:2], answer.value) == (["5.00", "x5.00"], "5.00")


def test_columns_have_the_digits_of_their_table_or_expression() -> None:
    text = """CREATE TABLE #t (mb decimal(10, 2), n int) INSERT #t SELECT 5.5, 2
        SELECT mb, n FROM #t SELECT * FROM #t
        SELECT x.h FROM (SELECT CAST(n AS decimal(5, 3)) AS h FROM #t) x"""
    assert submit_batch(build_lab(), P, text).grids == [[["5.50", 2]], [["5.50", 2]], [["2.000"]]]


def test_rows_inserted_into_a_table_stay_numbers() -> None:
    text = """CREATE TABLE #t (n decimal(10, 3)) INSERT #t EXEC ('SELECT CAST(1.5 AS decimal(5, 2))')
        SELECT n, CASE WHEN n * 2 = 3 THEN 'yes' END FROM #t"""
    assert submit_batch(build_lab(), P, text).grids == [[["1.500", "yes"]]]


LARGEST_DECIMAL = "9" * 38


def run_on_2014(text: str) -> Answer:
    world = build_lab()
    world.update_instance(P, version=2014)
    return submit_batch(world, P, text, wait_s=3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"SELECT CAST('{LARGEST_DECIMAL}' AS decimal(38, 0)), -{LARGEST_DECIMAL}, -0.{LARGEST_DECIMAL}",
         [LARGEST_DECIMAL, "-" + LARGEST_DECIMAL, "-0." + LARGEST_DECIMAL]),
        ("SELECT 1234567890123456789, CAST(9223372036854775807 AS bigint) + 0.25",
         ["1234567890123456789", "9223372036854775807.25"]),
        ("EXEC sp_executesql N'SELECT @a, @b', N'@a decimal(18, 4), @b money', -12345678901234.5678,"
         " -922337203685477.5808", ["-12345678901234.5678", "-922337203685477.5808"]),
        # precision and scale of each operation: if the precision exceeds 38, the scale is reduced; a sum
        # keeps the digits before the point
        ("SELECT CAST(1 AS decimal(38, 10)) / 3, CAST(1 AS decimal(38, 20)) * 2,"
         " 123456789.987654321 * 987654321.123456789",
         ["0.3333333333", "2.000000000000000000", "121932632103337905.662094193112635269"]),
        ("DECLARE @d decimal(38, 20) = 1.00000000000000000001 SET @d = @d + 0.00000000000000000001"
         " SELECT @d, -@d, @d % 1, ABS(-@d), FLOOR(@d), CEILING(@d), ROUND(@d, 19),"
         " CAST(@d AS varchar(30)), CAST(@d AS int)",
         ["1.00000000000000000002", "-1.00000000000000000002", "0.00000000000000000002", "1.00000000000000000002",
          1, 2, "1.00000000000000000000", "1.00000000000000000002", 1]),
        ("SELECT $922337203685477.5807 - 1, CAST(10 AS money) / 3, CAST(CAST(2.5 AS money) AS int)",
         ["922337203685476.5807", "3.3333", 3]),
        ("SELECT FORMAT(CAST(1234567890123456.789 AS decimal(30, 3)), 'N2'),"
         " CAST(CAST(0.5 AS decimal(38, 1)) AS datetime)",
         ["1,234,567,890,123,456.79", "1900-01-01 12:00:00.000"]),
    ],
)  # fmt: skip
def test_long_decimals_keep_every_digit(text: str, expected: list[object]) -> None:
    assert run_on_2014(text).grids == [[expected]]


def test_long_decimals_in_tables_are_added_compared_and_ordered_exactly() -> None:
    text = f"""CREATE TABLE #t (a decimal(38, 10) UNIQUE, m money, n decimal(5, 2))
        INSERT #t VALUES (1.5, 2.25, 1.5), (-1234567890123456789012345678.1234567891, -9, -1), (0.0000000001, 0, 0)
        SELECT a FROM #t ORDER BY a DESC
        SELECT SUM(a), MIN(a), MAX(a), SUM(m), COUNT(DISTINCT a) FROM #t
        SELECT a FROM #t WHERE a = n AND a IN (1.5, {LARGEST_DECIMAL}) AND a BETWEEN '1' AND 1e20 AND a > m - 1
        SELECT CASE WHEN a > 1 THEN a ELSE 0 END, ISNULL(NULLIF(a, 1.5), 7) FROM #t WHERE n > 0
        SELECT x, COUNT(*) FROM (VALUES (1.0), (CAST(1 AS decimal(38, 20))), (1)) AS v(x) GROUP BY x
        INSERT #t VALUES (1.50, 0, 0)"""
    answer = run_on_2014(text)
    low, high = "-1234567890123456789012345678.1234567891", "1.5000000000"
    assert answer.grids == [
        [[high], ["0.0000000001"], [low]],
        [["-1234567890123456789012345676.6234567890", low, high, "-6.75", 3]],
        [[high]],
        [[high, "7.0000000000"]],
        [["1.00000000000000000000", 3]],
    ]
    assert 2627 in answer.numbers


def test_scope_identity_finds_the_row_of_a_twenty_digit_identity() -> None:
    text = """CREATE TABLE #t (id numeric(20, 0) IDENTITY, n int) INSERT #t VALUES (1) INSERT #t VALUES (2)
        SELECT id, n, @@IDENTITY FROM #t WHERE id = SCOPE_IDENTITY()"""
    assert submit_batch(build_lab(), P, text).grids == [[[2, 2, 2]]]


@pytest.mark.parametrize(
    ("expression", "number"),
    [
        (f"CAST({LARGEST_DECIMAL} AS decimal(38, 0)) + 1", 8115),
        (f"SUM(x) FROM (VALUES (CAST({LARGEST_DECIMAL} AS decimal(38, 0))), (1)) AS v(x)", 8115),
        ("CAST(123456 AS decimal(20, 17))", 8115),
        ("CAST(922337203685477.5808 AS money)", 8115),
        ("CAST(12345678901234567890 AS bigint)", 8115),
        ("CAST('x' AS decimal(38, 5))", 8114),
        (f"1{LARGEST_DECIMAL}", 1007),
    ],
)
def test_a_value_beyond_every_type_is_an_error(expression: str, number: int) -> None:
    assert run_on_2014(f"SELECT {expression}").numbers == [number]


def test_an_argument_keeps_its_stored_digits() -> None:
    text = "EXEC sp_executesql N'SELECT @a, @b, @c', N'@a money, @b float, @c int', -$922337203685.25, -1.5e-5, - 3"
    assert submit_batch(build_lab(), P, text).grids == [[["-922337203685.25", -1.5e-05, -3]]]
