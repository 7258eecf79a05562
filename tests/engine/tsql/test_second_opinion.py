"""Random expressions and SELECTs from Hypothesis: the product and the oracle agree in value and digits."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies

from engine.model import World
from tests.engine.tsql import oracle
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import P, build_lab

COLUMNS = {"i": oracle.INT, "d": oracle.build_decimal(5, 2), "t": oracle.build_varchar(3)}

ints = strategies.one_of(strategies.none(), strategies.integers(-20, 20))
decimals = strategies.one_of(
    strategies.none(), strategies.integers(-999, 999).map(lambda n: Decimal(n).scaleb(-2))
)
texts = strategies.one_of(
    strategies.none(), strategies.sampled_from(["a", "A", "b", "ab", "aB ", "c", "B ", "a'b"])
)
rows = strategies.lists(
    strategies.fixed_dictionaries({"i": ints, "d": decimals, "t": texts}), min_size=1, max_size=6
)
patterns = strategies.sampled_from(["a%", "%b", "_", "[a-b]", "[^a]%", "%", "a_", "%'%".replace("'", "''")])
signs = strategies.sampled_from(["=", "<>", "<", "<=", ">", ">="])


def draw_numbers(depth: int) -> strategies.SearchStrategy[oracle.Expression]:
    leaves = strategies.one_of(
        ints.map(lambda n: oracle.build_literal(n, oracle.INT)),
        decimals.map(lambda n: oracle.build_literal(n, oracle.build_decimal(5, 2))),
        strategies.sampled_from("id").map(lambda name: oracle.build_column(name, COLUMNS[name])),
    )
    if not depth:
        return leaves
    inner = draw_numbers(depth - 1)
    return strategies.one_of(
        leaves,
        strategies.builds(oracle.build_arithmetic, strategies.sampled_from("+-*/"), inner, inner),
        strategies.builds(oracle.build_isnull, inner, inner),
        strategies.lists(inner, min_size=2, max_size=3).map(oracle.build_coalesce),
        strategies.builds(
            lambda c, a, b: oracle.build_case([(c, a)], b), draw_conditions(depth - 1), inner, inner
        ),
    )


def draw_strings(depth: int) -> strategies.SearchStrategy[oracle.Expression]:
    leaves = strategies.one_of(
        texts.map(lambda text: oracle.build_literal(text, oracle.build_varchar(len(text or "a")))),
        strategies.just(oracle.build_column("t", COLUMNS["t"])),
    )
    if not depth:
        return leaves
    inner = draw_strings(depth - 1)
    return strategies.one_of(
        leaves,
        strategies.builds(oracle.build_concatenation, inner, inner),
        strategies.builds(oracle.build_isnull, inner, inner),
        strategies.lists(inner, min_size=2, max_size=3).map(oracle.build_coalesce),
        strategies.builds(
            lambda c, a, b: oracle.build_case([(c, a)], b), draw_conditions(depth - 1), inner, inner
        ),
    )


def draw_conditions(depth: int) -> strategies.SearchStrategy[oracle.Condition]:
    number, text = draw_numbers(depth), draw_strings(depth)
    simple = strategies.one_of(
        strategies.builds(oracle.build_comparison, signs, number, number),
        strategies.builds(oracle.build_comparison, signs, text, text),
        strategies.builds(oracle.build_is_null, strategies.one_of(number, text), strategies.booleans()),
        strategies.builds(
            oracle.build_in, number, strategies.lists(number, min_size=1, max_size=3), strategies.booleans()
        ),
        strategies.builds(oracle.build_in, text, strategies.lists(text, min_size=1, max_size=3), strategies.booleans()),
        strategies.builds(oracle.build_between, number, number, number),
        strategies.builds(oracle.build_like, strategies.sampled_from(["a", "A", "b", "ab", None]).map(
            lambda value: oracle.build_literal(value, oracle.build_varchar(len(value or "a")))), patterns),
    )  # fmt: skip
    if not depth:
        return simple
    inner = draw_conditions(depth - 1)
    lists = strategies.lists(inner, min_size=2, max_size=3)
    return strategies.one_of(
        simple,
        lists.map(oracle.build_conjunction),
        lists.map(oracle.build_disjunction),
        inner.map(oracle.build_negation),
    )


def format_source(values: list[dict[str, oracle.Value]]) -> str:
    """Return the rows as a derived table."""
    cells = [
        ", ".join(oracle.build_literal(row[name], kind).text for name, kind in COLUMNS.items())
        for row in values
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


def format_value(value: oracle.Value) -> object:
    return oracle.format_value(value) if isinstance(value, Decimal) and value.as_tuple().exponent else value


def convert_to_grid_value(value: oracle.Value, kind: oracle.Type) -> object:
    """Return *value* as a result set shows it in a column of type *kind*."""
    return format_value(oracle.convert_value(value, kind) if kind.name == "decimal" else value)


quick = settings(max_examples=10, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))

"""Settings for the normal suite: few, fixed examples. For a longer search, set max_examples=600,
derandomize=False.
"""


@quick
@given(rows, strategies.lists(strategies.one_of(draw_numbers(2), draw_strings(2)), min_size=1, max_size=6))
def test_an_expression_has_the_value_of_the_oracle(
    values: list[dict[str, oracle.Value]], expressions: list[oracle.Expression]
) -> None:
    batches: list[tuple[str, list[list[object]]]] = []
    for expression in expressions:
        try:
            cells = [[convert_to_grid_value(expression.value(row), expression.type)] for row in values]
        except oracle.NoAnswerError:
            continue
        batches.append((f"SELECT {expression.text} FROM {format_source(values)}", cells))
    if batches:
        assert run_queries(*(query for query, _ in batches)) == [cells for _, cells in batches]


@quick
@given(rows, strategies.lists(draw_conditions(2), min_size=1, max_size=5))
def test_a_condition_is_true_false_or_unknown_as_in_the_oracle(
    values: list[dict[str, oracle.Value]], wanted: list[oracle.Condition]
) -> None:
    batches: list[tuple[str, list[list[object]]]] = []
    for condition in wanted:
        try:
            cells: list[list[object]] = [
                [{True: 1, False: 0, None: None}[condition.holds(row)]] for row in values
            ]
        except oracle.NoAnswerError:
            continue
        case = f"CASE WHEN {condition.text} THEN 1 WHEN NOT ({condition.text}) THEN 0 END"
        batches.append((f"SELECT {case} FROM {format_source(values)}", cells))
    if batches:
        assert run_queries(*(query for query, _ in batches)) == [cells for _, cells in batches]


NAMES = ("COUNT", "SUM", "AVG", "MIN", "MAX")


@quick
@given(rows, draw_conditions(1), strategies.sampled_from("it"))
def test_groups_match_the_oracle(
    values: list[dict[str, oracle.Value]], condition: oracle.Condition, group: str
) -> None:
    try:
        left = [row for row in values if condition.holds(row)]
        groups: dict[Any, list[dict[str, oracle.Value]]] = {}
        for row in left:
            groups.setdefault(oracle.build_key(row[group]), []).append(row)
        wanted = [
            [
                oracle.build_key(key),
                len(members),
                *(compute_figure(members, name, column) for column in "id" for name in NAMES),
            ]
            for key, members in groups.items()
        ]
    except oracle.NoAnswerError:
        return
    figures = ", ".join(f"{name}({column})" for column in "id" for name in NAMES)
    query = f"SELECT {group}, COUNT(*), {figures} FROM {format_source(values)} WHERE {condition.text} GROUP BY {group}"
    (grid,) = run_queries(query)
    keyed_rows = [[oracle.build_key(key), *rest_cells] for key, *rest_cells in grid]
    assert sorted(keyed_rows, key=str) == sorted(wanted, key=str)


def compute_figure(members: list[dict[str, oracle.Value]], name: str, column: str) -> object:
    kind = COLUMNS[column]
    if name == "COUNT" or kind == oracle.INT:
        return oracle.compute_aggregate(name, [row[column] for row in members], kind)
    result = oracle.compute_aggregate(name, [row[column] for row in members], kind)
    scale = 6 if name == "AVG" else 2
    return None if result is None else f"{Decimal(result):.{scale}f}"


@quick
@given(rows, strategies.sampled_from("idt"), strategies.booleans())
def test_distinct_rows_and_their_order_match_the_oracle(
    values: list[dict[str, oracle.Value]], column: str, down: bool
) -> None:
    keys = list(dict.fromkeys(oracle.build_key(row[column]) for row in values))
    ordered = sorted((k for k in keys if k is not None), reverse=down)
    null_key = [None] if None in keys else []
    wanted = [*ordered, *null_key] if down else [*null_key, *ordered]
    query = (
        f"SELECT DISTINCT {column} FROM {format_source(values)} ORDER BY {column}{' DESC' if down else ''}"
    )
    (grid,) = run_queries(query)
    shown_keys = [format_value(key) if column == "d" else key for key in wanted]
    assert [oracle.build_key(value) for (value,) in grid] == shown_keys
