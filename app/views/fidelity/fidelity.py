"""Agreement of the simulation with published figures: every row, and the figures that are curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QCoreApplication, QEvent, QSize, Signal, Slot
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QProgressBar, QTabWidget, QWidget

from app.views.fidelity.display_names import name_of
from app.views.fidelity.figures_page import FiguresPage
from app.views.fidelity.from_rows import figures_of
from app.views.fidelity.rows_page import PASS, RowsPage
from app.views.fidelity.worker import FidelityStep, FidelityWorker, StepResult, steps
from app.widgets import theme
from app.widgets.layouts import lay_column, lay_row
from app.words.language import tr
from engine.overrides import override
from engine.published.fidelity import SECTIONS


class FidelityView(QWidget):
    """Comparison that starts when it is first shown and never blocks the window."""

    closed = Signal()

    def __init__(
        self, parent: QWidget | None = None, todo: Callable[[], Sequence[FidelityStep]] = steps
    ) -> None:
        """Create the page; *todo*: the steps of the comparison."""
        super().__init__(parent)
        self.setWindowTitle(tr("Fidelity"))
        self.setAccessibleName(tr("Fidelity"))
        self._steps = tuple(todo())
        self.work = FidelityWorker(self._steps, self)
        self.rows = RowsPage(SECTIONS)
        self.figures = FiguresPage()
        self.summary = QLabel(wordWrap=True)
        self.progress = QProgressBar()
        self.progress.setRange(0, len(self._steps))
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(tr("Progress"))
        self._lay_out()
        self.work.began.connect(self._on_began)
        self.work.found.connect(self._on_result)
        self.work.finished.connect(self._on_finished)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.work.stop)

    @override
    def sizeHint(self) -> QSize:
        return QSize(1240, 690)

    def stop(self) -> None:
        """Stop the work and wait for its end; it resumes when the page is shown again."""
        self.work.stop()

    @Slot(int, str)
    def _on_began(self, step_count: int, name: str) -> None:
        self.progress.setValue(step_count)
        self._write_summary(tr("Computing {name} …").format(name=name_of(name)))

    @Slot(object)
    def _on_result(self, result: StepResult) -> None:
        if result.rows:
            self.rows.add_rows(result.rows)
            self.figures.put(figures_of(self.rows.rows))
        self.figures.put(dict(result.figures))

    @Slot()
    def _on_finished(self) -> None:
        self.progress.setVisible(not self.work.complete)
        self._write_summary("" if self.work.complete else tr("Stopped."))

    def _write_summary(self, doing: str) -> None:
        rows = self.rows.rows
        failed = [row for row in rows if row.verdict != PASS]
        explained = sum(row.reason is not None for row in failed)
        colors = theme.tokens(self.palette())
        parts = []
        if rows:
            parts.append(
                "<b>"
                + tr("{all} rows: {passed} pass, {failed} fail").format(
                    all=len(rows), passed=len(rows) - len(failed), failed=len(failed)
                )
                + "</b>"
            )
        if failed:
            tone = colors.text if explained == len(failed) else colors.bad
            known = tr("failures with a known reason: {n}").format(n=explained)
            parts.append(f'<span style="color:{tone.name()}">{known}</span>')
        parts += [f'<span style="color:{colors.muted.name()}">{doing}</span>'] if doing else []
        self.summary.setText("&nbsp;&nbsp;&nbsp;".join(parts))

    def _lay_out(self) -> None:
        head = lay_row((self.summary, 1), self.progress)
        self.progress.setFixedWidth(180)
        self.tabs = QTabWidget(documentMode=True)
        self.tabs.addTab(self.rows, tr("Rows"))
        self.tabs.addTab(self.figures, tr("Figures"))
        lay_column(head, (self.tabs, 1), on=self, margins=(14, 10, 14, 12))

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self.work.complete and not self.work.isRunning():
            self.work.start()

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        self.stop()
        super().closeEvent(event)
        self.closed.emit()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "tabs"):
            self._write_summary("")
