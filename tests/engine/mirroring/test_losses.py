"""Lost commits: counted once, when the only copy that has them is discarded."""

from __future__ import annotations

from engine.model import World
from tests.engine.worlds import DB, PRINCIPAL, M, P, apply_lines, build_lab
from tests.events import read_field


def build_split_brain() -> World:
    """Return a world in which service was forced while the old principal continues to serve for a minute."""
    world = build_lab(witness=False)
    apply_lines(world, f"cut {P} {M}", wait_s=10.0)
    apply_lines(world, f"sql {M} ALTER DATABASE {DB} SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS", wait_s=60.0)
    return world


def count_lost_transactions(world: World) -> int:
    return world.availability[DB].lost_transactions


def test_a_forced_failover_counts_the_missing_transactions() -> None:
    world = build_split_brain()
    assert count_lost_transactions(world) > 1_000
    assert world.failovers[0].lost_transactions == count_lost_transactions(world)


def test_dropping_the_old_copy_counts_its_later_commits() -> None:
    world = build_split_brain()
    forced = count_lost_transactions(world)
    apply_lines(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER OFF", f"point-app APP {M}", wait_s=5.0)
    events = apply_lines(world, f"sql {P} DROP DATABASE {DB}", wait_s=1.0)
    assert PRINCIPAL not in world.copies
    assert count_lost_transactions(world) > forced + 5_000
    loss_events = [event for event in events if read_field(event, "lost_transactions")]
    assert [event.server for event in loss_events] == [P]
    assert f"only {P} had them" in loss_events[0].text


def test_restoring_over_the_old_copy_counts_the_same() -> None:
    world = build_split_brain()
    forced = count_lost_transactions(world)
    apply_lines(
        world,
        f"sql {P} ALTER DATABASE {DB} SET PARTNER OFF",
        f"point-app APP {M}",
        f"mend {P} {M}",
        wait_s=5.0,
    )
    backup = f"\\\\{P}\\Backup\\new.bak"
    apply_lines(world, f"sql {M} BACKUP DATABASE {DB} TO DISK = '{backup}'", wait_s=600.0)
    assert count_lost_transactions(world) == forced
    restore = "FROM DISK = 'D:\\Backup\\new.bak' WITH REPLACE, NORECOVERY"
    apply_lines(world, f"sql {P} RESTORE DATABASE {DB} {restore}", wait_s=600.0)
    assert count_lost_transactions(world) > forced + 5_000


def test_resume_after_forced_service_counts_nothing_twice() -> None:
    world = build_lab(witness=False)
    apply_lines(world, f"cut {P} {M}", wait_s=10.0)
    apply_lines(world, f"power-off {P}", wait_s=5.0)
    apply_lines(world, f"sql {M} ALTER DATABASE {DB} SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS", wait_s=60.0)
    forced = count_lost_transactions(world)
    apply_lines(world, f"power-on {P}", f"mend {P} {M}", wait_s=90.0)
    apply_lines(world, f"sql {M} ALTER DATABASE {DB} SET PARTNER RESUME", wait_s=60.0)
    assert forced > 0
    assert count_lost_transactions(world) == forced
