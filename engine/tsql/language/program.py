"""Compiler of a batch to a flat list of instructions with jumps. A waiting batch is then a text and a number."""

from collections.abc import Generator
from itertools import pairwise
from typing import Final

from msgspec import Struct

from engine.constants import VERSIONS
from engine.tsql.batches.work import ResultCache, ResumableComputation, Steps
from engine.tsql.language import permissions
from engine.tsql.language import statements as s
from engine.tsql.language.definition_reader import Definitions
from engine.tsql.language.instructions import (
    BranchIfFalse,
    CompiledInstruction,
    EndCatch,
    Jump,
    Program,
    RunStatement,
)
from engine.tsql.language.lexer import SqlSyntaxError, Token, TokenSequence, lexing, make_near_error, name_of
from engine.tsql.language.option_table import LEVELS, SWITCHES, check_names
from engine.tsql.language.reserved_words import (
    BROKER_PAIRS,
    COMMAND_PAIRS,
    COMMAND_WORDS,
    STATEMENT_WORDS,
)
from engine.tsql.query import planner

NEW_STATEMENTS: Final = {"THROW": 2012, "MERGE": 2008}
"""Word that begins a statement -> first version in which it does. Documented [DOC: each statement's page]."""

DEPTH_LIMIT: Final = 60
"""Maximum nesting of blocks before message 191. Assumed: the same order of magnitude as SQL Server's limit."""

NEWEST: Final = VERSIONS[-1]
"""Version of the syntax if no server is given."""


def compile_batch(text: str, version: int = NEWEST, variables: frozenset[str] = frozenset()) -> Program:
    """Return the program of a batch for a server of *version*. *variables* count as declared.

    Raises SqlSyntaxError with the line in the batch.
    """
    return compiling(text, version, variables).result()


def compiling(
    text: str, version: int = NEWEST, variables: frozenset[str] = frozenset()
) -> ResumableComputation[Program]:
    """Run `compile_batch` in steps. A repeated request returns the cached computation."""
    return _PROGRAM_CACHE.get(
        (text, version, variables),
        len(text),
        lambda: ResumableComputation(_compile(text, version, variables)),
    )


_PROGRAM_CACHE: Final[ResultCache[ResumableComputation[Program]]] = ResultCache(4_000_000)


def _compile(text: str, version: int, variables: frozenset[str]) -> Generator[int, None, Program]:
    tokens = yield from lexing(text)
    return (yield from _Compiler(text, tokens, version, variables).program())


class _Loop(Struct):
    start: int
    breaks: list[int]


class _Compiler(Definitions):
    """Compiler that reads the tokens once and appends instructions."""

    def __init__(self, text: str, tokens: TokenSequence, version: int, variables: frozenset[str]) -> None:
        super().__init__(text, tokens, version, variables)
        self.catches: list[int] = []
        """Index of the first instruction in the CATCH block of each TRY."""
        self.loops: list[_Loop] = []
        self.labels: dict[str, int] = {}
        self.gotos: list[tuple[int, Token]] = []
        self.unended = False
        """True if the preceding statement did not end with a semicolon."""

    def compile_body(self, body: str, parameters: frozenset[str]) -> Generator[int, None, Program]:
        return (yield from _compile(body, self.version, parameters))

    # -- output

    @property
    def next_index(self) -> int:
        return len(self.actions)

    def set_jump_target(self, index: int) -> None:
        """Let the jump or branch at *index* go to the present end of the program."""
        jump, target_index = self.actions[index], self.next_index
        self.actions[index] = (
            BranchIfFalse(jump.condition, target_index)
            if isinstance(jump, BranchIfFalse)
            else Jump(target_index)
        )

    # -- batch

    def program(self) -> Generator[int, None, Program]:
        yield from self.skip_semicolons()
        first_token = self.token
        # an older server reads the word as a name
        young = NEW_STATEMENTS.get(first_token.upper, 0) > self.version
        has_name = first_token.kind == "quoted" or (
            first_token.kind == "word" and (young or first_token.upper not in STATEMENT_WORDS)
        )
        if has_name and not self.peek().is_op(":") and first_token.upper not in ("RECEIVE", "SEND"):
            self.first = self.place
            self.command()
            yield from self.skip_semicolons()
        while self.token.kind != "end":
            yield from self.statement()
        for position, token in self.gotos:
            if token.text.lower() not in self.labels:
                raise SqlSyntaxError(token.line, 133, token.text)
            self.actions[position] = Jump(self.labels[token.text.lower()])
        handlers = [None if region is None else self.catches[region] for region in self.regions]
        return tuple(map(CompiledInstruction, self.lines, self.actions, handlers))

    def statement(self) -> Steps:
        """Parse one statement and the semicolons after it."""
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            raise SqlSyntaxError(self.token.line, 191)
        self.first = self.place
        word = self.token.upper
        if NEW_STATEMENTS.get(word, 0) > self.version:
            raise SqlSyntaxError(self.token.line, 102, self.token.text)
        is_alone = self.tokens[self.place - 1].upper in _BEFORE_BLOCKS if self.place else True
        if word == "THROW" and self.unended and not is_alone and self.version >= NEW_STATEMENTS["THROW"]:
            raise self.problem()  # the preceding statement must end with a semicolon [DOC: THROW]
        self.unended = False
        label = self.token.kind == "word" and self.peek().is_op(":")
        if word in _BLOCKS and not label:
            yield from _BLOCKS[word](self)
        elif word == "ALTER" and (self.peek().upper, self.peek(2).upper) == ("SERVER", "ROLE"):
            self.command()
        elif word in ("CREATE", "ALTER") and not label and (word, self.peek().upper) not in COMMAND_PAIRS:
            yield from self.create_or_alter()
        else:
            statement_work = yield from self.simple_statement(word)
            yield self.work() - statement_work
        self.depth -= 1
        yield from self.skip_semicolons()
        self.unended = not self.tokens[self.place - 1].is_op(";")

    def simple_statement(self, keyword: str) -> Generator[int, None, int]:
        """Parse a statement without inner statements. Return the work that has been yielded."""
        if self.token.kind == "word" and self.peek().is_op(":"):
            self.label()
        elif keyword in _STRUCTURE:
            _STRUCTURE[keyword](self)
        elif (keyword, self.peek().upper) == ("DROP", "INDEX"):
            self.drop_index()
        elif keyword == "WAITFOR" and self.peek().is_op("("):
            self.service_broker("WAITFOR (RECEIVE …)")
        elif (keyword, self.peek().upper) in BROKER_PAIRS or keyword == "RECEIVE":
            self.service_broker(keyword if keyword == "RECEIVE" else f"{keyword} {self.peek().upper}")
        elif (keyword, self.peek().upper) in COMMAND_PAIRS or keyword in COMMAND_WORDS:
            self.command()
        elif (keyword, self.peek().upper) == ("INSERT", "BULK"):
            self.emit_unsimulated()
        elif keyword in _QUERIES:
            return (yield from self.query())
        elif keyword in STATEMENT_WORDS - {"ADD", "ELSE", "END"}:
            self.emit_unsimulated()
        else:
            raise self.problem()
        return 0

    def command(self) -> None:
        """Parse a statement of commands.lark."""
        line = self.token.line
        first = self.skim()
        if self.token.is_op(")"):
            raise self.problem()
        words = [token.upper for token in self.tokens[first : first + 2]]
        numbered = self.place > first + 2 and self.tokens[first + 2].kind == "number"
        if numbered and words[0] == "FETCH" and words[1] in ("NEXT", "PRIOR", "FIRST", "LAST"):
            raise SqlSyntaxError(line, 153, words[1], "FETCH")
        if self.tokens[first].upper == "THROW" and self.version < NEW_STATEMENTS["THROW"]:
            self.do(
                line, s.Execute(self.tokens[first].text)
            )  # an older server reads the word as a procedure name
            return
        statement = planner.parse_command(self.text, self.tokens[first : self.place], self.token)
        if isinstance(statement, s.Raiserror) and statement.number is not None and self.version >= 2012:
            raise make_near_error(self.tokens[first + 1])  # [DOC: discontinued Database Engine functionality]
        if isinstance(statement, s.Permission):
            permissions.check(statement.permissions, line)
        check_names(statement, self.version, line)
        self.check_variables(first, isinstance(statement, s.Execute))
        self.do(line, statement)

    def query(self) -> Generator[int, None, int]:
        """Parse a statement for sqlglot: find its end, then check it. Return the work that has been yielded."""
        line, word = self.token.line, self.token.upper
        if word == "WITH" and self.peek().upper == "XMLNAMESPACES":
            self.with_namespaces()
            return 0
        first = verb = self.skim()
        if word == "WITH" and self.is_keyword("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"):
            word, verb = self.token.upper, self.skim()
        if word == "INSERT" and self.is_keyword("SELECT") and not self.has_keyword(verb, "VALUES"):
            self.skim()
        elif word == "INSERT" and self.is_keyword("EXEC", "EXECUTE") and not self.has_keyword(verb, "VALUES"):
            target = self.text_between(first, self.place)
            self.execute()
            action = self.actions[-1]
            assert isinstance(action, RunStatement)
            if isinstance(action.statement, s.Execute | s.ExecuteString):  # else it is not simulated
                self.actions[-1] = RunStatement(s.InsertExec(target, action.statement))
            return 0
        words = [token.upper for token in self.tokens[verb : self.place]]
        if ("CURRENT", "OF") in pairwise(words):
            self.do(line, s.UnsimulatedStatement(f"{word} … WHERE CURRENT OF"))
            return 0
        if self.token.is_op(")"):
            raise self.problem()
        if word == "MERGE" and not self.token.is_op(";"):
            raise SqlSyntaxError(self.tokens[self.place - 1].line, 10713)
        query_work = self.work() // 2
        yield query_work
        self.do_query(line, first)
        return query_work

    def with_namespaces(self) -> None:
        """Parse WITH XMLNAMESPACES (…) and the query that follows."""
        line = self.token.line
        self.place += 2
        if not self.token.is_op("("):
            raise self.problem()
        self.read_bracketed_text()
        while self.take_if(","):
            self.skim(in_brackets=False)
        if self.is_keyword("SELECT", "INSERT", "UPDATE", "DELETE"):
            verb = self.skim()
            if self.tokens[verb].upper == "INSERT" and self.is_keyword("SELECT"):
                self.skim()
        self.do(line, s.UnsimulatedStatement("WITH XMLNAMESPACES"))

    def do_query(self, line: int, start: int) -> None:
        """Append the text from token *start* on as a query."""
        text = self.text_between(start, self.place)
        self.check_variables(start)
        if self.version < 2008 and self.tokens[start].upper == "INSERT":
            planner.check_one_row(self.tokens[start : self.place])
        missing = planner.find_unsimulated(self.tokens[start : self.place], self.version)
        if missing:
            self.do(line, s.UnsimulatedStatement(missing))
            return
        plain_text, output = planner.split_output(text)
        if planner.check_statement(plain_text, line):
            self.do(line, s.QueryStatement(plain_text, output))
        else:
            words = [token.upper or token.text for token in self.tokens[start : self.place]]
            shown_text = "OPENROWSET (BULK …)" if "OPENROWSET" in words else " ".join(words[:2])
            self.do(line, s.UnsimulatedStatement(shown_text))

    def service_broker(self, statement_name: str) -> None:
        """Parse a statement of Service Broker. It sends nothing in this simulation."""
        line = self.token.line
        self.take()
        while (
            self.token.kind != "end"
            and not self.token.is_op(";")
            and self.token.upper not in (*_BLOCKS, *_STRUCTURE)
        ):
            if self.token.is_op("("):
                self.read_bracketed_text()
            else:
                self.take()
        self.do(line, s.UnsimulatedStatement(f"{statement_name} of Service Broker"))

    # -- control flow

    def label(self) -> None:
        token = self.take()
        self.take()
        if token.text.lower() in self.labels:
            raise SqlSyntaxError(token.line, 132, token.text)
        self.labels[token.text.lower()] = self.next_index

    def begin(self) -> Steps:
        next_text = self.peek().upper
        if next_text == "TRY":
            yield from self.try_catch()
        elif next_text == "CATCH":
            raise make_near_error(self.peek())
        elif next_text in ("TRAN", "TRANSACTION", "DISTRIBUTED"):
            self.command()
            yield self.work()
        elif next_text in ("DIALOG", "CONVERSATION"):
            self.emit_unsimulated()
            yield self.work()
        else:
            self.take()
            yield from self.block()
            self.expect("END")

    def block(self, empty_allowed: bool = False) -> Steps:
        yield from self.skip_semicolons()
        count = 0
        while not self.is_keyword("END"):
            if self.token.kind == "end":
                raise self.problem()
            yield from self.statement()
            count += 1
        if not count and not empty_allowed:
            raise self.problem()
        self.first = self.place

    def try_catch(self) -> Steps:
        outer = self.region
        self.place += 2
        self.catches.append(-1)
        self.region = region = len(self.catches) - 1
        yield from self.block()
        self.expect("END")
        self.expect("TRY")
        self.region = outer
        yield from self.skip_semicolons()
        end_jump = self.emit(self.token.line, Jump())
        self.expect("BEGIN")
        self.expect("CATCH")
        self.catches[region] = self.next_index
        yield from self.block(empty_allowed=True)
        self.emit(self.token.line, EndCatch())
        self.expect("END")
        self.expect("CATCH")
        self.set_jump_target(end_jump)

    def condition(self) -> int:
        """Parse a condition. Return the index of the branch that is taken if it is not true."""
        line = self.token.line
        self.in_condition = True
        first = self.skim_expression()
        self.in_condition = False
        text = self.text_between(first, self.place)
        if not text or self.tokens[self.place - 1].upper == "EXISTS":
            raise self.problem()
        try:
            planner.check_condition(text, line)
        except SqlSyntaxError as problem:
            if problem.number == 4145 and self.token.kind != "end":
                raise SqlSyntaxError(line, 4145, self.token.text) from None
            raise
        self.check_variables(first)
        return self.emit(line, BranchIfFalse(text))

    def if_statement(self) -> Steps:
        self.take()
        leave = self.condition()
        yield self.work()
        yield from self.statement()
        if self.is_keyword("ELSE"):
            end_jump = self.emit(self.token.line, Jump())
            self.take()
            self.set_jump_target(leave)
            yield from self.statement()
            self.set_jump_target(end_jump)
        else:
            self.set_jump_target(leave)

    def while_loop(self) -> Steps:
        self.take()
        loop = _Loop(self.next_index, [])
        leave = self.condition()
        yield self.work()
        self.loops.append(loop)
        yield from self.statement()
        self.loops.pop()
        self.emit(self.lines[leave], Jump(loop.start))
        for position in (leave, *loop.breaks):
            self.set_jump_target(position)

    def break_loop(self) -> None:
        token = self.take()
        if not self.loops:
            raise SqlSyntaxError(token.line, 135)
        self.loops[-1].breaks.append(self.emit(token.line, Jump()))

    def continue_loop(self) -> None:
        token = self.take()
        if not self.loops:
            raise SqlSyntaxError(token.line, 136)
        self.emit(token.line, Jump(self.loops[-1].start))

    def goto(self) -> None:
        self.take()
        if self.token.kind != "word":
            raise self.problem()
        self.gotos.append((self.emit(self.token.line, Jump()), self.take()))

    # -- simple statements with expressions

    def print_text(self) -> None:
        line = self.take().line
        self.do(line, s.Print(self.expression(self.skim_expression(), line)))

    def return_value(self) -> None:
        line = self.take().line
        first = self.skim_expression()
        text = self.text_between(first, self.place)
        if text:
            self.expression(first, line)
        self.do(line, s.Return(text))

    def assign_or_set(self) -> None:
        line = self.take().line
        if self.token.kind != "variable":
            self.set_session(line)
            return
        name = self.token.text.lower()
        self.take()
        if self.token.kind == "end":
            raise self.problem()
        self.check_variables(self.place - 1)
        sign = self.take()
        if not (sign.kind == "op" and sign.text.endswith("=")) or sign.text in ("<=", ">=", "!="):
            raise make_near_error(sign)
        if sign.text != "=" and self.version < 2008:
            raise make_near_error(sign)
        if self.is_keyword("CURSOR"):
            self.cursor(name, line)
            return
        text = self.expression(self.skim_expression(), line)
        if sign.text != "=":
            text = f"{name} {sign.text[:-1]} ({text})"
        self.do(line, s.Assign(name, text))

    def set_session(self, line: int) -> None:
        first = self.skim()
        tokens = self.tokens[first : self.place]
        if not tokens or tokens[0].kind != "word":
            raise self.problem()
        switch = next((index for index, token in enumerate(tokens) if token.upper in ("ON", "OFF")), None)
        if switch is not None:  # after ON, DELETE is a statement here
            self.place = first + switch + 1
            tokens = tokens[: switch + 1]
        elif tokens[0].upper in SWITCHES or tokens[0].upper == "IDENTITY_INSERT":
            raise make_near_error(tokens[-1])
        words = " ".join(token.upper for token in tokens)
        if (
            tokens[0].upper == "TRANSACTION"
            and words.removeprefix("TRANSACTION ISOLATION LEVEL ") not in LEVELS
        ):
            raise make_near_error(tokens[-1])
        values = [token for token in tokens if token.kind in ("string", "number", "variable")]
        value: s.Value = None
        if values:
            last = values[-1]
            value = s.Variable(last.text.lower()) if last.kind == "variable" else name_of(last)
        elif tokens[0].upper in ("LANGUAGE", "DATEFORMAT"):
            value = name_of(tokens[-1])
        elif tokens[0].upper in ("LOCK_TIMEOUT", "TEXTSIZE", "QUERY_GOVERNOR_COST_LIMIT"):
            raise make_near_error(tokens[-1])
        names = tuple(token.text for token in tokens[1:-1]) if tokens[0].upper == "IDENTITY_INSERT" else ()
        self.do(line, s.SetSession(tuple(token.text.upper() for token in tokens), value, names))

    def declare(self) -> None:
        line = self.take().line
        if self.token.kind != "variable":
            self.cursor(name_of(self.take()), line)
            return
        declared = [self.declaration(line, set())]
        while self.take_if(","):
            declared.append(self.declaration(line, {item.name for item in declared}))
        self.declared |= {
            item.name for item in declared
        }  # last, because no declaration can refer to another one
        cursors = [item for item in declared if item.type == "cursor"]
        if len(cursors) < len(declared):
            self.do(line, s.Declare(tuple(item for item in declared if item.type != "cursor")))

    def declaration(self, line: int, earlier_names: set[str]) -> s.Declaration:
        if self.token.kind != "variable":
            raise self.problem()
        token = self.take()
        name = token.text.lower()
        if name in self.declared | earlier_names:
            raise SqlSyntaxError(token.line, 134, token.text)
        if self.is_keyword("AS"):
            self.take()
        if self.is_keyword("TABLE"):
            first = self.place + 1
            self.take()
            if not self.token.is_op("("):
                raise self.problem()
            self.skim(commas=True)
            columns = self.text_between(first, self.place)
            planner.check_columns(columns, line)
            return s.Declaration(name, "table", columns=columns)
        first = self.skim(commas=True, assign=True)
        kind = self.text_between(first, self.place).lower()
        if not kind:
            raise self.problem()
        collation = next(
            (token for token in self.tokens[first : self.place] if token.upper == "COLLATE"), None
        )
        if collation is not None:
            raise make_near_error(collation)
        if self.version < 2008 and kind.strip("[]").partition("(")[0].upper() in planner.TYPES:
            raise SqlSyntaxError(token.line, 2715, 1, kind)
        if kind.strip("[]") in ("text", "ntext", "image"):
            raise SqlSyntaxError(token.line, 2739)
        default = ""
        if self.take_if("="):
            if self.version < 2008:
                raise SqlSyntaxError(token.line, 139)
            default = self.expression(self.skim_expression(commas=True), line)
        return s.Declaration(name, kind, default)

    def execute(self) -> None:
        next_token = self.peek()
        for index in range(self.place + 1, len(self.tokens) - 2):
            words = tuple(token.upper for token in self.tokens[index : index + 3])
            if words == ("WITH", "RESULT", "SETS") and self.version >= 2012:
                line, self.place = self.token.line, index + 3
                self.read_bracketed_text() if self.token.is_op("(") else self.take()
                self.do(line, s.UnsimulatedStatement("EXECUTE … WITH RESULT SETS"))
                return
            if self.tokens[index].is_op(";") or words[0] in (*_QUERIES[:1], *_QUERIES[2:], "EXEC", "EXECUTE"):
                break
        if next_token.upper == "AS":
            kind, name = self.peek(2).upper, self.peek(4)
            if kind not in ("LOGIN", "USER") or name.kind != "string":
                self.emit_unsimulated()
                return
            line, first = self.token.line, self.place
            self.skim()
            while self.is_keyword("WITH") or self.tokens[self.place - 1].upper == "WITH":
                self.skim()
            if any(token.upper == "WITH" for token in self.tokens[first : self.place]):
                self.do(line, s.UnsimulatedStatement("EXECUTE AS … WITH NO REVERT or COOKIE"))
                return
            self.do(line, s.ExecuteAs(kind, name.text.partition("'")[2][:-1].replace("''", "'")))
            return
        if not next_token.is_op("("):
            self.command()
            return
        line = self.take().line
        self.take()
        text = self.expression(self.skim_expression(), line)
        if not self.take_if(")"):
            raise self.problem()
        linked = ""
        if self.is_keyword("AT"):
            self.take()
            linked = name_of(self.take())
        self.do(line, s.ExecuteString(text, linked))

    def revert(self) -> None:
        line = self.take().line
        if self.is_keyword("WITH"):
            self.skim()
            self.do(line, s.UnsimulatedStatement("REVERT WITH COOKIE"))
        else:
            self.do(line, s.Revert())

    def set_of_two(self) -> None:
        """Parse OPEN or CLOSE of a key or of a cursor."""
        if self.peek().upper in ("SYMMETRIC", "ALL"):
            self.emit_unsimulated()
        else:
            self.command()


_QUERIES: Final = ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE")
_BLOCKS: Final = {"BEGIN": _Compiler.begin, "IF": _Compiler.if_statement, "WHILE": _Compiler.while_loop}
"""Statements that contain other statements -> function that parses them."""

_BEFORE_BLOCKS: Final = frozenset({"ELSE", "BEGIN", "TRY", "CATCH"})
"""Words after which a statement follows without a separator."""

_STRUCTURE: Final = {
    "BREAK": _Compiler.break_loop,
    "CONTINUE": _Compiler.continue_loop,
    "GOTO": _Compiler.goto,
    "PRINT": _Compiler.print_text,
    "RETURN": _Compiler.return_value,
    "SET": _Compiler.assign_or_set,
    "DECLARE": _Compiler.declare,
    "REVERT": _Compiler.revert,
    "EXEC": _Compiler.execute,
    "EXECUTE": _Compiler.execute,
    "OPEN": _Compiler.set_of_two,
    "CLOSE": _Compiler.set_of_two,
}
