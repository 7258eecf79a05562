"""Notice at the edge of the window, for example an error or an offer to undo an action."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer, Slot
from PySide6.QtGui import QCursor, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QPushButton, QToolButton, QWidget

from app.widgets import theme
from app.widgets.input_guard import get_input_guard
from app.widgets.layouts import build_row
from app.widgets.screen_reader import announce_text, has_keyboard_focus
from app.words.language import tr
from engine.overrides import override

INFO_DURATION_MS: Final = 12_000
"""Time after which an information notice disappears. Assumed.

A notice about a failure stays until it is closed or replaced.
"""
NOTICE_WIDTH_SHARE_MAX: Final = 0.7
"""Maximum width of the notice as a share of the page's width."""
EDGE_MARGIN_PX: Final = 6


class NoticeBar(QFrame):
    """Notice that covers an edge of the page *parent*.

    If possible, it covers neither the pointer nor the keyboard focus.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._page = parent
        self._color_name = "warn"
        self._icon, self._text = QLabel(), QLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._offer_button = QPushButton()
        self._offer_button.setProperty("small", "true")
        self._offer_button.hide()
        self._offer_callback: Callable[[], object] = lambda: None
        self._offer_button.clicked.connect(self._accept_offer)
        self._close = QToolButton()
        self._close.setToolTip(tr("Close this notice"))
        self._close.setAccessibleName(tr("Close this notice"))
        self._close.clicked.connect(self.hide_notice)
        for button in (self._offer_button, self._close):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click does not move the keyboard focus
        build_row(
            self._icon, (self._text, 1), self._offer_button, self._close, parent=self, margins=(14, 5, 6, 5)
        )
        self._hide_timer = QTimer(self, singleShot=True)
        self._hide_timer.timeout.connect(self.hide_notice)
        parent.installEventFilter(self)
        self.hide()

    @property
    def text(self) -> str:
        """Text of the visible notice. Empty if no notice is visible."""
        return "" if self.isHidden() else self._text.text()

    @property
    def offer_button(self) -> QPushButton | None:
        """Button of the current offer, or None."""
        return None if self.isHidden() or self._offer_button.isHidden() else self._offer_button

    @Slot(str)
    def show_warning(self, text: str) -> None:
        """Show a notice about a failure."""
        self._show_text(text, "warn")

    @Slot(str)
    def show_info(self, text: str, duration_ms: int = INFO_DURATION_MS) -> None:
        """Show information for *duration_ms*. 0 means until it is closed or replaced."""
        self._show_text(text, "info", duration_ms)

    def show_offer(
        self, text: str, label: str, callback: Callable[[], object], duration_s: float | None = None
    ) -> None:
        """Show *text* with a button *label* that calls *callback*.

        The offer disappears after *duration_s* seconds. None means that it stays until it is replaced.
        """
        self._show_text(text, "info", round(duration_s * 1000) if duration_s is not None else 0, label)
        self._offer_callback = callback

    @Slot()
    def hide_notice(self) -> None:
        """Hide the notice."""
        self._hide_timer.stop()
        if has_keyboard_focus(self):
            self._page.setFocus()
        self.hide()

    def _accept_offer(self) -> None:
        do = self._offer_callback
        self.hide_notice()
        do()

    def _show_text(self, text: str, color_name: str, duration_ms: int = 0, button_text: str = "") -> None:
        self._color_name = color_name
        self._text.setText(text)
        self._offer_button.setText(button_text)
        self._offer_button.setVisible(bool(button_text))
        self.setAccessibleName(text)
        self._show_theme()
        self._update_geometry()
        self.show()
        self.raise_()
        get_input_guard().record_appearance(self)
        if duration_ms:
            self._hide_timer.start(duration_ms)
        else:
            self._hide_timer.stop()
        announce_text(self, text, is_urgent=color_name == "warn")

    # --- position -------------------------------------------------------------------------------------------

    def _update_geometry(self) -> None:
        """Place the notice at the lower edge, or at the upper edge if its overlap penalty is lower there."""
        page = self._page
        self.ensurePolished()
        room = page.rect().adjusted(EDGE_MARGIN_PX, EDGE_MARGIN_PX, -EDGE_MARGIN_PX, -EDGE_MARGIN_PX)
        frame_width = self.sizeHint().width() - self._text.sizeHint().width()
        line = self._text.fontMetrics().boundingRect(QRect(), 0, self._text.text()).width() + 8
        width = min(round(NOTICE_WIDTH_SHARE_MAX * room.width()), frame_width + line)
        height = self.heightForWidth(width)
        rect = QRect(room.left() + (room.width() - width) // 2, 0, width, height)
        edges = [room.bottom() - height + 1, room.top()]
        self.setGeometry(min((rect.translated(0, y) for y in edges), key=self._compute_overlap_penalty))

    def _compute_overlap_penalty(self, rect: QRect) -> int:
        """Return a penalty for what a notice at *rect* would cover.

        Covering the pointer costs more than covering the keyboard focus.
        """
        page = self._page
        pointer = rect.contains(page.mapFromGlobal(QCursor.pos()))
        focus = QApplication.focusWidget()
        is_typing = False
        if focus is not None and page.isAncestorOf(focus):
            caret = focus.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle)
            cursor = (
                caret.toRect() if hasattr(caret, "toRect") else caret if isinstance(caret, QRect) else QRect()
            )
            is_typing = rect.contains(focus.mapTo(page, cursor.center()))
        return 2 * pointer + is_typing

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and watched is self._page and not self.isHidden():
            self._update_geometry()
        return super().eventFilter(watched, event)

    # --- appearance -----------------------------------------------------------------------------------------

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and not self.isHidden():
            self._show_theme()

    def _show_theme(self) -> None:
        colors = theme.get_theme_tokens(self.palette())
        color_name = colors.get_color(self._color_name)
        self._close.setIcon(theme.load_icon("close", colors))
        height = self.fontMetrics().height()
        self._icon.setPixmap(
            theme.render_pixmap("warning" if self._color_name == "warn" else "note", color_name, height)
        )
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.get_theme_tokens(self.palette())
        painter = QPainter(self)
        painter.fillRect(self.rect(), colors.get_color(f"{self._color_name}_soft"))
        painter.setPen(colors.get_color(self._color_name))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
