"""Scoring rules of a drill: one table for each rule."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from engine.drill.authoring.schema.values import Condition, Duration, Line, Name, Points
from engine.drill.authoring.schema.world import ScenarioTable


class Rule(ScenarioTable):
    """[[rubric]]: a part of the score."""

    name: Line
    """Name of this part of the score."""
    points: Points
    """Maximum; the parts add up to 100."""
    better: Line
    """Advice for the full points."""


class GoalsRule(Rule):
    """Points for goals reached, divided by weight."""

    kind: Literal["goals"]


class DowntimeRule(Rule):
    """Downtime: full points up to a target, none after a limit, linear in between."""

    kind: Literal["downtime"]
    database: Name | None = None
    """None: all databases together."""
    target: Duration
    """Full points up to here."""
    limit: Duration
    """No points from here on."""


class ExposedRule(Rule):
    """Time unprotected, without a synchronized mirror: points as for downtime."""

    kind: Literal["exposed"]
    database: Name | None = None
    """None: all databases together."""
    target: Duration
    """Full points up to here."""
    limit: Duration
    """No points from here on."""


class LostRule(Rule):
    """Committed transactions lost: points as for downtime."""

    kind: Literal["lost_transactions"]
    database: Name | None = None
    """None: all databases together."""
    target: int = Field(default=0, ge=0, lt=2**63)
    """Lost transactions up to which the points are full."""
    limit: int = Field(ge=1, lt=2**63)
    """Lost transactions from which on there are no points."""


class ConditionRule(Rule):
    """Full points if the condition holds at the end."""

    kind: Literal["condition"]
    when: Condition
    """Condition at the end, such as `witness of Sales is CONNECTED`."""


class ForbiddenRule(Rule):
    """Full points unless one of the forbidden states was reached."""

    kind: Literal["forbidden"]


class DiagnosisRule(Rule):
    """Points for right answers, divided by weight."""

    kind: Literal["diagnosis"]


class PredictionRule(Rule):
    """Points for predictions that came true, divided by weight."""

    kind: Literal["prediction"]


class CallsRule(Rule):
    """Points for the share of orders that were read back correctly and confirmed before they were carried out."""

    kind: Literal["calls"]
    least: int = Field(default=1, ge=1, le=100)
    """Orders that the drill needs; fewer count as if the others had not been read back."""


class StatusRule(Rule):
    """Points for the share of questions for the state that were answered in time by what was so at that moment."""

    kind: Literal["status"]
    within: Duration
    """Time for an answer."""


class Price(ScenarioTable):
    """[[rubric.price]]: an act that costs points of conduct, once."""

    when: Condition
    """Condition by which the action is seen, such as `ran "SET PARTNER OFF"`."""
    premise: Condition | None = None
    """Precondition of `why`, such as `Sales is ARMED`. Where it does not hold when the action is seen, the action
    costs nothing here."""
    price: Points
    """Price in points."""
    why: Line
    """Reason why it is wrong, for the debrief."""
    better: Line
    """Better alternative, for the debrief."""


class ConductRule(Rule):
    """Points less the price of wrong, refused and harmful commands."""

    kind: Literal["conduct"]
    refused: Points = 3.0
    """Price of each command that the server refuses."""
    prices: Annotated[tuple[Price, ...], Field(strict=False, alias="price", max_length=50)] = ()
    """Actions that cost points of conduct, each once."""


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
