"""Files of the user: scenarios, bundles, recorded runs and scripts. They open from a dialog or by drag and drop."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QMimeData, QObject, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from app import settings
from app.export.csv_tables import format_csv_table
from app.files import atomic_write, bundle, scenario_files, sql_files
from app.files.bundle import BundleError
from app.files.scenario_files import ScenarioNotFoundError
from app.files.sql_files import ScriptFileError
from app.main_window import dialogs
from app.main_window.debrief_controller import DebriefController
from app.main_window.drill_selection import DrillSelectionController
from app.main_window.quarantine import QuarantineGate
from app.main_window.shared_parts import SharedParts, WindowPart
from app.settings import WindowSettings
from app.views.console import QueryConsole
from app.views.console.outcome import list_message_lines
from app.widgets.busy_cursor import show_busy_cursor
from app.widgets.event_table import EventTable
from app.widgets.save_file import ask_for_file
from app.widgets.tables import escape_tip
from app.words import formatting
from app.words.language import tr
from app.words.localization import localize
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import escape_invisible
from engine.overrides import override


class FileController(WindowPart):
    """Controller that opens and saves scripts, and saves query results and event lists."""

    def __init__(self, shared: SharedParts, console: QueryConsole) -> None:
        super().__init__(shared)
        self._console = console
        console.file_wanted.connect(self.execute_request)

    def add_table(self, table: EventTable) -> None:
        """Connect the request of *table*, an event list, to save its rows."""
        table.save_wanted.connect(partial(self.save_rows, table))

    def execute_request(self, request: str) -> None:
        """Execute a request of the query windows: "open", "save" or "results"."""
        {"open": self.choose_script, "save": self.save_script, "results": self.save_results}[request]()

    def choose_script(self) -> None:
        """Let the user choose a script, and open it."""
        name, _ = QFileDialog.getOpenFileName(self._window, tr("Open a script"), "", _format_sql_filter())
        if name:
            self.open_script(Path(name))

    def open_script(self, file: Path) -> None:
        """Open a script in a new query window, on the server of the front window."""
        console, drill = self._console, self._session.drill
        if drill is None:
            self._notice.show_info(tr("Start a drill first. The script opens on one of its servers."))
            return
        try:
            text = sql_files.read_script(file)
        except ScriptFileError as problem:
            self._notice.show_warning(str(problem))
            return
        server = (
            console.front_window.server
            if console.front_window is not None
            else next(iter(drill.world.instances))
        )
        window = console.open_query(server, text)
        if window is not None:
            console.tabs.show_file_name(window, escape_invisible(file.name))

    def save_script(self) -> None:
        """Save the text of the front query window."""
        window = self._console.front_window
        if window is not None:
            text = window.editor.toPlainText()
            path = self._write(
                tr("Save the script"), f"{window.server}.sql", _format_sql_filter(), lambda _: text
            )
            if path is not None:
                self._console.tabs.show_file_name(window, escape_invisible(path.name))

    def save_results(self) -> None:
        """Save the results of the front query window: result sets as a table, or all output as text."""
        window = self._console.front_window
        outcome = window.results.outcome if window is not None else None
        if window is None or outcome is None:
            self._notice.show_info(tr("Nothing has been executed in this SQL window yet."))
            return
        results = [(result.columns, result.rows) for result in outcome.results]
        messages = [text for text, _, _ in list_message_lines(outcome)]
        kinds = ";;".join((tr("Text (*.txt)"), tr("Values (*.csv)")))

        def content(file: Path) -> str:
            if file.suffix.lower() == ".csv":
                return sql_files.format_results_as_csv(results)
            return sql_files.format_results_as_text(results, messages)

        self._write(tr("Save the results"), f"{window.server}.txt", kinds, content)

    def save_rows(self, rows: EventTable) -> None:
        """Save the rows that an event list currently shows."""
        columns, listed = rows.list_shown_rows()
        if not listed:
            self._notice.show_info(tr("No rows to save."))
            return
        kinds = ";;".join((tr("Values (*.csv)"), tr("Text (*.txt)")))

        def content(file: Path) -> str:
            if file.suffix.lower() == ".csv":
                return format_csv_table(columns, listed)
            return formatting.format_text_table(columns, listed) + "\n"

        self._write(tr("Save these rows"), f"{rows.file_name}.csv", kinds, content)

    def _write(self, title: str, suggested: str, kinds: str, content: Callable[[Path], str]) -> Path | None:
        """Ask for a file and write the content atomically. Report the reason of a failure.

        Return the written file, or None.
        """
        file = ask_for_file(self._window, title, suggested, kinds)
        if file is None:
            return None
        try:
            atomic_write.write_atomically(file, content(file))
        except OSError as error:
            text = tr("{file} cannot be written: {why}")
            self._notice.show_warning(text.format(file=escape_invisible(str(file)), why=error.strerror))
        else:
            self._notice.show_info(tr("Saved: {file}").format(file=escape_invisible(str(file))))
            return file
        return None


def _format_sql_filter() -> str:
    return tr("Scripts (*.sql)")


OPENABLE_EXTENSIONS: Final = frozenset({".toml", ".json", bundle.BUNDLE_SUFFIX, sql_files.SCRIPT_SUFFIX})
"""Extensions of files that can be opened."""
PROBLEMS_SHOWN_MAX: Final = 5
"""Maximum number of problems of a bundle in the notice. `mirrordrill check` lists all problems."""


class FileOpener(WindowPart):
    """Opener of files. Each kind of file opens in its own part of the window.

    Files from other people must first be accepted at *gate*.
    """

    opened = Signal(str)
    """Signal: path of a drill or bundle that is on screen now."""

    def __init__(
        self,
        shared: SharedParts,
        scripts: FileController,
        debrief_controller: DebriefController,
        choice: DrillSelectionController,
        gate: QuarantineGate,
    ) -> None:
        super().__init__(shared)
        self._scripts, self._debrief_controller, self._choice = scripts, debrief_controller, choice
        self._gate = gate

    def choose_file(self) -> None:
        """Let the user choose a file, and open it."""
        name = dialogs.ask_file(self._window)
        if name:
            self.open_file(name)

    def ask_for_run(self) -> None:
        """Ask for a file with a recorded run."""
        title, kinds = tr("Open a recorded run"), tr("Runs (*.json)")
        name, _ = QFileDialog.getOpenFileName(self._window, title, "", kinds)
        if name:
            self.open_file(name)

    def open_file(self, name: str) -> None:
        """Open the file *name*: a scenario, a bundle, a recorded run or a script.

        If the file cannot be opened, show the problem. A script opens in the current run. All other files
        leave the run.
        """
        if Path(name).suffix.lower() == sql_files.SCRIPT_SUFFIX:
            self._scripts.open_script(Path(name))
        else:
            self._confirmations.confirm_if_needed("leave", lambda: self._open_by_kind(name))

    @show_busy_cursor()
    def _open_by_kind(self, name: str) -> None:
        kind = Path(name).suffix.lower()
        if kind == bundle.BUNDLE_SUFFIX:
            self._open_bundle(Path(name))
            return
        if kind == ".json":
            self._debrief_controller.open_file(Path(name))
            return
        try:
            scenario = scenario_files.find_scenario_file(name).load()
        except (ScenarioNotFoundError, ScenarioError) as problem:
            self._notice.show_warning(escape_invisible(localize(str(problem))))
            return

        def show_scenario() -> None:
            self._choice.show_brief(scenario)
            self.opened.emit(name)

        self._gate.admit_scenario(scenario, name, show_scenario)

    def _open_bundle(self, file: Path) -> None:
        try:
            opened_bundle = bundle.read_bundle(file)
        except BundleError as refused:
            more_count = len(refused.problems) - PROBLEMS_SHOWN_MAX
            lines = [str(problem) for problem in refused.problems[:PROBLEMS_SHOWN_MAX]]
            lines += [tr("and {n} more problems").format(n=more_count)] if more_count > 0 else []
            self._notice.show_warning(escape_invisible("\n".join(lines)))
            return
        self._gate.admit_bundle(opened_bundle)
        self.opened.emit(str(file))


class FileDropHandler(QObject):
    """Handler of files that are dropped on the window. They open as if they were selected in a dialog."""

    dropped = Signal(str)
    """Signal: path of a dropped file."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QDropEvent) and event.type() in (QEvent.Type.DragEnter, QEvent.Type.Drop):
            file = _find_dropped_file(event.mimeData())
            if file:
                event.acceptProposedAction()
                if event.type() == QEvent.Type.Drop:
                    self.dropped.emit(file)
                return True
        return super().eventFilter(watched, event)


def _find_dropped_file(data: QMimeData) -> str:
    """Return the path of the dragged local file if its kind can be opened, or an empty text."""
    files = [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
    return files[0] if len(files) == 1 and Path(files[0]).suffix.lower() in OPENABLE_EXTENSIONS else ""


RECENT_FILES_MAX: Final = 10
"""Maximum number of recent files, so that the menu is readable at a glance. Our choice."""


class RecentFilesMenu(QObject):
    """Menu of recent files, newest first. Missing files stay listed, but are disabled."""

    file_wanted = Signal(str)
    """Signal: path of a recent file to open."""

    def __init__(self, store: WindowSettings, parent: QWidget) -> None:
        super().__init__(parent)
        self._store = store
        self.menu = QMenu(tr("Recent &files"), parent, toolTipsVisible=True)
        self.menu.aboutToShow.connect(self._fill)

    def list_files(self) -> list[Path]:
        """Return recent files that still exist, newest first."""
        document = self._store.read_json(settings.RECENT_FILES)
        names = document[:RECENT_FILES_MAX] if isinstance(document, list) else []
        return [Path(name) for name in names if isinstance(name, str) and "\0" not in name]

    def add_file(self, file: str) -> None:
        """Add *file*, which was just opened, as the newest file."""
        path = Path(file).resolve()
        self._save_files(
            [path, *(other_path for other_path in self.list_files() if other_path != path)][:RECENT_FILES_MAX]
        )

    def clear(self) -> None:
        """Remove all entries."""
        self._save_files([])

    def _save_files(self, files: list[Path]) -> None:
        self._store.set(settings.RECENT_FILES, json.dumps([str(file) for file in files]))

    def _fill(self) -> None:
        """Add one menu entry per file. If names are equal, add the folder."""
        menu, files = self.menu, self.list_files()
        menu.clear()
        names = [file.name for file in files]
        for number, file in enumerate(files, start=1):
            text = file.name if names.count(file.name) == 1 else f"{file.name}  –  {file.parent}"
            action = menu.addAction(f"&{number % 10}  {escape_invisible(text).replace('&', '&&')}")
            action.setToolTip(escape_tip(escape_invisible(str(file))))
            action.setEnabled(file.is_file())
            action.triggered.connect(lambda _=False, file=file: self.file_wanted.emit(str(file)))
        if files:
            menu.addSeparator()
        menu.addAction(tr("Clear this list"), self.clear).setEnabled(bool(files))
