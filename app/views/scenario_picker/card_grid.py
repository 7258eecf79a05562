"""Grid of drill cards: title, summary, facts and the learner's result. The grid is as high as its rows."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFont, QFontMetricsF, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QListView,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from app.view_models.start_page import DrillCard
from app.views.scenario_picker.top_cards import wrap_text_cached
from app.widgets import theme
from app.widgets.screen_reader import make_selected_row_current
from app.widgets.tables import get_cell_style
from app.words.language import tr
from engine.overrides import override

CARD_WIDTH_MIN_LINES: Final = 28.0
"""Minimum width of a card in line heights."""
GRID_COLUMNS_MAX: Final = 4
CARD_GAP_PX: Final = 8
PADDING_PX: Final = 12
TITLE_SCALE, SMALL_SCALE = 1.08, 0.92
_CARD_ROLE: Final = Qt.ItemDataRole.UserRole
_LINE_SPACING: Final = 1.12
"""Line spacing in line heights."""
_TEXT_LINES: Final = 4
"""Number of text lines of a card: title, two lines of summary, facts."""


class CardGrid(QListWidget):
    """Grid of cards. It does not scroll, because the page around it scrolls."""

    open_wanted = Signal(str)
    """Signal: name of the drill that was clicked, or on which Enter was pressed."""
    edit_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.recommended = ""
        """Name of the recommended drill."""
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setMovement(QListView.Movement.Static)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setUniformItemSizes(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("plain", "true")
        for set_policy in (self.setVerticalScrollBarPolicy, self.setHorizontalScrollBarPolicy):
            set_policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Drills"))
        self.setItemDelegate(_CardDelegate(self))
        make_selected_row_current(self)
        self.itemClicked.connect(self._open)
        self.itemActivated.connect(self._open)
        self._opening = False
        theme.call_after_events(self, theme.FONT_EVENTS, self._fit_size)

    def show_cards(self, cards: Sequence[DrillCard], recommended: str) -> None:
        """Show *cards* and keep the selected drill. *recommended*: name of the recommended drill."""
        before = self.get_current_card()
        self.recommended = recommended
        self.clear()
        for card in cards:
            item = QListWidgetItem(card.title)
            item.setData(_CARD_ROLE, card)
            spoken = (card.title, self.get_result_text(card), f"{card.facts}. {card.summary}")
            item.setData(Qt.ItemDataRole.AccessibleTextRole, ", ".join(filter(None, spoken)))
            item.setToolTip(card.summary)
            self.addItem(item)
        if before is not None:
            self.select_drill(before.name)
        self._fit_size()

    def get_current_card(self) -> DrillCard | None:
        """Return the selected card, or None."""
        item = self.currentItem()
        card = item.data(_CARD_ROLE) if item is not None else None
        return card if isinstance(card, DrillCard) else None

    def select_drill(self, name: str) -> bool:
        """Select the drill *name*. Return False if it is not listed."""
        for row in range(self.count()):
            if self.item(row).data(_CARD_ROLE).name == name:
                self.setCurrentRow(row)
                return True
        return False

    def get_result_text(self, card: DrillCard) -> str:
        """Return the text of the learner's result on the card, or "Recommended"."""
        return tr("Recommended") if card.name == self.recommended else card.result_label.text

    def get_card_rect(self) -> QRect:
        """Return the rectangle of the current card in the grid."""
        item = self.currentItem()
        return self.visualItemRect(item) if item is not None else QRect()

    @property
    def columns(self) -> int:
        """Number of cards per row at the current width."""
        width_min = CARD_WIDTH_MIN_LINES * self.fontMetrics().height()
        return max(1, min(GRID_COLUMNS_MAX, int((self.width() + CARD_GAP_PX) // width_min)))

    def _open(self, item: QListWidgetItem) -> None:
        if self._opening:  # a double click emits both itemClicked and itemActivated
            return
        self._opening = True
        try:
            self.open_wanted.emit(item.data(_CARD_ROLE).name)
        finally:
            self._opening = False

    def _fit_size(self) -> None:
        """Divide the width among the columns, and give the grid the height of its rows."""
        columns = self.columns
        width = (self.width() - 2) // columns
        height = (
            round(_TEXT_LINES * _LINE_SPACING * self.fontMetrics().height())
            + 2 * PADDING_PX
            - 4
            + CARD_GAP_PX
        )
        if self.gridSize() != QSize(width, height):
            self.setGridSize(QSize(width, height))
        rows = -(-self.count() // columns)
        self.setFixedHeight(max(1, rows) * height + 4)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit_size()
        super().resizeEvent(event)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
        item = self.currentItem() if by_key else self.itemAt(event.pos())
        if item is None:
            return
        menu = self.build_menu(item.data(_CARD_ROLE))
        point = self.visualItemRect(item).center() if by_key else event.pos()
        menu.popup(self.viewport().mapToGlobal(QPoint(point)))

    def build_menu(self, card: DrillCard) -> QMenu:
        """Return the context menu of *card*."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("Open"), lambda: self.open_wanted.emit(card.name))
        edit = tr("Edit a copy") if card.shipped or card.origin else tr("Edit")
        menu.addAction(edit, lambda: self.edit_wanted.emit(card.name)).setEnabled(card.has_results)
        return menu


class _CardDelegate(QStyledItemDelegate):
    """Delegate that paints a card."""

    def __init__(self, grid: CardGrid) -> None:
        super().__init__(grid)
        self._grid = grid

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return self._grid.gridSize()

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        card: DrillCard = index.data(_CARD_ROLE)
        look = get_cell_style(option)
        colors = theme.get_theme_tokens(
            QApplication.palette()
        )  # use the application's palette, because the grid has a transparent background
        is_selected = bool(look.state & QStyle.StateFlag.State_Selected)
        hovered = bool(look.state & QStyle.StateFlag.State_MouseOver)
        recommended = card.name == self._grid.recommended
        columns = self._grid.columns
        gap, column = (
            CARD_GAP_PX / columns,
            index.row() % columns,
        )  # outer cards are aligned with the page edges
        box = QRectF(look.rect).adjusted(
            gap * column + 1, 1, gap * (column + 1 - columns) - 1, 1 - CARD_GAP_PX
        )
        if column == columns - 1:
            box.setRight(self._grid.width() - 1)  # the last column also gets the remainder of the division
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focused = is_selected and self._grid.hasFocus()
        accent = colors.focus if focused else colors.accent
        painter.setPen(
            QPen(accent if is_selected or hovered or recommended else colors.border, 2.0 if focused else 1.0)
        )
        painter.setBrush(colors.raised if hovered else colors.surface)
        painter.drawRoundedRect(box, 8, 8)
        self._paint_text(painter, card, box.adjusted(PADDING_PX, PADDING_PX - 2, -PADDING_PX, -4), look.font)
        painter.restore()

    def _paint_text(self, painter: QPainter, card: DrillCard, box: QRectF, font: QFont) -> None:
        colors = theme.get_theme_tokens(QApplication.palette())
        title, small = theme.resize_font(font, TITLE_SCALE, bold=True), theme.resize_font(font, SMALL_SCALE)
        line = QFontMetricsF(font).height() * _LINE_SPACING
        row = QRectF(box.left(), box.top(), box.width(), line)
        alignment = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.setFont(title)
        painter.setPen(colors.text)
        painter.drawText(row, alignment, _elide(card.title, title, row.width()))
        row.translate(0.0, line)
        painter.setFont(small)
        painter.setPen(colors.muted)
        summary = _wrap_summary(card.summary, small.toString(), row.width())
        for words in summary:
            painter.drawText(row, alignment, words)
            row.translate(0.0, line)
        row.translate(0.0, line * (_TEXT_LINES - 2 - len(summary)))
        text, color_name = self._grid.get_result_text(card), card.result_label.color_name
        if card.name == self._grid.recommended:
            color_name = "info"
        state_font = theme.resize_font(font, SMALL_SCALE, bold=color_name != "muted")
        room = row.width() - QFontMetricsF(state_font).horizontalAdvance(text) - 12
        has_room = QFontMetricsF(small).horizontalAdvance(card.facts) <= room
        painter.drawText(row, alignment, _elide(card.facts if has_room else card.short_facts, small, room))
        painter.setFont(state_font)
        painter.setPen(colors.get_color(color_name))
        painter.drawText(row, right, text)


def _wrap_summary(text: str, font_text: str, width: float) -> tuple[str, ...]:
    """Return the lines of *text*, or of its first sentence if *text* does not fit.

    The first sentence states the situation. *font_text*: `QFont.toString()` of the font.
    """
    lines = wrap_text_cached(text, font_text, width, _TEXT_LINES - 2)
    if lines[-1].endswith("…") and ". " in text:
        return wrap_text_cached(text.partition(". ")[0] + ".", font_text, width, _TEXT_LINES - 2)
    return lines


def _elide(text: str, font: QFont, width: float) -> str:
    return wrap_text_cached(text, font.toString(), width, 1)[0]
