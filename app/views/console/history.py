"""History of executed batches with their outcomes, and snippets with placeholders."""

import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QEvent, Qt, Signal, SignalInstance
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QToolButton,
    QWidget,
)

from app.views.console.outcome import QueryBatch
from app.views.console.tabs import TabCloseButton
from app.widgets.layouts import build_dialog_buttons, build_row, build_widget_column
from app.widgets.scroll_container import fit_on_screen
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words import formatting
from app.words.language import mark, tr
from engine.constants import TICKS_PER_S
from engine.overrides import override
from engine.tables import read_table


def format_first_line(batch: QueryBatch) -> str:
    """Return the first nonempty line. Append an ellipsis if more lines follow."""
    lines = [line.strip() for line in batch.text.splitlines() if line.strip()]
    return lines[0] + (" …" if len(lines) > 1 else "") if lines else ""


def summarize_batch(batch: QueryBatch) -> str:
    """Return the text of the batch in one line."""
    return batch.outcome.summary.partition("\n")[0] if batch.outcome else tr("running")


def get_outcome_color_name(batch: QueryBatch) -> str:
    """Return the color name of the batch's outcome."""
    return "info" if batch.outcome is None else "bad" if batch.outcome.failed else "ok"


BATCH_COLUMNS: Final[tuple[TableColumn[QueryBatch], ...]] = (
    TableColumn(
        title=mark("Time"),
        text=lambda e: formatting.format_run_time(e.tick / TICKS_PER_S),
        is_number=True,
        sample="1:00:00",
    ),
    TableColumn(title=mark("Window"), text=lambda e: e.window, sample="SERVER_B#2"),
    TableColumn(
        title=mark("Outcome"),
        text=summarize_batch,
        color_name=get_outcome_color_name,
        tip=summarize_batch,
        sample="Msg 1422: The mirror",
    ),
    TableColumn(title=mark("Batch"), text=format_first_line, tip=lambda e: e.text),
)


class QueryHistory(QWidget):
    """List of executed batches next to the query windows."""

    batch_chosen = Signal(str, str)
    """Signal (window, batch text): show the text in the window."""
    rerun_wanted = Signal(str, str)
    """Signal (window, batch text): execute the text again."""
    close_wanted = Signal()
    """Signal: the user wants to close the list."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = TableModel(BATCH_COLUMNS)
        self.table = TableView(self.model, tr("Executed batches"))
        self._open, self._run = QToolButton(), QToolButton()
        self._open.setText(tr("Open"))
        self._run.setText(tr("Run again"))
        self._open.clicked.connect(lambda: self._emit_selected(self.batch_chosen))
        self._run.clicked.connect(lambda: self._emit_selected(self.rerun_wanted))
        self.table.doubleClicked.connect(lambda: self._emit_selected(self.batch_chosen))
        self._add_key("Return", self.batch_chosen, tr("Open in its query window"))
        self._add_key("Ctrl+Return", self.rerun_wanted, tr("Run again"))
        self._close = TabCloseButton()
        self._close.setToolTip(tr("Close the history (Esc)"))
        self._close.setAccessibleName(tr("Close the history"))
        self._close.clicked.connect(self.close_wanted)
        buttons = build_row((QLabel("<b>" + tr("History") + "</b>"), 1), self._open, self._run, self._close)
        build_widget_column(buttons, (self.table, 1), parent=self, margins=(4, 0, 0, 0), spacing=3)
        self.table.selectionModel().selectionChanged.connect(self._refresh)
        self._refresh()

    def show_batches(self, batches: list[QueryBatch]) -> None:
        """Show *batches* instead of the current ones."""
        self.model.replace_rows(batches)

    def add_batch(self, batch: QueryBatch) -> None:
        """Add a batch to the list."""
        self.model.append_rows([batch])

    def update_rows(self) -> None:
        """Update all rows, after a batch has ended."""
        last_index = self.model.index(self.model.rowCount() - 1, len(BATCH_COLUMNS) - 1)
        self.model.dataChanged.emit(self.model.index(0, 0), last_index)

    @override
    def event(self, event: QEvent) -> bool:
        # While the list has the focus, Esc closes it. Elsewhere, Esc cancels a running query.
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
        ):
            event.accept()
            return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_wanted.emit()
        else:
            super().keyPressEvent(event)

    def _add_key(self, key: str, signal: SignalInstance, text: str) -> None:
        action = QAction(text, self.table)
        action.setShortcut(QKeySequence(key))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(lambda: self._emit_selected(signal))
        self.table.addAction(action)

    def _emit_selected(self, signal: SignalInstance) -> None:
        index = self.table.currentIndex()
        if index.isValid():
            batch: QueryBatch = self.model.rows[index.row()]
            signal.emit(batch.window, batch.text)

    def _refresh(self) -> None:
        has_selection = self.table.currentIndex().isValid()
        self._open.setEnabled(has_selection)
        self._run.setEnabled(has_selection)


PLACEHOLDER_PATTERN: Final = re.compile(r"<([^,<>\n]++),([^,<>\n]*+),([^<>\n]*+)>")
"""Pattern of a placeholder (name, type, value), such as `<database, sysname, Sales>`."""


class TemplateParameter(Struct, frozen=True):
    """Placeholder of a snippet: name, type and default value."""

    name: str
    type: str
    value: str


_SNIPPETS: Final = read_table("app.views.console", "snippets.tsv")
SNIPPETS: Final = tuple(
    (
        group,
        tuple((row["title"], row["text"].replace(r"\n", "\n")) for row in _SNIPPETS if row["group"] == group),
    )
    for group in dict.fromkeys(row["group"] for row in _SNIPPETS)
)
"""Snippet menu: groups with their (title, text) pairs."""


def list_parameters(text: str) -> list[TemplateParameter]:
    """Return the placeholders of *text* in order, without duplicate names."""
    parameters: dict[str, TemplateParameter] = {}
    for name, kind, value in (
        [part.strip() for part in place_match] for place_match in PLACEHOLDER_PATTERN.findall(text)
    ):
        parameters.setdefault(name.lower(), TemplateParameter(name, kind, value))
    return list(parameters.values())


def fill_placeholders(text: str, values: dict[str, str]) -> str:
    """Return *text* with every placeholder replaced by its entry in *values*, or by its default value."""
    lower = {name.lower(): value for name, value in values.items()}
    return PLACEHOLDER_PATTERN.sub(lambda match: lower.get(match[1].strip().lower(), match[3].strip()), text)


def build_snippet_menu(insert: Callable[[str], None], parent: QWidget) -> QMenu:
    """Return a menu of all snippets. Selecting a snippet calls *insert* with its text."""
    context_menu = QMenu(parent)
    for group, entries in SNIPPETS:
        part = context_menu.addMenu(tr(group))
        for title, text in entries:
            part.addAction(tr(title)).triggered.connect(lambda _=False, text=text: insert(text))
    return context_menu


class TemplateParametersDialog(QDialog):
    """Dialog like "Specify Values for Template Parameters" in Management Studio."""

    def __init__(self, parameters: list[TemplateParameter], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Specify values for template parameters"))
        form = QFormLayout()
        self.fields: dict[str, QLineEdit] = {}
        for parameter in parameters:
            field = self.fields[parameter.name] = QLineEdit(parameter.value)
            form.addRow(f"{parameter.name} ({parameter.type})" if parameter.type else parameter.name, field)
        build_widget_column(form, build_dialog_buttons(self), parent=self)
        fit_on_screen(self, 26 * self.fontMetrics().height(), self.sizeHint().height())

    @property
    def values(self) -> dict[str, str]:
        """Name of each placeholder -> entered value."""
        return {name: field.text() for name, field in self.fields.items()}
