"""Button that shows its key on a key cap next to its text."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRect, QRectF, QSize, Qt, SignalInstance
from PySide6.QtGui import QFont, QFontMetricsF, QKeySequence, QPainter, QPaintEvent, QPen, QShortcut
from PySide6.QtWidgets import QApplication, QPushButton, QStyle, QStyleOptionButton, QStylePainter, QWidget

from app.widgets import keys, theme
from engine.overrides import override

CAP_SCALE: Final = 0.86
"""Size of the text on the key cap relative to the button's text."""
CAP_GAP_PX: Final = 8
CAP_PADDING_PX: Final = 5


def build_back_button(text: str, page: QWidget, leave_wanted: SignalInstance) -> KeyButton:
    """Return a button that emits *leave_wanted*. Esc has the same effect anywhere in *page*."""
    button = KeyButton(text, "Esc")
    button.clicked.connect(leave_wanted)
    context = Qt.ShortcutContext.WidgetWithChildrenShortcut
    QShortcut(QKeySequence("Esc"), page, context=context).activated.connect(leave_wanted)
    return button


class KeyButton(QPushButton):
    """Push button with a key cap. Its `text` does not contain the key."""

    def __init__(self, text: str = "", key: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._key = key

    @property
    def key(self) -> str:
        """Key on the cap. Empty without a cap."""
        return self._key

    def set_key(self, key: str) -> None:
        """Set the key on the cap. An empty *key* removes the cap."""
        if key != self._key:
            self._key = key
            self.updateGeometry()
            self.update()

    def _get_cap_font(self) -> QFont:
        font = theme.resize_font(self.font(), CAP_SCALE)
        font.setBold(False)
        return font

    def _compute_cap_width(self) -> int:
        """Return the width of the cap and its gap, or 0 without a key."""
        if not self._key:
            return 0
        wide = QFontMetricsF(self._get_cap_font()).horizontalAdvance(keys.format_native_keys(self._key))
        return round(max(wide + 2 * CAP_PADDING_PX, self._compute_cap_height())) + CAP_GAP_PX

    def _compute_cap_height(self) -> float:
        return QFontMetricsF(self._get_cap_font()).height() + 2

    @override
    def sizeHint(self) -> QSize:
        return super().sizeHint() + QSize(self._compute_cap_width(), 0)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        cap = self._compute_cap_width()
        if not cap:
            super().paintEvent(event)
            return
        painter, option = QStylePainter(self), QStyleOptionButton()
        self.initStyleOption(option)
        painter.drawControl(QStyle.ControlElement.CE_PushButtonBevel, option)
        room = self.width() - cap
        wide = min(self.fontMetrics().horizontalAdvance(self.text()) + 4, room)
        x = (room - wide) // 2
        option.rect = QRect(x, 0, wide, self.height())
        painter.drawControl(QStyle.ControlElement.CE_PushButtonLabel, option)
        tall = self._compute_cap_height()
        box = QRectF(x + wide + CAP_GAP_PX - 2, (self.height() - tall) / 2, cap - CAP_GAP_PX, tall)
        # use the application's palette, because the style sheet changes the palette of the button
        colors = theme.get_theme_tokens(QApplication.palette())
        filled = self.property("primary") == "true" and self.isEnabled()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink = colors.on_accent if filled else colors.muted
        painter.setPen(QPen(theme.add_alpha(ink, 150) if filled else colors.border, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setPen(ink)
        painter.setFont(self._get_cap_font())
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, keys.format_native_keys(self._key))
