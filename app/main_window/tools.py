"""Pages of the Tools menu, each brought in and made when it is first opened: few starts need one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.words.fuzzy import ALSO
from app.words.language import mark, tr

if TYPE_CHECKING:
    from app.main_window.window import MainWindow
    from app.views.fidelity import Fidelity
    from app.views.planner import Planner


class Tools:
    """The link planner and the papers' figures beside ours. A drill that runs waits, and its desk comes back."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.planner: Planner | None = None
        self.fidelity: Fidelity | None = None

    def show_planner(self) -> None:
        self._window.keep_desk()
        if self.planner is None:
            from app.views.planner import Planner

            self.planner = Planner()
            self.planner.closed.connect(self._window.go_back)
            self._window.pages.addWidget(self.planner)
        self._window.go_to(self.planner, tr("Link planner"))

    def show_fidelity(self) -> None:
        """Worked out while the page is open."""
        self._window.keep_desk()
        if self.fidelity is None:
            from app.views.fidelity import Fidelity

            self.fidelity = Fidelity()
            self.fidelity.closed.connect(self._window.go_back)
            self._window.closing.connect(self.fidelity.stop)
            self._window.pages.addWidget(self.fidelity)
        self._window.go_to(self.fidelity, tr("Fidelity"))


def attach(window: MainWindow) -> None:
    """Put the pages' entries into the menu; the pages are `window.tools`."""
    window.tools = Tools(window)
    menu = window.menus["&Tools"]
    for text, show in (
        (mark("&Link planner"), window.tools.show_planner),
        (mark("&Fidelity to the papers"), window.tools.show_fidelity),
    ):
        menu.addAction(tr(text), show).setProperty(ALSO, text.replace("&", ""))
