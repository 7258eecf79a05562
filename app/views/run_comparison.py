"""Comparison of two finished runs side by side: outcomes, points and actions."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHeaderView, QLabel, QPushButton, QWidget

from app.view_models.run_comparison import BETTER, WORSE, ComparedAction, ComparisonRow
from app.widgets import theme
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words import formatting
from app.words.language import mark, tr
from engine.overrides import override

VERDICT_COLORS: Final = {BETTER: "ok", WORSE: "bad"}
SPOKEN_VERDICTS: Final = {BETTER: mark("{difference}, better"), WORSE: mark("{difference}, worse")}


def _describe_difference(row: ComparisonRow) -> str:
    if row.verdict:
        return tr(SPOKEN_VERDICTS[row.verdict]).format(difference=row.difference)
    return row.difference or (tr("the same") if row.is_equal else "")


def build_figure_columns(left_name: str, right_name: str) -> tuple[TableColumn[ComparisonRow], ...]:
    """Return the columns of the figures table. *left_name* and *right_name*: names of the two runs."""
    return (
        TableColumn(
            title=mark("Item"),
            text=lambda row: row.figure,
            bold=lambda row: not row.is_equal,
            sample="x" * 28,
        ),
        TableColumn(
            title=left_name,
            is_name=True,
            text=lambda row: row.left,
            is_number=True,
            tip=lambda row: row.left,
        ),
        TableColumn(
            title=right_name,
            is_name=True,
            text=lambda row: row.right,
            is_number=True,
            tip=lambda row: row.right,
        ),
        TableColumn(
            title=mark("Difference"),
            text=lambda row: row.difference,
            is_number=True,
            color_name=lambda row: VERDICT_COLORS.get(row.verdict),
            spoken=_describe_difference,
        ),
    )


def build_action_columns(left_name: str, right_name: str) -> tuple[TableColumn[ComparedAction], ...]:
    """Return the columns of the actions table. *left_name* and *right_name*: names of the two runs."""
    return (
        TableColumn(
            title=mark("Time"),
            text=lambda act: formatting.format_run_time(act.t_s, 1),
            is_number=True,
            sample="1:00:00.0",
        ),
        TableColumn(title=left_name, is_name=True, text=lambda act: act.left, tip=lambda act: act.left),
        TableColumn(title=right_name, is_name=True, text=lambda act: act.right, tip=lambda act: act.right),
    )


class RunComparisonPage(QWidget):
    """Page with a table of figures and a table of actions. Esc closes it."""

    close_wanted = Signal()
    """Signal: the user wants to close the page."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel(tr("Two runs side by side"))
        self._note = QLabel()
        self._note.setProperty("muted", "true")
        self._note.setWordWrap(True)
        self._note.setTextFormat(Qt.TextFormat.PlainText)
        self.figures = TableView(TableModel(build_figure_columns("", "")), tr("Outcomes"))
        self.acts = TableView(TableModel(build_action_columns("", "")), tr("Actions"))
        self.acts.set_empty_text(tr("No actions in either run."))
        button = QPushButton(tr("Back to the history"))
        button.setToolTip(tr("Back to the history (Esc)"))
        button.clicked.connect(self.close_wanted)
        row = build_row(button, 0)
        build_widget_column(
            self._title,
            self._note,
            (self.figures, 3),
            _build_heading(tr("Actions")),
            (self.acts, 2),
            row,
            parent=self,
            margins=(28, 18, 28, 20),
            spacing=10,
        )
        self._show_font()
        theme.call_after_events(self, theme.FONT_EVENTS, self._show_font)

    def show_runs(
        self,
        title: str,
        names: tuple[str, str],
        note: str,
        figures: Sequence[ComparisonRow],
        actions: Sequence[ComparedAction],
    ) -> None:
        """Show the figures and actions of two runs.

        *names*: column titles of the runs. *note*: text below the title.
        """
        self._note.setText(f"{title}\n{note}")
        self.figures.table.replace_rows(figures, build_figure_columns(*names))
        self.acts.table.replace_rows(actions, build_action_columns(*names))
        self._share_width(self.figures, (0, 1, 2, 3))
        self._share_width(self.acts, (1, 2))
        self.figures.setFocus()
        if figures:
            self.figures.selectRow(0)

    def _share_width(self, table: TableView, columns: Sequence[int]) -> None:
        header = table.horizontalHeader()
        header.setStretchLastSection(False)
        for column in columns:
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_wanted.emit()
        else:
            super().keyPressEvent(event)

    def _show_font(self) -> None:
        self._title.setFont(theme.resize_font(self.font(), 1.8, bold=True))


def _build_heading(text: str) -> QLabel:
    label = QLabel(text)
    label.setFont(theme.resize_font(label.font(), 1.05, bold=True))
    return label
