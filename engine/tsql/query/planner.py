"""Entry point of the translator and the parser, which are imported at the first query.

Checks that need only tokens are here as well.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from engine.tsql.batches.work import ResumableComputation
from engine.tsql.language import statements as s
from engine.tsql.language.columns import parse_columns
from engine.tsql.language.lexer import SqlSyntaxError, Token, build_unexpected_token_error, tokenize
from engine.tsql.query.plans import BindingContext, ColumnLookup, DeducedParameter, QueryPlan, QueryReferences
from engine.tsql.scalars.types import SqlType

# Importing sqlglot (translate.py) takes 50 ms, lark and the grammar (parse.py) 120 ms. A program without
# queries need not import them.


def load_planner() -> None:
    """Import the translator and the parser now, so that the first query does not wait for them."""
    from engine.tsql.language import parse  # noqa: F401
    from engine.tsql.query import translate  # noqa: F401


def parse_command(text: str, tokens: Sequence[Token], following_token: Token) -> s.Statement:
    """Parse the statement with the tokens *tokens* in *text*. *following_token*: the token after the statement.

    Raises SqlSyntaxError 102 or 156.
    """
    from engine.tsql.language import parse

    return parse.parse_command(text, tokens, following_token)


def list_following_words(statement: str) -> tuple[set[str], set[str]]:
    """Return the grammar terminals that can follow *statement*, and the keywords among them.

    *statement*: the beginning of a command.
    """
    from engine.tsql.language import parse

    return parse.list_following_words(statement)


def find_references(kind: str, text: str) -> QueryReferences:
    """Return the tables and variables that *text* names. *kind*: statement, expression or condition."""
    from engine.tsql.query import translate

    return translate.find_references(kind, text)


def deduce_types(
    text: str, undeclared: frozenset[str], columns_of: ColumnLookup, variables: Mapping[str, SqlType]
) -> list[DeducedParameter]:
    """Return the types of the undeclared parameters of a query.

    Raises the same errors as `deduction.deduce_types`.
    """
    from engine.tsql.query import deduction

    return deduction.deduce_types(text, undeclared, columns_of, variables)


def plan_text(kind: str, text: str, names: BindingContext | None = None) -> QueryPlan:
    """Return the plan of *text*, bound to *names*. *kind*: statement, expression or condition.

    Raises SqlSyntaxError, SqlError or UnsimulatedFeatureError.
    """
    from engine.tsql.query import translate

    return translate.plan_text(kind, text, names)


def plan_in_steps(text: str, names: BindingContext) -> ResumableComputation[QueryPlan]:
    """Return a resumable computation that plans a statement in steps (work.ResumableComputation)."""
    from engine.tsql.query import translate

    return translate.plan_in_steps(text, names)


def plan_statement(text: str) -> QueryPlan:
    """Return the plan of a statement without information about its tables and variables."""
    return plan_text("statement", text)


# --- checks while the batch is compiled -----------------------------------------------------------------


def check_statement(text: str, line: int) -> bool:
    """Return True if *text* is a valid query, False if sqlglot cannot decide. Raises SqlSyntaxError.

    *line*: line of the batch on which the text begins, for errors.
    """
    from engine.tsql.query import translate

    return translate.check_statement(text, line)


def check_view(text: str) -> None:
    """Raise 1033 if the query of a view has ORDER BY without TOP."""
    from engine.tsql.query import translate

    translate.check_view(text)


def check_condition(text: str, line: int) -> None:
    """Raise SqlSyntaxError unless *text* is a condition. The error is 4145 for a value."""
    from engine.tsql.query import translate

    translate.check_condition(text, line)


def check_expression(text: str, line: int) -> None:
    """Raise SqlSyntaxError unless *text* is a single value."""
    from engine.tsql.query import translate

    translate.check_expression(text, line)


def check_column_list(text: str, line: int) -> None:
    """Raise SqlSyntaxError unless *text* is a column list of a table."""
    try:
        parse_columns(text)
    except SqlSyntaxError as problem:
        raise SqlSyntaxError(problem.line + line - 1, problem.number, *problem.parameters) from None


def split_cursor_query(text: str) -> tuple[str, str]:
    """Return (SELECT of a cursor, last clause such as FOR_UPDATE); the clause is "" if there is none."""
    level, begins, clause = 0, len(text), ""
    for token, next_token in pairwise(tokenize(text)):
        level += token.is_operator("(") - token.is_operator(")")
        if level == 0 and token.upper == "FOR":
            is_option = next_token.upper in ("READ", "UPDATE")
            begins, clause = (token.start, f"FOR_{next_token.upper}") if is_option else (len(text), "")
    return text[:begins], clause


# --- OUTPUT clause, which is removed before sqlglot parses a statement, and computed from the changed rows --

OUTPUT_ENDS: Final = {
    "INSERT": frozenset({"VALUES", "SELECT", "EXEC", "EXECUTE", "DEFAULT", "WITH"}),
    "UPDATE": frozenset({"FROM", "WHERE", "OPTION"}),
    "DELETE": frozenset({"FROM", "WHERE", "OPTION"}),
    "MERGE": frozenset({"OPTION"}),
}
"""First word of a statement -> words that end its OUTPUT clause. Documented [DOC: OUTPUT clause]."""


@lru_cache(maxsize=256)
def split_output(text: str) -> tuple[str, s.OutputClause | None]:
    """Return (statement without its OUTPUT clause, clause); the clause is None if there is none.

    Raises SqlSyntaxError for an invalid clause.
    """
    if "output" not in text.lower():
        return text, None
    tokens = tokenize(text)
    verb = _find_first_verb(tokens)
    if verb < 0:
        return text, None
    ends = OUTPUT_ENDS[tokens[verb].upper]
    level = 0
    for index in range(verb + 1, len(tokens)):
        token = tokens[index]
        level += token.is_operator("(") - token.is_operator(")")
        if level == 0 and token.upper == "OUTPUT":
            return _extract_clause(text, tokens, index, ends)
        if level == 0 and token.upper in ends and tokens[verb].upper != "MERGE":
            before = tokens[index - 1]
            if tokens[verb].upper == "DELETE" and (before.upper == "DELETE" or before.is_operator(")")):
                continue  # DELETE FROM t, or DELETE TOP (1) FROM t
            return text, None
    return text, None


def _find_first_verb(tokens: tuple[Token, ...]) -> int:
    """Return the index of the first INSERT, UPDATE, DELETE or MERGE outside parentheses; -1 without one."""
    level = 0
    for index, token in enumerate(tokens):
        level += token.is_operator("(") - token.is_operator(")")
        if level == 0 and token.upper in OUTPUT_ENDS:
            return index
    return -1


def _extract_clause(
    text: str, tokens: tuple[Token, ...], start: int, ends: frozenset[str]
) -> tuple[str, s.OutputClause]:
    """Return (text without the OUTPUT clause, clause) for the clause at token *start*."""
    end, into, level = start + 1, -1, 0
    while tokens[end].kind != "end":
        token = tokens[end]
        level += token.is_operator("(") - token.is_operator(")")
        if level < 0 or (level == 0 and (token.upper in ends or token.is_operator(";"))):
            break
        if level == 0 and token.upper == "INTO":
            into = end
        if into >= 0 and level == 0 and token.is_operator(")"):
            end += 1
            break
        if into >= 0 and end > into + 1 and level == 0 and token.upper == "OUTPUT":
            break
        end += 1
    last = into if into >= 0 else end
    columns = text[tokens[start].end : tokens[last - 1].end].strip()
    if not columns or last == start + 1:
        raise build_unexpected_token_error(tokens[end])
    target = text[tokens[into].end : tokens[end - 1].end].strip() if into >= 0 else ""
    rest_text = text[: tokens[start].start] + " " + text[tokens[end - 1].end :]
    return rest_text, s.OutputClause(columns, target)


# --- errors of servers that are older than a T-SQL feature [DOC: data types; ORDER BY; OVER] --------------

TYPES_SINCE_2008: Final = frozenset(
    {"DATE", "TIME", "DATETIME2", "DATETIMEOFFSET", "HIERARCHYID", "GEOMETRY", "GEOGRAPHY"}
)
"""Types that version 2008 introduced."""

_AGGREGATES_WITH_ORDER: Final = frozenset(
    {"SUM", "AVG", "MIN", "MAX", "COUNT", "COUNT_BIG", "STDEV", "STDEVP", "VAR", "VARP"}
)
"""Aggregates that accept ORDER BY in OVER since 2012. Ranking functions always accept it."""


IF_EXISTS_VERSION: Final = 2016
"""First version with DROP … IF EXISTS. Documented [DOC: each statement's page]."""


IN_MEMORY_VERSION: Final = 2014
COLUMNSTORE_VERSION: Final = 2012
"""First version with columnstore indexes.

IN_MEMORY_VERSION: first version with in-memory tables and natively compiled procedures. Documented
[DOC: CREATE TABLE; CREATE COLUMNSTORE INDEX].
"""


FILTERED_INDEX_VERSION: Final = 2008
"""First version with filtered indexes. Documented [DOC: CREATE INDEX]."""


IS_DISTINCT_VERSION: Final = 2022
"""First version with IS [NOT] DISTINCT FROM. Documented [DOC: IS DISTINCT FROM]."""

_SYNTAX_VERSIONS: Final = {
    2005: (
        ("CHANGETABLE", "("),
        ("OPENXML", "("),
        ("GEOGRAPHY", "::"),
        ("GEOMETRY", "::"),
        ("HIERARCHYID", "::"),
    ),
    2016: (("FOR", "SYSTEM_TIME"),),
    2022: (
        ("IGNORE", "NULLS"),
        ("RESPECT", "NULLS"),
        ("<", "<"),
        (">", ">"),
    ),
}
"""Version -> pairs of adjacent words that identify its new constructs. These constructs are not simulated."""


_UNSIMULATED_WORDS: Final = frozenset({"$IDENTITY", "$ROWGUID"})


def find_unsimulated_construct(tokens: Sequence[Token], version: int) -> str:
    """Return the first construct in a query that *version* supports but the simulation does not.

    Return "" if there is none.
    """
    for first_version, pairs in _SYNTAX_VERSIONS.items():
        for before, token in pairwise(tokens if first_version <= version else ()):
            word_pair = (before.upper or before.text, token.upper or token.text)
            touches = before.kind != "op" or before.end == token.start
            if word_pair[1] in _UNSIMULATED_WORDS:
                return word_pair[1]
            if word_pair in pairs and touches:
                return (
                    " ".join(word_pair)
                    if word_pair[1].isalpha() or "_" in word_pair[1]
                    else word_pair[0] + word_pair[1] * (word_pair[1] != "(")
                )
    return ""


APPROX_COUNT_VERSION: Final = 2019
"""First version with APPROX_COUNT_DISTINCT. Documented [DOC: APPROX_COUNT_DISTINCT]."""

_ARGUMENTS_BEFORE_2022: Final = {"ISJSON": 1, "STRING_SPLIT": 2}
"""Function that accepts an additional argument since 2022 -> number of arguments before 2022."""


def _check_calls_before_2022(tokens: Sequence[Token]) -> None:
    """Raise 102, 174 or 8144 for function arguments and named windows that exist only since 2022."""
    for index, (word, next_token) in enumerate(pairwise(tokens)):
        if word.upper == "OVER" and next_token.kind in ("word", "quoted"):
            raise build_unexpected_token_error(next_token)
        if not next_token.is_operator("("):
            continue
        if word.upper == "TRIM" and tokens[index + 2].upper in ("LEADING", "TRAILING", "BOTH"):
            if not tokens[index + 3].is_operator(",", ")") and tokens[index + 3].upper != "FROM":
                raise build_unexpected_token_error(tokens[index + 3])
        elif word.upper in ("JSON_OBJECT", "JSON_ARRAY"):
            colon = next((token for token in tokens[index:] if token.is_operator(":")), None)
            if colon is not None:
                raise build_unexpected_token_error(colon)
            raise SqlSyntaxError(word.line, 195, word.text.lower(), "built-in function name")
        elif (
            word.upper in _ARGUMENTS_BEFORE_2022
            and _count_arguments(tokens, index + 1) > _ARGUMENTS_BEFORE_2022[word.upper]
        ):
            if word.upper == "STRING_SPLIT":
                raise SqlSyntaxError(word.line, 8144, word.text)
            raise SqlSyntaxError(word.line, 174, word.text.lower(), 1)


def _count_arguments(tokens: Sequence[Token], start: int) -> int:
    """Return the number of arguments between the parentheses that open at token *start*."""
    level, count = 0, 1
    for token in tokens[start:]:
        level += token.is_operator("(") - token.is_operator(")")
        count += level == 1 and token.is_operator(",")
        if not level:
            break
    return count


FOR_JSON_VERSION: Final = 2016
"""First version with FOR JSON. Documented [DOC: FOR clause]."""


def check_version(tokens: Sequence[Token], version: int) -> None:
    """Raise 243 for a type, or 102 for another feature, that does not exist in *version*.

    Examples of such features are OFFSET, ORDER BY in OVER, and IIF.
    """
    dropping = tokens and tokens[0].upper == "DROP" and [t.upper for t in tokens[2:4]] == ["IF", "EXISTS"]
    if dropping and version < IF_EXISTS_VERSION:
        raise build_unexpected_token_error(tokens[2])
    for word, json in pairwise(tokens if version < FOR_JSON_VERSION else ()):
        if word.upper == "FOR" and json.upper == "JSON":
            raise build_unexpected_token_error(json)
    for index, (word, kind) in enumerate(pairwise(tokens)):
        if word.upper == "FOR" and kind.upper in ("JSON", "XML"):
            mode = tokens[index + 2] if index + 2 < len(tokens) else kind
            if mode.upper not in ("AUTO", "PATH", "RAW", "EXPLICIT"):
                raise build_unexpected_token_error(kind if mode.kind == "end" else mode)
    for word, zone in pairwise(tokens if version < FOR_JSON_VERSION else ()):
        if word.upper == "TIME" and zone.upper == "ZONE":
            raise build_unexpected_token_error(word)
    for word, distinct in pairwise(tokens if version < IS_DISTINCT_VERSION else ()):
        if distinct.upper == "DISTINCT" and word.upper in ("IS", "NOT"):
            raise build_unexpected_token_error(distinct)
    if tokens and tokens[0].upper == "TRUNCATE" and len(tokens) > 1 and tokens[1].upper != "TABLE":
        raise build_unexpected_token_error(tokens[1])
    if tokens and tokens[0].upper == "INSERT":
        for word, row in pairwise(tokens):
            if word.upper == "VALUES" and row.kind in ("number", "string", "variable"):
                raise build_unexpected_token_error(row)
    if version < IS_DISTINCT_VERSION:
        _check_calls_before_2022(tokens)
    for name, bracket in pairwise(tokens if version < APPROX_COUNT_VERSION else ()):
        if name.upper == "APPROX_COUNT_DISTINCT" and bracket.is_operator("("):
            raise SqlSyntaxError(name.line, 195, name.text, "built-in function name")
    if version >= 2012:
        return
    open_brackets: list[str] = []
    """Context of each open parenthesis: a function, or OVER with the function before it."""
    closed_bracket = ""
    for index, token in enumerate(tokens):
        before = tokens[index - 1].upper if index else ""
        if (
            version < 2008
            and token.upper in _DATE_PARTS_SINCE_2008
            and open_brackets
            and open_brackets[-1] in _DATE_CALLS
        ):
            raise SqlSyntaxError(token.line, 155, token.text, open_brackets[-1].lower())
        if version < 2008 and token.upper == "VALUES" and index and tokens[index - 1].is_operator("("):
            raise build_unexpected_token_error(token)
        if version < 2008 and token.upper in TYPES_SINCE_2008 and _is_type(tokens, index):
            raise SqlSyntaxError(token.line, 243, token.text)
        if before == "OFFSET" and index > 1 and token.kind in ("number", "variable"):
            raise create_offset_error(token.line, tokens[index - 1].text, tokens[index:])
        if token.upper == "ORDER" and open_brackets and open_brackets[-1] in _WINDOW_AGGREGATES:
            raise SqlSyntaxError(token.line, 102, token.text)
        if token.upper in ("ROWS", "RANGE") and open_brackets and open_brackets[-1].endswith(" OVER"):
            raise SqlSyntaxError(token.line, 102, token.text)
        if (
            open_brackets
            and open_brackets[-1] == "IIF"
            and (token.is_operator(*_SIGNS) or token.upper in _CONDITION_OPERATORS)
        ):
            raise build_unexpected_token_error(token)
        if token.is_operator("("):
            open_brackets.append(f"{closed_bracket} OVER" if before == "OVER" else before)
        elif token.is_operator(")"):
            closed_bracket = open_brackets.pop() if open_brackets else ""


_DATE_CALLS: Final = frozenset({"DATEPART", "DATENAME", "DATEADD", "DATEDIFF"})
_DATE_PARTS_SINCE_2008: Final = frozenset(
    {"ISO_WEEK", "ISOWK", "ISOWW", "MICROSECOND", "MCS", "NANOSECOND", "NS", "TZOFFSET", "TZ"}
)
"""Date parts that exist since 2008. Documented [DOC: DATEPART]."""


def create_offset_error(line: int, near_text: str, following_tokens: Sequence[Token]) -> SqlSyntaxError:
    """Return error 102 for an OFFSET clause. If FETCH follows, the error also contains 153.

    SQL Server reads such a FETCH as a FETCH from a cursor. *near_text*: text in the message of error 102.
    """
    problem = SqlSyntaxError(line, 102, near_text)
    for before, token in pairwise(following_tokens):
        if before.upper == "FETCH" and token.upper in ("NEXT", "FIRST"):
            problem.problems = (problem, SqlSyntaxError(line, 153, token.text, "FETCH"))
    return problem


_SIGNS: Final = ("=", "<", ">", "<=", ">=", "<>", "!=")
_CONDITION_OPERATORS: Final = frozenset({"IS", "LIKE", "IN", "BETWEEN", "NOT", "EXISTS"})
"""Words that are operators of a condition, in addition to `_SIGNS`."""

_WINDOW_AGGREGATES: Final = frozenset(f"{name} OVER" for name in _AGGREGATES_WITH_ORDER)


def _is_type(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the token is a type name in CAST or CONVERT."""
    before, next_tokens = tokens[max(0, index - 2) : index], tokens[index + 1 : index + 2]
    if not before or not next_tokens:
        return False
    if before[-1].upper == "AS":
        return next_tokens[0].is_operator(")", "(")
    return before[-1].is_operator("(") and before[0].upper in ("CONVERT", "TRY_CONVERT")


def check_values_rows(tokens: Sequence[Token]) -> None:
    """Raise an error for VALUES with several rows, which version 2005 does not support."""
    level, values = 0, False
    for token in tokens:
        level += token.is_operator("(") - token.is_operator(")")
        values = values or (level == 0 and token.upper == "VALUES")
        if values and level == 0 and token.is_operator(","):
            raise build_unexpected_token_error(token)
