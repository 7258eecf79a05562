"""Pages of the Tools menu, each created when it is first opened because few starts need one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.main_window.navigation import Navigation
from app.words.language import tr

if TYPE_CHECKING:
    from app.views.fidelity import FidelityView
    from app.views.planner import Planner


class ToolPages(QObject):
    """Link planner, and comparison with the papers' figures. A running drill waits, and its desk returns afterwards."""

    def __init__(self, navigation: Navigation, parent: QObject) -> None:
        super().__init__(parent)
        self._navigation = navigation
        self.planner: Planner | None = None
        self.fidelity: FidelityView | None = None

    def show_planner(self) -> None:
        """Show the planner."""
        self._navigation.pause_run()
        if self.planner is None:
            from app.views.planner import Planner

            self.planner = Planner()
            self.planner.closed.connect(self._navigation.return_from_page)
        self._navigation.show_page(self.planner, tr("Link planner"))

    def show_fidelity(self) -> None:
        """Show the comparison, which is computed while the page is open."""
        self._navigation.pause_run()
        if self.fidelity is None:
            from app.views.fidelity import FidelityView

            self.fidelity = FidelityView()
            self.fidelity.closed.connect(self._navigation.return_from_page)
        self._navigation.show_page(self.fidelity, tr("Fidelity"))

    def stop(self) -> None:
        """Stop when the window closes."""
        if self.fidelity is not None:
            self.fidelity.stop()
