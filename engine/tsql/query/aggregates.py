"""Aggregates for SQLite: exact sums, statistics, STRING_AGG, and rows packed as JSON."""

import json
import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import cmp_to_key, reduce
from typing import Any, Final

from engine import arithmetic
from engine.messages import SqlError
from engine.tsql.scalars import types
from engine.tsql.scalars.types import PRECISION_MAX, build_decimal_type
from engine.tsql.scalars.values import (
    WIDE_DECIMAL_CONTEXT,
    Scalar,
    compare_texts,
    round_to_decimal,
    to_decimal,
    to_number,
    to_text,
)


def _sum_decimals(values: Iterable[int | float | Decimal]) -> Decimal:
    exact_values = (value if isinstance(value, Decimal) else to_decimal(value) for value in values)
    return reduce(WIDE_DECIMAL_CONTEXT.add, exact_values, Decimal(0))


def _sum_exactly(values: Iterable[int | float | Decimal]) -> int | float:
    """Return the sum of *values*, computed exactly in decimal: 0.69 - 0.01 gives 0.68.

    The result depends neither on the order of the values nor on the SQLite version.
    """
    total = _sum_decimals(values)
    return int(total) if total == total.to_integral_value() and abs(total) < EXACT_SUM_MAX else float(total)


ErrorHandler = Callable[[SqlError], object]
"""Callback that receives the error of an aggregate inside SQLite and ends the query with this error."""

EXACT_SUM_MAX: Final = 10**38
"""Largest sum that is returned as an exact integer. Larger sums are floats."""


class _Sum:
    """SUM, which stores all values and adds them exactly at the end."""

    def __init__(self, fail: ErrorHandler) -> None:
        self.values: deque[int | float | Decimal] = deque()
        self._fail = fail

    def step(self, value: Scalar) -> None:
        if value is not None:
            try:
                self.values.append(
                    types.decode_decimal(value)
                    if types.is_encoded_decimal(value)
                    else to_number(value, "float")
                )
            except SqlError as problem:
                self._fail(problem)

    def inverse(self, value: Scalar) -> None:
        """Subtract *value*, because its row is no longer in the window of the OVER clause."""
        if value is not None:
            self.values.popleft()

    def value(self) -> Scalar:
        if not self.values:
            return None
        if isinstance(self.values[0], Decimal):
            return self._format_long_total()
        total_value = self.compute_result(_sum_exactly(self.values))
        if not isinstance(total_value, float) and not -(2**63) <= total_value < 2**63:
            self._fail(SqlError(8115, "expression", "bigint"))
        return total_value

    def _format_long_total(self) -> Scalar:
        total = _sum_decimals(self.values)
        try:
            return round_to_decimal(
                total, build_decimal_type(PRECISION_MAX, -int(total.as_tuple().exponent)), "expression"
            )
        except SqlError as problem:
            self._fail(problem)
            return None

    def finalize(self) -> Scalar:
        return self.value()

    def compute_result(self, total: int | float) -> int | float:
        return total


class _Average(_Sum):
    """AVG. As in SQL Server, the average of integers is an integer."""

    def compute_result(self, total: int | float) -> int | float:
        count = len(self.values)
        if isinstance(total, int):
            return abs(total) // count * (1 if total >= 0 else -1)
        return total / count


class _PopulationVariance(_Sum):
    """VARP: population variance."""

    delta_degrees_of_freedom = 0
    """Number subtracted from the count of values in the divisor: 0 for a population, 1 for a sample."""

    def value(self) -> Scalar:
        count = len(self.values)
        if count <= self.delta_degrees_of_freedom:
            return None
        numbers = [float(value) for value in self.values]
        mean = arithmetic.add_exactly(numbers) / count
        squares = arithmetic.add_exactly((value - mean) * (value - mean) for value in numbers)
        return squares / (count - self.delta_degrees_of_freedom)


class _SampleVariance(_PopulationVariance):
    """VAR: sample variance."""

    delta_degrees_of_freedom = 1


class _PopulationDeviation(_PopulationVariance):
    """STDEVP: population standard deviation."""

    def value(self) -> Scalar:
        total_value = super().value()
        return None if total_value is None else math.sqrt(to_number(total_value))


class _SampleDeviation(_PopulationDeviation):
    """STDEV: sample standard deviation."""

    delta_degrees_of_freedom = 1


class _SingleRowValue:
    """Aggregate that returns the value of a scalar subquery's only row; NULL without rows.

    Raises 512 for a second row.
    """

    def __init__(self, fail: ErrorHandler) -> None:
        self._fail = fail
        self._rows = 0
        self._value: Scalar = None

    def step(self, value: Scalar) -> None:
        self._rows += 1
        self._value = value
        if self._rows > 1:
            self._fail(SqlError(512))

    def finalize(self) -> Scalar:
        return self._value


class _StringAgg:
    """STRING_AGG: joins all texts except NULL, in the order of WITHIN GROUP."""

    def __init__(self, fail: ErrorHandler) -> None:
        self._separator: Scalar = ""
        self._directions: Sequence[Scalar] = ()
        self._rows: list[tuple[str, Sequence[Scalar]]] = []

    def step(self, value: Scalar, separator: Scalar, *keys: Scalar) -> None:
        self._separator, self._directions = separator, keys[::2]
        if value is not None:
            self._rows.append((to_text(value), keys[1::2]))

    def finalize(self) -> Scalar:
        for position in reversed(range(len(self._directions))):
            backwards = self._directions[position] == "desc"
            self._rows.sort(key=lambda row: _build_sort_key(row[1][position]), reverse=backwards)
        separator = "" if self._separator is None else to_text(self._separator)
        return separator.join(value for value, _ in self._rows) if self._rows else None


class _PackedRows:
    """Aggregate that returns all rows of a query in CROSS APPLY or OUTER APPLY as a JSON list."""

    def __init__(self, fail: ErrorHandler) -> None:
        self._rows: list[list[object]] = []

    def step(self, *values: Scalar) -> None:
        self._rows.append([{"bytes": v.hex()} if isinstance(v, bytes) else v for v in values])

    def finalize(self) -> Scalar:
        return json.dumps(self._rows)


def _build_sort_key(value: Scalar) -> tuple[int, Any]:
    """Return a sort key. Order: NULL, numbers, texts in the default collation, binary values."""
    if value is None:
        return 0, 0
    if types.is_encoded_decimal(value):
        return 1, types.decode_decimal(value)
    if isinstance(value, str):
        return 2, cmp_to_key(compare_texts)(value)
    return (3, value) if isinstance(value, bytes) else (1, value)


AGGREGATES: Final[dict[str, Any]] = {
    "t_sum": _Sum,
    "t_avg": _Average,
    "t_stdev": _SampleDeviation,
    "t_stdevp": _PopulationDeviation,
    "t_var": _SampleVariance,
    "t_varp": _PopulationVariance,
    "t_one_row": _SingleRowValue,
}
VARIADIC_AGGREGATES: Final[dict[str, Any]] = {"t_pack": _PackedRows, "t_string_agg": _StringAgg}
"""Name in SQLite -> our aggregate that accepts any number of arguments and does not support OVER."""
