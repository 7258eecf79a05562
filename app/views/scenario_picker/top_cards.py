"""Cards at the top of the start page: the first run or an interrupted run, and the recommended drill."""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Final

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QLabel,
    QMenu,
    QPushButton,
    QWidget,
)

from app.view_models.start_page import SHORT_LABELS, InterruptedRun, NextDrill, get_level_title
from app.widgets import theme
from app.widgets.busy_cursor import show_preparing_text
from app.widgets.key_button import KeyButton
from app.widgets.layouts import build_row, build_widget_column
from app.words import formatting
from app.words.language import tr
from engine.overrides import override


def wrap_text(text: str, metrics: QFontMetricsF, width: float, lines_max: int) -> list[str]:
    """Wrap *text* into at most *lines_max* lines of *width*. Elide the last line if necessary."""
    if metrics.horizontalAdvance(text) <= width:
        return [text]
    lines, words = [""], text.split()
    for index, word in enumerate(words):
        longer = f"{lines[-1]} {word}".strip()
        if not lines[-1] or metrics.horizontalAdvance(longer) <= width:
            lines[-1] = longer
        elif len(lines) < lines_max:
            lines.append(word)
        else:
            lines[-1] = " ".join((lines[-1], *words[index:]))
            break
    return [metrics.elidedText(line, Qt.TextElideMode.ElideRight, width) for line in lines]


@lru_cache(maxsize=2048)
def wrap_text_cached(text: str, font_text: str, width: float, lines_max: int) -> tuple[str, ...]:
    """Wrap *text* as `wrap_text` does and cache the lines, because the list view often repeats its layout.

    *font_text*: `QFont.toString()` of the font.
    """
    font = QFont()
    font.fromString(font_text)
    return tuple(wrap_text(text, QFontMetricsF(font), width, lines_max))


SIDE_BY_SIDE_MIN_LINES: Final = 62.0
"""Minimum width in line heights to show the cards side by side."""


class TopCard(QFrame):
    """Card with heading, title, one line of text and one button."""

    def __init__(self, heading: str, button: str, primary: bool) -> None:
        super().__init__()
        self.setProperty("card", "true")
        self.primary = primary
        self.heading, self.facts, self.title, self.text, self.reason = (QLabel() for _ in range(5))
        self.heading.setText(heading)
        self.button = KeyButton(button)
        self.button.setAutoDefault(True)  # Enter presses this button
        self.more = QPushButton(tr("More"))
        self.more.hide()
        for label in (self.heading, self.facts, self.title, self.text, self.reason):
            label.setTextFormat(
                Qt.TextFormat.PlainText
            )  # a scenario may come from a stranger and contain HTML
        for label in (self.title, self.text, self.reason):
            label.setWordWrap(True)
        for label in (self.facts, self.reason):
            label.setProperty("muted", "true")
        head = build_row((self.heading, 1), self.facts)
        row = build_row((self.reason, 1), self.more, self.button, spacing=8)
        build_widget_column(
            head, self.title, self.text, 0, row, parent=self, margins=(16, 10, 14, 12), spacing=4
        )
        self.set_primary(primary)

    def set_primary(self, primary: bool) -> None:
        """Set whether this card is highlighted and its button is the default."""
        self.primary = primary
        self.button.setProperty("primary", "true" if primary else "false")
        self.heading.setProperty("tone", "accent" if primary else "muted")
        self.heading.style().unpolish(self.heading)
        self.heading.style().polish(self.heading)
        self.button.setDefault(primary)
        self.button.set_key("Enter" if primary else "")
        self.button.style().unpolish(self.button)
        self.button.style().polish(self.button)
        self.update_fonts()
        self.update()

    def update_fonts(self) -> None:
        """Adapt the fonts to the current text size."""
        self.heading.setFont(theme.resize_font(self.font(), 0.95, bold=self.primary))
        self.facts.setFont(theme.resize_font(self.font(), 0.95))
        self.title.setFont(theme.resize_font(self.font(), 1.25, bold=True))
        self.reason.setFont(theme.resize_font(self.font(), 0.95))
        self.button.setFont(theme.resize_font(self.font(), 1.08 if self.primary else 1.0, bold=self.primary))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.primary:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.get_theme_tokens(self.palette()).accent, 2.0))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 8, 8)


class TopCards(QWidget):
    """Cards of the start page: first run or interrupted run on the left, recommended drill on the right."""

    open_wanted = Signal(str)
    """Signal: name of the recommended drill to open."""
    resume_wanted = Signal(int)
    give_up_wanted = Signal(int)
    watch_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._runs: list[InterruptedRun] = []
        self.recommendation: NextDrill | None = None
        self.first_run = TopCard(tr("New here?"), tr("Watch a failover"), primary=True)
        self.first_run.title.setText(tr("Watch a failover"))
        self.first_run.text.setText(
            tr(
                "A server loses power. See how the failure is detected, who votes and how long it "
                "takes. Then power the server on."
            )
        )
        self.first_run.facts.setText(tr("1 minute"))
        self.resume = TopCard(tr("Continue"), "", primary=False)
        self.next = TopCard(tr("Recommended next"), tr("Open the drill"), primary=True)
        self.first_run.button.clicked.connect(self._watch)
        self.next.button.clicked.connect(self._open)
        self.resume.button.clicked.connect(self._resume)
        self.resume.more.setToolTip(tr("Resume another run, or give up this one"))
        self.resume.more.setAccessibleName(self.resume.more.toolTip())
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.resume.more.setMenu(self._menu)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(10)
        self._row.addWidget(self.first_run, 2)
        self._row.addWidget(self.resume, 2)
        self._row.addWidget(self.next, 5)
        self.first_run.hide()
        self.resume.hide()
        self.show_loading()
        theme.call_after_events(self, theme.FONT_EVENTS, self.update_fonts)
        theme.call_after_events(self, theme.SIZE_EVENTS, self._arrange)

    def show_loading(self) -> None:
        """Show that the drills and the learner's results are still loading."""
        self.next.title.setText(tr("Loading drills…"))
        self.next.button.setEnabled(False)

    def show_recommendation(self, recommendation: NextDrill | None, is_new_user: bool) -> None:
        """Show the recommended drill. Offer the first run if *is_new_user*."""
        self.recommendation = recommendation
        self.first_run.setVisible(is_new_user)
        self.next.set_primary(not is_new_user)
        self.next.button.setEnabled(recommendation is not None)
        if recommendation is None:
            self.next.title.setText(tr("No recommendation"))
            for label in (self.next.facts, self.next.text, self.next.reason):
                label.clear()
            return
        card = recommendation.card
        facts = (
            tr(SHORT_LABELS[card.technology]),
            tr("{minutes} min").format(minutes=card.minutes),
            get_level_title(card.level),
        )
        self.next.facts.setText(" · ".join(facts))
        self.next.title.setText(card.title)
        self.next.text.setText(card.summary)
        self.next.reason.setText(recommendation.reason)
        self.next.button.setAccessibleName(
            f"{self.next.button.text()}: {card.title}. {recommendation.reason}"
        )

    def show_interrupted(self, runs: Sequence[InterruptedRun]) -> None:
        """Offer to continue the newest of *runs*. The card's menu offers the older runs."""
        self._runs = list(runs)
        card = self.resume
        card.setVisible(bool(runs))
        if not runs:
            return
        run = runs[0]
        card.more.show()
        card.title.setText(run.title)
        facts = (tr(SHORT_LABELS[run.technology]), formatting.get_mode_name(run.mode), run.time_text)
        card.text.setText(run.problem or " · ".join(facts))
        card.button.setText(_format_continue(run))
        card.button.setAccessibleName(f"{card.button.text()}: {run.title}")
        card.button.setVisible(run.problem is None)

    def find_first_button(self) -> QPushButton | None:
        """Return the button that Enter presses when the page opens, or None."""
        for card in (self.first_run, self.next):
            if not card.isHidden() and card.primary and card.button.isEnabled():
                return card.button
        return None

    def _fill_menu(self) -> None:
        self._menu.clear()
        for run in self._runs[1:]:
            if run.problem is None:
                words = f"{_format_continue(run)}: {run.title}"
                self._menu.addAction(words, partial(self.resume_wanted.emit, run.run_id))
        for run in self._runs:
            words = tr("Give up: {title}").format(title=run.title)
            self._menu.addAction(words, partial(self.give_up_wanted.emit, run.run_id))

    def _open(self) -> None:
        if self.recommendation is not None:
            with show_preparing_text(self.next.button):
                self.open_wanted.emit(self.recommendation.card.name)

    def _resume(self) -> None:
        with show_preparing_text(self.resume.button):
            self.resume_wanted.emit(self._runs[0].run_id)

    def _watch(self) -> None:
        with show_preparing_text(self.first_run.button):
            self.watch_wanted.emit()

    def _arrange(self) -> None:
        is_beside = self.width() >= SIDE_BY_SIDE_MIN_LINES * self.fontMetrics().height()
        direction_type = QBoxLayout.Direction
        self._row.setDirection(direction_type.LeftToRight if is_beside else direction_type.TopToBottom)

    def update_fonts(self) -> None:
        """Adapt all cards to the current text size."""
        for card in (self.first_run, self.resume, self.next):
            card.update_fonts()
        self._arrange()


def _format_continue(run: InterruptedRun) -> str:
    return tr("Continue at {at}").format(at=formatting.format_run_time(run.t_s))
