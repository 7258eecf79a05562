"""Digits behind the point of exact numbers: what a decimal expression shows, worked out from the text of a query.

SQLite computes with binary floating point, which has no digits to keep: 12.50 is 12.5 there. So the scale of each
result is inferred by the product's rules [DOC: precision, scale and length] and put back when it is shown or turned
into text. A column of a table is looked up when the query runs; what cannot be known is shown as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqlglot import exp

PRECISION_MAX: Final = 38
DIVISION_SCALE: Final = 6
"""Least scale of a quotient. Documented [DOC: precision, scale and length]."""

INT_DIGITS: Final = 10

Exact = tuple[int, int]
"""(precision, scale) of an exact number; scale 0 for whole ones."""

Scale = int | str | None
"""Digits of a result; the name of the variable or column that decides; or None for what has none."""

_TEXTS: Final = ("varchar", "nvarchar", "char", "nchar", "text", "ntext", "sysname")


def scales_of(nodes: Sequence[exp.Expr], tree: exp.Expr) -> tuple[Scale, ...]:
    """The digits to show of each of these projections of *tree*."""
    names = _Names(tree)
    return tuple(_scale_of(node, names) for node in nodes)


def _scale_of(node: exp.Expr, names: _Names) -> Scale:
    value = node.unalias()
    if isinstance(value, exp.EQ) and isinstance(value.this, exp.Column):
        value = value.args["expression"]  # name = value
    while isinstance(value, exp.Paren):
        value = value.args["this"]
    if isinstance(value, exp.Parameter):
        return _variable(value)
    found = _exact(value, names)
    if found is not None:
        return found[1] if _is_decimal(value, found) else None
    return value.name.lower() if isinstance(value, exp.Column) and not value.is_star else None


def _variable(parameter: exp.Parameter) -> str | None:
    return None if isinstance(parameter.this, exp.Parameter) else f"@{parameter.this.name.lower()}"


def _is_decimal(value: exp.Expr, found: Exact) -> bool:
    """A whole number stays one; a decimal of scale 0 shows no point either."""
    return found[1] > 0


class _Names:
    """Columns of the tree's derived tables and common table expressions, by their names."""

    def __init__(self, tree: exp.Expr) -> None:
        self._values: dict[str, list[exp.Expr]] = {}
        self._busy: set[str] = set()
        self._known: dict[str, Exact | None] = {}
        """a + a of b + b of c + c … would be looked up without end."""
        selects = list(tree.find_all(exp.Select))
        for select in selects:
            if select is tree:
                continue
            for projection in select.expressions:
                name = projection.alias_or_name.lower()
                if name and not isinstance(projection, exp.Column):
                    self._values.setdefault(name, []).append(projection.unalias())

    def exact(self, name: str) -> Exact | None:
        values = self._values.get(name, [])
        if len(values) != 1 or name in self._busy:
            return None
        if name not in self._known:
            self._busy.add(name)
            self._known[name] = _exact(values[0], self)
            self._busy.discard(name)
        return self._known[name]


def _exact(node: exp.Expr | None, names: _Names) -> Exact | None:
    """Precision and scale of an expression; None if it is no exact number or cannot be told."""
    if node is None or type(node) not in _RULES:
        return None
    return _RULES[type(node)](node, names)


def _literal(node: exp.Expr, names: _Names) -> Exact | None:
    if node.is_string or "e" in node.name.lower():
        return None
    whole, _, part = node.name.partition(".")
    return max(1, len(whole.lstrip("0")) + len(part)), len(part)


def _cast(node: exp.Expr, names: _Names) -> Exact | None:
    kind = node.this if isinstance(node, exp.Convert) else node.args.get("to")
    name = kind.sql(dialect="tsql").lower().replace(" ", "") if isinstance(kind, exp.Expr) else ""
    head, _, rest = name.partition("(")
    if head in ("int", "bigint", "smallint", "tinyint"):
        return INT_DIGITS, 0
    if head in ("money", "smallmoney"):
        return 19, 2  # four digits, of which clients show two
    if head not in ("decimal", "numeric", "dec"):
        return None
    digits = [int(part) for part in rest.rstrip(")").split(",") if part.isdigit()]
    return (digits or [18])[0], digits[1] if len(digits) > 1 else 0


def _same(node: exp.Expr, names: _Names) -> Exact | None:
    return _exact(node.this, names)


def _sum(node: exp.Expr, names: _Names) -> Exact | None:
    found = _exact(node.this, names)
    return None if found is None else (PRECISION_MAX, found[1])


def _both(
    combine: Callable[[Exact, Exact], Exact],
) -> Callable[[exp.Expr, _Names], Exact | None]:
    def rule(node: exp.Expr, names: _Names) -> Exact | None:
        left, right = _exact(node.this, names), _exact(node.args["expression"], names)
        return None if left is None or right is None else _fitted(combine(left, right))

    return rule


def _fitted(found: Exact) -> Exact:
    """At most 38 digits, taken from behind the point down to 6 of them."""
    precision, scale = found
    if precision <= PRECISION_MAX:
        return found
    return PRECISION_MAX, max(min(scale, DIVISION_SCALE), scale - (precision - PRECISION_MAX))


def _added(a: Exact, b: Exact) -> Exact:
    scale = max(a[1], b[1])
    return max(a[0] - a[1], b[0] - b[1]) + scale + 1, scale


def _multiplied(a: Exact, b: Exact) -> Exact:
    return a[0] + b[0] + 1, a[1] + b[1]


def _divided(a: Exact, b: Exact) -> Exact:
    if not a[1] and not b[1]:
        return a  # whole numbers
    scale = max(DIVISION_SCALE, a[1] + b[0] + 1)
    return a[0] - a[1] + b[1] + scale, scale


def _call(node: exp.Expr, names: _Names) -> Exact | None:
    name, arguments = str(node.this).lower(), node.expressions
    if name in ("round", "isnull", "abs", "sum", "max", "min") and arguments:
        return _exact(arguments[0], names)
    if name == "avg" and arguments:
        found = _exact(arguments[0], names)
        return None if found is None or not found[1] else (PRECISION_MAX, max(DIVISION_SCALE, found[1]))
    return None


def _widest(values: list[exp.Expr], names: _Names) -> Exact | None:
    found = [_exact(value, names) for value in values if not isinstance(value, exp.Null)]
    known = [one for one in found if one is not None]
    return max(known, key=lambda one: one[1]) if known and len(known) == len(found) else None


def _case(node: exp.Expr, names: _Names) -> Exact | None:
    branches = [branch.args["true"] for branch in node.args.get("ifs") or ()]
    default = node.args.get("default")
    return _widest([*branches, *([default] if default is not None else [])], names)


def _coalesce(node: exp.Expr, names: _Names) -> Exact | None:
    return _widest([node.this, *node.expressions], names)


def _column(node: exp.Expr, names: _Names) -> Exact | None:
    return names.exact(node.name.lower())


def _subquery(node: exp.Expr, names: _Names) -> Exact | None:
    inner = node.this
    if not isinstance(inner, exp.Select) or len(inner.expressions) != 1:
        return None
    return _exact(inner.expressions[0].unalias(), names)


_RULES: Final[dict[type[exp.Expr], Callable[[exp.Expr, _Names], Exact | None]]] = {
    exp.Literal: _literal,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Convert: _cast,
    exp.Paren: _same,
    exp.Neg: _same,
    exp.Window: _same,
    exp.Max: _same,
    exp.Min: _same,
    exp.Sum: _sum,
    exp.Add: _both(_added),
    exp.Sub: _both(_added),
    exp.Mul: _both(_multiplied),
    exp.Div: _both(_divided),
    exp.Anonymous: _call,
    exp.Case: _case,
    exp.Coalesce: _coalesce,
    exp.Column: _column,
    exp.Subquery: _subquery,
}


CASTS: Final = (exp.Cast, exp.TryCast, exp.Convert)
"""What makes a text of a number."""


def keep_digits_in_texts(tree: exp.Expr) -> None:
    """CAST(decimal AS varchar) has to write the digits that the decimal shows: have it call decimal_text."""
    names = _Names(tree)
    for node in list(tree.find_all(*CASTS)):
        kind = node.this if isinstance(node, exp.Convert) else node.args.get("to")
        name = kind.sql(dialect="tsql").lower() if isinstance(kind, exp.Expr) else ""
        if name.partition("(")[0] not in _TEXTS:
            continue
        place = "expression" if isinstance(node, exp.Convert) else "this"
        value = node.args.get(place)
        if value is None:  # CONVERT of nothing: refused when it is run
            continue
        digits = _digits(value, names)
        if digits is not None:
            node.set(place, exp.Anonymous(this="decimal_text", expressions=[value.copy(), digits]))


def _digits(value: exp.Expr, names: _Names) -> exp.Expr | None:
    if isinstance(value, exp.Parameter) and _variable(value) is not None:
        return exp.Parameter(this=exp.Var(this=f"{value.this.name} scale"))
    found = _exact(value, names)
    return exp.Literal.number(found[1]) if found is not None and found[1] else None
