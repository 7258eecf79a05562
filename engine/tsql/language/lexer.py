"""Tokens of T-SQL with their positions."""

import re
from collections.abc import Generator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, overload

from engine.inputs import Input
from engine.json_text import parse_json
from engine.messages import SqlError
from engine.tsql.batches.work import ResultCache, ResumableComputation
from engine.tsql.language.reserved_words import (
    RESERVED_WORDS,
    STATEMENT_WORDS,
)

PRECISION_MAX: Final = 38
"""Maximum number of digits of a number. Documented for the type decimal."""

TOKENS_MAX: Final = 300_000
"""Maximum number of tokens in one batch. Assumed: a hand-written megabyte of T-SQL has fewer."""

_TOKEN: Final = re.compile(
    r"""
    (?P<blank>\s++|--[^\n]*+)
  | (?P<string>[Nn]?'[^']*+(?:''[^']*+)*+')
  | (?P<quoted>\[[^\]]*+(?:\]\][^\]]*+)*+\]|"[^"]*+(?:""[^"]*+)*+")
  | (?P<variable>@@?[\w@#$]+)
  | (?P<number>0[xX][0-9A-Fa-f]*|(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?)
  | (?P<word>[^\W\d][\w@#$]*|\#{1,2}[\w@#$]+|\$(?:[A-Za-z]\w*))
  | (?P<op><=|>=|<>|!=|!<|!>|\+=|-=|\*=|/=|%=|&=|\|=|\^=|::|[-+*/%=<>&|^~(),.;:?{}\\!$])
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    """Token of a batch: word, name, string, number, variable or operator."""

    kind: str
    """Kind of token: word, quoted (a name in brackets or double quotes), string, variable, number, op or end."""
    text: str
    start: int
    end: int
    line: int

    @property
    def upper(self) -> str:
        """Return the word in capitals; empty for a token that cannot be a keyword."""
        return self.text.upper() if self.kind == "word" else ""

    def is_operator(self, *operators: str) -> bool:
        """Return whether the token is one of these operators or punctuation marks."""
        return self.kind == "op" and self.text in operators


RawToken = tuple[str, str, int, int, int]
"""Token as a plain tuple: kind, text, start, end, line."""


class TokenSequence(Sequence[Token]):
    """Tokens of a long text, stored as plain tuples that the garbage collector does not track."""

    def __init__(self, raw: list[RawToken]) -> None:
        self._raw = raw

    def __len__(self) -> int:
        return len(self._raw)

    @overload
    def __getitem__(self, place: int) -> Token: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Token, ...]: ...
    def __getitem__(self, place: int | slice) -> Token | tuple[Token, ...]:
        if isinstance(place, slice):
            return tuple(map(Token._make, self._raw[place]))
        return Token._make(self._raw[place])


class SqlSyntaxError(SqlError):
    """Compilation error of a batch. *line* counts from the first line of the batch."""

    limit = ""
    """Name of the feature that is not simulated; empty if the error has another cause."""

    def __init__(self, line: int, number: int, *args: object) -> None:
        super().__init__(number, *args)
        self.line = line


class BatchTooLongError(SqlSyntaxError):
    """Error for a batch that exceeds a size limit of the simulator: message 8623.

    SQL Server has a higher limit or none.
    """

    def __init__(self, line: int, limit: str) -> None:
        super().__init__(line, 8623)
        self.limit = limit


def tokenize(text: str) -> tuple[Token, ...]:
    """Return all tokens of a batch and a final token of the kind `end`.

    Raises SqlSyntaxError 102, 103, 105, 113, 1038 or 8623.
    """
    return _TOKEN_CACHE.get(
        text, len(text), lambda: ResumableComputation(tokenize_in_steps(text)).get_result()[:]
    )


_TOKEN_CACHE: Final[ResultCache[tuple[Token, ...]]] = ResultCache(300_000)


def tokenize_in_steps(text: str) -> Generator[int, None, TokenSequence]:
    """Tokenize a batch in steps and yield the work of each step (work.py)."""
    tokens: list[RawToken] = []
    position, line, count = 0, 1, 0
    while position < len(text):
        count += 1
        if count % _TOKENS_PER_STEP == 0:
            if len(tokens) > TOKENS_MAX:
                raise BatchTooLongError(line, f"batches of more than {TOKENS_MAX} words and signs")
            yield _TOKENS_PER_STEP * WORK_PER_TOKEN
        if text.startswith("/*", position):
            end = yield from find_comment_end(text, position)
            if end < 0:
                raise SqlSyntaxError(line, 113)
        else:
            match = _TOKEN.match(text, position)
            if match is None:
                raise _make_lexical_error(text, position, line)
            end = match.end()
            kind = str(match.lastgroup)
            if kind != "blank":
                _check_token(kind, match.group(), line)
                tokens.append((kind, match.group(), position, end, line))
        line += text.count("\n", position, end)
        position = end
    last = tokens[-1][4] if tokens else 1
    tokens.append(("end", "", len(text), len(text), last))
    yield count % _TOKENS_PER_STEP * WORK_PER_TOKEN + len(text) // _CHARACTERS_PER_UNIT
    return TokenSequence(tokens)


_TOKENS_PER_STEP: Final = 500
WORK_PER_TOKEN: Final = 2
"""Work units (work.py) of reading one token, blank or comment. Measured."""

_CHARACTERS_PER_UNIT: Final = 200
"""Number of characters in blanks, comments and strings whose reading costs one work unit. Measured."""

_COMMENT_MARK: Final = re.compile(r"/\*|\*/")


def find_comment_end(text: str, start: int) -> Generator[int, None, int]:
    """Return the end of the block comment that begins at *start*; -1 if it does not end.

    The search runs in steps. Comments can be nested.
    """
    depth = 0
    for number, match in enumerate(_COMMENT_MARK.finditer(text, start), start=1):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
        if number % _TOKENS_PER_STEP == 0:
            yield _TOKENS_PER_STEP
    return -1


def _check_token(kind: str, text: str, line: int) -> None:
    if kind in ("word", "quoted") and len(text) > 130:
        raise SqlSyntaxError(line, 103, "identifier", text[:30], 128)
    if text == "[]":
        raise SqlSyntaxError(line, 1038)
    if kind == "number" and text.isdigit() and len(text) > PRECISION_MAX:
        raise SqlSyntaxError(line, 1007, "number", text[:SHOWN_CHARACTERS_MAX])


def _make_lexical_error(text: str, offset: int, line: int) -> SqlSyntaxError:
    rest_text = text[offset : offset + SHOWN_CHARACTERS_MAX].lstrip("Nn")
    if rest_text[:1] in ("'", '"', "["):
        problem = SqlSyntaxError(line, 105, rest_text[1:])
        problem.problems = (problem, SqlSyntaxError(line, 102, rest_text[1:]))
        return problem
    return SqlSyntaxError(line, 102, text[offset])


SHOWN_CHARACTERS_MAX: Final = 200
"""Maximum length, in characters, of an invalid word in an error message. Assumed."""


def build_unexpected_token_error(token: Token, last_token: Token | None = None) -> SqlSyntaxError:
    """Return the error for an unexpected token: 156 for a keyword, 102 otherwise."""
    error_token = last_token if token.kind == "end" and last_token is not None else token
    if error_token.upper in RESERVED_WORDS:
        return SqlSyntaxError(
            error_token.line, 156, error_token.upper if error_token.text.isupper() else error_token.text
        )
    text = get_name(error_token) if error_token.kind == "string" else error_token.text
    return SqlSyntaxError(error_token.line, 102, text[:SHOWN_CHARACTERS_MAX])


def restore_spelling(word: object, text: str) -> object:
    """Return *word* as *text* spells it.

    *word*: parameter of an error message, in capitals.
    """
    if not isinstance(word, str) or not word.isupper() or word in text:
        return word
    match = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)
    return word if match is None else match.group()


_CLAUSE_WORDS: Final = frozenset({"FROM", "WHERE", "HAVING", "VALUES", "PRINT"})
_QUERY_START_WORDS: Final = frozenset(
    {"SELECT", "WITH", "VALUES", "INSERT", "UPDATE", "DELETE", "MERGE", "("}
)


def check_brackets(tokens: Sequence[Token]) -> None:
    """Raise 156 for the first clause keyword inside an open parenthesis or an open CASE.

    No error is raised inside a parenthesis that contains a query.
    """
    open_brackets: list[str] = []
    for before, token, next_token in zip(
        (tokens[0], *tokens), tokens, (*tokens[1:], tokens[-1]), strict=False
    ):
        word = token.upper if token.kind == "word" else ""
        if token.is_operator("("):
            inner = "(" if next_token.is_operator("(") else next_token.upper
            open_brackets.append(
                "" if inner in _QUERY_START_WORDS or before.upper in ("TRIM", "EXTRACT") else "("
            )
        elif word == "CASE":
            open_brackets.append("CASE")
        elif open_brackets and (token.is_operator(")") or (word == "END" and open_brackets[-1] == "CASE")):
            open_brackets.pop()
        elif (
            open_brackets
            and open_brackets[-1]
            and word in _CLAUSE_WORDS
            and before.upper != "DISTINCT"
            and not before.is_operator(".")
        ):
            raise build_unexpected_token_error(token)


def get_name(token: Token) -> str:
    """Return the content of a name or string token, without quotes."""
    text = token.text
    if token.kind == "quoted":
        close = text[-1]
        return text[1:-1].replace(close * 2, close)
    if token.kind == "string":
        return text[text.index("'") + 1 : -1].replace("''", "'")
    return text


def convert_double_quotes(text: str) -> str:
    """Replace each double-quoted name by a string.

    With QUOTED_IDENTIFIER OFF, double quotes enclose strings.
    """
    output_text, copied = "", 0
    for token in tokenize(text):
        if token.kind == "quoted" and token.text.startswith('"'):
            output_text += text[copied : token.start] + "'" + get_name(token).replace("'", "''") + "'"
            copied = token.end
    return output_text + text[copied:]


def remove_comments(text: str, tokens: Sequence[Token]) -> str:
    """Return the text from the first to the last of *tokens*. Blanks replace comments; line breaks remain."""
    parts: list[str] = []
    position = tokens[0].start
    for token in tokens:
        if token.start > position:
            parts.append(_NOT_BLANK.sub(" ", text[position : token.start]))
        parts.append(token.text)
        position = token.end
    return "".join(parts)


_NOT_BLANK: Final = re.compile(r"[^\n]")


def quote_name(name: str) -> str:
    """Quote a name in brackets, as QUOTENAME does."""
    return "[" + name.replace("]", "]]") + "]"


# --- detection of read-only batches -------------------------------------------------------------------------
# Such a batch changes nothing that a later batch can see. Monitoring scripts consist of such batches.

_READ_ONLY_WORDS: Final = frozenset({"SELECT", "WITH", "ELSE", "END"})
_CHANGING_WORDS: Final = (STATEMENT_WORDS - _READ_ONLY_WORDS) | {"INTO", "GO", "OPENQUERY", "OPENROWSET"}


_LITERAL: Final = r"(?:N?'(?:[^']|'')*'|0x[0-9A-Fa-f]*|-?[0-9.]+(?:[eE][-+]?\d+)?|NULL)"
_EXECUTESQL_CALL_PATTERN: Final = re.compile(
    rf"EXEC sp_executesql (N'(?:[^']|'')*')(?:, N'(?:[^']|'')*'(?:, (?:@\w+ = )?{_LITERAL})*)?"
)
"""Pattern of a parameterized query of a driver: a call of sp_executesql without output parameters."""


def is_read_only_input(input_: Input) -> bool:
    """Return whether the input is T-SQL that consists only of SELECT statements.

    Return False if this is not certain.
    """
    if input_.verb == "sql":
        return has_only_selects(input_.args[1])
    return input_.verb == "batch" and _is_read_only_batch(input_.args[1])


@lru_cache(256)
def _is_read_only_batch(batch_json: str) -> bool:
    """Return whether a batch, given as a JSON string, consists only of SELECT statements."""
    try:
        text = str(parse_json(batch_json))
    except ValueError:
        return False
    call = _EXECUTESQL_CALL_PATTERN.fullmatch(text)
    return has_only_selects(call[1][2:-1].replace("''", "'") if call else text)


@lru_cache(256)
def has_only_selects(text: str) -> bool:
    """Return whether a text consists only of SELECT statements that change no table."""
    try:
        tokens = tokenize(text)
    except SqlSyntaxError:
        return False
    words = {token.upper for token in tokens if token.kind == "word"}
    return tokens[0].upper in ("SELECT", "WITH") and not words & _CHANGING_WORDS
