"""Functions that build a row or a column of widgets in one call."""

from collections.abc import Iterable
from typing import TypeVar

from msgspec import Struct
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)


class EmptySpace(Struct, frozen=True):
    """Empty space that does not stretch."""

    width_px: int


Part = QWidget | QLayout | EmptySpace | int
LayoutPart = Part | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag]
"""Part of a layout: widget, layout or space, optionally with stretch and alignment. A number is a stretch."""

Margins = int | tuple[int, int, int, int]
Box = TypeVar("Box", bound=QBoxLayout)


def build_widget_column(
    *parts: LayoutPart,
    parent: QWidget | None = None,
    margins: Margins | None = None,
    spacing: int | None = None,
) -> QVBoxLayout:
    """Arrange *parts* in a column. *parent*: widget that receives the layout."""
    return _fill_layout(QVBoxLayout(), parent, parts, margins, spacing)


def build_row(
    *parts: LayoutPart,
    parent: QWidget | None = None,
    margins: Margins | None = None,
    spacing: int | None = None,
) -> QHBoxLayout:
    """Arrange *parts* in a row. *parent*: widget that receives the layout."""
    return _fill_layout(QHBoxLayout(), parent, parts, margins, spacing)


def _fill_layout(
    layout: Box,
    parent: QWidget | None,
    parts: Iterable[LayoutPart],
    margins: Margins | None,
    spacing: int | None,
) -> Box:
    if parent is not None:
        parent.setLayout(layout)
    if margins is not None:
        layout.setContentsMargins(*(margins if isinstance(margins, tuple) else (margins,) * 4))
    if spacing is not None:
        layout.setSpacing(spacing)
    for part in parts:
        match part:
            case int():
                layout.addStretch(part)
            case QWidget() | (QWidget(), *_):
                layout.addWidget(*part) if isinstance(part, tuple) else layout.addWidget(part)
            case EmptySpace():
                layout.addSpacing(part.width_px)
            case QLayout() | (QLayout(), *_):
                layout.addLayout(*part) if isinstance(part, tuple) else layout.addLayout(part)
    return layout


def mark_primary(button: QPushButton, is_primary: bool = True) -> None:
    """Set whether *button* has the accent color and is pressed by Enter.

    The button must already belong to its dialog. Otherwise Qt chooses another default button when it shows
    the dialog, and the choice depends on the style sheet.
    """
    assert isinstance(button.window(), QDialog), f"“{button.text()}” belongs to no dialog yet"
    button.setDefault(is_primary)
    button.setProperty("primary", "true" if is_primary else "false")
    button.style().unpolish(button)
    button.style().polish(button)


def build_dialog_buttons(dialog: QDialog, accept_text: str = "") -> QDialogButtonBox:
    """Build the buttons of a dialog: *accept_text* (default: OK) and Cancel."""
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, dialog)
    if accept_text:
        button = buttons.addButton(accept_text, QDialogButtonBox.ButtonRole.AcceptRole)
    else:
        button = buttons.addButton(QDialogButtonBox.StandardButton.Ok)
    mark_primary(button)
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    return buttons
