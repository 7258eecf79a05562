"""Log chain and log size under random actions: the chain has no gap, and the log never exceeds its disk."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings, strategies

from engine.messages import SqlError
from engine.mirroring import commands
from engine.model import DbState, Role, World
from engine.protocol import backup, log_space, restore, serving, streams, volumes
from tests.engine.protocol.setups import DB, M, P, finish_statement, settle_and_run
from tests.engine.worlds import apply_lines, build_lab

ACTIONS = ("log", "full", "failover", "suspend", "resume", "power", "shrink", "fill", "force", "wait")
LOG_MAX_KB = 300.0 * 1024


def find_serving_server(world: World) -> str | None:
    return next((server for server in (P, M) if serving.is_serving(world, (server, DB))), None)


def apply_action(world: World, action: str) -> None:
    """Apply the action if the servers allow it."""
    server = find_serving_server(world)
    partner = M if server == P else P
    try:
        if action == "power":
            apply_lines(world, f"power-off {server or P}", wait_s=40.0)
            apply_lines(world, f"power-on {server or P}", wait_s=120.0)
        elif action == "force":
            apply_lines(world, f"cut {P} {M}", wait_s=20.0)
            apply_lines(
                world,
                f"sql {partner} ALTER DATABASE {DB} SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS",
                wait_s=30.0,
            )
            apply_lines(world, f"mend {P} {M}", wait_s=20.0)
        elif server is not None:
            _apply_action(world, server, action)
    except SqlError:
        pass  # the invariants must also hold after a refused statement
    settle_and_run(world, 25.0)


def _apply_action(world: World, server: str, action: str) -> None:
    if action in ("log", "full"):
        function = backup.back_up_log if action == "log" else backup.back_up_database
        finish_statement(world, server, function(world, server, DB, f"D:\\{action}.bak"))
    elif action == "fill":
        apply_lines(world, f"fill-log {DB}", wait_s=5.0)
        finish_statement(world, server, backup.back_up_log(world, server, DB, "D:\\log.bak"))
    elif action == "shrink":
        log_space.shrink_log(world, server, DB, 1.0)
    elif action != "wait":
        word = {"failover": "FAILOVER", "suspend": "SUSPEND", "resume": "RESUME"}[action]
        apply_lines(world, f"sql {server} ALTER DATABASE {DB} SET PARTNER {word}", wait_s=60.0)


def check_chain(world: World) -> None:
    for server in (P, M):
        copy = world.copies[server, DB]
        assert copy.log_size_kb <= LOG_MAX_KB + 1.0
        used = log_space.compute_used_kb(world, copy)
        assert -1e-6 <= used <= volumes.compute_log_capacity_kb(copy) + 1.0, (server, used)
        if copy.source is not None:
            assert copy.last_log_backup_kb <= streams.get_end_of_log_kb(world, copy) + 1e-6
        assert copy.log_start_kb <= streams.get_end_of_log_kb(world, copy) + 1e-6
    chain = sorted(
        (
            item
            for place in world.files
            for item in restore.list_backup_sets(world, *place)
            if item.kind == backup.LOG_BACKUP_KIND
        ),
        key=lambda item: item.id,
    )
    for backup_set, following in pairwise(chain):
        assert backup_set.first_kb <= backup_set.last_kb
        assert following.first_kb <= backup_set.last_kb + 1e-6, "a gap: log that is in no backup"


@given(
    actions=strategies.lists(strategies.sampled_from(ACTIONS), min_size=3, max_size=8),
    witness=strategies.booleans(),
)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_log_chain_and_log_size_stay_consistent(actions: list[str], witness: bool) -> None:
    world = build_lab(witness=witness)
    for server in (P, M):
        world.update_copy(
            (server, DB),
            size_kb=1e5,
            log_size_kb=LOG_MAX_KB / 3,
            log_max_kb=LOG_MAX_KB,
            log_backup_every_s=0.0,
        )
    for action in actions:
        apply_action(world, action)
        check_chain(world)
    fork = world.fork()
    settle_and_run(world, 30.0)
    settle_and_run(fork, 30.0)
    assert world.compute_state_hash() == fork.compute_state_hash()


def test_all_backups_of_two_servers_restore_a_database_in_sequence() -> None:
    world = build_lab()
    for server in (P, M):
        world.update_copy((server, DB), size_kb=1e5, log_backup_every_s=0.0)
    finish_statement(world, P, backup.back_up_database(world, P, DB, "D:\\full.bak"))
    for action in ("log", "failover", "log", "wait", "log", "power", "log"):
        apply_action(world, action)
    server_now = find_serving_server(world)
    assert server_now is not None
    apply_lines(world, *(f"copy-file {a} {b} D:\\log.bak" for a, b in ((P, "SERVER_W"),)), wait_s=10.0)
    finish_statement(world, P, commands.remove_session(world, server_now, DB))
    settle_and_run(world, 5.0)
    target = "SERVER_W"
    apply_lines(world, f"copy-file {P} {target} D:\\full.bak", wait_s=10.0)
    finish_statement(
        world, target, restore.restore_database(world, target, DB, "D:\\full.bak", recovery=False)
    )
    chain = sorted(
        ((backup_set.id, server, place) for server, path in world.files if path == "D:\\log.bak" and server != target
         for place, backup_set in enumerate(restore.list_backup_sets(world, server, path), start=1))
    )  # fmt: skip
    assert {server for _, server, _ in chain} == {P, M}, "both servers have taken log backups"
    for _, server, place in chain:
        path = f"\\\\{server}\\D$\\log.bak"
        finish_statement(
            world, target, restore.restore_log(world, target, DB, path, recovery=False, file=place)
        )
    last = restore.list_backup_sets(world, chain[-1][1], "D:\\log.bak")[-1]
    copy = world.copies[target, DB]
    assert (copy.db_state, copy.mirroring.role) == (DbState.RESTORING, None)
    assert copy.end_of_log_kb == last.last_kb
    assert Role.MIRROR not in {c.mirroring.role for c in world.copies.values()}
