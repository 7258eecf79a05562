"""Small form to add a fault: time, command and note."""

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from app.views.editor.form_widgets import CompletingLine
from app.views.editor.input_completion import ListNames, complete_condition
from app.views.editor.timeline_entries import CONDITIONAL_FAULT, TIMED_FAULT, WINDOW_FAULT, parse_seconds
from app.words.language import mark, tr
from app.words.localization import localize
from engine.inputs import InputError
from engine.overrides import override
from engine.verbs import VERBS
from engine.verbs.input_lines import parse_input_line
from engine.verbs.verb import VerbParameter

START_KINDS: Final = (
    (TIMED_FAULT, mark("At a fixed time")),
    (WINDOW_FAULT, mark("At a random time in a window")),
    (CONDITIONAL_FAULT, mark("When a condition is met")),
)
VERB_GROUPS: Final = ("fault", "load", "repair", "sql", "chore")
"""Groups of verbs in menu order. Remarks are omitted because they have no effect."""

FIELD_PADDING_PX: Final = 12
"""Padding at each side of a field's text in pixels, slightly larger than in the style sheet."""


class AddFaultForm(QFrame):
    """Form to add a fault. Enter adds it, and Esc closes the form. Invalid input shows an error instead."""

    fault_wanted = Signal(object, str, str)
    """Signal: keys and values that set the time of the fault in the scenario file, input line, note.

    The keys and values are declared as an object, because Qt would sort the keys of a dict.
    """
    close_wanted = Signal()

    def __init__(self, named: ListNames, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._named = named
        self.setProperty("card", "true")
        self.start_kind = QComboBox()
        for kind, words in START_KINDS:
            self.start_kind.addItem(tr(words), kind)
        self.from_time = _build_line(tr("Time since the start: 90, 90s or 2min"), 8)
        self.to_time = _build_line(tr("End of the window: 90, 90s or 2min"), 8)
        self.condition = CompletingLine()
        _style_field(self.condition, tr("Condition, such as: Sales is SYNCHRONIZED"), 0)
        self.condition.completion.complete_text = lambda before: complete_condition(before, named)
        self.condition_delay = _build_line(tr("Delay after the condition is first met: 0, 10s or 2min"), 8)
        self.verb = QComboBox()
        self.note = _build_line(tr("Reason, for the instructor"), 0)
        self.message = QLabel(wordWrap=True)
        self.verb_help = QLabel(wordWrap=True)
        """Description of the selected command."""
        self.verb_help.setProperty("muted", "true")
        self._and_label, self._delay_label = QLabel(tr("and")), QLabel(tr("delay"))
        self.fields: list[tuple[VerbParameter | None, str, QWidget]] = []
        """Parameter (None means an option), its name, and its field."""
        self._arrange()
        self.verb.currentIndexChanged.connect(self._show_fields)
        self.start_kind.currentIndexChanged.connect(self._show_time_fields)
        self._fill_verbs()
        self._show_time_fields()

    def _arrange(self) -> None:
        for field, name in ((self.start_kind, tr("Time of the fault")), (self.verb, tr("Events"))):
            field.setAccessibleName(name)
        self.verb.setMaxVisibleItems(16)
        self.verb.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.verb.setMinimumContentsLength(16)
        times, self._verb_row, self._options, last_layout = (QHBoxLayout() for _ in range(4))
        for row in (times, self._verb_row, self._options, last_layout):
            row.setSpacing(6)
        for widget in (self.start_kind, self.from_time, self._and_label, self.to_time):
            times.addWidget(widget)
        times.addWidget(self._delay_label)
        times.addWidget(self.condition_delay)
        times.addStretch(1)
        self._verb_row.addWidget(self.verb)
        self._verb_row.addStretch(1)
        self._options.addStretch(1)
        self.note.setPlaceholderText(tr("Reason, for the instructor (optional)"))
        self.add, cancel = QPushButton(tr("Add")), QPushButton(tr("Cancel"))
        self.add.setProperty("primary", "true")
        for button in (self.add, cancel):
            button.setProperty("small", "true")
            button.setAutoDefault(False)
            last_layout.addWidget(button)
        self.add.clicked.connect(self._add_fault)
        cancel.clicked.connect(self.close_wanted)
        last_layout.addWidget(self.message, 1)
        grid = QGridLayout(self)
        grid.setContentsMargins(10, 6, 10, 6)
        grid.setVerticalSpacing(4)
        for number, words in ((0, tr("When")), (2, tr("Item")), (5, tr("Note"))):
            grid.addWidget(QLabel(words), number, 0)
        for number, row in ((0, times), (2, self._verb_row), (4, self._options), (6, last_layout)):
            grid.addLayout(row, number, 1)
        for number, widget in ((1, self.condition), (3, self.verb_help), (5, self.note)):
            grid.addWidget(widget, number, 1)
        grid.setColumnStretch(1, 1)
        grid.setRowStretch(7, 1)

    def _fill_verbs(self) -> None:
        """Fill the list of verbs: faults first, then load, repairs and other verbs."""
        for number, group in enumerate(VERB_GROUPS):
            if number:
                self.verb.insertSeparator(self.verb.count())
            for verb in VERBS.values():
                if verb.group == group:
                    self.verb.addItem(verb.name, verb.name)
                    self.verb.setItemData(self.verb.count() - 1, tr(verb.help), Qt.ItemDataRole.ToolTipRole)

    # --- display --------------------------------------------------------------------------------------------

    def clear_form(self, at_s: float) -> None:
        """Clear the form and set its time to *at_s*."""
        self.from_time.setText(f"{at_s:.0f}s")
        self.to_time.setText(f"{at_s + 30.0:.0f}s")
        self.condition_delay.setText("0")
        for line in (self.condition, self.note):
            line.clear()
        self.message.clear()
        self._show_fields()
        self.start_kind.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_time_fields(self) -> None:
        kind = self.start_kind.currentData()
        for widget in (self._and_label, self.to_time):
            widget.setVisible(kind == WINDOW_FAULT)
        for widget in (self.condition, self._delay_label, self.condition_delay):
            widget.setVisible(kind == CONDITIONAL_FAULT)
        self.from_time.setVisible(kind != CONDITIONAL_FAULT)

    def _show_fields(self) -> None:
        while self.fields:
            field = self.fields.pop()[2]
            for row in (self._verb_row, self._options):
                row.removeWidget(field)
            field.hide()
            field.deleteLater()
        verb = VERBS.get(self.verb.currentData() or "")
        if verb is None:
            return
        self.verb.setToolTip(tr(verb.help))
        self.verb_help.setText(tr(verb.help))
        for parameter in verb.parameters:
            self._add_field(parameter, parameter.name, self._build_field(parameter))
        for name in verb.options:
            self._add_field(None, name, QLineEdit())

    def _build_field(self, parameter: VerbParameter) -> QWidget:
        names = list(parameter.choices) or self._named(parameter.kind)
        if not names:
            return QLineEdit()
        field = QComboBox(editable=not parameter.choices)
        field.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        field.addItems(([""] if parameter.optional else []) + names)
        if parameter.name == "to" and len(names) > 1:
            field.setCurrentIndex(1)
        return field

    def _add_field(self, parameter: VerbParameter | None, name: str, field: QWidget) -> None:
        words = tr(parameter.title or name) if parameter is not None else name
        optional = parameter is None or parameter.optional
        line = field.lineEdit() if isinstance(field, QComboBox) else field
        if isinstance(line, QLineEdit):
            line.setPlaceholderText(words)
            line.setCursorPosition(0)
        field.setToolTip(tr("{name} (optional)").format(name=words) if optional else words)
        field.setAccessibleName(words)
        wide = parameter is not None and parameter.kind == "rest"
        metrics = field.fontMetrics()
        width_min = metrics.averageCharWidth() * (8 if isinstance(field, QLineEdit) else 15)
        field.setMinimumWidth(max(width_min, metrics.horizontalAdvance(words) + 2 * FIELD_PADDING_PX))
        if not wide:
            field.setMaximumWidth(field.fontMetrics().averageCharWidth() * 24)
        row = self._options if parameter is None else self._verb_row
        row.insertWidget(row.count() - 1, field, 8 if wide else 1)  # the last item of the row is a stretch
        self.fields.append((parameter, name, field))

    # --- adding ---------------------------------------------------------------------------------------------

    @property
    def line(self) -> str:
        """Input line built from the fields."""
        words = [str(self.verb.currentData())]
        for parameter, name, field in self.fields:
            text = (field.currentText() if isinstance(field, QComboBox) else _format_text(field)).strip()
            if text:
                words.append(text if parameter is not None else f"{name}={text}")
        return " ".join(words)

    def _parse_times(self) -> dict[str, object] | str:
        """Return the keys and values that set the time in the scenario file, or an error message."""
        kind = self.start_kind.currentData()
        if kind == CONDITIONAL_FAULT:
            condition, delay_text = self.condition.text().strip(), self.condition_delay.text().strip()
            if not condition:
                return tr("Enter a condition, such as: Sales is SYNCHRONIZED")
            if delay_text and parse_seconds(_parse_value(delay_text)) is None:
                return _format_time_error(delay_text)
            waits = bool(delay_text and parse_seconds(_parse_value(delay_text)))
            return {"when": condition, **({"after": _parse_value(delay_text)} if waits else {})}
        texts = [self.from_time.text().strip(), self.to_time.text().strip()][
            : 1 if kind == TIMED_FAULT else 2
        ]
        for text in texts:
            if parse_seconds(_parse_value(text)) is None:
                return _format_time_error(text)
        values = [_parse_value(text) for text in texts]
        if kind == TIMED_FAULT:
            return {"at": values[0]}
        if (parse_seconds(values[0]) or 0.0) >= (parse_seconds(values[1]) or 0.0):
            return tr("The window ends before it begins.")
        return {"between": values}

    def _add_fault(self) -> None:
        times = self._parse_times()
        if isinstance(times, str):
            self.message.setText(times)
            return
        try:
            if "{" not in self.line:  # placeholders like {name} get their values only when the seed is chosen
                parse_input_line(self.line)
        except InputError as problem:
            self.message.setText(localize(str(problem)))
            return
        self.fault_wanted.emit(times, self.line, self.note.text().strip())

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_wanted.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._add_fault()
        else:
            super().keyPressEvent(event)


def _build_line(name: str, letters: int) -> QLineEdit:
    line_edit = QLineEdit()
    _style_field(line_edit, name, letters)
    return line_edit


def _style_field(field: QLineEdit, name: str, letters: int) -> None:
    field.setAccessibleName(name)
    field.setToolTip(name)
    field.setPlaceholderText("" if letters else name)
    if letters:
        field.setFixedWidth(field.fontMetrics().averageCharWidth() * (letters + 4))


def _format_text(field: QWidget) -> str:
    return field.text() if isinstance(field, QLineEdit) else ""


def _parse_value(text: str) -> int | float | str:
    """Return a plain number as a number, and any other text unchanged."""
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if text.isdigit() else number


def _format_time_error(text: str) -> str:
    return tr("{text} is not a time; write 30, 30s, 2min or 1h.").format(text=text or "—")
