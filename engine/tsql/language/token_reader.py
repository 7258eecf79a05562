"""Token reader, the base class of the compiler. It finds the ends of expressions and statements."""

from collections.abc import Container
from typing import Final

from engine.tsql.batches.work import WorkGenerator
from engine.tsql.language import statements as s
from engine.tsql.language.instructions import InstructionAction, StatementInstruction
from engine.tsql.language.lexer import (
    BatchTooLongError,
    SqlSyntaxError,
    Token,
    TokenSequence,
    build_unexpected_token_error,
    check_brackets,
    get_name,
)
from engine.tsql.language.reserved_words import (
    INNER_WORDS_BY_STATEMENT,
    MODULE_OPTION_WORDS,
    NON_STARTING_WORD_PAIRS,
    STATEMENT_WORDS,
    STOP_WORDS,
)

STATEMENT_TOKENS_MAX: Final = 9_000
"""Maximum number of tokens in one statement. A longer statement raises 8623.

Assumed: enough for a call of sp_executesql with all its 2,100 parameters. sqlglot and the grammar parse
such a statement in about 0.2 s. SQL Server runs out of resources at an IN list of tens of thousands of
values.
"""


STATEMENT_CHARACTERS_MAX: Final = 1_000_000
"""Maximum number of characters in one statement. A longer statement raises 8623.

Assumed: equal to the limit of a value. The longest statement of sp_WhoIsActive has 108,000 characters and
is parsed in about 0.07 s.
"""


WORK_PER_STATEMENT: Final = 60
"""Work units (work.py) of parsing a statement, without the work for its tokens. Measured."""


PARSING_WORK_PER_TOKEN: Final = 15
"""Work units (work.py) of parsing one token with sqlglot or the grammar. Measured: 6 to 25 microseconds."""


class TokenReader:
    """Reader of the tokens of a batch, with the list of compiled instructions.

    Methods that read tokens move `position` past them.
    """

    def __init__(self, text: str, tokens: TokenSequence, version: int, variables: frozenset[str]) -> None:
        self.text = text
        self.tokens = tokens
        self.version = version
        self.position = 0
        self.statement_start = 0
        """Index of the first token of the current statement."""
        self.in_condition = False
        self.declared_variables = set(variables)
        self.block_depth = 0
        self.in_module = False
        """True for the body of a procedure or function."""
        self.lines: list[int] = []
        self.actions: list[InstructionAction] = []
        self.try_blocks: list[int | None] = []
        """Number of the TRY block that contains each instruction; None outside TRY."""
        self.try_block: int | None = None

    def emit(self, line: int, action: InstructionAction) -> int:
        """Append an instruction and return its index."""
        self.lines.append(line)
        self.actions.append(action)
        self.try_blocks.append(self.try_block)
        return len(self.actions) - 1

    def emit_statement(self, line: int, statement: s.Statement) -> None:
        """Append an instruction that executes a statement. Raise 154 for USE in a module."""
        if self.in_module and isinstance(statement, s.UseStatement):
            raise SqlSyntaxError(line, 154, "a USE database statement", "a procedure, function or trigger")
        self.emit(line, StatementInstruction(statement))

    def compute_work(self) -> int:
        """Return the work to parse the current statement up to the current token."""
        return WORK_PER_STATEMENT + PARSING_WORK_PER_TOKEN * (self.position - self.statement_start)

    @property
    def token(self) -> Token:
        """Return the current token."""
        return self.tokens[self.position]

    def peek(self, count: int = 1) -> Token:
        """Return the token *count* positions ahead."""
        return self.tokens[min(self.position + count, len(self.tokens) - 1)]

    def is_keyword(self, *words: str) -> bool:
        """Return whether the current token is one of these keywords."""
        return self.token.upper in words

    def take(self) -> Token:
        """Return the current token and move to the next one."""
        token = self.token
        if token.kind != "end":
            self.position += 1
            self.check_length()
        return token

    def check_length(self) -> None:
        """Raise BatchTooLongError if the current statement exceeds a size limit."""
        first_token = self.tokens[self.statement_start]
        if self.position - self.statement_start > STATEMENT_TOKENS_MAX:
            limit = f"statements of more than {STATEMENT_TOKENS_MAX} words and signs"
            raise BatchTooLongError(first_token.line, limit)
        if (
            self.position > self.statement_start
            and self.tokens[self.position - 1].end - first_token.start > STATEMENT_CHARACTERS_MAX
        ):
            raise BatchTooLongError(
                first_token.line, f"statements of more than {STATEMENT_CHARACTERS_MAX} characters"
            )

    def take_if_operator(self, *operators: str) -> bool:
        """Move past the current token if it is one of *operators*. Return whether it is."""
        if self.token.is_operator(*operators):
            self.position += 1
            return True
        return False

    def expect(self, keyword: str) -> Token:
        """Return the current token, which must be *keyword*, and move past it.

        Raises SqlSyntaxError for another token.
        """
        if not self.is_keyword(keyword):
            raise self.build_error()
        return self.take()

    def build_error(self) -> SqlSyntaxError:
        """Return a syntax error for the current token."""
        return build_unexpected_token_error(
            self.token, self.tokens[self.position - 1] if self.position else None
        )

    def skip_semicolons(self) -> WorkGenerator:
        """Skip all semicolons at the current token, in steps."""
        first = self.position
        while self.take_if_operator(";"):
            if (self.position - first) % STATEMENT_TOKENS_MAX == 0:
                yield STATEMENT_TOKENS_MAX

    def get_text_between(self, start: int, end: int) -> str:
        """Return the text from token *start* up to token *end*, exclusive."""
        if end <= start:
            return ""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end]

    def skip_clause(self, commas: bool = False, assign: bool = False, in_brackets: bool = False) -> int:
        """Skip to the end of an expression or statement. Return the index of its first token.

        The end is a semicolon, a closing parenthesis, or the first word of the next statement. With
        *commas*, a comma is also an end; with *assign*, `=` is also an end. With *in_brackets*, no word
        begins a statement.
        """
        first, level, cases = self.position, 0, 0
        opened_clauses: set[str] = set()
        while self.token.kind != "end":
            token = self.token
            self.check_length()
            if token.is_operator("("):
                level += 1
            elif token.is_operator(")"):
                if level == 0:
                    break
                level -= 1
            elif level == 0:
                if (
                    token.is_operator(";")
                    or (commas and token.is_operator(","))
                    or (assign and token.is_operator("="))
                ):
                    break
                if token.upper == "CASE":
                    cases += 1
                elif token.upper == "END" and cases:
                    cases -= 1
                elif in_brackets or (token.upper == "ELSE" and cases):
                    pass
                elif self.is_next_statement(first, opened_clauses):
                    break
            if self.position > first:
                opened_clauses.add(token.upper)
            self.position += 1
        self.check_length()
        if level:
            check_brackets(self.tokens[first : self.position])
            raise self.build_error()
        return first

    def skip_expression(self, commas: bool = False) -> int:
        """Skip an expression and return the index of its first token. Do not move if a statement begins here."""
        first = self.position
        return first if self.token.upper in STOP_WORDS else self.skip_clause(commas)

    def is_next_statement(self, start: int, seen_keywords: Container[str]) -> bool:
        """Return whether the current token begins a new statement after the one that began at *start*.

        *seen_keywords*: the keywords between *start* and the current token.
        """
        word = self.token.upper
        if self.position == start:
            return False
        if self.token.kind == "word" and self.peek().is_operator(":"):
            return True  # the word is a label
        if word == "THROW" and self.in_condition:
            return True  # THROW ends a condition; elsewhere, without a semicolon before it, it may be a name
        if word not in STATEMENT_WORDS:
            return False
        before = self.tokens[self.position - 1]
        if (
            before.is_operator(".")
            or (before.upper, word) in NON_STARTING_WORD_PAIRS
            or (word, self.peek().upper) == ("DROP", "MEMBER")
            or self.is_inner_keyword(start, word, seen_keywords)
        ):
            return False
        if word == "WITH" and self.is_cte_start():
            if not self.in_condition:
                raise SqlSyntaxError(self.token.line, 319)
            return True
        return word in STOP_WORDS

    def is_cte_start(self) -> bool:
        """Return whether the current WITH begins a common table expression.

        The forms are `name AS (` and `name (columns) AS (`.
        """
        has_name = self.peek().kind in ("word", "quoted")
        return has_name and (
            self.peek(2).upper == "AS" or (self.peek(2).is_operator("(") and self._has_as_keyword(2))
        )

    def _has_as_keyword(self, bracket: int) -> bool:
        """Return whether AS follows a parenthesized group.

        *bracket*: number of tokens from the current token to the opening parenthesis. For example, no AS
        follows the options in WITH ENCRYPTION ( … ).
        """
        level = 0
        for index in range(self.position + bracket, len(self.tokens)):
            level += self.tokens[index].is_operator("(") - self.tokens[index].is_operator(")")
            if level == 0:
                return self.tokens[min(index + 1, len(self.tokens) - 1)].upper == "AS"
        return True

    def is_inner_keyword(self, start: int, keyword: str, seen_keywords: Container[str]) -> bool:
        """Return whether *keyword* continues the statement that began at token *start*.

        *seen_keywords*: the keywords between *start* and the current token.
        """
        head = self.tokens[start].upper
        word_pair = f"{head} {self.tokens[start + 1].upper}"
        if keyword not in INNER_WORDS_BY_STATEMENT.get(word_pair, INNER_WORDS_BY_STATEMENT.get(head, ())):
            return False
        if head in ("GRANT", "DENY", "REVOKE"):
            return "TO" not in seen_keywords and "FROM" not in seen_keywords
        return head == "MERGE" or keyword not in seen_keywords

    def read_bracketed_text(self) -> str:
        """Return the text of the parenthesized group that begins at the current token."""
        first = self.position
        self.take()
        self.skip_clause(in_brackets=True)
        if not self.take_if_operator(")"):
            raise self.build_error()
        return self.get_text_between(first, self.position)

    def read_qualified_name(self) -> tuple[str, ...]:
        """Parse a name with one or more parts. The schema may be empty, as in `master..t`."""
        parts: list[str] = []
        while True:
            if self.token.kind in ("word", "quoted"):
                parts.append(get_name(self.take()))
            elif self.token.is_operator(".") and parts:
                parts.append("")
            else:
                raise self.build_error()
            if not self.take_if_operator("."):
                return tuple(parts)

    def parse_parameter(self) -> s.ProcedureParameter:
        """Parse the definition of a parameter."""
        name = self.take().text.lower()
        if self.is_keyword("AS"):
            self.take()
        first = self.position
        self.take()
        while self.take_if_operator("."):
            self.take()
        if self.token.is_operator("("):
            self.read_bracketed_text()
        kind = self.get_text_between(first, self.position).lower()
        if self.is_keyword("VARYING"):
            self.take()
        default = ""
        if self.take_if_operator("="):
            first = self.position
            self.take_if_operator("-")
            self.take()
            default = self.get_text_between(first, self.position)
        output = self.is_keyword("OUT", "OUTPUT")
        while self.is_keyword("OUT", "OUTPUT", "READONLY"):
            self.take()
        from engine.tsql.language.statements import (
            ProcedureParameter,  # imported here, so that the program starts faster
        )

        return ProcedureParameter(name, kind, default, output)

    def skip_to_as(self) -> frozenset[str]:
        """Skip the clauses before the AS of a module definition. Return their words.

        Examples are WITH RECOMPILE and EXECUTE AS OWNER.
        """
        first = self.position
        while not (self.is_keyword("AS") and self.tokens[self.position - 1].upper not in ("EXECUTE", "EXEC")):
            self.check_module_option()
            self.take()
        self.take()
        return frozenset(token.upper for token in self.tokens[first : self.position])

    def check_module_option(self) -> None:
        """Raise an error unless the token can occur in the clauses before the body of a module."""
        if self.token.kind == "end" or (
            self.token.kind == "word" and self.token.upper not in MODULE_OPTION_WORDS
        ):
            raise self.build_error()

    def read_body(self) -> str:
        """Return the rest of the batch as the body of a module. It may be empty.

        The text begins with line breaks, so that its lines have the same numbers as in the batch.
        """
        return "\n" * (self.token.line - 1) + self.text[self.token.start :]
