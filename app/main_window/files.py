"""Scenarios, bundles, recorded runs and scripts by their file: asked for or dropped, read, and let in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QMimeData, QObject
from PySide6.QtGui import QDropEvent

from app.files import bundle, scenario_files, sql_files
from app.files.bundle import BundleProblems
from app.files.scenario_files import NoScenario
from app.main_window import actions, dialogs
from app.widgets.busy import busy
from app.words.language import tr
from app.words.sentences import said
from engine.drill.authoring.contents import visible
from engine.drill.authoring.problems import ScenarioProblems

if TYPE_CHECKING:
    from app.main_window.window import MainWindow

KINDS: Final = frozenset({".toml", ".json", bundle.SUFFIX, sql_files.SUFFIX})
"""Endings of files that can be opened."""
TOLD_MAX: Final = 5
"""Problems of a bundle that the window's notice has room for; `mirrordrill check` tells all."""


class Files:
    """`window.files`."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    def ask(self) -> None:
        """Have somebody choose a file, and open it."""
        name = dialogs.ask_file(self._window)
        if name:
            self.open(name)

    def open(self, name: str) -> None:
        """What is in the file *name*: a scenario, a bundle, a recorded run or a script; or what is wrong with it.

        A script comes into the run on screen; whatever else leaves it.
        """
        if Path(name).suffix.lower() == sql_files.SUFFIX:
            self._window.scripts.open(Path(name))
        else:
            self._window.irrevocable.maybe_ask("leave", lambda: self._open(name))

    @busy()
    def _open(self, name: str) -> None:
        window = self._window
        kind = Path(name).suffix.lower()
        if kind == bundle.SUFFIX:
            self._open_bundle(Path(name))
            return
        if kind == ".json":
            window.debriefing.open_file(Path(name))
            return
        try:
            scenario = scenario_files.find(name).load()
        except (NoScenario, ScenarioProblems) as problem:
            window.notice.warn(visible(said(str(problem))))
            return

        def show() -> None:
            window.show_brief(scenario)
            window.file_opened.emit(name)

        window.quarantine.admit(scenario, name, show)

    def _open_bundle(self, file: Path) -> None:
        window = self._window
        try:
            found = bundle.read(file)
        except BundleProblems as refused:
            more = len(refused.problems) - TOLD_MAX
            told = [str(problem) for problem in refused.problems[:TOLD_MAX]]
            told += [tr("and {n} more problems").format(n=more)] if more > 0 else []
            window.notice.warn(visible("\n".join(told)))
            return
        window.quarantine.admit_bundle(found)
        window.file_opened.emit(str(file))


class Drops(QObject):
    """Files that are let fall on the window are opened as if they had been chosen."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QDropEvent) and event.type() in (QEvent.Type.DragEnter, QEvent.Type.Drop):
            file = _dropped(event.mimeData())
            if file:
                event.acceptProposedAction()
                if event.type() == QEvent.Type.Drop:
                    self._window.open_file(file)
                return True
        return super().eventFilter(watched, event)


def _dropped(data: QMimeData) -> str:
    """The one file of this computer that is being dragged, if it is of a kind that can be opened."""
    files = [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
    return files[0] if len(files) == 1 and Path(files[0]).suffix.lower() in KINDS else ""


def attach(window: MainWindow) -> None:
    """The start page's button, an entry of the menu, and files that are let fall on the window."""
    window.files = Files(window)
    window.picker.file_wanted.connect(window.files.ask)
    added = actions.add(window, {"drill.open_file": window.files.ask})
    menu = window.menus["&Drill"]
    menu.insertAction(window.actions_by_name["drill.restart"], added["drill.open_file"])
    window.setAcceptDrops(True)
    window.installEventFilter(Drops(window))
