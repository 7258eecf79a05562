"""Random expressions and SELECTs from Hypothesis: the product and the oracle agree in value and digits."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.model import World
from tests.engine.tsql import oracle as o
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import P, build_lab

COLUMNS = {"i": o.INT, "d": o.build_decimal(5, 2), "t": o.build_varchar(3)}

ints = st.one_of(st.none(), st.integers(-20, 20))
decimals = st.one_of(st.none(), st.integers(-999, 999).map(lambda n: Decimal(n).scaleb(-2)))
texts = st.one_of(st.none(), st.sampled_from(["a", "A", "b", "ab", "aB ", "c", "B ", "a'b"]))
rows = st.lists(st.fixed_dictionaries({"i": ints, "d": decimals, "t": texts}), min_size=1, max_size=6)
patterns = st.sampled_from(["a%", "%b", "_", "[a-b]", "[^a]%", "%", "a_", "%'%".replace("'", "''")])
signs = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])


def draw_numbers(depth: int) -> st.SearchStrategy[o.Expression]:
    leaves = st.one_of(
        ints.map(lambda n: o.build_literal(n, o.INT)),
        decimals.map(lambda n: o.build_literal(n, o.build_decimal(5, 2))),
        st.sampled_from("id").map(lambda name: o.build_column(name, COLUMNS[name])),
    )
    if not depth:
        return leaves
    inner = draw_numbers(depth - 1)
    return st.one_of(
        leaves,
        st.builds(o.build_arithmetic, st.sampled_from("+-*/"), inner, inner),
        st.builds(o.build_isnull, inner, inner),
        st.lists(inner, min_size=2, max_size=3).map(o.build_coalesce),
        st.builds(lambda c, a, b: o.build_case([(c, a)], b), draw_conditions(depth - 1), inner, inner),
    )


def draw_strings(depth: int) -> st.SearchStrategy[o.Expression]:
    leaves = st.one_of(
        texts.map(lambda text: o.build_literal(text, o.build_varchar(len(text or "a")))),
        st.just(o.build_column("t", COLUMNS["t"])),
    )
    if not depth:
        return leaves
    inner = draw_strings(depth - 1)
    return st.one_of(
        leaves,
        st.builds(o.build_concatenation, inner, inner),
        st.builds(o.build_isnull, inner, inner),
        st.lists(inner, min_size=2, max_size=3).map(o.build_coalesce),
        st.builds(lambda c, a, b: o.build_case([(c, a)], b), draw_conditions(depth - 1), inner, inner),
    )


def draw_conditions(depth: int) -> st.SearchStrategy[o.Condition]:
    number, text = draw_numbers(depth), draw_strings(depth)
    simple = st.one_of(
        st.builds(o.build_comparison, signs, number, number),
        st.builds(o.build_comparison, signs, text, text),
        st.builds(o.build_is_null, st.one_of(number, text), st.booleans()),
        st.builds(o.build_in, number, st.lists(number, min_size=1, max_size=3), st.booleans()),
        st.builds(o.build_in, text, st.lists(text, min_size=1, max_size=3), st.booleans()),
        st.builds(o.build_between, number, number, number),
        st.builds(o.build_like, st.sampled_from(["a", "A", "b", "ab", None]).map(
            lambda value: o.build_literal(value, o.build_varchar(len(value or "a")))), patterns),
    )  # fmt: skip
    if not depth:
        return simple
    inner = draw_conditions(depth - 1)
    lists = st.lists(inner, min_size=2, max_size=3)
    return st.one_of(
        simple, lists.map(o.build_conjunction), lists.map(o.build_disjunction), inner.map(o.build_negation)
    )


def format_source(values: list[dict[str, o.Value]]) -> str:
    """Return the rows as a derived table."""
    cells = [
        ", ".join(o.build_literal(row[name], kind).text for name, kind in COLUMNS.items()) for row in values
    ]
    types = "CAST(i AS int) i, CAST(d AS decimal(5, 2)) d, CAST(t AS varchar(3)) t"
    return f"(SELECT {types} FROM (VALUES {', '.join(f'({row})' for row in cells)}) v (i, d, t)) s"


@cache
def build_world() -> World:
    world = build_lab(workload="none")
    world.update_instance(P, version=2014)
    return world


def run_queries(*queries: str) -> list[list[list[Any]]]:
    answer = submit_batch(build_world(), P, "SET NOCOUNT ON " + "\n".join(queries), wait_s=1)
    assert answer.numbers == [], (queries, answer.texts)
    return answer.grids


def format_value(value: o.Value) -> object:
    return o.format_value(value) if isinstance(value, Decimal) and value.as_tuple().exponent else value


def convert_to_grid_value(value: o.Value, kind: o.Type) -> object:
    """Return *value* as a result set shows it in a column of type *kind*."""
    return format_value(o.convert_value(value, kind) if kind.name == "decimal" else value)


quick = settings(max_examples=10, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))

"""Settings for the normal suite: few, fixed examples. For a longer search, set max_examples=600,
derandomize=False.
"""


@quick
@given(rows, st.lists(st.one_of(draw_numbers(2), draw_strings(2)), min_size=1, max_size=6))
def test_an_expression_has_the_value_of_the_oracle(
    values: list[dict[str, o.Value]], expressions: list[o.Expression]
) -> None:
    batches: list[tuple[str, list[list[object]]]] = []
    for expression in expressions:
        try:
            cells = [[convert_to_grid_value(expression.value(row), expression.type)] for row in values]
        except o.NoAnswerError:
            continue
        batches.append((f"SELECT {expression.text} FROM {format_source(values)}", cells))
    if batches:
        assert run_queries(*(query for query, _ in batches)) == [cells for _, cells in batches]


@quick
@given(rows, st.lists(draw_conditions(2), min_size=1, max_size=5))
def test_a_condition_is_true_false_or_unknown_as_in_the_oracle(
    values: list[dict[str, o.Value]], wanted: list[o.Condition]
) -> None:
    batches: list[tuple[str, list[list[object]]]] = []
    for condition in wanted:
        try:
            cells: list[list[object]] = [
                [{True: 1, False: 0, None: None}[condition.holds(row)]] for row in values
            ]
        except o.NoAnswerError:
            continue
        case = f"CASE WHEN {condition.text} THEN 1 WHEN NOT ({condition.text}) THEN 0 END"
        batches.append((f"SELECT {case} FROM {format_source(values)}", cells))
    if batches:
        assert run_queries(*(query for query, _ in batches)) == [cells for _, cells in batches]


NAMES = ("COUNT", "SUM", "AVG", "MIN", "MAX")


@quick
@given(rows, draw_conditions(1), st.sampled_from("it"))
def test_groups_match_the_oracle(
    values: list[dict[str, o.Value]], condition: o.Condition, group: str
) -> None:
    try:
        left = [row for row in values if condition.holds(row)]
        groups: dict[Any, list[dict[str, o.Value]]] = {}
        for row in left:
            groups.setdefault(o.build_key(row[group]), []).append(row)
        wanted = [
            [
                o.build_key(key),
                len(members),
                *(compute_figure(members, name, column) for column in "id" for name in NAMES),
            ]
            for key, members in groups.items()
        ]
    except o.NoAnswerError:
        return
    figures = ", ".join(f"{name}({column})" for column in "id" for name in NAMES)
    query = f"SELECT {group}, COUNT(*), {figures} FROM {format_source(values)} WHERE {condition.text} GROUP BY {group}"
    (grid,) = run_queries(query)
    keyed_rows = [[o.build_key(key), *rest_cells] for key, *rest_cells in grid]
    assert sorted(keyed_rows, key=str) == sorted(wanted, key=str)


def compute_figure(members: list[dict[str, o.Value]], name: str, column: str) -> object:
    kind = COLUMNS[column]
    if name == "COUNT" or kind == o.INT:
        return o.compute_aggregate(name, [row[column] for row in members], kind)
    result = o.compute_aggregate(name, [row[column] for row in members], kind)
    scale = 6 if name == "AVG" else 2
    return None if result is None else f"{Decimal(result):.{scale}f}"


@quick
@given(rows, st.sampled_from("idt"), st.booleans())
def test_distinct_rows_and_their_order_match_the_oracle(
    values: list[dict[str, o.Value]], column: str, down: bool
) -> None:
    keys = list(dict.fromkeys(o.build_key(row[column]) for row in values))
    ordered = sorted((k for k in keys if k is not None), reverse=down)
    null_key = [None] if None in keys else []
    wanted = [*ordered, *null_key] if down else [*null_key, *ordered]
    query = (
        f"SELECT DISTINCT {column} FROM {format_source(values)} ORDER BY {column}{' DESC' if down else ''}"
    )
    (grid,) = run_queries(query)
    shown_keys = [format_value(key) if column == "d" else key for key in wanted]
    assert [o.build_key(value) for (value,) in grid] == shown_keys
