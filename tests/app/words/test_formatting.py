"""Tests of number formatting: rounding at limits, and empty text for missing values."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from app.words import formatting, language


@pytest.mark.parametrize(
    ("function", "value", "text"),
    [
        (formatting.format_number, 1234.4, "1,234"),
        (formatting.format_number, None, "–"),
        (formatting.format_number, math.nan, "–"),
        (formatting.format_significant, 0.0, "0"),
        (formatting.format_significant, 0.01234, "0.0123"),
        (formatting.format_short_number, 0.01234, "0.01"),
        (formatting.format_short_number, -0.001, "0"),
        (formatting.format_kb, 0.00421, "0 KB"),
        (formatting.format_significant, 12.0, "12"),
        (formatting.format_significant, 1234.5, "1,234"),
        (formatting.format_significant, -0.5, "-0.5"),
        (formatting.format_kb, 720.0, "720 KB"),
        (formatting.format_kb, 1500.0, "1.46 MB"),
        (formatting.format_kb, 40.0 * 1024 * 1024, "40 GB"),
        (formatting.format_kb, 5000.0 * 1024 * 1024, "5,000 GB"),
        (formatting.format_kb_per_s, 12_000.0, "11.7 MB/s"),
        (formatting.format_kb_per_s, None, "–"),
        (formatting.format_ms, 0.42, "0.42 ms"),
        (formatting.format_ms, 1300.0, "1.30 s"),
        (formatting.format_seconds, 2.634, "2.63 s"),
        (formatting.format_seconds, 59.999, "1:00"),
        (formatting.format_seconds, 65.0, "1:05"),
        (formatting.format_seconds, 3900.0, "1:05:00"),
        (formatting.format_seconds, -3.0, "-3.00 s"),
        (formatting.format_hms, 0.2, "00:00:01"),
        (formatting.format_hms, 3725.0, "01:02:05"),
        (formatting.format_hms, math.inf, "–"),
        (formatting.format_percent, 0.0345, "3.5%"),
        (formatting.format_run_time, 41.0, "0:41"),
        (formatting.format_run_time, 3723.0, "1:02:03"),
        (formatting.format_run_time, 59.6, "1:00"),
        (formatting.format_run_time, -5.0, "-0:05"),
        (formatting.format_result_cell, None, "NULL"),
        (formatting.format_result_cell, True, "1"),
        (formatting.format_result_cell, b"\x0a\xff", "0x0AFF"),
        (formatting.format_result_cell, 0.1, "0.1"),
        (formatting.format_result_cell, 5.0, "5"),
    ],
)
def test_values_are_formatted_as_text(function: Callable[..., str], value: object, text: str) -> None:
    assert function(value) == text


def test_percentages_have_a_sign() -> None:
    assert formatting.format_percent(0.0345, shows_plus=True) == "+3.5%"


def test_run_times_carry_rounded_seconds_into_minutes() -> None:
    assert formatting.format_run_time(119.97, 1) == "2:00.0"


def test_server_time_continues_over_midnight() -> None:
    assert formatting.format_server_time("2005-10-22T12:00:00", 4125) == "2005-10-22 12:00:41.25"
    assert formatting.format_server_time("2005-12-31T23:59:59", 200, decimals=0) == "2006-01-01 00:00:01"
    assert formatting.format_server_time("2005-10-22T12:00:00", 1796, decimals=3) == "2005-10-22 12:00:17.960"


def test_copied_cells_keep_tabs_and_quotes() -> None:
    assert formatting.format_tab_separated([["a", 'say "x"'], ["b\tc", "d"]]) == 'a\t"say ""x"""\n"b\tc"\td'


def test_results_to_text_are_aligned_in_columns() -> None:
    text = formatting.format_text_table(["name", "id"], [["Sales", "5"], ["x", "12"]])
    assert text.splitlines() == ["name  id", "----- --", "Sales 5", "x     12"]


def test_german_uses_a_decimal_comma_except_in_server_output() -> None:
    language.use_language(language.GERMAN)
    try:
        assert formatting.format_number(1234.5, 1) == "1.234,5"
        assert formatting.format_significant(0.0123) == "0,0123"
        assert formatting.format_kb(1.46 * 1024) == "1,46 MB"
        assert formatting.format_seconds(2.63) == "2,63 s"
        assert formatting.format_percent(0.0345, shows_plus=True) == "+3,5 %"
        assert formatting.format_run_time(41.2, 1) == "0:41,2"
        assert formatting.format_plain_number(2.5) == "2,5"
        assert formatting.format_result_cell(2.5) == "2.5"
        assert formatting.format_server_time("2005-10-22T12:00:00", 4125) == "2005-10-22 12:00:41.25"
    finally:
        language.use_language(language.ENGLISH)
    assert formatting.format_number(1234.5, 1) == "1,234.5"
