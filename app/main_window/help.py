"""F1: the page about the panel that has the keyboard."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

from app.views.help import PAGE_OF, Help
from app.widgets.scroll_container import Pages


class HelpKey(QObject):
    """The help is made when it is first asked for."""

    def __init__(self, panels: Mapping[str, QWidget], pages: Pages, parent: QWidget) -> None:
        """Create help; *panels*: name in the table of help pages -> widget with the keyboard focus."""
        super().__init__(parent)
        self._panels, self._pages, self._parent = panels, pages, parent
        self._help: Help | None = None

    def show(self) -> None:
        """Open the help at the page about what has the keyboard."""
        self.open_page(PAGE_OF.get(self._panel_with_keys(), "start"))

    def open_page(self, page: str) -> None:
        """Open the help at *page*."""
        help = self._help = self._help or Help(self._parent)
        help.show_page(page)
        help.show()
        help.raise_()

    def _panel_with_keys(self) -> str:
        focus, page = QApplication.focusWidget(), self._pages.currentWidget()
        around = {**self._panels, page.objectName(): page} if page is not None else self._panels
        for name, view in around.items():
            if focus is not None and (view is focus or view.isAncestorOf(focus)):
                return name
        return ""
