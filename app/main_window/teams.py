"""Team features of the main window: host a team, or take a role in a team.

A separate process runs the simulation of a hosted team.
"""

import sys
from pathlib import Path
from queue import Empty
from typing import Final

from PySide6.QtCore import QObject, QProcess, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QWidget

from app.classroom.host_connection import VERSION_MISMATCH_TEXT
from app.classroom.join_code import InvalidJoinCodeError, parse_invitation
from app.classroom.messages.team import (
    END_LINE,
    InputDone,
    InputFailed,
    InstructorMessage,
    MemberMessage,
    MemberWelcome,
    RoleView,
    TeamDrillEnded,
    TeamRefusal,
    TeamRoles,
)
from app.classroom.team.member import TeamConnection
from app.main_window import export_signature
from app.main_window.confirmations import ConfirmationDialogs
from app.main_window.library import ScenarioLibrary
from app.main_window.team_desk import TeamDesk
from app.settings import WindowSettings
from app.views.team import StartTeamDialog, TakeRoleDialog, TeamCodeDialog
from app.widgets.notice import NoticeBar
from app.words.language import tr
from engine.drill.authoring.problems import ScenarioError

MESSAGE_CHECK_INTERVAL_MS: Final = 100
"""Interval between two checks for messages from the team's host."""
PROCESS_END_TIMEOUT_MS: Final = 4_000
"""Maximum time in which a team's process must end before it is killed."""


class TeamController(QObject):
    """Controller of the team that this window hosts, and of its role in a team."""

    help_wanted = Signal()
    """Signal: F1 was pressed in a window or dialog of a team."""

    def __init__(
        self,
        library: ScenarioLibrary,
        confirmations: ConfirmationDialogs,
        notice: NoticeBar,
        store: WindowSettings,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._confirmations = confirmations
        self._library, self._notice, self._store, self._parent = library, notice, store, parent
        self._process: QProcess | None = None
        self._code: TeamCodeDialog | None = None
        """Dialog with the join code of the team that this window hosts; None if it hosts none."""
        self._asking: tuple[TeamConnection, TakeRoleDialog] | None = None
        self._member: TeamConnection | None = None
        self.seat: TeamDesk | None = None
        self._timer = QTimer(self, interval=MESSAGE_CHECK_INTERVAL_MS)
        self._timer.timeout.connect(self._process_messages)

    @property
    def is_hosting(self) -> bool:
        """Return whether this window hosts a team."""
        return self._process is not None

    # --- holding one

    def ask_to_host_team(self) -> StartTeamDialog | TeamCodeDialog:
        """Show the dialog that starts a team. If this window already hosts a team, show its join code."""
        if self._code is not None:
            self._code.show()
            return self._code
        drills = [
            (summary.name, summary.title)
            for summary in self._library.summaries.values()
            if summary.name.startswith("team-")
        ]
        dialog = StartTeamDialog(sorted(drills, key=lambda drill: drill[1]), self._parent)
        dialog.team_wanted.connect(self.start_team)
        self._open_dialog(dialog)
        return dialog

    def _open_dialog(self, dialog: QDialog) -> None:
        """Open a dialog in which F1 opens the help."""
        QShortcut(QKeySequence("F1"), dialog, self.help_wanted.emit)
        dialog.open()

    def start_team(self, source: str, name: str) -> None:
        """Start the simulation of a team in a separate process.

        Some seconds later, the process prints the join code. Then the dialog for taking a role opens.
        """
        self._stop_process()
        process = self._process = QProcess(self)
        process.setWorkingDirectory(str(Path(__file__).parents[2]))
        process.readyReadStandardOutput.connect(lambda: self._read_output(process))
        process.finished.connect(lambda *_: self._on_process_finished(process))
        words = ["--wait", "--end-with-input"]
        words += (
            ["--name", name] if "@" in source else []
        )  # without a class, the default name is the start time, so each start creates a new run
        process.start(sys.executable, ["-m", "app", "class", "team", source, *words])
        self._notice.show_info(tr("Starting the team…"))

    def _read_output(self, process: QProcess) -> None:
        text = bytes(process.readAllStandardOutput().data()).decode("utf-8", errors="replace").strip()
        if self._code is None and "@" in text.partition("\n")[0]:
            self._code = TeamCodeDialog(text.strip(), self._parent)
            self._code.end_wanted.connect(lambda: self._confirmations.confirm("end_team", self._end_team))
            QShortcut(QKeySequence("F1"), self._code, self.help_wanted.emit)
            self._code.show()
            self.ask_for_role(text)

    def _end_team(self) -> None:
        """End the team's run. All members receive the result."""
        self._forget_code()
        if self._process is not None:
            self._process.write(f"{END_LINE}\n".encode())
            self._notice.show_info(tr("Ending the team…"))

    def _on_process_finished(self, process: QProcess) -> None:
        self._forget_code()
        self._process = None
        text = bytes(process.readAllStandardError().data()).decode("utf-8", errors="replace").strip()
        if text:  # the last line of a traceback describes the error
            self._notice.show_warning(tr("The team has stopped: {why}").format(why=text.splitlines()[-1]))
        else:
            self._notice.show_info(tr("The team has ended. Its inputs are saved."))

    # --- taking a role

    def ask_for_role(self, code: str = "") -> TakeRoleDialog:
        """Show the dialog for taking a role, with *code* or the join code of the team that this window hosts."""
        code = code or (self._code.join_code if self._code is not None else "")
        dialog = TakeRoleDialog(export_signature.get_player_name(self._store), self._parent, code)
        dialog.roles_wanted.connect(lambda code, name: self._ask_for_roles(dialog, code, name))
        dialog.role_wanted.connect(self.take_role)
        self._open_dialog(dialog)
        if code:
            self._ask_for_roles(dialog, code, dialog.name.text())
        return dialog

    def _ask_for_roles(self, dialog: TakeRoleDialog, code: str, name: str) -> None:
        """Request the list of roles from the team."""
        try:
            member = TeamConnection(parse_invitation(code), name or "?", "")
        except InvalidJoinCodeError as problem:
            dialog.show_problem(str(problem))
            return
        self._asking = member, dialog
        member.start()
        self._timer.start()

    def take_role(self, code: str, name: str, role: str, replaces_member: bool = False) -> None:
        """Take *role* in the team. The window of the role opens with the first response of the team.

        *replaces_member*: replace a disconnected member.
        """
        self._leave_team()
        self._member = TeamConnection(parse_invitation(code), name, role, replaces_member)
        self._member.start()
        self._timer.start()

    def _process_messages(self) -> None:
        """Process all messages that have arrived."""
        if self._asking is not None:
            member, dialog = self._asking
            for message in _drain_messages(member):
                if isinstance(message, TeamRoles):
                    dialog.show_roles(message.roles)
                elif isinstance(message, TeamRefusal):
                    dialog.show_problem(message.text)
                self._asking = None
        if self._member is not None:
            for message in _drain_messages(self._member):
                self._handle_message(message)
        if self._member is not None and self.seat is not None and not self.seat.is_over:
            self.seat.show_connection(self._member.is_welcomed)

    def _handle_message(self, message: MemberMessage) -> None:
        match message:
            case MemberWelcome() if self.seat is None and self._member is not None:
                self._open_desk(message, self._member)
            case RoleView() if self.seat is not None:
                self.seat.show_view(message)
            case InputDone() if self.seat is not None:
                self.seat.show_reply("")  # removes the reason why an earlier input was refused
            case InputFailed() if self.seat is not None:
                self.seat.show_reply(str(message.text), True)
            case InstructorMessage() if self.seat is not None:
                self.seat.show_reply(message.text)
            case TeamDrillEnded() if self.seat is not None:
                self.seat.show_end(message)
            case TeamRefusal():
                self._notice.show_warning(message.text)

    def _open_desk(self, welcome: MemberWelcome, member: TeamConnection) -> None:
        """Open the window of the role."""
        try:
            self.seat = desk = TeamDesk(welcome, self._parent)
        except ScenarioError:  # hosts before 1.1 do not send the world
            self._notice.show_warning(tr(VERSION_MISMATCH_TEXT))
            self._leave_team()
            return
        desk.line_sent.connect(member.send_input)
        desk.panel.hand_raised.connect(member.raise_hand)
        desk.panel.start_wanted.connect(member.start_team)
        desk.leave_wanted.connect(self._leave_team)
        desk.help_wanted.connect(self.help_wanted)
        desk.showMaximized()

    def _leave_team(self) -> None:
        if self._member is not None:
            self._timer.stop()
            self._member.disconnect()
            self._member = None
        if self.seat is not None:
            self.seat.deleteLater()
            self.seat = None

    def _forget_code(self) -> None:
        if self._code is not None:
            self._code.deleteLater()
            self._code = None

    def _stop_process(self) -> None:
        self._forget_code()
        if self._process is not None:
            self._process.blockSignals(True)
            self._process.write(f"{END_LINE}\n".encode())
            if not self._process.waitForFinished(PROCESS_END_TIMEOUT_MS):
                self._process.kill()
                self._process.waitForFinished(PROCESS_END_TIMEOUT_MS)
            self._process = None

    def stop(self) -> None:
        """Disconnect and stop the process, because the window closes. All inputs are on disk."""
        self._leave_team()
        self._stop_process()


def _drain_messages(member: TeamConnection) -> list[MemberMessage]:
    """Remove and return all messages that have arrived."""
    messages: list[MemberMessage] = []
    while True:
        try:
            messages.append(member.incoming.get_nowait())
        except Empty:
            return messages
