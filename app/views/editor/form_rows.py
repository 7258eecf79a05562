"""Field of the form: the widget for its kind, its value, and its input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from PySide6.QtWidgets import QCheckBox, QComboBox, QFormLayout, QLabel, QLineEdit, QWidget

from app.views.editor.form_fields import Field, FieldKind, FieldValueError, format_field, read
from app.views.editor.form_tips import default, format_placeholder, tip
from app.views.editor.form_widgets import ChoiceBox, CompletingLine, NameBox, TextArea, TextLine, WordsFor
from app.views.editor.form_words import ACT, CONDITION
from app.words.language import tr

LINES_SHOWN: Final = {FieldKind.TEXT: 4, FieldKind.LINES: 4}
LINES_OF_BRIEF: Final = 9
LONG: Final = frozenset({"brief", "facilitator"})

Done = Callable[[object], None]
"""Function that takes the new value of a field; None removes the key."""
Refuse = Callable[[str], None]
"""Function that takes the reason for an invalid value; empty: valid."""


class FieldRow:
    """Field with its widget. `show` never reports; `finish` reports unconfirmed input."""

    def __init__(self, field: Field, commit: Done, refuse: Refuse) -> None:
        self.field = field
        self.value: object = None
        self.closed = False
        """True after its page was removed; later reports of the widget are ignored."""
        self._commit, self._refuse = commit, refuse
        self._problem = ""
        self.widget = self._create_widget()
        self.widget.setAccessibleName(field.label)
        self.widget.setAccessibleDescription(tip(field))
        self.widget.setToolTip(tip(field))

    def show(self, value: object) -> None:
        """Show *value*, or as if it were not there for None. What is being typed stays if it means the same."""
        self.value = value
        widget, text = self.widget, format_field(self.field, value)
        widget.blockSignals(True)
        if isinstance(widget, NameBox):
            widget.show_text(text)
        elif isinstance(widget, QComboBox):
            self._choose(widget, value)
        elif isinstance(widget, QCheckBox):
            widget.setChecked(value if isinstance(value, bool) else self.field.default == "true")
            said = "" if value is not None else tr("(default)")
            widget.setText(said if value is None or isinstance(value, bool) else text)
        elif isinstance(widget, QLineEdit) and widget.text() != text:
            place = widget.cursorPosition()
            widget.setText(text)
            widget.setCursorPosition(place)
        elif isinstance(widget, TextArea) and widget.read_text() != text:
            widget.show_lines(text)
        widget.blockSignals(False)

    def finish(self) -> None:
        """Take what stands in the widget, if it is new."""
        widget = self.widget
        if self.closed or not isinstance(widget, (QLineEdit, NameBox, TextArea)):
            return
        typed = widget.text() if isinstance(widget, QLineEdit) else widget.read_text()
        if typed == format_field(self.field, self.value):
            return
        try:
            value = read(self.field, typed)
        except FieldValueError as refused:
            self._refuse(str(refused))
            return
        self._commit(value)

    def show_problem(self, problem: str) -> None:
        """Mark the field as wrong and say why; empty: all is well."""
        if problem == self._problem:
            return
        self._problem = problem
        widget = self.widget
        widget.setProperty("wrong", "true" if problem else None)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        told = tip(self.field)
        widget.setToolTip(f"{problem}\n\n{told}" if problem else told)
        widget.setAccessibleDescription(f"{problem} {told}" if problem else told)

    def close(self) -> None:
        """Stop reporting changes."""
        self.closed = True
        if isinstance(self.widget, TextArea):
            self.widget.pause.stop()

    def _create_widget(self) -> QWidget:
        field = self.field
        if field.kind is FieldKind.CHOICE:
            return self._choice()
        if field.kind is FieldKind.FLAG:
            flag = QCheckBox()
            flag.clicked.connect(lambda on: self._commit(on))
            return flag
        if field.kind in LINES_SHOWN:
            lines = TextArea(self.finish, LINES_OF_BRIEF if field.key in LONG else LINES_SHOWN[field.kind])
            lines.setPlaceholderText(format_placeholder(field))
            return lines
        if field.offered and field.offered not in (ACT, CONDITION) and field.kind is FieldKind.LINE:
            box = NameBox()
            box.activated.connect(lambda _: self.finish())
            return self._typed(box, box.lineEdit())
        line = CompletingLine() if field.offered else TextLine()
        return self._typed(line, line)

    def _typed(self, widget: QWidget, line: QLineEdit | None) -> QWidget:
        assert line is not None
        line.setPlaceholderText(format_placeholder(self.field))
        line.editingFinished.connect(self.finish)
        return widget

    def _choice(self) -> QComboBox:
        box = ChoiceBox()
        if not self.field.required:
            box.addItem(tr("{value} (default)").format(value=default(self.field)), None)
        for choice in self.field.choices:
            box.addItem(str(choice), choice)
        self._fixed = box.count()
        box.activated.connect(lambda at: self._take(box.itemData(at)))
        return box

    def offer(self, choices: Mapping[str, str]) -> None:
        """Offer choices beyond those of the field's own type, with their labels."""
        if isinstance(self.widget, QComboBox):
            self.widget.clear()
            for choice, words in choices.items():
                self.widget.addItem(tr(words), choice)
            self._fixed = self.widget.count()

    def set_completion(self, complete: WordsFor) -> None:
        """Set the suggested values of the field. The user can type other values."""
        if isinstance(self.widget, NameBox):
            self.widget.offer(complete(""))
        elif isinstance(self.widget, (CompletingLine, TextArea)):
            self.widget.completion.words = complete

    def _take(self, value: object) -> None:
        if value != self.value:
            self._commit(value)

    def _choose(self, box: QComboBox, value: object) -> None:
        """Add a value outside the choices (`{version}` of a variant) as one more choice."""
        while box.count() > self._fixed:
            box.removeItem(self._fixed)
        at = next((at for at in range(box.count()) if box.itemData(at) == value), -1)
        if at < 0 and value is not None:
            box.addItem(str(value), value)
            at = self._fixed
        box.setCurrentIndex(at)


def add_row(layout: QFormLayout, row: FieldRow) -> None:
    """Add a label that leads to its field; a long text has the whole width below its label."""
    label = QLabel(row.field.label)
    label.setToolTip(row.widget.toolTip())
    label.setBuddy(row.widget)
    if row.field.key in LONG:
        layout.addRow(label)
        layout.addRow(row.widget)
    else:
        layout.addRow(label, row.widget)
