"""Scenario editor in the window: its files, drafts that survive a crash, and trial runs."""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox

from app.files import atomic_write, scenario_files
from app.files.scenario_files import ScenarioNotFoundError
from app.main_window.appearance import AppearanceSettings
from app.main_window.drill_selection import DrillSelectionController
from app.main_window.navigation import PageNavigation
from app.main_window.quarantine import QuarantineGate
from app.main_window.query_drafts import EDITOR_DRAFT, DebounceTimer
from app.main_window.shared_parts import SharedParts, WindowPart
from app.storage import StorageError
from app.widgets.busy_cursor import show_busy_cursor
from app.widgets.notice import NoticeBar
from app.widgets.save_file import confirm_replacement
from app.words.language import tr
from app.words.localization import localize
from engine.drill.authoring import run_scenario
from engine.drill.authoring.scenario import Scenario
from engine.drill.running.drill import Drill
from engine.json_text import parse_json

if TYPE_CHECKING:
    from app.views.editor import ScenarioEditor


class ScenarioSaver(WindowPart):
    """Saver of scenarios. It asks for a file, and accepts saved files, so that they open without a review."""

    def __init__(self, shared: SharedParts, gate: QuarantineGate) -> None:
        super().__init__(shared)
        self._gate = gate

    def ask_for_file(self, title: str, suggested: str, current: Path | None = None) -> Path | None:
        """Ask for a file, initially in the user's scenario folder. Return None if the user cancels.

        The name is changed to a valid scenario name. The dialog asks again if another file than *current* has
        this name.
        """
        folder = scenario_files.get_user_scenario_folder()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            folder = Path.home()
        chosen_file, _ = QFileDialog.getSaveFileName(
            self._window, title, str(folder / suggested), tr("Scenarios (*.toml)")
        )
        if not chosen_file:
            return None
        path = Path(chosen_file)
        named_file = path.with_name(f"{run_scenario.make_slug(path.stem)}.toml")
        needs_no_question = named_file in (path, current)
        if needs_no_question or confirm_replacement(self._window, title, [named_file]):
            return named_file
        return None

    def write_file(self, file: Path, text: str) -> bool:
        """Write *text* to *file* atomically, and accept it, so that it opens without a review.

        On failure, report the reason and return False.
        """
        if scenario_files.is_shipped_name(file.stem):
            message = tr("{name} is a shipped drill and cannot be replaced. Choose another name.")
            self._notice.show_warning(message.format(name=file.stem))
            return False
        try:
            atomic_write.write_atomically(file, text)
        except OSError as error:
            message = tr("{file} cannot be written: {reason}.")
            self._notice.show_warning(message.format(file=file, reason=error.strerror))
            return False
        self._gate.accept_own_text(text)
        return True


NAME_LENGTH_MAX: Final = 60
"""Maximum number of characters of a scenario's name, as in the schema."""


def may_show_timeline(drill: Drill, notice: NoticeBar) -> bool:
    """Return whether the timeline may be shown. If not, show the reason.

    The timeline of an unfinished exam must stay hidden.
    """
    if drill.is_truth_hidden:
        notice.show_warning(tr("You can save an exam as a scenario after it ends."))
        return False
    return True


def suggest_name(drill: Drill) -> str:
    """Return the default name of a scenario that is made from this run."""
    return f"my-{drill.scenario.name}"[:NAME_LENGTH_MAX].rstrip("-_")


class RunToScenarioConverter(WindowPart):
    """Converter of the current run, or of the run in the debrief, to a scenario file."""

    def __init__(self, shared: SharedParts, saver: ScenarioSaver) -> None:
        super().__init__(shared)
        self._saver = saver

    def save_scenario(self) -> None:
        """Ask for a file in the user's scenario folder, and write the run as a scenario."""
        tree = self._play.branches
        if tree is None:
            self._notice.show_info(tr("Open a run first; then you can save it as a scenario."))
            return
        drill = tree.history.drill
        if not may_show_timeline(drill, self._notice):
            return
        self._session.pause()
        file = self._saver.ask_for_file(tr("Save this run as a scenario"), f"{suggest_name(drill)}.toml")
        if file is not None:
            self._write(drill, file)

    def _write(self, drill: Drill, file: Path) -> None:
        """Write *drill* as a scenario to *file* atomically, or report the reason of a failure."""
        try:
            text = run_scenario.build_scenario_text(drill, file.stem)
        except run_scenario.ScenarioRecordingError as problem:
            self._notice.show_warning(localize(str(problem)))
            return
        if self._saver.write_file(file, text):
            message = tr(
                "Saved: {file}. Replace the texts that begin with “{mark}”. The scenario editor lists them "
                "under “Findings”."
            )
            self._notice.show_info(message.format(file=file, mark=run_scenario.PLACEHOLDER_PREFIX.strip()))


DRAFT_SAVE_DELAY_MS: Final = 400
"""Pause in typing after which the draft is stored, as for query drafts."""

NEW_FILE_NAME: Final = "new-scenario"
"""Default file name of a scenario without a title."""

COPIED_NAME_LENGTH_MAX: Final = 50
"""Maximum number of characters of a drill's name within the name of its copy, whose total limit is 60."""


class ScenarioEditorController(WindowPart):
    """Controller of the scenario editor. It opens a new text, a file, a copy of a drill or the last run."""

    file_opened = Signal(str)
    """Signal: path of the scenario that is now in the editor."""

    def __init__(
        self,
        shared: SharedParts,
        navigation: PageNavigation,
        choice: DrillSelectionController,
        saver: ScenarioSaver,
        gate: QuarantineGate,
        appearance: AppearanceSettings,
    ) -> None:
        super().__init__(shared)
        self._navigation, self._choice = navigation, choice
        self._saver, self._gate = saver, gate
        self._appearance = appearance
        self._page: ScenarioEditor | None = None
        self._reported_problem = ""
        self._save_pause = DebounceTimer(DRAFT_SAVE_DELAY_MS, self)
        self._save_pause.timeout.connect(self.save_draft)
        self._last_run: Drill | None = None
        """Last drill on the desk, even if the editor has replaced the desk; None if there was none."""
        shared.play.run_started.connect(self._remember_run)

    @property
    def page(self) -> ScenarioEditor:
        """Return the page of the editor, created on first use."""
        if self._page is None:
            from app.views.briefing import BriefPage
            from app.views.editor import ScenarioEditor

            page = self._page = ScenarioEditor(BriefPage())
            self._appearance.bind_actions(page.tools)
            page.new_wanted.connect(self.create_scenario)
            page.open_wanted.connect(self.ask_to_open)
            page.save_wanted.connect(self.save_scenario)
            page.save_as_wanted.connect(self.save_scenario_as)
            page.recording_wanted.connect(self.load_last_run)
            page.play_wanted.connect(self._play_draft)
            page.closed.connect(self._navigation.return_from_page)
            if not self._restore_draft(page):
                page.show_text(_build_template(), None)
            page.draft_changed.connect(self._save_pause.restart_pause)
        return self._page

    @show_busy_cursor()
    def show_editor(self) -> None:
        """Show the editor with the last draft, or else with a new scenario."""
        self._navigation.pause_run()
        self._navigation.show_page(self.page, tr("Scenario editor"))
        self.page.text.setFocus()

    # --- text being edited ----------------------------------------------------------------------------------

    def create_scenario(self) -> None:
        """Open a new scenario."""
        if self._may_leave():
            self.page.show_text(_build_template(), None)

    def ask_to_open(self) -> None:
        """Ask for a scenario file and open it."""
        if not self._may_leave():
            return
        folder = scenario_files.get_user_scenario_folder()
        start = str(folder if folder.is_dir() else Path.home())
        kinds = tr("Scenarios (*.toml)")
        chosen_file, _ = QFileDialog.getOpenFileName(self._window, tr("Open a scenario"), start, kinds)
        if chosen_file:
            self.open_file(chosen_file)

    def open_file(self, name: str) -> None:
        """Open the scenario with this name or path. A shipped or imported scenario is opened as a copy."""
        try:
            file = scenario_files.find_scenario_file(name)
        except ScenarioNotFoundError as problem:
            self._notice.show_warning(str(problem))
            return
        if file.shipped or file.origin:
            self.page.show_text(file.text, None, saved=False, name=_suggest_copy_name(file.name))
        else:
            self.page.show_text(file.text, Path(file.file))
            self.file_opened.emit(file.file)

    def edit_scenario(self, name: str) -> None:
        """Open the scenario *name* in the editor."""
        self.show_editor()
        if self._may_leave():
            self.open_file(name)

    def copy_drill(self) -> None:
        """Open a copy of the drill on screen. Nothing is written until the user saves it."""
        scenario = self._choice.scenario
        if scenario is None:
            self._notice.show_info(tr("Choose a drill first. Its text is copied to the editor."))
            return
        tree = self._play.branches
        if (
            tree is not None and tree.history.drill.is_truth_hidden
        ):  # the text of a drill contains its faults and its solution
            self._notice.show_warning(tr("You can copy the text of an exam's drill after the exam ends."))
            return
        self.show_editor()
        if self._may_leave():
            self.page.show_text(scenario.text, None, saved=False, name=_suggest_copy_name(scenario.name))

    def _remember_run(self, drill: Drill) -> None:
        if not self._play.is_watching:
            self._last_run = drill

    def load_last_run(self) -> None:
        """Build a scenario from the last run. Its faults become the timeline, and its repairs become the solution."""
        drill = self._last_run
        if drill is None:
            self._notice.show_info(tr("Play in the lab first. Your actions there become the scenario."))
            return
        if not may_show_timeline(drill, self._notice) or not self._may_leave():
            return
        name = suggest_name(drill)
        try:
            text = run_scenario.build_scenario_text(drill, name)
        except run_scenario.ScenarioRecordingError as problem:
            self._notice.show_warning(localize(str(problem)))
        else:
            self.page.show_text(text, None, saved=False, name=name)

    # --- files ----------------------------------------------------------------------------------------------

    def save_scenario(self) -> None:
        """Save the scenario to its file."""
        if self.page.file is None:
            self.save_scenario_as()
        else:
            self.write_file(self.page.file)

    def save_scenario_as(self) -> None:
        """Ask for a file and save the scenario to it."""
        page = self.page
        page.form.apply_pending_input()
        has_name = page.file is not None or page.draft_name
        suggested = (
            page.file_name
            if has_name
            else f"{_derive_file_name(page.text.toPlainText()) or NEW_FILE_NAME}.toml"
        )
        file = self._saver.ask_for_file(tr("Save the scenario"), suggested, page.file)
        if file is not None:
            self.write_file(file)

    def write_file(self, file: Path) -> None:
        """Write the text to *file* atomically."""
        self.page.form.apply_pending_input()
        if not self._saver.write_file(file, self.page.text.toPlainText()):
            return
        self.page.mark_saved(file)
        self.file_opened.emit(str(file))
        self.save_draft()
        self._notice.show_info(tr("Saved: {file}.").format(file=file))

    def _may_leave(self) -> bool:
        """Return whether the editor may replace its text: the text is saved, or the user discards it."""
        if self._page is None or not self._page.has_unsaved_changes:
            return True
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Question)
        box.setText(tr("{file} has unsaved changes.").format(file=self._page.file_name))
        save = box.addButton(tr("Save"), QMessageBox.ButtonRole.AcceptRole)
        discard = box.addButton(tr("Discard"), QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.exec()
        if box.clickedButton() is save:
            self.save_scenario()
            return not self._page.has_unsaved_changes
        return box.clickedButton() is discard

    # --- drafts ---------------------------------------------------------------------------------------------

    def save_draft(self) -> None:
        """Store the text of the editor and the path of its file as a draft in the profile."""
        self._save_pause.stop()
        profile, page = self._profile, self._page
        if profile is None or page is None:
            return
        try:
            if page.has_unsaved_changes:
                file = str(page.file) if page.file is not None else ""
                draft = {"file": file, "name": page.draft_name, "text": page.text.toPlainText()}
                profile.drafts.save(EDITOR_DRAFT, json.dumps(draft))
            else:
                profile.drafts.delete(EDITOR_DRAFT)
        except StorageError as problem:
            if str(problem) != self._reported_problem:  # reported once, not at each pause in typing
                self._notice.show_warning(str(problem))
            self._reported_problem = str(problem)
        else:
            self._reported_problem = ""

    def _restore_draft(self, page: ScenarioEditor) -> bool:
        profile = self._profile
        try:
            draft_text = profile.drafts.load(EDITOR_DRAFT) if profile is not None else None
        except StorageError as problem:
            self._notice.show_warning(str(problem))
            return False
        if draft_text is None:
            return False
        try:
            draft = parse_json(draft_text)
            text, file, name = str(draft["text"]), str(draft["file"]), str(draft.get("name", ""))
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        page.show_text(text, Path(file) if file else None, saved=False, name=run_scenario.make_slug(name))
        message = tr("{file} is open with your unsaved changes.")
        self._notice.show_info(message.format(file=page.file_name))
        return True

    def _play_draft(self, scenario: Scenario) -> None:
        self.save_draft()
        self._gate.accept_own_text(scenario.text)
        self._confirmations.confirm_if_needed("leave", lambda: self._choice.show_brief(scenario))

    def stop(self) -> None:
        """Store the draft for the last time, because the profile is about to be closed."""
        self.save_draft()
        if self._page is not None:
            self._page.draft_changed.disconnect(self._save_pause.restart_pause)
            self._page.stop_work()


def _suggest_copy_name(name: str) -> str:
    """Return a default name for a copy of the drill *name*, which no other drill has."""
    candidate = base_name = f"{run_scenario.make_slug(name)[:COPIED_NAME_LENGTH_MAX]}-copy"
    folder, number = scenario_files.get_user_scenario_folder(), 1
    while scenario_files.is_shipped_name(candidate) or (folder / f"{candidate}.toml").exists():
        number += 1
        candidate = f"{base_name}-{number}"
    return candidate


def _derive_file_name(text: str) -> str:
    """Convert the scenario's title to a file name; empty if there is no title or the text is invalid."""
    try:
        return run_scenario.make_slug(str(tomllib.loads(text).get("title", "")))
    except ValueError:
        return ""


def _build_template() -> str:
    return (files("assets") / "new_scenario.toml").read_text(encoding="utf-8")
