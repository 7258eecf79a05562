"""The page of branches in the window: from the desk and from the debrief, and back."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.main_window.navigation import Navigation
from app.main_window.run_controller import RunController
from app.main_window.session import HostSession
from app.views.branches import BranchPage
from app.widgets.notice import NoticeBar
from app.words.language import tr
from app.words.localization import localize as said_of


class BranchViews(QObject):
    """Shows the tree of the run that is played or looked back on; the page is made when it is first opened."""

    left = Signal()
    """Back to the debrief where it was opened."""

    def __init__(
        self,
        navigation: Navigation,
        session: HostSession,
        play: RunController,
        notice: NoticeBar,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._navigation, self._session = navigation, session
        self._play, self._notice = play, notice
        self.page: BranchPage | None = None
        self._from_desk = False
        play.branches_changed.connect(self._refresh)

    def show(self) -> None:
        """Open the page; time stands still meanwhile."""
        tree = self._play.branches
        if tree is None:
            self._notice.show_info(tr("Branches belong to a run. Open a run first."))
            return
        drill = tree.history.drill
        if not drill.terms.rewind and not drill.finished:
            self._notice.warn(tr("An exam cannot be rewound."))
            return
        if self.page is None:
            self.page = BranchPage()
            self.page.switched.connect(self._switch)
            self.page.renamed.connect(self._play.rename)
            self.page.pruned.connect(self._play.prune)
            self.page.left.connect(self._leave)
        self._session.pause()
        if not self._navigation.shows(self.page):
            self._from_desk = self._navigation.on_desk
        self._navigation.show_page(self.page, tr("Branches"))
        self._refresh()
        self.page.tree.setFocus()

    def _refresh(self) -> None:
        tree = self._play.branches
        if self.page is None or tree is None or not self._navigation.shows(self.page):
            return
        page, said = self.page, tr("This branch cannot be replayed: {problem}.")
        self._session.work(
            tree.recalling(),
            lambda _: page.show_tree(tree),
            on_error=lambda problem: self._notice.warn(said.format(problem=said_of(str(problem)))),
        )

    def _switch(self, name: str) -> None:
        tree = self._play.branches
        if tree is not None and name == tree.current and self._from_desk:
            self._leave()
        else:
            self._play.switch(name)

    def _leave(self) -> None:
        """Back to where it was opened."""
        live = self._session.live
        if self._from_desk and live is not None:
            self._navigation.show_desk()
        else:
            self.left.emit()
