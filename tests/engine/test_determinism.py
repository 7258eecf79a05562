"""Determinism of the engine: no result depends on Python version, processor, system library or locale."""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import arithmetic

ENGINE = Path(__file__).parents[2] / "engine"

EXACT_MATH_FUNCTIONS = (
    "ceil",
    "isqrt",
    "degrees",
    "e",
    "factorial",
    "floor",
    "frexp",
    "inf",
    "isfinite",
    "isinf",
    "isnan",
    "ldexp",
    "nan",
    "pi",
    "prod",
    "radians",
    "sqrt",
)
"""Functions of `math` with results that IEEE 754 or integer arithmetic determines.

Other functions call libm, whose results differ in the last digit between systems.
"""

LIBM_FUNCTIONS = frozenset(
    "exp exp2 expm1 log log2 log10 log1p pow power float_power cbrt hypot sin cos tan arcsin arccos arctan arctan2 "  # noqa: SIM905
    "sinh cosh tanh geomspace logspace mean std var nansum einsum dot matmul vdot inner convolve".split()
)
FORBIDDEN_CALLS = {
    "sum": "adds floats differently from Python 3.12 on: arithmetic.total",
    "hash": "differs from process to process",
    "id": "is an address",
    "pow": "is libm's",
}
FORBIDDEN_METHODS = {
    **dict.fromkeys(("strftime", "strptime"), "follows the locale: engine.datetime_formats"),
    **dict.fromkeys(("today", "utcnow", "astimezone", "fromtimestamp"), "is the wall clock or the time zone"),
    **dict.fromkeys(("sum", "mean", "std", "dot", "cumsum", "prod"), "numpy adds in an order of its own"),
}
ORDER_INDEPENDENT_FUNCTIONS = frozenset(
    ["sorted", "set", "frozenset", "len", "any", "all", "min", "max", "bool"]
)
"""Functions that may take a set, because their results do not depend on the order of its members."""


def _is_integer(element: ast.expr) -> bool:
    """Return whether the expression is certainly an integer."""
    if isinstance(element, ast.Constant):
        return isinstance(element.value, int)
    if isinstance(element, ast.Call) and isinstance(element.func, ast.Name):
        return element.func.id in ("len", "int", "isinstance", "ord")
    if isinstance(element, ast.BinOp) and isinstance(element.op, ast.Add | ast.Sub | ast.Mult | ast.FloorDiv):
        return _is_integer(element.left) and _is_integer(element.right)
    if isinstance(element, ast.BoolOp):
        return all(map(_is_integer, element.values))
    return isinstance(element, ast.Compare)


def _is_integer_sum(call: ast.Call) -> bool:
    argument = call.args[0]
    if isinstance(argument, ast.GeneratorExp):
        return _is_integer(argument.elt)
    return isinstance(argument, ast.Call) and ast.unparse(argument).startswith("map(len,")


def _is_set_expression(node: ast.expr, sets: frozenset[str]) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd | ast.Sub | ast.BitXor):
        return _is_set_expression(node.left, sets) or _is_set_expression(node.right, sets)
    if isinstance(node, ast.Name):
        return node.id in sets
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("set", "frozenset")
    return isinstance(node, ast.Set | ast.SetComp)


def _find_set_iterations(scope: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield places that expose the order of a set: loops, lists, tuples and joins."""
    named = [
        (target.id, node.value)
        for node in ast.walk(scope)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    ]
    sets = frozenset(name for name, value in named if _is_set_expression(value, frozenset()))
    sets -= {name for name, value in named if not _is_set_expression(value, sets)}
    harmless = {
        id(argument)
        for node in ast.walk(scope)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ORDER_INDEPENDENT_FUNCTIONS
        for argument in node.args
    }
    for node in ast.walk(scope):
        if isinstance(node, ast.For) and _is_set_expression(node.iter, sets):
            yield node.lineno, "goes through a set"
        elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.DictComp) and id(node) not in harmless:
            if any(_is_set_expression(generator.iter, sets) for generator in node.generators):
                yield node.lineno, "goes through a set"
        elif isinstance(node, ast.Call) and node.args and _is_set_expression(node.args[0], sets):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in ("list", "tuple", "join", "enumerate", "iter", "next", "dict"):
                yield node.lineno, f"{name}() of a set"


def _list_called_names(node: ast.Call) -> Iterator[str]:
    if isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN_CALLS:
        if node.func.id != "sum" or not _is_integer_sum(node):
            yield f"{node.func.id}() {FORBIDDEN_CALLS[node.func.id]}"
    elif isinstance(node.func, ast.Attribute):
        owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
        if owner in ("datetime", "date") and node.func.attr == "now":
            yield "datetime.now() is the wall clock"
        if owner not in ("arithmetic", "math", "np") and node.func.attr in FORBIDDEN_METHODS:
            yield f".{node.func.attr}() {FORBIDDEN_METHODS[node.func.attr]}"


def find_nondeterminism(source: str) -> list[tuple[int, str]]:
    """Return (line, text) of each construct in *source* whose result could differ between machines."""
    findings: list[tuple[int, str]] = []
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            findings += _find_set_iterations(node)
        elif isinstance(node, ast.Call):
            findings += [(node.lineno, call) for call in _list_called_names(node)]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
            findings += [
                (node.lineno, f"imports {name}") for name in names if name in ("locale", "statistics")
            ]
            if names[0] == "math":
                findings.append((node.lineno, "names of math without math. before them"))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            has_constants = isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant)
            if not has_constants:
                findings.append((node.lineno, "** of floats is libm's pow: arithmetic.power or a product"))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner, name = node.value.id, node.attr
            if (owner == "math" and name not in EXACT_MATH_FUNCTIONS) or (
                owner in ("np", "cmath") and name in LIBM_FUNCTIONS
            ):
                findings.append((node.lineno, f"{owner}.{name} is libm's: engine.arithmetic"))
    return sorted(set(findings))


@pytest.mark.parametrize(
    "source",
    [
        "x = sum(row.size_kb for row in rows)",
        "x = sum(values)",
        "import math\nx = math.exp(2)",
        "from math import exp",
        "x = np.log(y)",
        "x = array.sum()",
        "x = moment.strftime('%B')",
        "x = a ** 2",
        "x = hash('a')",
        "import locale",
        "def f(a):\n    for x in {y for y in a}:\n        print(x)",
        "def f(a):\n    there = set(a)\n    return [x for x in there]",
        "def f(a):\n    return ', '.join({str(x) for x in a})",
        "def f(a, b):\n    return tuple(set(a) - set(b))",
    ],
)
def test_the_determinism_rule_finds_violations(source: str) -> None:
    assert find_nondeterminism(source)


@pytest.mark.parametrize(
    "source",
    [
        "x = sum(1 for row in rows)",
        "x = sum(len(text) + 2 for text in texts)",
        "x = math.sqrt(2.0) + math.inf",
        "x = 2**31 + 1024.0**2",
        "def f(a):\n    return sorted(x for x in set(a))",
        "def f(a):\n    there = {x for x in a}\n    return any(x in there for x in a)",
    ],
)
def test_the_determinism_rule_accepts_valid_code(source: str) -> None:
    assert not find_nondeterminism(source)


def test_every_engine_module_obeys_the_determinism_rule() -> None:
    problems = [
        f"{path.relative_to(ENGINE.parent)}:{line}: {problem}"
        for path in sorted(ENGINE.rglob("*.py"))
        for line, problem in find_nondeterminism(path.read_text(encoding="utf-8"))
    ]
    assert not problems, "\n".join(problems)


# --- engine.arithmetic ----------------------------------------------------------------------------------

RANGES = {
    "exp": (-700.0, 700.0),
    "log": (1e-9, 1e9),
    "log10": (1e-9, 1e9),
    "log1p": (0.0, 1e6),
    "sin": (-1e5, 1e5),
    "cos": (-1e5, 1e5),
    "tan": (-1.5, 1.5),
    "asin": (-1.0, 1.0),
    "acos": (-1.0, 1.0),
    "atan": (-1e3, 1e3),
}


@pytest.mark.parametrize("name", RANGES)
def test_functions_agree_with_libm_up_to_the_last_digit(name: str) -> None:
    draws = random.Random(1)
    for _ in range(200):
        x = draws.uniform(*RANGES[name])
        expected = getattr(math, name)(x)
        assert abs(getattr(arithmetic, name)(x) - expected) <= 2 * math.ulp(expected), x


@pytest.mark.parametrize(
    ("base", "exponent", "result"),
    [(2.0, 10.0, 1024.0), (-2.0, 3.0, -8.0), (0.0, 3.0, 0.0), (10.0, -2.0, 0.01), (9.0, 0.5, 3.0)],
)
def test_powers_are_computed(base: float, exponent: float, result: float) -> None:
    assert arithmetic.raise_to_power(base, exponent) == result


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: arithmetic.raise_to_power(0.0, -1.0), ZeroDivisionError),
        (lambda: arithmetic.raise_to_power(-8.0, 0.5), ValueError),
        (lambda: arithmetic.raise_to_power(10.0, 309.0), OverflowError),
        (lambda: arithmetic.exp(710.0), OverflowError),
        (lambda: arithmetic.log(0.0), ValueError),
        (lambda: arithmetic.acos(1.5), ValueError),
        (lambda: arithmetic.sin(math.inf), ValueError),
    ],
)
def test_undefined_results_are_refused(call, error) -> None:
    with pytest.raises(error):
        call()


def test_a_sum_is_rounded_after_each_number() -> None:
    # the built-in sum returns 1.0 since Python 3.12
    assert arithmetic.add_in_order([0.1] * 10) == 0.9999999999999999
    assert arithmetic.add_in_order([1e16, 1.0, -1e16]) == 0.0
    assert isinstance(arithmetic.add_in_order([1, 2]), int)
