"""The columns of CREATE TABLE and of table variables, from their text in brackets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from engine.tsql.lexer import SyntaxProblem, Token, name_of, near, tokens_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDefinition:
    """A column of a temp table or table variable."""

    name: str
    type: str
    nullable: bool = True
    default: str = ""
    """Expression of the default value."""
    identity: tuple[int, int] | None = None
    """First value and step."""
    unique: bool = False


_TABLE_CONSTRAINTS: Final = ("CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "INDEX")
_COLUMN_WORDS: Final = frozenset(
    {
        "CONSTRAINT",
        "PRIMARY",
        "UNIQUE",
        "CHECK",
        "REFERENCES",
        "NOT",
        "NULL",
        "IDENTITY",
        "DEFAULT",
        "COLLATE",
    }
    | {
        "ROWGUIDCOL",
        "SPARSE",
        "PERSISTED",
        "FOREIGN",
        "INDEX",
        "WITH",
        "ON",
        "FOR",
        "CLUSTERED",
        "NONCLUSTERED",
    }
)


@lru_cache(maxsize=256)
def parse_columns(text: str) -> tuple[ColumnDefinition, ...]:
    """The columns in `(a int, b varchar(10) NOT NULL …)`. Raises SyntaxProblem with the line in *text*."""
    reader = _Reader(tokens_of(text), text)
    reader.expect("(")
    columns: list[ColumnDefinition] = []
    keys: set[str] = set()
    while True:
        if reader.token.upper in _TABLE_CONSTRAINTS:
            keys |= reader.table_constraint()
        else:
            columns.append(reader.column())
        if not reader.take_sign(",") or reader.token.is_op(")"):
            break  # a comma behind the last column is allowed
    reader.expect(")")
    if reader.token.kind != "end" or not columns:
        raise reader.problem()
    return tuple(replace(c, unique=True, nullable=False) if c.name.lower() in keys else c for c in columns)


class _Reader:
    def __init__(self, tokens: tuple[Token, ...], text: str) -> None:
        self.tokens = tokens
        self.text = text
        self.place = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.place]

    def take(self) -> Token:
        token = self.token
        if token.kind != "end":
            self.place += 1
        return token

    def take_sign(self, sign: str) -> bool:
        if self.token.is_op(sign):
            self.place += 1
            return True
        return False

    def expect(self, sign: str) -> None:
        if not self.take_sign(sign):
            raise self.problem()

    def problem(self) -> SyntaxProblem:
        return near(self.token, self.tokens[self.place - 1] if self.place else None)

    def brackets(self) -> list[Token]:
        """The tokens of a group in brackets, which begins here."""
        first, level = self.place, 0
        while True:
            token = self.take()
            level += token.is_op("(") - token.is_op(")")
            if token.kind == "end":
                raise self.problem()
            if level == 0:
                return list(self.tokens[first + 1 : self.place - 1])

    def column(self) -> ColumnDefinition:
        if self.token.kind not in ("word", "quoted"):
            raise self.problem()
        name = name_of(self.take())
        if self.token.upper == "AS":
            return self.computed(name)
        column = ColumnDefinition(name=name, type=self.type(name))
        while not (self.token.is_op(",", ")") or self.token.kind == "end"):
            column = self.constraint(column)
        return column

    def computed(self, name: str) -> ColumnDefinition:
        """`name AS expression`: kept as a column without values of its own."""
        while not (self.token.is_op(",", ")") or self.token.kind == "end"):
            if self.token.is_op("("):
                self.brackets()
            else:
                self.take()
        return ColumnDefinition(name=name, type="sql_variant")

    def type(self, name: str) -> str:
        if self.token.kind not in ("word", "quoted") or self.token.upper in _COLUMN_WORDS:
            if name.lower() == "timestamp":
                return "timestamp"
            raise self.problem()
        first = self.place
        self.take()
        while self.take_sign("."):
            self.take()
        if self.token.upper in ("VARYING", "PRECISION"):
            self.take()
        if self.token.is_op("("):
            self.brackets()
        return self.text[self.tokens[first].start : self.tokens[self.place - 1].end].lower()

    def constraint(self, column: ColumnDefinition) -> ColumnDefinition:
        word = self.take().upper
        if word == "NULL":
            return column
        if word == "NOT":
            if self.token.upper == "FOR":  # NOT FOR REPLICATION
                self.place += 2
                return column
            if self.take().upper != "NULL":
                raise self.problem()
            return replace(column, nullable=False)
        if word == "IDENTITY":
            numbers = (
                [int(t.text) for t in self.brackets() if t.kind == "number"] if self.token.is_op("(") else []
            )
            start, step = numbers if len(numbers) == 2 else (1, 1)
            return replace(column, identity=(start, step), nullable=False)
        if word == "DEFAULT":
            return replace(column, default=self.expression())
        if word in ("PRIMARY", "UNIQUE"):
            self.key_words()
            if self.token.is_op("("):
                self.brackets()
            return replace(column, unique=True, nullable=column.nullable and word == "UNIQUE")
        if word in ("CONSTRAINT", "COLLATE", "ON"):
            self.take()
        elif word in ("CHECK", "WITH"):
            self.brackets()
        elif word == "REFERENCES":
            self.take()
            while self.take_sign("."):
                self.take()
            if self.token.is_op("("):
                self.brackets()
        elif word not in ("ROWGUIDCOL", "SPARSE", "PERSISTED"):
            self.place -= 1
            raise self.problem()
        return column

    def key_words(self) -> None:
        if self.token.upper == "KEY":
            self.take()
        if self.token.upper in ("CLUSTERED", "NONCLUSTERED"):
            self.take()

    def expression(self) -> str:
        """A default: a constant, a call, or anything in brackets."""
        first = self.place
        if self.token.is_op("-", "+"):
            self.take()
        if not self.token.is_op("("):
            if self.token.kind == "end" or self.token.is_op(",", ")"):
                raise self.problem()
            self.take()
        if self.token.is_op("("):
            self.brackets()
        return self.text[self.tokens[first].start : self.tokens[self.place - 1].end]

    def table_constraint(self) -> set[str]:
        """Columns (in small letters) that a key over one column makes unique."""
        if self.token.upper == "CONSTRAINT":
            self.place += 2
        word = self.take().upper
        keys: set[str] = set()
        if word in ("PRIMARY", "UNIQUE"):
            self.key_words()
            names = [name_of(t).lower() for t in self.brackets() if t.kind in ("word", "quoted")]
            names = [name for name in names if name not in ("asc", "desc")]
            keys = set(names) if len(names) == 1 else set()
        while not (self.token.is_op(",", ")") or self.token.kind == "end"):
            if self.token.is_op("("):
                self.brackets()
            else:
                self.take()
        return keys
