"""Dialog that checks this installation and shows each result as soon as it is available."""

from typing import Final

from msgspec import Struct
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QHeaderView, QLabel, QPushButton, QWidget

from app.widgets.layouts import build_widget_column
from app.widgets.scroll_container import fit_on_screen
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words.language import mark, tr, trn
from app.words.localization import localize


class CheckResultRow(Struct, frozen=True):
    """Row with the result of one check."""

    is_ok: bool
    """True if the check passed."""
    name: str
    text: str


CHECK_COLUMNS: Final[tuple[TableColumn[CheckResultRow], ...]] = (
    TableColumn(
        title=mark("State"),
        text=lambda line: tr("✓ OK") if line.is_ok else tr("✗ check this"),
        color_name=lambda line: "ok" if line.is_ok else "bad",
        sample="✗ check this",
    ),
    TableColumn(title=mark("Item"), text=lambda line: localize(line.name), sample="storage and more"),
    TableColumn(
        title=mark("Result"), text=lambda line: localize(line.text), tip=lambda line: localize(line.text)
    ),
)


class DiagnosticsDialog(QDialog):
    """Dialog of the installation check, which runs in a separate process. A drill can continue meanwhile."""

    check_wanted = Signal()
    bundle_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Check of this installation"))
        self._message = QLabel(wordWrap=True)
        self.lines = TableView(TableModel(CHECK_COLUMNS), tr("Checks"))
        header = self.lines.horizontalHeader()
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        self._check_button, self.save = (
            QPushButton(tr("Check again")),
            QPushButton(tr("Save a support bundle…")),
        )
        close = QPushButton(tr("Close"))
        self._check_button.clicked.connect(self.check_wanted)
        self.save.clicked.connect(self.bundle_wanted)
        close.clicked.connect(self.close)
        row = QHBoxLayout()
        for button in (self._check_button, self.save):
            button.setAutoDefault(False)
            row.addWidget(button)
        row.addStretch()
        row.addWidget(close)
        build_widget_column(self._message, (self.lines, 1), row, parent=self)
        fit_on_screen(self, self.fontMetrics().averageCharWidth() * 130, self.fontMetrics().height() * 20)

    def begin_check(self) -> None:
        """Clear the list for a new check."""
        self.lines.table.replace_rows(())
        self._message.setText(tr("Checking… This takes a few seconds."))
        self._check_button.setEnabled(False)

    def add_result(self, line: CheckResultRow) -> None:
        """Add a result to the list."""
        self.lines.table.append_rows([line])

    def show_summary(self) -> None:
        """Show the summary after the check has ended."""
        rows = self.lines.table.rows
        failure_count = sum(not line.is_ok for line in rows)
        text = trn("{n} item needs attention.", "{n} items need attention.", failure_count).format(
            n=failure_count
        )
        self._message.setText(text if failure_count else tr("Mirrordrill works on this computer."))
        self._check_button.setEnabled(True)
        bad = next((index for index, line in enumerate(rows) if not line.is_ok), 0)
        if rows:
            self.lines.selectRow(bad)
        self.lines.setFocus()
