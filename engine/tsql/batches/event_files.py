"""Rows of sys.fn_xe_file_target_read_file for the event session AlwaysOn_health, derived from the ERRORLOG.

The events are changes of replica states, expired leases and reported errors. They survive restarts, as the
files of the event session do. [DOC: sys.fn_xe_file_target_read_file] [DOC: extended events of groups]
"""

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Final
from xml.sax.saxutils import escape

from engine import datetime_formats
from engine.availability import replicas
from engine.identifiers import make_group_id, make_replica_id
from engine.messages import SqlError
from engine.model import ReplicaWord
from engine.tsql.batches.context import StatementContext
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import Scalar, to_text

HEALTH_FILE_NAME: Final = "AlwaysOn_health_0_131072000000000000.xel"
"""File name of the event session AlwaysOn_health. The number in the name is assumed."""
SYSTEM_HEALTH_FILE_NAME: Final = "system_health_0_131072000000000000.xel"
"""File name of the event session system_health, whose events are not simulated."""

REPORTED_ERROR_NUMBERS: Final = frozenset(
    {9691, 35204, 9693, 26024, 28047, 26023, 9692, 28034, 28036, 28048, 28080, 28091, 26022, 9642, 35201, 35202, 35206,
     35207, 26069, 26070, *range(41048, 41056), 41142, 41144, 1480, 823, 824, 829, 35264, 35265, 41188, 41189, 35217}
)  # fmt: skip
"""Numbers of the messages that AlwaysOn_health records as error_reported. Known from the session's
definition.
"""

STATE_CHANGED, LEASE_EXPIRED = 19406, 19407
_STATE_CHANGE_PATTERN: Final = re.compile(
    r"availability group '(?P<group>[^']*)' .*?from '(?P<old>\w+)' to '(?P<new>\w+)'"
)
"""Pattern of message 19406, which reports a changed replica state."""
_LEASE_PATTERN: Final = re.compile(r"availability group '(?P<group>[^']*)'")
"""Pattern of message 19407, which reports an expired lease."""

EventField = tuple[str, Scalar, str]
"""Data element of an event: (name, value, text of the value). The text is empty for plain values."""


def read_event_files(context: StatementContext, path: Scalar) -> Scalar:
    """Return the rows of the event files that *path* matches, as JSON (functions.py).

    Raises 25718 if *path* matches no file.
    """
    file_name = to_text(path).rpartition("\\")[2].lower() if path is not None else ""
    if "." not in file_name and not file_name.endswith("*"):
        file_name += "*.xel"
    if fnmatch(HEALTH_FILE_NAME.lower(), file_name) and context.version >= 2012:
        target_rows = [
            [name, body, HEALTH_FILE_NAME, 512 * index, event_time]
            for index, (name, event_time, body) in enumerate(_list_events(context), 1)
        ]
        return json.dumps(target_rows)
    if fnmatch(SYSTEM_HEALTH_FILE_NAME, file_name):
        raise UnsimulatedFeatureError("the events of system_health")
    raise SqlError(25718, to_text(path))


def _list_events(context: StatementContext) -> Iterator[tuple[str, str, str]]:
    """Yield (name, time, XML) of each event, oldest first. Without a replica, there are none."""
    world, server = context.world, context.session.server
    if not replicas.list_replica_states(world, server) and not any(
        line[1] in (STATE_CHANGED, LEASE_EXPIRED) for line in world.errorlog.get(server, ())
    ):
        return
    for tick, number, severity, state, text in world.errorlog.get(server, ()):
        event_time = (
            datetime_formats.format_datetime(context.get_time(tick), "%Y-%m-%dT%H:%M:%S")
            + f".{tick % 100 * 10:03d}Z"
        )
        name = ""
        data: tuple[EventField, ...] = ()
        if number == STATE_CHANGED and (match := _STATE_CHANGE_PATTERN.search(text)) is not None:
            name, data = "availability_replica_state_change", _build_state_change_data(context, match)
        elif number == LEASE_EXPIRED and (match := _LEASE_PATTERN.search(text)) is not None:
            name, data = "availability_group_lease_expired", _build_lease_data(context, match["group"])
        elif number in REPORTED_ERROR_NUMBERS:
            name = "error_reported"
            data = (
                ("error_number", number, ""), ("severity", severity, ""), ("state", state, ""),
                ("user_defined", "false", ""), ("category", 2, "SERVER"), ("destination", "0x00000002", "ERRORLOG"),
                ("is_intercepted", "false", ""), ("message", text, ""),
            )  # fmt: skip
        if name:
            yield name, event_time, _format_xml(name, event_time, data)


def _build_group_data(context: StatementContext, group: str) -> tuple[EventField, ...]:
    """Return the data elements of an event that identify the availability group *group*."""
    world, server = context.world, context.session.server
    groups = [
        replicas.find_group_config(world, server, state.guid)
        for state in replicas.list_replica_states(world, server)
    ]
    guid = next(
        (candidate.guid for candidate in groups if candidate is not None and candidate.name == group), None
    )
    return (
        ("availability_group_id", make_group_id(guid) if guid is not None else "", ""),
        ("availability_group_name", group, ""),
        ("availability_replica_id", make_replica_id(guid, server) if guid is not None else "", ""),
        ("availability_replica_name", server, ""),
    )


_REPLICA_WORDS: Final = tuple(ReplicaWord)


def _build_state_change_data(context: StatementContext, match: re.Match[str]) -> tuple[EventField, ...]:
    """Return the data elements of an event that reports a changed replica state.

    *match*: match with the groups `old`, `new` and `group` (the availability group). The numbers of the
    states follow the order of ReplicaWord. Assumed.
    """
    state_numbers = {word.value: number for number, word in enumerate(_REPLICA_WORDS)}
    words = (("previous_state", match["old"]), ("current_state", match["new"]))
    states = tuple((name, state_numbers.get(word, 0), word) for name, word in words)
    return (*states, *_build_group_data(context, match["group"]))


def _build_lease_data(context: StatementContext, group: str) -> tuple[EventField, ...]:
    return (("current_time", 0, ""), ("state", 1, "LeaseExpired"), *_build_group_data(context, group)[:2])


def _format_xml(name: str, timestamp: str, data: tuple[EventField, ...]) -> str:
    parts = [
        f'<data name="{key}"><value>{escape(to_text(value))}</value>'
        + (f"<text>{escape(text)}</text>" if text else "")
        + "</data>"
        for key, value, text in data
    ]
    return f'<event name="{name}" package="sqlserver" timestamp="{timestamp}">{"".join(parts)}</event>'
