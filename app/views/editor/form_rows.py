"""One field of the form: the widget for its kind, what it shows, what was typed into it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QStringListModel, Qt, QTimer
from PySide6.QtGui import QFocusEvent, QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QCompleter,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from app.language import tr
from app.views.editor.form_fields import Field, Kind, Refused, read, shown
from app.views.editor.form_tips import absent, default, tip

TEXT_PAUSE_MS: Final = 700
"""After so long without a key a text goes into the file, so that the findings follow while one writes."""
LINES_SHOWN: Final = {Kind.TEXT: 4, Kind.LINES: 4}
LINES_OF_BRIEF: Final = 9
LEAST_SHOWN: Final = 8
"""Characters of a choice that are in sight however narrow the page is."""
LONG: Final = frozenset({"brief", "facilitator"})

Done = Callable[[Any], None]
"""Takes the new value of a field; None: the key is to go."""
Refuse = Callable[[str], None]
"""Takes the sentence that says why a value cannot be; empty: all is well."""


class Row:
    """A field with its widget. `show` never reports; `finish` reports what was typed and not yet taken."""

    def __init__(self, field: Field, done: Done, refuse: Refuse) -> None:
        self.field = field
        self.value: Any = None
        self.closed = False
        """Its page is gone; what a widget says while it goes away does not count."""
        self._done, self._refuse = done, refuse
        self._problem = ""
        self.widget = self._made()
        self.widget.setAccessibleName(field.label)
        self.widget.setAccessibleDescription(tip(field))
        self.widget.setToolTip(tip(field))

    def show(self, value: Any) -> None:
        """Show *value*, or as if it were not there for None. What is being typed stays if it means the same."""
        self.value = value
        widget, text = self.widget, shown(self.field, value)
        widget.blockSignals(True)
        if isinstance(widget, _Names):
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
        elif isinstance(widget, _Lines) and widget.taken() != text:
            widget.show_lines(text)
        widget.blockSignals(False)

    def finish(self) -> None:
        """Take what stands in the widget, if it is new."""
        widget = self.widget
        if self.closed or not isinstance(widget, (QLineEdit, _Names, _Lines)):
            return
        typed = widget.text() if isinstance(widget, QLineEdit) else widget.taken()
        if typed == shown(self.field, self.value):
            return
        try:
            value = read(self.field, typed)
        except Refused as refused:
            self._refuse(str(refused))
            return
        self._done(value)

    def show_problem(self, said: str) -> None:
        """Mark the field as wrong and say why; empty: all is well."""
        if said == self._problem:
            return
        self._problem = said
        widget = self.widget
        widget.setProperty("wrong", "true" if said else None)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        told = tip(self.field)
        widget.setToolTip(f"{said}\n\n{told}" if said else told)
        widget.setAccessibleDescription(f"{said} {told}" if said else told)

    def close(self) -> None:
        """From now on nothing is reported."""
        self.closed = True
        if isinstance(self.widget, _Lines):
            self.widget.pause.stop()

    def _made(self) -> QWidget:
        field = self.field
        if field.kind is Kind.CHOICE:
            return self._choice()
        if field.kind is Kind.FLAG:
            flag = QCheckBox()
            flag.clicked.connect(lambda on: self._done(on))
            return flag
        if field.kind in LINES_SHOWN:
            lines = _Lines(self.finish, LINES_OF_BRIEF if field.key in LONG else LINES_SHOWN[field.kind])
            lines.setPlaceholderText(absent(field))
            return lines
        if field.offered and field.kind is Kind.LINE:
            box = _Names()
            box.activated.connect(lambda _: self.finish())
            return self._typed(box, box.lineEdit())
        line = _Words() if field.offered else QLineEdit()
        return self._typed(line, line)

    def _typed(self, widget: QWidget, line: QLineEdit | None) -> QWidget:
        assert line is not None
        line.setPlaceholderText(absent(self.field))
        line.editingFinished.connect(self.finish)
        return widget

    def _choice(self) -> QComboBox:
        box = _Choice()
        if not self.field.required:
            box.addItem(tr("{value} (default)").format(value=default(self.field)), None)
        for choice in self.field.choices:
            box.addItem(str(choice), choice)
        self._fixed = box.count()
        box.activated.connect(lambda at: self._take(box.itemData(at)))
        return box

    def offer(self, choices: Mapping[str, str]) -> None:
        """Choices beyond those of the field's own type, and what they are called."""
        if isinstance(self.widget, QComboBox):
            self.widget.clear()
            for choice, words in choices.items():
                self.widget.addItem(tr(words), choice)
            self._fixed = self.widget.count()

    def offer_names(self, names: Sequence[str]) -> None:
        """Names that may stand there; any other may be typed."""
        if isinstance(self.widget, (_Names, _Words)):
            self.widget.offer(names)

    def _take(self, value: Any) -> None:
        if value != self.value:
            self._done(value)

    def _choose(self, box: QComboBox, value: Any) -> None:
        """A value that is none of the choices (`{version}` of a variant) is shown as one more."""
        while box.count() > self._fixed:
            box.removeItem(self._fixed)
        at = next((at for at in range(box.count()) if box.itemData(at) == value), -1)
        if at < 0 and value is not None:
            box.addItem(str(value), value)
            at = self._fixed
        box.setCurrentIndex(at)


def add_row(layout: QFormLayout, row: Row) -> None:
    """A label that leads to its field; a long text has the whole width below its label."""
    label = QLabel(row.field.label)
    label.setToolTip(row.widget.toolTip())
    label.setBuddy(row.widget)
    if row.field.key in LONG:
        layout.addRow(label)
        layout.addRow(row.widget)
    else:
        layout.addRow(label, row.widget)


class _Choice(QComboBox):
    """A list of choices that the wheel does not change while the page is scrolled, and that stays narrow."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(LEAST_SHOWN)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class _Names(_Choice):
    """A name that is typed, or chosen from those that there are."""

    def __init__(self) -> None:
        super().__init__()
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)

    def offer(self, names: Sequence[str]) -> None:
        if [self.itemText(at) for at in range(self.count())] == list(names):
            return
        text = self.currentText()
        blocked = self.blockSignals(True)
        self.clear()
        self.addItems(names)
        self.show_text(text)
        self.blockSignals(blocked)

    def show_text(self, text: str) -> None:
        line = self.lineEdit()
        if line is not None and line.text() != text:
            self.setCurrentIndex(self.findText(text))
            line.setText(text)

    def taken(self) -> str:
        return self.currentText()


class _Words(QLineEdit):
    """Several names with commas between; each is completed as it is typed."""

    def __init__(self) -> None:
        super().__init__()
        self._names = QStringListModel(self)
        completer = _LastWord(self._names, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setCompleter(completer)

    def offer(self, names: Sequence[str]) -> None:
        if self._names.stringList() != list(names):
            self._names.setStringList(list(names))


class _LastWord(QCompleter):
    """Completes what stands behind the last comma."""

    def splitPath(self, path: str) -> list[str]:
        return [path.rpartition(",")[2].strip()]

    def pathFromIndex(self, index: QModelIndex | QPersistentModelIndex) -> str:
        line = self.widget()
        before = line.text().rpartition(",")[0] if isinstance(line, QLineEdit) else ""
        word = str(index.data())
        return f"{before}, {word}" if before else word


class _Lines(QPlainTextEdit):
    """A text of several lines. Tab leads on to the next field; a pause of writing, or leaving, ends the writing."""

    def __init__(self, finish: Callable[[], None], lines: int) -> None:
        super().__init__()
        self._finish = finish
        self.pause = QTimer(self, singleShot=True, interval=TEXT_PAUSE_MS)
        self.pause.timeout.connect(finish)
        self.textChanged.connect(self.pause.start)
        self.setTabChangesFocus(True)
        self._lines = lines
        self._fit()

    def show_lines(self, text: str) -> None:
        """Show *text* with the cursor where it was; the line break at the end of the file's text is not shown."""
        self._ends = text[len(text.rstrip("\n")) :]
        self.pause.stop()
        place = self.textCursor().position()
        if self.taken() != text:
            self.setPlainText(text.rstrip("\n"))
        cursor = self.textCursor()
        cursor.setPosition(min(place, len(self.toPlainText())))
        self.setTextCursor(cursor)

    def taken(self) -> str:
        """The text with the line break at its end that it came with."""
        written = self.toPlainText()
        return written + self._ends if written.strip() else ""

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason and self.pause.isActive():
            self.pause.stop()
            self._finish()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(self.fontMetrics().lineSpacing() * self._lines + 14)

    _ends = ""
    _lines = 4
