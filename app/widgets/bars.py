"""Slim bar of buttons at the top of a panel, and buttons that open menus. Tab reaches all buttons."""

from collections.abc import Callable, Iterable

from PySide6.QtCore import QPoint, QSize, Qt, QTimer
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QMenu, QToolBar, QToolButton, QWidget

from app.widgets import theme
from app.widgets.screen_reader import close_menu_after_use
from app.words.language import tr


class ButtonBar(QToolBar):
    """Bar of buttons with text. Buttons that do not fit move into a menu at the end."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setMovable(False)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._fit_icons()
        self._show_arrow()
        theme.call_after_events(self, theme.FONT_EVENTS, self._fit_icons)
        theme.call_after_events(self, theme.PALETTE_EVENTS, self._show_arrow)

    def add_actions(self, actions: Iterable[QAction | None]) -> None:
        """Add a button for each of *actions*. None adds a separator."""
        for action in actions:
            if action is None:
                self.addSeparator()
                continue
            self.addAction(action)
            button = self.widgetForAction(action)
            if isinstance(button, QToolButton):
                button.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def _show_arrow(self) -> None:
        """Draw the arrow of the overflow menu in the theme's color. Qt always draws it black."""
        arrow = self.findChild(QToolButton, "qt_toolbar_ext_button")
        if arrow is not None:
            arrow.setIcon(theme.load_icon("more", theme.get_theme_tokens(self.palette())))
            arrow.setStyleSheet("padding: 0px;")  # without padding, the button keeps the bar slim
            arrow.setAccessibleName(tr("More buttons"))

    def _fit_icons(self) -> None:
        height = self.fontMetrics().height()
        self.setIconSize(QSize(height, height))


def attach_menu(menu: QMenu, button: QToolButton) -> None:
    """Make *button* open *menu*, both by mouse and by screen reader.

    An "instant popup" does not work: Qt offers it to screen readers but does not open it.
    """
    button.setMenu(menu)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.DelayedPopup)
    button.setStyleSheet(
        "QToolButton::menu-indicator { image: none; }"
    )  # hide Qt's arrow, because the text contains one
    # The menu opens after the click is processed, because it blocks its caller until it is closed.
    timer = QTimer(button, singleShot=True, interval=0)
    timer.timeout.connect(lambda: menu.hide() if menu.isVisible() else button.showMenu())
    button.clicked.connect(lambda _=False: timer.start())
    close_menu_after_use(menu)


def enable_context_menu(table: QAbstractItemView, fill: Callable[[QMenu], bool]) -> None:
    """Open a context menu in *table* on right click, Return or Enter.

    *fill*: function that adds the menu's entries. If *fill* returns False, no menu opens.
    """

    def pop_menu(position: QPoint) -> None:
        menu = QMenu(table)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if fill(menu):
            menu.popup(table.viewport().mapToGlobal(position))
        else:
            menu.deleteLater()

    table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
    table.customContextMenuRequested.connect(pop_menu)
    for key in ("Return", "Enter"):
        opener = QShortcut(QKeySequence(key), table, context=Qt.ShortcutContext.WidgetShortcut)
        opener.activated.connect(lambda: pop_menu(table.visualRect(table.currentIndex()).bottomLeft()))


def build_menu_button(text: str, tip: str, fill: Callable[[QMenu], object]) -> QToolButton:
    """Return a button with a menu that *fill* fills each time the menu opens.

    The button replaces a context menu for people who cannot open one.
    """
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    menu = QMenu(button)

    def show_menu() -> None:
        menu.clear()
        fill(menu)

    menu.aboutToShow.connect(show_menu)
    attach_menu(menu, button)
    return button
