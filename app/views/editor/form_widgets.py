"""Form widgets that Qt does not provide: selection boxes, names, text with completion."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Final

from PySide6.QtCore import QModelIndex, QObject, QPoint, QRect, QStringListModel, Qt, QTimer
from PySide6.QtGui import QFocusEvent, QKeyEvent, QTextCursor, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QCompleter,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from app.views.editor.form_schema import (
    CONDITION_KIND,
    INPUT_LINE_KIND,
    FieldKind,
    FieldValueError,
    FormField,
    format_default,
    format_field,
    format_placeholder,
    format_tip,
    parse_field,
)
from app.views.editor.input_completion import UNFINISHED_WORD_PATTERN
from app.widgets import theme
from app.words.language import tr
from engine.drill.authoring.run_scenario import PLACEHOLDER_PREFIX
from engine.overrides import override

TEXT_APPLY_DELAY_MS: Final = 700
"""Pause in typing after which the field's text is applied to the scenario, so that the findings are updated."""
CHOICE_CHARACTERS_MIN: Final = 8
"""Minimum number of visible characters of a selection box."""
COMPLETION_WIDTH_MIN_CHARACTERS: Final = 16
"""Minimum width of the completion list in characters."""

CompleteText = Callable[[str], Sequence[str]]
"""Function that returns the possible completions of a text."""


class CompletionList(QObject):
    """Completion list below a field. Enter inserts the selected completion, and Ctrl+Space opens the list."""

    def __init__(self, field: QLineEdit | QPlainTextEdit) -> None:
        super().__init__(field)
        self.complete_text: CompleteText = lambda _: ()
        self._field = field
        self._model = QStringListModel(self)

    @cached_property
    def _completer(self) -> QCompleter:
        """Completer. It is created on first use, because a page has many fields and few of them are edited."""
        completer = QCompleter(self._model, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setWidget(self._field)
        completer.activated.connect(self._insert_completion)
        return completer

    @property
    def popup(self) -> QAbstractItemView:
        """List widget with the completions."""
        popup_list = self._completer.popup()
        assert popup_list is not None
        return popup_list

    @property
    def is_open(self) -> bool:
        """True if the list of completions is visible."""
        return "_completer" in self.__dict__ and self.popup.isVisible()

    def is_key_taken(self, event: QKeyEvent) -> bool:
        """Return True if the completion list handles the key instead of the field."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        return self.is_open and (
            (enter and self.popup.currentIndex().isValid()) or event.key() == Qt.Key.Key_Escape
        )

    def handle_key(self, event: QKeyEvent) -> bool:
        """Show the completions if the key is Ctrl+Space. Return True in that case."""
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if not control or event.key() != Qt.Key.Key_Space:
            return False
        self.show_completions(was_requested=True)
        return True

    def show_completions(self, was_requested: bool = False) -> None:
        """Show completions for the text before the cursor.

        Without text, show them only if *was_requested*.
        """
        before = self._get_text_before_cursor()
        completions = (
            self.complete_text(before) if self._field.hasFocus() and (was_requested or before.strip()) else ()
        )
        word = self._extract_unfinished(before)
        if not completions:
            if self.is_open:
                self.popup.hide()
            return
        self._model.setStringList(list(dict.fromkeys(completions)))
        self._completer.setCompletionPrefix(word)
        if not self._completer.completionCount() or self._completer.currentCompletion() == word:
            self.popup.hide()
            return
        first_index = self._completer.completionModel().index(0, 0)
        self.popup.setCurrentIndex(first_index if word or was_requested else QModelIndex())
        popup_rect = self._compute_popup_rect()
        bar = self.popup.verticalScrollBar().sizeHint().width()
        width_min = COMPLETION_WIDTH_MIN_CHARACTERS * self._field.fontMetrics().averageCharWidth()
        popup_rect.setWidth(max(width_min, self.popup.sizeHintForColumn(0) + bar + 12))
        self._completer.complete(popup_rect)

    def _get_text_before_cursor(self) -> str:
        """Return the text of the field before the cursor."""
        field = self._field
        if isinstance(field, QLineEdit):
            return field.text()[: field.cursorPosition()]
        return field.toPlainText()[: field.textCursor().position()]

    @staticmethod
    def _extract_unfinished(prefix: str) -> str:
        match = UNFINISHED_WORD_PATTERN.search(prefix)
        return match[0].rpartition(",")[2] if match else ""

    def _compute_popup_rect(self) -> QRect:
        field = self._field
        if isinstance(field, QPlainTextEdit):
            return field.cursorRect()
        metrics = field.fontMetrics()
        cursor = field.cursorRect()
        left_px = cursor.center().x() - metrics.horizontalAdvance(
            self._extract_unfinished(self._get_text_before_cursor())
        )
        return QRect(QPoint(max(0, left_px), 0), field.rect().bottomRight())

    def _insert_completion(self, text: str) -> None:
        field, length = self._field, len(self._extract_unfinished(self._get_text_before_cursor()))
        self.popup.hide()
        if isinstance(field, QLineEdit):
            field.setSelection(field.cursorPosition() - length, length)
            field.insert(text)
            return
        cursor = field.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, length)
        cursor.insertText(text)
        field.setTextCursor(cursor)


class ChoiceBox(QComboBox):
    """Narrow selection box that ignores the mouse wheel, so that the page can scroll."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(CHOICE_CHARACTERS_MIN)

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class NameBox(ChoiceBox):
    """Selection box for a name, which can also be typed."""

    def __init__(self) -> None:
        super().__init__()
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)

    def set_names(self, names: Sequence[str]) -> None:
        """Set the names that can be selected."""
        if [self.itemText(index) for index in range(self.count())] == list(names):
            return
        text = self.currentText()
        blocked = self.blockSignals(True)
        self.clear()
        self.addItems(names)
        self.show_text(text)
        self.blockSignals(blocked)

    def show_text(self, text: str) -> None:
        """Set the text without emitting a signal."""
        line = self.lineEdit()
        if line is not None and line.text() != text:
            self.setCurrentIndex(self.findText(text))
            line.setText(text)

    def read_text(self) -> str:
        """Return the current text."""
        return self.currentText()


def select_placeholder(field: QLineEdit | QPlainTextEdit, text: str, reason: Qt.FocusReason) -> None:
    """Select *text* in *field* if it is a placeholder, so that typing replaces it.

    The selection is deferred, because a click places the cursor after the focus change. *reason*: reason of
    the focus change. When a popup closes, nothing is selected.
    """
    if text.startswith(PLACEHOLDER_PREFIX) and reason != Qt.FocusReason.PopupFocusReason:
        QTimer.singleShot(0, field, field.selectAll)


class TextLine(QLineEdit):
    """Text field with one line. When it receives the focus, it selects a placeholder text."""

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        select_placeholder(self, self.text(), event.reason())


class CompletingLine(TextLine):
    """Text field with one line and with completion of names, input lines or conditions."""

    def __init__(self) -> None:
        super().__init__()
        self.completion = CompletionList(self)
        self.textEdited.connect(lambda _: self.completion.show_completions())

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.completion.is_key_taken(event):
            event.ignore()
        elif not self.completion.handle_key(event):
            super().keyPressEvent(event)


class TextArea(QPlainTextEdit):
    """Field for several lines of text. Tab moves to the next field.

    The text is applied after a pause in typing, or when the focus moves to another field.
    """

    def __init__(self, finish: Callable[[], None], lines: int) -> None:
        super().__init__()
        self._finish = finish
        self.completion = CompletionList(self)
        self.pause = QTimer(self, singleShot=True, interval=TEXT_APPLY_DELAY_MS)
        self.pause.timeout.connect(finish)
        self.textChanged.connect(self.pause.start)
        self.setTabChangesFocus(True)
        self._lines = lines
        self._fit()
        theme.call_after_events(self, theme.FONT_EVENTS, self._fit)

    def show_lines(self, text: str) -> None:
        """Show *text* without its final line breaks, and keep the cursor position."""
        self._final_breaks = text[len(text.rstrip("\n")) :]
        self.pause.stop()
        position = self.textCursor().position()
        if self.read_text() != text:
            self.setPlainText(text.rstrip("\n"))
        cursor = self.textCursor()
        cursor.setPosition(min(position, len(self.toPlainText())))
        self.setTextCursor(cursor)

    def read_text(self) -> str:
        """Return the text with its original final line breaks."""
        text = self.toPlainText()
        return text + self._final_breaks if text.strip() else ""

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.completion.is_key_taken(event):
            event.ignore()
        elif not self.completion.handle_key(event):
            super().keyPressEvent(event)
            if event.text().strip() or event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Backspace):
                self.completion.show_completions()

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        select_placeholder(self, self.toPlainText(), event.reason())

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason and self.pause.isActive():
            self.pause.stop()
            self._finish()

    def _fit(self) -> None:
        self.setFixedHeight(self.fontMetrics().lineSpacing() * self._lines + 14)

    _final_breaks = ""
    """Final line breaks of the text in the file."""
    _lines = 4


FIELD_HEIGHT_LINES: Final = {FieldKind.TEXT: 4, FieldKind.LINES: 4}
TALL_FIELD_HEIGHT_LINES: Final = 9
TALL_FIELD_KEYS: Final = frozenset({"brief", "facilitator"})

CommitValue = Callable[[object], None]
"""Function that receives the new value of a field. None removes the key."""
RefuseValue = Callable[[str], None]
"""Function that receives the reason why a value is invalid."""


class FieldRow:
    """Field with its widget.

    `show_value` does not report a change; `apply_pending_input` reports pending input.
    """

    def __init__(self, field: FormField, commit: CommitValue, refuse: RefuseValue) -> None:
        self.field = field
        self.value: object = None
        self.closed = False
        """True after the page of the field was removed. Later reports of the widget are ignored."""
        self._commit, self._refuse = commit, refuse
        self._problem = ""
        self.widget = self._create_widget()
        self.widget.setAccessibleName(field.label)
        self.widget.setAccessibleDescription(format_tip(field))
        self.widget.setToolTip(format_tip(field))

    def show_value(self, value: object) -> None:
        """Show *value*. None means no value. Keep typed text that has the same meaning."""
        self.value = value
        widget, text = self.widget, format_field(self.field, value)
        widget.blockSignals(True)
        if isinstance(widget, NameBox):
            widget.show_text(text)
        elif isinstance(widget, QComboBox):
            self._select_value(widget, value)
        elif isinstance(widget, QCheckBox):
            widget.setChecked(value if isinstance(value, bool) else self.field.default == "true")
            placeholder = "" if value is not None else tr("(default)")
            widget.setText(placeholder if value is None or isinstance(value, bool) else text)
        elif isinstance(widget, QLineEdit) and widget.text() != text:
            cursor_position = widget.cursorPosition()
            widget.setText(text)
            widget.setCursorPosition(cursor_position)
        elif isinstance(widget, TextArea) and widget.read_text() != text:
            widget.show_lines(text)
        widget.blockSignals(False)

    def apply_pending_input(self) -> None:
        """Apply the text of the widget if it has changed."""
        widget = self.widget
        if self.closed or not isinstance(widget, (QLineEdit, NameBox, TextArea)):
            return
        new_text = widget.text() if isinstance(widget, QLineEdit) else widget.read_text()
        if new_text == format_field(self.field, self.value):
            return
        try:
            value = parse_field(self.field, new_text)
        except FieldValueError as refused:
            self._refuse(str(refused))
            return
        self._commit(value)

    def show_problem(self, problem: str) -> None:
        """Mark the field as invalid and show *problem* in its tooltip. An empty string removes the mark."""
        if problem == self._problem:
            return
        self._problem = problem
        widget = self.widget
        widget.setProperty("wrong", "true" if problem else None)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        tip_text = format_tip(self.field)
        widget.setToolTip(f"{problem}\n\n{tip_text}" if problem else tip_text)
        widget.setAccessibleDescription(f"{problem} {tip_text}" if problem else tip_text)

    def stop_reports(self) -> None:
        """Stop reporting changes."""
        self.closed = True
        if isinstance(self.widget, TextArea):
            self.widget.pause.stop()

    def _create_widget(self) -> QWidget:
        field = self.field
        if field.kind is FieldKind.CHOICE:
            return self._build_choice()
        if field.kind is FieldKind.FLAG:
            flag = QCheckBox()
            flag.clicked.connect(lambda is_checked: self._commit(is_checked))
            return flag
        if field.kind in FIELD_HEIGHT_LINES:
            lines = TextArea(
                self.apply_pending_input,
                TALL_FIELD_HEIGHT_LINES if field.key in TALL_FIELD_KEYS else FIELD_HEIGHT_LINES[field.kind],
            )
            lines.setPlaceholderText(format_placeholder(field))
            return lines
        if (
            field.offered_kind
            and field.offered_kind not in (INPUT_LINE_KIND, CONDITION_KIND)
            and field.kind is FieldKind.LINE
        ):
            box = NameBox()
            box.activated.connect(lambda _: self.apply_pending_input())
            return self._build_typed_field(box, box.lineEdit())
        line = CompletingLine() if field.offered_kind else TextLine()
        return self._build_typed_field(line, line)

    def _build_typed_field(self, widget: QWidget, line: QLineEdit | None) -> QWidget:
        assert line is not None
        line.setPlaceholderText(format_placeholder(self.field))
        line.editingFinished.connect(self.apply_pending_input)
        return widget

    def _build_choice(self) -> QComboBox:
        box = ChoiceBox()
        if not self.field.required:
            box.addItem(tr("{value} (default)").format(value=format_default(self.field)), None)
        for choice in self.field.choices:
            box.addItem(str(choice), choice)
        self._fixed = box.count()
        box.activated.connect(lambda index: self._accept_value(box.itemData(index)))
        return box

    def set_choices(self, choices: Mapping[str, str]) -> None:
        """Replace the choices by *choices* (value -> label)."""
        if isinstance(self.widget, QComboBox):
            self.widget.clear()
            for choice, words in choices.items():
                self.widget.addItem(tr(words), choice)
            self._fixed = self.widget.count()

    def set_completion(self, complete: CompleteText) -> None:
        """Set the function that suggests values for the field. The user can type other values."""
        if isinstance(self.widget, NameBox):
            self.widget.set_names(complete(""))
        elif isinstance(self.widget, (CompletingLine, TextArea)):
            self.widget.completion.complete_text = complete

    def _accept_value(self, value: object) -> None:
        if value != self.value:
            self._commit(value)

    def _select_value(self, box: QComboBox, value: object) -> None:
        """Select *value* in *box*. If *box* does not offer it, add it as a choice.

        An example of such a value is `{version}` of a variant.
        """
        while box.count() > self._fixed:
            box.removeItem(self._fixed)
        index_found = next((index for index in range(box.count()) if box.itemData(index) == value), -1)
        if index_found < 0 and value is not None:
            box.addItem(str(value), value)
            index_found = self._fixed
        box.setCurrentIndex(index_found)


def add_field_row(layout: QFormLayout, row: FieldRow) -> None:
    """Add a label and its field to *layout*. A field for long text is below its label, at full width."""
    label = QLabel(row.field.label)
    label.setToolTip(row.widget.toolTip())
    label.setBuddy(row.widget)
    if row.field.key in TALL_FIELD_KEYS:
        layout.addRow(label)
        layout.addRow(row.widget)
    else:
        layout.addRow(label, row.widget)
