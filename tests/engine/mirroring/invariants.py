"""Invariants that hold in every mirroring world, after any inputs."""

from __future__ import annotations

from engine.mirroring import quorum
from engine.model import World
from engine.protocol import serving

ROUNDING_KB = 1e-6
"""Maximum rounding difference of floating-point sums."""


def check_invariants(world: World, *, has_witness: bool, is_safe: bool) -> int:
    """Assert the invariants of all databases; return the number of tested statements.

    *has_witness*: every session still has its witness. *is_safe*: no input forced service, removed
    mirroring or turned safety off.
    """
    checked = 0
    if has_witness and is_safe:
        leaders: dict[str, list[str]] = {}
        for key in world.copies:
            if serving.is_serving(world, key):
                leaders.setdefault(key[1], []).append(key[0])
        for database, servers in leaders.items():
            assert len(servers) <= 1, f"two copies of {database} serve: {servers}"
        checked += len(world.availability)
    if is_safe:
        for account in world.availability.values():
            assert account.lost_transactions == 0, f"an acknowledged commit of {account.database} is lost"
        checked += len(world.availability)
    for source in world.sources:
        checked += _check_log(world, source)
    for copy in world.copies.values():
        assert (
            (copy.mirroring.guid is None) == (copy.mirroring.role is None) == (copy.mirroring.state is None)
        )
    return checked + len(world.copies)


def _check_log(world: World, source: int) -> int:
    """Assert that log is conserved: a receiver's missing log is in the send queue or in transit, and no queue
    is negative.
    """
    owner, log = world.sources[source], world.flow.read_source_positions(source)
    assert log.generated_kb >= log.flushed_kb - ROUNDING_KB
    assert log.flushed_kb >= 0.0
    assert world.copies[owner].source == source
    assert world.copies[owner].stream is None
    checked = 4
    for stream in world.flow.list_source_streams(source):
        receiver = world.streams[stream]
        if receiver is None:
            continue
        log_positions, reading = world.flow.read_stream_positions(stream), world.flow.read_stream(stream)
        assert world.copies[receiver].stream == stream
        assert log_positions.sent_kb >= log_positions.received_kb - ROUNDING_KB
        assert log_positions.received_kb >= log_positions.hardened_kb - ROUNDING_KB, (
            "more is on the mirror's disk than has arrived"
        )
        assert log_positions.hardened_kb >= log_positions.redone_kb - ROUNDING_KB, (
            "the redo queue is below zero"
        )
        assert reading.send_queue_kb >= -ROUNDING_KB
        assert reading.redo_queue_kb >= -ROUNDING_KB
        if quorum.is_connected_to_partner(world, world.copies[owner]):
            assert log.generated_kb - log_positions.hardened_kb >= -ROUNDING_KB, (
                "the mirror has log that nobody has generated"
            )
        checked += 7
    return checked
