"""After a drill: what it was worth and why, its course, each failover beside the published time, and another try."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.learning.reflection import Reflection
from app.view_models.course import NO_RETURN, TimelineMarker, TimelineSpan, clients_of, course_of
from app.view_models.value_curve import format_first_step
from app.views.debrief import answers, par, story
from app.views.debrief.failovers import FailoverPanel, build_attempt, missing
from app.views.debrief.mistakes import mistakes
from app.views.debrief.parts import Points, ScoreRing, card, label, muted
from app.views.debrief.reference import reference
from app.views.debrief.reflection import ReflectionForm, build_reflection, choice
from app.widgets.flow import FlowLayout
from app.widgets.strip import TimeStrip
from app.words import formatting
from app.words.language import mark, tr
from app.words.localization import localize as said_of
from engine.constants import TICKS_PER_S
from engine.drill.judging import retry
from engine.drill.judging.replay_timeline import DOWN, EXPOSED, Lanes
from engine.drill.judging.review import Review
from engine.drill.judging.shapes import ItemJson, Report
from engine.drill.par.regret import Account
from engine.inputs import Input
from engine.verbs.lines import parse_script

ENDED: Final = {
    "goals": mark("all goals are reached"),
    "time": mark("the time is up"),
    "forbidden": mark("a forbidden state was reached"),
    "asked": mark("finished by you"),
    None: mark("it was abandoned"),
}

EXPORTS: Final = (
    ("html", mark("Web page (HTML)…")),
    ("pdf", mark("Print (PDF, one page and an annex)…")),
    ("csv", mark("Tables (CSV)…")),
    ("json", mark("Data for replay (JSON)…")),
    ("runbook", mark("Runbook of your commands (SQL)…")),
    ("reference", mark("Runbook of the reference (SQL)…")),
)
"""Kind of file -> its entry in the menu."""

PAGE_WIDTH_UNITS: Final = 76
NARROW_UNITS: Final = 46
"""Width of the page in line heights below which what would stand in columns is put below one another."""
NEAR_S: Final = 0.005
"""Half a tick: this near a moment is that of what happened there."""
FAILOVERS_SHOWN: Final = 6
MOMENTS_SHOWN: Final = 6
"""Moments listed for one item of the score; more would only be a wall of numbers."""


class Debrief(QScrollArea):
    """One page about a finished run: from its report alone, or with all that looking back on it tells."""

    retry_wanted = Signal(float, str)
    """From this moment, in seconds, and what to say there; 0: from the start."""
    fresh_wanted = Signal()
    """The same drill with other numbers."""
    solution_wanted = Signal()
    watch_wanted = Signal(float)
    """The run as it was at this moment, in seconds."""
    account_wanted = Signal()
    """What each act and wait cost, beside the best possible."""
    account_unwanted = Signal()
    """It is taking too long."""
    best_wanted = Signal(object)
    """A `Best` to watch."""
    branches_wanted = Signal()
    export_wanted = Signal(str)
    """Kind of file, of `EXPORTS`."""
    reflected = Signal(object)
    """A `Reflection` before the points are shown; None: passed over."""
    reflect_first = Signal(bool)
    """Whether the person wants to be asked first."""
    left = Signal()
    history_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Debrief"))
        self._report: Report | None = None
        self._review: Review | None = None
        self._account: Account | None = None
        self._can_retry = self._has_solution = False
        self._working = self._provisional = False
        """The account is being worked out; what is shown of it is what is known so far."""
        self._reflection: Reflection | None = None
        self._asks = self._asks_first = False
        self._form: ReflectionForm | None = None
        self._moment_s: float | None = None
        self._journal: list[Input] = []
        self._built_narrow = False
        self._marked_s: list[float] = []
        """Moments at which something happened or was done."""
        self._retry_here = QPushButton()
        self._build()

    def show_report(
        self,
        report: Report,
        can_retry: bool,
        has_solution: bool,
        review: Review | None = None,
        account: Account | None = None,
        reflection: Reflection | None = None,
        asks: bool = False,
        asks_first: bool = False,
    ) -> None:
        """Show *report*; trying again needs the scenario, and *review* that the run can be played again.

        *account*: what each act and wait cost, where that was worked out. *reflection*: what the person thought of the
        run; with *asks* that is asked now, and nothing else is shown. *asks_first*: it is asked after every run.
        """
        self._reflection, self._asks, self._asks_first = reflection, asks, asks_first
        self._report, self._can_retry, self._has_solution = report, can_retry, has_solution
        self._review, self._account = review, account
        self._working = self._provisional = False
        self._journal, _ = parse_script("\n".join(report["inputs"]))
        self._moment_s = None
        self._build()
        self.verticalScrollBar().setValue(0)

    def show_account(self, account: Account | None, working: bool = False) -> None:
        """Where the page stands, so that nothing moves under the pointer but what was asked for. None: there is
        none yet. *working*: a better one may follow."""
        if account is not None and (account, working) == (self._account, self._working):
            return
        self._account, self._working, self._provisional = account, working, working
        self._build_again()

    def stop_working(self) -> None:
        """No better account follows: what is known of it stays, as such."""
        self._working = False
        self._build_again()

    def take_focus(self) -> None:
        """The keyboard goes to what is asked, or to the page."""
        (self._form or self).setFocus()

    def moment(self) -> float | None:
        """The moment that was chosen for a retry, in seconds."""
        return self._moment_s

    # --- building -------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self._built_narrow = self._narrow()
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(28, 20, 28, 24)
        column.setSpacing(14)
        if self._report is not None:
            for part in self._parts(self._report):
                column.addWidget(part)
        column.addStretch()
        inside.setMaximumWidth(PAGE_WIDTH_UNITS * self.fontMetrics().height())
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(inside, 1000)
        row.addStretch(1)
        before = self.takeWidget()
        if before is not None:
            before.deleteLater()  # not at once: a change of font may be on its way through these very widgets
        self.setWidget(page)

    def _build_again(self) -> None:
        at = self.verticalScrollBar().value()
        self._build()
        page = self.widget()
        if page is not None and (layout := page.layout()) is not None:
            layout.activate()
        self.verticalScrollBar().setValue(at)

    def _parts(self, report: Report) -> Iterator[QWidget]:
        review, narrow = self._review, self._narrow()
        self._form = None
        if self._asks:
            yield label(str(report.get("title") or report["scenario"]), 1.8, bold=True)
            form = self._form = ReflectionForm()
            form.answered.connect(self.reflected)
            yield card(tr("Before the points are shown"), form)
            return
        yield self._head(report)
        if self._reflection is not None:
            yield card(
                tr("What you thought of it"), *build_reflection(self._reflection, report["score"]["total"])
            )
        if report.get("failed_parts"):
            yield muted(missing(report["failed_parts"]))
        planned = story.goals(report)
        if planned:
            yield card(tr("Goals"), *planned)
        yield card(tr("Outcome"), *story.figures(report, review, narrow))
        yield card(tr("Timeline"), self._course(report))
        if review is not None and report["score"]["scored"]:
            yield card(tr("Compared with the best possible"), *self._beside_the_best(report))
        if review is not None:
            yield card(tr("What happened, and why"), *story.build_story(review, report))
            found = mistakes(review.mistakes, self._can_retry, self.retry_wanted.emit, self.watch_wanted.emit)
            if found:
                by_rule = tr(
                    "What the rules of the score took, and from what it came. The curve above says at which moment "
                    "points went out of reach."
                )
                lead = [] if self._account is None else [muted(by_rule)]
                yield card(tr("What cost points"), *lead, *found)
            guards = story.preconditions(review, narrow)
            if guards:
                yield card(tr("Preconditions of automatic failover"), *guards)
        if report["failovers"]:
            yield card(tr("Failovers and published times"), *self._failovers(report))
        if report.get("attempts"):
            yield card(tr("Failed failover attempts"), *[build_attempt(row) for row in report["attempts"]])
        if report["score"]["scored"]:
            ask = choice(self._asks_first)
            ask.toggled.connect(self.reflect_first)
            yield card(tr("Score by rule"), self._score(report), ask)
        asked = [row for row in report.get("questions", ()) if row.get("asked_t_s") is not None]
        if asked:
            yield card(
                tr("Questions"),
                *[answers.question(row) for row in asked],
                *answers.build_confidence(asked, narrow),
            )
        if review is not None and review.reference is not None:
            yield card(tr("The reference solution"), *self._reference(report, review))
        commands = answers.commands(report, narrow)
        if commands is not None:
            yield card(tr("Commands"), commands)

    def _beside_the_best(self, report: Report) -> list[QWidget]:
        if self._account is None:
            return par.build_offer(self._request_account, self._working)
        total = float(report["score"]["total"] or 0.0)
        reached = all(goal["met"] for goal in report.get("goals", ()))
        return par.build_comparison(
            self._account, total, reached, self._has_solution, self._can_retry,
            self.retry_wanted.emit, self._choose_moment, self.best_wanted.emit, _collect_choices(report),
            self._provisional, None if self._working else self._request_account,
        )  # fmt: skip

    def _request_account(self) -> None:
        """The keyboard goes to the page: a key that was meant for the button tries nothing again."""
        self._working, self._provisional = True, self._account is not None
        self._build_again()
        self.setFocus()
        self.account_wanted.emit()

    def _failovers(self, report: Report) -> list[QWidget]:
        """Each with its phases; those of many databases in a line of words."""
        rows = report["failovers"]
        unlike = [f.unlike for f in self._review.failovers] if self._review is not None else []
        unlike += [""] * (len(rows) - len(unlike))
        estimates = [f.estimate for f in self._review.failovers] if self._review is not None else []
        estimates += [None] * (len(rows) - len(estimates))
        found: list[QWidget] = [
            FailoverPanel(row, why, estimate)
            for row, why, estimate in list(zip(rows, unlike, estimates, strict=False))[:FAILOVERS_SHOWN]
        ]
        if len(rows) > FAILOVERS_SHOWN:
            times = [row["failover_s"] for row in rows if row["failover_s"] is not None]
            said = tr("{count} failovers in all, from {least} to {most}.")
            least, most = (
                formatting.seconds(pick(times)) if times else formatting.NOTHING for pick in (min, max)
            )
            found.append(muted(said.format(count=len(rows), least=least, most=most)))
        return found

    def _reference(self, report: Report, review: Review) -> list[QWidget]:
        assert review.reference is not None
        watch = QPushButton(tr("Watch it step by step"))
        watch.clicked.connect(self.solution_wanted)
        row = QHBoxLayout()
        row.addWidget(watch)
        row.addStretch()
        box = QWidget()
        box.setLayout(row)
        row.setContentsMargins(0, 0, 0, 0)
        return [
            box,
            *reference(
                review.reference,
                _collect_choices(self._report) if self._report is not None else {},
                self._narrow(),
            ),
        ]

    def _head(self, report: Report) -> QWidget:
        head = QWidget()
        title = label(str(report.get("title") or report["scenario"]), 1.8, bold=True)
        words = muted(format_ending(report))
        names = QVBoxLayout()
        names.setSpacing(4)
        names.addWidget(title)
        names.addWidget(words)
        names.addLayout(self._buttons())
        row = QHBoxLayout(head)
        row.setContentsMargins(0, 0, 0, 0)
        row.addLayout(names, 1)
        self._show_buttons()
        score = report["score"]
        if score["scored"] and score["total"] is not None:
            row.addWidget(ScoreRing(score["total"]))
        return head

    def _buttons(self) -> QVBoxLayout:
        """What can be done now, and where to go from here."""
        self._retry_here = QPushButton()
        self._retry_here.clicked.connect(lambda: self.retry_wanted.emit(self._begin_s(), ""))
        again = self._button(tr("Retry from the start"), lambda: self.retry_wanted.emit(0.0, ""))
        again.setProperty("primary", "true")
        again.setToolTip(tr("Same random values (same seed)"))
        fresh = self._button(tr("New random values"), self.fresh_wanted.emit)
        fresh.setToolTip(tr("A new seed: other moments, and other names and sizes if the drill has variants"))
        solution = self._button(tr("Watch the reference solution"), self.solution_wanted.emit)
        watch = self._button(tr("Watch this run"), lambda: self.watch_wanted.emit(self._moment_s or 0.0))
        export = QPushButton(tr("Export"))
        menu = QMenu(export)
        for kind, text in EXPORTS:
            if kind != "reference" or self._has_solution:
                menu.addAction(tr(text)).triggered.connect(
                    lambda _=False, kind=kind: self.export_wanted.emit(kind)
                )
        export.setMenu(menu)
        branches = self._button(tr("Branches"), self.branches_wanted.emit)
        drills = self._button(tr("All drills"), self.left.emit)
        history = self._button(tr("History"), self.history_wanted.emit)
        both = QVBoxLayout()
        both.setContentsMargins(0, 8, 0, 0)
        both.setSpacing(8)
        for line in (
            (again, self._retry_here, fresh),
            (solution, watch, export, branches),
            (drills, history),
        ):
            row = FlowLayout(8)
            for button in line:
                row.addWidget(button)
            both.addLayout(row)
        reviewed = self._review is not None
        scored = bool(self._report and self._report["score"]["scored"])
        self._offered = [
            (again, self._can_retry),
            (fresh, self._can_retry and scored),
            (solution, self._has_solution),
            (watch, reviewed),
            (export, reviewed),
            (branches, reviewed),
        ]
        return both

    def _show_buttons(self) -> None:
        """Hide what is not offered; before a button has a parent, showing it would open a window."""
        for button, offered in self._offered:
            button.setVisible(offered)
        self._show_moment()

    def _button(self, text: str, do: Callable[[], object]) -> QPushButton:
        button = QPushButton(text)
        button.clicked.connect(lambda _=False: do())
        return button

    def _course(self, report: Report) -> QWidget:
        databases = list(report["availability"]["databases"])
        course = course_of(report["events"], databases, databases, clients_of(report))
        if self._account is not None and (chance := self._account.last_chance) is not None:
            until = tr("the last chance to reach all goals, {act}").format(
                act=format_first_step(chance, _collect_choices(report))
            )
            course.add_marker(TimelineMarker(chance.tick / TICKS_PER_S, NO_RETURN, until))
        self._marked_s = [marker.t_s for marker in course.markers]
        self._marked_s += [t_s for item in report["score"]["items"] for t_s in item.get("at_s") or ()]
        if self._account is not None:
            self._marked_s += [move.tick / TICKS_PER_S for move in self._account.moves]
        strip = TimeStrip(roomy=True)
        strip.show_course(course, float(report["ended_at_s"]), live=False)
        strip.moment_chosen.connect(self._choose_moment)
        if self._review is not None and self._review.lanes:
            states = _states(self._review.lanes)
            if any(span.what != "NONE" for _, spans in states for span in spans):
                strip.show_states(states)
        words = tr("Availability, protection, and the state of the copies as the serving server saw it.")
        try_there = tr("Click a moment, or use the arrow keys and Enter, to retry from there.")
        cross = tr("The cross is the point of no return.")
        known = any(marker.kind == NO_RETURN for marker in course.markers)
        note = muted(
            " ".join((words, *([cross] if known else []), *([try_there] if self._can_retry else [])))
        )
        box = QWidget()
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(strip)
        layout.addWidget(note)
        return box

    def _choose_moment(self, t_s: float) -> None:
        """Offer to try again from there: the button may be far above what was pressed, so it comes into sight."""
        self._moment_s = t_s
        self._show_moment()
        if self._can_retry:
            self._retry_here.setFocus(Qt.FocusReason.OtherFocusReason)
            self.ensureWidgetVisible(self._retry_here)

    def _show_moment(self) -> None:
        known = self._moment_s is not None and self._can_retry
        self._retry_here.setVisible(known)
        at_s, begin_s = self._moment_s or 0.0, self._begin_s()
        text = tr("Retry {left} before {at} ({moment})") if begin_s < at_s else tr("Retry from {moment}")
        left, at = formatting.seconds(at_s - begin_s, 0), formatting.run_time(at_s, 1)
        self._retry_here.setText(text.format(left=left, at=at, moment=formatting.run_time(begin_s, 1)))

    def _begin_s(self) -> float:
        """Where the moment that was chosen is tried again: time for a look before what happened or was done there."""
        at_s = self._moment_s or 0.0
        if not any(abs(at_s - event_s) < NEAR_S for event_s in self._marked_s):
            return at_s
        return retry.find_retry_tick(round(at_s * TICKS_PER_S), None, self._journal) / TICKS_PER_S

    # --- score ----------------------------------------------------------------------------------------------

    def _score(self, report: Report) -> QWidget:
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(14)
        for item in report["score"]["items"]:
            row = QHBoxLayout()
            row.setSpacing(18)
            row.addWidget(Points(float(item["points"]), float(item["max"])), 0, Qt.AlignmentFlag.AlignTop)
            row.addLayout(self._item(item), 1)
            column.addLayout(row)
        return box

    def _item(self, item: ItemJson) -> QVBoxLayout:
        layout = QVBoxLayout()
        layout.setSpacing(2)
        layout.addWidget(label(said_of(item["name"]), 1.0, bold=True))
        layout.addWidget(label(said_of(item["why"])))
        if item.get("better"):
            layout.addWidget(label(tr("Better: {better}").format(better=said_of(item["better"]))))
        moments = list(dict.fromkeys(item.get("at_s") or ()))[:MOMENTS_SHOWN]
        if moments:
            layout.addLayout(self._moments(moments))
        return layout

    def _moments(self, moments: Sequence[float]) -> FlowLayout:
        row = FlowLayout(6)
        lead = muted(tr("At"))
        row.addWidget(lead)
        for t_s in moments:
            button = QPushButton(formatting.run_time(t_s, 1))
            button.setProperty("small", "true")
            button.setToolTip(tr("Choose this moment for a retry"))
            button.setEnabled(self._can_retry)
            button.clicked.connect(lambda _=False, t_s=t_s: self._choose_moment(t_s))
            row.addWidget(button)
        return row

    def _narrow(self) -> bool:
        """There is no room for tables side by side."""
        return self.width() < NARROW_UNITS * self.fontMetrics().height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._narrow() != self._built_narrow:
            self._build_again()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._working:
            self.account_unwanted.emit()
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._build()


def format_ending(report: Report) -> str:
    """How it ended and which goals were reached."""
    ended = tr(ENDED.get(report.get("ended_by"), ENDED[None]))
    goals = report.get("goals", ())
    met = sum(bool(goal["met"]) for goal in goals)
    said = ended
    if met < len(goals):
        missed = (
            tr("The goal is not reached; {ended}")
            if len(goals) == 1
            else tr("{met} of {all} goals are reached; {ended}")
        )
        said = missed.format(met=met, all=len(goals), ended=ended)
    length = formatting.seconds(report["ended_at_s"], 1)
    return tr("{what}, after {length}. {mode}, seed {seed}.").format(
        what=f"{said[:1].upper()}{said[1:]}",
        length=length,
        mode=formatting.mode(report["mode"]).capitalize(),
        seed=report["seed"],
    )


def _collect_choices(report: Report) -> dict[str, list[str]]:
    """Question -> its choices."""
    return {row["name"]: row["choices"] for row in report.get("questions", ())}


def _states(lanes: Mapping[str, Lanes]) -> list[tuple[str, list[TimelineSpan]]]:
    """Mirroring state of the database that fared worst."""

    def rank_harm(lane: Lanes) -> int:
        bad = [span for span in (*lane.service, *lane.protection) if span.what in (DOWN, EXPOSED)]
        return sum(span.ticks for span in bad)

    worst = max(lanes.values(), key=rank_harm)
    spans = [TimelineSpan(s.from_tick / TICKS_PER_S, s.to_tick / TICKS_PER_S, s.what) for s in worst.state]
    return [(tr("state"), spans)]
