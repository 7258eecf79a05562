"""Where the protocol meets the flow model: which copy owns which row, and under what circumstances."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from engine import arithmetic, flow
from engine.flow import Crossing, Mode, RowSetup, recovery
from engine.flow.setup import Site, Workload
from engine.flow.sites import SITES, WORKLOADS
from engine.model import Copy, Key, MirrorState, RecoveryModel, Safety, Service, World
from engine.protocol import lineage, network, quorum, security, volumes

TRACE_FLAG_NO_COMPRESSION = 1462
"""Turns compression of the log stream off, globally and at once. Documented [DOC]."""


def add_row(world: World, key: Key, at_kb: float) -> int:
    """Give the copy a row of its own, its log ending at *at_kb*."""
    _leave_path(world, key, at_kb)
    row = world.flow.add_row(_setup(world, key, None))
    world.rows[row] = (key, None)
    world.flow.set_positions(row, **_all_at(at_kb))
    world.update_copy(key, row=row, log_start_kb=min(at_kb, world.copies[key].log_start_kb))
    return row


def _leave_path(world: World, key: Key, at_kb: float) -> None:
    """A log that is written on from *at_kb*, with commits beyond that it never hardened, is another from there on."""
    copy = world.copies[key]
    latest = world.commits.get((copy.family, copy.lineage[-1][0]))
    if latest is not None and latest.kb > at_kb:
        world.update_copy(key, lineage=lineage.branch(world, copy.lineage, at_kb))


def remove_row(world: World, row: int) -> None:
    """The copies of *row* stand still from now on; what they have reached is noted in them."""
    owner, mirror = world.rows[row]
    if mirror is not None:
        detach_mirror(world, row)
    at = world.flow.positions(row)
    world.update_copy(
        owner, row=None, end_of_log_kb=at.flushed_kb, redone_kb=at.flushed_kb, committed_kb=at.committed_kb
    )
    del world.rows[row]
    world.setups.pop(row, None)
    world.dirty.discard(row)
    world.flow.remove_row(row)


def attach_mirror(world: World, row: int, mirror: Key) -> None:
    """The copy *mirror* receives the log of *row* from where it stands."""
    owner, _ = world.rows[row]
    copy = world.copies[mirror]
    assert copy.row is None, f"{mirror} already has a row"
    end = copy.end_of_log_kb
    world.flow.set_positions(
        row,
        sent_kb=end,
        received_kb=end,
        hardened_kb=end,
        acknowledged_kb=end,
        redone_kb=min(copy.redone_kb, end),
    )
    world.rows[row] = (owner, mirror)
    world.update_copy(mirror, row=row)


def detach_mirror(world: World, row: int) -> None:
    """The mirror of *row* keeps what it has hardened and redone; the row goes on alone."""
    owner, mirror = world.rows[row]
    if mirror is None:
        return
    at = world.flow.positions(row)
    world.update_copy(
        mirror, row=None, end_of_log_kb=at.hardened_kb, redone_kb=at.redone_kb, committed_kb=0.0
    )
    world.rows[row] = (owner, None)
    world.dirty.add(row)


def crash(world: World, row: int) -> None:
    """The owner of *row* is gone: what it had not written is lost here, though the mirror may have it already.

    Under FULL log leaves while it is being written; nobody has been told of commits in such log.
    """
    at = world.flow.positions(row)
    world.flow.set_positions(row, generated_kb=max(at.flushed_kb, at.received_kb), sent_kb=at.received_kb)


def restart(world: World, row: int) -> None:
    """The owner of *row* is back with the log that it had written; the mirror gives up what goes beyond it."""
    at = world.flow.positions(row)
    world.flow.set_positions(row, generated_kb=at.flushed_kb)
    resend(world, row)
    owner, mirror = world.rows[row]
    _leave_path(world, owner, at.flushed_kb)
    if mirror is not None:
        world.update_copy(mirror, lineage=world.copies[owner].lineage)


def resend(world: World, row: int) -> None:
    """What was on its way when the connection broke is sent again."""
    at = world.flow.positions(row)
    end = min(at.hardened_kb, at.flushed_kb)
    world.flow.set_positions(
        row,
        sent_kb=end,
        received_kb=end,
        hardened_kb=end,
        acknowledged_kb=end,
        redone_kb=min(at.redone_kb, end),
    )


def take_over(world: World, row: int) -> None:
    """The mirror of *row* owns its log from now on, which ends where it has hardened it.

    An old owner that still serves (service was forced while it lives) keeps the row; else its log stands still.
    """
    owner, mirror = world.rows[row]
    assert mirror is not None, f"row {row} has no mirror"
    at = world.flow.positions(row)
    if quorum.opens(world, owner):
        detach_mirror(world, row)
        add_row(world, mirror, at.hardened_kb)
        return
    world.update_copy(
        owner, row=None, end_of_log_kb=at.flushed_kb, redone_kb=at.flushed_kb, committed_kb=at.committed_kb
    )
    world.rows[row] = (mirror, None)
    world.flow.set_positions(row, **_all_at(at.hardened_kb))
    world.dirty.add(row)


def _all_at(kb: float) -> dict[str, float]:
    names = ("generated_kb", "flushed_kb", "sent_kb", "received_kb", "hardened_kb", "acknowledged_kb",
             "redone_kb", "committed_kb")  # fmt: skip
    return dict.fromkeys(names, kb)


def end_of_log_kb(world: World, copy: Copy) -> float:
    """End of the log that the copy has hardened."""
    if copy.row is None:
        return copy.end_of_log_kb
    at = world.flow.positions(copy.row)
    return at.flushed_kb if world.rows[copy.row][0] == (copy.server, copy.database) else at.hardened_kb


def redone_kb(world: World, copy: Copy) -> float:
    """Up to where the data of the copy follow its log: all of it, or what a mirror has redone."""
    if copy.row is None:
        return copy.redone_kb
    at = world.flow.positions(copy.row)
    return at.generated_kb if world.rows[copy.row][0] == (copy.server, copy.database) else at.redone_kb


def committed_kb(world: World, copy: Copy) -> float:
    """End of the last commit that clients of this copy were told of."""
    if copy.row is not None and world.rows[copy.row][0] == (copy.server, copy.database):
        return world.flow.positions(copy.row).committed_kb
    return copy.committed_kb


def workload_of(copy: Copy) -> Workload:
    return WORKLOADS[copy.workload]


def under_load(copy: Copy) -> bool:
    """Clients work in the database (the column of Table 6 that applies)."""
    return workload_of(copy).connections * copy.scale >= 1.0


def refresh(world: World) -> None:
    """Tell the flow model of every row whose circumstances have changed."""
    for row in sorted(world.dirty):
        if row not in world.rows:
            continue
        owner, mirror = world.rows[row]
        setup = _setup(world, owner, mirror)
        before = world.setups.get(row)
        if before != setup:
            if before is not None and before.serving and not setup.serving:
                world.update_copy(owner, open_log_kb=recovery.open_log_kb(world.flow, row))
            world.setups[row] = setup
            world.flow.setup(row, setup)
        world.flow.watch(row, _watched(world, owner, setup))
        world.flow.set_log_reuse_kb(row, log_reuse_kb(world, world.copies[owner], row))
    world.dirty.clear()


def log_reuse_kb(world: World, copy: Copy, row: int) -> float:
    """Up to here the log file may be reused."""
    return min(position for _, position in log_holds(world, copy, row))


def log_holds(world: World, copy: Copy, row: int) -> list[tuple[str, float]]:
    """What keeps log from being reused, under its log_reuse_wait_desc, and from which position on. Facts 6.5."""
    at = world.flow.positions(row)
    holds = [("NOTHING", at.flushed_kb)]
    if copy.full_backup and copy.recovery_model is not RecoveryModel.SIMPLE:
        holds.append(("LOG_BACKUP", copy.last_log_backup_kb))
    if copy.backup_from_kb is not None:
        holds.append(("ACTIVE_BACKUP_OR_RESTORE", copy.backup_from_kb))
    held = [kb for _, kb, _ in copy.window_transactions]
    held += [copy.active_from_kb] if copy.active_from_kb is not None else []
    if held:
        holds.append(("ACTIVE_TRANSACTION", min(held)))
    if copy.guid is not None:
        mirror = world.rows[row][1]
        hardened = at.hardened_kb if mirror is not None else _partner_end_kb(world, copy)
        holds.append(("DATABASE_MIRRORING", hardened))
    return holds


def _partner_end_kb(world: World, copy: Copy) -> float:
    partner = world.copies.get((copy.partner or "", copy.database))
    return end_of_log_kb(world, partner) if partner else copy.last_log_backup_kb


def _watched(world: World, owner: Key, setup: RowSetup) -> Crossing:
    copy = world.copies[owner]
    wanted = Crossing(0)
    if copy.mirror_state is MirrorState.SYNCHRONIZING and setup.connected and setup.carrying:
        wanted |= Crossing.SEND_DONE
    running = world.failover_under_way(copy.guid)
    if running is not None and running.redo_done_tick is None:
        wanted |= Crossing.REDO_DONE
    if not copy.log_full:
        wanted |= Crossing.LOG_FULL
    if copy.operation is not None:
        wanted |= Crossing.OPERATION_DONE
    return wanted


def _catching_up(copy: Copy) -> bool:
    """While SYNCHRONIZING nobody waits for the mirror, until the last of the backlog. Facts 3.1: serves, exposed."""
    return copy.mirror_state is MirrorState.SYNCHRONIZING and copy.closing_kb is None


def _setup(world: World, owner: Key, mirror: Key | None) -> RowSetup:
    copy = world.copies[owner]
    server = world.servers[copy.server]
    clients = _has_clients(world, copy)
    alone = RowSetup(
        site=_site(server.site, server.cores, server.max_worker_threads),
        workload=workload_of(copy),
        scale=copy.scale if clients or copy.operation is None else 0.0,
        host=server.host,
        alive=server.service in (Service.RUNNING, Service.STOPPING) and not server.hung,
        serving=quorum.serves(world, owner) and (clients or copy.operation is not None),
        version=server.version,
        enterprise=server.edition != "Standard",
        log_size_kb=volumes.log_room_kb(copy),
        log_max_kb=volumes.log_room_kb(copy),  # as it stands: `logspace` has it grow
        delayed_durability=copy.delayed_durability == 2,
        operation=copy.operation,
        log_disk_factor=server.log_disk_factor,
        data_disk_factor=server.data_disk_factor,
        cpu_factor=server.cpu_factor,
    )
    if mirror is None and copy.guid is not None:
        # Nobody receives its log, but it waits to be sent: that is the send queue.
        return replace(alone, mode=Mode.OFF, connected=False, sending=False)
    if mirror is None:
        return alone
    other = world.copies[mirror]
    peer = world.servers[other.server]
    path = network.link(world, copy.server, other.server)
    suspended = MirrorState.SUSPENDED in (copy.mirror_state, other.mirror_state)
    sending = quorum.sees_partner(world, copy) and not suspended
    waiting = quorum.awaits_consent(world, copy)
    compressed = server.version >= 2008 and TRACE_FLAG_NO_COMPRESSION not in server.trace_flags
    return replace(
        alone,
        mirror_host=peer.host,
        mirror_alive=peer.answering,
        mode=Mode.FULL if copy.safety is Safety.FULL and not _catching_up(copy) else Mode.OFF,
        connected=sending or waiting,
        carrying=sending
        and server.answering
        and peer.answering
        and network.passing(world, copy.server, other.server),
        sending=sending or waiting,
        redoing=peer.answering and not other.redo_failed and (not suspended or _forced(world, other)),
        rtt_ms=path.rtt_ms,
        jitter_ms=path.jitter_ms,
        loss=path.loss,
        bandwidth_mbps=_bandwidth_left_mbps(world, copy.server, other.server, path.bandwidth_mbps),
        compression_ratio=copy.compression_ratio if compressed else 1.0,
        encryption=security.encrypted(world, copy.server, other.server),
        mirror_log_disk_factor=peer.log_disk_factor,
        mirror_data_disk_factor=peer.data_disk_factor,
        mirror_cpu_factor=peer.cpu_factor,
    )


def _forced(world: World, mirror: Copy) -> bool:
    """Service is being forced to *mirror*: it redoes what it has, though the session was suspended."""
    running = world.failover_under_way(mirror.guid)
    return running is not None and running.kind == "forced" and running.to_server == mirror.server


MBPS_PER_KB_PER_S = 8.0 * 1024.0 / 1e6


def _bandwidth_left_mbps(world: World, a: str, b: str, bandwidth_mbps: float) -> float:
    """What copies of files leave of the link from *a* to *b*; streams share it fairly, mirroring is one of them."""
    rates = [rate for x, y, rate in world.transfers.values() if (x, y) == (a, b)]
    if not rates:
        return bandwidth_mbps
    return max(
        bandwidth_mbps / (1 + len(rates)), bandwidth_mbps - arithmetic.total(rates) * MBPS_PER_KB_PER_S
    )


@cache
def _site(name: str, cores: int, worker_threads: int) -> Site:
    """The hardware of that name with the server's cores and workers (0: automatic); one object for equal ones."""
    site = replace(SITES[name], cores=cores)
    return replace(site, worker_threads=worker_threads) if worker_threads else site


def _has_clients(world: World, copy: Copy) -> bool:
    """Some application is connected, or nobody has said which applications there are."""
    users = [client for client in world.clients.values() if copy.database in client.databases]
    return not users or any(client.connected_to == copy.server for client in users)


def warm_start(world: World) -> None:
    """Put every row where it would be after running for a long time."""
    refresh(world)
    for row in sorted(world.rows):
        world.flow.warm_start(row, world.chance.uniform())


run = flow.run
"""Advance the flow model; re-exported so that the simulator needs to know one place only."""
