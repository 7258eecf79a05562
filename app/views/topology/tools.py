"""Small toolbar on the canvas: actions of the selected object, zoom, and a search box."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAction,
    QFontMetrics,
    QKeyEvent,
    QPalette,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLabel,
    QLineEdit,
    QMenu,
    QToolButton,
    QWidget,
)

from app.widgets import theme
from app.widgets.bars import attach_menu
from app.widgets.layouts import build_row
from app.words.language import tr
from engine.overrides import override


class SearchBox(QLineEdit):
    """Search box. Typing selects the first match, Enter selects the next match, and Esc closes the box."""

    match_found = Signal(str)
    """Signal: name of the current match."""

    def __init__(self, parent: QWidget, names: Callable[[], list[str]]) -> None:
        super().__init__(parent)
        self._canvas = parent
        self._names = names
        self._match_index = 0
        self.setPlaceholderText(tr("Find a server, application or database"))
        self.setAccessibleName(tr("Find in the topology"))
        self.textEdited.connect(lambda _: self._find(0))
        self.returnPressed.connect(lambda: self._find(self._match_index + 1))
        self.match_number = QLabel(self)
        """Label with the number of the match and the number of matches, or a note that there are none."""
        self.hide()
        theme.call_after_events(self, theme.SIZE_EVENTS, self._move_status_label)

    def show_box(self) -> None:
        """Show the box and focus its field."""
        width = min(self._canvas.width() - 16, self.fontMetrics().averageCharWidth() * 44)
        self.resize(width, self.sizeHint().height())
        self.move((self._canvas.width() - width) // 2, 8)
        self.show()
        self.setFocus()
        self.selectAll()
        self._show_status("", "muted")

    def _find(self, index: int) -> None:
        text = self.text().strip().casefold()
        fitting = [name for name in self._names() if text and text in name.casefold()]
        self._match_index = index % len(fitting) if fitting else 0
        message = "" if not text else tr("no match")
        if fitting:
            message = tr("{number} of {count}").format(number=self._match_index + 1, count=len(fitting))
        self._show_status(message, "muted" if fitting else "bad")
        if fitting:
            self.match_found.emit(fitting[self._match_index])

    def _show_status(self, text: str, color_name: str) -> None:
        self.match_number.setText(text)
        self.match_number.setStyleSheet(
            f"color: {theme.get_theme_tokens(self.palette()).get_color(color_name).name()};"
        )
        self.match_number.adjustSize()
        self._move_status_label()
        if text and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def _move_status_label(self) -> None:
        self.match_number.move(
            self.width() - self.match_number.width() - 8, (self.height() - self.match_number.height()) // 2
        )

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
            self._canvas.setFocus()
        else:
            super().keyPressEvent(event)
            event.accept()  # otherwise the canvas would receive Enter and open a menu


_ACTION_ICONS = {
    "note": "note",
    "spotlight": "spotlight",
    "find": "find",
    "fit": "fit",
    "larger": "zoom-in",
    "smaller": "zoom-out",
    "rearrange": "retry",
}


MARGIN_PX: Final = 6
MENU_ARROW: Final = "▾"


class CanvasTools(QFrame):
    """Toolbar in a corner of the canvas."""

    def __init__(self, parent: QWidget, actions: dict[str, QAction], fill: Callable[[QMenu], None]) -> None:
        super().__init__(parent)
        self.setAutoFillBackground(True)  # the toolbar is opaque, because it may cover a card
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self._actions = actions
        self._act = QToolButton()
        self._label_texts = MENU_ARROW
        self._act.setToolTip(tr("Actions for the selected item (Enter or right-click)"))
        menu = QMenu(self)
        menu.aboutToShow.connect(menu.clear)
        menu.aboutToShow.connect(lambda: fill(menu))
        attach_menu(menu, self._act)
        self._act.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        row = build_row(self._act, parent=self, margins=2, spacing=0)
        self._buttons = [self._build_button(action) for action in actions.values()]
        for button in self._buttons:
            row.addWidget(button)
        self.show_target(None)
        self.show_theme()

    def _build_button(self, action: QAction) -> QToolButton:
        button = QToolButton()
        button.setDefaultAction(action)
        # the canvas keeps the focus and has keys with the same effect
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return button

    def show_target(self, title: str | None) -> None:
        """Show the name of the selected object. None means no selection."""
        self._act.setEnabled(title is not None)
        self._label_texts = tr("Actions: {title} ▾").format(title=title) if title else tr("No selection")
        self._act.setAccessibleName(self._label_texts)
        self.move_to_corner()

    def show_theme(self) -> None:
        """Update icons and sizes for the current theme."""
        colors = theme.get_theme_tokens(self.palette())
        # use the application's font, because this widget's font may not be updated yet
        icon_px = round(QFontMetrics(QApplication.font()).height() * 1.05)
        for name, action in self._actions.items():
            action.setIcon(theme.load_icon(_ACTION_ICONS[name], colors))
        for button in self._buttons:
            button.setIconSize(QSize(icon_px, icon_px))
        self.move_to_corner()

    def move_to_corner(self) -> None:
        """Move to the lower right corner, which cards leave free.

        If the toolbar is too wide, hide the name of the selected object.
        """
        parent = self.parentWidget()
        self._act.setText(self._label_texts)
        self.adjustSize()
        if parent is not None:
            if self.width() > parent.width() - 2 * MARGIN_PX:
                self._act.setText(MENU_ARROW)
                self.adjustSize()
            right, lower = parent.width() - self.width(), parent.height() - self.height()
            self.move(right - MARGIN_PX, lower - MARGIN_PX)


def build_zoom_actions(
    owner: QWidget, specs: Sequence[tuple[str, str, Callable[[], None]]]
) -> dict[str, QAction]:
    """Return zoom actions by name. *specs*: name, text with its key, and callback of each action."""
    actions: dict[str, QAction] = {}
    for name, text, do in specs:
        actions[name] = QAction(text, owner)
        actions[name].triggered.connect(lambda _=False, do=do: do())
    return actions
