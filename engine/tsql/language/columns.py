"""Parser for the columns of CREATE TABLE and of table variables."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.tsql.language import option_table
from engine.tsql.language.lexer import SqlSyntaxError, Token, build_unexpected_token_error, get_name, tokenize


class ColumnDefinition(Struct, frozen=True, kw_only=True):
    """Column of a table, temp table or table variable."""

    name: str
    type: str
    nullable: bool = True
    default: str = ""
    """Expression of the default value; empty without a default."""
    default_name: str = ""
    """Name of the DEFAULT constraint; empty for a generated name."""
    said_null: bool = False
    """True if the definition contains NULL explicitly."""
    identity: tuple[int, int] | None = None
    """Seed and increment of IDENTITY; None for other columns."""
    computed: str = ""
    """Expression of a computed column; empty for other columns. A computed column accepts no values."""
    options: option_table.OptionPairs = ()
    """SPARSE, PERSISTED and other options that the option table lists for COLUMN."""


_CONSTANT_WORDS: Final = frozenset(
    {"NULL", "CURRENT_TIMESTAMP", "CURRENT_USER", "SESSION_USER", "SYSTEM_USER", "USER"}
)
"""Keywords that are values, such as NULL and CURRENT_USER."""


class Key(Struct, frozen=True, kw_only=True):
    """Key or index of a table. *kind* is PRIMARY KEY, UNIQUE, UNIQUE INDEX or INDEX."""

    name: str = ""
    kind: str = "INDEX"
    columns: tuple[str, ...] = ()
    clustered: bool = False
    included: tuple[str, ...] = ()
    descending: tuple[str, ...] = ()
    """Columns in descending order."""
    filter: str = ""
    """Condition of a filtered index; empty for other keys."""
    options: option_table.OptionPairs = ()
    """Options in the WITH clause."""

    @property
    def ignore_duplicates(self) -> bool:
        """Return whether INSERT skips rows with an existing key and prints a warning (IGNORE_DUP_KEY)."""
        return not {("IGNORE_DUP_KEY", "ON"), ("IGNORE_DUP_KEY", "")}.isdisjoint(self.options)

    @property
    def unique(self) -> bool:
        """Return whether the key forbids duplicates."""
        return self.kind != "INDEX"


class Check(Struct, frozen=True, kw_only=True):
    """CHECK constraint.

    *columns*: the column in whose definition the constraint is written; empty for a constraint of the
    table.
    """

    name: str = ""
    text: str = ""
    columns: tuple[str, ...] = ()
    trusted: bool = True
    """False after WITH NOCHECK: existing rows may violate the condition."""
    disabled: bool = False
    """True after NOCHECK CONSTRAINT: new rows may also violate the condition."""
    options: option_table.OptionPairs = ()


class ForeignKey(Struct, frozen=True, kw_only=True):
    """Foreign key that refers to *table*. Without *references*, it refers to the primary key of *table*."""

    name: str = ""
    columns: tuple[str, ...] = ()
    table: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    action: str = ""
    """Action on the referencing rows when the referenced row changes: CASCADE or SET NULL.

    If empty, the change is refused. The actions are not simulated (constraints.py).
    """
    trusted: bool = True
    """False after WITH NOCHECK: existing rows may violate the key."""
    disabled: bool = False
    """True after NOCHECK CONSTRAINT: new rows may also violate the key."""
    options: option_table.OptionPairs = ()


Constraint = Key | Check | ForeignKey


_NOT_FOR_REPLICATION: Final = (("NOT FOR REPLICATION", ""),)
_BARE_OPTIONS: Final = frozenset({"ROWGUIDCOL", "SPARSE", "PERSISTED", "FILESTREAM", "HIDDEN"})
_WORDS_AFTER_COMPUTED: Final = (
    "PERSISTED",
    "CONSTRAINT",
    "PRIMARY",
    "UNIQUE",
    "CHECK",
    "REFERENCES",
    "FOREIGN",
)
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
def parse_table(text: str) -> tuple[tuple[ColumnDefinition, ...], tuple[Constraint, ...]]:
    """Return the columns and constraints of a table.

    *text*: for example `(a int, b varchar(10) NOT NULL, PRIMARY KEY (a))`.

    Raises SqlSyntaxError with the line in *text*.
    """
    reader = _ColumnReader(tokenize(text), text)
    reader.expect("(")
    columns: list[ColumnDefinition] = []
    while True:
        if reader.token.upper in _TABLE_CONSTRAINTS:
            reader.parse_table_constraint(columns)
        elif columns and reader.skip_period():
            period = ("GENERATED", "PERIOD FOR SYSTEM_TIME")
            columns[-1] = replace(columns[-1], options=(*columns[-1].options, period))
        else:
            columns.append(reader.parse_column())
        if not reader.take_symbol(",") or reader.token.is_operator(")"):
            break  # SQL Server accepts a comma after the last column
    reader.expect(")")
    if reader.token.kind != "end" or not (columns or reader.constraints):
        raise reader.build_error()
    keys = {
        name.lower()
        for item in reader.constraints
        if isinstance(item, Key) and item.kind == "PRIMARY KEY"
        for name in item.columns
    }
    filled = tuple(replace(c, nullable=False) if c.name.lower() in keys else c for c in columns)
    return filled, tuple(reader.constraints)


def read_ordered_names(tokens: Sequence[Token]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Parse column names such as `a, b DESC`. Return all columns, and the columns in descending order."""
    names: list[str] = []
    descending: list[str] = []
    for token in tokens:
        if token.upper == "DESC" and names:
            descending.append(names[-1])
        elif token.kind in ("word", "quoted") and token.upper != "ASC":
            names.append(get_name(token))
    return tuple(names), tuple(descending)


def parse_columns(text: str) -> tuple[ColumnDefinition, ...]:
    """Return only the columns in *text*, without the constraints."""
    return parse_table(text)[0]


class _ColumnReader:
    """Reader of the tokens of a column list, which collects columns and constraints."""

    def __init__(self, tokens: tuple[Token, ...], text: str) -> None:
        self.tokens = tokens
        self.text = text
        self.place = 0
        self.constraints: list[Constraint] = []

    @property
    def token(self) -> Token:
        return self.tokens[self.place]

    def take(self) -> Token:
        token = self.token
        if token.kind != "end":
            self.place += 1
        return token

    def take_symbol(self, symbol: str) -> bool:
        if self.token.is_operator(symbol):
            self.place += 1
            return True
        return False

    def expect(self, symbol: str) -> None:
        if not self.take_symbol(symbol):
            raise self.build_error()

    def build_error(self) -> SqlSyntaxError:
        return build_unexpected_token_error(self.token, self.tokens[self.place - 1] if self.place else None)

    def read_brackets(self) -> list[Token]:
        """Return the tokens of the parenthesized group that begins at the current token."""
        first, level = self.place, 0
        while True:
            token = self.take()
            level += token.is_operator("(") - token.is_operator(")")
            if token.kind == "end":
                raise self.build_error()
            if level == 0:
                return list(self.tokens[first + 1 : self.place - 1])

    def parse_column(self) -> ColumnDefinition:
        if self.token.kind not in ("word", "quoted"):
            raise self.build_error()
        name = get_name(self.take())
        if self.token.upper == "AS":
            return self.parse_computed_column(name)
        column = ColumnDefinition(name=name, type=self.parse_type_name(name))
        while not (self.token.is_operator(",", ")") or self.token.kind == "end"):
            column = self.parse_column_constraint(column)
        return column

    def parse_computed_column(self, name: str) -> ColumnDefinition:
        """Parse `name AS expression [PERSISTED]`."""
        self.take()
        first = self.place
        while not (
            self.token.is_operator(",", ")")
            or self.token.kind == "end"
            or self.token.upper in _WORDS_AFTER_COMPUTED
        ):
            if self.token.is_operator("("):
                self.read_brackets()
            else:
                self.take()
        if self.place == first:
            raise self.build_error()
        text = self.text[self.tokens[first].start : self.tokens[self.place - 1].end]
        column = ColumnDefinition(name=name, type="sql_variant", computed=text)
        while not (self.token.is_operator(",", ")") or self.token.kind == "end"):
            column = self.parse_column_constraint(column)
        return column

    def parse_type_name(self, name: str) -> str:
        if self.token.kind not in ("word", "quoted") or self.token.upper in _COLUMN_WORDS:
            if name.lower() == "timestamp":
                return "timestamp"
            if self.token.is_operator(",", ")"):
                raise SqlSyntaxError(self.token.line, 173, name)
            raise self.build_error()
        first = self.place
        self.take()
        while self.take_symbol("."):
            self.take()
        if self.token.upper in ("VARYING", "PRECISION"):
            self.take()
        if self.token.is_operator("("):
            self.read_brackets()
        return self.text[self.tokens[first].start : self.tokens[self.place - 1].end].lower()

    def parse_identity(self) -> tuple[int, int]:
        """Parse the seed and increment of IDENTITY. The parentheses may be absent.

        Raises 102 for other values than two integers.
        """
        if not self.token.is_operator("("):
            return 1, 1
        texts = "".join(token.text for token in self.read_brackets()).split(",")
        try:
            seed, increment = map(int, texts)
        except ValueError:
            raise self.build_error() from None
        return seed, increment

    def parse_column_constraint(self, column: ColumnDefinition) -> ColumnDefinition:
        word = self.take().upper
        if word == "NULL":
            return replace(column, said_null=True)
        if word == "NOT":
            if self.token.upper == "FOR":  # NOT FOR REPLICATION
                self.place += 2
                return replace(column, options=(*column.options, *_NOT_FOR_REPLICATION))
            if self.take().upper != "NULL":
                raise self.build_error()
            return replace(column, nullable=False)
        if word == "IDENTITY":
            return replace(column, identity=self.parse_identity(), nullable=False)
        if word == "DEFAULT":
            return replace(column, default=self.parse_expression())
        if word in ("PRIMARY", "UNIQUE", "CHECK", "REFERENCES", "FOREIGN"):
            if word in ("PRIMARY", "UNIQUE") and self.is_table_key():
                # SQL Server accepts a table constraint here without a comma before it
                self.parse_key(word, "", ())
                return column
            self.parse_constraint_body(word, "", (column.name,))
            return replace(column, nullable=column.nullable and word != "PRIMARY")
        if word == "CONSTRAINT":
            name = get_name(self.take())
            if self.token.upper == "DEFAULT":
                return replace(column, default_name=name)
            self.parse_constraint_body(self.take().upper, name, (column.name,))
            primary = isinstance(self.constraints[-1], Key) and self.constraints[-1].kind == "PRIMARY KEY"
            return replace(column, nullable=column.nullable and not primary)
        if word == "INDEX":
            self.parse_index(get_name(self.take()), (column.name,))
        elif word == "COLLATE":
            return replace(column, options=(*column.options, (word, self.take().text.upper())))
        elif word in ("MASKED", "ENCRYPTED") and self.token.upper == "WITH":
            self.take()
            return replace(column, options=(*column.options, (word, str(len(self.read_brackets())))))
        elif word == "GENERATED" and self.token.upper == "ALWAYS":
            while not (self.token.is_operator(",", ")") or self.token.upper in _COLUMN_WORDS | _BARE_OPTIONS):
                if self.take().kind == "end":
                    raise self.build_error()
            return replace(column, options=(*column.options, (word, "ALWAYS")))
        elif word in _BARE_OPTIONS:
            return replace(column, options=(*column.options, (word, "")))
        elif word != "WITH" or self.take().upper != "VALUES":
            self.place -= 1
            raise self.build_error()
        return column

    def skip_period(self) -> bool:
        """Skip PERIOD FOR SYSTEM_TIME (a, b). Return whether the clause was present.

        The option table later refuses the statement.
        """
        words = [token.upper for token in self.tokens[self.place : self.place + 3]]
        if words != ["PERIOD", "FOR", "SYSTEM_TIME"]:
            return False
        self.place += 3
        self.read_brackets()
        return True

    def is_table_key(self) -> bool:
        """Return whether a column list follows PRIMARY or UNIQUE.

        In this case, the constraint belongs to the table, not to the column.
        """
        position = self.place
        while self.tokens[position].upper in ("KEY", "CLUSTERED", "NONCLUSTERED", "HASH"):
            position += 1
        return self.tokens[position].is_operator("(")

    def parse_constraint_body(self, keyword: str, name: str, columns: tuple[str, ...]) -> None:
        """Parse the rest of a constraint after its first keyword.

        *keyword*: PRIMARY, UNIQUE, CHECK, FOREIGN or REFERENCES. *columns*: the column being defined; empty
        for a table constraint.
        """
        if keyword in ("PRIMARY", "UNIQUE"):
            self.parse_key(keyword, name, columns)
        elif keyword == "CHECK":
            options: option_table.OptionPairs = ()
            if self.token.upper == "NOT":
                self.place += 3
                options = _NOT_FOR_REPLICATION
            bracket_text = self.read_brackets()
            if not bracket_text:
                raise self.build_error()
            text = self.text[bracket_text[0].start : bracket_text[-1].end]
            self.constraints.append(Check(name=name, text=text, columns=columns, options=options))
        elif keyword == "FOREIGN":
            self.take()
            own_columns = self.parse_names() if self.token.is_operator("(") else columns
            if self.take().upper != "REFERENCES":
                raise self.build_error()
            self.parse_references(name, own_columns)
        elif keyword == "REFERENCES":
            self.parse_references(name, columns)
        else:
            self.place -= 1
            raise self.build_error()

    def parse_references(self, name: str, columns: tuple[str, ...]) -> None:
        """Parse the rest of a REFERENCES clause: `table (columns) [ON DELETE …]`."""
        parts = [get_name(self.take())]
        while self.take_symbol("."):
            parts.append(get_name(self.take()))
        key_columns = self.parse_names() if self.token.is_operator("(") else ()
        action = ""
        while self.token.upper == "ON" and self.tokens[self.place + 1].upper in ("DELETE", "UPDATE"):
            self.place += 2
            words = self.take().upper
            if words in ("NO", "SET"):
                words += f" {self.take().upper}"
            action = "" if words == "NO ACTION" else words
        options: option_table.OptionPairs = ()
        if self.token.upper == "NOT" and self.tokens[self.place + 1].upper == "FOR":
            self.place += 3
            options = _NOT_FOR_REPLICATION
        self.constraints.append(
            ForeignKey(
                name=name,
                columns=columns,
                table=tuple(parts),
                references=key_columns,
                action=action,
                options=options,
            )
        )

    def parse_key(self, keyword: str, name: str, columns: tuple[str, ...]) -> None:
        """Parse the rest of PRIMARY KEY or UNIQUE.

        *columns*: the column being defined. It is the key if no column list follows.
        """
        clustered = keyword == "PRIMARY"
        hashed: option_table.OptionPairs = ()
        while self.token.upper in ("KEY", "CLUSTERED", "NONCLUSTERED", "HASH"):
            clustered = {"CLUSTERED": True, "NONCLUSTERED": False}.get(self.token.upper, clustered)
            hashed = (("BUCKET_COUNT", "1"),) if self.token.upper == "HASH" else hashed
            self.take()
        descending: tuple[str, ...] = ()
        if self.token.is_operator("("):
            columns, descending = read_ordered_names(self.read_brackets())
        kind = "PRIMARY KEY" if keyword == "PRIMARY" else "UNIQUE"
        options = (*hashed, *self.parse_key_options())
        self.constraints.append(
            Key(
                name=name,
                kind=kind,
                columns=columns,
                clustered=clustered,
                descending=descending,
                options=options,
            )
        )

    def parse_key_options(self) -> option_table.OptionPairs:
        """Parse the options of a key: WITH ( … ), WITH FILLFACTOR = n, ON filegroup."""
        options: option_table.OptionPairs = ()
        while self.token.upper in ("WITH", "ON"):
            if self.take().upper == "ON":
                options = (*options, ("ON", self.take().text.upper()))
            elif self.token.is_operator("("):
                options = (*options, *option_table.read_options(self.read_brackets()))
            else:
                options = (*options, *option_table.read_options([self.take() for _ in range(3)]))
        return options

    def parse_names(self) -> tuple[str, ...]:
        """Parse column names in parentheses."""
        return read_ordered_names(self.read_brackets())[0]

    def parse_expression(self) -> str:
        """Return the text of a default value: constants, calls or parenthesized groups, joined by operators."""
        first = self.place
        while True:
            while self.token.is_operator("-", "+", "~"):
                self.take()
            if not self.token.is_operator("("):
                if self.token.kind == "end" or self.token.kind == "op":
                    raise self.build_error()
                only_token = self.take()
                while self.take_symbol("."):
                    self.take()
                if (
                    only_token.kind == "word"
                    and only_token.upper not in _CONSTANT_WORDS
                    and not self.token.is_operator("(", "::")
                ):
                    raise SqlSyntaxError(only_token.line, 128, only_token.text)
            if self.token.is_operator("("):
                self.read_brackets()
            if not self.token.is_operator("+", "-", "*", "/", "%", "&", "|", "^"):
                break
            self.take()
        return self.text[self.tokens[first].start : self.tokens[self.place - 1].end]

    def parse_table_constraint(self, columns: list[ColumnDefinition]) -> None:
        name = ""
        if self.token.upper == "CONSTRAINT":
            self.take()
            name = get_name(self.take())
        word = self.take().upper
        if word == "INDEX":
            self.parse_index(get_name(self.take()), ())
        else:
            self.parse_constraint_body(word, name, ())

    def parse_index(self, name: str, columns: tuple[str, ...]) -> None:
        """Parse an index in CREATE TABLE (since 2014): `INDEX name [UNIQUE] [CLUSTERED] (columns)`.

        *columns*: the column being defined.
        """
        unique, clustered = False, False
        while self.token.upper in ("UNIQUE", "CLUSTERED", "NONCLUSTERED", "HASH"):
            word = self.take().upper
            unique, clustered = unique or word == "UNIQUE", clustered or word == "CLUSTERED"
        descending: tuple[str, ...] = ()
        if self.token.is_operator("(") or not columns:
            columns, descending = read_ordered_names(self.read_brackets())
        filter_text = ""
        if self.token.upper == "WHERE":
            first = self.place + 1
            while not (self.token.is_operator(",", ")") or self.token.upper in ("WITH", "ON")):
                if self.token.kind == "end":
                    raise self.build_error()
                if self.token.is_operator("("):
                    self.read_brackets()
                else:
                    self.take()
            filter_text = self.text[self.tokens[first].start : self.tokens[self.place - 1].end]
        kind = "UNIQUE INDEX" if unique else "INDEX"
        self.constraints.append(
            Key(
                name=name,
                kind=kind,
                columns=columns,
                clustered=clustered,
                descending=descending,
                filter=filter_text,
                options=self.parse_key_options(),
            )
        )
