"""What was expected where a scenario's value does not fit: pydantic's errors in our words, one line for each kind."""

from __future__ import annotations

from typing import Final

from pydantic_core import ErrorDetails

EXPECTED: Final = {
    "string_type": "a text in quotes",
    "string_too_short": "at least {min_length} character(s)",
    "string_too_long": "at most {max_length} characters",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list in [ ]",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "too_short": "a list of at least {min_length}",
    "too_long": "a list of at most {max_length}",
    "finite_number": "a finite number",
    "literal_error": "one of {expected}",
    "union_tag_invalid": "one of {expected_tags}",
    "string_pattern_mismatch": "{pattern}",
    "value_error": "{error}",
    "missing": "more entries",
}
"""pydantic's kind of error -> what was expected. A test tries every field with every sort of value: no others come."""

PATTERNS: Final = {
    "[A-Za-z_]": "a name such as SERVER_A (letters, digits, _ $ -, at most 30)",
    "[a-z0-9]": "a name such as back-in-service (small letters, digits, - and _)",
    r"\d{4}-": "a moment such as 2005-10-22T12:00:00",
}


def expected(error: ErrorDetails) -> str:
    """What could stand there instead of what *error* refuses, in English as the engine speaks it."""
    context = dict(error.get("ctx", {}))
    pattern = str(context.get("pattern", ""))
    context["pattern"] = next((said for start, said in PATTERNS.items() if start in pattern), pattern)
    context["error"] = str(context.get("error", "")).removeprefix("expected ")
    return EXPECTED[error["type"]].format(**context)
