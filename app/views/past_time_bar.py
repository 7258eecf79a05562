"""Bar above the desk while it shows a past time, with buttons to return or to continue from there."""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QWidget

from app.widgets import theme
from app.widgets.layouts import build_row
from app.words import formatting
from app.words.language import tr
from app.words.localization import shorten_line
from engine.drill.authoring.schema import SolutionStep
from engine.overrides import override


class PastTimeBar(QFrame):
    """Bar for past times, finished runs and solutions. It is hidden during the live run."""

    return_wanted = Signal()
    continue_wanted = Signal()
    step_wanted = Signal(int)
    """Signal: −1 for the previous step, 1 for the next step."""
    leave_wanted = Signal()
    """Signal: the user wants to leave a finished run."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Looking back"))
        self._mark = QLabel()
        self._head, self._text, self._line = QLabel(), QLabel(), QLabel()
        for label in (self._head, self._text, self._line):
            label.setTextFormat(Qt.TextFormat.PlainText)
        for label in (self._text, self._line):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.now = self._build_button(tr("Return to now"), self.return_wanted.emit, primary=True)
        self.go_on = self._build_button(tr("Continue from here"), self.continue_wanted.emit)
        self.go_on.setToolTip(tr("Create a branch at this time. The current run is kept."))
        self.previous = self._build_button(tr("Previous step"), lambda: self.step_wanted.emit(-1))
        self.next = self._build_button(tr("Next step"), lambda: self.step_wanted.emit(1), primary=True)
        self.leave = self._build_button(tr("Leave"), self.leave_wanted.emit)
        buttons = build_row(self.previous, self.next, self.now, self.go_on, self.leave, spacing=8)
        grid = QGridLayout(self)
        grid.setContentsMargins(14, 6, 10, 6)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(2, 1)
        grid.addWidget(self._mark, 0, 0)
        grid.addWidget(self._head, 0, 1)
        grid.addWidget(self._text, 0, 2)
        grid.addLayout(buttons, 0, 3)
        grid.addWidget(self._line, 1, 1, 1, 3)
        self._show_theme()
        self.hide()
        theme.call_after_events(self, theme.APPEARANCE_EVENTS, self._show_theme)

    def _build_button(self, text: str, callback: Callable[[], object], primary: bool = False) -> QPushButton:
        button = QPushButton(text)
        button.setProperty("small", "true")
        if primary:
            button.setProperty("primary", "true")
        button.clicked.connect(lambda _=False: callback())
        return button

    # --- display --------------------------------------------------------------------------------------------

    def show_past_time(self, t_s: float, now_s: float, can_continue: bool) -> None:
        """Show the past time *t_s* and the current time *now_s* of the run.

        If *can_continue*, offer to continue the run from the past time.
        """
        self._head.setText(tr("Looking back"))
        text = tr(
            "You are viewing {moment}; the run is at {now}. Nothing can be changed here. Press Run to replay."
        )
        self._text.setText(
            text.format(moment=formatting.format_run_time(t_s, 1), now=formatting.format_run_time(now_s, 1))
        )
        self._line.hide()
        self._show_buttons(self.now, *([self.go_on] if can_continue else []))

    def show_finished_run(self, t_s: float, end_s: float, can_continue: bool) -> None:
        """Show the displayed time *t_s* and the end *end_s* of a finished run.

        If *can_continue*, offer to continue the run from the displayed time.
        """
        self._head.setText(tr("Finished run"))
        text = tr(
            "You are viewing {moment}; the run ends at {now}. Press Run to replay, or click the timeline."
        )
        self._text.setText(
            text.format(moment=formatting.format_run_time(t_s, 1), now=formatting.format_run_time(end_s, 1))
        )
        self._line.hide()
        self._show_buttons(*([self.go_on] if can_continue else []), self.leave)

    def show_reference_step(
        self, done_count: int, steps: tuple[SolutionStep, ...], lines: list[str], t_s: float
    ) -> None:
        """Show the reference solution after *done_count* of its *steps*, at the time *t_s*.

        *lines*: input lines of the steps.
        """
        self._head.setText(tr("Reference solution"))
        time_text = formatting.format_run_time(t_s, 1)
        if not done_count:
            text = tr("No step shown yet. “Next step” shows the first action. “Run” plays up to that action.")
            self._text.setText(text)
        else:
            reason = steps[done_count - 1].why if done_count <= len(steps) else ""
            text = tr("{moment}, step {done} of {all}: {why}")
            self._text.setText(text.format(moment=time_text, done=done_count, all=len(steps), why=reason))
        self._show_line(done_count, lines)
        self._show_buttons(self.previous, self.next, self.leave)

    def show_best_continuation(self, own_count: int, done_count: int, lines: list[str], t_s: float) -> None:
        """Show the best continuation after *done_count* of its *lines*, at the time *t_s*.

        The first *own_count* lines are the trainee's own inputs. The user can continue the run from this
        time.
        """
        self._head.setText(tr("Best continuation"))
        time_text = formatting.format_run_time(t_s, 1)
        if done_count <= own_count:
            text = tr(
                "Up to {moment}, this is your own run. “Next step” shows the best action from here. To play "
                "yourself, choose “Continue from here”."
            )
            self._text.setText(text.format(moment=time_text))
        else:
            text = tr("{moment}, action {done} of {all}. To play yourself, choose “Continue from here”.")
            self._text.setText(
                text.format(moment=time_text, done=done_count - own_count, all=len(lines) - own_count)
            )
        self._show_line(done_count if done_count > own_count else 0, lines)
        self.previous.setEnabled(done_count > own_count)
        self.next.setEnabled(done_count < len(lines))
        self._show_buttons(self.previous, self.next, self.go_on, self.leave)

    def _show_line(self, done_count: int, lines: list[str]) -> None:
        self._line.setText(shorten_line(lines[done_count - 1], STEP_LENGTH_MAX) if done_count else "")
        self._line.setVisible(done_count > 0)
        self.previous.setEnabled(done_count > 0)
        self.next.setEnabled(done_count < len(lines))

    def _show_buttons(self, *offered: QPushButton) -> None:
        for button in (self.previous, self.next, self.now, self.go_on, self.leave):
            button.setVisible(button in offered)
        self.show()

    # --- theme ----------------------------------------------------------------------------------------------

    def _show_theme(self) -> None:
        colors = theme.get_theme_tokens(self.palette())
        self._mark.setPixmap(theme.render_pixmap("retry", colors.info, self.fontMetrics().height()))
        self._head.setFont(theme.resize_font(self.font(), 1.05, bold=True))
        self._line.setFont(theme.build_fixed_font(0.95))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.get_theme_tokens(self.palette())
        painter = QPainter(self)
        painter.fillRect(self.rect(), colors.info_soft)
        painter.setPen(colors.info)
        painter.drawLine(self.rect().topLeft(), self.rect().topRight())
        painter.drawLine(self.rect().bottomLeft(), self.rect().bottomRight())


STEP_LENGTH_MAX = 160
"""Maximum number of displayed characters of a step. The SQL window and the journal show the full text."""
