"""Options of statements and their treatment: one table for all option parsers (option_effects.tsv).

An option has an effect, changes nothing in this simulation ("none"), or is refused as "Not simulated".
Microsoft's page of each statement documents the options. The treatment is our decision.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

from engine.messages import SqlError
from engine.tsql.language import statements as s
from engine.tsql.language.lexer import SqlSyntaxError, Token
from engine.tsql.query.plans import UnsimulatedFeatureError

OptionPairs = tuple[tuple[str, str], ...]
"""Options as (name, value) in capitals. An option without a value has ''."""

EFFECT: Final = "effect"
REFUSED: Final = "refused"


class OptionRule(NamedTuple):
    """Row of the option table: treatment of one option of a statement."""

    statement: str
    option: str
    since: int
    """First version of SQL Server with the option."""
    values: tuple[str, ...]
    treatment: str
    reason: str

    def accepts_value(self, value: str) -> bool:
        """Return whether the option accepts the value."""
        number = value.isascii() and value.isdigit()
        return any(
            form == value or (form == "#" and number) or (form[-1:] == "*" and value.startswith(form[:-1]))
            for form in self.values
        )


@cache
def read_rules() -> tuple[OptionRule, ...]:
    """Return all rows of the option table."""
    text = resources.files("engine.tsql.language").joinpath("option_effects.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines()[2:])
    return tuple(
        OptionRule(statement, option, int(first_version), tuple(values.split("|")), treatment, reason)
        for statement, option, first_version, values, treatment, reason in rows
    )


def check_options(statement: str, pairs: Iterable[tuple[str, object]], version: int) -> None:
    """Raise 155 for an option that *statement* does not have in *version*.

    Raise 102 for an option without a name. Raise UnsimulatedFeatureError for an option or value that is not
    simulated.
    """
    for option, value in pairs:
        if not option[:1].isalpha():
            raise SqlError(102, option)
        known_rules = _find_rules(statement, option, version)
        if not known_rules:
            raise (
                SqlError(102, option) if statement in _STATEMENT_TITLES else SqlError(155, option, statement)
            )
        text = "" if value is None else str(value).upper()
        rule = next((rule for rule in known_rules if rule.accepts_value(text)), None)
        if rule is None or rule.treatment == REFUSED:
            reason = rule.reason if rule is not None else ""
            shown_text = f"{option}: {reason}" if reason else f"{option} = {text}" if text else option
            raise UnsimulatedFeatureError(
                f"{_STATEMENT_TITLES.get(statement, statement + ' … WITH')} {shown_text}"
            )


def check_database_option(option: str, value: str, version: int) -> None:
    """Raise 102 for an option or value that ALTER DATABASE … SET does not have in *version*."""
    known_rules = _find_rules(DATABASE_SET, option, version)
    if not known_rules:
        raise SqlError(102, option)
    if not any(rule.accepts_value(value) for rule in known_rules):
        raise SqlError(102, value.split()[0] if value else option)


def _find_rules(statement: str, option: str, version: int) -> list[OptionRule]:
    """Return the rules that apply in *version*, newest first."""
    known_rules = (
        rule
        for rule in read_rules()
        if (rule.statement, rule.option) == (statement, option) and rule.since <= version
    )
    return sorted(known_rules, key=lambda rule: -rule.since)


DATABASE_SET: Final = "ALTER DATABASE SET"
_STATEMENT_TITLES: Final = {"COLUMN": "a column with", DATABASE_SET: "ALTER DATABASE … SET"}

_STATEMENTS_CHECKED_EARLY: Final[dict[type[s.Statement], str]] = {
    s.BackupStatement: "BACKUP", s.RestoreStatement: "RESTORE", s.RestoreInformationStatement: "RESTORE",
    s.CreateLoginStatement: "CREATE LOGIN", s.AlterLoginStatement: "ALTER LOGIN",
    s.CreateUserStatement: "CREATE USER", s.AlterUserStatement: "ALTER USER",
}  # fmt: skip


def check_option_names(statement: s.Statement, version: int, line: int) -> None:
    """Raise SqlSyntaxError 155 for an option that the statement does not have.

    As a syntax error, it prevents every statement of the batch from running.
    """
    title = _STATEMENTS_CHECKED_EARLY.get(type(statement))
    pairs: Iterable[tuple[str, object]] = getattr(statement, "options", ()) if title is not None else ()
    options = {rule.option for rule in read_rules() if rule.statement == title and rule.since <= version}
    for option, _ in pairs:
        if option[:1].isalpha() and option not in options:
            raise SqlSyntaxError(line, 155, option, title)


def get_treatment(statement: str, option: str, version: int) -> str:
    """Return the treatment of an option, regardless of its value; "" for an unknown option."""
    return next((rule.treatment for rule in _find_rules(statement, option, version)), "")


def read_options(tokens: Sequence[Token]) -> OptionPairs:
    """Return the options in *tokens*, the content of parentheses such as `NAME = value, …`.

    An invalid part gets a name for which `check_options` raises 102.
    """
    parts: list[list[str]] = [[]]
    level = 0
    for token in tokens:
        level += token.is_operator("(") - token.is_operator(")")
        if token.is_operator(",") and level == 0:
            parts.append([])
        else:
            parts[-1].append(token.upper or token.text.upper())
    return tuple(_parse_pair(part or [")"]) for part in parts)


def _parse_pair(tokens: Sequence[str]) -> tuple[str, str]:
    """Return (name, value) of the option `NAME = value` or `NAME value`; "" without a value."""
    return tokens[0], " ".join(tokens[2:] if tokens[1:2] == ["="] else tokens[1:])


# --- options of SET and of cursors ------------------------------------------------------------------------

SWITCH_OPTIONS: Final = frozenset(
    {
        "ANSI_NULLS", "ANSI_PADDING", "ANSI_WARNINGS", "ARITHABORT", "CONCAT_NULL_YIELDS_NULL", "FMTONLY", "FORCEPLAN",
        "IMPLICIT_TRANSACTIONS", "NOCOUNT", "NOEXEC", "NUMERIC_ROUNDABORT", "PARSEONLY", "QUOTED_IDENTIFIER",
        "XACT_ABORT",
    }
)  # fmt: skip
"""Options of SET that are ON or OFF. Documented [DOC: SET statements]."""


ISOLATION_LEVELS: Final = (
    "READ UNCOMMITTED",
    "READ COMMITTED",
    "REPEATABLE READ",
    "SNAPSHOT",
    "SERIALIZABLE",
)


CURSOR_OPTIONS: Final = (
    frozenset({"INSENSITIVE", "SCROLL"}),
    frozenset(
        {
            "DYNAMIC", "FAST_FORWARD", "FORWARD_ONLY", "GLOBAL", "KEYSET", "LOCAL", "OPTIMISTIC", "READ_ONLY",
            "SCROLL", "SCROLL_LOCKS", "STATIC", "TYPE_WARNING",
        }
    ),
)  # fmt: skip
"""Options before the word CURSOR (ISO syntax) and after it [DOC: DECLARE CURSOR]."""


EXCLUSIVE_CURSOR_OPTIONS: Final = (
    ("LOCAL", "GLOBAL"),
    ("FORWARD_ONLY", "SCROLL"),
    ("FAST_FORWARD", "SCROLL"),
    ("FAST_FORWARD", "FOR_UPDATE"),
    ("STATIC", "KEYSET", "DYNAMIC", "FAST_FORWARD"),
    ("READ_ONLY", "SCROLL_LOCKS", "OPTIMISTIC"),
)
"""Groups of mutually exclusive options of a cursor. Documented [DOC: DECLARE CURSOR]."""


_FILE_LIST_WORDS = ("ON", "PRIMARY", "LOG", ",")


def parse_create_database_words(tokens: list[str]) -> tuple[tuple[s.FileSpec, ...], s.Pairs]:
    """Parse the rest of CREATE DATABASE.

    Return its file specifications, and the options outside the parentheses.
    """
    files: list[s.FileSpec] = []
    options: list[tuple[str, s.Value]] = []
    log, position = False, 0
    while position < len(tokens):
        word = tokens[position].upper()
        if word == "(":
            end = tokens.index(")", position)
            files.append(s.FileSpec(parse_file_properties(tokens[position + 1 : end]), log))
            position = end + 1
        elif word in _FILE_LIST_WORDS:
            log = log or word == "LOG"
            position += 1
        else:
            value = (
                tokens[position + 1 : position + 3]
                if tokens[position + 1 : position + 2] == ["="]
                else tokens[position + 1 : position + 2]
            )
            options.append((word, value[-1] if value else None))
            position += 1 + len(value)
    return tuple(files), tuple(options)


def parse_file_properties(tokens: list[str]) -> tuple[tuple[str, str], ...]:
    """Parse the properties of a file, such as `NAME , a , SIZE , 10 MB`.

    Return (name in capitals, value) pairs. All operators in *tokens* are replaced by commas (see the
    grammar rule group_item).
    """
    parts: list[list[str]] = [[]]
    for word in tokens:
        if word == ",":
            parts.append([])
        else:
            parts[-1].append(word)
    if len(parts) % 2 or not all(parts):
        return ((")", ""),)  # no property is named ")", so the statement fails
    return tuple(
        (name[0].upper(), " ".join(value)) for name, value in zip(parts[::2], parts[1::2], strict=True)
    )
