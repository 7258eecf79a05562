"""Comparison and deletion of finished runs, and the page of the branches of a run."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMessageBox

from app.main_window.navigation import PageNavigation
from app.main_window.shared_parts import SharedParts, WindowPart
from app.storage import RunId, StorageError
from app.view_models import run_comparison
from app.views.history import FinishedRunRow, RunHistoryPage
from app.widgets.busy_cursor import show_busy_cursor
from app.words.language import tr, trn
from app.words.localization import localize

if TYPE_CHECKING:
    from app.views.branches import BranchPage
    from app.views.run_comparison import RunComparisonPage


class FinishedRunController(WindowPart):
    """Controller of the history page. The comparison page is created on first use."""

    def __init__(self, shared: SharedParts, history: RunHistoryPage, navigation: PageNavigation) -> None:
        super().__init__(shared)
        self._navigation = navigation
        self.page: RunComparisonPage | None = None
        history.comparison_wanted.connect(self.compare_runs)
        history.deletion_wanted.connect(self._ask_for_deletion)

    def compare_runs(self, left_run_id: int, right_run_id: int) -> None:
        """Compare two runs of the profile."""
        profile = self._profile
        if profile is None:
            return
        try:
            reports = [
                json.loads(profile.read_report(RunId(run_id))) for run_id in (left_run_id, right_run_id)
            ]
        except StorageError as problem:
            self._notice.show_warning(str(problem))
            return
        if self.page is None:
            from app.views.run_comparison import RunComparisonPage

            self.page = RunComparisonPage()
            self.page.close_wanted.connect(self._navigation.show_history)
        runs = {run.run_id: run for run in self._library.list_finished_runs()}
        names = _format_end_time(runs[left_run_id]), _format_end_time(runs[right_run_id])
        if names[0] == names[1]:
            names = (
                _format_end_time(runs[left_run_id], "%H:%M:%S"),
                _format_end_time(runs[right_run_id], "%H:%M:%S"),
            )
        titles = dict.fromkeys(self._library.get_title(str(report["scenario"])) for report in reports)
        left_report, right_report = reports
        self._navigation.show_page(self.page, tr("Two runs side by side"))
        self.page.show_runs(
            " / ".join(titles),
            names,
            run_comparison.format_remark(left_report, right_report),
            run_comparison.compare_figures(left_report, right_report)
            + run_comparison.compare_score_items(left_report, right_report),
            run_comparison.list_compared_actions(left_report, right_report),
        )

    def _ask_for_deletion(self, runs: Sequence[FinishedRunRow]) -> None:
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle(tr("Delete runs"))
        box.setTextFormat(Qt.TextFormat.PlainText)  # a title may contain HTML
        if len(runs) == 1:
            question = tr("Delete the run of {date}, “{drill}”, permanently?")
            box.setText(question.format(date=_format_end_time(runs[0]), drill=runs[0].title))
        else:
            box.setText(
                trn("Delete {n} run permanently?", "Delete {n} runs permanently?", len(runs)).format(
                    n=len(runs)
                )
            )
        box.setInformativeText(
            tr(
                "Journal, debrief and points are deleted. Best scores, skills and due dates are "
                "recalculated. Exported files and other branches remain."
            )
        )
        delete = box.addButton(tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        keep = box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(keep)
        box.exec()
        is_confirmed = box.clickedButton() is delete
        box.deleteLater()
        if is_confirmed:
            self.delete_runs([run.run_id for run in runs])

    def delete_runs(self, run_ids: Sequence[int]) -> None:
        """Delete finished runs without a confirmation, and close them if they are open."""
        profile = self._profile
        if profile is None:
            return
        self._navigation.leave_run()
        try:
            profile.delete_finished_runs([RunId(run_id) for run_id in run_ids])
        except StorageError as problem:
            self._notice.show_warning(str(problem))
        else:
            self._notice.show_info(
                trn("{n} run was deleted.", "{n} runs were deleted.", len(run_ids)).format(n=len(run_ids))
            )
        self._navigation.show_history()


def _format_end_time(run: FinishedRunRow, time: str = "%H:%M") -> str:
    """Format the end time of a run, by which people identify it."""
    return run.finished_at.astimezone().strftime(f"%Y-%m-%d {time}")


class BranchController(WindowPart):
    """Controller of the page with the branches of the current run. The page is created on first use."""

    debrief_requested = Signal()
    """Signal: return to the debrief from which the page was opened."""

    def __init__(self, shared: SharedParts, navigation: PageNavigation) -> None:
        super().__init__(shared)
        self._navigation = navigation
        self.page: BranchPage | None = None
        self._from_desk = False
        shared.play.branches_changed.connect(self._refresh)

    @show_busy_cursor()
    def show_branches(self) -> None:
        """Open the page with the branches. The clock is paused while the page is open."""
        tree = self._play.branches
        if tree is None:
            self._notice.show_info(tr("Branches belong to a run. Open a run first."))
            return
        drill = tree.history.drill
        if not drill.permissions.rewind and not drill.finished:
            self._notice.show_warning(tr("An exam cannot be rewound."))
            return
        if self.page is None:
            from app.views.branches import BranchPage  # late import, because it loads pyqtgraph

            self.page = BranchPage()
            self.page.switched.connect(self._switch)
            self.page.renamed.connect(self._play.rename_branch)
            self.page.branch_removal_wanted.connect(self._play.remove_branch)
            self.page.leave_wanted.connect(self._leave)
        self._session.pause()
        if not self._navigation.is_page_shown(self.page):
            self._from_desk = self._navigation.is_desk_shown
        self._navigation.show_page(self.page, tr("Branches"))
        self._refresh()
        self.page.tree.setFocus()

    def _refresh(self) -> None:
        tree = self._play.branches
        if self.page is None or tree is None or not self._navigation.is_page_shown(self.page):
            return
        page, text = self.page, tr("This branch cannot be replayed: {problem}.")
        self._session.run_task(
            tree.replay_stored_branches(),
            lambda _: page.show_tree(tree),
            on_error=lambda problem: self._notice.show_warning(text.format(problem=localize(str(problem)))),
        )

    def _switch(self, name: str) -> None:
        tree = self._play.branches
        if tree is not None and name == tree.current and self._from_desk:
            self._leave()
        else:
            self._play.switch_branch(name)

    def _leave(self) -> None:
        """Return to the page from which this one was opened."""
        live = self._session.live_drill
        if self._from_desk and live is not None:
            self._navigation.show_desk()
        else:
            self.debrief_requested.emit()
