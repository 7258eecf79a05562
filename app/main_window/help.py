"""F1: the page about the panel that has the keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from app.main_window import actions
from app.views.help import PAGE_OF, Help

if TYPE_CHECKING:
    from app.main_window.window import MainWindow


def _show(window: MainWindow) -> None:
    if window.help is None:
        window.help = Help(window)
    focus = QApplication.focusWidget()
    around = {**window.desk.widgets(), "timeline": window.timeline, "transport": window.transport}
    page = window.pages.currentWidget()
    if page is not None:
        around[page.objectName()] = page
    name = next(
        (
            n
            for n, view in around.items()
            if focus is not None and (view is focus or view.isAncestorOf(focus))
        ),
        "",
    )
    window.help.show_page(PAGE_OF.get(name, "start"))
    window.help.show()
    window.help.raise_()


def attach(window: MainWindow) -> None:
    """The first entry of the Help menu; the page is made when it is first asked for."""
    window.help = None
    added = actions.add(window, {"help.here": lambda: _show(window)})
    menu = window.menus["&Help"]
    menu.insertAction(menu.actions()[0], added["help.here"])
