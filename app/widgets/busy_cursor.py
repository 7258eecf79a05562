"""Busy cursor for work that takes noticeable time and blocks the window."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QCoreApplication, QEventLoop, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from app.words.language import tr


@contextmanager
def show_busy_cursor() -> Iterator[None]:
    """Show the busy cursor while this context is active."""
    QGuiApplication.setOverrideCursor(Qt.CursorShape.WaitCursor)
    try:
        yield
    finally:
        QGuiApplication.restoreOverrideCursor()


@contextmanager
def show_preparing_text(button: QPushButton) -> Iterator[None]:
    """Disable *button* and show a busy text on it while this context is active.

    A click thus has a visible effect at once.
    """
    words, had_keys = button.text(), button.hasFocus()
    with show_busy_cursor():
        button.setText(tr("Preparing…"))
        button.setEnabled(False)
        button.repaint()
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
        try:
            yield
        finally:
            button.setText(words)
            button.setEnabled(True)
            if had_keys and button.isVisible():
                button.setFocus()
