"""Taking part in a class without a window: from the code to the last act that the host has acknowledged."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty
from typing import Final

from app.classroom.code import Invitation
from app.classroom.link import Link
from app.classroom.seat import AnotherPart, ClassOver, SeatRun, SentBack
from app.classroom.seat_log import Given, SeatLog, folder_of, given_by
from app.classroom.shapes import Instruction, SeatReport, Verdict
from app.words.language import tr

JOIN_S: Final = 60.0
"""Wall time in which the host has to answer a seat that does not know yet what is played."""
END_S: Final = 60.0
"""Wall time in which the host has to take the last acts and say what they come to."""

LOOK_S: Final = 0.05

Player = Callable[[SeatRun, int], None]
"""Plays a run to its end; the number: acts of its own that the log holds already."""


class NotJoined(Exception):
    """There is no seat for us; the text says why."""


@dataclass(frozen=True, slots=True)
class Attended:
    """What taking part came to."""

    report: SeatReport
    left: int
    """Acts that the host has not acknowledged; they are in the log's file."""
    has_host: bool
    """False: it was played without a network, and its log is to be handed in."""
    refused: str
    """Why the host would have nothing more of us."""
    file: str
    """The log, which can be handed in."""


def take_part(
    where: Invitation | Given,
    name: str,
    player: Player,
    speed: float | None,
    show: Callable[[Instruction], object],
    consent: bool = False,
) -> Attended:
    """Play a seat of the class from its beginning, or from where it was; with what was handed out, without a network.
    Raises NotJoined, NoLog."""
    kept = SeatLog(folder_of(where), name)
    try:
        while True:
            link = Link(where, kept, consent)
            link.start()
            try:
                return _attended(kept, link, player, speed, show)
            except AnotherPart as other:
                part = other.part
            finally:
                link.end()
            kept.turn_to(part)
    finally:
        kept.close()


def _attended(
    kept: SeatLog, link: Link, player: Player, speed: float | None, show: Callable[[Instruction], object]
) -> Attended:
    """Raises NotJoined, AnotherPart."""
    if kept.given is None:
        _begin(kept, link)
    run = SeatRun(kept, link, speed, show)
    with suppress(ClassOver):
        _play(run, player)
    while (verdict := _verdict(run, kept, link)) is None and not link.over:
        with suppress(ClassOver):
            _play(run, player)
    return Attended(
        report_of(run, kept, verdict),
        len(kept.acts) - link.acknowledged,
        link.has_host,
        link.refused,
        str(kept.file),
    )


def _begin(kept: SeatLog, link: Link) -> None:
    try:
        said = link.incoming.get(timeout=JOIN_S)
    except Empty:
        raise NotJoined(tr("no answer from this address")) from None
    if said["kind"] == "refused":
        raise NotJoined(said["text"])
    assert said["kind"] == "welcome", "a host says nothing else first"
    kept.begin(given_by(said, kept.name))
    link.incoming.put(said)  # it also says whether the class is frozen
    link.wake()


def _play(run: SeatRun, player: Player) -> None:
    """To the end of the run; from an earlier moment whenever the instructor sends the seat back. Raises ClassOver."""
    while True:
        try:
            run.obey()
            player(run, run.done)
            return
        except SentBack:
            pass


def _verdict(run: SeatRun, kept: SeatLog, link: Link) -> Verdict | None:
    """What the host says that the whole log comes to; None if it does not say so in time, or sends the seat back."""
    run.end()
    until = time.monotonic() + END_S
    while link.has_host and time.monotonic() < until and not link.refused:
        try:
            run.wait()
        except SentBack:
            return None
        if run.verdict is not None and run.verdict["acts"] == len(kept.acts):
            return run.verdict
        time.sleep(LOOK_S)
    return None


def report_of(run: SeatRun, kept: SeatLog, verdict: Verdict | None) -> SeatReport:
    report = run.drill.report()
    assert kept.given is not None
    if not run.drill.terms.truth:  # of an exam the seat has no rubric: what it would compute says nothing
        total = verdict["score"] if verdict is not None else None
        report["score"] = {"total": total, "scored": False, "finished": run.drill.finished, "items": []}
    return {**report, "class": {"seat": kept.given.seat, "name": kept.name, "verdict": verdict}}
