"""What cost points, one by one: when it was, what came before it, what would have been better, where to try again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.constants import TICKS_PER_S
from engine.drill.drill import Drill
from engine.drill.schema import AnyRule, DowntimeRule, ExposedRule, LostRule
from engine.drill.score import Item, Loss
from engine.drill.watch import DOWN, EXPOSED, Lanes, Span
from engine.model import Tick, ticks

LOOK_BACK: Final = ticks(2.0)
"""Conditions are looked at once a second, so an act comes up to a second, and its batch a little, before its price."""

NEVER: Final = "Never done: "
"""Begins the cause of what was missed."""

BLUNDER_POINTS: Final = 10.0
MISTAKE_POINTS: Final = 3.0
"""From so many points on a loss is called a blunder, or a mistake; below, a slip. Assumed: a tenth of a drill, and
the usual price of a refused command."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that cost points."""

    tick: Tick
    rule: str
    """Name of the rule that took the points."""
    what: str
    cause: str
    """What was done or happened before it; empty if it came from nothing in particular."""
    points: float
    better: str
    retry_tick: Tick
    """Where to take the drill up again: before anything that was done at this tick (`seek(…, before=True)`)."""

    @property
    def size(self) -> str:
        """slip, mistake or blunder."""
        if self.points >= BLUNDER_POINTS:
            return "blunder"
        return "mistake" if self.points >= MISTAKE_POINTS else "slip"

    def as_json(self) -> dict[str, Any]:
        return {
            "at_s": self.tick / TICKS_PER_S,
            "rule": self.rule,
            "what": self.what,
            "cause": self.cause,
            "points": self.points,
            "size": self.size,
            "better": self.better,
            "retry_s": self.retry_tick / TICKS_PER_S,
        }


def mistakes(drill: Drill, lanes: Mapping[str, Lanes], plan: Sequence[tuple[Tick, str]]) -> list[Mistake]:
    """Everything that cost points, in order of time. *plan*: when the reference does what was never done here."""
    rules = {rule.name: rule for rule in drill.scenario.rubric}
    found = [
        _mistake(drill, item, loss, rules[item.name], lanes, plan)
        for item in drill.score().items
        if item.name in rules
        for loss in item.losses
        if loss.points > 0.0
    ]
    return sorted(found, key=lambda mistake: (mistake.tick, -mistake.points))


def _mistake(
    drill: Drill,
    item: Item,
    loss: Loss,
    rule: AnyRule,
    lanes: Mapping[str, Lanes],
    plan: Sequence[tuple[Tick, str]],
) -> Mistake:
    at, retry, cause = _moment(drill, loss, rule, lanes, plan)
    return Mistake(
        at, item.name, loss.why, loss.cause or cause or _before(drill, at), loss.points, loss.better, retry
    )


def _moment(
    drill: Drill, loss: Loss, rule: AnyRule, lanes: Mapping[str, Lanes], plan: Sequence[tuple[Tick, str]]
) -> tuple[Tick, Tick, str]:
    """When it was, where to try again, and its cause where that is no deed or fault before it."""
    longest = _longest(rule, lanes)
    if longest is not None:  # a stretch of time: whoever acts sooner shortens it
        return longest.from_tick, longest.from_tick, ""
    at = drill.tick if loss.tick is None else loss.tick
    if isinstance(rule, LostRule):
        at = next((event.tick for event in drill.events if event.get("lost_transactions")), at)
    elif rule.kind in ("goals", "condition") and plan:
        tick, line = plan[0]
        return at, min(tick, at), f"{NEVER}{line.splitlines()[0]}"
    return at, _act(drill, at), ""


def _longest(rule: AnyRule, lanes: Mapping[str, Lanes]) -> Span | None:
    """The longest stretch that a rule about time counts."""
    if not isinstance(rule, (DowntimeRule, ExposedRule)):
        return None
    asked = [lane for name, lane in lanes.items() if rule.database in (None, name)]
    down = isinstance(rule, DowntimeRule)
    spans = (span for lane in asked for span in (lane.service if down else lane.protection))
    return max(
        (s for s in spans if s.what == (DOWN if down else EXPOSED)), key=lambda s: s.ticks, default=None
    )


def _act(drill: Drill, tick: Tick) -> Tick:
    """When the trainee did what led to *tick*: the last act shortly before it, else *tick* itself."""
    done = [item.tick for item in drill.journal if tick - LOOK_BACK <= item.tick <= tick]
    return done[-1] if done else tick


_TELLING: Final = ("fault", "chore", "sql")


def _before(drill: Drill, tick: Tick) -> str:
    """The last deed or fault up to *tick*, in words."""
    before = [event for event in drill.events if event.kind in _TELLING and event.tick <= tick]
    if not before:
        return ""
    last = before[-1]
    where = f" on {last.server}" if last.kind == "sql" and last.server else ""
    return f"{' '.join(last.text.split())}{where}, at {last.t_s:g} s"
