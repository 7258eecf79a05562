"""Compiler of a batch into a list of instructions with jumps.

To store a waiting batch, its text and the index of the next instruction are sufficient.
"""

from collections.abc import Generator
from itertools import pairwise
from typing import Final

from msgspec import Struct

from engine.constants import VERSIONS
from engine.tsql.batches.work import ResultCache, ResumableComputation, WorkGenerator
from engine.tsql.language import permissions
from engine.tsql.language import statements as s
from engine.tsql.language.definition_reader import DefinitionReader
from engine.tsql.language.instructions import (
    BranchInstruction,
    CompiledInstruction,
    EndCatchInstruction,
    JumpInstruction,
    Program,
    StatementInstruction,
)
from engine.tsql.language.lexer import (
    SqlSyntaxError,
    Token,
    TokenSequence,
    build_unexpected_token_error,
    get_name,
    tokenize_in_steps,
)
from engine.tsql.language.option_table import ISOLATION_LEVELS, SWITCH_OPTIONS, check_option_names
from engine.tsql.language.reserved_words import BROKER_PAIRS, COMMAND_PAIRS, COMMAND_WORDS, STATEMENT_WORDS
from engine.tsql.query import planner

STATEMENT_FIRST_VERSIONS: Final = {"THROW": 2012, "MERGE": 2008}
"""First word of a statement -> first version with the statement. Documented [DOC: each statement's page]."""

BLOCK_DEPTH_MAX: Final = 60
"""Maximum nesting of blocks. Deeper nesting raises 191.

Assumed: the same order of magnitude as SQL Server's limit.
"""

NEWEST_VERSION: Final = VERSIONS[-1]
"""Newest simulated version of SQL Server: the default version of the syntax."""


def compile_batch(
    text: str, version: int = NEWEST_VERSION, variables: frozenset[str] = frozenset()
) -> Program:
    """Compile a batch for a server of *version*.

    *variables* count as declared. Raises SqlSyntaxError with the line of the error.
    """
    return compile_in_steps(text, version, variables).get_result()


def compile_in_steps(
    text: str, version: int = NEWEST_VERSION, variables: frozenset[str] = frozenset()
) -> ResumableComputation[Program]:
    """Return a computation that runs `compile_batch` in steps.

    Repeated calls with the same arguments return the same cached computation.
    """
    key = (text, version, variables)
    return _PROGRAM_CACHE.get(key, len(text), lambda: ResumableComputation(_compile(*key)))


_PROGRAM_CACHE: Final[ResultCache[ResumableComputation[Program]]] = ResultCache(4_000_000)


def _compile(text: str, version: int, variables: frozenset[str]) -> Generator[int, None, Program]:
    tokens = yield from tokenize_in_steps(text)
    return (yield from _Compiler(text, tokens, version, variables).compile_program())


class _Loop(Struct):
    """WHILE loop that is being compiled.

    The fields are the index of its first instruction, and the indexes of its BREAK jumps, whose targets are
    not set yet.
    """

    start: int
    break_jumps: list[int]


class _Compiler(DefinitionReader):
    """Compiler that reads the tokens once and appends instructions."""

    def __init__(self, text: str, tokens: TokenSequence, version: int, variables: frozenset[str]) -> None:
        super().__init__(text, tokens, version, variables)
        self.catch_starts: list[int] = []
        """Index of the first instruction of each CATCH block, by the number of its TRY block."""
        self.loops: list[_Loop] = []
        self.labels: dict[str, int] = {}
        self.gotos: list[tuple[int, Token]] = []
        self.lacks_semicolon = False
        """True if the preceding statement did not end with a semicolon."""

    def compile_body(self, body: str, parameters: frozenset[str]) -> Generator[int, None, Program]:
        tokens = yield from tokenize_in_steps(body)
        return (yield from _Compiler(body, tokens, self.version, parameters).compile_program(in_module=True))

    # -- output

    @property
    def next_index(self) -> int:
        return len(self.actions)

    def set_jump_target(self, index: int) -> None:
        """Set the target of the jump or branch at *index* to the current end of the program."""
        jump, target_index = self.actions[index], self.next_index
        self.actions[index] = (
            BranchInstruction(jump.condition, target_index)
            if isinstance(jump, BranchInstruction)
            else JumpInstruction(target_index)
        )

    # -- batch

    def compile_program(self, *, in_module: bool = False) -> Generator[int, None, Program]:
        self.in_module = in_module
        yield from self.skip_semicolons()
        first_token = self.token
        # An older server reads the keyword of a newer statement as a name.
        is_new_statement = STATEMENT_FIRST_VERSIONS.get(first_token.upper, 0) > self.version
        has_name = first_token.kind == "quoted" or (
            first_token.kind == "word" and (is_new_statement or first_token.upper not in STATEMENT_WORDS)
        )
        if (
            has_name
            and not self.peek().is_operator(":")
            and first_token.upper not in ("RECEIVE", "SEND")
            and not self.find_unsimulated_beginning()
        ):
            self.statement_start = self.position
            self.parse_command_statement()
            yield from self.skip_semicolons()
        while self.token.kind != "end":
            yield from self.parse_statement()
        for position, token in self.gotos:
            if token.text.lower() not in self.labels:
                raise SqlSyntaxError(token.line, 133, token.text)
            self.actions[position] = JumpInstruction(self.labels[token.text.lower()])
        handlers = [None if region is None else self.catch_starts[region] for region in self.try_blocks]
        return tuple(map(CompiledInstruction, self.lines, self.actions, handlers))

    def parse_statement(self) -> WorkGenerator:
        """Parse one statement and the semicolons after it."""
        self.block_depth += 1
        if self.block_depth > BLOCK_DEPTH_MAX:
            raise SqlSyntaxError(self.token.line, 191)
        self.statement_start = self.position
        word = self.token.upper
        if STATEMENT_FIRST_VERSIONS.get(word, 0) > self.version:
            raise SqlSyntaxError(self.token.line, 102, self.token.text)
        before = self.tokens[max(self.position - 1, 0)]
        is_alone = before.upper in _WORDS_BEFORE_STATEMENT or before.is_operator(";") or not self.position
        if word == "THROW" and self.lacks_semicolon and not is_alone:
            raise self.build_error()  # the preceding statement must end with a semicolon [DOC: THROW]
        self.lacks_semicolon = False
        label = self.token.kind == "word" and self.peek().is_operator(":")
        unsimulated_words = self.find_unsimulated_beginning()
        if unsimulated_words:
            self.emit_unsimulated_beginning(unsimulated_words)
            yield self.compute_work()
        elif word in _BLOCK_PARSERS and not label:
            yield from _BLOCK_PARSERS[word](self)
        elif word == "ALTER" and (self.peek().upper, self.peek(2).upper) == ("SERVER", "ROLE"):
            self.parse_command_statement()
        elif word in ("CREATE", "UPDATE") and self.peek().upper == "STATISTICS":
            self.parse_statistics()
            yield self.compute_work()
        elif word in ("CREATE", "ALTER") and not label and (word, self.peek().upper) not in COMMAND_PAIRS:
            yield from self.parse_create_or_alter()
        else:
            statement_work = yield from self.parse_simple_statement(word)
            yield self.compute_work() - statement_work
        self.block_depth -= 1
        yield from self.skip_semicolons()
        self.lacks_semicolon = not self.tokens[self.position - 1].is_operator(";")

    def parse_simple_statement(self, keyword: str) -> Generator[int, None, int]:
        """Parse a statement that contains no other statements.

        Return the work units that were already yielded for it.
        """
        if self.token.kind == "word" and self.peek().is_operator(":"):
            self.parse_label()
        elif keyword in _STATEMENT_PARSERS:
            _STATEMENT_PARSERS[keyword](self)
        elif (keyword, self.peek().upper) == ("DROP", "INDEX"):
            self.parse_drop_index()
        elif keyword == "WAITFOR" and self.peek().is_operator("("):
            self.parse_service_broker("WAITFOR (RECEIVE …)")
        elif (keyword, self.peek().upper) in BROKER_PAIRS or keyword == "RECEIVE":
            self.parse_service_broker(keyword if keyword == "RECEIVE" else f"{keyword} {self.peek().upper}")
        elif (keyword, self.peek().upper) in COMMAND_PAIRS or keyword in COMMAND_WORDS:
            self.parse_command_statement()
        elif (keyword, self.peek().upper) == ("INSERT", "BULK"):
            self.emit_unsimulated()
        elif keyword in _QUERY_WORDS:
            return (yield from self.parse_query())
        elif keyword in STATEMENT_WORDS - {"ADD", "ELSE", "END"}:
            self.emit_unsimulated()
        else:
            raise self.build_error()
        return 0

    def parse_command_statement(self) -> None:
        """Parse a statement of the command grammar (commands.lark)."""
        line = self.token.line
        first = self.skip_clause()
        if self.token.is_operator(")"):
            raise self.build_error()
        words = [token.upper for token in self.tokens[first : first + 2]]
        numbered = self.position > first + 2 and self.tokens[first + 2].kind == "number"
        if numbered and words[0] == "FETCH" and words[1] in ("NEXT", "PRIOR", "FIRST", "LAST"):
            raise SqlSyntaxError(line, 153, words[1], "FETCH")
        if self.tokens[first].upper == "THROW" and self.version < STATEMENT_FIRST_VERSIONS["THROW"]:
            # older servers read the word as the name of a procedure
            self.emit_statement(line, s.ExecuteProcedureStatement(self.tokens[first].text))
            return
        statement = planner.parse_command(self.text, self.tokens[first : self.position], self.token)
        has_old_syntax = isinstance(statement, s.RaiserrorStatement) and statement.number is not None
        if (
            has_old_syntax and self.version >= 2012
        ):  # SQL Server 2012 removed this RAISERROR [DOC: discontinued Database Engine functionality]
            raise build_unexpected_token_error(self.tokens[first + 1])
        if isinstance(statement, s.PermissionStatement):
            permissions.check_permission_names(statement.permissions, line)
        check_option_names(statement, self.version, line)
        self.check_variables(first, isinstance(statement, s.ExecuteProcedureStatement))
        self.emit_statement(line, statement)

    def parse_query(self) -> Generator[int, None, int]:
        """Find the end of a query, check it with sqlglot, and append it to the program.

        Return the work units that were yielded.
        """
        line, word = self.token.line, self.token.upper
        if word == "WITH" and self.peek().upper == "XMLNAMESPACES":
            self.parse_with_namespaces()
            return 0
        first = verb = self.skip_clause()
        if word == "WITH" and self.is_keyword("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"):
            word, verb = self.token.upper, self.skip_clause()
        if word == "INSERT" and self.is_keyword("SELECT") and not self.has_keyword(verb, "VALUES"):
            self.skip_clause()
        elif word == "INSERT" and self.is_keyword("EXEC", "EXECUTE") and not self.has_keyword(verb, "VALUES"):
            target = self.get_text_between(first, self.position)
            self.parse_execute()
            action = self.actions[-1]
            assert isinstance(action, StatementInstruction)
            # INSERT … EXEC is simulated only for procedures and dynamic SQL.
            if isinstance(action.statement, s.ExecuteProcedureStatement | s.ExecuteDynamicSqlStatement):
                self.actions[-1] = StatementInstruction(s.InsertExecStatement(target, action.statement))
            return 0
        words = [token.upper for token in self.tokens[verb : self.position]]
        if ("CURRENT", "OF") in pairwise(words):
            self.emit_statement(line, s.UnsimulatedStatement(f"{word} … WHERE CURRENT OF"))
            return 0
        if self.token.is_operator(")"):
            raise self.build_error()
        if word == "MERGE" and not self.token.is_operator(";"):
            raise SqlSyntaxError(self.tokens[self.position - 1].line, 10713)
        query_work = self.compute_work() // 2
        yield query_work
        self.emit_query(line, first)
        return query_work

    def emit_query(self, line: int, start: int) -> None:
        """Check the text from token *start* to the current token, and append it as a query."""
        text = self.get_text_between(start, self.position)
        self.check_variables(start)
        if self.version < 2008 and self.tokens[start].upper == "INSERT":
            planner.check_values_rows(self.tokens[start : self.position])
        missing = planner.find_unsimulated_construct(self.tokens[start : self.position], self.version)
        if missing:
            self.emit_statement(line, s.UnsimulatedStatement(missing))
            return
        plain_text, output = planner.split_output(text)
        if planner.check_statement(plain_text, line):
            self.emit_statement(line, s.QueryStatement(plain_text, output))
        else:
            words = [token.upper or token.text for token in self.tokens[start : self.position]]
            shown_text = "OPENROWSET (BULK …)" if "OPENROWSET" in words else " ".join(words[:2])
            self.emit_statement(line, s.UnsimulatedStatement(shown_text))

    def parse_service_broker(self, statement_name: str) -> None:
        """Parse a Service Broker statement, which is not simulated."""
        line = self.token.line
        self.take()
        first_words = (*_BLOCK_PARSERS, *_STATEMENT_PARSERS)
        while not (self.token.kind == "end" or self.token.is_operator(";") or self.is_keyword(*first_words)):
            if self.token.is_operator("("):
                self.read_bracketed_text()
            else:
                self.take()
        self.emit_statement(line, s.UnsimulatedStatement(f"{statement_name} of Service Broker"))

    # -- control flow

    def parse_label(self) -> None:
        token = self.take()
        self.take()
        if token.text.lower() in self.labels:
            raise SqlSyntaxError(token.line, 132, token.text)
        self.labels[token.text.lower()] = self.next_index

    def parse_begin(self) -> WorkGenerator:
        next_text = self.peek().upper
        if next_text == "TRY":
            yield from self.parse_try_catch()
        elif next_text == "CATCH":
            raise build_unexpected_token_error(self.peek())
        elif next_text in ("TRAN", "TRANSACTION", "DISTRIBUTED"):
            self.parse_command_statement()
            yield self.compute_work()
        elif next_text in ("DIALOG", "CONVERSATION"):
            self.emit_unsimulated()
            yield self.compute_work()
        else:
            self.take()
            yield from self.parse_block()
            self.expect("END")

    def parse_block(self, empty_allowed: bool = False) -> WorkGenerator:
        yield from self.skip_semicolons()
        count = 0
        while not self.is_keyword("END"):
            if self.token.kind == "end":
                raise self.build_error()
            yield from self.parse_statement()
            count += 1
        if not count and not empty_allowed:
            raise self.build_error()
        self.statement_start = self.position

    def parse_try_catch(self) -> WorkGenerator:
        outer = self.try_block
        self.position += 2
        self.catch_starts.append(-1)
        self.try_block = region = len(self.catch_starts) - 1
        yield from self.parse_block()
        self.expect("END")
        self.expect("TRY")
        self.try_block = outer
        yield from self.skip_semicolons()
        end_jump = self.emit(self.token.line, JumpInstruction())
        self.expect("BEGIN")
        self.expect("CATCH")
        self.catch_starts[region] = self.next_index
        yield from self.parse_block(empty_allowed=True)
        self.emit(self.token.line, EndCatchInstruction())
        self.expect("END")
        self.expect("CATCH")
        self.set_jump_target(end_jump)

    def parse_condition(self) -> int:
        """Parse a condition. Return the index of the branch instruction, whose target is not set yet."""
        line = self.token.line
        self.in_condition = True
        first = self.skip_expression()
        self.in_condition = False
        text = self.get_text_between(first, self.position)
        if not text or self.tokens[self.position - 1].upper == "EXISTS":
            raise self.build_error()
        try:
            planner.check_condition(text, line)
        except SqlSyntaxError as problem:
            if problem.number == 4145 and self.token.kind != "end":
                raise SqlSyntaxError(line, 4145, self.token.text) from None
            raise
        self.check_variables(first)
        return self.emit(line, BranchInstruction(text))

    def parse_if(self) -> WorkGenerator:
        self.take()
        leave = self.parse_condition()
        yield self.compute_work()
        yield from self.parse_statement()
        if self.is_keyword("ELSE"):
            end_jump = self.emit(self.token.line, JumpInstruction())
            self.take()
            self.set_jump_target(leave)
            yield from self.parse_statement()
            self.set_jump_target(end_jump)
        else:
            self.set_jump_target(leave)

    def parse_while(self) -> WorkGenerator:
        self.take()
        loop = _Loop(self.next_index, [])
        leave = self.parse_condition()
        yield self.compute_work()
        self.loops.append(loop)
        yield from self.parse_statement()
        self.loops.pop()
        self.emit(self.lines[leave], JumpInstruction(loop.start))
        for position in (leave, *loop.break_jumps):
            self.set_jump_target(position)

    def parse_break(self) -> None:
        token = self.take()
        if not self.loops:
            raise SqlSyntaxError(token.line, 135)
        self.loops[-1].break_jumps.append(self.emit(token.line, JumpInstruction()))

    def parse_continue(self) -> None:
        token = self.take()
        if not self.loops:
            raise SqlSyntaxError(token.line, 136)
        self.emit(token.line, JumpInstruction(self.loops[-1].start))

    def parse_goto(self) -> None:
        self.take()
        if self.token.kind != "word":
            raise self.build_error()
        self.gotos.append((self.emit(self.token.line, JumpInstruction()), self.take()))

    # -- simple statements with expressions

    def parse_print(self) -> None:
        line = self.take().line
        self.emit_statement(line, s.PrintStatement(self.parse_expression(self.skip_expression(), line)))

    def parse_return(self) -> None:
        line = self.take().line
        first = self.skip_expression()
        text = self.get_text_between(first, self.position)
        if text:
            self.parse_expression(first, line)
        self.emit_statement(line, s.ReturnStatement(text))

    def parse_set(self) -> None:
        line = self.take().line
        if self.token.kind != "variable":
            self.parse_set_session(line)
            return
        name = self.take().text.lower()
        if self.token.kind == "end":
            raise self.build_error()
        self.check_variables(self.position - 1)
        sign = self.take()
        if sign.is_operator(".") and self.token.upper == "MODIFY":
            self.skip_clause()
            self.emit_statement(line, s.UnsimulatedStatement("the method modify() of xml"))
            return
        is_assignment = sign.kind == "op" and sign.text.endswith("=") and sign.text not in ("<=", ">=", "!=")
        if not is_assignment or (sign.text != "=" and self.version < 2008):
            raise build_unexpected_token_error(sign)
        if self.is_keyword("CURSOR"):
            self.parse_cursor(name, line)
            return
        text = self.parse_expression(self.skip_expression(), line)
        if sign.text != "=":
            text = f"{name} {sign.text[:-1]} ({text})"
        self.emit_statement(line, s.SetVariableStatement(name, text))

    def parse_set_session(self, line: int) -> None:
        first = self.skip_clause()
        tokens = self.tokens[first : self.position]
        if not tokens or tokens[0].kind != "word":
            raise self.build_error()
        switch = next((index for index, token in enumerate(tokens) if token.upper in ("ON", "OFF")), None)
        if switch is not None:  # the clause ends at ON or OFF; a DELETE after it begins a new statement
            self.position = first + switch + 1
            tokens = tokens[: switch + 1]
        elif tokens[0].upper in SWITCH_OPTIONS or tokens[0].upper == "IDENTITY_INSERT":
            raise build_unexpected_token_error(tokens[-1])
        words = " ".join(token.upper for token in tokens)
        level = words.removeprefix("TRANSACTION ISOLATION LEVEL ")
        if tokens[0].upper == "TRANSACTION" and level not in ISOLATION_LEVELS:
            raise build_unexpected_token_error(tokens[-1])
        values = [token for token in tokens if token.kind in ("string", "number", "variable")]
        value: s.Value = None
        if values:
            last = values[-1]
            value = s.VariableReference(last.text.lower()) if last.kind == "variable" else get_name(last)
        elif tokens[0].upper in ("LANGUAGE", "DATEFORMAT"):
            value = get_name(tokens[-1])
        elif tokens[0].upper in ("LOCK_TIMEOUT", "TEXTSIZE", "QUERY_GOVERNOR_COST_LIMIT"):
            raise build_unexpected_token_error(tokens[-1])
        names = tuple(token.text for token in tokens[1:-1]) if tokens[0].upper == "IDENTITY_INSERT" else ()
        option_words = tuple(token.text.upper() for token in tokens)
        self.emit_statement(line, s.SetSessionOptionStatement(option_words, value, names))

    def parse_declare(self) -> None:
        line = self.take().line
        if self.token.kind != "variable":
            self.parse_cursor(get_name(self.take()), line)
            return
        declared = [self.parse_declaration(line, set())]
        while self.take_if_operator(","):
            declared.append(self.parse_declaration(line, {item.name for item in declared}))
        # declared last, because a declaration cannot refer to another one of the same statement
        self.declared_variables |= {item.name for item in declared}
        variables = tuple(item for item in declared if item.type != "cursor")
        if variables:
            self.emit_statement(line, s.DeclareStatement(variables))

    def parse_declaration(self, line: int, earlier_names: set[str]) -> s.VariableDeclaration:
        if self.token.kind != "variable":
            raise self.build_error()
        token = self.take()
        name = token.text.lower()
        if name in self.declared_variables | earlier_names:
            raise SqlSyntaxError(token.line, 134, token.text)
        if self.is_keyword("AS"):
            self.take()
        if self.is_keyword("TABLE"):
            first = self.position + 1
            self.take()
            if not self.token.is_operator("("):
                raise self.build_error()
            self.skip_clause(commas=True)
            columns = self.get_text_between(first, self.position)
            planner.check_column_list(columns, line)
            return s.VariableDeclaration(name, "table", columns=columns)
        first = self.skip_clause(commas=True, assign=True)
        kind = self.get_text_between(first, self.position).lower()
        if not kind:
            raise self.build_error()
        collations = [item for item in self.tokens[first : self.position] if item.upper == "COLLATE"]
        if collations:
            raise build_unexpected_token_error(collations[0])
        if self.version < 2008 and kind.strip("[]").partition("(")[0].upper() in planner.TYPES_SINCE_2008:
            raise SqlSyntaxError(token.line, 2715, 1, kind)
        if kind.strip("[]") in ("text", "ntext", "image"):
            raise SqlSyntaxError(token.line, 2739)
        default = ""
        if self.take_if_operator("="):
            if self.version < 2008:
                raise SqlSyntaxError(token.line, 139)
            default = self.parse_expression(self.skip_expression(commas=True), line)
        return s.VariableDeclaration(name, kind, default)

    def parse_execute(self) -> None:
        next_token = self.peek()
        next_words = (*_QUERY_WORDS[:1], *_QUERY_WORDS[2:], "EXEC", "EXECUTE")
        for index in range(self.position + 1, len(self.tokens) - 2):
            words = tuple(token.upper for token in self.tokens[index : index + 3])
            if words == ("WITH", "RESULT", "SETS") and self.version >= 2012:
                line, self.position = self.token.line, index + 3
                self.read_bracketed_text() if self.token.is_operator("(") else self.take()
                self.emit_statement(line, s.UnsimulatedStatement("EXECUTE … WITH RESULT SETS"))
                return
            if self.tokens[index].is_operator(";") or words[0] in next_words:
                break
        if next_token.upper == "AS":
            kind, name = self.peek(2).upper, self.peek(4)
            if kind not in ("LOGIN", "USER") or name.kind != "string":
                self.emit_unsimulated()
                return
            line, first = self.token.line, self.position
            self.skip_clause()
            while self.is_keyword("WITH") or self.tokens[self.position - 1].upper == "WITH":
                self.skip_clause()
            if any(token.upper == "WITH" for token in self.tokens[first : self.position]):
                self.emit_statement(line, s.UnsimulatedStatement("EXECUTE AS … WITH NO REVERT or COOKIE"))
                return
            principal = name.text.partition("'")[2][:-1].replace("''", "'")
            self.emit_statement(line, s.ExecuteAsStatement(kind, principal))
            return
        if not next_token.is_operator("("):
            self.parse_command_statement()
            return
        line = self.take().line
        self.take()
        text = self.parse_expression(self.skip_expression(), line)
        if not self.take_if_operator(")"):
            raise self.build_error()
        caller = self.parse_caller()
        self.emit_statement(line, s.ExecuteDynamicSqlStatement(text, self.parse_linked_server(), caller))

    def parse_revert(self) -> None:
        line = self.take().line
        if self.is_keyword("WITH"):
            self.skip_clause()
            self.emit_statement(line, s.UnsimulatedStatement("REVERT WITH COOKIE"))
        else:
            self.emit_statement(line, s.RevertStatement())

    def parse_open_or_close(self) -> None:
        """Parse OPEN or CLOSE of a key or cursor."""
        if self.peek().upper in ("SYMMETRIC", "ALL"):
            self.emit_unsimulated()
        else:
            self.parse_command_statement()


_QUERY_WORDS: Final = ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE")
_BLOCK_PARSERS: Final = {
    "BEGIN": _Compiler.parse_begin,
    "IF": _Compiler.parse_if,
    "WHILE": _Compiler.parse_while,
}
"""First word of a statement that contains other statements -> function that parses it."""

_WORDS_BEFORE_STATEMENT: Final = frozenset({"ELSE", "BEGIN", "TRY", "CATCH"})
"""Words after which a statement follows without a separator."""

_STATEMENT_PARSERS: Final = {
    "BREAK": _Compiler.parse_break,
    "CONTINUE": _Compiler.parse_continue,
    "GOTO": _Compiler.parse_goto,
    "PRINT": _Compiler.parse_print,
    "RETURN": _Compiler.parse_return,
    "SET": _Compiler.parse_set,
    "DECLARE": _Compiler.parse_declare,
    "REVERT": _Compiler.parse_revert,
    "EXEC": _Compiler.parse_execute,
    "EXECUTE": _Compiler.parse_execute,
    "OPEN": _Compiler.parse_open_or_close,
    "CLOSE": _Compiler.parse_open_or_close,
}
