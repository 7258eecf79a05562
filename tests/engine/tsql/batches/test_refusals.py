"""Unsupported statements: they raise an error, so that neither they nor later statements seem to succeed."""

from __future__ import annotations

import pytest

from engine.model import World
from tests.engine.tsql.console import Answer, submit_batch
from tests.engine.worlds import P, build_lab
from tests.events import read_field


def _list_errors(answer: Answer) -> list[str]:
    return [message["text"] for message in read_field(answer.event, "messages") if message["severity"] > 10]


def _build_lab() -> World:
    world = build_lab(workload="none")
    world.update_instance(P, version=2022)
    submit_batch(world, P, "CREATE TABLE #t (a int IDENTITY, d nvarchar(99)); INSERT #t (d) VALUES ('first')")
    return world


UNSIMULATED_STATEMENT = "EXEC sp_addextendedproperty 'a', 'b'"


@pytest.mark.parametrize(
    "batch",
    [
        f"{UNSIMULATED_STATEMENT}; SELECT 1",
        f"SELECT 1; {UNSIMULATED_STATEMENT}; SELECT 2",
        f"BEGIN TRY {UNSIMULATED_STATEMENT} END TRY BEGIN CATCH SELECT 2 END CATCH; SELECT 3",
        f"EXEC ('{UNSIMULATED_STATEMENT.replace(chr(39), chr(39) * 2)}'); SELECT 2",
        "INSERT #t (d) SELECT COMPRESS('x'); SELECT SCOPE_IDENTITY()",
        "CREATE SEQUENCE s; SELECT 2",
    ],
)
def test_a_refused_statement_is_an_error_and_ends_the_batch(batch: str) -> None:
    answer = submit_batch(_build_lab(), P, batch)
    assert [text[:14] for text in _list_errors(answer)] == ["Not simulated:"], answer.texts
    assert answer.grids in ([], [[[1]]])


def test_a_refused_statement_ends_the_transaction() -> None:
    world = _build_lab()
    submit_batch(world, P, f"BEGIN TRAN; INSERT #t (d) VALUES ('lost'); {UNSIMULATED_STATEMENT}; COMMIT")
    assert submit_batch(world, P, "SELECT @@TRANCOUNT, COUNT(*) FROM #t").grids == [[[0, 1]]]


def test_an_unsimulated_query_lets_the_batch_continue() -> None:
    answer = submit_batch(_build_lab(), P, "SELECT COMPRESS('x'); SELECT 2")
    assert len(_list_errors(answer)) == 1
    assert answer.grids == [[[2]]]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE n (d nvarchar(99) CHECK (COMPRESS(d) = 0x1))",
        "CREATE TABLE n (d nvarchar(99), e AS COMPRESS(d))",
        "CREATE TABLE n (d varbinary(99) DEFAULT COMPRESS('a'))",
        "CREATE TABLE n (d nvarchar(99)); ALTER TABLE n ADD CHECK (COMPRESS(d) = 0x1)",
        "CREATE TABLE n (d varbinary(99)); ALTER TABLE n ADD CONSTRAINT x DEFAULT COMPRESS('a') FOR d",
        "CREATE TABLE n (d nvarchar(99)); ALTER TABLE n ADD e AS COMPRESS(d)",
    ],
)
def test_an_unevaluable_definition_is_refused(statement: str) -> None:
    assert "Not simulated" in _list_errors(submit_batch(_build_lab(), P, statement))[0]
