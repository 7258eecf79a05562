"""Conversion of arguments to numbers, wildcard patterns and regular expressions, with PowerShell's errors.

[DOC: about parameters; about wildcards; about regular expressions]
"""

import math
import re
from functools import lru_cache
from typing import Final

from engine.powershell.pipeline import CmdletCall, CommandNotSimulatedError, ShellError

DOTNET_TYPES: Final = {
    "": "String",
    "s": "String[]",
    "n": "Collections.Specialized.StringCollection",
    "u": "UInt32",
    "i": "Int32",
}
"""Type code of a parameter (after the colon in `parameters.CMDLET_PARAMETERS`) -> its .NET type."""

NUMBER_RANGES: Final = {"u": (0, 2**32 - 1), "i": (-(2**31), 2**31 - 1)}
"""Type code of a numeric parameter -> minimum and maximum."""

NUMBER_PATTERN: Final = re.compile(
    r"\s*([+-]?)(?:0x([0-9a-f]{1,16})|(\d{1,20})(?:\.(\d{0,20}))?)\s*", re.IGNORECASE
)


def build_binding_error(
    call: CmdletCall, text: str, id: str, category: str = "InvalidArgument", kind: str = ""
) -> ShellError:
    """Return the error for an argument that PowerShell cannot bind to a parameter."""
    exception = f"ParameterBinding{kind}Exception"
    return ShellError(call.name, text, category, f"{id},{call.name}", exception=exception)


def convert_number(call: CmdletCall, parameter: str, value: str, type_code: str) -> str:
    """Return the number in *value* as decimal digits. *type_code* is the type code of the parameter.

    Raise ShellError for a text that is not a number, or for a number outside the range of the type.
    """
    name, (minimum, maximum) = DOTNET_TYPES[type_code], NUMBER_RANGES[type_code]
    number_match = NUMBER_PATTERN.fullmatch(value)
    if number_match is None:
        problem = "Input string was not in a correct format."
    else:
        sign, hexadecimal, whole_part, part = number_match.groups()
        number = int(hexadecimal, 16) if hexadecimal else _round_half_even(int(whole_part), part or "")
        number = -number if sign == "-" else number
        if minimum <= number <= maximum:
            return str(number)
        problem = f"Value was either too large or too small for a{'n' * (type_code == 'i')} {name}."
    text = f'Cannot convert value "{value}" to type "System.{name}". Error: "{problem}"'
    raise build_binding_error(
        call, f"Cannot bind parameter '{parameter}'. {text}", "CannotConvertArgumentNoMessage"
    )


def check_parameter_value(call: CmdletCall, parameter: str, value: str) -> None:
    """Raise ShellError for a value that is outside the parameter's range or not one of its allowed words."""
    key = (call.name.lower(), parameter.lower())
    minimum, maximum = PARAMETER_RANGES.get(key, (-math.inf, math.inf))
    allowed = ALLOWED_WORDS.get(key, ())
    if allowed and value.lower() not in [word.lower() for word in allowed]:
        words = ",".join(allowed)
        problem = f'The argument "{value}" does not belong to the set "{words}" specified by the ValidateSet attribute.'
        cure = "is in the set"
    elif key in PARAMETER_RANGES and int(value) < minimum:
        problem = f"The {value} argument is less than the minimum allowed range of {minimum}."
        cure = f"is greater than or equal to {minimum}"
    elif key in PARAMETER_RANGES and int(value) > maximum:
        problem = f"The {value} argument is greater than the maximum allowed range of {maximum}."
        cure = f"is less than or equal to {maximum}"
    else:
        return
    text = f"Cannot validate argument on parameter '{parameter}'. {problem} Supply an argument that {cure} and then"
    raise build_binding_error(
        call,
        f"{text} try the command again.",
        "ParameterArgumentValidationError",
        "InvalidData",
        "Validation",
    )


PARAMETER_RANGES: Final = {
    ("test-netconnection", "port"): (1, 65_535),
    ("select-object", "first"): (0, 2**31 - 1),
}
"""(cmdlet, parameter) in lowercase -> minimum and maximum."""

ALLOWED_WORDS: Final = {("test-netconnection", "informationlevel"): ("Quiet", "Detailed")}
"""(cmdlet, parameter) in lowercase -> allowed words."""


def _round_half_even(integer: int, fraction: str) -> int:
    """Return *integer* plus the decimal digits *fraction*, rounded. Halves round to even, as in .NET."""
    half_digits = "5".ljust(len(fraction), "0")
    return integer + (fraction > half_digits or (fraction == half_digits and integer % 2 == 1))


def has_wildcards(pattern: str) -> bool:
    """Return whether the text is a wildcard pattern and not a plain name."""
    return bool(set(pattern) & set("*?["))


def compile_wildcard(cmdlet: str, pattern: str) -> re.Pattern[str]:
    """Return the regular expression for a wildcard pattern with *, ?, [sets] and backtick escapes.

    Raise ShellError for an invalid pattern.
    """
    parts, char_index = list[str](), 0
    while char_index < len(pattern):
        sign, char_index = pattern[char_index], char_index + 1
        if sign == "`" and char_index < len(pattern):
            parts.append(re.escape(pattern[char_index]))
            char_index += 1
        elif sign == "[":
            end = pattern.find("]", char_index + 1)
            if end < 0:
                raise _build_wildcard_error(cmdlet, pattern)
            parts.append("[" + re.sub(r"([\\^\[\]&~|])", r"\\\1", pattern[char_index:end]) + "]")
            char_index = end + 1
        else:
            parts.append({"*": ".*", "?": "."}.get(sign) or re.escape(sign))
    text = re.sub(r"(\.\*)+", ".*", "".join(parts))
    if text.count(".*") > QUANTIFIERS_MAX:
        raise CommandNotSimulatedError(f"A pattern with more than {QUANTIFIERS_MAX} stars")
    try:
        return _compile_pattern(text)
    except re.error:
        raise _build_wildcard_error(cmdlet, pattern) from None


def _build_wildcard_error(cmdlet: str, pattern: str) -> ShellError:
    text = f"The specified wildcard character pattern is not valid: {pattern}"
    return ShellError(
        cmdlet, text, "NotSpecified", f"RuntimeException,{cmdlet}", exception="WildcardPatternException"
    )


QUANTIFIERS_MAX: Final = 4
"""Maximum number of quantifiers in a pattern, so that matching a short text takes bounded time. Our choice."""

_QUANTIFIER: Final = re.compile(r"(?<!\\)(?:\\\\)*([*+]|(?<!\()\?|\{\d)")
_QUANTIFIED_GROUP: Final = re.compile(r"(?<!\\)\)\s*(?:[*+]|\{\d)")

REGEX_ERRORS: Final = (
    ("unterminated character set", "Unterminated [] set."),
    ("missing )", "Not enough )'s."),
    ("unbalanced parenthesis", "Too many )'s."),
    ("nothing to repeat", "Quantifier {x,y} following nothing."),
    ("multiple repeat", "Nested quantifier {sign}."),
    ("bad escape (end of pattern)", "Illegal \\ at end of pattern."),
    ("bad escape", "Unrecognized escape sequence {sign}."),
    ("bad character range", "[x-y] range in reverse order."),
    ("min repeat greater", "Illegal {x,y} with x > y."),
)
"""(beginning of Python's message, .NET's message) for an invalid regular expression. Documented by .NET's
resources.
"""


def compile_regular_expression(pattern: str) -> re.Pattern[str]:
    """Return a compiled regular expression. Raise ShellError for an invalid pattern."""
    if len(_QUANTIFIER.findall(pattern)) > QUANTIFIERS_MAX or _QUANTIFIED_GROUP.search(pattern):
        raise CommandNotSimulatedError(f'The regular expression "{pattern}"')
    try:
        return _compile_pattern(pattern)
    except re.error as error:
        problem = next((text for start, text in REGEX_ERRORS if error.msg.startswith(start)), None)
        if problem is None:
            raise CommandNotSimulatedError(f'The regular expression "{pattern}"') from None
        sign = pattern[error.pos or 0 :][:2] if "escape" in problem else pattern[error.pos or 0 :][:1]
        text = f'parsing "{pattern}" - {problem.replace("{sign}", sign)}'
        id = "System.ArgumentException"
        raise ShellError("", text, "OperationStopped", id, exception="ArgumentException") from None


@lru_cache(maxsize=64)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)
