"""Clauses that sqlglot cannot parse: TOP in INSERT, UPDATE, DELETE or MERGE; hints in INSERT; OPTION."""

from collections.abc import Sequence
from typing import Final

from engine.tsql.language.lexer import SqlSyntaxError, Token, build_unexpected_token_error


def find_end_of_brackets(tokens: Sequence[Token], index: int) -> int:
    """Return the index after the closing parenthesis that matches the opening one at *index*."""
    level = 0
    while tokens[index].kind != "end":
        level += tokens[index].is_operator("(") - tokens[index].is_operator(")")
        index += 1
        if level == 0:
            break
    return index


def find_verb_index(tokens: Sequence[Token]) -> int:
    """Return the index of the statement's verb, after `WITH name AS (…), …`."""
    index = 0
    if tokens[0].upper == "WITH":
        while tokens[index].kind != "end" and tokens[index].upper not in _VERBS:
            index = find_end_of_brackets(tokens, index) if tokens[index].is_operator("(") else index + 1
    return index


_VERBS: Final = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"})


_QUERY_HINTS: Final = frozenset(
    {
        "HASH", "ORDER", "CONCAT", "MERGE", "LOOP", "EXPAND", "FAST", "FORCE", "KEEP", "KEEPFIXED", "MAXDOP",
        "MAXRECURSION", "OPTIMIZE", "PARAMETERIZATION", "RECOMPILE", "ROBUST", "USE", "TABLE", "QUERYTRACEON",
        "MIN_GRANT_PERCENT", "MAX_GRANT_PERCENT", "NO_PERFORMANCE_SPOOL", "IGNORE_NONCLUSTERED_COLUMNSTORE_INDEX",
        "DISABLE", "DISABLE_OPTIMIZED_PLAN_FORCING", "LABEL",
    }
)  # fmt: skip
"""First words of query hints. Documented [DOC: query hints]."""


def drop_query_hints(tokens: Sequence[Token]) -> dict[int, str]:
    """Remove OPTION (…) at the end of a statement, because hints do not change results.

    MAXRECURSION remains. In INSERT, UPDATE, DELETE and MERGE, it moves to the first common table expression,
    because sqlglot parses it only in a query. Raises 102 for an unknown hint, 310 for a limit above 32,767.
    """
    level, hints = 0, dict[int, str]()
    for index, token in enumerate(tokens):
        level += token.is_operator("(") - token.is_operator(")")
        if level or token.upper != "OPTION" or not tokens[index + 1].is_operator("("):
            continue
        end = find_end_of_brackets(tokens, index + 1)
        inner_text, limit = 0, ""
        for position in range(index + 1, end):
            inner_text += tokens[position].is_operator("(") - tokens[position].is_operator(")")
            if inner_text == 1 and (position == index + 1 or tokens[position].is_operator(",")):
                hint = tokens[position + 1]
                if hint.upper not in _QUERY_HINTS:
                    raise build_unexpected_token_error(hint)
                if hint.upper == "MAXRECURSION":
                    _check_recursion_limit(tokens[position + 2])
                    limit = f"OPTION (MAXRECURSION {tokens[position + 2].text})"
        hints = {**dict.fromkeys(range(index, end), ""), index: limit}
        if limit and tokens[find_verb_index(tokens)].upper in ("UPDATE", "DELETE", "MERGE"):
            hints[index] = ""
            if tokens[0].upper == "WITH":
                hints[_find_first_expression_end(tokens)] = f" {limit})"
    return hints


def _check_recursion_limit(token: Token) -> None:
    """Raise 310 for a limit above the maximum, 102 if it is no number."""
    if not token.text.isdigit():
        raise build_unexpected_token_error(token)
    if int(token.text) > RECURSION_LIMIT_MAX:
        raise SqlSyntaxError(token.line, 310, token.text, RECURSION_LIMIT_MAX)


RECURSION_LIMIT_MAX: Final = 32_767
"""Maximum of MAXRECURSION. Documented [DOC: query hints]."""


def _find_first_expression_end(tokens: Sequence[Token]) -> int:
    """Return the index of the parenthesis that ends the first common table expression."""
    start = next(
        index
        for index, token in enumerate(tokens)
        if token.upper == "AS" and tokens[index + 1].is_operator("(")
    )
    return find_end_of_brackets(tokens, start + 1) - 1


def find_top_tokens(tokens: Sequence[Token]) -> tuple[int, int]:
    """Return (start, end) of the tokens of TOP (n) [PERCENT] after INSERT, UPDATE, DELETE or MERGE.

    Return (0, 0) without TOP. Raises 102 if the parentheses are missing [DOC: TOP].
    """
    position = find_verb_index(tokens) + 1
    changes = ("INSERT", "UPDATE", "DELETE", "MERGE")
    if tokens[position - 1].upper not in changes or tokens[position].upper != "TOP":
        return 0, 0
    if not tokens[position + 1].is_operator("("):
        raise build_unexpected_token_error(tokens[position + 1])
    end_index = find_end_of_brackets(tokens, position + 1)
    return position, end_index + (tokens[end_index].upper == "PERCENT")


TABLE_HINTS: Final = frozenset(
    {
        "KEEPIDENTITY", "KEEPDEFAULTS", "FASTFIRSTROW", "FORCESCAN", "FORCESEEK", "HOLDLOCK", "IGNORE_CONSTRAINTS",
        "IGNORE_TRIGGERS", "INDEX", "NOEXPAND", "NOLOCK", "NOWAIT", "PAGLOCK", "READCOMMITTED", "READCOMMITTEDLOCK",
        "READPAST", "READUNCOMMITTED", "REPEATABLEREAD", "ROWLOCK", "SERIALIZABLE", "SNAPSHOT",
        "SPATIAL_WINDOW_MAX_CELLS", "TABLOCK", "TABLOCKX", "UPDLOCK", "XLOCK",
    }
)  # fmt: skip
"""Table hints. Documented [DOC: table hints]."""


def find_skipped_tokens(tokens: Sequence[Token]) -> frozenset[int]:
    """Return the indexes of tokens that are hidden from sqlglot.

    They are TOP in INSERT, UPDATE, DELETE or MERGE, and the hints of INSERT. Other code handles these
    clauses. Raises 321 for an unknown hint.
    """
    first, end_index = find_top_tokens(tokens)
    skipped_tokens = set(range(first, end_index))
    verb = find_verb_index(tokens)
    if tokens[verb].upper == "INSERT":
        position = max(verb + 1, end_index)
        while tokens[position].kind in ("word", "quoted", "variable") or tokens[position].is_operator("."):
            if tokens[position].upper == "WITH" and tokens[position + 1].is_operator("("):
                hint_indexes = range(position, find_end_of_brackets(tokens, position + 1))
                skipped_tokens |= set(hint_indexes)
                for token in (tokens[index] for index in hint_indexes[1:]):
                    if token.kind == "word" and token.upper not in TABLE_HINTS:
                        raise SqlSyntaxError(token.line, 321, token.text)
                break
            position += 1
    return frozenset(skipped_tokens)
