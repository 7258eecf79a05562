"""Messages about invalid values, for every field of a scenario and every kind of value."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from engine.drill.authoring import schema
from engine.drill.authoring.problems import EXPECTED_VALUE_TEXTS, describe_expected_value
from engine.drill.authoring.scenario import ScenarioError, load_scenario
from tests.engine.drill.texts import change_text

TABLE_CLASSES = sorted(
    (
        part
        for part in vars(schema).values()
        if isinstance(part, type)
        and issubclass(part, schema.ScenarioTable)
        and part is not schema.ScenarioTable
    ),
    key=lambda part: part.__name__,
)
KEY_ERROR_TYPES = {"missing", "extra_forbidden", "union_tag_not_found"}
"""Error types of missing or unknown keys. Their message names the key instead of an expected value."""
VALUES: tuple[Any, ...] = (
    True, -1, 10**30, 1e300, float("inf"), "", "x", "5 parsecs", "\u202e", "a" * 9000,
    [], [1], ["a"], ["a"] * 600, [1] * 600, {}, {"a": 1}, {"kind": "x"}, [{"kind": "x"}], date(2005, 10, 22),
)  # fmt: skip


@pytest.mark.parametrize("table", TABLE_CLASSES, ids=lambda part: part.__name__)
def test_no_pydantic_message_is_shown(table: type[BaseModel]) -> None:
    for name, field in table.model_fields.items():
        for value in VALUES:
            try:
                table.model_validate({field.alias or name: value})
            except ValidationError as refused:
                for error in refused.errors(include_url=False):
                    if error["type"] not in KEY_ERROR_TYPES:
                        assert "{" not in describe_expected_value(error), (name, value)


def test_every_expectation_is_used() -> None:
    error_types = set()
    for part in TABLE_CLASSES:
        for name, field in part.model_fields.items():
            for value in VALUES:
                try:
                    part.model_validate({field.alias or name: value})
                except ValidationError as refused:
                    error_types |= {error["type"] for error in refused.errors(include_url=False)}
    # other values that TOML allows cause these errors
    assert set(EXPECTED_VALUE_TEXTS) - error_types <= {
        "int_from_float",
        "model_attributes_type",
    }


@pytest.mark.parametrize(
    ("old_text", "new_text", "text", "wanted"),
    [
        ("minutes = 5", 'minutes = "soon"', "minutes: 'soon' is not valid", "a whole number"),
        ("minutes = 5", "minutes = 5\nvariants = 0", "variants: 0 is not valid", "a table"),
        ("minutes = 5", 'minutes = 5\n[[link]]\nends = ["SERVER_A"]', "link[0].ends: the list is too short", "more"),
    ],
)  # fmt: skip
def test_a_problem_names_value_position_and_expectation(
    old_text: str, new_text: str, text: str, wanted: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(change_text((old_text, new_text)), "small.toml")
    assert any(text in str(problem) and wanted in problem.expected for problem in caught.value.problems)
