"""Contents of the debrief of one run, as far as they are known, without Qt."""

from __future__ import annotations

from dataclasses import dataclass

from app.learning.reflection import Reflection
from app.view_models.course import (
    NO_RETURN,
    RunTimeline,
    TimelineMarker,
    asynchronous,
    clients_of,
    course_of,
    find_synchronized_databases,
)
from app.view_models.debrief.summary import Summary, find_protection, summarize
from app.view_models.debrief.verdict import Verdict, ask_choices, judge_run
from app.view_models.value_curve import format_first_step
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.review import Review
from engine.drill.judging.shapes import Report
from engine.drill.par.account import Account, RunSegment


@dataclass(frozen=True, slots=True)
class DebriefModel:
    """Run, review and account of one debrief. Review and account arrive later than the report."""

    report: Report
    scenario: Scenario | None = None
    """Scenario; None if this version cannot use it, so that nothing can be retried."""
    review: Review | None = None
    account: Account | None = None
    lessons: tuple[RunSegment, ...] | None = None
    provisional: bool = False
    """True if a better account follows."""
    analyzing: bool = False
    """True while review or account is being computed."""
    reflection: Reflection | None = None
    next_title: str = ""
    """Title of the suggested next drill; empty if there is none."""

    @property
    def can_retry(self) -> bool:
        """True if the run can be retried."""
        return self.scenario is not None

    @property
    def has_solution(self) -> bool:
        """True if the drill has a reference solution."""
        return self.scenario is not None and bool(self.scenario.solution)

    @property
    def choices(self) -> dict[str, list[str]]:
        """Choices of each question."""
        return ask_choices(self.report)

    def summary(self) -> Summary:
        """Return score, grade and figures."""
        return summarize(self.report, self.scenario)

    def verdict(self) -> Verdict | None:
        """Return the biggest mistake and the best continuation; None while they are not known."""
        return judge_run(self.report, self.review, self.account, self.lessons, self.provisional)

    def course(self) -> RunTimeline:
        """Return the timeline of the run, with the point of no return if it is known."""
        databases = list(self.report["availability"]["databases"])
        mirrored = databases if self.scenario is None else find_synchronized_databases(self.scenario)
        behind = () if self.scenario is None else asynchronous(self.scenario)
        shared = find_protection(self.scenario) in ("", "fci")
        clients = clients_of(self.report)
        course = course_of(self.report["events"], databases, mirrored, clients, behind, not shared)
        chance = self.account.last_chance if self.account is not None else None
        if chance is not None:
            until = tr("the last chance to meet all goals, {act}").format(
                act=format_first_step(chance, self.choices)
            )
            course.add_marker(TimelineMarker(chance.tick / TICKS_PER_S, NO_RETURN, until))
        return course
