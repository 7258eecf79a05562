"""Bar below a text editor to find and replace text."""

import re
from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QKeyEvent,
    QKeySequence,
    QShortcut,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QPlainTextEdit, QPushButton, QToolButton

from app.widgets import theme
from app.widgets.layouts import build_widget_column
from app.words.language import tr, trn
from engine.overrides import override

COUNTED_MATCHES_MAX: Final = 9_999
"""Maximum number of matches that are counted."""
SEARCH_LENGTH_MAX: Final = 1_000
"""Maximum number of characters of the search text."""
TEXT_LENGTH_MAX: Final = 2_000_000
"""Maximum number of characters of a text after a replacement: twice the limit of a query."""

_Flag = QTextDocument.FindFlag


class FindBar(QFrame):
    """Bar that finds a match during typing.

    Enter and F3 go to the next match, with Shift to the previous one.

    Esc returns to the text.
    """

    height_changed = Signal()
    """Signal: the bar, and thus the space for the text, changed its height."""

    def __init__(self, editor: QPlainTextEdit) -> None:
        """Create a bar that searches *editor*. The editor sets the position of the bar."""
        super().__init__(editor)
        self._editor = editor
        self._start_position = 0
        """Start position of the search. A longer search text is searched from the same position."""
        self.setAutoFillBackground(True)
        self.search_field = self._build_field(tr("Find"))
        self.search_field.textEdited.connect(self._on_typed)
        self.with_ = self._build_field(tr("Replace with"))
        self.match_number = QLabel()
        """Label with the number of the selected match and the number of matches, or a note that there are none."""
        self.same_case = self._build_tool("Aa", tr("Match case"))
        self.same_case.setCheckable(True)
        self.same_case.toggled.connect(lambda _: self._on_typed())
        before = self._build_tool("↑", tr("Previous match (Shift+F3)"))
        before.clicked.connect(lambda: self.find_next(backward=True))
        next_tool = self._build_tool("↓", tr("Next match (F3)"))
        next_tool.clicked.connect(lambda: self.find_next())
        close = self._build_tool("×", tr("Close (Esc)"))
        close.clicked.connect(self.return_to_text)
        self._replace_button, self._replace_all_button = (
            QPushButton(tr("Replace")),
            QPushButton(tr("Replace all")),
        )
        self._replace_button.clicked.connect(self.replace_match)
        self._replace_all_button.clicked.connect(self.replace_all)
        find_row, replace_row = QHBoxLayout(), QHBoxLayout()
        find_row.addWidget(self.search_field, 1)
        for widget in (self.match_number, self.same_case, before, next_tool, close):
            find_row.addWidget(widget)
        replace_row.addWidget(self.with_, 1)
        replace_row.addWidget(self._replace_button)
        replace_row.addWidget(self._replace_all_button)
        rows = build_widget_column(parent=self, margins=(6, 3, 6, 3), spacing=3)
        for row in (find_row, replace_row):
            row.setSpacing(3)
            rows.addLayout(row)
        for key, act in {
            "F3": self.find_next,
            "Shift+F3": lambda: self.find_next(backward=True),
            "Ctrl+F": self.show_bar,
            "Ctrl+H": lambda: self.show_bar(with_replacement=True),
        }.items():
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(act)
        self.hide()

    def _build_field(self, name: str) -> QLineEdit:
        field = QLineEdit(maxLength=SEARCH_LENGTH_MAX, placeholderText=name)
        field.setAccessibleName(name)
        return field

    def _build_tool(self, sign: str, name: str) -> QToolButton:
        button = QToolButton()
        button.setText(sign)
        button.setToolTip(name)
        button.setAccessibleName(name)
        return button

    # --- show and hide ------------------------------------------------------------------------------------

    def show_bar(self, with_replacement: bool = False) -> None:
        """Show the bar, with the selected text if it is within one line.

        If *with_replacement*, show the replacement row too.
        """
        cursor = self._editor.textCursor()
        selected_text = cursor.selectedText()
        if selected_text and "\u2029" not in selected_text and len(selected_text) <= SEARCH_LENGTH_MAX:
            self.search_field.setText(selected_text)
        self._start_position = cursor.selectionStart()
        for widget in (self.with_, self._replace_button, self._replace_all_button):
            widget.setVisible(with_replacement)
        self.show()
        self.height_changed.emit()
        self._editor.ensureCursorVisible()
        self.search_field.setFocus()
        self.search_field.selectAll()
        self._show_match_number()

    def return_to_text(self) -> None:
        """Hide the bar and focus the text. The last match stays selected."""
        self.hide()
        self.height_changed.emit()
        self._editor.setFocus()

    # --- finding ------------------------------------------------------------------------------------------

    def _get_flags(self, backward: bool = False) -> QTextDocument.FindFlag:
        flags = _Flag(0)
        if self.same_case.isChecked():
            flags |= _Flag.FindCaseSensitively
        return flags | _Flag.FindBackward if backward else flags

    def _on_typed(self) -> None:
        cursor = self._editor.textCursor()
        cursor.setPosition(min(self._start_position, self._editor.document().characterCount() - 1))
        self._editor.setTextCursor(cursor)
        self.find_next()

    def find_next(self, backward: bool = False) -> None:
        """Go to the next match, or to the previous one if *backward*, cyclically.

        If the bar is hidden, use its last search text.
        """
        needle = self.search_field.text()
        if not needle:
            self._show_status("", "muted")
            return
        document, flags = self._editor.document(), self._get_flags(backward)
        cursor = document.find(needle, self._editor.textCursor(), flags)
        if cursor.isNull():
            ends = QTextCursor(document)
            if backward:
                ends.movePosition(QTextCursor.MoveOperation.End)
            cursor = document.find(needle, ends, flags)
        if not cursor.isNull():
            self._editor.setTextCursor(cursor)
            self._start_position = cursor.selectionStart()
        self._show_match_number()

    def _compile_pattern(self) -> re.Pattern[str]:
        return re.compile(
            re.escape(self.search_field.text()), re.NOFLAG if self.same_case.isChecked() else re.IGNORECASE
        )

    def _is_match_selected(self) -> bool:
        """Return True if the selected text is a match."""
        selected_text = self._editor.textCursor().selectedText()
        return bool(selected_text) and self._compile_pattern().fullmatch(selected_text) is not None

    def _show_match_number(self) -> None:
        if not self.search_field.text():
            self._show_status("", "muted")
            return
        text = self._editor.toPlainText()
        start = _convert_to_characters(text, self._editor.textCursor().selectionStart())
        current_number = count = 0
        for match in self._compile_pattern().finditer(text):
            count += 1
            current_number += match.start() <= start
            if count > COUNTED_MATCHES_MAX:
                break
        if not count:
            self._show_status(tr("no match"), "bad")
        elif count > COUNTED_MATCHES_MAX:
            self._show_status(tr("more than {n} matches").format(n=COUNTED_MATCHES_MAX), "muted")
        else:
            self._show_status(
                tr("{number} of {count}").format(number=max(1, current_number), count=count), "muted"
            )

    def _show_status(self, text: str, color_name: str) -> None:
        self.match_number.setText(text)
        self.match_number.setStyleSheet(
            f"color: {theme.get_theme_tokens(self.palette()).get_color(color_name).name()};"
        )
        if text and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.search_field, text))

    # --- replacing ----------------------------------------------------------------------------------------

    def replace_match(self) -> None:
        """Replace the selected match and go to the next match."""
        if self.search_field.text() and self._is_match_selected():
            self._editor.textCursor().insertText(self.with_.text())
        self.find_next()

    def replace_all(self) -> None:
        """Replace all matches as one undo step."""
        if not self.search_field.text():
            return
        before, new = self._editor.toPlainText(), self.with_.text()
        count = sum(1 for _ in self._compile_pattern().finditer(before))
        if len(before) + count * (len(new) - len(self.search_field.text())) > TEXT_LENGTH_MAX:
            self._show_status(tr("the text would become too long"), "bad")
            return
        text = self._compile_pattern().sub(lambda _: new, before)
        if count:
            cursor = self._editor.textCursor()
            cursor.select(QTextCursor.SelectionType.Document)
            cursor.insertText(text)
        message = trn("{n} match replaced", "{n} matches replaced", count).format(n=count)
        self._show_status(message, "muted" if count else "bad")

    # --- keys ---------------------------------------------------------------------------------------------

    @override
    def event(self, event: QEvent) -> bool:
        # While the bar has the focus, it handles Esc, even if Esc is also a shortcut of the window.
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.key() == Qt.Key.Key_Escape
        ):
            event.accept()
            return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.return_to_text()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.with_.hasFocus():
                self.replace_match()
            else:
                self.find_next(backward=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        event.accept()  # keys that the bar ignores must not reach the text


def _convert_to_characters(text: str, position: int) -> int:
    """Convert a position from UTF-16 units, which Qt counts, to characters."""
    if text.isascii():
        return position
    return len(text.encode("utf-16-le")[: 2 * position].decode("utf-16-le", "ignore"))
