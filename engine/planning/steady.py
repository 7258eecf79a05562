"""Where the flow model comes to rest: the figures of a plan after everything has settled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Final

from engine.constants import TICKS_PER_S
from engine.flow import Flow, Mode, RowSetup, Totals, run
from engine.flow.derive import handling_ms, link_kb_per_s, session_kb_per_s
from engine.flow.setup import wire_ratio

ROWS_AT_ONCE: Final = 25
"""Rows of one flow. They share nothing; more would only make adding them slower."""

LOOK_S: Final = 10.0
"""Rates are compared over at least this time."""

LOSSY_LOOK_S: Final = 80.0
"""The same on a link that loses packets. Such a row never stands still: one look must do."""

SAME: Final = 1e-4
"""Rest: throughput and sending change by less than this share from one look to the next."""

LOOKS_MAX: Final = 12
"""Looks after which a row is taken as it is, so that no plan can hold up a window."""

BACKLOG_KB: Final = 1e9
"""A queue that does not end while it is looked at."""


@dataclass(frozen=True)
class Steady:
    """Figures of one plan at rest. Queues that grow have a rate of growth instead of a size."""

    transactions_per_s: float
    response_s: float  # of a business transaction, as the workload's clients count
    commit_delay_ms: float  # a commit's wait for disk and, in FULL, for the mirror
    log_kb_per_s: float
    sent_kb_per_s: float  # log, not wire bytes
    send_queue_growth_kb_per_s: float
    redo_kb_per_s: float
    redo_queue_growth_kb_per_s: float
    unhardened_kb: float  # committed at the principal and not on the mirror's disk, at the end
    redo_queue_kb: float  # at the end
    link_use_percent: float  # wire bytes with Ethernet and TCP headers
    principal_cpu_percent: float
    mirror_cpu_percent: float


COLUMNS: Final = tuple(field.name for field in fields(Steady))
"""What a sweep can be asked for."""


@lru_cache(maxsize=64)
def steady(setups: tuple[RowSetup, ...], behind: str = "") -> tuple[Steady, ...]:
    """Each setup run alone until it is at rest.

    *behind* "send" gives every mirror an endless send queue first, "redo" an endless redo queue: what a
    backlog is worked off with. Asked again, the answer comes from memory.
    """
    found: list[Steady] = []
    for first in range(0, len(setups), ROWS_AT_ONCE):
        found += _at_rest(setups[first : first + ROWS_AT_ONCE], behind)
    return tuple(found)


def _at_rest(setups: Sequence[RowSetup], behind: str) -> list[Steady]:
    """All *setups* as rows of one flow; a row is read when it has come to rest, the last ones wait for it."""
    flow = Flow.empty()
    for number, setup in enumerate(setups):
        mirror = 2 * number + 1 if setup.mirror_host >= 0 else -1
        flow.add_row(replace(setup, host=2 * number, mirror_host=mirror))
    look_s = max(_look_s(setup) for setup in setups)
    looks = LOOKS_MAX if all(setup.loss == 0.0 for setup in setups) else 1
    run(flow, round(look_s * TICKS_PER_S))
    if behind:
        _fall_behind(flow, behind)
        run(flow, round(look_s * TICKS_PER_S))
    before: list[Steady] = []
    for _ in range(looks):
        now = list(_look(flow, setups, look_s))
        if before and all(_same(a, b) for a, b in zip(before, now, strict=True)):
            break
        before = now
    return now


def _look_s(setup: RowSetup) -> float:
    """Several times the longest delay that the row knows: thinking, and a window on its way."""
    if setup.mode is Mode.NONE:
        return max(LOOK_S, setup.workload.think_s)
    way_s = (setup.rtt_ms + handling_ms(setup)) / 1000.0
    way_s += setup.site.send_window_kb / link_kb_per_s(setup)
    least = LOSSY_LOOK_S if setup.loss > 0.0 else LOOK_S
    return max(least, setup.workload.think_s, 3.0 * way_s)


def _fall_behind(flow: Flow, behind: str) -> None:
    """Moves the log of every row ahead of the mirror, or of what the mirror has redone."""
    ahead = ["generated_kb", "flushed_kb", "committed_kb"]
    if behind == "redo":
        ahead += ["sent_kb", "received_kb", "hardened_kb", "acknowledged_kb"]
    for row in range(len(flow.setups)):
        at = flow.positions(row)
        flow.set_positions(row, **{name: getattr(at, name) + BACKLOG_KB for name in ahead})


def _look(flow: Flow, setups: Sequence[RowSetup], seconds: float) -> Iterator[Steady]:
    """Exact means of every row over the next *seconds*."""
    rows = range(len(setups))
    before = [(flow.totals(row), flow.positions(row)) for row in rows]
    run(flow, round(seconds * TICKS_PER_S))
    for row, (then, was) in zip(rows, before, strict=True):
        setup, now, at = setups[row], flow.totals(row), flow.positions(row)
        mirrored = setup.mode is not Mode.NONE
        transactions = now.transactions - then.transactions
        sent = (now.sent_kb - then.sent_kb) / seconds
        unsent = (at.flushed_kb - at.sent_kb) - (was.flushed_kb - was.sent_kb)
        undone = (at.hardened_kb - at.redone_kb) - (was.hardened_kb - was.redone_kb)
        yield Steady(
            transactions_per_s=transactions / seconds,
            response_s=_each(now.inside_s - then.inside_s, transactions)
            * setup.workload.transactions_per_business_transaction,
            commit_delay_ms=1000.0 * _each(now.waiting_s - then.waiting_s, transactions),
            log_kb_per_s=(now.generated_kb - then.generated_kb) / seconds,
            sent_kb_per_s=sent,
            send_queue_growth_kb_per_s=_settled(unsent / seconds, sent) if mirrored else 0.0,
            redo_kb_per_s=(now.redone_kb - then.redone_kb) / seconds,
            redo_queue_growth_kb_per_s=_settled(undone / seconds, sent) if mirrored else 0.0,
            unhardened_kb=max(0.0, at.committed_kb - at.hardened_kb) if mirrored else at.committed_kb,
            redo_queue_kb=at.hardened_kb - at.redone_kb,
            link_use_percent=_link_use_percent(setup, sent) if mirrored else 0.0,
            principal_cpu_percent=_cpu_percent(setup, then, now, "principal_core_s", seconds),
            mirror_cpu_percent=_cpu_percent(setup, then, now, "mirror_core_s", seconds),
        )


def _each(total: float, count: float) -> float:
    return total / count if count > 0.0 else float("inf") if total > 0.0 else 0.0


def _settled(growth: float, flow: float) -> float:
    """A queue that changes by less than a thousandth of what passes it stands still."""
    return growth if abs(growth) > 1e-3 * flow else 0.0


def _link_use_percent(setup: RowSetup, sent_kb_per_s: float) -> float:
    ratio = wire_ratio(setup.compression_ratio, setup.version)
    return 100.0 * sent_kb_per_s * ratio / link_kb_per_s(setup)


def _cpu_percent(setup: RowSetup, then: Totals, now: Totals, side: str, seconds: float) -> float:
    used: float = getattr(now, side) - getattr(then, side)
    return 100.0 * used / seconds / setup.site.cores


def _same(one: Steady, other: Steady) -> bool:
    pairs = ((getattr(one, name), getattr(other, name)) for name in _WATCHED)
    return all(abs(a - b) <= SAME * max(abs(a), abs(b)) for a, b in pairs)


_WATCHED: Final = ("transactions_per_s", "response_s", "sent_kb_per_s")


def send_limit_kb_per_s(setup: RowSetup) -> float:
    """Log that the session can send at most: a window each round trip, or what the link carries."""
    return session_kb_per_s(setup) / wire_ratio(setup.compression_ratio, setup.version)
