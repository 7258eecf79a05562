"""Duration of crash recovery: log since the last checkpoint or the oldest open transaction."""

from __future__ import annotations

import pytest

from engine.flow.setup import Operation
from engine.protocol import clients, serving
from tests.engine.worlds import DB, PRINCIPAL, P, apply_lines, build_lab
from tests.events import read_field

CHECKPOINT = f"sql {P} USE {DB}; CHECKPOINT"
OPEN_TRANSACTION = f"open-transaction {DB}"


def _measure_recovery_s(
    line: str = "", *, stop: str = f"power-off {P}", edition: str = "Enterprise"
) -> float:
    """Return the time from the start of the instance to the opening of its database."""
    world = build_lab(witness=False)
    apply_lines(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER OFF", wait_s=1.0)
    world.update_instance(P, edition=edition)
    if line == "build":
        clients.begin_operation(world, PRINCIPAL, Operation("index build", 4_000_000.0, 5_000.0))
    apply_lines(world, line if line == OPEN_TRANSACTION else "note wait", wait_s=70.0)
    if line == CHECKPOINT:
        apply_lines(world, line, wait_s=0.1)
    apply_lines(world, stop, wait_s=20.0)
    events = apply_lines(world, f"power-on {P}", f"start-service {P}", wait_s=400.0)
    assert serving.is_serving(world, PRINCIPAL)
    running_s = [e.t_s for e in events if e.text == "SQL Server is running"]
    return next(e.t_s for e in events if "accepts connections" in str(e.text)) - running_s[-1]


def test_a_clean_stop_leaves_nothing_to_redo() -> None:
    assert _measure_recovery_s(stop=f"stop-service {P}") == pytest.approx(1.5, abs=0.02)


def test_a_crash_redoes_the_log_since_the_last_checkpoint() -> None:
    assert _measure_recovery_s(CHECKPOINT) + 1.0 < _measure_recovery_s() < 20.0


def test_nowait_writes_no_checkpoint() -> None:
    assert _measure_recovery_s(stop=f"sql {P} SHUTDOWN WITH NOWAIT") > 2.5


@pytest.mark.parametrize("stop", [f"power-off {P}", f"stop-service {P}"])
def test_recovery_begins_at_the_oldest_open_transaction(stop: str) -> None:
    assert _measure_recovery_s(OPEN_TRANSACTION, stop=stop) > _measure_recovery_s(stop=stop) + 1.5


def test_only_enterprise_edition_opens_the_database_before_the_undo() -> None:
    redo_s = _measure_recovery_s("build")
    assert _measure_recovery_s("build", edition="Standard") > 2.0 * redo_s


def test_a_database_in_recovery_cannot_be_altered_dropped_or_restored() -> None:
    world = build_lab(witness=False)
    apply_lines(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER OFF", OPEN_TRANSACTION, wait_s=300.0)
    apply_lines(world, f"power-off {P}", f"power-on {P}", wait_s=66.0)
    assert world.copies[PRINCIPAL].recovering
    for statement, number in (
        (f"ALTER DATABASE {DB} SET EMERGENCY", 5011),
        (f"DROP DATABASE {DB}", 3702),
        (f"RESTORE DATABASE {DB} WITH RECOVERY", 3101),
        (f"USE {DB}", 922),
    ):
        events = apply_lines(world, f"sql {P} {statement}", wait_s=0.5)
        done = next(event for event in events if event.kind == "sql_done")
        assert read_field(done, "messages")[0]["number"] == number
    apply_lines(world, "note wait", wait_s=60.0)
    assert serving.is_serving(world, PRINCIPAL)
