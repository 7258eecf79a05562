"""Parser for CREATE, ALTER and DROP of tables and indexes."""

from typing import Final

from engine.tsql.language import option_table
from engine.tsql.language import statements as s
from engine.tsql.language.columns import read_ordered_names
from engine.tsql.language.lexer import SqlSyntaxError, build_unexpected_token_error, get_name
from engine.tsql.language.token_reader import TokenReader
from engine.tsql.query import planner

INLINE_INDEX_VERSION: Final = 2014
"""First version with INDEX in CREATE TABLE. Documented [DOC: CREATE TABLE].

Before this version, INDEX raises 1018, as seen in public output.
"""


class TableDefinitionReader(TokenReader):
    """Part of the compiler that parses definitions of tables and indexes."""

    def parse_create_table(self) -> None:
        """Parse CREATE TABLE name ( … ) and its storage options."""
        line = self.token.line
        self.position += 2
        name = self.read_qualified_name()
        if self.is_keyword("AS") and self.peek().upper == "FILETABLE":
            self.skip_clause()
            self.emit_statement(line, s.UnsimulatedStatement("CREATE TABLE … AS FILETABLE"))
            return
        if not self.token.is_operator("("):
            raise self.build_error()
        first = self.position
        columns = self.read_bracketed_text()
        for token in self.tokens[first : self.position]:
            if token.upper == "INDEX" and self.version < INLINE_INDEX_VERSION:
                raise SqlSyntaxError(token.line, 1018, token.text)
        planner.check_column_list(columns, self.tokens[first].line)
        if self.is_keyword("AS") and self.peek().upper in ("NODE", "EDGE"):
            self.skip_clause()
            self.emit_statement(line, s.UnsimulatedStatement("CREATE TABLE … AS NODE or EDGE"))
            return
        options = self.parse_storage_options()
        if self.is_keyword("WITH") and self.is_cte_start():
            raise SqlSyntaxError(self.token.line, 319)
        self.emit_statement(line, s.CreateTableStatement(name, columns, options))

    def parse_storage_options(self) -> option_table.OptionPairs:
        """Parse ON filegroup, TEXTIMAGE_ON filegroup and WITH ( … ), in any order."""
        options: option_table.OptionPairs = ()
        while self.is_keyword("ON", "TEXTIMAGE_ON", "FILESTREAM_ON") or (
            self.is_keyword("WITH") and self.peek().is_operator("(")
        ):
            word, first = self.take().upper, self.position
            if word == "WITH":
                self.read_bracketed_text()
                options = (*options, *option_table.read_options(self.tokens[first + 1 : self.position - 1]))
            else:
                self.take()
                if self.token.is_operator("("):  # a partition scheme, followed by its column in parentheses
                    self.read_bracketed_text()
                options = (*options, (word, self.get_text_between(first, self.position).upper()))
        return options

    def parse_create_index(self) -> None:
        """Parse `CREATE [UNIQUE] [CLUSTERED] INDEX name ON table (columns) [INCLUDE (columns)] [WITH (…)]`."""
        line = self.token.line
        begin = self.position
        self.skip_clause()
        words = [token.upper for token in self.tokens[begin : self.position]]
        end = self.position
        if "ON" not in words or "INDEX" not in words[: words.index("ON")]:
            raise self.build_error()
        index = begin + words.index("INDEX")
        self.position = begin + words.index("ON") + 1
        table = self.read_qualified_name()
        columns, descending = self.parse_names_in_brackets()
        included: tuple[str, ...] = ()
        if self.token.upper == "INCLUDE":
            self.take()
            included, _ = self.parse_names_in_brackets()
        filter_text = ""
        if self.is_keyword("WHERE") and self.version >= planner.FILTERED_INDEX_VERSION:
            self.take()
            start = self.position
            while self.position < end and not self.is_keyword("WITH", "ON", "FILESTREAM_ON"):
                self.take()
            filter_text = self.get_text_between(start, self.position)
            if not filter_text:
                raise self.build_error()
        options = self.parse_storage_options()
        if (
            self.is_keyword("WITH") and self.position < end
        ):  # options without parentheses, the syntax before 2005
            begin = self.position + 1
            while self.position < end and not self.is_keyword("ON"):
                self.take()
            options = (
                *option_table.read_options(self.tokens[begin : self.position]),
                *self.parse_storage_options(),
            )
        if self.position < end:
            raise self.build_error()
        self.emit_statement(
            line,
            s.CreateIndexStatement(
                table,
                get_name(self.tokens[index + 1]),
                columns,
                "UNIQUE" in words[: words.index("INDEX")],
                "CLUSTERED" in words[: words.index("INDEX")],
                included,
                descending,
                filter_text,
                options,
            ),
        )

    def parse_statistics(self) -> None:
        """Parse `CREATE STATISTICS name ON table (columns) …` or `UPDATE STATISTICS table …`."""
        line, verb = self.token.line, self.take().upper
        self.take()
        columns: tuple[str, ...] = ()
        if verb == "CREATE":
            self.take()
            if not self.is_keyword("ON"):
                raise self.build_error()
            self.take()
        table = self.read_qualified_name()
        if verb == "CREATE":
            columns, _ = self.parse_names_in_brackets()
        self.skip_expression()
        self.emit_statement(line, s.StatisticsStatement(verb, table, columns))

    def parse_names_in_brackets(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Parse a column list such as `(a, b DESC)`. Return all names, and the names in descending order."""
        if not self.token.is_operator("("):
            raise self.build_error()
        first = self.position + 1
        self.read_bracketed_text()
        return read_ordered_names(self.tokens[first : self.position - 1])

    def parse_alter_table(self) -> None:
        """Parse ALTER TABLE name with an action.

        The actions are [WITH [NO]CHECK] ADD, DROP, ALTER COLUMN, and [NO]CHECK CONSTRAINT.
        """
        line = self.token.line
        self.position += 2
        name = self.read_qualified_name()
        action, check_option = self.take().upper, ""
        if action == "WITH" and self.token.upper in ("CHECK", "NOCHECK"):
            check_option, action = self.take().upper, self.take().upper
        if action in ("CHECK", "NOCHECK") and self.is_keyword("CONSTRAINT"):
            names = self.read_constraint_names()
            self.emit_statement(
                line,
                s.AlterTableStatement(name, enabled=names, switch=action, checked=check_option == "CHECK"),
            )
            return
        first = self.skip_clause() if self.token.kind != "end" else self.position
        text = self.get_text_between(first, self.position)
        tokens = self.tokens[first : self.position]
        if action == "REBUILD" or [token.upper for token in tokens[:2]] == ["PERIOD", "FOR"]:
            words = " ".join(token.upper for token in (self.tokens[first - 1], *tokens[:2]))
            self.emit_statement(line, s.UnsimulatedStatement(f"ALTER TABLE … {words}"))
            return
        if not tokens:
            raise build_unexpected_token_error(self.tokens[first - 1])
        word = self.tokens[first].upper
        default = next((index for index, token in enumerate(tokens) if token.upper == "DEFAULT"), None)
        optional = action == "DROP" and [token.upper for token in tokens[1:3]] == ["IF", "EXISTS"]
        if optional and self.version < planner.IF_EXISTS_VERSION:
            raise build_unexpected_token_error(tokens[1])
        tokens = (tokens[0], *tokens[3:]) if optional else tuple(tokens)
        if action == "ADD" and default in (0, 2) and len(tokens) > 3 and tokens[-2].upper == "FOR":
            value = self.get_text_between(first + default + 1, self.position - 2)
            constraint_name = get_name(tokens[1]) if default == 2 else ""
            self.emit_statement(
                line, s.AlterTableStatement(name, default=(get_name(tokens[-1]), value, constraint_name))
            )
        elif action == "ADD":
            planner.check_column_list(f"({text})", line)
            self.emit_statement(
                line, s.AlterTableStatement(name, f"({text})", unchecked=check_option == "NOCHECK")
            )
        elif action == "DROP" and word == "COLUMN":
            names = tuple(get_name(t) for t in tokens[1:] if not t.is_operator(","))
            self.emit_statement(line, s.AlterTableStatement(name, dropped=names, if_exists=optional))
        elif action == "DROP" and word == "CONSTRAINT" and len(tokens) == 2:
            self.emit_statement(
                line, s.AlterTableStatement(name, constraint=get_name(tokens[1]), if_exists=optional)
            )
        elif (
            action == "ALTER"
            and word == "COLUMN"
            and len(tokens) > 2
            and tokens[2].upper not in ("ADD", "DROP")
        ):
            column = self.get_text_between(first + 1, self.position)
            planner.check_column_list(f"({column})", line)
            self.emit_statement(line, s.AlterTableStatement(name, altered=f"({column})"))
        elif action == "ALTER" and word == "COLUMN" and len(tokens) < 3:
            raise build_unexpected_token_error(self.tokens[self.position - 1])
        else:
            self.emit_statement(line, s.UnsimulatedStatement(f"ALTER TABLE … {action} {word}".rstrip()))

    def read_constraint_names(self) -> tuple[str, ...]:
        """Parse `CONSTRAINT ALL` or `CONSTRAINT name, …`. Return the names; empty for ALL."""
        self.take()
        if self.is_keyword("ALL"):
            self.take()
            return ()
        names: list[str] = []
        while not names or self.token.is_operator(","):
            if names:
                self.take()
            if self.token.kind not in ("word", "quoted"):
                raise self.build_error()
            names.append(get_name(self.take()))
        return tuple(names)

    def parse_drop_index(self) -> None:
        """Parse `DROP INDEX index ON table [WITH (…)], …` or `DROP INDEX table.index, …`."""
        line = self.token.line
        self.position += 1
        if_exists = self.peek().upper == "IF" and self.peek(2).upper == "EXISTS"
        if if_exists:
            if self.version < planner.IF_EXISTS_VERSION:
                raise build_unexpected_token_error(self.peek())
            self.position += 2
        indexes: list[tuple[str, tuple[str, ...]]] = []
        while not indexes or self.take_if_operator(","):
            if not indexes:
                self.take()
            parts = self.read_qualified_name()
            if self.is_keyword("ON"):
                self.take()
                indexes.append((parts[-1], self.read_qualified_name()))
            elif len(parts) > 1:
                indexes.append((parts[-1], parts[:-1]))
            else:
                raise SqlSyntaxError(line, 159)
            if self.is_keyword("WITH") and self.peek().is_operator("("):
                self.take()
                self.read_bracketed_text()
        self.emit_statement(line, s.DropIndexStatement(tuple(indexes), if_exists))
