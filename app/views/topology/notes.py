"""Notes on the canvas: texts of an instructor next to an object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPen, QTextCursor
from PySide6.QtWidgets import QGraphicsItem, QGraphicsTextItem, QStyleOptionGraphicsItem, QWidget

from app.view_models.action_offers import ActionTarget
from app.widgets.scene_symbols import SceneStyle
from app.words.language import tr
from engine.overrides import override

NOTE_WIDTH_UNITS: Final = 11.0
"""Width of a note in line heights."""
NOTE_LENGTH_MAX: Final = 500
"""Maximum number of characters of a note, which must be legible from the back of a room."""
NOTES_MAX: Final = 40
PlacedNote = tuple[str, float, float]
"""Text, and x and y of the upper left corner."""


class NoteDisplay(Struct, frozen=True):
    """Contents of a note."""

    text: str

    @property
    def accessible_text(self) -> str:
        """Text for screen readers."""
        return tr("note: {text}").format(text=self.text)


class NoteItem(QGraphicsTextItem):
    """Note that can be dragged. A double click or Enter edits it. A note without text is removed."""

    def __init__(self, text: str, style: SceneStyle, changed: Callable[[NoteItem], None]) -> None:
        super().__init__()
        self._changed = changed
        self.setPlainText(text[:NOTE_LENGTH_MAX])
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsMovable)
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemSendsGeometryChanges)
        self.setZValue(2.0)
        self.show_style(style)
        self.document().contentsChanged.connect(self._on_contents_changed)

    def _on_contents_changed(self) -> None:
        if self.is_editing and self.scene() is not None:
            self._changed(self)

    @property
    def display(self) -> NoteDisplay:
        """Contents of the note."""
        return NoteDisplay(self.toPlainText().strip())

    @property
    def target(self) -> ActionTarget:
        """Target of actions on this note."""
        return ActionTarget("note", (self.display.text,))

    @property
    def note(self) -> PlacedNote:
        """Text and position of the note, for storage."""
        return self.display.text, self.x(), self.y()

    @property
    def is_editing(self) -> bool:
        """True while the text is being edited."""
        return self.textInteractionFlags() != Qt.TextInteractionFlag.NoTextInteraction

    def show_style(self, style: SceneStyle) -> None:
        """Apply colors and fonts."""
        self.style = style
        self.setFont(style.font)
        self.setDefaultTextColor(style.colors.text)
        self.setTextWidth(NOTE_WIDTH_UNITS * style.unit)

    def start_editing(self) -> None:
        """Start editing the text."""
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextEditorInteraction)
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        cursor = self.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        self.setTextCursor(cursor)

    def finish_editing(self) -> None:
        """Finish editing the text."""
        if self.is_editing:
            self.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
            self.clearFocus()
            if len(self.toPlainText()) > NOTE_LENGTH_MAX:
                self.setPlainText(self.toPlainText()[:NOTE_LENGTH_MAX])
            self._changed(self)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.finish_editing()
        else:
            super().keyPressEvent(event)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.finish_editing()

    @override
    def mouseDoubleClickEvent(self, event: object) -> None:
        self.start_editing()

    @override
    def itemChange(self, change: QGraphicsItem.GraphicsItemChange, value: object) -> object:
        if change == QGraphicsItem.GraphicsItemChange.ItemPositionHasChanged and self.scene() is not None:
            self._changed(self)
        return super().itemChange(change, value)

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        colors, box = self.style.colors, QRectF(self.boundingRect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(
            QPen(colors.focus if self.isSelected() else colors.warn, 2.0 if self.isSelected() else 1.0)
        )
        painter.setBrush(colors.warn_soft)
        painter.drawRect(box)
        option.state = option.state & ~option.state.State_Selected & ~option.state.State_HasFocus
        super().paint(painter, option, widget)  # type: ignore[arg-type]  # the stubs forget None
