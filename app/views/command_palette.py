"""Command palette: finds any action by a few letters of its name and runs it, without the mouse."""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Final

from msgspec import Struct
from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import (
    QAction,
    QColor,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QGraphicsDropShadowEffect,
    QLabel,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.widgets import theme
from app.widgets.layouts import build_widget_column
from app.words import fuzzy
from app.words.language import tr
from engine.overrides import override

AnyIndex = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()

WIDTH_MAX_LETTERS: Final = 68
"""Maximum width of the palette in letters."""
VISIBLE_ROWS_MAX: Final = 12
RECENT_ACTIONS_MAX: Final = 5
"""Maximum number of recent actions, which come first while the search text is empty."""

_LIST_KEYS: Final = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class PaletteEntry(Struct, frozen=True):
    """Entry of the palette: an action with its group and the indexes of matched letters."""

    group: str
    action: QAction
    matched_indexes: frozenset[int] = frozenset()

    @property
    def text(self) -> str:
        """Text of the entry, for example `Time: Run or pause`."""
        return self.heading + strip_mnemonic(self.action.text())

    @property
    def search_text(self) -> str:
        """Text to search: the visible text, followed by other names of the action."""
        other_names = self.action.property(fuzzy.SEARCH_WORDS_PROPERTY)
        return f"{self.text}  {other_names}" if other_names else self.text

    @property
    def heading(self) -> str:
        """Group that is shown in front of the action's name. Empty for an action without a group."""
        return f"{self.group}: " if self.group else ""

    @property
    def keys(self) -> str:
        """Shortcut as text."""
        return self.action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)

    @property
    def spoken(self) -> str:
        """Text for screen readers."""
        parts = [self.text, self.keys, "" if self.action.isEnabled() else tr("not available now")]
        parts.append(tr("on") if self.action.isChecked() else "")
        return ", ".join(part for part in parts if part)


def strip_mnemonic(text: str) -> str:
    """Return a menu text without the & of its mnemonic."""
    return re.sub(r"&(.)", r"\1", text)


class CommandPalette(QFrame):
    """Panel at the top of its window. Esc, or a click elsewhere, closes it."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.hide()
        self.setProperty("card", True)
        self.setAutoFillBackground(True)
        self._window = window
        self._offered: list[PaletteEntry] = []
        self._recent: list[QAction] = []
        self._former_focus: QWidget | None = None
        self.field = QLineEdit(placeholderText=tr("Type a few letters of a command"))
        self.field.setAccessibleName(tr("Find a command"))
        self.field.textChanged.connect(self._search)
        self.field.installEventFilter(self)
        self.model = _EntryModel(self)
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setItemDelegate(_EntryDelegate(self.list))
        self.list.setAccessibleName(tr("Commands"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the search field keeps the focus
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setProperty("plain", True)
        self.list.clicked.connect(lambda index: self._trigger_entry(self.model.entries[index.row()]))
        self._empty_label = QLabel(tr("No matching commands."))
        self._empty_label.setProperty("muted", True)
        self._empty_label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        build_widget_column(self.field, self.list, self._empty_label, parent=self, margins=8, spacing=6)
        shadow = QGraphicsDropShadowEffect(self)
        shadow.setBlurRadius(32.0)
        shadow.setOffset(0.0, 6.0)
        shadow.setColor(QColor(0, 0, 0, 110))
        self.setGraphicsEffect(shadow)
        window.installEventFilter(self)

    # --- entries ------------------------------------------------------------------------------------------

    def set_actions(self, groups: Iterable[tuple[str, Iterable[QAction]]]) -> None:
        """Set the entries: (group, actions of the group).

        This order applies while the search text is empty.
        """
        self._offered = [
            PaletteEntry(group, action)
            for group, actions in groups
            for action in actions
            if not action.isSeparator()
        ]

    def open_palette(self) -> None:
        """Show the palette with an empty search. Entries of invisible actions are omitted."""
        focused = QApplication.focusWidget()
        if self.isHidden():
            self._former_focus = focused
        self.field.clear()
        self._search("")
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def hide_and_restore_focus(self) -> None:
        """Hide the palette and return the focus to the widget that had it before."""
        if self.isHidden():
            return
        self.hide()
        before, self._former_focus = self._former_focus, None
        if before is not None and before.isVisible():
            before.setFocus(Qt.FocusReason.OtherFocusReason)

    def _search(self, query: str) -> None:
        entries = [entry for entry in self._offered if entry.action.isVisible()]
        # sort by recent use first, because entries that match equally well keep this order
        entries.sort(key=lambda entry: self._rank_by_recency(entry.action))
        if query.strip():
            palette_entries = [
                PaletteEntry(entry.group, entry.action, frozenset(fuzzy_match.indexes))
                for entry, fuzzy_match in fuzzy.find_best_matches(
                    query, entries, lambda entry: entry.search_text
                )
            ]
        else:
            palette_entries = entries
        # the sort is stable, so it only moves disabled entries to the end
        palette_entries.sort(key=lambda entry: not entry.action.isEnabled())
        self.model.replace(palette_entries)
        self.list.setVisible(bool(palette_entries))
        self._empty_label.setVisible(not palette_entries)
        self.list.setCurrentIndex(self.model.index(0))
        self.list.scrollToTop()
        self._announce_current()
        self._update_geometry()

    def _rank_by_recency(self, action: QAction) -> int:
        return self._recent.index(action) if action in self._recent else RECENT_ACTIONS_MAX

    def _trigger_entry(self, entry: PaletteEntry) -> None:
        if not entry.action.isEnabled():
            return
        self._recent = [entry.action, *(a for a in self._recent if a is not entry.action)][
            :RECENT_ACTIONS_MAX
        ]
        self.hide_and_restore_focus()
        entry.action.trigger()

    # --- keys ---------------------------------------------------------------------------------------------

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field:
            if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
                return self._on_key(event)
            if event.type() == QEvent.Type.FocusOut and self.window().isActiveWindow():
                self.hide_and_restore_focus()
        elif isinstance(event, QResizeEvent):
            self._update_geometry()
        return False

    def _on_key(self, event: QKeyEvent) -> bool:
        if event.key() == Qt.Key.Key_Escape:
            self.hide_and_restore_focus()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.list.currentIndex().isValid():
                self._trigger_entry(self.model.entries[self.list.currentIndex().row()])
        elif event.key() in _LIST_KEYS:
            QApplication.sendEvent(self.list, event)
            self._announce_current()
        elif event.key() not in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            return False
        return True

    def _announce_current(self) -> None:
        """Describe the selected entry for a screen reader, because the focus stays in the search field."""
        index, count = self.list.currentIndex(), self.model.rowCount()
        spoken_text = self.model.entries[index.row()].spoken if index.isValid() else tr("no match")
        self.field.setAccessibleDescription(
            tr("{chosen}; {count} of {count2} commands match").format(
                chosen=spoken_text, count=count, count2=len(self._offered)
            )
        )

    # --- appearance ---------------------------------------------------------------------------------------

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and not self.isHidden():
            self._update_geometry()

    def _update_geometry(self) -> None:
        """Center the palette at the top of the window, as high as its rows."""
        room = self._window.size()
        width = min(WIDTH_MAX_LETTERS * self.fontMetrics().horizontalAdvance("n"), room.width() - 24)
        rows = min(VISIBLE_ROWS_MAX, max(1, self.model.rowCount()))
        self.list.setFixedHeight(rows * self.list.sizeHintForRow(0) + 4 if self.model.rowCount() else 0)
        self.resize(width, min(self.sizeHint().height(), room.height() - 48))
        self.move((room.width() - width) // 2, 36)


class _EntryModel(QAbstractListModel):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.entries: list[PaletteEntry] = []

    def replace(self, entries: list[PaletteEntry]) -> None:
        self.beginResetModel()
        self.entries = entries
        self.endResetModel()

    def rowCount(self, parent: AnyIndex = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.entries)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.entries[index.row()].spoken
        return self.entries[index.row()] if role == Qt.ItemDataRole.UserRole else None


class _EntryDelegate(QStyledItemDelegate):
    """Painter of a row: group, name with highlighted matches, and keys on the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        return QSize(0, option.fontMetrics.height() + 10)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        entry: PaletteEntry = index.data(Qt.ItemDataRole.UserRole)
        colors = theme.get_theme_tokens(
            QApplication.palette()
        )  # use the application's palette, because the list has a transparent background
        room: QRect = option.rect
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        enabled = entry.action.isEnabled()
        painter.save()
        if is_selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.selection)
            painter.drawRoundedRect(room.adjusted(1, 0, -1, 0), 5, 5)
        text = colors.on_selection if is_selected else colors.text
        muted = colors.on_selection if is_selected else colors.muted
        box = room.adjusted(10, 0, -10, 0)
        painter.setPen(muted)
        mark = "✓ " if entry.action.isChecked() else ""
        keys = mark + (entry.keys if enabled else tr("not available now"))
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, keys)
        box.setRight(box.right() - painter.fontMetrics().horizontalAdvance(keys) - 12)
        color = colors.on_selection if is_selected else colors.accent
        _draw_name(painter, box, entry, text if enabled else muted, muted, color)
        painter.restore()


def _draw_name(
    painter: QPainter,
    bounds: QRect,
    entry: PaletteEntry,
    text: QColor,
    muted_color: QColor,
    hit_color: QColor,
) -> None:
    """Draw the name, with the matched letters in bold."""
    font, bold = QFont(painter.font()), theme.resize_font(painter.font(), 1.0, bold=True)
    start_of_name = len(entry.heading)
    x = float(bounds.left())
    for (hit, in_group), run in groupby(
        enumerate(entry.text), lambda match: (match[0] in entry.matched_indexes, match[0] < start_of_name)
    ):
        painter.setFont(bold if hit else font)
        painter.setPen(hit_color if hit else muted_color if in_group else text)
        letters = "".join(letter for _, letter in run)
        left = QRectF(x, bounds.top(), max(0.0, bounds.right() - x), bounds.height())
        width = QFontMetricsF(painter.font()).horizontalAdvance(letters)
        if width > left.width():
            letters = painter.fontMetrics().elidedText(
                letters, Qt.TextElideMode.ElideRight, int(left.width())
            )
            painter.drawText(left, Qt.AlignmentFlag.AlignVCenter, letters)
            return
        painter.drawText(left, Qt.AlignmentFlag.AlignVCenter, letters)
        x += width
