"""Log flow to the secondaries of a group: memory, compression and redo, by version."""

from __future__ import annotations

import pytest

from engine.flow import StreamSetup
from engine.flow.places import count_group_threads, count_mirroring_threads
from engine.model import World
from engine.published.clusters import build_group_world
from tests.engine.availability.worlds import apply_lines, build_ag_lab, run_until


def _get_stream_setup(world: World, server: str) -> StreamSetup:
    stream = world.copies[server, "Sales"].stream
    assert stream is not None
    return world.flow.get_stream_setup(stream)


def _build_lab(version: int, *lines: str) -> World:
    world = build_ag_lab(version=version)
    apply_lines(world, *lines)
    run_until(world, 2)
    return world


def test_log_is_sent_from_the_log_pool_and_pages_are_written_at_checkpoints() -> None:
    assert _get_stream_setup(build_ag_lab(), "NODE_2").log_pool


@pytest.mark.parametrize(
    ("version", "line", "synchronous"),
    [(2014, "", True), (2016, "", False), (2016, "sql NODE_1 DBCC TRACEON (9592, -1)", True)],
)
def test_log_to_synchronous_secondaries_is_not_compressed_since_2016(
    version: int, line: str, synchronous: bool
) -> None:
    world = _build_lab(version, *filter(None, [line]))
    assert (_get_stream_setup(world, "NODE_2").compression_ratio < 1.0) is synchronous
    assert _get_stream_setup(world, "NODE_3").compression_ratio < 1.0


@pytest.mark.parametrize(("version", "threads"), [(2012, 1), (2014, 1), (2016, 4), (2022, 4)])
def test_redo_is_parallel_since_2016(version: int, threads: int) -> None:
    world = _build_lab(version)
    assert world.computers["NODE_2"].cores == 8
    assert _get_stream_setup(world, "NODE_2").redo_threads == threads


@pytest.mark.parametrize(
    ("version", "databases", "primary", "secondary"),
    [
        (2014, 10, 30, 10),  # each group has worker threads: one for capture, two for sending, one for redo
        (2016, 10, 30, 50),  # redo has a manager and four workers on eight cores
        (2016, 30, 90, 130),  # 25 databases have 100 workers; the other five have only a redo thread
    ],
)
def test_worker_threads_of_groups_follow_the_formula(
    version: int, databases: int, primary: int, secondary: int
) -> None:
    """Check documented behavior: [DOC: thread usage of groups]."""
    world = build_group_world(("auto", "auto", "async"), version=version, databases=databases, cores=8)
    threads = count_group_threads(world.flow.source_setups, world.flow.stream_setups)
    assert threads == {0: primary, 1: secondary, 2: secondary}
    assert count_mirroring_threads(world.flow.source_setups, world.flow.stream_setups) == {}
