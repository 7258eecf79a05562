"""Rejection of clauses that sqlglot accepts but T-SQL does not have; replacement of named windows.

A table lists the clauses that the translation handles. Any other clause raises an error and is not ignored.
"""

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from engine.tsql.language.lexer import SqlSyntaxError, Token, build_unexpected_token_error
from engine.tsql.query.plans import UnsimulatedFeatureError

_SET_OPERATION: Final = frozenset(
    {"distinct", "expression", "for_", "limit", "offset", "options", "order", "this", "with_"}
)
_HANDLED_CLAUSES: Final[dict[type[exp.Expr], frozenset[str]]] = {
    exp.Select: frozenset(
        {
            "distinct", "expressions", "for_", "from_", "group", "having", "into", "joins", "limit", "offset",
            "options", "order", "where", "with_",
        }
    ),
    **dict.fromkeys((exp.Union, exp.Except, exp.Intersect), _SET_OPERATION),
    exp.Insert: frozenset({"default", "expression", "limit", "returning", "this", "with_"}),
    exp.Update: frozenset({"expressions", "from_", "limit", "returning", "this", "where", "with_"}),
    exp.Delete: frozenset({"from_", "limit", "returning", "tables", "this", "where", "with_"}),
    exp.Merge: frozenset({"limit", "on", "returning", "this", "using", "whens", "with_"}),
    exp.Table: frozenset({"alias", "catalog", "db", "hints", "joins", "pivots", "sample", "this", "version"}),
    exp.Join: frozenset({"hint", "kind", "on", "side", "this"}),
    exp.Window: frozenset({"order", "over", "partition_by", "spec", "this"}),
    exp.WindowSpec: frozenset({"end", "end_side", "kind", "start", "start_side"}),
    **dict.fromkeys((exp.Cast, exp.TryCast), frozenset({"requires_string", "safe", "this", "to"})),
}  # fmt: skip
"""sqlglot node class -> names of the node's arguments that the translation handles."""

_CLAUSE_WORDS: Final = {
    "cluster": "CLUSTER", "sort": "SORT", "distribute": "DISTRIBUTE", "conflict": "ON", "overwrite": "OVERWRITE",
    "exclude": "EXCLUDE", "format": "FORMAT", "ordinality": "ORDINALITY", "partition": "PARTITION", "order": "ORDER",
    "qualify": "QUALIFY", "using": "USING",
}  # fmt: skip
"""Node argument for a clause of other database products -> first word of that clause."""
_JOIN_KINDS: Final = frozenset({"", "INNER", "CROSS", "OUTER"})
_FRAME_KINDS: Final = frozenset({"ROWS", "RANGE"})


def check_clauses(tree: exp.Expr, tokens: Sequence[Token]) -> None:
    """Raise 102, 156 or 324 for a clause that T-SQL does not have.

    Raise UnsimulatedFeatureError for any other clause that is not in _HANDLED_CLAUSES.
    """
    for node in tree.walk():
        handled = _HANDLED_CLAUSES.get(type(node))
        for name, value in node.args.items() if handled is not None else ():
            if name in (handled or ()) or value in (None, False, "") or value == []:
                continue
            if name in _CLAUSE_WORDS:
                raise _make_error_at(tokens, _CLAUSE_WORDS[name])
            raise UnsimulatedFeatureError(f"the clause {name.strip('_').upper()} of this statement")
        if isinstance(node, exp.Join) and node.kind.upper() not in _JOIN_KINDS:
            raise _make_error_at(tokens, node.kind.upper())
        if (
            isinstance(node, exp.WindowSpec)
            and str(node.args.get("kind") or "ROWS").upper() not in _FRAME_KINDS
        ):
            raise _make_error_at(tokens, str(node.args["kind"]).upper())
        if isinstance(node, exp.Except | exp.Intersect) and node.args.get("distinct") is False:
            raise SqlSyntaxError(1, 324, type(node).__name__.upper())
        options = node.args.get("limit_options") if isinstance(node, exp.Fetch) else None
        if options is not None and options.args.get("with_ties"):
            raise _make_error_at(tokens, "TIES")
        if isinstance(node, exp.Placeholder):
            raise SqlSyntaxError(1, 102, "?")
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table) and not _has_joins(node):
            raise SqlSyntaxError(1, 102, ")")
    target = tree.this if isinstance(tree, exp.Update | exp.Delete) and not tree.args.get("tables") else None
    if isinstance(target, exp.Table) and target.alias:
        raise _make_error_at(tokens, target.alias.upper())


def _has_joins(node: exp.Expr) -> bool:
    return bool(node.args.get("joins") or node.this.args.get("joins"))


def _make_error_at(tokens: Sequence[Token], word: str) -> SqlSyntaxError:
    """Return the syntax error for the first token that is *word*."""
    token = next((token for token in tokens if token.text.strip('[]"').upper() == word), tokens[-1])
    return build_unexpected_token_error(token)


def inline_windows(tree: exp.Expr) -> None:
    """Replace the names of windows by their definitions in the WINDOW clause [DOC: WINDOW].

    Raise UnsimulatedFeatureError for an unknown name.
    """
    for select in list(tree.find_all(exp.Select)):
        definitions = {definition.name.lower(): definition for definition in select.args.get("windows") or ()}
        users = [window for window in select.find_all(exp.Window) if window.args.get("alias") is not None]
        for window in [*definitions.values(), *users]:
            alias = window.args.get("alias")
            if alias is None or window.parent_select is not select:
                continue
            definition = definitions.get(alias.name.lower())
            if definition is None:
                raise UnsimulatedFeatureError(f"OVER with the unknown window {alias.name}")
            for key in ("partition_by", "order", "spec"):
                part = definition.args.get(key)
                if not window.args.get(key) and part:
                    window.set(key, [item.copy() for item in part] if isinstance(part, list) else part.copy())
            window.set("alias", None)
        select.set("windows", None)
