"""Valid statements of the documentation. Each compiles; a statement that is not simulated says so when it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.tsql.language import statements as s
from engine.tsql.language.compiler import compile_batch
from engine.tsql.language.instructions import StatementInstruction
from engine.tsql.language.lexer import SqlSyntaxError

LINES = Path(__file__).with_name("valid_statements.txt").read_text("utf-8").splitlines()


def test_no_valid_statement_is_a_syntax_error() -> None:
    refused = []
    for line in LINES[1:]:
        try:
            compile_batch(line)
        except SqlSyntaxError as problem:
            refused.append((line, problem.number))
    assert refused == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("PRINT 1 DROP DATABASE ENCRYPTION KEY PRINT 2", ["DROP DATABASE ENCRYPTION KEY"]),
        ("ALTER MASTER KEY DROP ENCRYPTION BY SERVICE MASTER KEY", ["ALTER MASTER KEY DROP ENCRYPTION"]),
        ("KILL STATS JOB 5 SELECT 1", ["KILL STATS JOB"]),
        (
            "ALTER LOGIN [a b] ADD CREDENTIAL c; SELECT $IDENTITY FROM t",
            ["ALTER LOGIN … ADD CREDENTIAL", "$IDENTITY"],
        ),
    ],
)
def test_a_statement_that_is_not_simulated_ends_before_the_next_one(text: str, names: list[str]) -> None:
    actions = [instruction.action for instruction in compile_batch(text)]
    statements = [action.statement for action in actions if isinstance(action, StatementInstruction)]
    assert [
        statement.name for statement in statements if isinstance(statement, s.UnsimulatedStatement)
    ] == names
    assert len(statements) == text.count("PRINT") + text.count("SELECT 1") + len(names)
