"""JSON and other functions of 2016 and 2017: values, paths, rows, errors, and older versions."""

from __future__ import annotations

import pytest

from engine.model import World
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import P, build_lab


@pytest.fixture(scope="module")
def world() -> World:
    world = build_lab(workload="none")
    world.update_instance(P, version=2017)
    return world


DOC = '{"a": {"b": [10, {"c": "x\\"y"}], "n": null, "t": true}, "two words": 2}'


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("ISJSON('{}')", 1),
        ("ISJSON('{\"a\":1,}')", 0),
        ("ISJSON('1')", 0),
        ("ISJSON(NULL)", None),
        ("JSON_VALUE(@j, '$.a.b[0]')", "10"),
        ("JSON_VALUE(@j, '$.a.b[1].c')", 'x"y'),
        ("JSON_VALUE(@j, '$.\"two words\"')", "2"),
        ("JSON_VALUE(@j, '$.a.t')", "true"),
        ("JSON_VALUE(@j, '$.a.n')", None),
        ("JSON_VALUE(@j, '$.a')", None),
        ("JSON_VALUE(@j, 'lax $.missing')", None),
        ("JSON_QUERY(@j, '$.a.b')", '[10, {"c": "x\\"y"}]'),
        ("JSON_QUERY(@j, '$.a.t')", None),
        ("JSON_MODIFY('{\"a\":1}', '$.a', 2)", '{"a":2}'),
        ("JSON_MODIFY('{\"a\":1}', '$.b', 'x')", '{"a":1,"b":"x"}'),
        ("JSON_MODIFY('{\"a\":1,\"b\":2}', '$.a', NULL)", '{"b":2}'),
        ("JSON_MODIFY('{\"a\":[1]}', 'append $.a', 2)", '{"a":[1,2]}'),
        ("JSON_MODIFY('{}', '$.a', JSON_QUERY('[1]'))", '{"a":[1]}'),
        ("JSON_MODIFY('{}', '$.a', '[1]')", '{"a":"[1]"}'),
        ("CONCAT_WS(', ', 'a', NULL, 1)", "a, 1"),
        (
            "CONVERT(varchar(34), SWITCHOFFSET('2020-01-01 10:00 +01:00', '-02:30'))",
            "2020-01-01 06:30:00.0000000 -02:30",
        ),
        (
            "CONVERT(varchar(34), TODATETIMEOFFSET('2020-01-01 10:00', 60))",
            "2020-01-01 10:00:00.0000000 +01:00",
        ),
    ],
)
def test_the_json_value_matches_sql_server(world: World, call: str, value: object) -> None:
    assert submit_batch(world, P, f"DECLARE @j nvarchar(max) = N'{DOC}' SELECT {call}").value == value


@pytest.mark.parametrize(
    ("call", "number"),
    [
        ("JSON_VALUE('{a}', '$.a')", 13609),
        ("JSON_VALUE('{}', 'a')", 13607),
        ("JSON_VALUE('{}', 'strict $.a')", 13608),
        ("JSON_VALUE('{\"a\":[]}', 'strict $.a')", 13623),
        ("JSON_QUERY('{\"a\":1}', 'strict $.a')", 13624),
        ("SWITCHOFFSET('2020-01-01', '+99:00')", 9812),
    ],
)
def test_the_json_error_matches_sql_server(world: World, call: str, number: int) -> None:
    assert submit_batch(world, P, f"SELECT {call}").numbers == [number]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (
            'SELECT * FROM OPENJSON(\'{"a":1,"b":[2],"c":null}\')',
            [["a", "1", 2], ["b", "[2]", 4], ["c", None, 0]],
        ),
        ("SELECT [key], value FROM OPENJSON('{\"x\":[5,6]}', '$.x')", [["0", "5"], ["1", "6"]]),
        (
            'SELECT * FROM OPENJSON(\'[{"id":1,"v":{"k":"y"}},{"id":2}]\') '
            "WITH (id int, k nvarchar(9) '$.v.k', v nvarchar(max) AS JSON) AS t",
            [[1, "y", '{"k":"y"}'], [2, None, None]],
        ),
        ("SELECT v + 1 FROM OPENJSON('[1,2]') WITH (v int '$') WHERE v > 1", [[3]]),
        ("SELECT value FROM STRING_SPLIT('a,b', ',')", [["a"], ["b"]]),
        (
            "SELECT x.t, s.value FROM (VALUES ('a-b'), ('c')) x (t) CROSS APPLY STRING_SPLIT(x.t, '-') s",
            [["a-b", "a"], ["a-b", "b"], ["c", "c"]],
        ),
        (
            'SELECT x.t, o.i FROM (VALUES (\'[{"i":1},{"i":2}]\')) x (t) CROSS APPLY OPENJSON(x.t) WITH (i int) AS o',
            [['[{"i":1},{"i":2}]', 1], ['[{"i":1},{"i":2}]', 2]],
        ),
    ],
)
def test_table_functions_return_rows(world: World, query: str, rows: list[list[object]]) -> None:
    answer = submit_batch(world, P, query)
    assert answer.grids == [rows], answer.texts


def test_a_json_check_constraint_is_enforced(world: World) -> None:
    submit_batch(world, P, "CREATE TABLE j (d nvarchar(max) CHECK (ISJSON(d) = 1))")
    assert submit_batch(world, P, "INSERT j VALUES ('{}'); SELECT COUNT(*) FROM j").value == 1
    assert submit_batch(world, P, "INSERT j VALUES ('no')").numbers[0] == 547


@pytest.mark.parametrize("query", ["SELECT * FROM OPENJSON('[]')", "SELECT * FROM STRING_SPLIT('a', ',')"])
def test_versions_before_2016_have_no_json_table_function(query: str) -> None:
    old = build_lab(workload="none")
    old.update_instance(P, version=2014)
    assert submit_batch(old, P, query).numbers == [208]


def test_unsimulated_features_are_named(world: World) -> None:
    assert submit_batch(world, P, "SELECT COMPRESS('a')").texts == ["Not simulated: the function compress"]
