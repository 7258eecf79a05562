"""Class features of the main window: host a class, or join a class.

The instructor station of a hosted class is another window.
"""

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from msgspec.structs import replace
from PySide6.QtCore import QObject, QProcess, QThreadPool, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QInputDialog, QWidget

from app import settings
from app.classroom import class_files
from app.classroom.addresses import WILDCARD_ADDRESSES, list_addresses, select_port
from app.classroom.class_check import ClassCheckResult, check_class
from app.classroom.gui_seat import GuiSeat
from app.classroom.join_code import DEFAULT_PORT, InvalidJoinCodeError, parse_invitation
from app.classroom.join_sheet import build_join_sheet
from app.classroom.lesson_plan import PART_KIND_NAMES, parse_plan
from app.classroom.log_entries import list_effective_entries
from app.classroom.messages.replies import (
    INSTRUCTOR_MESSAGE_READER,
    DashboardUpdate,
    DivergenceTime,
    DivergenceTimes,
    ObservationEnded,
    ObservedRun,
    ObservedRunUpdate,
    RequestFailed,
)
from app.classroom.models import INJECT
from app.classroom.record import ClassRecord, RecordUnavailableError
from app.classroom.seat_log import SEAT_FILE_SUFFIX, InvalidSeatLogError, read_handout
from app.classroom.seat_phase import SeatPhase
from app.classroom.seat_scenario import parse_scenario
from app.classroom.suggested_answers import suggest_answers
from app.files import atomic_write
from app.files.folders import get_profile_folder
from app.main_window import export_signature
from app.main_window.class_offers import StoredSeat, load_seat, store_seat
from app.main_window.confirmations import ConfirmationDialogs
from app.main_window.host_session import HostSession
from app.main_window.library import ScenarioLibrary
from app.main_window.run_controller import RunController
from app.main_window.window_seat import WindowSeat, apply_seat_actions
from app.settings import WindowSettings
from app.views.classroom import InstructorStation, JoinClassDialog, JumpTarget, ReplayPage, StartClassDialog
from app.views.topology import TopologyView
from app.widgets.notice import NoticeBar
from app.words import formatting, language
from app.words.language import mark, tr
from app.words.localization import localize
from engine.constants import TICKS_PER_S
from engine.drill.running.drill import Drill
from engine.drill.running.modes import DrillMode
from engine.drill.time.history import History
from engine.localization import restore_from_json

PREFERRED_PORT: Final = DEFAULT_PORT
"""Preferred TCP port of a class that this window hosts."""
TEST_PARTS_TOML: Final = "".join(
    f'[[part]]\nkind = "{kind}"\n' + ("" if kind == "lesson" else f'mode = "{DrillMode.EXAM}"\n')
    for kind in PART_KIND_NAMES
)
"""Parts of a lesson plan: a lesson, with tests before it, after it, and some weeks later."""
NO_SEAT_TEXT: Final = mark("You are not in a class.")
PROCESS_END_TIMEOUT_MS: Final = 4_000
"""Maximum time in which a host process must end before it is killed."""


class ClassController(QObject):
    """Controller of the class that this window hosts, and of the class in which it has a seat."""

    seat_state_shown = Signal(str)
    """Signal with the state of the seat as text; empty for the normal state."""
    help_wanted = Signal()
    """Signal: F1 was pressed in the instructor station or in a dialog of a class."""
    _class_checked = Signal(object)
    """Signal: results of `check_class`, emitted by its thread."""

    def __init__(
        self,
        session: HostSession,
        play: RunController,
        library: ScenarioLibrary,
        confirmations: ConfirmationDialogs,
        notice: NoticeBar,
        store: WindowSettings,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._session, self._play, self._library = session, play, library
        self._confirmations = confirmations
        self._notice, self._store, self._parent = notice, store, parent
        self.station: InstructorStation | None = None
        self.seat: WindowSeat | None = None
        self._host: QProcess | None = None
        self._console: QProcess | None = None
        self._database = Path()
        self._dialog: JoinClassDialog | None = None
        """Join dialog that stays open until the seat is in the class; None if there is none."""
        self._shown_history: History | None = None
        """Run of the observed seat; None if no seat is observed."""
        self._topology: TopologyView | None = None
        self._shown_part = 0
        """Number of the part whose drill the instructor station shows."""
        self._partial_lines = {"host": "", "console": ""}

        self._class_checked.connect(self._show_check_findings)

    # --- holding one

    @property
    def is_hosting(self) -> bool:
        """True while this window hosts a class."""
        return self._host is not None and self._host.state() is not QProcess.ProcessState.NotRunning

    def ask_to_start(self, name: str = "") -> StartClassDialog | None:
        """Open the dialog that starts a class, with the drill *name* selected, and return it.

        If this window already hosts a class, show the instructor station and return None.
        """
        if self._host is not None and self.station is not None:
            self._notice.hide_notice()
            self.station.show()
            self.station.activateWindow()
            return None
        drills = [(summary.name, summary.title) for summary in self._library.summaries.values()]
        folder = str(get_profile_folder() / "classes")
        titles = sorted(drills, key=lambda drill: drill[1])
        dialog = StartClassDialog(titles, folder, self._parent, list_addresses())
        dialog.select_drill(name)
        dialog.class_wanted.connect(self.start_class)
        dialog.continue_wanted.connect(lambda file: self.reopen_class(Path(file)))
        QShortcut(QKeySequence("F1"), dialog, self.help_wanted.emit)
        dialog.open()
        return dialog

    def start_class(
        self,
        name: str,
        mode: str,
        address: str,
        frozen: bool,
        adds_tests: bool = False,
        reflect: bool = False,
        late_rule: str = "start",
    ) -> None:
        """Host a new class in a separate process. The instructor station opens now.

        The join code appears some seconds later.

        *adds_tests*: add tests before the lesson, after it, and some weeks later. *reflect*: ask for a reflection
        before points are shown. *late_rule*: start time of seats that join late, see `LessonPlan.late`.
        """
        folder = get_profile_folder() / "classes"
        folder.mkdir(parents=True, exist_ok=True)
        database = folder / f"{datetime.now():%Y-%m-%d %H-%M-%S}.sqlite"
        plan = database.with_suffix(".toml")
        class_options = {
            "scenario": name,
            "mode": mode,
            "frozen": frozen,
            "reflect": reflect,
            "late": late_rule,
        }
        options_text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in class_options.items())
        plan.write_text(options_text + (TEST_PARTS_TOML if adds_tests else ""), encoding="utf-8")
        self._host_class(database, "--plan", str(plan), address=address)

    def reopen_class(self, database: Path) -> None:
        """Host the class in *database* again, from its last state."""
        self._host_class(database)

    def _host_class(self, database: Path, *arguments: str, address: str = WILDCARD_ADDRESSES[0]) -> None:
        """Host the class in *database*, which is new or was hosted before, and listen on *address*."""
        self._database = database
        self._store.set(settings.HOSTED_CLASS_DATABASE, str(database))
        self.station = InstructorStation()
        self.station.hidden.connect(self._on_station_closed)
        self.station.line_entered.connect(
            lambda line, recipient: self._confirmations.confirm_class_input(line, recipient, self._send_line)
        )
        self.station.help_wanted.connect(self.help_wanted)
        self.station.join_sheet_wanted.connect(lambda name: self._save_join_sheet(Path(name)))
        self.station.seat_file_wanted.connect(lambda name: self._export_seat_file(Path(name)))
        self.station.report_wanted.connect(self._build_report)
        self.station.lobby.check_wanted.connect(self._check_class)
        self.station.end_wanted.connect(lambda: self._confirmations.confirm("close_class", self.stop_host))
        replay = ReplayPage(TopologyView)
        replay.runs_wanted.connect(self._show_replay)
        self.station.set_replay_page(replay)
        self.station.showMaximized()
        listen = f"{address}:{select_port(address, int(PREFERRED_PORT))}"
        self._host = self._start_process(
            "host", self._open_console, *arguments, "--listen", listen, "--end-with-input"
        )

    def _check_class(self) -> None:
        """Check the class in a thread, because unreachable addresses take seconds."""
        if self.station is not None:
            invited = parse_invitation(self.station.code.text())
            QThreadPool.globalInstance().start(lambda: self._class_checked.emit(check_class(invited)))

    def _show_check_findings(self, findings: list[ClassCheckResult]) -> None:
        if self.station is not None:
            self.station.lobby.show_findings(findings)

    def _on_station_closed(self) -> None:
        """Show the main window if it is hidden, and offer to open the instructor station again."""
        if not self._parent.isVisible():
            self._parent.show()
        if self.is_hosting:
            self._notice.show_offer(tr("The class continues."), tr("Instructor station"), self.ask_to_start)

    def _start_process(self, command: str, on_line: Callable[[str], None], *arguments: str) -> QProcess:
        """Start `mirrordrill class` *command* in a process. *on_line* receives each line of its standard output."""
        process = QProcess(self)

        def read_output() -> None:
            text = bytes(process.readAllStandardOutput().data()).decode("utf-8", errors="replace")
            *complete_lines, self._partial_lines[command] = (self._partial_lines[command] + text).split("\n")
            for line in complete_lines:
                on_line(line)

        def on_process_finished() -> None:
            if self.station is not None and process in (self._host, self._console):
                text = bytes(process.readAllStandardError().data()).decode("utf-8", errors="replace").strip()
                # the last line of a traceback describes the error
                reason = text.splitlines()[-1] if text else ""
                if self._console is None:
                    self.station.show_failed_start(reason)
                self.station.show_reply(reason or tr("The class has ended."))

        self._partial_lines[command] = ""
        process.readyReadStandardOutput.connect(read_output)
        process.finished.connect(lambda *_: on_process_finished())
        self._start_host_process(process, command, *arguments)
        return process

    def _start_host_process(self, process: QProcess, command: str, *arguments: str) -> None:
        """Start `mirrordrill class` *command* in *process*, for the class that this window hosts."""
        process.setWorkingDirectory(str(Path(__file__).parents[2]))
        process.start(
            sys.executable, ["-m", "app", "class", command, "--database", str(self._database), *arguments]
        )

    def _open_console(self, code: str) -> None:
        if self.station is not None and self._console is None:
            self.station.show_code(code)
            self._show_class(self.station)
            self._console = self._start_process("console", self._process_host_message)

    def _process_host_message(self, line: str) -> None:
        if self.station is None:
            return
        match INSTRUCTOR_MESSAGE_READER.read_known(line):
            case DashboardUpdate() as update:
                if update.part_number != self._shown_part:
                    self._shown_history = None
                    self._show_class(self.station)
                self.station.show_dashboard(update)
            case DivergenceTimes(moments=moments):
                self._show_divergences(moments)
            case RequestFailed(of=request, text=text):
                self.station.show_reply(text)
                if request == "show" and self.station.replay is not None:
                    self.station.replay.stop_sharing()
            case ObservationEnded(text=text):
                self.station.show_reply(text)
                self.station.show_watched_seat(None)
            case ObservedRun() as update:
                self._show_seat_run(update)
            case ObservedRunUpdate() as update:
                self._update_seat_view(update)

    def _show_class(self, station: InstructorStation) -> None:
        """Show the drill in *station*, with the input lines that the station offers as injects."""
        try:
            with closing(ClassRecord(str(self._database), create=False)) as record:
                part, prepared = record.read_class(), record.read_instructions()
        except RecordUnavailableError as problem:
            station.show_reply(str(problem))
            return
        if part is None:
            return
        self._shown_part = part.id
        scenario = parse_scenario(part.scenario_text, part.scenario_name)
        drill = Drill(scenario, part.seed, DrillMode.PRACTICE)
        lines = [class_instruction.text for class_instruction in prepared if class_instruction.kind == INJECT]
        lines += [item.line_without_time for _, item in drill.list_scheduled_inputs()]
        lines += [
            f"{verb} {server}" for server in drill.world.computers for verb in ("power-off", "power-on")
        ]
        station.lobby.show_late_rule(bool(part.plan) and parse_plan(part.plan).late == "class")
        station.show_class(
            scenario.title, scenario.facilitator or "", list(dict.fromkeys(lines)),
            partial(suggest_answers, scenario), {goal.name: goal.text for goal in drill.scenario.goals},
        )  # fmt: skip

    def _show_replay(self, seats: Sequence[int]) -> None:
        """Show the recorded runs of *seats* in the replay of the instructor station."""
        if self.station is None or self.station.replay is None:
            return
        try:
            with closing(ClassRecord(str(self._database), create=False)) as record:
                part = record.read_class()
                names = {seat.id: seat.name for seat in record.read_seats()}
                logs = {number: list_effective_entries(record.read_entries(number)) for number in seats}
        except RecordUnavailableError as problem:
            self._show_on_dashboard(str(problem))
            return
        assert part is not None, "the class has a part"
        scenario, runs = parse_scenario(part.scenario_text, part.scenario_name), []
        for number, acts in logs.items():
            history = History(Drill(scenario, part.seed, DrillMode.PRACTICE))
            apply_seat_actions(history, acts, 0)
            runs.append((self.station.describe_seat(number, names[number]), history))
        self.station.replay.show_runs(runs)

    def _show_divergences(self, divergences: Sequence[DivergenceTime]) -> None:
        """Show the times at which seats made different choices.

        The text for each time names the best choice and the most frequent other choice.
        """
        if self.station is None or self.station.replay is None:
            return
        targets = []
        for moment in divergences:
            best, *other_choices = moment.choices
            other_choice = max(other_choices, key=lambda choice: len(choice.seats))
            words = [
                localize(restore_from_json(choice.words)) or tr("waited") for choice in (best, other_choice)
            ]
            text = tr("{best} (seats: {n}) or {other} (seats: {m})").format(
                best=words[0], n=len(best.seats), other=words[1], m=len(other_choice.seats)
            )
            targets.append(JumpTarget(moment.t_s, text, (tuple(best.seats), tuple(other_choice.seats))))
        self.station.replay.show_divergences(targets)
        if not targets:
            self._show_on_dashboard(tr("So far all seats have made the same choices."))

    def _show_seat_run(self, message: ObservedRun) -> None:
        """Show the run of a seat live in the instructor station."""
        if self.station is None:
            return
        scenario, mode = parse_scenario(message.text, message.scenario), DrillMode(message.mode)
        # the mode does not change the world, and the instructor may see everything
        if mode is DrillMode.EXAM:
            mode = DrillMode.PRACTICE
        self._shown_history = history = History(Drill(scenario, message.seed, mode))
        apply_seat_actions(history, message.acts, message.tick)
        if self._topology is None:
            self._topology = TopologyView()
            self._topology.requested.connect(self.station.send_to_watched_seat)
            self.station.set_live_view(self._topology)
        self._topology.show_drill(history.drill)
        self._show_watched_seat(message.seat, history.drill)

    def _update_seat_view(self, message: ObservedRunUpdate) -> None:
        if self._shown_history is None or self._topology is None or self.station is None:
            return
        apply_seat_actions(self._shown_history, message.acts, message.tick)
        self._topology.show_world(self._shown_history.drill.world)
        self._show_watched_seat(message.seat, self._shown_history.drill)

    def _show_watched_seat(self, seat: int, drill: Drill) -> None:
        """Show the number of the observed seat, its time and its inputs."""
        if self.station is not None:
            lines = [
                f"{formatting.format_run_time(item.tick / TICKS_PER_S)}  {item.line_without_time}"
                for item in drill.journal
            ]
            self.station.show_watched_seat(seat, drill.world.t_s, lines)

    def _send_line(self, line: str) -> None:
        if self._console is not None:
            self._console.write(f"{line}\n".encode())

    def _save_join_sheet(self, file: Path) -> None:
        """Save the printable page for the seats, with the join code and the steps."""
        if self.station is None:
            return
        page = build_join_sheet(self.station.title.text(), self.station.code.text())
        try:
            atomic_write.write_atomically(file, page.encode())
        except OSError as problem:
            self._show_on_dashboard(
                tr("{file} cannot be written: {why}").format(file=file, why=problem.strerror)
            )
        else:
            self._show_on_dashboard(tr("Saved {file}. Open it in a browser to print it.").format(file=file))

    def _export_seat_file(self, file: Path) -> None:
        """Save the file that lets seats start without a network."""
        try:
            with closing(ClassRecord(str(self._database), create=False)) as record:
                atomic_write.write_atomically(file, class_files.build_handout(record))
        except (RecordUnavailableError, InvalidSeatLogError) as problem:
            self._show_on_dashboard(str(problem))
        except OSError as problem:
            self._show_on_dashboard(
                tr("{file} cannot be written: {why}").format(file=file, why=problem.strerror)
            )
        else:
            self._show_on_dashboard(
                tr("Saved {file}. Participants open it with Class ▸ Join a class.").format(file=file)
            )

    def _build_report(self, name: str, with_names: bool) -> None:
        """Build the report of the class in the file *name*. A separate process replays every run.

        *with_names*: show names.
        """
        process = QProcess(self)
        report_lines = [""]

        def read_output() -> None:
            report_lines[0] = (
                bytes(process.readAllStandardError().data()).decode("utf-8", errors="replace").strip()
            )
            if report_lines[0]:
                self._show_on_dashboard(
                    tr("Report: {so_far}").format(so_far=report_lines[0].rpartition("\r")[2])
                )

        def on_report_finished(code: int) -> None:
            self._show_on_dashboard(
                tr("The report is saved in {file}.").format(file=name) if code == 0 else report_lines[0]
            )
            process.deleteLater()

        process.readyReadStandardError.connect(read_output)
        process.finished.connect(lambda code, _: on_report_finished(code))
        spoken = (
            ["--language", language.get_current_language()]
            if language.get_current_language() in language.LANGUAGES
            else []
        )
        self._start_host_process(
            process, "report", "--out", name, *spoken, *(["--names"] if with_names else [])
        )

    def _show_on_dashboard(self, text: str) -> None:
        if self.station is not None:
            self.station.show_reply(text)

    def stop_host(self) -> None:
        """Stop the class host and close the instructor station. The record of the class remains."""
        for process in (self._console, self._host):
            if process is not None:
                process.blockSignals(True)
                process.terminate()
                if not process.waitForFinished(PROCESS_END_TIMEOUT_MS):
                    process.kill()  # no data is lost, because acknowledged inputs are on disk
                    process.waitForFinished(PROCESS_END_TIMEOUT_MS)
        if self._host is not None and self.station is not None:
            self._store.set(settings.HOSTED_CLASS_DATABASE, "")
            self.station.close()
            self.station.deleteLater()
            self.station, self._shown_history, self._topology = None, None, None
            self._notice.show_info(tr("The class is saved in {file}.").format(file=self._database))
        self._host = self._console = None

    # --- joining one

    def ask_to_join(self) -> JoinClassDialog:
        """Open the dialog that joins a class, with the code and the name that were used last."""
        seat = load_seat(self._store)
        dialog = JoinClassDialog(
            seat.name or export_signature.get_player_name(self._store), self._parent, seat.code, seat.consent
        )
        dialog.join_wanted.connect(self.join_class)
        dialog.canceled.connect(self._cancel_join)
        QShortcut(QKeySequence("F1"), dialog, self.help_wanted.emit)
        self._dialog = dialog
        dialog.open()
        return dialog

    def return_to_class(self) -> JoinClassDialog:
        """Return to the last seat, with the code and the name that were used last."""
        dialog = self.ask_to_join()
        if dialog.code.text():
            dialog.ask_to_join()
        return dialog

    def _cancel_join(self) -> None:
        self._dialog = None
        if self.seat is not None and self.seat.phase is SeatPhase.JOINING:
            self._leave_seat()

    def _show_join_problem(self, text: str) -> None:
        if self._dialog is not None:
            self._dialog.show_problem(text)
        else:
            self._notice.show_warning(text)

    def _show_join_progress(self, text: str) -> None:
        if self._dialog is not None:
            self._dialog.show_progress(text)

    def _on_joined(self) -> None:
        """Close the join dialog, because the host has admitted the seat."""
        dialog, self._dialog = self._dialog, None
        if dialog is not None:
            dialog.accept()

    def _on_class_over(self) -> None:
        seat = load_seat(self._store)
        store_seat(self._store, replace(seat, open=False))

    def join_class(self, code: str, name: str, consent: bool = False, part: int | None = None) -> None:
        """Join a class. The drill is loaded when the host has responded.

        *code*: join code, or path of a seat file. *consent*: True if the instructor may observe the seat.
        *part*: current part of the class, if known.
        """
        self._leave_seat()
        try:
            file = Path(code)
            target = (
                read_handout(file)
                if file.suffix == SEAT_FILE_SUFFIX or file.is_file()
                else parse_invitation(code)
            )
            attendance = GuiSeat(target, name, consent, part)
        except (InvalidJoinCodeError, InvalidSeatLogError) as problem:
            self._show_join_problem(str(problem))
            return
        store_seat(self._store, StoredSeat(code, name, consent, open=True))
        self.seat = seat = WindowSeat(attendance, self._session, self._play, self._notice, self, self._parent)
        seat.state_shown.connect(self.seat_state_shown)
        seat.join_progressed.connect(self._show_join_progress)
        seat.join_failed.connect(self._show_join_problem)
        seat.joined.connect(self._on_joined)
        seat.class_over.connect(self._on_class_over)
        seat.part_changed.connect(lambda number, consent: self.join_class(code, name, consent, number))

    def ask_to_raise_hand(self) -> QInputDialog | None:
        """Ask for a question and send it to the instructor. If the hand is raised, lower it instead."""
        if self.seat is None:
            self._notice.show_info(tr(NO_SEAT_TEXT))
            return None
        if self.seat.hand is not None:
            self.seat.raise_hand(None)
            return None
        dialog = QInputDialog(self._parent)
        dialog.setWindowTitle(tr("Raise my hand"))
        dialog.setLabelText(tr("Your question for the instructor"))
        dialog.textValueSelected.connect(self.seat.raise_hand)
        dialog.open()
        return dialog

    def toggle_observation_consent(self) -> None:
        """Permit the instructor to observe this seat, or withdraw the permission."""
        if self.seat is None:
            self._notice.show_info(tr(NO_SEAT_TEXT))
        else:
            self.seat.toggle_observation_consent()

    def _leave_seat(self) -> None:
        if self.seat is not None:
            self.seat.leave()
            self.seat = None

    def stop(self) -> None:
        """Stop all processes of the class, because the window closes."""
        held_class = self._store.get(settings.HOSTED_CLASS_DATABASE)
        self._leave_seat()
        self.stop_host()
        self._store.set(settings.HOSTED_CLASS_DATABASE, held_class)
