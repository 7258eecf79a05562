"""Mistakes that cost points, with time, cause, a better action, and a retry button."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.views.debrief.debrief_widgets import (
    build_label,
    build_muted_label,
    build_rows_with_symbols,
    format_loss,
)
from app.widgets.flow_layout import FlowLayout
from app.widgets.layouts import build_widget_column
from app.words import formatting
from app.words.formatting import format_run_tick
from app.words.language import tr
from app.words.localization import describe_cause, localize, shorten_line
from engine.constants import TICKS_PER_S
from engine.drill.judging.counterfactual import ActionImpact
from engine.drill.judging.mistakes import Mistake
from engine.model import Tick

StartRetry = Callable[[float, str], None]
"""Callback that starts a retry. Its arguments are the start time in seconds, and the notice to show then."""


def build_retry_button(begin: Tick, due_tick: Tick, action: str, retry: StartRetry) -> QPushButton:
    """Build a button that calls *retry* to retry the run from *begin*.

    If *due_tick* is later than *begin*, the button shows the time between them. The notice of the retry
    then names *action*, which is due at *due_tick*.
    """
    remaining_time = formatting.format_seconds((due_tick - begin) / TICKS_PER_S, 0)
    text, notice = tr("Retry from {moment}"), ""
    if due_tick > begin:
        text = tr("Retry from {moment}, {left} before this")
        notice = tr("You have {left} until {at}: {what}").format(
            left=remaining_time, at=format_run_tick(due_tick), what=action
        )
    button = QPushButton(text.format(left=remaining_time, moment=format_run_tick(begin)))
    button.setToolTip(tr("Enough time to look and type. The clock is paused until you press Run."))
    button.clicked.connect(lambda _=False: retry(begin / TICKS_PER_S, notice))
    return button


def build_button_row(*row: QPushButton) -> FlowLayout:
    """Return a row of small buttons that wraps."""
    layout = FlowLayout(8)
    layout.setContentsMargins(0, 4, 0, 0)
    for button in row:
        button.setProperty("small", "true")
        layout.addWidget(button)
    return layout


MISTAKES_SHOWN_MAX: Final = 8
"""Maximum number of listed mistakes. The costliest mistakes are listed; the score counts all of them."""

CAUSE_LENGTH_MAX: Final = 220
"""Maximum number of characters of a mistake's cause. The list of commands shows the full text."""


def build_mistakes(
    mistake_list: Sequence[Mistake], can_retry: bool, retry: StartRetry, watch: Callable[[float], None]
) -> list[QWidget]:
    """Return widgets for the mistakes, costliest first.

    Some mistakes lost no points themselves. They were found by comparison with the best reachable
    result.

    *watch*: function that shows the run at a given time in seconds.
    """
    worst = sorted(mistake_list, key=_rank_mistake, reverse=True)[:MISTAKES_SHOWN_MAX]
    rows = build_rows_with_symbols(
        [
            (
                format_loss(mistake.points),
                tr("points"),
                _build_mistake_column(mistake, can_retry, retry, watch),
            )
            for mistake in worst
        ]
    )
    if len(mistake_list) > len(worst):
        more_text = tr("{count} smaller mistakes are listed in the score below.").format(
            count=len(mistake_list) - len(worst)
        )
        rows.append(build_muted_label(more_text))
    return rows


def _rank_mistake(mistake: Mistake) -> tuple[float, float]:
    """Return the sort key of a mistake: (points gained if the mistake is left out, deducted points).

    The first number is 0 if it is unknown.
    """
    return (mistake.cause_impact.points if mistake.cause_impact is not None else 0.0, mistake.points)


def format_counterfactual(action: ActionImpact) -> str:
    """Describe the result of the run without *action*, next to the real result.

    Return an empty string if the score would not be higher. In this case, *action* was not a mistake.
    """
    if action.points <= 0.0:
        return ""
    figures = {row.name: (row.right, row.left) for row in action.outcomes}
    differences = [
        tr("{name} {there} instead of {here}").format(
            name=name, there=show(other_value), here=show(own_value)
        )
        for key, name, show in (
            ("downtime_s", tr("downtime"), formatting.format_seconds),
            ("exposed_s", tr("time unprotected"), formatting.format_seconds),
            ("lost_transactions", tr("lost transactions"), formatting.format_plain_number),
            ("score", tr("points"), formatting.format_plain_number),
        )
        for other_value, own_value in [figures.get(key, (0.0, 0.0))]
        if round(other_value, 2) != round(own_value, 2)
    ]
    return tr("Without this mistake: {figures}.").format(figures=", ".join(differences))


def _build_mistake_column(
    mistake: Mistake, can_retry: bool, retry: StartRetry, watch: Callable[[float], None]
) -> QVBoxLayout:
    words = build_widget_column(
        build_label(f"{format_run_tick(mistake.tick)}  {localize(mistake.what)}", 1.0, bold=True), spacing=2
    )
    if mistake.cause:
        words.addWidget(build_label(shorten_line(describe_cause(mistake), CAUSE_LENGTH_MAX)))
    if mistake.cause_impact is not None and (counterfactual := format_counterfactual(mistake.cause_impact)):
        words.addWidget(build_label(counterfactual))
    if mistake.better:
        words.addWidget(build_label(tr("Better: {better}").format(better=localize(mistake.better))))
    if can_retry:
        words.addLayout(_build_buttons(mistake, retry, watch))
    return words


def _build_buttons(mistake: Mistake, retry: StartRetry, watch: Callable[[float], None]) -> FlowLayout:
    cause_tick = mistake.cause_tick
    tick = mistake.tick if cause_tick is None or cause_tick < mistake.retry_tick else cause_tick
    description = describe_cause(mistake) if mistake.is_omission else localize(mistake.what)
    button = build_retry_button(mistake.retry_tick, tick, shorten_line(description, CAUSE_LENGTH_MAX), retry)
    at_s = mistake.retry_tick / TICKS_PER_S
    look = QPushButton(tr("View this time"))
    look.setToolTip(tr("Show the run at {moment}").format(moment=format_run_tick(mistake.retry_tick)))
    look.clicked.connect(lambda _=False: watch(at_s))
    return build_button_row(button, look)
