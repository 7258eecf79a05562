"""Simulation that a team shares. One computer runs it and decides what each role may see and do. No Qt.

In a class, a team counts as one seat. Its log is stored, judged, shown and frozen like the log of any seat.
"""

import hashlib
import json
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

from msgspec import Struct

from app.classroom.host_connection import SeatConnection
from app.classroom.join import JoinFailedError, ParticipationResult, build_seat_report, play_in_class_seat
from app.classroom.join_code import Invitation
from app.classroom.messages.replies import InstructionMessage
from app.classroom.messages.team import InstructorMessage, MemberMessage, MemberWelcome, RoleView, TeamRole
from app.classroom.seat_log import SeatAssignment, SeatLog
from app.classroom.seat_run import ClassEndedError, SeatRun
from app.classroom.seat_scenario import parse_scenario, strip_answers
from app.classroom.verdict import FINISH_LINE, judge_log
from app.files import atomic_write
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import Scenario
from engine.drill.team.rights import find_role
from engine.drill.team.role_view import build_observation
from engine.drill.team.stand_ins import find_due_line
from engine.inputs import InputError
from engine.localization import build_message, convert_to_json
from engine.verbs.input_lines import parse_input_line

VIEW_INTERVAL_S: Final = 0.5
"""Wall time between two updates of the members while no input arrives."""
POLL_TICKS: Final = TICKS_PER_S // 10
"""Ticks between two checks for inputs of members."""


class InputRejectedError(Exception):
    """Error for an input or request of a member that was rejected. It has changed nothing.

    The text gives the reason.
    """


class RoleTable:
    """Members of the team by role. The table is stored on disk, because members reconnect after a restart."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._members: dict[str, list[str]] = json.loads(file.read_text("utf-8")) if file.exists() else {}
        """Role -> name of the member, and the SHA-256 hash of its token."""

    def assign_role(self, role: str, name: str, token: str, replaces_member: bool = False) -> None:
        """Assign a role to the member with *token*. *replaces_member*: replace the current member, if any.

        Raises InputRejectedError if another member has the role and must not be replaced. Raises OSError.
        """
        token_hash = hashlib.sha256(token.encode()).hexdigest()
        member = self._members.get(role)
        if member is not None and member[1] != token_hash and not replaces_member:
            raise InputRejectedError(tr("{name} already has this role").format(name=member[0]))
        if member is None or member[1] != token_hash:
            self._members[role] = [name, token_hash]
            atomic_write.write_atomically(self._file, json.dumps(self._members, ensure_ascii=False))

    def get_member_name(self, role: str) -> str | None:
        """Return the name of the member with a role, or None if the role is vacant."""
        return self._members[role][0] if role in self._members else None

    def __bool__(self) -> bool:
        return bool(self._members)


class MemberConnection(Struct, eq=False):
    """Connection of a member, with the number of events and log entries that it has received."""

    role: str
    send: Callable[[MemberMessage], object]
    event_count: int = 0
    """Number of the run's events that were processed for this member, visible to its role or not."""
    entry_count: int = 0
    """Number of log entries that the member has received."""


class TeamSimulation:
    """Simulation that a team shares: the run of one seat.

    The inputs of the members are applied in the order of arrival.
    """

    def __init__(self, table: RoleTable, waits: bool = False) -> None:
        """Create the simulation. *table*: members of the team by role.

        *waits*: True to wait with the start until all roles are taken, or until a member requests the
        start.
        """
        self.table = table
        self.waits_for_roles = waits
        self.viewers: set[MemberConnection] = set()
        self._run: SeatRun | None = None
        self._requests: SimpleQueue[tuple[str, int, str, Future[None]]] = SimpleQueue()
        self._refused_lines: set[str] = set()
        """Lines of vacant roles that the world refused."""
        self._last_view_s = 0.0
        self.is_ending = False
        """True after the end of the team's run was requested."""

    # --- from any thread

    @property
    def scenario(self) -> Scenario | None:
        """Scenario that the team plays; None before the run exists."""
        return self._run.drill.scenario if self._run is not None else None

    def request_input(self, role: str, number: int, line: str) -> Future[None]:
        """Request an input.

        The future completes after the input was applied and logged, or raises InputRejectedError.
        """
        answer: Future[None] = Future()
        if self._run is not None and (self._run.frozen or self.waits_for_roles):
            answer.set_exception(InputRejectedError(build_message("the class is frozen")))
        else:
            self._requests.put((role, number, line, answer))
        return answer

    def raise_hand(self, name: str, question: str | None) -> None:
        """Raise the hand of the team with *question*. None lowers the hand."""
        if self._run is not None:
            self._run.execute_hand_command("hand down" if question is None else f"hand {name}: {question}")

    def list_roles(self) -> list[TeamRole]:
        """Return the roles of the team, with their members."""
        members = {viewer.role for viewer in self.viewers}
        return [
            TeamRole(str(role.key), role.name, self.table.get_member_name(str(role.key)), role.key in members)
            for role in self._current_run.drill.scenario.team
        ]

    def assign_role(self, role: str, name: str, token: str, replaces_member: bool) -> None:
        """Assign *role* to the member with *token*. *replaces_member*: take it over from a disconnected member.

        Raises InputRejectedError, OSError.
        """
        is_vacant = replaces_member and all(viewer.role != role for viewer in self.viewers)
        self.table.assign_role(role, name, token, is_vacant)

    def build_welcome(self, key: str) -> MemberWelcome:
        """Build the welcome message for the role *key*. Raises InputError for an unknown role."""
        scenario, assignment = self._current_run.drill.scenario, self._current_run.assignment
        role = find_role(scenario.team, key)
        text = strip_answers(parse_scenario(assignment.text, assignment.scenario))
        return MemberWelcome(
            role=key, role_name=role.name, role_text=role.text, does=list(role.does), title=scenario.title,
            brief=scenario.brief, roles=self.list_roles(), done=self._count_inputs(key), scenario=assignment.scenario,
            text=text, seed=assignment.seed, mode=assignment.mode,
        )  # fmt: skip

    def end_run(self) -> None:
        """Request the end of the team's run. The members receive the result afterwards."""
        self.is_ending = True

    @property
    def can_end(self) -> bool:
        """Return whether the run can end now.

        It must have started, and the instructor must not have frozen or taken over the seat.
        """
        run = self._run
        return run is not None and not (self.waits_for_roles or run.frozen or run.is_controlled)

    def send_to_all(self, message: MemberMessage) -> None:
        """Send a message to all members."""
        for viewer in list(self.viewers):
            viewer.send(message)

    # --- in the thread of the world

    def play(self, run: SeatRun, input_count: int) -> None:
        """Play the run of the team. This is the player for app/classroom/join.py.

        Simulated time starts when the first member has joined. If the simulation waits for all roles,
        time starts when all are taken, or when a member requests the start. Raises JoinFailedError.
        """
        if not run.drill.scenario.team:
            raise JoinFailedError(tr("this drill has no team roles"))
        self._run = run
        try:
            while not run.drill.finished:
                run.follow_instructions()
                vacant = self._list_vacant_roles() if self.waits_for_roles and not run.drill.journal else []
                self.waits_for_roles = bool(vacant)
                if self.is_ending and self.can_end:
                    run.apply_line(FINISH_LINE)
                elif not self.table or self.waits_for_roles:
                    run.sleep_poll_interval()
                    if time.monotonic() - self._last_view_s >= VIEW_INTERVAL_S:
                        self._send_views(run)
                elif not (self._process_request(run) or self._play_vacant_role(run)):
                    run.advance_to(run.drill.tick + POLL_TICKS)
                    if time.monotonic() - self._last_view_s >= VIEW_INTERVAL_S:
                        self._send_views(run)
        finally:
            self._send_views(run)

    def _process_request(self, run: SeatRun) -> bool:
        """Apply or refuse the next queued input of a member. Return False if there is none."""
        try:
            role, number, line, answer = self._requests.get_nowait()
        except Empty:
            return False
        input_count = self._count_inputs(role)
        try:
            if number == input_count + 1:
                run.apply_line(f"@{role} {_require_no_role(line)}")
            # The last input may arrive again. It was applied already, so it succeeds without an effect.
            elif number != input_count:
                raise InputError(
                    build_message(
                        "input {number} arrived, but input {done} was expected",
                        number=number,
                        done=input_count,
                    )
                )
        except InputError as problem:
            answer.set_exception(InputRejectedError(str(problem)))
        else:
            answer.set_result(None)
            self._send_views(run)
        return True

    def _play_vacant_role(self, run: SeatRun) -> bool:
        """Play the next due line of a vacant role. Return False if there is none."""
        vacant_roles = {seat.key for seat in self.list_roles() if seat.taken_by is None}
        line = find_due_line(run.drill, vacant_roles, self._refused_lines)
        if line is None:
            return False
        try:
            run.apply_line(line)
        except InputError:
            self._refused_lines.add(line)
        self._send_views(run)
        return True

    def _list_vacant_roles(self) -> list[str]:
        return [seat.name for seat in self.list_roles() if seat.taken_by is None]

    def _count_inputs(self, role: str) -> int:
        return sum(item.by == role for item in self._current_run.drill.journal)

    @property
    def _current_run(self) -> SeatRun:
        assert self._run is not None, "members are let in once the world is there"
        return self._run

    def _send_views(self, run: SeatRun) -> None:
        """Send each member the current view of its role."""
        self._last_view_s, drill = time.monotonic(), run.drill
        for viewer in list(self.viewers):
            observation = build_observation(
                drill, find_role(drill.scenario.team, viewer.role), viewer.event_count
            )
            viewer.event_count = len(drill.events)
            observation["news"] = [
                {**row, "text": convert_to_json(str(row["text"]))} for row in observation["news"]
            ]
            entries = run.list_entries_after(viewer.entry_count)
            viewer.entry_count += len(entries)
            waits_for = self._list_vacant_roles() if self.waits_for_roles else []
            input_count = self._count_inputs(viewer.role)
            viewer.send(RoleView(run.frozen, input_count, observation, drill.tick, entries, waits_for))


def _require_no_role(line: str) -> str:
    """Return *line* if it does not name a role, because a member acts only in its own role. Raises InputError."""
    if parse_input_line(line).by:
        raise InputError(build_message("you act in your own role only: leave out the @ part"))
    return line


def play_in_class(
    invitation: Invitation, name: str, simulation: TeamSimulation, speed: float
) -> ParticipationResult:
    """Play the run of the team as a seat of a class. *name*: name of the seat.

    Raises JoinFailedError, InvalidSeatLogError.
    """
    return play_in_class_seat(invitation, name, simulation.play, speed, partial(_forward_message, simulation))


def play_without_class(
    seat_log: SeatLog, assignment: SeatAssignment, simulation: TeamSimulation, speed: float
) -> ParticipationResult:
    """Play the run of the team without a class. The log can still be verified. Raises JoinFailedError."""
    if seat_log.assignment is None:
        seat_log.write_assignment(assignment)
    run = SeatRun(
        seat_log, SeatConnection(assignment, seat_log), speed, partial(_forward_message, simulation)
    )
    with suppress(ClassEndedError):
        simulation.play(run, 0)
    run.record_end()
    log_verdict = judge_log(run.drill.scenario, run.drill.seed, run.drill.mode, seat_log.entries)
    return ParticipationResult(
        build_seat_report(run, seat_log, log_verdict), 0, False, "", str(seat_log.file)
    )


def _forward_message(simulation: TeamSimulation, message: InstructionMessage) -> None:
    simulation.send_to_all(InstructorMessage(message.text))
