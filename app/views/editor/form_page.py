"""Page with the fields of one scenario table, created from the schema and updated from the text."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from pydantic import BaseModel
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QFrame,
    QGroupBox,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from app.files.scenario_edit import get_value
from app.views.editor.form_schema import (
    RUBRIC_KIND_LABELS,
    FieldKind,
    FormField,
    FormSection,
    list_fields,
    list_kinds,
)
from app.views.editor.form_widgets import FieldRow, add_field_row
from app.views.editor.input_completion import complete_field
from app.widgets import theme
from app.widgets.layouts import build_widget_column
from app.words.language import tr
from engine.overrides import override

FIELD_CHARACTERS_MIN: Final = 24
"""Minimum width of a field next to its label, in characters. A narrower field moves below its label."""
Path = tuple[str | int, ...]


class FormPage(QScrollArea):
    """Page with the fields of the table at a path. It emits entered values and does not change the text."""

    value_set = Signal(object, object)
    """Signal: path of a key, and its new value. None removes the key."""
    table_wanted = Signal(object, object)
    """Signal: path of a nested list that should get a new entry, and the schema class of the entry."""
    table_removal_wanted = Signal(object)
    """Signal: path of the entry to remove from a nested list."""
    value_refused = Signal(str)
    """Signal: reason why an entered value is invalid."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: dict[Path, FieldRow] = {}
        self._data: Mapping[str, object] = {}
        self._problems: Mapping[Path, str] = {}
        self._shape: object = None
        """Shape for which the fields were created. While it stays the same, only their values are updated."""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("plain", "true")
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        theme.call_after_events(self, theme.STYLE_EVENTS, self.wrap_rows)

    # --- public interface -----------------------------------------------------------------------------------

    def show_table(
        self,
        data: Mapping[str, object],
        section: FormSection,
        model: type[BaseModel],
        path: Path,
        empty: bool,
    ) -> bool:
        """Show the table at *path* of *data*. If *empty*, show that there is no entry.

        Return True if the fields were rebuilt.
        """
        self._data = data
        shape = (path, model, self._compute_shape(model, path), empty)
        is_new: bool = shape != self._shape
        if is_new:
            self._shape = shape
            self._rebuild(section, model, path, empty)
        for path_key, row in self.rows.items():
            if not row.closed:
                row.set_completion(partial(complete_field, self._data, row.field.offered_kind))
                row.show_value(get_value(self._data, path_key))
                row.show_problem(self._find_problem(path_key))
        return is_new

    def show_problems(self, problems: Mapping[Path, str]) -> None:
        """Mark the fields with *problems* (path in the text -> problem) and show the problems."""
        self._problems = problems
        for path_key, row in self.rows.items():
            if not row.closed:
                row.show_problem(self._find_problem(path_key))

    def _find_problem(self, prefix: Path) -> str:
        """Return the problem of the value at *prefix*, or of a value inside it.

        Return an empty string if there is no such problem.
        """
        return next(
            (problem for path, problem in self._problems.items() if path[: len(prefix)] == prefix), ""
        )

    def apply_pending_input(self) -> None:
        """Apply pending typing in all fields."""
        for row in list(self.rows.values()):
            row.apply_pending_input()

    def find_path(self, widget: QWidget) -> Path | None:
        """Return the path of the field whose widget is *widget*, or None."""
        return next((path_key for path_key, row in self.rows.items() if row.widget is widget), None)

    def show_field(self, path: Path, take_focus: bool) -> bool:
        """Scroll to the field at *path*, or to the field that contains it, and focus it if *take_focus*.

        Return False if there is no such field.
        """
        row = next((self.rows[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.rows), None)
        if row is None:
            return False
        self.ensureWidgetVisible(row.widget)
        # New fields have their positions only after the next layout.
        QTimer.singleShot(0, row.widget, partial(self.ensureWidgetVisible, row.widget))
        if take_focus:
            row.widget.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def focus_first_field(self, path: Path = ()) -> None:
        """Focus the first field inside *path* and select its content."""
        row = next((row for path_key, row in self.rows.items() if path_key[: len(path)] == path), None)
        if row is not None:
            row.widget.setFocus(Qt.FocusReason.TabFocusReason)

    # --- construction of fields -----------------------------------------------------------------------------

    def _compute_shape(self, model: type[BaseModel], path: Path) -> object:
        """Return a value that changes when the page must be rebuilt.

        It consists of the keys without a field and the number of tables in each nested list.
        """
        inner_shapes = [
            len(self._get_list((*path, field.key)))
            for field in list_fields(model)
            if field.kind is FieldKind.TABLES
        ]
        return (self._list_extra_keys(model, path), inner_shapes)

    def _rebuild(self, section: FormSection, model: type[BaseModel], path: Path, empty: bool) -> None:
        focused = next((path_key for path_key, row in self.rows.items() if row.widget.hasFocus()), None)
        for row in self.rows.values():
            row.stop_reports()
        self.rows = {}
        widget = QWidget()
        column = build_widget_column(parent=widget, margins=(2, 2, 10, 2))
        if empty:
            label = QLabel(tr("No entries yet."))
            label.setProperty("muted", "true")
            column.addWidget(label)
        else:
            column.addLayout(self._build_fields(model, path, section))
        column.addStretch(1)
        before = self.takeWidget()
        if before is not None:  # deleted later, because one of its fields may have emitted the current signal
            before.hide()
            before.deleteLater()
        self.setWidget(widget)
        widget.setAutoFillBackground(False)  # otherwise Qt fills the widget with the window color
        self.wrap_rows()
        if focused in self.rows:
            self.rows[focused].widget.setFocus()
        self.setAccessibleName(tr(section.title))

    def _build_fields(
        self, model: type[BaseModel], path: Path, section: FormSection | None = None
    ) -> QFormLayout:
        layout = QFormLayout(fieldGrowthPolicy=QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        layout.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        layout.setVerticalSpacing(6)
        for field in list_fields(model):
            path_key = (*path, field.key)
            if field.kind is FieldKind.TABLES:
                self._add_tables(layout, field, path_key)
                continue
            if field.inner_model is not None:
                group = QGroupBox(field.label)
                group.setToolTip(tr(field.description))
                group.setLayout(self._build_fields(field.inner_model, path_key))
                layout.addRow(group)
                continue
            row = FieldRow(field, partial(self.value_set.emit, path_key), self.value_refused.emit)
            if field.key == "kind" and section is not None:
                row.set_choices({kind: RUBRIC_KIND_LABELS.get(kind, kind) for kind in list_kinds(section)})
            self.rows[path_key] = row
            add_field_row(layout, row)
        for key in self._list_extra_keys(model, path):
            label = QLabel(tr("unknown key; edit it in the text"), wordWrap=True)
            label.setProperty("muted", "true")
            layout.addRow(key, label)
        return layout

    def _add_tables(self, layout: QFormLayout, field: FormField, path: Path) -> None:
        """Add a group with a Remove button for each table at *path*, and an Add button."""
        assert field.inner_model is not None
        for index in range(len(self._get_list(path))):
            group = QGroupBox(f"{field.label}: {index + 1}")
            group.setToolTip(tr(field.description))
            inner_fields = self._build_fields(field.inner_model, (*path, index))
            remove = _build_small_button(tr("Remove"), tr("Remove {what}").format(what=group.title()))
            remove.clicked.connect(partial(self.table_removal_wanted.emit, (*path, index)))
            inner_fields.addRow(remove)
            group.setLayout(inner_fields)
            layout.addRow(group)
        add = _build_small_button(tr("Add"), tr("Add to {section}").format(section=field.label))
        add.setToolTip(tr(field.description))
        add.clicked.connect(partial(self.table_wanted.emit, path, field.inner_model))
        label = QLabel(field.label)
        label.setBuddy(add)
        layout.addRow(label, add)

    def _get_list(self, path: Path) -> list[object]:
        value = get_value(self._data, path)
        return value if isinstance(value, list) else []

    def _list_extra_keys(self, model: type[BaseModel], path: Path) -> tuple[str, ...]:
        """Return the keys in the table at *path* that have no field. Return none for the whole file."""
        table = get_value(self._data, path)
        if path == () or not isinstance(table, Mapping):
            return ()
        return tuple(key for key in table if key not in {field.key for field in list_fields(model)})

    # --- appearance -----------------------------------------------------------------------------------------

    def set_tab_order_after(self, previous_widget: QWidget) -> None:
        """Set the Tab order from *previous_widget* through the fields. Otherwise new widgets would be last."""
        content = self.widget()
        if content is None:
            return
        for widget in content.findChildren(QWidget):
            ours = widget.window() is self.window() and not isinstance(widget.parent(), QComboBox)
            if ours and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
                self.setTabOrder(previous_widget, widget)
                previous_widget = widget

    def wrap_rows(self) -> None:
        """Place every field below its label if the text is large or the page is narrow."""
        widget = self.widget()
        if widget is None:
            return
        labels = [label for label in widget.findChildren(QLabel) if label.buddy() is not None]
        metrics = self.fontMetrics()
        widest = max((metrics.horizontalAdvance(label.text()) for label in labels), default=0)
        room = self.viewport().width() - widest
        has_room = room >= FIELD_CHARACTERS_MIN * metrics.averageCharWidth()
        policies = QFormLayout.RowWrapPolicy
        for label in labels:
            label.setWordWrap(not has_room)
        for layout in widget.findChildren(QFormLayout):
            layout.setRowWrapPolicy(policies.DontWrapRows if has_room else policies.WrapAllRows)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.wrap_rows()

    def set_frame_color(self, color: QColor) -> None:
        """Set the color of the frame around fields with problems."""
        self.setStyleSheet(f'*[wrong="true"] {{ border: 2px solid {color.name()}; }}')


def _build_small_button(text: str, name: str) -> QPushButton:
    button = QPushButton(text)
    button.setProperty("small", "true")
    button.setAutoDefault(False)
    button.setAccessibleName(name)
    button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    return button
