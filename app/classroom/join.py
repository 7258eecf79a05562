"""Participation in a class without a window, from the connection to the last acknowledged action."""

import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty
from typing import Final

from msgspec import Struct

from app.classroom.host_connection import SeatConnection
from app.classroom.join_code import Invitation
from app.classroom.messages.replies import (
    InstructionMessage,
    LogVerdict,
    SeatRefusal,
    SeatReport,
    SeatWelcome,
)
from app.classroom.seat_log import SeatAssignment, SeatLog, build_assignment, get_seat_folder
from app.classroom.seat_run import ClassEndedError, PartMismatchError, SeatRewoundError, SeatRun
from app.words.language import tr

JOIN_TIMEOUT_S: Final = 60.0
"""Wall time within which the host must answer a seat that has no assignment yet."""
VERDICT_TIMEOUT_S: Final = 60.0
"""Wall time within which the host must accept the last actions and return the verdict."""

POLL_INTERVAL_S: Final = 0.05

PlayRun = Callable[[SeatRun, int], None]
"""Function that plays a run to its end.

Its second argument is the number of the seat's own inputs in the log so far.
"""


class JoinFailedError(Exception):
    """Error for a seat that was not admitted. The text gives the reason."""


class ParticipationResult(Struct, frozen=True):
    """Result of taking part in a class in one seat."""

    report: SeatReport
    unacknowledged_count: int
    """Number of actions that the host has not acknowledged. The log file contains them."""
    has_host: bool
    """False if the run was played without a network. Then its log must be handed in."""
    refusal_reason: str
    """Reason why the host refused this seat; empty if it did not."""
    log_file: str
    """Path of the log, which can be handed in."""


def play_in_class_seat(
    origin: Invitation | SeatAssignment,
    name: str,
    player: PlayRun,
    speed: float | None,
    show_message: Callable[[InstructionMessage], object],
    consent: bool = False,
) -> ParticipationResult:
    """Play a seat of the class from its start or its last position.

    Args:
        origin: invitation to a class, or an assignment to play without a network.
        name: name of the participant.
        player: function that plays the run.
        speed: simulated seconds per second; None without a pace.
        show_message: function that receives messages of the instructor.
        consent: True if the instructor may observe the seat.

    Raises JoinFailedError, InvalidSeatLogError.
    """
    seat_log = SeatLog(get_seat_folder(origin), name)
    try:
        while True:
            link = SeatConnection(origin, seat_log, consent)
            link.start()
            try:
                return _play_seat(seat_log, link, player, speed, show_message)
            except PartMismatchError as other_error:
                part = other_error.part
            finally:
                link.disconnect()
            seat_log.open_part(part)
    finally:
        seat_log.close()


def _play_seat(
    seat_log: SeatLog,
    link: SeatConnection,
    player: PlayRun,
    speed: float | None,
    show_message: Callable[[InstructionMessage], object],
) -> ParticipationResult:
    """Play the run of a seat and wait for its verdict. Raises JoinFailedError, PartMismatchError."""
    if seat_log.assignment is None:
        _await_assignment(seat_log, link)
    run = SeatRun(seat_log, link, speed, show_message)
    with suppress(ClassEndedError):
        _play_to_end(run, player)
    while (verdict := _await_verdict(run, seat_log, link)) is None and not link.over:
        with suppress(ClassEndedError):
            _play_to_end(run, player)
    return ParticipationResult(
        build_seat_report(run, seat_log, verdict),
        len(seat_log.entries) - link.acknowledged,
        link.has_host,
        link.refusal,
        str(seat_log.file),
    )


def _await_assignment(seat_log: SeatLog, link: SeatConnection) -> None:
    try:
        reply = link.incoming.get(timeout=JOIN_TIMEOUT_S)
    except Empty:
        addresses = ", ".join(link.dialed_addresses) or tr("the network")
        raise JoinFailedError(tr("no answer from {addresses}").format(addresses=addresses)) from None
    if isinstance(reply, SeatRefusal):
        raise JoinFailedError(reply.text)
    assert isinstance(reply, SeatWelcome), "a host says nothing else first"
    seat_log.write_assignment(build_assignment(reply, seat_log.name))
    link.incoming.put(reply)  # the run also needs this reply, which states whether the class is frozen
    link.wake()


def _play_to_end(run: SeatRun, player: PlayRun) -> None:
    """Play to the end of the run. After a rewind, continue from the earlier time. Raises ClassEndedError."""
    while True:
        try:
            run.follow_instructions()
            player(run, run.own_input_count)
            return
        except SeatRewoundError:
            pass


def _await_verdict(run: SeatRun, seat_log: SeatLog, link: SeatConnection) -> LogVerdict | None:
    """Wait for the host's verdict on the whole log.

    Return None if the verdict does not arrive in time, or if the host rewinds the seat.
    """
    run.record_end()
    deadline_s = time.monotonic() + VERDICT_TIMEOUT_S
    while link.has_host and time.monotonic() < deadline_s and not link.refusal:
        try:
            run.process_messages_after_end()
        except SeatRewoundError:
            return None
        if run.verdict is not None and run.verdict["acts"] == len(seat_log.entries):
            return run.verdict
        time.sleep(POLL_INTERVAL_S)
    return None


def build_seat_report(run: SeatRun, seat_log: SeatLog, verdict: LogVerdict | None) -> SeatReport:
    """Return the report of a seat's run, with the host's verdict."""
    report = run.drill.build_report()
    assert seat_log.assignment is not None
    if (
        not run.drill.permissions.shows_truth
    ):  # the seat of an exam has no rubric, so only the host can compute its score
        total = verdict["score"] if verdict is not None else None
        report["score"] = {"total": total, "scored": False, "finished": run.drill.finished, "items": []}
    return {**report, "class": {"seat": seat_log.assignment.seat, "name": seat_log.name, "verdict": verdict}}
