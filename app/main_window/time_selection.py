"""Selected moment and span of the whole desk: a choice in one view applies to every view."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from app.main_window.run_controller import RunController
from app.main_window.session import HostSession
from app.views.charts import Charts
from app.views.charts.export import ChartExportError
from app.widgets.docks import Span, SpanChooser, TimeChooser, TimeRangeView
from app.widgets.notice import NoticeBar
from app.words.language import tr


class TimeSelection(QObject):
    """Selected moment (seconds since the start) and span, passed to every view that can show them."""

    def __init__(
        self, views: Sequence[object], session: HostSession, play: RunController, parent: QObject
    ) -> None:
        """Connect *views*; those that show or select a time implement the protocols of `app.widgets.docks`."""
        super().__init__(parent)
        self.time_s: float | None = None
        self.span: Span | None = None
        self._views = [view for view in views if isinstance(view, TimeRangeView)]
        for view in views:
            if isinstance(view, TimeChooser):
                view.time_selected.connect(lambda t_s, view=view: self.point_at(t_s, view))
            if isinstance(view, SpanChooser):
                view.span_selected.connect(lambda span, view=view: self.choose_span(span, view))
        session.drill_changed.connect(self._restore_selection)
        play.began.connect(lambda _: self.forget())

    def point_at(self, t_s: float | None, source: object = None) -> None:
        """Move the cursor of every view to a time; None hides it."""
        self.time_s = t_s
        for view in self._views:
            if view is not source:
                view.show_time(t_s)

    def choose_span(self, span: Span | None, source: object = None) -> None:
        """Let every view show only this time range; None: all of the time."""
        self.span = span
        for view in self._views:
            if view is not source:
                view.show_between(span)

    @Slot()
    def forget(self) -> None:
        """Clear the selection."""
        self.choose_span(None)
        self.point_at(None)

    def _restore_selection(self) -> None:
        """Show another time of the run and keep the selection."""
        if self.span is not None:
            self.choose_span(self.span)
        if self.time_s is not None:
            self.point_at(self.time_s)


def save_charts(charts: Charts, notice: NoticeBar, parent: QWidget) -> None:
    """Ask for a file and write the charts into it."""
    kinds = ";;".join((tr("Picture (*.png)"), tr("Drawing (*.svg)"), tr("Values (*.csv)")))
    path, kind = QFileDialog.getSaveFileName(parent, tr("Save the charts"), "charts.png", kinds)
    if not path:
        return
    if "." not in path.rpartition("/")[2]:
        path += kind[kind.index("*") + 1 : kind.index(")")]
    try:
        charts.save(path)
    except ChartExportError as problem:
        notice.warn(str(problem))
    else:
        notice.show_info(tr("Saved: {file}").format(file=path))
