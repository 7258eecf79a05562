"""Exceptions in the simulation of a statement: they end its batch, but not the run."""

from __future__ import annotations

from typing import Any

import pytest

from engine.tsql.batches import sources
from engine.tsql.query.plans import TableRef
from tests.engine.tsql.console import collect_unchecked_answers, submit_batch
from tests.engine.worlds import P, build_lab
from tests.events import read_field

BATCH = "USE Sales; BEGIN TRAN; UPDATE t SET a = 2; SELECT name FROM sys.databases; PRINT 'after'"


def test_internal_error_ends_the_batch_and_undoes_its_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, "USE Sales; CREATE TABLE t (a int); INSERT t VALUES (1)", wait_s=2)
    fetch_source = sources.fetch_source

    def fail_for_view(machine: Any, ref: TableRef, *arguments: Any) -> Any:
        if "databases" in ref.key:
            raise KeyError("column")
        return fetch_source(machine, ref, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(sources, "fetch_source", fail_for_view)
        (answer,) = collect_unchecked_answers(world, P, BATCH, wait_s=2)
    assert "internal error KeyError in engine." in answer.texts[-1]
    assert read_field(answer.event, "messages")[-1]["severity"] == 16
    state = submit_batch(world, P, "USE Sales; SELECT a, @@TRANCOUNT, XACT_STATE() FROM t", wait_s=2)
    assert state.grids == [[[1, 0, 0]]]
