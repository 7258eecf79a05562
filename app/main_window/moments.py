"""One moment and one span for the whole desk: what is chosen in one view, every view looks at."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from app.main_window.play import Play
from app.main_window.session import Session
from app.views.charts import Charts
from app.views.charts.export import NotSaved
from app.widgets.docks import ChoosesSpan, ChoosesTime, OverTime, Span
from app.widgets.notice import Notice
from app.words.language import tr


class Moments(QObject):
    """Hands the moment (seconds since the start) and the span on to every view that can show them."""

    def __init__(self, views: Sequence[object], session: Session, play: Play, parent: QObject) -> None:
        """*views*: any; those that show or choose a time say so by the protocols of `app.widgets.docks`."""
        super().__init__(parent)
        self.time_s: float | None = None
        self.span: Span | None = None
        self._views = [view for view in views if isinstance(view, OverTime)]
        for view in views:
            if isinstance(view, ChoosesTime):
                view.time_selected.connect(lambda t_s, view=view: self.look_at(t_s, view))
            if isinstance(view, ChoosesSpan):
                view.span_selected.connect(lambda span, view=view: self.choose_span(span, view))
        session.drill_changed.connect(self._show_again)
        play.began.connect(lambda _: self.forget())

    def look_at(self, t_s: float | None, asked_by: object = None) -> None:
        """Put every view's cursor there; None takes it away."""
        self.time_s = t_s
        for view in self._views:
            if view is not asked_by:
                view.show_time(t_s)

    def choose_span(self, span: Span | None, asked_by: object = None) -> None:
        """Have every view show only this span; None: all of the time."""
        self.span = span
        for view in self._views:
            if view is not asked_by:
                view.show_between(span)

    @Slot()
    def forget(self) -> None:
        """Nothing is chosen any more."""
        self.choose_span(None)
        self.look_at(None)

    def _show_again(self) -> None:
        """Another moment of the run is on screen; what was chosen stays."""
        if self.span is not None:
            self.choose_span(self.span)
        if self.time_s is not None:
            self.look_at(self.time_s)


def save_charts(charts: Charts, notice: Notice, parent: QWidget) -> None:
    """Ask for a file and write the charts into it."""
    kinds = ";;".join((tr("Picture (*.png)"), tr("Drawing (*.svg)"), tr("Values (*.csv)")))
    path, kind = QFileDialog.getSaveFileName(parent, tr("Save the charts"), "charts.png", kinds)
    if not path:
        return
    if "." not in path.rpartition("/")[2]:
        path += kind[kind.index("*") + 1 : kind.index(")")]
    try:
        charts.save(path)
    except NotSaved as problem:
        notice.warn(str(problem))
    else:
        notice.tell(tr("Saved: {file}").format(file=path))
