"""Dialog for one line of text."""

from typing import Final

from PySide6.QtWidgets import QInputDialog, QWidget

from app.widgets.scroll_container import fit_on_screen

DIALOG_WIDTH_LINES: Final = 30
"""Width of the dialog in line heights, enough for a whole sentence in the text field."""


def ask_text(parent: QWidget, title: str, label: str, text: str = "") -> str | None:
    """Ask for a line of text, with *text* as the initial value. Return None if the user cancels."""
    asking = QInputDialog(parent)
    asking.setWindowTitle(title)
    asking.setLabelText(label)
    asking.setTextValue(text)
    fit_on_screen(asking, DIALOG_WIDTH_LINES * asking.fontMetrics().height(), asking.sizeHint().height())
    accepted = asking.exec()
    asking.deleteLater()
    return asking.textValue() if accepted else None
