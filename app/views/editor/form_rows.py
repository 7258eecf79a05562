"""One field of the form: the widget for its kind, what it shows, what was typed into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QFocusEvent, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QFormLayout, QLabel, QLineEdit, QPlainTextEdit, QWidget

from app.language import tr
from app.views.editor.form_fields import Field, Kind, Refused, read, shown

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
        self.widget = self._made()
        self.widget.setAccessibleName(field.label)
        self.widget.setAccessibleDescription(tr(field.about))
        self.widget.setToolTip(_tip(field))

    def show(self, value: Any) -> None:
        """Show *value*, or as if it were not there for None. What is being typed stays if it means the same."""
        self.value = value
        widget, text = self.widget, shown(self.field, value)
        widget.blockSignals(True)
        if isinstance(widget, QComboBox):
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
        if self.closed or not isinstance(widget, (QLineEdit, _Lines)):
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
            box = QCheckBox()
            box.clicked.connect(lambda on: self._done(on))
            return box
        if field.kind in LINES_SHOWN:
            lines = _Lines(self.finish, LINES_OF_BRIEF if field.key in LONG else LINES_SHOWN[field.kind])
            lines.setPlaceholderText(_absent(field))
            return lines
        if field.kind is Kind.OTHER:
            label = QLabel(tr("written in the text"))
            label.setProperty("muted", "true")
            return label
        line = QLineEdit()
        line.setPlaceholderText(_absent(field))
        line.editingFinished.connect(self.finish)
        return line

    def _choice(self) -> QComboBox:
        box = _Choice()
        if not self.field.required:
            box.addItem(tr("{value} (default)").format(value=self.field.default), None)
        for choice in self.field.choices:
            box.addItem(str(choice), choice)
        self._fixed = box.count()
        box.activated.connect(lambda at: self._take(box.itemData(at)))
        return box

    def offer(self, choices: Sequence[str]) -> None:
        """Choices beyond those of the field's own type."""
        if isinstance(self.widget, QComboBox):
            self.widget.clear()
            for choice in choices:
                self.widget.addItem(choice, choice)
            self._fixed = self.widget.count()

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


def _absent(field: Field) -> str:
    """What an empty field says."""
    if field.default:
        return tr("{value} (default)").format(value=field.default)
    meant = tr(field.about).partition("None: ")[2].rstrip(".")
    if meant:
        return meant
    return tr("has to be written") if field.required else tr("none")


def _tip(field: Field) -> str:
    hints = {
        Kind.DURATION: tr("Seconds, or a number with s, min or h."),
        Kind.WORDS: tr("Several with commas between."),
        Kind.LINES: tr("Each in a line of its own."),
    }
    about = tr(field.about)
    return "\n".join(
        part for part in (f"{field.key}: {about}" if about else field.key, hints.get(field.kind, "")) if part
    )


class _Choice(QComboBox):
    """A list of choices that the wheel does not change while the page is scrolled, and that stays narrow."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(LEAST_SHOWN)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


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
