"""Pages of the Tools menu and the help, each created on first use because few starts need them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

from app.main_window.drill_selection import DrillSelectionController
from app.main_window.navigation import PageNavigation
from app.main_window.shared_parts import SharedParts, WindowPart
from app.views.help import HELP_PAGE_BY_VIEW, HelpDialog
from app.widgets.busy_cursor import show_busy_cursor
from app.widgets.scroll_container import PageStack
from app.words.language import tr

if TYPE_CHECKING:
    from app.views.fidelity import FidelityView
    from app.views.planner import LinkPlanner
    from app.views.progress import ProgressPage


class ToolPageController(QObject):
    """Controller of the link planner and of the comparison with published figures.

    A run is paused while one of these pages is open.
    """

    def __init__(self, navigation: PageNavigation, parent: QObject) -> None:
        super().__init__(parent)
        self._navigation = navigation
        self.planner: LinkPlanner | None = None
        self.fidelity: FidelityView | None = None

    def show_planner(self) -> None:
        """Show the link planner."""
        self._navigation.pause_run()
        if self.planner is None:
            from app.views.planner import LinkPlanner

            self.planner = LinkPlanner()
            self.planner.closed.connect(self._navigation.return_from_page)
        self._navigation.show_page(self.planner, tr("Link planner"))

    def show_fidelity(self) -> None:
        """Show the comparison with published figures. It is computed while the page is open."""
        self._navigation.pause_run()
        if self.fidelity is None:
            from app.views.fidelity import FidelityView

            self.fidelity = FidelityView()
            self.fidelity.closed.connect(self._navigation.return_from_page)
        self._navigation.show_page(self.fidelity, tr("Fidelity"))

    def stop(self) -> None:
        """Stop the computation of the comparison, because the window closes."""
        if self.fidelity is not None:
            self.fidelity.stop()


class ProgressPageController(WindowPart):
    """Controller of the page with skills and recommended drills. A run is paused while the page is open."""

    def __init__(
        self, shared: SharedParts, navigation: PageNavigation, choice: DrillSelectionController
    ) -> None:
        super().__init__(shared)
        self._navigation, self._choice = navigation, choice
        self.page: ProgressPage | None = None

    @show_busy_cursor()
    def show_progress(self) -> None:
        """Show the page with skills and recommended drills."""
        navigation = self._navigation
        navigation.pause_run()
        if self.page is None:
            from app.views.progress import ProgressPage

            self.page = ProgressPage()
            self.page.leave_wanted.connect(navigation.return_from_page)
            self.page.history_wanted.connect(navigation.show_history)
            self.page.start_wanted.connect(self._choice.ask_to_show_brief)
        self._library.read_scenarios()
        progress = self._library.read_progress()
        titles = {name: summary.title for name, summary in self._library.summaries.items()}
        self.page.show_progress(
            progress.skills,
            progress.recommendations,
            titles,
            progress.computed_at,
            self._library.read_calibration(),
        )
        navigation.show_page(self.page, tr("Progress"))
        self.page.take_focus()


class HelpController(QObject):
    """Controller of the help window, which is created on first use."""

    def __init__(self, panels: Mapping[str, QWidget], pages: PageStack, parent: QWidget) -> None:
        """Create the controller. *panels*: panel name in the table of help pages -> widget of the panel."""
        super().__init__(parent)
        self._panels, self._pages, self._parent = panels, pages, parent
        self._help: HelpDialog | None = None

    def show_help(self) -> None:
        """Open the help page about the focused widget."""
        self.open_page(HELP_PAGE_BY_VIEW.get(self._get_focused_panel(), "start"))

    def open_page(self, page: str) -> None:
        """Open the help page *page*."""
        help = self._help = self._help or HelpDialog(self._parent)
        help.show_page(page)
        help.show()
        help.raise_()

    def _get_focused_panel(self) -> str:
        focus, page = QApplication.focusWidget(), self._pages.currentWidget()
        panels = {**self._panels, page.objectName(): page} if page is not None else self._panels
        for name, view in panels.items():
            if focus is not None and (view is focus or view.isAncestorOf(focus)):
                return name
        return ""
