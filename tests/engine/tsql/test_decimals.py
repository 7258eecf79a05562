"""Decimals keep their digits: in grids, in PRINT and in texts, by the product's rules of precision and scale."""

from __future__ import annotations

import pytest

from tests.engine.tsql.console import ask
from tests.engine.worlds import P, lab


@pytest.mark.parametrize(
    ("expression", "shown"),
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
def test_an_expression_shows_the_digits_of_its_type(expression: str, shown: object) -> None:
    assert ask(lab(), P, f"SELECT {expression}").value == shown


def test_a_variable_shows_those_of_its_declaration() -> None:
    text = "DECLARE @d decimal(10, 2) SET @d = 5 PRINT @d PRINT 'x' + CAST(@d AS varchar(10)) SELECT @d"
    answer = ask(lab(), P, text)
    assert (answer.texts[:2], answer.value) == (["5.00", "x5.00"], "5.00")


def test_a_column_shows_those_of_its_table_and_a_derived_one_those_of_its_expression() -> None:
    text = """CREATE TABLE #t (mb decimal(10, 2), n int) INSERT #t SELECT 5.5, 2
        SELECT mb, n FROM #t SELECT * FROM #t
        SELECT x.h FROM (SELECT CAST(n AS decimal(5, 3)) AS h FROM #t) x"""
    assert ask(lab(), P, text).grids == [[["5.50", 2]], [["5.50", 2]], [["2.000"]]]


def test_rows_on_their_way_into_a_table_stay_numbers() -> None:
    text = """CREATE TABLE #t (n decimal(10, 3)) INSERT #t EXEC ('SELECT CAST(1.5 AS decimal(5, 2))')
        SELECT n, CASE WHEN n * 2 = 3 THEN 'yes' END FROM #t"""
    assert ask(lab(), P, text).grids == [[["1.500", "yes"]]]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT CAST('99999999999999999999999999999999999999' AS decimal(38, 0))",
        "EXEC sp_executesql N'SELECT @a', N'@a decimal(18, 4)', @a = -12345678901234.5678",
        "EXEC sp_executesql N'SELECT @a', N'@a money', $922337203685477.5807",
    ],
)
def test_more_digits_than_are_held_are_refused_by_name_and_never_rounded(text: str) -> None:
    answer = ask(lab(), P, text)
    assert (answer.grids, answer.texts) == ([], ["Not simulated: decimal numbers of more than 15 digits"])


def test_an_argument_keeps_the_digits_that_are_held() -> None:
    text = "EXEC sp_executesql N'SELECT @a, @b, @c', N'@a money, @b float, @c int', -$922337203685.25, -1.5e-5, - 3"
    assert ask(lab(), P, text).grids == [[["-922337203685.25", -1.5e-05, -3]]]
