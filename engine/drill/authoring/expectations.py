"""Descriptions of expected values: pydantic's errors in our words, one line for each kind."""

from __future__ import annotations

from typing import Final

from pydantic_core import ErrorDetails

from engine.localization import LocalizableMessage, mark, say

EXPECTED: Final = {
    "string_type": mark("a text in quotes"),
    "string_too_short": mark("at least {min_length} character(s)"),
    "string_too_long": mark("at most {max_length} characters"),
    "int_type": mark("a whole number"),
    "int_from_float": mark("a whole number"),
    "int_parsing_size": mark("a smaller number"),
    "float_type": mark("a number"),
    "bool_type": mark("true or false"),
    "tuple_type": mark("a list in [ ]"),
    "dict_type": mark("a table"),
    "model_type": mark("a table"),
    "model_attributes_type": mark("a table"),
    "greater_than": mark("more than {gt}"),
    "greater_than_equal": mark("at least {ge}"),
    "less_than": mark("less than {lt}"),
    "less_than_equal": mark("at most {le}"),
    "too_short": mark("a list of at least {min_length}"),
    "too_long": mark("a list of at most {max_length}"),
    "finite_number": mark("a finite number"),
    "literal_error": mark("one of {expected}"),
    "union_tag_invalid": mark("one of {expected_tags}"),
    "string_pattern_mismatch": "{pattern}",
    "value_error": "{error}",
    "missing": mark("more entries"),
}
"""pydantic's kind of error -> expected value. A test tries every field with every kind of value: no others occur."""

PATTERNS: Final = {
    "[A-Za-z_]": say("a name such as SERVER_A (letters, digits, _ $ -, at most 30 characters)"),
    "[a-z0-9]": say("a name such as back-in-service (lowercase letters, digits, - and _)"),
    r"(\.\d{1,3}){2}": say("the first three numbers of its addresses, such as {word}", word="10.0.1"),
    r"(\.\d{1,3}){3}": say("an address such as {word}", word="10.0.1.50"),
    r"\d{4}-": say("a time such as {word}", word="2005-10-22T12:00:00"),
}


def format_expected(error: ErrorDetails) -> LocalizableMessage:
    """Describe the values that are allowed instead of the one that *error* rejects."""
    context = dict(error.get("ctx", {}))
    pattern = str(context.get("pattern", ""))
    context["pattern"] = next((said for start, said in PATTERNS.items() if start in pattern), pattern)
    context["error"] = str(context.get("error", ""))
    template = EXPECTED[error["type"]]
    return say(template, **context)
