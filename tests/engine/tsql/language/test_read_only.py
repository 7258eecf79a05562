"""Batches that are classified as read-only. A run stores no snapshot and no hash for them."""

from __future__ import annotations

import json

import pytest

from engine.drill.time import history as history_module
from engine.drill.time.history import History
from engine.drill.time.snapshots import RunSnapshot, take_snapshot
from engine.inputs import Input
from engine.tsql.language.lexer import is_read_only_input
from engine.verbs.input_lines import parse_input_line
from tests.engine.drill.texts import build_drill


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("SELECT 1", True),
        ("-- who\nSELECT CASE WHEN 1 = 1 THEN 2 ELSE 3 END AS a FROM sys.databases; SELECT 'UPDATE'", True),
        ("WITH a AS (SELECT 1 AS b) SELECT b FROM a", True),
        ("SELECT name INTO #t FROM sys.databases", False),
        ("SELECT 1 UPDATE t SET a = 1", False),
        ("SELECT 1; EXEC sp_who", False),
        ("SELECT 1\nGO\nSELECT 2", False),
        ("SELECT 1 FETCH c", False),
        ("SELECT * FROM OPENQUERY(SERVER_B, 'UPDATE t SET a = 1')", False),
        ("sp_who2", False),
        ("USE Sales", False),
        ("SELECT 'open", False),
    ],
)
def test_only_selects_count_as_reading(text: str, reads: bool) -> None:
    assert is_read_only_input(parse_input_line(f"sql SERVER_A {text}".replace("\n", "\n    "), 0)) is reads


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("SELECT 1", True),
        ("UPDATE t SET a = 1", False),
        ("EXEC sp_executesql N'SELECT ''a'' WHERE 1 = @p', N'@p int', @p = 5", True),
        (
            "EXEC sp_executesql N'SELECT @P1, @P2', N'@P1 int,@P2 nvarchar(4000)', -5, N'it''s; DELETE t'",
            True,
        ),
        ("EXEC sp_executesql N'SELECT 1'; DELETE t", False),
        ("EXEC sp_executesql N'DELETE t WHERE a = @p', N'@p int', @p = 5", False),
        ("EXEC sp_executesql N'SELECT 1', N'@p int', @p = @x OUTPUT", False),
    ],
)
def test_a_program_reads_with_batches_and_with_parameters(text: str, reads: bool) -> None:
    assert is_read_only_input(Input(0, "batch", ("SERVER_A#tds1", json.dumps(text)))) is reads


def test_a_monitoring_script_adds_few_snapshots_and_replays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    history = History(build_drill())
    moments: list[RunSnapshot] = []
    monkeypatch.setattr(
        history_module,
        "take_snapshot",
        lambda *arguments: moments.append(take_snapshot(*arguments)) or moments[-1],
    )
    hashes = len(history.drill.hashes)
    for second in range(1, 11):
        history.advance_to(100 * second)
        history.apply_line("sql SERVER_A SELECT mirroring_state_desc FROM sys.database_mirroring")
    assert len(history.drill.hashes) == hashes
    assert len(moments) <= 2
    restored_drill = history.seek(550)
    history.apply_line("power-off SERVER_A")
    assert len(history.drill.hashes) == hashes + 1
    assert len(restored_drill.journal) == 5
    twin = build_drill()
    for item in history.drill.journal:
        twin.advance_to(item.tick)
        twin.apply_line(item.line_without_time)
    assert twin.compute_state_hash() == history.drill.compute_state_hash()
