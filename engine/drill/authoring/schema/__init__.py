"""Schema of a scenario file: one TOML table for each class, checked by pydantic.

Tables that may occur several times have a singular name in the file (`[[server]]`) and a plural name in the
code. Durations are seconds (30) or a number with its unit ("30s", "2min", "1h").
"""

from engine.drill.authoring.schema.scenario_file import Scenario, schema
from engine.drill.authoring.schema.story import (
    AlternativeAnswer,
    AnyRule,
    CallsRule,
    ConditionRule,
    ConductRule,
    DiagnosisRule,
    DowntimeRule,
    ExposedRule,
    Fidelity,
    Forbidden,
    ForbiddenRule,
    Goal,
    GoalsRule,
    Hint,
    Inject,
    LockedAction,
    LostRule,
    PredictedOutcome,
    Prediction,
    PredictionRule,
    Price,
    Question,
    Rule,
    Sight,
    SolutionStep,
    StatusRule,
    StoryRole,
)
from engine.drill.authoring.schema.values import (
    BLANK_LETTERS,
    DURATION_MAX_S,
    PACE_MIN_S,
    Condition,
    Duration,
    Line,
    Name,
    Points,
    Pools,
    Port,
    SizeMb,
    Slug,
    Text,
    TraceFlag,
    Words,
)
from engine.drill.authoring.schema.world import (
    AvailabilityGroupSpec,
    ClientSpec,
    ClusterInstanceSpec,
    ClusterSpec,
    DatabaseSpec,
    EndpointSpec,
    LinkSpec,
    Preparation,
    Publication,
    ReplicaSpec,
    ScenarioTable,
    ServerSpec,
    SessionSpec,
    SettingsSpec,
)

__all__ = [
    "BLANK_LETTERS", "DURATION_MAX_S", "PACE_MIN_S", "AlternativeAnswer", "AnyRule", "AvailabilityGroupSpec",
    "CallsRule", "ClientSpec", "ClusterInstanceSpec", "ClusterSpec", "Condition", "ConditionRule",
    "ConductRule", "DatabaseSpec", "DiagnosisRule", "DowntimeRule", "Duration", "EndpointSpec", "ExposedRule",
    "Fidelity", "Forbidden", "ForbiddenRule", "Goal", "GoalsRule", "Hint", "Inject", "Line", "LinkSpec",
    "LockedAction", "LostRule", "Name", "Points", "Pools", "Port", "PredictedOutcome", "Prediction",
    "PredictionRule", "Preparation", "Price", "Publication", "Question", "ReplicaSpec", "Rule", "Scenario",
    "ScenarioTable", "ServerSpec", "SessionSpec", "SettingsSpec", "Sight", "SizeMb", "Slug", "SolutionStep",
    "StatusRule", "StoryRole", "Text", "TraceFlag", "Words", "schema",
]  # fmt: skip
