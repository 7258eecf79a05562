"""A scenario from what was done: play in the lab, break things, mend them, save the run as a drill."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject

from app.main_window.run_controller import RunController
from app.main_window.save_scenario import ScenarioSaver
from app.main_window.session import HostSession
from app.widgets.notice import NoticeBar
from app.words.language import tr
from app.words.localization import localize
from engine.drill.authoring import run_scenario
from engine.drill.running import visibility
from engine.drill.running.drill import Drill

NAME_MAX: Final = 60
"""Characters of a scenario's name, by its schema."""


def check_story_visible(drill: Drill, notice: NoticeBar) -> bool:
    """Return whether the story may be shown (an exam must be over); show the reason if not."""
    if visibility.is_truth_hidden(drill):
        notice.warn(tr("You can save an exam as a scenario after it ends."))
        return False
    return True


def suggested_name(drill: Drill) -> str:
    """Return the default name of a scenario made from this run."""
    return f"my-{drill.scenario.name}"[:NAME_MAX].rstrip("-_")


class RunAsScenario(QObject):
    """Of the run on screen, or of that whose debrief is."""

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
        """Ask for a file in the user's own folder and write the run there."""
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
        """Write *drill* to *file*, wholly or not at all; what stands against it is said."""
        try:
            text = run_scenario.scenario_from_drill(drill, file.stem)
        except run_scenario.ScenarioRecordingError as problem:
            self._notice.warn(localize(str(problem)))
            return
        if self._saver.write(file, text):
            told = tr("Saved: {file}. Replace the texts that begin with “{mark}”; Check lists them.")
            self._notice.show_info(told.format(file=file, mark=run_scenario.TO_WRITE.strip()))
