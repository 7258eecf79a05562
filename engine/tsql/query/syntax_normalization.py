"""Preprocessing of T-SQL into text that sqlglot can parse, and the sqlglot dialects for T-SQL and SQLite."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.dialects.tsql import TSQL
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.tsql import TSQLParser

from engine.tsql.language.lexer import (
    BatchTooLongError,
    SqlSyntaxError,
    Token,
    build_unexpected_token_error,
    tokenize,
)
from engine.tsql.language.reserved_words import RESERVED_WORDS
from engine.tsql.language.token_reader import STATEMENT_CHARACTERS_MAX, STATEMENT_TOKENS_MAX
from engine.tsql.query import forms
from engine.tsql.query.statement_clauses import (
    drop_query_hints,
    find_end_of_brackets,
    find_skipped_tokens,
    find_top_tokens,
    find_verb_index,
)

NEUTRAL_PREFIX: Final = "plain_"
"""Function name prefix that makes sqlglot create a plain call instead of a special node."""
_PLAIN_NAMES: Final = """
JSON_VALUE JSON_QUERY JSON_PATH_EXISTS CONCAT_WS GREATEST LEAST DATETRUNC GENERATE_SERIES DATE_BUCKET
GET_BIT SET_BIT LEFT_SHIFT RIGHT_SHIFT
"""
_PLAIN_CALLS: Final = frozenset(_PLAIN_NAMES.split())


_JSON_PREFIX: Final = f"{NEUTRAL_PREFIX}json"
_JSON_KINDS: Final = frozenset({"VALUE", "OBJECT", "ARRAY", "SCALAR"})


def _rewrite_open_json(tokens: Sequence[Token], index: int) -> dict[int, str]:
    """Rewrite OPENJSON (…) WITH (column type 'path' AS JSON, …) as a derived table [DOC: OPENJSON]."""
    start = find_end_of_brackets(tokens, index + 1)
    if tokens[start].upper != "WITH" or not tokens[start + 1].is_operator("("):
        return {}
    end = find_end_of_brackets(tokens, start + 1)
    columns, position = [], start + 2
    while position < end - 1:
        name, position, level = tokens[position].text.strip('[]"'), position + 1, 0
        kind, path, fragment = "", "", False
        while position < end - 1 and (level or not tokens[position].is_operator(",")):
            level += tokens[position].is_operator("(") - tokens[position].is_operator(")")
            if tokens[position].kind == "string":
                path = tokens[position].text
            elif tokens[position].upper == "JSON" and tokens[position - 1].upper == "AS":
                fragment = True
            elif tokens[position].upper != "AS":
                kind += tokens[position].text
            position += 1
        position += 1
        call = f"{_JSON_PREFIX}_{'fragment' if fragment else 'field'}([value], {path or _quote_text('$.' + name)})"
        columns.append(f"CAST({call} AS {kind}) AS [{name}]")
    alias = "" if tokens[end].upper == "AS" or tokens[end].kind == "quoted" else " AS [openjson]"
    if tokens[end].kind == "word" and tokens[end].upper not in _WORDS_AFTER_TABLES:
        alias = ""
    return {
        **dict.fromkeys(range(start, end), ""),
        index: f"(SELECT {', '.join(columns)} FROM {NEUTRAL_PREFIX}openjson_rows",
        start: f"){alias} ",
    }


_CLAUSE_WORDS: Final = """
WHERE ORDER GROUP HAVING UNION EXCEPT INTERSECT INNER LEFT RIGHT FULL CROSS OUTER JOIN ON FOR OPTION GO ELSE END
"""
_WORDS_AFTER_TABLES: Final = frozenset(_CLAUSE_WORDS.split())
"""Words that can follow a table that has no alias."""


def normalize_calls(tokens: Sequence[Token]) -> dict[int, str]:
    """Return the token replacements that turn special syntax into plain calls.

    Examples are PARSE (a AS type USING culture) and NEXT VALUE FOR ….
    """
    replacements: dict[int, str] = {}
    for rewrite in (_rewrite_escapes, drop_query_hints, _rewrite_string_aliases, _drop_first_from):
        replacements |= rewrite(tokens)
    for index, token in enumerate(tokens):
        if token.upper in ("PARSE", "TRY_PARSE") and tokens[index + 1].is_operator("("):
            replacements |= _rewrite_parse(tokens, index + 1, find_end_of_brackets(tokens, index + 1) - 1)
        elif token.upper in _TRIMS and tokens[index + 1].is_operator("("):
            replacements |= _rewrite_trim(tokens, index)
        elif token.upper in _PLAIN_CALLS and tokens[index + 1].is_operator("("):
            replacements[index] = f"{NEUTRAL_PREFIX}{token.text}"
        elif token.upper == "APPROX_COUNT_DISTINCT" and tokens[index + 1].is_operator("("):
            replacements |= {index: "COUNT_BIG", index + 1: "(DISTINCT "}
        elif token.upper == "ISJSON" and tokens[index + 1].is_operator("("):
            last = find_end_of_brackets(tokens, index + 1) - 2
            if tokens[last].upper in _JSON_KINDS and tokens[last - 1].is_operator(","):
                replacements[last] = f"'{tokens[last].upper}'"
        elif token.upper in _NULLS_IN_JSON and tokens[index + 1].is_operator("("):
            replacements |= _rewrite_json_constructor(tokens, index)
        elif token.upper == "OPENJSON" and tokens[index + 1].is_operator("("):
            replacements |= _rewrite_open_json(tokens, index)
        elif token.upper == "REPLACE" and index not in replacements and tokens[index + 1].is_operator("("):
            replacements |= _flatten_replace_calls(tokens, index)
        elif (
            token.upper == "NEXT" and tokens[index + 1].upper == "VALUE" and tokens[index + 2].upper == "FOR"
        ):
            end = index + 4
            while tokens[end - 1].kind != "end" and tokens[end].is_operator("."):
                end += 2
            name = _quote_text("".join(part.text for part in tokens[index + 3 : end]))
            replacements |= {**dict.fromkeys(range(index, end), ""), index: f"next_value_for({name})"}
    return replacements


_NULLS_IN_JSON: Final = {"JSON_OBJECT": 1, "JSON_ARRAY": 0}
"""JSON constructor -> 1 if it includes NULL by default. Documented [DOC: JSON_OBJECT; JSON_ARRAY]."""


def _rewrite_json_constructor(tokens: Sequence[Token], index: int) -> dict[int, str]:
    """Rewrite JSON_OBJECT (name : value, … NULL ON NULL) as a call. Its first argument is the NULL option."""
    end, level, nulls = find_end_of_brackets(tokens, index + 1) - 1, 0, _NULLS_IN_JSON[tokens[index].upper]
    replacements, colons, wanted_colons = dict[int, str](), 0, int(tokens[index].upper == "JSON_OBJECT")
    for position in range(index + 1, end + 1):
        level += tokens[position].is_operator("(") - tokens[position].is_operator(")")
        if level == 1 and tokens[position].is_operator(":"):
            replacements[position] = ","
            colons += 1
        elif (level == 1 and tokens[position].is_operator(",")) or (position == end and end > index + 2):
            if colons != wanted_colons:
                raise build_unexpected_token_error(tokens[position])
            colons = 0
        if colons > wanted_colons:
            raise build_unexpected_token_error(tokens[position])
    if [token.upper for token in tokens[end - 2 : end]] == ["ON", "NULL"] and end - 3 > index + 1:
        nulls = int(tokens[end - 3].upper == "NULL")
        replacements |= dict.fromkeys(range(end - 3, end), "")
    comma = "" if end == index + 2 else ","
    return {**replacements, index: f"{tokens[index].text}_text", index + 1: f"({nulls}{comma}"}


_TRIMS: Final = {"TRIM": "BOTH", "LTRIM": "LEADING", "RTRIM": "TRAILING"}


def _rewrite_trim(tokens: Sequence[Token], index: int) -> dict[int, str]:
    """Rewrite TRIM ([side] characters FROM text) and LTRIM (text, characters) as calls [DOC: TRIM]."""
    end, level = find_end_of_brackets(tokens, index + 1) - 1, 0
    for position in range(index + 1, end):
        level += tokens[position].is_operator("(") - tokens[position].is_operator(")")
        if level != 1:
            continue
        if tokens[index].upper == "TRIM" and tokens[position].upper == "FROM":
            first = index + 2
            if tokens[first].upper in ("LEADING", "TRAILING", "BOTH"):
                return {index: "trim_characters", position: ",", first: f"'{tokens[first].upper}',"}
            return {index: "trim_characters", position: ",", index + 1: "('BOTH',"}
        if tokens[index].upper != "TRIM" and tokens[position].is_operator(","):
            trim_side = _TRIMS[tokens[index].upper]
            return {index: "trim_of", index + 1: f"('{trim_side}',"}
    return {}


NESTED_REPLACES_MIN, REPLACES_PER_CALL_MAX = 12, 45
"""Minimum depth of nested REPLACE calls that become one call; maximum number per call, because a call has 100
arguments.
"""


def _flatten_replace_calls(tokens: Sequence[Token], index: int) -> dict[int, str]:
    """Rewrite REPLACE(REPLACE(x, a, b), c, d) as REPLACE_EACH(x, a, b, c, d).

    Scripts nest REPLACE deeper than Python's recursion limit allows.
    """
    replacements: dict[int, str] = {}
    levels: list[int] = []
    while tokens[index].upper == "REPLACE" and tokens[index + 1].is_operator("("):
        levels.append(index)
        index += 2
    for depth, position in enumerate(levels if len(levels) >= NESTED_REPLACES_MIN else ()):
        if depth % REPLACES_PER_CALL_MAX == 0:
            replacements[position] = "REPLACE_EACH"
        else:
            last = find_end_of_brackets(tokens, position + 1) - 1
            replacements |= dict.fromkeys((position, position + 1, last), "")
    return replacements


_VALUE_TOKEN_KINDS: Final = frozenset({"string", "number", "quoted"})


_TYPE_WORDS: Final = """
BIGINT BINARY BIT CHAR DATE DATETIME DATETIME2 DATETIMEOFFSET DECIMAL FLOAT IMAGE INT INTERVAL MONEY NCHAR NTEXT NUMERIC
NVARCHAR REAL SMALLDATETIME SMALLINT SMALLMONEY TEXT TIME TIMESTAMP TINYINT UNIQUEIDENTIFIER VARBINARY VARCHAR XML
"""
_TYPED_LITERAL_WORDS: Final = frozenset(_TYPE_WORDS.split())
"""Types that other database products write before a string. In T-SQL, the word is a column and the string its alias."""


def _rewrite_string_aliases(tokens: Sequence[Token]) -> dict[int, str]:
    """Rewrite `SELECT value N'name'` and `SELECT date 'name'`, because sqlglot reads these aliases differently."""
    replacements = dict[int, str]()
    for index, (before, token) in enumerate(pairwise(tokens), start=1):
        if token.kind != "string":
            continue
        if before.upper in _TYPED_LITERAL_WORDS:
            replacements[index - 1] = f"[{before.text}]"
        is_alias = before.is_operator(")") or before.kind in _VALUE_TOKEN_KINDS or index - 1 in replacements
        if token.text[:1] in "Nn" and is_alias:
            replacements[index] = token.text[1:]
    return replacements


def _drop_first_from(tokens: Sequence[Token]) -> dict[int, str]:
    """Rewrite DELETE FROM name FROM … as DELETE name FROM …, the only form that sqlglot accepts."""
    verb = find_verb_index(tokens)
    if tokens[verb].upper != "DELETE" or tokens[verb + 1].upper != "FROM":
        return {}
    position = verb + 3
    while tokens[position - 1].kind != "end" and tokens[position].is_operator("."):
        position += 2
    return {verb + 1: ""} if tokens[position - 1].kind != "end" and tokens[position].upper == "FROM" else {}


_ESCAPED_CONSTANTS: Final = {
    "D": ("CAST(", " AS datetime)"),
    "TS": ("CAST(", " AS datetime)"),
    "T": ("(CONVERT(datetime, CONVERT(char(8), GETDATE(), 112)) + CAST(", " AS datetime))"),
    "GUID": ("CAST(", " AS uniqueidentifier)"),
}
"""Word of an ODBC escape such as {ts '…'} -> T-SQL before and after its text.

Documented [DOC: datetime, ODBC escapes; uniqueidentifier].
"""

_CALL_STARTS: Final = {
    "UCASE": "UPPER(", "LCASE": "LOWER(", "LENGTH": "LEN(", "CHAR_LENGTH": "LEN(", "CHARACTER_LENGTH": "LEN(",
    "OCTET_LENGTH": "DATALENGTH(", "LOCATE": "CHARINDEX(", "REPEAT": "REPLICATE(", "INSERT": "STUFF(",
    "IFNULL": "ISNULL(", "ATAN2": "ATN2(", "NOW": "GETDATE(", "CURRENT_TIMESTAMP": "GETDATE(", "DATABASE": "DB_NAME(",
    "USER": "USER_NAME(", "DAYOFMONTH": "DATEPART(day, ", "DAYOFWEEK": "DATEPART(weekday, ",
    "DAYOFYEAR": "DATEPART(dayofyear, ", "HOUR": "DATEPART(hour, ", "MINUTE": "DATEPART(minute, ",
    "SECOND": "DATEPART(second, ", "QUARTER": "DATEPART(quarter, ", "WEEK": "DATEPART(week, ",
    "MONTHNAME": "DATENAME(month, ", "DAYNAME": "DATENAME(weekday, ", "CURDATE": "CONVERT(varchar(10), GETDATE(",
    "CURRENT_DATE": "CONVERT(varchar(10), GETDATE(", "MOD": "((", "EXTRACT": "DATEPART(",
    "TIMESTAMPADD": "DATEADD(", "TIMESTAMPDIFF": "DATEDIFF(",
}  # fmt: skip
"""ODBC function, as in {fn NAME(…)} -> start of the T-SQL call, if it differs.

Documented [DOC: ODBC scalar functions].
"""

_CALL_ENDS: Final = {"CURDATE": ", 23)", "CURRENT_DATE": ", 23)", "MOD": ")"}
_ARGUMENT_SEPARATORS: Final = {"MOD": ") % (", "EXTRACT": ", "}
"""ODBC function, as in {fn NAME(a, b)} -> T-SQL between the two arguments."""


def _rewrite_escapes(tokens: Sequence[Token]) -> dict[int, str]:
    """Rewrite the ODBC escapes {ts '…'}, {d '…'}, {t '…'}, {guid '…'} and {fn NAME(…)} as T-SQL."""
    escapes: dict[int, str] = {}
    open_kinds: list[str] = []
    levels: list[int] = []
    for index, token in enumerate(tokens):
        kind = tokens[index + 1].upper if token.is_operator("{") else ""
        if (
            kind in _ESCAPED_CONSTANTS
            and len(tokens) > index + 3
            and tokens[index + 2].kind == "string"
            and tokens[index + 3].is_operator("}")
        ):
            before, suffix = _ESCAPED_CONSTANTS[kind]
            escapes |= {index: before, index + 1: "", index + 3: suffix}
        elif kind == "FN" and len(tokens) > index + 3 and tokens[index + 3].is_operator("("):
            name = tokens[index + 2].upper
            open_kinds.append(name)
            levels.append(0)
            escapes |= {index: "", index + 1: ""}
            if name in _CALL_STARTS:
                escapes |= {index + 2: _CALL_STARTS[name], index + 3: ""}
        elif open_kinds and token.is_operator("}") and index not in escapes:
            levels.pop()
            escapes[index] = _CALL_ENDS.get(open_kinds.pop(), "")
        elif open_kinds:
            levels[-1] += token.is_operator("(") - token.is_operator(")")
            divides = token.is_operator(",") or token.upper == "FROM"
            if divides and levels[-1] == 1 and open_kinds[-1] in _ARGUMENT_SEPARATORS:
                escapes[index] = _ARGUMENT_SEPARATORS[open_kinds[-1]]
            elif token.upper.startswith("SQL_TSI_"):
                escapes[index] = token.upper.removeprefix("SQL_TSI_").lower()
    return escapes


def _quote_text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _rewrite_parse(tokens: Sequence[Token], start: int, end: int) -> dict[int, str]:
    """Return token replacements for PARSE (a AS type USING culture); empty for another form."""
    levels, level = [], 0
    for token in tokens[start:end]:
        level += token.is_operator("(") - token.is_operator(")")
        levels.append(level)
    # The dictionary keeps the last AS of the call, and the type follows it.
    words = {
        token.upper: start + index for index, token in enumerate(tokens[start:end]) if levels[index] == 1
    }
    if "AS" not in words:
        return {}
    using_index = words.get("USING", end)
    text = " ".join(token.text for token in tokens[words["AS"] + 1 : using_index])
    replacements = dict.fromkeys(range(words["AS"], using_index), "")
    replacements[words["AS"]] = f", {_quote_text(text)}"
    return replacements | ({using_index: ","} if using_index < end else {})


# --- rewriting of T-SQL that sqlglot cannot parse -----------------------------------------------------------


def prepare_for_sqlglot(text: str, depth: int = 0) -> str:
    """Rewrite T-SQL so that sqlglot can parse it, for example `@a += b` as `@a = @a + (b)`.

    *depth*: number of compound assignments around *text*. Raises SqlSyntaxError 191 or 8623.
    """
    tokens = tokenize(text)
    if len(tokens) > STATEMENT_TOKENS_MAX + 5:
        raise BatchTooLongError(1, f"statements of more than {STATEMENT_TOKENS_MAX} words and signs")
    if depth > COMPOUND_ASSIGNMENTS_MAX:
        raise SqlSyntaxError(1, 191)
    output, copied = "", 0
    replaced = {
        **dict.fromkeys(find_skipped_tokens(tokens), ""),
        **normalize_calls(tokens),
        **forms.rewrite_index_hints(tokens),
    }
    if not depth:
        forms.check_foreign_syntax(tokens, replaced)
    for index, token in enumerate(tokens):
        if index in replaced:
            output += text[copied : token.start] + replaced[index]
            copied = token.end
            continue
        if token.upper == "REAL" and tokens[index + 1].is_operator(")", ","):  # sqlglot treats REAL as float
            output += text[copied : token.start] + "float(24)"
            copied = token.end
        if (
            token.is_operator("$")
            and tokens[index + 1].kind == "number"
            and token.end == tokens[index + 1].start
        ):
            output += text[copied : token.start] + f"CAST({tokens[index + 1].text} AS money)"
            copied = tokens[index + 1].end
        if token.kind == "word" and token.text.startswith("#"):
            output += text[copied : token.start] + f"[{token.text}]"
            copied = token.end
        if token.kind == "number" and token.text.lower() == "0x":
            output += text[copied : token.start] + "CAST('' AS varbinary(1))"
            copied = token.end
        if token.is_operator("!<", "!>"):
            output += text[copied : token.start] + (">=" if token.text == "!<" else "<=")
            copied = token.end
        if token.is_operator("::") and index and tokens[index - 1].upper in ("FROM", "JOIN", "APPLY"):
            output += text[copied : token.start]
            copied = token.end
        if not token.is_operator(*_COMPOUND_OPERATORS) or not index or token.start < copied:
            continue
        left_text = tokens[index - 1].text
        end = _find_value_end(tokens, index + 1)
        value = prepare_for_sqlglot(text[token.end : tokens[end - 1].end], depth + 1)
        output += text[copied : token.start] + f"= {left_text} {token.text[:-1]} ({value})"
        copied = tokens[end - 1].end
    return output + text[copied:]


def parse_top(text: str) -> exp.Expr | None:
    """Return the limit in TOP (expression) [PERCENT] of INSERT, UPDATE, DELETE or MERGE; None without TOP."""
    tokens = tokenize(text)
    first, end_index = find_top_tokens(tokens)
    if not end_index:
        return None
    top_text = text[tokens[first].start : tokens[end_index - 1].end]
    limit = read_query(prepare_for_sqlglot(f"SELECT {top_text} 1")).args.get("limit")
    return limit if isinstance(limit, exp.Expr) else None


COMPOUND_ASSIGNMENTS_MAX: Final = 3
"""Maximum nesting of `@a += @b += …`. Assumed."""


_COMPOUND_OPERATORS: Final = ("+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=")


def _find_value_end(tokens: tuple[Token, ...], index: int) -> int:
    level = 0
    while tokens[index].kind != "end":
        token = tokens[index]
        level += token.is_operator("(") - token.is_operator(")")
        if level < 0 or (
            level == 0 and (token.is_operator(",", ";") or token.upper in ("FROM", "WHERE", "OPTION"))
        ):
            break
        index += 1
    return index


JSON_RETURNING_FUNCTIONS: Final = (
    "json_query",
    "json_modify",
    "json_modify_raw",
    "json_object_text",
    "json_array_text",
)
"""Functions that return JSON, which is not quoted or escaped again. [DOC: JSON_MODIFY; JSON_QUERY]"""


def restore_call_names(tree: exp.Expr) -> None:
    """Restore the original names of calls that `normalize_calls` has renamed."""
    for node in list(tree.find_all(exp.Anonymous)):
        name = str(node.this)
        if name.startswith(NEUTRAL_PREFIX):
            node.set("this", name.removeprefix(NEUTRAL_PREFIX))
        elif name.lower() == "json_modify" and len(node.expressions) == 3:
            value_node = node.expressions[2]
            if isinstance(value_node, exp.Anonymous) and str(value_node.this).lower().endswith(
                JSON_RETURNING_FUNCTIONS
            ):
                node.set("this", "json_modify_raw")


def is_json(clause: exp.Expr | None) -> bool:
    """Return whether a FOR clause is FOR JSON."""
    return clause is not None and clause.args.get("kind") == "JSON"


# --- dialects for T-SQL and SQLite, in which sqlglot does not translate function calls --------------------

SQLITE_FUNCTIONS: Final = frozenset({
    "COUNT", "COUNT_BIG", "SUM", "MIN", "MAX", "COALESCE", "NULLIF", "ROW_NUMBER", "RANK", "DENSE_RANK",
    "NTILE", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE",
})  # fmt: skip
"""Functions of SQLite that are used. All other functions are ours (functions.py)."""


class UnreadableTextError(Exception):
    """Error for text that sqlglot cannot parse but that may be valid T-SQL."""


class _Parser(TSQLParser):
    """sqlglot parser for T-SQL that keeps most functions as plain calls and rejects unsupported statements."""

    FUNCTIONS = {name: build for name, build in TSQLParser.FUNCTIONS.items() if name in SQLITE_FUNCTIONS}  # noqa: RUF012
    FUNCTION_PARSERS = {  # noqa: RUF012
        name: parse
        for name, parse in TSQLParser.FUNCTION_PARSERS.items()
        if name in ("CAST", "TRY_CAST", "CONVERT", "TRY_CONVERT")
    }
    NO_PAREN_FUNCTIONS = {}  # noqa: RUF012

    def _warn_unsupported(self) -> None:
        """Raise UnreadableTextError."""
        raise UnreadableTextError


class TsqlReader(TSQL):
    """sqlglot dialect that reads T-SQL: functions become plain calls, and types keep their names."""

    class Tokenizer(TSQL.Tokenizer):
        """Tokenizer of the T-SQL dialect."""

        KEYWORDS = {  # noqa: RUF012
            word: kind for word, kind in TSQL.Tokenizer.KEYWORDS.items() if word != "NTEXT"
        }

    Parser = _Parser


class SqliteWriter(SQLite):
    """sqlglot dialect that writes SQL for SQLite, with names in backticks.

    SQLite reads unknown names in double quotes as strings.
    """

    class Tokenizer(SQLite.Tokenizer):
        """Tokenizer of the SQLite dialect."""

        IDENTIFIERS = ["`"]  # noqa: RUF012


def read_query(text: str) -> exp.Expr:
    """Parse *text*, which must contain one query. Raises SqlSyntaxError or UnreadableTextError."""
    if len(text) > STATEMENT_CHARACTERS_MAX + 500:
        raise BatchTooLongError(1, f"statements of more than {STATEMENT_CHARACTERS_MAX} characters")
    try:
        trees = TsqlReader().parse(text)
    except ParseError as problem:
        if _BULK_SOURCE_PATTERN.search(text):
            raise UnreadableTextError from None
        first = problem.errors[0] if problem.errors else {}
        word = str(first.get("highlight") or "").strip() or text[:20]
        if word.upper() == "FETCH" and any(token.upper == "TOP" for token in tokenize(text)):
            raise SqlSyntaxError(1, 10741) from None
        starred = _NAMED_STAR_PATTERN.search(str(first.get("start_context") or ""))
        if starred is not None:
            word = starred[1]
        elif (
            str(first.get("start_context") or "").rstrip().endswith(",")
            and word.upper() not in RESERVED_WORDS
        ):
            word = ","
        raise _make_near_error(word, int(first.get("line") or 1)) from None
    except TokenError:
        raise SqlSyntaxError(1, 102, text.strip()[:20]) from None
    except RecursionError:
        raise SqlSyntaxError(1, 191) from None
    if len(trees) != 1 or trees[0] is None:
        raise SqlSyntaxError(1, 102, ";")
    return trees[0]


_NAMED_STAR_PATTERN: Final = re.compile(r"\*\s+(\w+)\s+$")
"""Pattern of `SELECT * FORM t`. sqlglot reads FORM as an alias of the star, which T-SQL does not allow."""


_BULK_SOURCE_PATTERN: Final = re.compile(r"\bOPENROWSET\s*+\(\s*+BULK\b", re.IGNORECASE)
"""Pattern of OPENROWSET (BULK …), a file source that sqlglot does not support."""


def _make_near_error(token_text: str, line: int) -> SqlSyntaxError:
    return SqlSyntaxError(line, 156 if token_text.upper() in RESERVED_WORDS else 102, token_text.strip("'"))


def write_sqlite(tree: exp.Expr) -> str:
    """Format the query for SQLite. Raises sqlglot's UnsupportedError for unsupported constructs."""
    return tree.sql(
        dialect=SqliteWriter,
        unsupported_level=ErrorLevel.RAISE,
        identify=True,
        normalize_functions=False,
        comments=False,
    )
