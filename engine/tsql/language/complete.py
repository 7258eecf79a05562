"""Completion in a T-SQL window: keywords of the grammar, and names of objects on the server of the window."""

import re
from typing import Final

from engine.messages import SqlError
from engine.model import World
from engine.tsql import catalog
from engine.tsql.batches.context import SYSTEM_DATABASES, StatementContext
from engine.tsql.batches.data import SqlSession, Window
from engine.tsql.batches.environment import CONTEXT_FUNCTIONS, GLOBAL_VARIABLES
from engine.tsql.language.lexer import Token, get_name, tokenize
from engine.tsql.language.reserved_words import COMMAND_PAIRS, COMMAND_WORDS, STATEMENT_WORDS
from engine.tsql.procedures import PROCEDURES_BY_NAME
from engine.tsql.query import planner
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.functions import FUNCTIONS, INTERNAL_FUNCTIONS

_WORD_CHARACTER: Final = re.compile(r"[\w@#$]")
_QUERY_WORDS: Final = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"})
_WORDS_BEFORE_TABLE: Final = frozenset({"FROM", "JOIN", "INTO", "UPDATE", "TABLE"})
_WORDS_BEFORE_DATABASE: Final = frozenset({"DATABASE", "USE", "LOG"})
_KEYWORDS: Final = """
AND AS ASC BETWEEN BY CASE DESC DISTINCT ELSE END EXISTS FROM GROUP HAVING IN INNER IS JOIN LEFT LIKE NOT NULL ON
OR ORDER OUTER THEN TOP UNION WHEN WHERE COUNT SUM MIN MAX
"""
_QUERY_KEYWORDS: Final = frozenset(_KEYWORDS.split())
_SUGGESTED_OPTIONS: Final = {
    "BACKUP": frozenset({"INIT", "NOINIT", "FORMAT", "COPY_ONLY", "NORECOVERY", "NO_TRUNCATE", "STATS"}),
    "RESTORE": frozenset({"NORECOVERY", "RECOVERY", "REPLACE", "STANDBY", "STATS", "MOVE"}),
}
"""Options that are suggested after WITH. The grammar accepts any word there, because the server reports
unknown options.
"""

CONTEXT_CHARACTERS_MAX: Final = 10_000
"""Number of characters before and after the cursor that completion reads. Assumed: a statement is far
shorter.
"""

SUGGESTIONS_MAX: Final = 200
"""Maximum number of suggestions. Assumed."""


_HIDDEN_FUNCTIONS: Final = INTERNAL_FUNCTIONS | {"scalar_function_value"}


def list_candidates(world: World, window: str, text: str, position: int) -> list[str]:
    """Return the completions at the cursor, sorted by name.

    Inside strings and comments, there are none except endpoint addresses.
    """
    # in a long text, read only the lines around the cursor
    first = (
        text.rfind("\n", 0, position - CONTEXT_CHARACTERS_MAX) + 1 if position > CONTEXT_CHARACTERS_MAX else 0
    )
    first = max(first, position - 2 * CONTEXT_CHARACTERS_MAX)
    text, position = (text[first : position + CONTEXT_CHARACTERS_MAX], position - first)
    head = text[:position]
    typed_word = _read_word_at_end(head)
    before = head[: len(head) - len(typed_word)]
    tokens = _split_into_tokens(before)
    if tokens is None:
        return _list_addresses(world, before, typed_word, closed=text[position : position + 1] == "'")
    context = _build_completion_context(world, window)
    if context is None:
        return []
    words = _collect_suggestions(context, text, before, tokens, typed_word)
    lower = typed_word.lower()
    completions = {word for word in words if word.lower().startswith(lower) and word.lower() != lower}
    return sorted(completions, key=str.lower)[:SUGGESTIONS_MAX]


_ADDRESS: Final = re.compile(r"\b(?:PARTNER|WITNESS)\s*=\s*N?'(?P<begun>TCP://)?$", re.IGNORECASE)


def _list_addresses(world: World, prefix: str, typed: str, closed: bool) -> list[str]:
    """Return endpoint addresses for the string of SET PARTNER or SET WITNESS; empty in other strings.

    *prefix*: text before *typed*. *typed*: incomplete word at the cursor. *closed*: a quote follows the
    cursor.
    """
    address_match = _ADDRESS.search(prefix)
    if address_match is None:
        return []
    scheme, end = "" if address_match["begun"] else "TCP://", "" if closed else "'"
    words = (f"{scheme}{name}:5022{end}" for name in world.instances)
    return sorted(word for word in words if word.lower().startswith(typed.lower()))


def _read_word_at_end(text: str) -> str:
    """Return the incomplete word at the end of the text.

    This loop replaces a regular expression search, which would scan every character of a long text.
    """
    start = len(text)
    while start and _WORD_CHARACTER.match(text[start - 1]):
        start -= 1
    return text[start:]


def _split_into_tokens(text: str) -> tuple[Token, ...] | None:
    """Return the tokens of *text*; None if it ends inside a string or comment."""
    try:
        return tokenize(text)[:-1]
    except SqlError:
        return None


def _build_completion_context(world: World, window: str) -> StatementContext | None:
    server = window.partition("#")[0]
    if server not in world.instances:
        return None
    window_state: Window | None = world.sessions.get(window)
    session = window_state.session if window_state is not None else None
    return StatementContext(world, session or SqlSession(server=server, spid=0, login=""))


def _collect_suggestions(
    context: StatementContext, text: str, prefix: str, tokens: tuple[Token, ...], typed: str
) -> set[str]:
    if typed.startswith("@"):
        declared = {token for token in re.findall(r"(?<!@)@\w+", text) if token.lower() != typed.lower()}
        return declared | {name.upper() for name in GLOBAL_VARIABLES}
    if not tokens:
        return {word for word_pair in COMMAND_PAIRS for word in word_pair[:1]} | set(STATEMENT_WORDS)
    last_token = tokens[-1]
    if last_token.is_operator("."):
        return _complete_after_dot(context, tokens, _split_into_tokens(text) or tokens)
    if last_token.upper in _WORDS_BEFORE_TABLE and not (last_token.upper == "TABLE" and len(tokens) < 2):
        return _collect_tables(context)
    if last_token.upper in ("EXEC", "EXECUTE"):
        return set(PROCEDURES_BY_NAME)
    start = _find_statement_start(tokens)
    if tokens[start].upper in _QUERY_WORDS or tokens[start].upper in ("IF", "WHILE", "SET", "PRINT"):
        return _complete_query(context, _split_into_tokens(text) or tokens)
    return _complete_command(context, prefix[tokens[start].start :], last_token)


def _find_statement_start(tokens: tuple[Token, ...]) -> int:
    """Return the index of the first token of the statement at the cursor."""
    for index in range(len(tokens) - 1, -1, -1):
        word = tokens[index].upper
        next_text = tokens[index + 1].upper if index + 1 < len(tokens) else ""
        if word == "WITH" and index and not tokens[index - 1].is_operator(";"):
            continue  # this WITH introduces options or a hint, not a statement
        if word in COMMAND_WORDS or word in _QUERY_WORDS or (word, next_text) in COMMAND_PAIRS:
            return index
        if index == len(tokens) - 1 and word in STATEMENT_WORDS and word not in ("SET", "WITH"):
            return index
        if word in ("IF", "WHILE", "PRINT") or (word == "SET" and tokens[index - 1].upper == "BEGIN"):
            return index
    return 0


def _collect_tables(context: StatementContext) -> set[str]:
    temp = {name for name, _ in context.session.tables}
    return set(catalog.list_view_names(context.version)) | temp


def _complete_after_dot(
    context: StatementContext, tokens: tuple[Token, ...], all_tokens: tuple[Token, ...]
) -> set[str]:
    """Return the completions after a dot.

    They are the views of a schema, or the columns of a table or alias.
    """
    path = ""
    for token in reversed(tokens):
        if token.is_operator(".") or (token.kind in ("word", "quoted") and path.startswith(".")):
            path = (get_name(token) if token.kind == "quoted" else token.text) + path
        else:
            break
    names = catalog.list_view_names(context.version)
    next_parts = {name[len(path) :].split(".")[0] for name in names if name.lower().startswith(path.lower())}
    if path.lower().endswith((".sys.", ".dbo.")) and not next_parts:
        schema = path.lower().rsplit(".", 2)[-2] + "."
        next_parts = {name[len(schema) :] for name in names if name.lower().startswith(schema)}
    return next_parts or _collect_columns(context, all_tokens, path[:-1])


def _collect_columns(context: StatementContext, tokens: tuple[Token, ...], alias: str = "") -> set[str]:
    """Return the columns of all views in the statement.

    With *alias*, return only those of the view with this alias.
    """
    columns: set[str] = set()
    for index, token in enumerate(tokens):
        if token.upper not in ("FROM", "JOIN"):
            continue
        parts, token_index = [], index + 1
        while token_index < len(tokens) and tokens[token_index].kind in ("word", "quoted"):
            parts.append(get_name(tokens[token_index]))
            token_index += 1
            if token_index >= len(tokens) or not tokens[token_index].is_operator("."):
                break
            token_index += 1
        token_index += int(token_index < len(tokens) and tokens[token_index].upper == "AS")
        item_name = (
            get_name(tokens[token_index])
            if token_index < len(tokens) and tokens[token_index].kind == "word"
            else ""
        )
        if not parts or (alias and alias.lower() not in (item_name.lower(), parts[-1].lower())):
            continue
        try:
            view = catalog.find_view(context, tuple(parts))
        except (SqlError, UnsimulatedFeatureError):
            continue
        columns |= {column.name for column in view.list_version_columns(context.version)}
    return columns


def _complete_query(context: StatementContext, tokens: tuple[Token, ...]) -> set[str]:
    functions = {name.upper() for name in (*FUNCTIONS, *CONTEXT_FUNCTIONS) if name not in _HIDDEN_FUNCTIONS}
    return _collect_columns(context, tokens) | functions | _QUERY_KEYWORDS


def _complete_command(context: StatementContext, statement: str, last_token: Token) -> set[str]:
    """Return the words that the grammar accepts next.

    If the grammar accepts a name, include database or server names.
    """
    accepted, words = planner.list_following_words(statement)
    if "NAME" in accepted and last_token.upper in _WORDS_BEFORE_DATABASE:
        words |= set(SYSTEM_DATABASES) | {copy.database for copy in context.list_copies()}
    if last_token.upper == "WITH" or (
        last_token.is_operator(",") and re.search(r"\bWITH\b", statement, re.IGNORECASE)
    ):
        words |= _SUGGESTED_OPTIONS.get(statement.split(maxsplit=1)[0].upper(), frozenset())
    if "STRING" in accepted and last_token.is_operator("="):
        words |= {f"'TCP://{name}:5022'" for name in context.world.instances}
    return words
