"""Taking part in a class without a window: from the code to the last act that the host has acknowledged."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty
from typing import Final

from app.classroom.code import Invitation
from app.classroom.kept import Kept, folder_of, given_by
from app.classroom.link import Link
from app.classroom.seat import ClassOver, SeatRun
from app.classroom.shapes import Instruction, SeatReport, Verdict
from app.words.language import tr

JOIN_S: Final = 60.0
"""Wall time in which the host has to answer a seat that does not know yet what is played."""
END_S: Final = 60.0
"""Wall time in which the host has to take the last acts and say what they come to."""

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
    refused: str
    """Why the host would have nothing more of us."""
    file: str
    """The log, which can be handed in."""


def take_part(
    invitation: Invitation,
    name: str,
    player: Player,
    speed: float | None,
    show: Callable[[Instruction], object],
) -> Attended:
    """Play a seat of the class from its beginning, or from where it was. Raises NotJoined, NoLog."""
    kept = Kept(folder_of(invitation.fingerprint), name)
    link = Link(invitation, kept)
    link.start()
    try:
        if kept.given is None:
            _begin(kept, link)
        run = SeatRun(kept, link, speed, show)
        try:
            run.obey()
            player(run, sum(bool(act.line) and not act.instruction for act in kept.acts))
        except ClassOver:
            pass
        run.end()
        verdict = _verdict(kept, link)
        return Attended(
            _report(run, kept, verdict), len(kept.acts) - link.acknowledged, link.refused, str(kept.file)
        )
    finally:
        link.end()
        kept.close()


def _begin(kept: Kept, link: Link) -> None:
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


def _verdict(kept: Kept, link: Link) -> Verdict | None:
    """What the host says that the whole log comes to; None if it does not say so in time."""
    until = time.monotonic() + END_S
    while time.monotonic() < until and not link.refused:
        try:
            said = link.incoming.get(timeout=0.1)
        except Empty:
            continue
        if said["kind"] == "result" and said["verdict"]["acts"] == len(kept.acts):
            return said["verdict"]
    return None


def _report(run: SeatRun, kept: Kept, verdict: Verdict | None) -> SeatReport:
    report = run.drill.report()
    assert kept.given is not None
    if not run.drill.terms.truth:  # of an exam the seat has no rubric: what it would compute says nothing
        total = verdict["score"] if verdict is not None else None
        report["score"] = {"total": total, "scored": False, "finished": run.drill.finished, "items": []}
    return {**report, "class": {"seat": kept.given.seat, "name": kept.name, "verdict": verdict}}
