"""Databases that statements create, use and drop."""

from __future__ import annotations

import pytest

from engine.mirroring import commands
from engine.model import DbState, MirrorState, World
from engine.protocol import backup, databases, restore
from tests.engine.protocol.setups import (
    DB,
    M,
    P,
    finish_statement,
    get_address,
    get_refusal_number,
    settle_and_run,
)
from tests.engine.worlds import apply_lines, build_lab


def test_a_new_database_can_be_mirrored() -> None:
    world = build_lab()
    databases.create_database(world, P, "Archive")
    assert get_refusal_number(backup.back_up_log, world, P, "Archive", "D:\\a.trn") == 4214
    finish_statement(world, P, backup.back_up_database(world, P, "Archive", "D:\\a.bak"))
    finish_statement(world, P, backup.back_up_log(world, P, "Archive", "D:\\a.trn"))
    apply_lines(world, f"copy-file {P} {M} D:\\a.bak", f"copy-file {P} {M} D:\\a.trn")
    finish_statement(world, M, restore.restore_database(world, M, "Archive", "D:\\a.bak", recovery=False))
    finish_statement(world, M, restore.restore_log(world, M, "Archive", "D:\\a.trn", recovery=False))
    commands.set_partner(world, M, "Archive", get_address(P))
    commands.set_partner(world, P, "Archive", get_address(M))
    settle_and_run(world, 10.0)
    assert world.copies[P, "Archive"].mirroring.state is MirrorState.SYNCHRONIZED
    assert world.copies[P, "Archive"].database_id == world.copies[P, DB].database_id + 1


def drop_database(world: World, name: str = DB) -> int:
    return get_refusal_number(databases.drop_database, world, P, name)


def test_databases_are_dropped() -> None:
    world = build_lab()
    commands.remove_session(world, P, DB)
    apply_lines(world, "stop-app APP")
    assert drop_database(world, "sales") == 0
    assert (P, DB) not in world.copies
    settle_and_run(world, 2000.0)  # timers of the dropped copy run without effect
    assert world.copies[M, DB].db_state is DbState.RESTORING
    assert [timer[3] for timer in world.timers if timer[2] == "log.backup"] == [(M, DB)]


@pytest.mark.parametrize("name", ["sales", "master"])
def test_a_database_name_must_be_unique(name: str) -> None:
    assert get_refusal_number(databases.create_database, build_lab(), P, name) == 1801


def test_databases_are_created_by_statement() -> None:
    world = build_lab()
    apply_lines(world, f"sql {P} CREATE DATABASE Archive", f"sql {P}#2 USE Archive", wait_s=1.0)
    assert (P, "Archive") in world.copies
    apply_lines(world, f"sql {P} DROP DATABASE Archive", wait_s=1.0)
    assert (P, "Archive") in world.copies, "the second window uses it"
    apply_lines(world, f"sql {P}#2 USE master", f"sql {P} DROP DATABASE Archive", wait_s=1.0)
    assert (P, "Archive") not in world.copies


def test_a_database_with_snapshots_is_not_dropped() -> None:
    world = build_lab()
    commands.remove_session(world, P, DB)
    apply_lines(world, "stop-app APP")
    apply_lines(
        world, f"sql {P} CREATE DATABASE Picture ON (NAME = {DB}, FILENAME = 'D:\\p.ss') AS SNAPSHOT OF {DB}"
    )
    assert drop_database(world) == 3709
    assert drop_database(world, "Picture") == 0
    assert drop_database(world) == 0
