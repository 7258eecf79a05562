"""Detection of commands with which the trainee disabled automatic failover without need.

The author's rubric deducts points only for expected actions. Without this module, a trainee could remove the
witness before the failure and force service afterward. If everything was restored, most of the points would
be kept.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from engine.drill.authoring import condition_context
from engine.drill.authoring.schema import ConductRule, Scenario
from engine.drill.time.event_log import select_events
from engine.events import Event, SqlDoneData, select_data
from engine.localization import build_message
from engine.model import Tick

DEDUCTION_PER_COMMAND: Final = 30.0
"""Deduction for each command that disabled automatic failover, in points.

Assumed: more than the maximum points of any conduct rule, because automatic failover is the purpose of the
session.
"""
DEDUCTION_MAX: Final = 45.0
"""Maximum total deduction for commands that disabled automatic failover, in points. Assumed."""

DISABLING_COMMANDS: Final = {
    "SET WITNESS OFF": re.compile(r"\bSET WITNESS OFF\b"),
    "SET PARTNER OFF": re.compile(r"\bSET PARTNER OFF\b"),
    "SAFETY OFF": re.compile(r"\bSET (?:PARTNER )?SAFETY OFF\b"),
}
"""Name -> pattern of statements that disable automatic failover. Documented: automatic failover needs a
session, a witness and SAFETY FULL.
"""

_SAFETY_CONDITION_PATTERN: Final = re.compile(r"\bSAFETY OF\b")
"""Pattern of a condition that tests the safety of a session."""
_ALTERED_DATABASE_PATTERN: Final = re.compile(r"\bALTER DATABASE (\S+) SET\b")
"""Pattern of the database name in an ALTER DATABASE statement."""


class DisablingCommand(Struct, frozen=True):
    """Command that disabled automatic failover."""

    command: str
    """Text of the command, with its server."""
    tick: Tick


def find_disabling_commands(events: Sequence[Event], scenario: Scenario) -> list[DisablingCommand]:
    """Return every command that disabled automatic failover, once for each database, oldest first.

    Commands that the reference contains or that the rubric scores are omitted.
    """
    planned = {s.database.upper() for s in scenario.sessions if s.witness is not None and s.safety == "FULL"}
    reference = " ".join(
        condition_context.normalize_sql(step.do, keep_literals=False) for step in scenario.solution
    )
    planned_failovers = {
        name: pattern
        for name, pattern in DISABLING_COMMANDS.items()
        if planned and not pattern.search(reference) and not _is_scored(name, scenario)
    }
    handled_pairs: set[tuple[str, str]] = set()
    return [
        failover
        for event, batch in select_data(select_events(events, "sql_done"), SqlDoneData)
        for failover in _find_in_batch(event, batch, planned_failovers, planned, handled_pairs)
    ]


def _is_scored(name: str, scenario: Scenario) -> bool:
    """Return whether the rubric or a forbidden state covers a command, a *name* in DISABLING_COMMANDS."""
    texts = [state.when for state in scenario.forbidden]
    for rule in scenario.rubric:
        texts += [price.when for price in rule.prices] if isinstance(rule, ConductRule) else []
    text = " ".join(texts).upper()
    return name in text or (name == "SAFETY OFF" and bool(_SAFETY_CONDITION_PATTERN.search(text)))


def _find_in_batch(
    event: Event,
    batch: SqlDoneData,
    patterns: dict[str, re.Pattern[str]],
    planned: set[str],
    reported: set[tuple[str, str]],
) -> Iterator[DisablingCommand]:
    if condition_context.is_timeline_window(batch.window) or condition_context.list_error_numbers(batch):
        return
    text = condition_context.normalize_sql(batch.batch, keep_literals=False)
    for name, pattern in patterns.items():
        for match in pattern.finditer(text):
            before = _ALTERED_DATABASE_PATTERN.findall(text[: match.end()])
            database = before[-1] if before else ""
            if database in planned and (name, database) not in reported:
                reported.add((name, database))
                statement = " ".join(batch.batch.split())
                yield DisablingCommand(
                    build_message("{batch} on {server}", batch=statement, server=event.server or ""),
                    event.tick,
                )
