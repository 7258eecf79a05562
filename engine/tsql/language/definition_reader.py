"""Parser for CREATE and ALTER of procedures, functions, views and event sessions."""

from collections.abc import Generator, Sequence
from typing import Final

from engine.tsql.batches.work import WorkGenerator
from engine.tsql.language import option_table
from engine.tsql.language import statements as s
from engine.tsql.language.instructions import (
    BranchInstruction,
    CompiledInstruction,
    EndCatchInstruction,
    JumpInstruction,
    Program,
    StatementInstruction,
)
from engine.tsql.language.lexer import SqlSyntaxError, Token, build_unexpected_token_error, get_name
from engine.tsql.language.reserved_words import STOP_WORDS, UNSIMULATED_STATEMENTS
from engine.tsql.language.table_reader import TableDefinitionReader
from engine.tsql.query import planner

CREATE_OR_ALTER_VERSION: Final = 2016
"""First version with CREATE OR ALTER. Documented [DOC: CREATE PROCEDURE]."""

_CURSOR_END_WORDS: Final = tuple(STOP_WORDS)

REFUSED_MODULE_OPTIONS: Final = frozenset({"ENCRYPTION", "VIEW_METADATA", "REPLICATION"})
"""Options of procedures and views that are not simulated, because they would change the catalog."""

EVENT_SESSION_CLAUSES: Final = {
    "ON SERVER STATE =": ("START", "STOP"),
    "ON SERVER WITH ( STARTUP_STATE =": ("ON", "OFF"),
}
"""Words of ALTER EVENT SESSION before a value -> allowed values."""


_OBJECT_WORDS: Final = """
AGGREGATE APPLICATION ASSEMBLY ASYMMETRIC AUTHORIZATION AVAILABILITY BROKER CERTIFICATE CLUSTERED COLUMN COLUMNSTORE
CONTRACT CREDENTIAL CRYPTOGRAPHIC DATABASE DEFAULT ENDPOINT EVENT EXTERNAL FULLTEXT FUNCTION INDEX LOGIN MASTER MESSAGE
NONCLUSTERED OR PARTITION PRIMARY PROC PROCEDURE QUEUE REMOTE RESOURCE ROLE ROUTE RULE SCHEMA SEARCH SECURITY SELECTIVE
SENSITIVITY SEQUENCE SERVER SERVICE SIGNATURE SPATIAL STATISTICS SYMMETRIC SYNONYM TABLE TRIGGER TYPE UNIQUE USER VIEW
WORKLOAD XML
"""
OBJECT_WORDS: Final = frozenset(_OBJECT_WORDS.split())
"""Words that can follow CREATE, ALTER and DROP. Documented [DOC: statements]."""


class DefinitionReader(TableDefinitionReader):
    """Part of the compiler that parses CREATE, ALTER and cursor definitions."""

    def compile_body(self, body: str, parameters: frozenset[str]) -> Generator[int, None, Program]:
        """Compile the body of a procedure or function. *parameters* count as declared variables."""
        raise NotImplementedError

    def parse_caller(self) -> s.ExecuteAsStatement | None:
        """Parse `AS USER = 'name'` or `AS LOGIN = 'name'` after EXECUTE (…). Return None without this clause."""
        if not self.is_keyword("AS"):
            return None
        self.take()
        if (
            not self.is_keyword("LOGIN", "USER")
            or not self.peek().is_operator("=")
            or self.peek(2).kind != "string"
        ):
            raise self.build_error()
        kind, _, name = self.take().upper, self.take(), get_name(self.take())
        return s.ExecuteAsStatement(kind, name)

    def parse_linked_server(self) -> str:
        """Parse `AT linked_server` after EXECUTE (…). Return "" without this clause."""
        if not self.is_keyword("AT"):
            return ""
        self.take()
        return get_name(self.take())

    def find_unsimulated_beginning(self) -> tuple[str, ...]:
        """Return the element of UNSIMULATED_STATEMENTS with which the statement begins; () if there is none."""
        for words in UNSIMULATED_STATEMENTS:
            if words[0] == self.token.upper and all(
                word in ("*", self.peek(index).upper) for index, word in enumerate(words)
            ):
                return words
        return ()

    def emit_unsimulated_beginning(self, words: tuple[str, ...]) -> None:
        """Skip the statement that begins with *words*, and append an instruction that reports it."""
        line = self.token.line
        self.position += len(words)
        self.skip_expression()
        name = " ".join(word if word != "*" else "…" for word in words)
        self.emit_statement(line, s.UnsimulatedStatement(name))

    def emit_unsimulated(self, word_count: int = 2) -> None:
        """Skip the statement and append an instruction that reports it as not simulated.

        *word_count*: number of words of the statement that the report quotes.
        """
        line = self.token.line
        first = self.skip_clause()
        verb, kind = self.tokens[first].upper, self.tokens[min(first + 1, self.position - 1)]
        if verb in ("CREATE", "ALTER", "DROP") and kind.kind == "word" and kind.upper not in OBJECT_WORDS:
            raise SqlSyntaxError(line, 343, kind.text)
        words = [
            token.upper
            for token in self.tokens[first : min(first + word_count, self.position)]
            if token.upper
        ]
        self.emit_statement(line, s.UnsimulatedStatement(" ".join(words)))

    def has_keyword(self, start: int, keyword: str) -> bool:
        """Return whether *keyword* occurs in the tokens from *start* up to the current token."""
        return any(token.upper == keyword for token in self.tokens[start : self.position])

    def read_execution_user(self, start: int) -> str:
        """Return the user of the WITH EXECUTE AS clause after token *start*.

        Return an empty string for CALLER (the default) and without the clause.
        """
        for before, word, user in zip(
            self.tokens[start : self.position],
            self.tokens[start + 1 :],
            self.tokens[start + 2 :],
            strict=False,
        ):
            if before.upper in ("EXECUTE", "EXEC") and word.upper == "AS" and user.upper != "CALLER":
                return user.text
        return ""

    def parse_with_namespaces(self) -> None:
        """Parse WITH XMLNAMESPACES (…) and the query after it.

        Both form one statement, which is not simulated.
        """
        line = self.token.line
        self.position += 2
        if not self.token.is_operator("("):
            raise self.build_error()
        self.read_bracketed_text()
        while self.take_if_operator(","):
            self.skip_clause(in_brackets=False)
        if self.is_keyword("SELECT", "INSERT", "UPDATE", "DELETE"):
            verb = self.skip_clause()
            if self.tokens[verb].upper == "INSERT" and self.is_keyword("SELECT"):
                self.skip_clause()
        self.emit_statement(line, s.UnsimulatedStatement("WITH XMLNAMESPACES"))

    # -- modules

    def parse_create_or_alter(self) -> WorkGenerator:
        """Parse a CREATE, ALTER or CREATE OR ALTER statement that the command grammar does not contain."""
        words = [self.peek(count).upper for count in (1, 2, 3)]
        if self.token.upper == "CREATE" and words[:2] == ["OR", "ALTER"]:
            if self.version < CREATE_OR_ALTER_VERSION:
                raise build_unexpected_token_error(self.peek())
            words = words[2:]
        if words[0] in ("PROC", "PROCEDURE", "FUNCTION", "VIEW", "TRIGGER", "SCHEMA", "RULE", "DEFAULT"):
            yield from self.parse_module(words[0])
            return
        if self.token.upper == "CREATE" and words[0] == "TABLE":
            self.parse_create_table()
        elif "COLUMNSTORE" in words[:2] and self.version >= planner.COLUMNSTORE_VERSION:
            self.emit_unsimulated(words.index("COLUMNSTORE") + 3)
        elif self.token.upper == "CREATE" and words[0] in ("INDEX", "UNIQUE", "CLUSTERED", "NONCLUSTERED"):
            self.parse_create_index()
        elif self.token.upper == "ALTER" and words[0] == "TABLE":
            self.parse_alter_table()
        elif self.token.upper == "ALTER" and words[:2] == ["EVENT", "SESSION"]:
            self.parse_alter_event_session()
        elif self.token.upper == "ALTER" and words[:2] == ["SERVER", "CONFIGURATION"]:
            self.parse_alter_server_configuration()
        else:
            self.emit_unsimulated(3 if words[0] in ("EVENT", "SERVER", "DATABASE") else 2)
        yield self.compute_work()

    def parse_alter_event_session(self) -> None:
        """Parse ALTER EVENT SESSION name ON SERVER with STATE or STARTUP_STATE.

        Other forms are not simulated.
        """
        line, next_tokens = self.token.line, [self.peek(count) for count in range(3, 13)]
        clause_words = [token.upper or token.text for token in next_tokens[1:]]
        for begin, values in EVENT_SESSION_CLAUSES.items():
            words = begin.split()
            if clause_words[: len(words)] == words and clause_words[len(words)] in values:
                self.skip_clause()
                option, value = words[-2], clause_words[len(words)]
                self.emit_statement(
                    line, s.AlterEventSessionStatement(get_name(next_tokens[0]), option, value)
                )
                return
        self.emit_unsimulated(3)

    def parse_alter_server_configuration(self) -> None:
        """Parse ALTER SERVER CONFIGURATION SET FAILOVER CLUSTER PROPERTY name = value.

        Other forms are not simulated.
        """
        line, next_tokens = self.token.line, [self.peek(count) for count in range(3, 10)]
        words = [token.upper or token.text for token in next_tokens]
        if (
            words[:4] == ["SET", "FAILOVER", "CLUSTER", "PROPERTY"]
            and words[5] == "="
            and self.version >= 2012
        ):
            self.skip_clause()
            self.emit_statement(line, s.SetClusterPropertyStatement(get_name(next_tokens[4]), words[6]))
        else:
            self.emit_unsimulated(3)

    def parse_module(self, kind: str) -> WorkGenerator:
        """Parse CREATE or ALTER of a module: a procedure, function, view or similar object.

        A module extends to the end of the batch.
        """
        verb = "CREATE" if self.token.upper == "CREATE" else "ALTER"
        if self.peek().upper == "OR":
            verb = "CREATE OR ALTER"
        text = f"{verb[:6].rstrip()} {'PROCEDURE' if kind == 'PROC' else kind}"
        line = self.token.line
        if self.block_depth > 1 or self.in_module:
            raise build_unexpected_token_error(self.peek())
        if self.actions:
            raise SqlSyntaxError(line, 111, "CREATE/ALTER PROCEDURE" if kind.startswith("PROC") else text)
        while not self.is_keyword(kind):
            self.take()
        self.take()
        if kind in ("PROC", "PROCEDURE"):
            statement = yield from self.parse_procedure(verb)
            self.emit_statement(line, statement)
        elif kind == "VIEW":
            self.emit_statement(line, self.parse_view(verb))
        elif kind == "FUNCTION":
            statement = yield from self.parse_function(verb)
            self.emit_statement(line, statement)
        elif kind == "SCHEMA":
            self.emit_statement(line, self.parse_schema())
        else:
            self.emit_statement(line, s.UnsimulatedStatement(text))
        self.position = len(self.tokens) - 1

    def read_module_name(self, kind: str) -> tuple[str, ...]:
        """Return the name of a module. Raises 166 for a name with a database [DOC: CREATE VIEW]."""
        line, name = self.token.line, self.read_qualified_name()
        if len(name) > 2:
            raise SqlSyntaxError(line, 166, f"CREATE/ALTER {kind}")
        return name

    def parse_schema(self) -> s.Statement:
        """Parse CREATE SCHEMA: `[name] [AUTHORIZATION owner]`, then the definitions of objects in the schema."""
        parts = ("",) if self.is_keyword("AUTHORIZATION") else self.read_qualified_name()
        if len(parts) > 1:
            raise SqlSyntaxError(self.token.line, 102, ".")
        name = parts[0]
        owner = ""
        if self.is_keyword("AUTHORIZATION"):
            self.take()
            owner = self.read_qualified_name()[-1]
        self.take_if_operator(";")
        if self.token.kind == "end":
            return s.CreateSchemaStatement(name or owner, owner)
        if not self.is_keyword("CREATE", "GRANT", "DENY", "REVOKE"):
            raise self.build_error()
        return s.UnsimulatedStatement("CREATE SCHEMA with what is made in it")

    def parse_procedure(self, verb: str) -> Generator[int, None, s.Statement]:
        """Parse the rest of a procedure definition.

        The form is `name [;n] [(] @a int = 1 OUTPUT, … [)] [WITH …] AS body`.
        """
        name = self.read_module_name("PROCEDURE")
        if self.take_if_operator(";"):
            self.take()
        bracketed = self.take_if_operator("(")
        parameters: list[s.ProcedureParameter] = []
        while self.token.kind == "variable":
            parameters.append(self.parse_parameter())
            if parameters[-1].name in [item.name for item in parameters[:-1]]:
                raise SqlSyntaxError(self.token.line, 134, parameters[-1].name)
            if not self.take_if_operator(","):
                break
        if bracketed and not self.take_if_operator(")"):
            raise self.build_error()
        first = self.position
        refused = self.skip_to_as() & REFUSED_MODULE_OPTIONS
        if self.version >= planner.IN_MEMORY_VERSION and self.has_keyword(first, "NATIVE_COMPILATION"):
            return s.UnsimulatedStatement("CREATE PROCEDURE … WITH NATIVE_COMPILATION")
        if refused or self.has_keyword(first, "SCHEMABINDING"):
            return s.UnsimulatedStatement(f"CREATE PROCEDURE … WITH {min(refused, default='SCHEMABINDING')}")
        if user := self.read_execution_user(first):
            return s.UnsimulatedStatement(f"CREATE PROCEDURE … WITH EXECUTE AS {user}")
        body = self.read_body()
        compiled = yield from self.compile_body(body, frozenset(item.name for item in parameters))
        return s.CreateProcedureStatement(name, tuple(parameters), body, verb, compiled)

    def parse_function(self, verb: str) -> Generator[int, None, s.Statement]:
        """Parse the rest of a function definition.

        The forms are `name (@a int = 1, …) RETURNS type [WITH …] [AS] BEGIN … END` and
        `name (…) RETURNS TABLE … RETURN query`.
        """
        name = self.read_module_name("FUNCTION")
        if not self.take_if_operator("("):
            raise self.build_error()
        parameters: list[s.ProcedureParameter] = []
        while self.token.kind == "variable":
            parameters.append(self.parse_parameter())
            if not self.take_if_operator(","):
                break
        if not self.take_if_operator(")"):
            raise self.build_error()
        self.expect("RETURNS")
        table = self.take().text if self.token.kind == "variable" else ""
        start = self.position
        while not self.is_keyword("WITH", "AS", "BEGIN", "RETURN", "EXTERNAL"):
            if self.token.kind == "end":
                raise self.build_error()
            self.take()
        returns = self.get_text_between(start, self.position)
        has_options = False
        while not self.is_keyword("BEGIN", "RETURN"):
            has_options = has_options or (self.is_keyword("WITH") and not self.peek().is_operator("("))
            if has_options:
                self.check_module_option()
            if self.token.kind == "end":
                raise self.build_error()
            if self.is_keyword("EXTERNAL", "NULL", "NATIVE_COMPILATION", "ENCRYPTION"):
                return s.UnsimulatedStatement(f"CREATE FUNCTION … {self.token.upper}")
            self.take()
        if user := self.read_execution_user(start):
            return s.UnsimulatedStatement(f"CREATE FUNCTION … WITH EXECUTE AS {user}")
        of_table = returns.upper() == "TABLE"
        if self.is_keyword("BEGIN") == of_table or (table and returns[:5].upper() != "TABLE"):
            raise self.build_error()
        begin = self.token
        self.take()
        last = len(self.tokens) - 1
        while self.tokens[last - 1].is_operator(";"):
            last -= 1
        if not of_table:
            if self.tokens[last - 1].upper != "END":
                raise build_unexpected_token_error(self.tokens[last - 1])
            if table or not self.is_keyword("RETURN"):
                body = "\n" * (begin.line - 1) + self.text[begin.start : self.tokens[last - 1].end]
                if table:  # the returned table is a variable of the body, declared on the line of BEGIN
                    declared = " ".join(token.text for token in self.tokens[start : self.position - 1])
                    declared = declared[: declared.upper().rfind(")") + 1]
                    body = body.replace(begin.text, f"{begin.text} DECLARE {table} {declared};", 1)
                    returns = ""
                program = yield from self.compile_body(body, frozenset(item.name for item in parameters))
                check_function_body(program, self.tokens[self.position : last], begin.line)
                if missing := find_unsimulated_statement(program, bool(table)):
                    return s.UnsimulatedStatement(missing)
                return s.CreateFunctionStatement(
                    name, tuple(parameters), table.lower(), returns, verb, body, program
                )
            self.take()
            last -= 1
            while self.tokens[last - 1].is_operator(";"):
                last -= 1
        returned = self.get_text_between(self.position, last)
        parameter_names = {parameter.name for parameter in parameters}
        for token in self.tokens[self.position : last]:
            if (
                token.kind == "variable"
                and token.text.lower() not in parameter_names
                and token.text[:2] != "@@"
            ):
                raise SqlSyntaxError(token.line, 137, token.text)
        line = self.token.line
        if not of_table:
            planner.check_expression(returned, line)
            return s.CreateFunctionStatement(name, tuple(parameters), returned, returns, verb)
        while returned.startswith("(") and returned.endswith(")"):
            returned = returned[1:-1].strip()
        if returned[:4].upper() == "WITH":
            return s.UnsimulatedStatement("CREATE FUNCTION … RETURN (WITH …)")
        planner.check_statement(returned, line)
        return s.CreateFunctionStatement(name, tuple(parameters), returned, "", verb)

    def parse_view(self, verb: str) -> s.Statement:
        """Parse the rest of a view definition. *verb*: CREATE or ALTER."""
        name = self.read_module_name("VIEW")
        if name[-1].startswith("#"):
            raise SqlSyntaxError(self.token.line, 4103, name[-1])
        if self.token.is_operator("("):
            return s.UnsimulatedStatement("CREATE VIEW with a list of columns")
        if refused := self.skip_to_as() & REFUSED_MODULE_OPTIONS:
            return s.UnsimulatedStatement(f"CREATE VIEW … WITH {min(refused)}")
        ending = [token.upper for token in self.tokens[-4:-1] if not token.is_operator(";")]
        if ending[-2:] == ["CHECK", "OPTION"]:
            return s.UnsimulatedStatement("CREATE VIEW … WITH CHECK OPTION")
        query = self.text[self.token.start :].rstrip().rstrip(";")
        if not self.is_keyword("SELECT", "WITH") or not planner.check_statement(query, self.token.line):
            raise self.build_error()
        return s.CreateViewStatement(name, query, verb)

    # -- expressions and cursors

    def check_variables(self, start: int, execute: bool = False) -> None:
        """Raise 137 or 1087 if the tokens since *start* contain a variable that is not declared.

        *execute*: the statement is EXEC. In EXEC, `@name =` before an argument names a parameter, which
        needs no declaration. Directly after EXEC, `@name =` names a variable for the return value.
        """
        first_variable = start + (self.tokens[start].upper in ("EXEC", "EXECUTE"))
        planner.check_version(self.tokens[start : self.position], self.version)
        for index in range(start, self.position):
            token = self.tokens[index]
            if (
                token.kind != "variable"
                or token.text.startswith("@@")
                or token.text.lower() in self.declared_variables
            ):
                continue
            if execute and index > first_variable and self.tokens[index + 1].is_operator("="):
                continue
            table = self.tokens[index - 1].upper in ("FROM", "INTO", "JOIN", "UPDATE", "INSERT", "DELETE")
            raise SqlSyntaxError(token.line, 1087 if table and index else 137, token.text)

    def parse_expression(self, start: int, line: int) -> str:
        """Return the text from token *start* to the current token.

        Raise an error if it is not a single value.
        """
        text = self.get_text_between(start, self.position)
        if not text:
            raise self.build_error()
        planner.check_expression(text, line)
        self.check_variables(start)
        return text

    def parse_cursor(self, name: str, line: int) -> None:
        """Parse the rest of a cursor definition: `[options] CURSOR [options] FOR select`.

        Raise 155 for an unknown option, 1049 for options on both sides of CURSOR. Raise 1048 for options
        that exclude each other.
        """
        options_by_side: list[list[str]] = [[]]
        while not self.is_keyword("FOR"):
            if self.token.kind == "end" or self.is_keyword(*_CURSOR_END_WORDS):
                raise self.build_error()
            if self.is_keyword("CURSOR"):
                options_by_side.append([])
            elif self.token.upper not in option_table.CURSOR_OPTIONS[len(options_by_side) > 1]:
                raise SqlSyntaxError(self.token.line, 155, self.token.text, "CURSOR")
            else:
                options_by_side[-1].append(self.token.upper)
            self.take()
        if len(options_by_side) != 2:
            raise self.build_error()
        if all(options_by_side):
            raise SqlSyntaxError(line, 1049)
        options = [option for side in options_by_side for option in side]
        self.take()
        first = self.skip_clause()
        if self.tokens[first].upper == "WITH" and self.is_keyword("SELECT"):
            self.skip_clause()
        text = self.get_text_between(first, self.position)
        self.check_variables(first)
        query, clause = planner.split_cursor_query(text)
        planner.check_statement(query, line)
        options.append(clause)
        for group in option_table.EXCLUSIVE_CURSOR_OPTIONS:
            selected_options = [option for option in options if option in group]
            if len(set(selected_options)) > 1:
                raise SqlSyntaxError(line, 1048, *selected_options[:2])
        self.emit_statement(line, s.DeclareCursorStatement(name, query, tuple(options)))


# --- statements that the body of a scalar function may contain -------------------------------------------
# [DOC: CREATE FUNCTION; Create user-defined functions]

_FORBIDDEN_STATEMENT_OPERATORS: Final[dict[type[s.Statement], str]] = {
    s.PrintStatement: "PRINT",
    s.RaiserrorStatement: "RAISERROR",
    s.ThrowStatement: "THROW",
    s.ExecuteDynamicSqlStatement: "EXECUTE STRING",
    s.InsertExecStatement: "INSERT EXEC",
    s.WaitforStatement: "WAITFOR",
    s.SetSessionOptionStatement: "SET OPTION ON/OFF",
    s.CreateTableStatement: "CREATE TABLE",
}
"""Statement class that a function must not contain -> word for it in message 443."""

_UNCALLABLE_FUNCTIONS: Final = frozenset({"NEWID", "RAND", "NEWSEQUENTIALID"})
"""Built-in functions that a user-defined function must not call (message 443) [DOC: Create user-defined
functions].
"""


def check_function_body(program: Program, tokens: Sequence[Token], line: int) -> None:
    """Raise an error if *program* is not a valid body of a function.

    The error is 443, 444, 455 or 2772, or a SqlSyntaxError with the number 0. *line*: first line of the
    body.
    """
    for index, token in enumerate(tokens):
        if token.kind == "word" and token.text.startswith("#"):
            raise SqlSyntaxError(token.line, 2772)
        if token.upper in _UNCALLABLE_FUNCTIONS and tokens[min(index + 1, len(tokens) - 1)].is_operator("("):
            raise SqlSyntaxError(token.line, 443, token.text.lower())
    for instruction in program:
        if isinstance(instruction.action, EndCatchInstruction):
            raise SqlSyntaxError(line, 443, "BEGIN TRY")
        if isinstance(instruction.action, StatementInstruction):
            _check_function_statement(instruction.action.statement, instruction.line)
    if not _ends_with_return(program):
        raise SqlSyntaxError(program[-1].line if program else line, 455)


def _ends_with_return(program: Program) -> bool:
    """Return whether the last statement of the outermost block is RETURN and no jump skips it."""
    last_action = program[-1].action if program else None
    jumps = [
        compiled_instruction.action.target
        for compiled_instruction in program
        if isinstance(compiled_instruction.action, BranchInstruction | JumpInstruction)
    ]
    return (
        isinstance(last_action, StatementInstruction)
        and isinstance(last_action.statement, s.ReturnStatement)
        and len(program) not in jumps
    )


def find_unsimulated_statement(program: Program, returns_table: bool) -> str:
    """Return the first statement of a function's body that is not simulated; "" if there is none.

    SQL Server accepts such a statement in a function. *returns_table*: the function returns a table.
    """
    return next(
        filter(None, (_describe_unsimulated(instruction, returns_table) for instruction in program)), ""
    )


def _describe_unsimulated(instruction: CompiledInstruction, returns_table: bool) -> str:
    action = instruction.action
    if not isinstance(action, StatementInstruction) or isinstance(
        action.statement, s.DeclareStatement | s.SetVariableStatement
    ):
        return ""
    statement = action.statement
    if isinstance(statement, s.ReturnStatement):
        if returns_table and statement.expression:
            raise SqlSyntaxError(instruction.line, 178)
        return "" if returns_table or statement.expression else "RETURN without a value in a function"
    if isinstance(statement, s.QueryStatement):
        return "OUTPUT in a function" if statement.output is not None else ""
    if isinstance(statement, s.UnsimulatedStatement):
        return statement.name
    if isinstance(statement, s.DeclareCursorStatement | s.CursorStatement | s.FetchCursorStatement):
        return "cursors in a function"
    if isinstance(statement, s.ExecuteProcedureStatement):
        return f"EXEC {statement.procedure} in a function"
    return f"{type(statement).__name__.removesuffix('Statement')} in a function"


def _check_function_statement(statement: s.Statement, line: int) -> None:
    if type(statement) in _FORBIDDEN_STATEMENT_OPERATORS:
        raise SqlSyntaxError(line, 443, _FORBIDDEN_STATEMENT_OPERATORS[type(statement)])
    if isinstance(statement, s.TransactionStatement):
        raise SqlSyntaxError(line, 443, f"{statement.verb.upper()} TRANSACTION")
    if not isinstance(statement, s.QueryStatement):
        return
    plan = planner.plan_statement(statement.text)
    if plan.target is None:
        if plan.kind == "select":
            raise SqlSyntaxError(line, 444)
    elif not plan.target.key.startswith("@"):
        raise SqlSyntaxError(line, 443, "SELECT INTO" if plan.kind == "select" else plan.kind.upper())
