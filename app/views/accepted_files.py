"""Dialog that lists accepted files: files from other people that open without a confirmation.

The user can remove files from the list.
"""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QWidget

from app.widgets.layouts import build_widget_column
from app.widgets.scroll_container import fit_on_screen
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words.language import mark, tr
from engine.drill.authoring.scenario import escape_invisible


class AcceptedFileRow(Struct, frozen=True):
    """Row of the list of accepted files. Title and author may come from a stranger.

    An empty string means that the value is unknown.
    """

    sha256: str
    title: str
    author: str
    accepted_on: str
    """Date of acceptance, such as 2026-11-21."""


def _make_safe_reader(read: Callable[[AcceptedFileRow], str]) -> Callable[[AcceptedFileRow], str]:
    return lambda accepted_text: escape_invisible(read(accepted_text)).replace("\n", " ") or tr("unknown")


ACCEPTED_FILE_COLUMNS: Final[tuple[TableColumn[AcceptedFileRow], ...]] = (
    TableColumn(
        title=mark("Title"),
        text=_make_safe_reader(lambda one: one.title),
        tip=_make_safe_reader(lambda one: one.title),
        sample="Automatic failover under load",
    ),
    TableColumn(
        title=mark("Author"),
        text=_make_safe_reader(lambda one: one.author),
        tip=_make_safe_reader(lambda one: one.author),
        sample="Name of an author",
    ),
    TableColumn(
        title=mark("Accepted on"), text=_make_safe_reader(lambda one: one.accepted_on), sample="2026-11-21"
    ),
    TableColumn(
        title="SHA-256",
        is_name=True,
        text=lambda one: f"{one.sha256[:16]}…",
        tip=lambda one: one.sha256,
    ),
)


class AcceptedFilesDialog(QDialog):
    """Dialog that lists the accepted files.

    After the user chooses Forget, a file opens only after a confirmation again.
    """

    forget_wanted = Signal(list)
    """Signal: SHA-256 of each file that is no longer accepted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Accepted files"))
        label = QLabel(
            tr(
                "These drills and runs from other sources open without a question. If you choose Forget, "
                "Mirrordrill asks again before it opens the file."
            )
        )
        label.setWordWrap(True)
        label.setProperty("muted", "true")
        self.list = TableView(TableModel(ACCEPTED_FILE_COLUMNS), self.windowTitle())
        self.list.set_empty_text(tr("No accepted files."))
        self.list.selectionModel().selectionChanged.connect(lambda *_: self._show_buttons())
        self.forget, self.forget_all = QPushButton(tr("&Forget")), QPushButton(tr("Forget &all"))
        close = QPushButton(tr("&Close"))
        self.forget.clicked.connect(
            lambda: self.forget_wanted.emit([file.sha256 for file in self._get_selected_files()])
        )
        self.forget_all.clicked.connect(
            lambda: self.forget_wanted.emit([row.sha256 for row in self.list.table.rows])
        )
        close.clicked.connect(self.close)
        row = QHBoxLayout()
        for button in (self.forget, self.forget_all, close):
            button.setAutoDefault(False)
        row.addWidget(self.forget)
        row.addWidget(self.forget_all)
        row.addStretch()
        row.addWidget(close)
        build_widget_column(label, (self.list, 1), row, parent=self, spacing=10)
        em = self.fontMetrics().height()
        fit_on_screen(self, 44 * em, 24 * em)

    def show_files(self, files: Sequence[AcceptedFileRow]) -> None:
        """Show *files* and select the first one."""
        self.list.table.replace_rows(files)
        if files:
            self.list.selectRow(0)
        self._show_buttons()

    def _get_selected_files(self) -> list[AcceptedFileRow]:
        rows = sorted({index.row() for index in self.list.selectionModel().selectedRows()})
        return [self.list.table.rows[row] for row in rows]

    def _show_buttons(self) -> None:
        self.forget.setEnabled(bool(self._get_selected_files()))
        self.forget_all.setEnabled(bool(self.list.table.rows))
