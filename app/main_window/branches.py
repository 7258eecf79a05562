"""The page of branches in the window: from the desk and from the debrief, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.main_window import actions
from app.views.branches import BranchPage
from app.words.language import tr
from app.words.sentences import said as said_of

if TYPE_CHECKING:
    from app.main_window.window import MainWindow


class BranchViews(QObject):
    """Shows the tree of the run that is played or looked back on; the page is made when it is first opened."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.page: BranchPage | None = None
        self._from: QWidget | None = None
        window.play.branches_changed.connect(self._refresh)

    def show(self) -> None:
        """Open the page; time stands still meanwhile."""
        window, tree = self._window, self._window.play.branches
        if tree is None:
            window.notice.tell(tr("No run is open that could have branches."))
            return
        drill = tree.history.drill
        if not drill.terms.rewind and not drill.finished:
            window.notice.warn(tr("An exam cannot be rewound."))
            return
        if self.page is None:
            self.page = BranchPage()
            self.page.switched.connect(self._switch)
            self.page.renamed.connect(window.play.rename)
            self.page.pruned.connect(window.play.prune)
            self.page.left.connect(self._leave)
            window.pages.addWidget(self.page)
        window.session.pause()
        here = window.pages.currentWidget()
        self._from = here if here is not self.page else self._from
        window.go_to(self.page, tr("Branches"))
        self._refresh()
        self.page.tree.setFocus()

    def _refresh(self) -> None:
        tree = self._window.play.branches
        if self.page is None or tree is None or self._window.pages.currentWidget() is not self.page:
            return
        page, said = self.page, tr("This branch cannot be replayed: {problem}.")
        self._window.session.work(
            tree.recalling(),
            lambda _: page.show_tree(tree),
            failed=lambda problem: self._window.notice.warn(said.format(problem=said_of(str(problem)))),
        )

    def _switch(self, name: str) -> None:
        tree = self._window.play.branches
        if tree is not None and name == tree.current and self._from is self._window.desk_page:
            self._leave()
        else:
            self._window.play.switch(name)

    def _leave(self) -> None:
        """Back to where it was opened."""
        window, live = self._window, self._window.session.live
        if self._from is window.desk_page and live is not None:
            window.go_to(window.desk_page, live.scenario.title)
            window.topology.setFocus()
        else:
            window.debriefing.come_back()


def attach(window: MainWindow) -> None:
    """Put the entry into the menu; `window.branches` opens the page."""
    window.branches = BranchViews(window)
    added = actions.add(window, {"drill.branches": window.branches.show})
    window.menus["&Drill"].insertAction(window.actions_by_name["drill.hint"], added["drill.branches"])
