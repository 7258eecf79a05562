"""Save dialog for scenarios, shared by the editor and by runs that become scenarios."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from app.files import atomic_write, scenario_files
from app.main_window.quarantine import QuarantineGate
from app.widgets.notice import NoticeBar
from app.words.language import tr
from engine.drill.authoring import run_scenario


class ScenarioSaver(QObject):
    """Asks where to, and writes there; what was written here is trusted from then on."""

    def __init__(self, gate: QuarantineGate, notice: NoticeBar, parent: QWidget) -> None:
        super().__init__(parent)
        self._gate, self._notice, self._parent = gate, notice, parent

    def ask(self, title: str, suggested: str, current: Path | None = None) -> Path | None:
        """Ask for a file, in the user's own folder at first; None if there is to be none.

        The name becomes one that a scenario can have. If that is the name of another file than the one that the dialog
        has asked about, and not *current*, we ask.
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
        """Put *text* into *file*, wholly or not at all, and trust it; False after saying why that cannot be."""
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
