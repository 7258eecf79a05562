"""Entry to the translator and the parser, which load at the first query."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from engine.tsql.batches.work import ResumableComputation
from engine.tsql.language import statements as s
from engine.tsql.language.columns import parse_columns
from engine.tsql.language.lexer import SqlSyntaxError, Token, tokens_of
from engine.tsql.query.names import BindingContext
from engine.tsql.query.plans import QueryPlan, References

# sqlglot (behind translate.py) takes 50 ms; lark and the grammar's tables (behind parse.py) take 120 ms. A
# program without queries need not load them.


def load() -> None:
    """Load the planner now, so that its first user does not wait."""
    from engine.tsql.language import parse  # noqa: F401
    from engine.tsql.query import translate  # noqa: F401


def parse_command(text: str, tokens: Sequence[Token], following: Token) -> s.Statement:
    """Parse the command *tokens* of *text*; *following* is the token after it.

    Raises SqlSyntaxError 102 or 156.
    """
    from engine.tsql.language import parse

    return parse.parse_command(text, tokens, following)


def following(statement: str) -> tuple[set[str], set[str]]:
    """Return names of the terminals that may follow the beginning of a command, and the words among them."""
    from engine.tsql.language import parse

    return parse.following(statement)


def references(kind: str, text: str) -> References:
    """Return the tables and variables that *text*, a statement, expression or condition, names."""
    from engine.tsql.query import translate

    return translate.references(kind, text)


def plan(kind: str, text: str, names: BindingContext | None = None) -> QueryPlan:
    """Return the plan of a statement, or of the value of an expression or condition, read against *names*.

    Raises SqlSyntaxError, SqlError or UnsimulatedFeatureError.
    """
    from engine.tsql.query import translate

    return translate.plan(kind, text, names)


def planning(text: str, names: BindingContext) -> ResumableComputation[QueryPlan]:
    """Return the plan of a statement in steps (work.Stepwise)."""
    from engine.tsql.query import translate

    return translate.planning(text, names)


def plan_statement(text: str) -> QueryPlan:
    """Return the plan of a statement of which no table or variable is known."""
    return plan("statement", text)


# --- checks while the batch is compiled -----------------------------------------------------------------


def check_statement(text: str, line: int) -> bool:
    """Return whether *text* reads as a query; raises SqlSyntaxError if not, False if sqlglot cannot tell."""
    from engine.tsql.query import translate

    return translate.check_statement(text, line)


def check_view(text: str) -> None:
    """Raise 1033 for the query of a view with ORDER BY and without TOP."""
    from engine.tsql.query import translate

    translate.check_view(text)


def check_condition(text: str, line: int) -> None:
    """Raise SqlSyntaxError unless *text* reads as a condition (4145 if it is a value)."""
    from engine.tsql.query import translate

    translate.check_condition(text, line)


def check_expression(text: str, line: int) -> None:
    """Raise SqlSyntaxError unless *text* reads as one value."""
    from engine.tsql.query import translate

    translate.check_expression(text, line)


def check_columns(text: str, line: int) -> None:
    """Raise SqlSyntaxError unless *text* reads as the columns of a table."""
    try:
        parse_columns(text)
    except SqlSyntaxError as problem:
        raise SqlSyntaxError(problem.line + line - 1, problem.number, *problem.parameters) from None


def without_cursor_options(text: str) -> str:
    """Return the SELECT of a cursor without FOR READ ONLY or FOR UPDATE."""
    level, begins = 0, len(text)
    tokens = tokens_of(text)
    for token, behind in pairwise(tokens):
        level += token.is_op("(") - token.is_op(")")
        if level == 0 and token.upper == "FOR":
            begins = token.start if behind.upper in ("READ", "UPDATE") else len(text)
    return text[:begins]
