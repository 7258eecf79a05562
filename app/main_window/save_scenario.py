"""Save dialog for scenarios, shared by the editor and by runs that become scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from app.files import atomic_write, scenario_files
from app.main_window.quarantine import QuarantineGate
from app.main_window.run_controller import RunController
from app.main_window.session import HostSession
from app.widgets.notice import NoticeBar
from app.words.language import tr
from app.words.localization import localize
from engine.drill.authoring import run_scenario
from engine.drill.running.drill import Drill


class ScenarioSaver(QObject):
    """Dialog that saves a scenario; saved files are accepted from then on."""

    def __init__(self, gate: QuarantineGate, notice: NoticeBar, parent: QWidget) -> None:
        super().__init__(parent)
        self._gate, self._notice, self._parent = gate, notice, parent

    def ask(self, title: str, suggested: str, current: Path | None = None) -> Path | None:
        """Ask for a file, at first in the user's own folder; None if canceled.

        The name is made valid for a scenario. If the valid name belongs to another existing file, not
        *current*, ask again.
        """
        folder = scenario_files.own_folder()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            folder = Path.home()
        chosen, _ = QFileDialog.getSaveFileName(
            self._parent, title, str(folder / suggested), tr("Scenarios (*.toml)")
        )
        if not chosen:
            return None
        path = Path(chosen)
        named = path.with_name(f"{run_scenario.slug(path.stem)}.toml")
        asked = named in (path, current) or not named.exists()
        return named if asked or self._may_replace(named) else None

    def write(self, file: Path, text: str) -> bool:
        """Write *text* to *file*, completely or not at all, and mark it as accepted.

        Report the reason and return False if that fails.
        """
        if scenario_files.is_shipped_name(file.stem):
            said = tr("{name} is a shipped drill and cannot be replaced. Choose another name.")
            self._notice.warn(said.format(name=file.stem))
            return False
        try:
            atomic_write.write(file, text)
        except OSError as error:
            said = tr("{file} cannot be written: {reason}.")
            self._notice.warn(said.format(file=file, reason=error.strerror))
            return False
        self._gate.trust(text)
        return True

    def _may_replace(self, file: Path) -> bool:
        said = tr("{file} already exists. Replace it?").format(file=file.name)
        buttons = QMessageBox.StandardButton.Yes | QMessageBox.StandardButton.No
        answer = QMessageBox.question(self._parent, tr("Save the scenario"), said, buttons)
        return answer == QMessageBox.StandardButton.Yes


NAME_MAX: Final = 60
"""Characters of a scenario's name, by its schema."""


def check_story_visible(drill: Drill, notice: NoticeBar) -> bool:
    """Return whether the story may be shown (an exam must be over); show the reason if not."""
    if drill.is_truth_hidden:
        notice.warn(tr("You can save an exam as a scenario after it ends."))
        return False
    return True


def suggested_name(drill: Drill) -> str:
    """Return the default name of a scenario made from this run."""
    return f"my-{drill.scenario.name}"[:NAME_MAX].rstrip("-_")


class RunAsScenario(QObject):
    """Conversion of the current run, or of the run of the debrief, into a scenario."""

    def __init__(
        self,
        session: HostSession,
        play: RunController,
        saver: ScenarioSaver,
        notice: NoticeBar,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session, self._play, self._saver, self._notice = session, play, saver, notice

    def save(self) -> None:
        """Ask for a file in the user's own folder and write the run as a scenario."""
        tree = self._play.branches
        if tree is None:
            self._notice.show_info(tr("Open a run first; then you can save it as a scenario."))
            return
        drill = tree.history.drill
        if not check_story_visible(drill, self._notice):
            return
        self._session.pause()
        file = self._saver.ask(tr("Save this run as a scenario"), f"{suggested_name(drill)}.toml")
        if file is not None:
            self._write(drill, file)

    def _write(self, drill: Drill, file: Path) -> None:
        """Write *drill* to *file*, completely or not at all; report an obstacle."""
        try:
            text = run_scenario.scenario_from_drill(drill, file.stem)
        except run_scenario.ScenarioRecordingError as problem:
            self._notice.warn(localize(str(problem)))
            return
        if self._saver.write(file, text):
            told = tr("Saved: {file}. Replace the texts that begin with “{mark}”; Check lists them.")
            self._notice.show_info(told.format(file=file, mark=run_scenario.TO_WRITE.strip()))
