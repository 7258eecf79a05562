"""Redo of a mirror: operations other than page changes, and obstacles such as a missing drive or a damaged
page.
"""

from __future__ import annotations

import pytest

from engine.mirroring import commands, pages
from engine.model import MirrorState, Role, Volume, World
from engine.protocol import database_files, log_space
from tests.engine.protocol.setups import DB, MIRROR, PRINCIPAL, M, P, get_refusal_number, settle_and_run
from tests.engine.worlds import apply_lines, build_lab
from tests.events import read_field

SUSPENDED, SYNCHRONIZED = MirrorState.SUSPENDED, MirrorState.SYNCHRONIZED


def list_session_states(world: World) -> tuple[MirrorState | None, MirrorState | None]:
    return world.copies[PRINCIPAL].mirroring.state, world.copies[MIRROR].mirroring.state


def list_message_numbers(world: World, server: str, seconds: float) -> list[int]:
    return [
        read_field(e, "number")
        for e in settle_and_run(world, seconds)
        if e.kind == "errorlog" and e.server == server
    ]


def add_file_on_new_drive(world: World) -> None:
    world.update_computer(P, volumes=(Volume(letter="E", size_kb=1e6),))
    log_space.add_file(world, P, DB, "more", "E:\\Data\\more.ndf", 1024.0)


def test_a_file_on_a_missing_mirror_drive_suspends_the_session() -> None:
    # [WP, preparing the mirror for failover]
    world = build_lab()
    add_file_on_new_drive(world)
    events = settle_and_run(world, 10.0)
    assert list_session_states(world) == (SUSPENDED, SUSPENDED)
    lines = {server: [read_field(e, "number") for e in events if e.kind == "errorlog" and e.server == server]
             for server in (P, M)}  # fmt: skip
    assert lines == {P: [1453, 1442], M: [5123, 1454, 1442]}
    assert [read_field(e, "state") for e in events if e.kind == "trace" and e.server == M] == [9]
    assert get_refusal_number(commands.resume_session, world, P, DB) == 1462
    apply_lines(world, f"power-off {P}", wait_s=30.0)
    assert world.copies[MIRROR].mirroring.role is Role.MIRROR, "no failover to a copy that could not redo"
    assert get_refusal_number(commands.force_service, world, M, DB) == 1406


def test_resume_continues_after_the_drive_is_added() -> None:
    world = build_lab()
    add_file_on_new_drive(world)
    settle_and_run(world, 10.0)
    apply_lines(world, f"add-drive {M} e size_gb=10")
    commands.resume_session(world, P, DB)
    settle_and_run(world, 20.0)
    assert list_session_states(world) == (SYNCHRONIZED, SYNCHRONIZED)
    assert [file.name for file in world.copies[MIRROR].extra_files] == ["more"]
    apply_lines(world, f"power-off {P}", wait_s=30.0)
    assert [file.name for file in world.copies[MIRROR].extra_files] == ["more"]
    assert world.copies[MIRROR].mirroring.role is Role.PRINCIPAL


def test_a_mirror_without_space_for_log_growth_suspends_the_session() -> None:
    world = build_lab()
    world.update_computer(M, volumes=(Volume(letter="L", size_kb=5.0 * 1024**2),))
    database_files.modify_file(world, P, DB, "Sales_log", size_kb=8.0 * 1024**2)
    assert 5149 in list_message_numbers(world, M, 10.0)
    assert list_session_states(world) == (SUSPENDED, SUSPENDED)
    assert get_refusal_number(commands.resume_session, world, P, DB) == 1462
    apply_lines(world, f"grow-volume {M} L size_gb=20")
    assert get_refusal_number(commands.resume_session, world, P, DB) == 0


def test_a_file_added_during_the_mirrors_absence_stops_redo_later() -> None:
    world = build_lab(witness=False)
    apply_lines(world, f"power-off {M}", wait_s=5.0)
    add_file_on_new_drive(world)
    settle_and_run(world, 30.0)
    assert list_session_states(world)[0] is MirrorState.DISCONNECTED
    apply_lines(world, f"power-on {M}", wait_s=180.0)
    assert list_session_states(world) == (SUSPENDED, SUSPENDED)


# --- damaged pages ---------------------------------------------------------------------------------


def build_2008_world() -> World:
    world = build_lab()
    for name in list(world.instances):
        world.update_instance(name, version=2008)
    return world


def list_statuses(world: World, key: tuple[str, str]) -> list[tuple[int, int]]:
    return [(row.page, row.status) for row in world.copies[key].page_repairs]


def test_the_principal_gets_an_intact_page_from_the_mirror() -> None:
    world = build_2008_world()
    events = apply_lines(world, f"corrupt-page {P} {DB} page=77", wait_s=10.0)
    lines = [read_field(e, "number") for e in events if e.kind == "errorlog" and e.server == P]
    assert lines == [824, 1432, 1461]
    assert list_statuses(world, PRINCIPAL) == [(77, 5)]
    assert world.copies[PRINCIPAL].bad_pages == ()
    assert list_session_states(world) == (SYNCHRONIZED, SYNCHRONIZED)


def test_the_mirror_suspends_during_page_repair_and_continues() -> None:
    world = build_2008_world()
    events = apply_lines(world, f"corrupt-page {M} {DB} page=77", wait_s=30.0)
    moves = [e.text for e in events if e.kind == "state" and e.server == M]
    assert moves == [
        "SYNCHRONIZED -> SUSPENDED",
        "SUSPENDED -> SYNCHRONIZING",
        "SYNCHRONIZING -> SYNCHRONIZED",
    ]
    assert list_statuses(world, MIRROR) == [(77, 5)]


def test_a_page_that_could_not_be_repaired_while_suspended_is_repaired_at_the_next_read() -> None:
    world = build_2008_world()
    commands.suspend_session(world, P, DB)
    apply_lines(world, f"corrupt-page {P} {DB} page=77", wait_s=90.0)
    assert (world.copies[PRINCIPAL].bad_pages, list_statuses(world, PRINCIPAL)) == ((77,), [])
    commands.resume_session(world, P, DB)
    settle_and_run(world, 70.0)
    assert (world.copies[PRINCIPAL].bad_pages, list_statuses(world, PRINCIPAL)) == ((), [(77, 5)])


def run_checkdb(world: World) -> list[int]:
    """Return the error numbers of DBCC CHECKDB on the principal after it has read all pages.

    The database has no allocation errors.
    """
    world.update_copy(PRINCIPAL, size_kb=1024.0)
    done_events = [
        event for event in apply_lines(world, f"sql {P} DBCC CHECKDB ('{DB}')") if event.kind == "sql_done"
    ]
    messages = read_field(done_events[0], "messages")
    assert "found 0 allocation errors and" in next(m["text"] for m in messages if m["number"] == 8989)
    return [message["number"] for message in messages]


@pytest.mark.parametrize("page", pages.UNREPAIRABLE_PAGES)
def test_header_and_boot_page_cannot_be_repaired(page: int) -> None:
    world = build_2008_world()
    events = apply_lines(world, f"corrupt-page {P} {DB} page={page}", wait_s=10.0)
    assert list_statuses(world, PRINCIPAL) == [(page, 6)]
    assert 1481 in [read_field(e, "number") for e in events if e.kind == "errorlog"]
    assert run_checkdb(world) == [8928, 8939, 8989, 8958, 2528]


def test_version_2005_repairs_nothing() -> None:
    world = build_lab()
    apply_lines(world, f"corrupt-page {P} {DB} page=77", wait_s=10.0)
    assert world.copies[PRINCIPAL].bad_pages == (77,)
    assert list_statuses(world, PRINCIPAL) == []
    apply_lines(world, f"mend-page {P} {DB}")
    assert run_checkdb(world) == [8989, 2528]
    assert world.faults[0].reverted_tick is not None


def test_a_damaged_page_on_a_2005_mirror_stops_redo_until_repaired() -> None:
    world = build_lab()
    apply_lines(world, f"corrupt-page {M} {DB} page=77", wait_s=10.0)
    assert list_session_states(world) == (SUSPENDED, SUSPENDED)
    assert world.faults[0].effect == "the damaged page was read"
    assert get_refusal_number(commands.resume_session, world, P, DB) == 1462
    apply_lines(world, f"mend-page {M} {DB}")
    commands.resume_session(world, P, DB)
    settle_and_run(world, 20.0)
    assert list_session_states(world) == (SYNCHRONIZED, SYNCHRONIZED)


def test_checkdb_is_refused_on_mirrors() -> None:
    assert get_refusal_number(pages.start_checkdb, build_lab(), M, DB) == 954
