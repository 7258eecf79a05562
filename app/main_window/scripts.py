"""Scripts of the SQL windows, what queries have brought and what logs list, from and into files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from app.export.sheets import as_csv
from app.files import atomic_write, sql_files
from app.files.sql_files import ScriptFileError
from app.main_window.session import HostSession
from app.views.console import Console
from app.views.console.outcome import message_lines
from app.widgets.event_table import EventTable
from app.widgets.notice import NoticeBar
from app.words import formatting
from app.words.language import tr
from engine.drill.authoring.scenario import escape_invisible


class Scripts(QObject):
    """File operations of the SQL windows and of the lists of events."""

    def __init__(
        self,
        console: Console,
        tables: Iterable[EventTable],
        session: HostSession,
        notice: NoticeBar,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._parent, self._console, self._session, self._notice = parent, console, session, notice
        console.file_wanted.connect(self.act)
        for table in tables:
            table.save_wanted.connect(partial(self.save_rows, table))

    def act(self, wish: str) -> None:
        """Execute a request of the SQL windows: "open", "save" or "results"."""
        {"open": self.ask, "save": self.save, "results": self.save_results}[wish]()

    def ask(self) -> None:
        """Have the user choose a script, and open it."""
        name, _ = QFileDialog.getOpenFileName(self._parent, tr("Open a script"), "", _sql())
        if name:
            self.open(Path(name))

    def open(self, file: Path) -> None:
        """Open a script in a new query window, on the server of the front one."""
        console, drill = self._console, self._session.drill
        if drill is None:
            self._notice.show_info(tr("Start a drill first. The script opens on one of its servers."))
            return
        try:
            text = sql_files.read(file)
        except ScriptFileError as problem:
            self._notice.warn(str(problem))
            return
        server = console.current.server if console.current is not None else next(iter(drill.world.instances))
        opened = console.new_query(server, text)
        if opened is not None:
            console.tabs.name_after(opened, escape_invisible(file.name))

    def save(self) -> None:
        """Save the text of the front window."""
        window = self._console.current
        if window is not None:
            text = window.editor.toPlainText()
            written = self._write(tr("Save the script"), f"{window.server}.sql", _sql(), lambda _: text)
            if written is not None:
                self._console.tabs.name_after(window, escape_invisible(written.name))

    def save_results(self) -> None:
        """Save the results of the batch in the front window: its result sets as a table, or all its output as text."""
        window = self._console.current
        outcome = window.results.outcome if window is not None else None
        if window is None or outcome is None:
            self._notice.show_info(tr("Nothing has been executed in this SQL window yet."))
            return
        results = [(result.columns, result.rows) for result in outcome.results]
        messages = [text for text, _, _ in message_lines(outcome)]
        kinds = ";;".join((tr("Text (*.txt)"), tr("Values (*.csv)")))

        def content(file: Path) -> str:
            if file.suffix.lower() == ".csv":
                return sql_files.results_as_csv(results)
            return sql_files.results_as_text(results, messages)

        self._write(tr("Save the results"), f"{window.server}.txt", kinds, content)

    def save_rows(self, rows: EventTable) -> None:
        """Save the rows that a log or another list of events shows now, for a spreadsheet or a mail."""
        columns, listed = rows.listed()
        if not listed:
            self._notice.show_info(tr("No rows to save."))
            return
        kinds = ";;".join((tr("Values (*.csv)"), tr("Text (*.txt)")))

        def content(file: Path) -> str:
            if file.suffix.lower() == ".csv":
                return as_csv(columns, listed)
            return formatting.text_table(columns, listed) + "\n"

        self._write(tr("Save these rows"), f"{rows.file_name}.csv", kinds, content)

    def _write(self, title: str, suggested: str, kinds: str, content: Callable[[Path], str]) -> Path | None:
        """Ask for a file and write the content, completely or not at all; report the reason of a failure.

        Return the written file.
        """
        chosen, kind = QFileDialog.getSaveFileName(self._parent, title, suggested, kinds)
        if not chosen:
            return None
        file = Path(chosen)
        if not file.suffix:
            file = file.with_name(file.name + kind[kind.index("*") + 1 : kind.index(")")])
        try:
            atomic_write.write(file, content(file))
        except OSError as error:
            said = tr("{file} cannot be written: {why}")
            self._notice.warn(said.format(file=escape_invisible(str(file)), why=error.strerror))
        else:
            self._notice.show_info(tr("Saved: {file}").format(file=escape_invisible(str(file))))
            return file
        return None


def _sql() -> str:
    return tr("Scripts (*.sql)")
