"""Scoring rules of a drill: one table for each rule."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from engine.drill.authoring.schema.values import Condition, Duration, Line, Name, Points
from engine.drill.authoring.schema.world import ScenarioTable


class Rule(ScenarioTable):
    """[[rubric]]: a part of the score."""

    name: Line
    """Name of this rubric item."""
    points: Points
    """Maximum points. All items must total 100."""
    better: Line
    """Tip: how to earn full points."""


class GoalsRule(Rule):
    """Points for goals met, distributed by weight."""

    kind: Literal["goals"]


class DowntimeRule(Rule):
    """Downtime: full points up to a target, none after a limit, linear in between."""

    kind: Literal["downtime"]
    database: Name | None = None
    """None: all databases together."""
    target: Duration
    """Full points up to this value."""
    limit: Duration
    """No points from this value on."""


class ExposedRule(Rule):
    """Time without a synchronized mirror: points as for downtime."""

    kind: Literal["exposed"]
    database: Name | None = None
    """None: all databases together."""
    target: Duration
    """Full points up to this value."""
    limit: Duration
    """No points from this value on."""


class LostRule(Rule):
    """Committed transactions lost: points as for downtime."""

    kind: Literal["lost_transactions"]
    database: Name | None = None
    """None: all databases together."""
    target: int = Field(default=0, ge=0, lt=2**63)
    """Full points up to this number of lost transactions."""
    limit: int = Field(ge=1, lt=2**63)
    """No points from this number of lost transactions on."""


class ConditionRule(Rule):
    """Full points if the condition is met at the end."""

    kind: Literal["condition"]
    when: Condition
    """Condition at the end, such as `witness of Sales is CONNECTED`."""


class ForbiddenRule(Rule):
    """Full points unless a forbidden state was reached."""

    kind: Literal["forbidden"]


class DiagnosisRule(Rule):
    """Points for correct answers, distributed by weight."""

    kind: Literal["diagnosis"]


class PredictionRule(Rule):
    """Points for correct predictions, distributed by weight."""

    kind: Literal["prediction"]


class CallsRule(Rule):
    """Points for the share of orders that were read back correctly and confirmed before execution."""

    kind: Literal["calls"]
    least: int = Field(default=1, ge=1, le=100)
    """Number of orders that the drill needs. Missing orders count as not read back."""


class StatusRule(Rule):
    """Points for the share of status requests that were answered correctly and on time."""

    kind: Literal["status"]
    within: Duration
    """Time limit for an answer."""


class Price(ScenarioTable):
    """[[rubric.price]]: an act that costs points of conduct, once."""

    when: Condition
    """Condition that detects the action, such as `ran "SET PARTNER OFF"`."""
    premise: Condition | None = None
    """Precondition of `why`, such as `Sales is ARMED`. If it is not met when the action occurs, the action costs
    nothing."""
    price: Points
    """Deduction in points."""
    why: Line
    """Reason for the deduction, for the debrief."""
    better: Line
    """Better alternative, for the debrief."""


class ConductRule(Rule):
    """Points minus the deductions for wrong, refused and harmful commands."""

    kind: Literal["conduct"]
    refused: Points = 3.0
    """Deduction for each command that a server refuses."""
    prices: Annotated[tuple[Price, ...], Field(strict=False, alias="price", max_length=50)] = ()
    """Actions with a deduction, each counted once."""


AnyRule = Annotated[
    GoalsRule
    | DowntimeRule
    | ExposedRule
    | LostRule
    | ConditionRule
    | ForbiddenRule
    | DiagnosisRule
    | PredictionRule
    | CallsRule
    | StatusRule
    | ConductRule,
    Field(discriminator="kind"),
]


# --- the whole ----------------------------------------------------------------------------------------------
