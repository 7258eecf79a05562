"""Report of a run, the output of `run --json`: events, failovers, availability, SQL, score, readings."""

import hashlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, cast

import numpy as np
from msgspec import Struct, structs

from engine import arithmetic
from engine.constants import TICKS_PER_S
from engine.drill.authoring import condition_context, quantities
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.report_types import Calibration, CalibrationPoint, Report, ReportRow, ScoreJson
from engine.drill.running import questions
from engine.drill.running.published_comparison import find_technology
from engine.drill.running.questions import Inquiry
from engine.drill.running.state import DrillState
from engine.drill.team.calls import describe_call_error
from engine.drill.time.event_log import CompressedList
from engine.events import Event, PowerShellData, SqlDoneData, get_data, select_data
from engine.flow import COUNTERS, NO_STREAM_NUMBERS, StreamNumbers
from engine.localization import build_message
from engine.model import Availability, Failover, World
from engine.protocol import streams

FAILOVER_STEPS: Final = ("failed", "detected", "redo_done", "decided", "online", "undo_done")
"""Steps of a failover in order of time. Manual and forced failovers have no detection."""


def build_report(drill: DrillState) -> Report:
    """Return the run so far as a report that consists of JSON types.

    If building a part fails, the part is empty and listed in `failed_parts`. Thus a defect of the program
    does not cost the trainee the whole report.
    """
    parts: dict[str, object] = {}
    failed: list[dict[str, str]] = []
    for name, (make, empty) in _get_report_builders(drill).items():
        try:
            parts[name] = make()
        except Exception as problem:  # any error may occur here, and the other parts must still be built
            parts[name] = empty
            failed.append({"part": name, "error": f"{type(problem).__name__}: {problem}"})
    if failed:
        parts["failed_parts"] = failed
    return cast(Report, parts)


def _get_report_builders(drill: DrillState) -> dict[str, tuple[Callable[[], object], object]]:
    """Return the builders of the parts of a report: name of the part -> (function, fallback).

    The fallback is the value of the part if the function fails.
    """
    return {
        "scenario": (lambda: drill.scenario.name, ""),
        "title": (lambda: drill.scenario.title, ""),
        "seed": (lambda: drill.seed, 0),
        "mode": (lambda: drill.mode.value, ""),
        "origin": (lambda: compute_origin_digest(drill), ""),
        "version": (lambda: get_program_version(), ""),
        "scenario_text": (lambda: drill.scenario.text, ""),
        "ended_at_s": (lambda: drill.world.t_s, 0.0),
        "ended_by": (lambda: drill.ended_by.name.lower() if drill.ended_by else None, None),
        "state_hash": (lambda: drill.compute_state_hash(), ""),
        "inputs": (lambda: [item.line for item in drill.journal], []),
        "events": (lambda: _list_events(drill), []),
        "failovers": (lambda: _list_failovers(drill), []),
        "attempts": (lambda: _list_failed_failovers(drill), []),
        "availability": (
            lambda: build_availability_json(drill.world),
            {**_convert_availability_to_seconds(Availability(database="")), "databases": {}},
        ),
        "clients": (lambda: build_clients_json(drill), {"downtime_s": 0.0, "databases": {}}),
        "sql": (lambda: _list_batches(drill), []),
        "unfinished": (lambda: list_unfinished_batches(drill), []),
        "powershell": (lambda: _list_powershell_lines(drill), []),
        "goals": (lambda: _list_goals(drill), []),
        "questions": (
            lambda: [_build_inquiry_json(drill, inquiry) for inquiry in drill.scenario.inquiries],
            [],
        ),
        "team": (lambda: build_team_json(drill), []),
        "rewinds": (
            lambda: [{"from_s": _to_seconds(a), "to_s": _to_seconds(b)} for a, b in drill.rewinds],
            [],
        ),
        "hashes": (
            lambda: [
                {"t_s": _to_seconds(h.tick), "inputs": h.inputs, "hash": h.digest} for h in drill.hashes
            ],
            [],
        ),
        "score": (
            lambda: _build_score(drill),
            {"total": None, "scored": False, "finished": False, "items": []},
        ),
        "readings": (lambda: build_readings(drill), {"t_s": [], "database": None}),
    }


def compute_origin_digest(drill: DrillState) -> str:
    """Return a digest of mode, scenario and scenario name.

    If one of them is changed in a report, the digest differs.
    """
    parts = (drill.scenario.name, drill.scenario.text, str(drill.seed), drill.mode.value)
    text = "\0".join(parts).encode("utf-8", errors="surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def _list_failovers(drill: DrillState) -> list[ReportRow]:
    return [
        build_failover_json(failover, drill.published.get(index)) | _describe_technology(drill, failover)
        for index, failover in enumerate(drill.world.failovers)
        if failover.online_tick is not None
    ]


def _list_failed_failovers(drill: DrillState) -> list[dict[str, object]]:
    """Return the failovers that began but were not completed, each with its reason."""
    return [
        {
            **build_failover_json(failover, None),
            **_describe_technology(drill, failover),
            "why": failover.why or UNDECIDED_FAILOVER_REASON,
        }
        for failover in drill.world.failovers
        if failover.online_tick is None
    ]


def _describe_technology(drill: DrillState, failover: Failover) -> dict[str, object]:
    """Return the report field "technology" of a failover, as a dictionary with this key."""
    return {"technology": find_technology(drill.world, failover)}


UNDECIDED_FAILOVER_REASON: Final = build_message("the failover was not decided when the run ended")
"""Reason for a failover that was neither completed nor canceled."""


def _list_events(drill: DrillState) -> list[ReportRow]:
    return list(iterate_events(drill))


def iterate_events(drill: DrillState) -> Iterator[ReportRow]:
    """Yield the events as report rows. The verification of a replay compares these rows."""
    programs = _list_program_windows(drill)
    return (
        to_json_types({**event.as_json(), **_replace_rows_by_counts(event, programs)})
        for event in drill.events
    )


def _list_batches(drill: DrillState) -> list[ReportRow]:
    programs = _list_program_windows(drill)
    return [
        {
            "t_s": batch.started_tick / TICKS_PER_S,
            "done_t_s": event.t_s,
            "server": event.server,
            **{
                key: to_json_types(value)
                for key, value in {**batch.as_json(), **_replace_rows_by_counts(event, programs)}.items()
            },
        }
        for event, batch in select_data(drill.events, SqlDoneData)
    ]


def list_unfinished_batches(drill: DrillState) -> list[ReportRow]:
    """Return the batches that are running or queued behind a running batch."""
    ticks_by_args = {item.args[:2]: item.tick for item in drill.journal if item.verb == "sql"}
    rows: list[ReportRow] = []
    for window, run in sorted(drill.world.batches.items()):
        session = drill.world.sessions.get(window)
        batches = [(run.text, "running", run.started_tick)]
        for text in session.queue if session is not None else ():
            batches.append((text, "waiting", ticks_by_args.get((window, text), run.started_tick)))
        server = window.partition("#")[0]
        rows += [
            {"t_s": _to_seconds(tick), "server": server, "window": window, "batch": text, "state": state}
            for text, state, tick in batches
        ]
    return rows


def _list_program_windows(drill: DrillState) -> set[str]:
    """Return the names of the windows that are connections of external programs."""
    return {item.args[0] for item in drill.journal if item.verb == "connect"}


def _replace_rows_by_counts(event: Event, programs: Container[str]) -> dict[str, object]:
    """Return the event as JSON types. If it is the result of a program's batch, row counts replace the rows.

    A program that queries every second for an hour receives a hundred megabytes of rows. A replay can produce
    them again.
    """
    batch = get_data(event, SqlDoneData)
    if batch is None or batch.window not in programs:
        return {}
    return {"results": [{**result, "rows": len(result["rows"])} for result in batch.results]}


def _list_powershell_lines(drill: DrillState) -> list[ReportRow]:
    return [
        {"t_s": event.t_s, **{key: to_json_types(value) for key, value in line.as_json().items()}}
        for event, line in select_data(drill.events, PowerShellData)
    ]


def _list_goals(drill: DrillState) -> list[ReportRow]:
    return [
        {
            "name": goal.name,
            "text": goal.text,
            "met": state.is_reached,
            "met_t_s": _to_seconds(state.met_tick),
        }
        for goal in drill.scenario.goals
        for state in [drill.goals[goal.name]]
    ]


def _build_score(drill: DrillState) -> ScoreJson:
    score = drill.compute_score()
    return {
        "total": score.total,
        "scored": score.scored,
        "finished": score.finished,
        "items": [item.as_json() for item in score.items],
    }


def _build_inquiry_json(drill: DrillState, inquiry: Inquiry) -> dict[str, object]:
    """Return a question with its answer. The right choices are included only after the end of the drill."""
    answer = drill.answers[inquiry.name]
    row: dict[str, object] = {
        "name": inquiry.name,
        "prediction": questions.is_prediction(inquiry),
        "text": inquiry.text,
        "choices": list(inquiry.texts),
        "asked_t_s": _to_seconds(answer.asked_tick),
        "answered_t_s": _to_seconds(answer.answered_tick),
        "choice": answer.choice,
    }
    if answer.sure_percent is not None:
        row["sure_percent"] = answer.sure_percent
    if drill.finished:
        row |= {
            "right": list(answer.correct_choices),
            "correct": answer.correct,
            "why": answer.explanation or inquiry.why,
        }
    return row


def build_team_json(drill: DrillState) -> list[ReportRow]:
    """Return the calls between the roles of a team as report rows.

    The fields that judge a call are included only when they may be revealed.
    """
    may_reveal = drill.finished or drill.permissions.judges_immediately
    return [
        {
            "kind": team_call.kind,
            "by": team_call.by,
            "to": team_call.to,
            "text": team_call.text,
            "t_s": _to_seconds(team_call.tick),
            "read_back": team_call.read_back,
            "read_back_t_s": _to_seconds(team_call.read_back_tick),
            "confirmed_t_s": _to_seconds(team_call.confirmed_tick),
            "repeated_t_s": _to_seconds(team_call.repeated_tick),
            "acted_t_s": _to_seconds(team_call.acted_tick),
            "status": team_call.status,
            "status_t_s": _to_seconds(team_call.status_tick),
            "waits": team_call.waits,
            **(
                {
                    "true": team_call.true,
                    "fault": describe_call_error(team_call) if team_call.kind == "order" else "",
                }
                if may_reveal
                else {}
            ),
        }
        for team_call in drill.calls
    ]


@cache
def get_program_version() -> str:
    """Return the version of the installed program. Cached, because reading it takes milliseconds."""
    try:
        return version("mirrordrill")
    except PackageNotFoundError:
        return "not installed"


def to_json_types(value: object) -> Any:
    """Convert *value* to JSON types."""
    if is_dataclass(value) and not isinstance(value, type):
        return to_json_types(asdict(value))
    if isinstance(value, Struct):
        return to_json_types(structs.asdict(value))
    if isinstance(value, dict):
        return {str(key): to_json_types(part) for key, part in value.items()}
    if isinstance(value, (list, tuple, set, frozenset, CompressedList)):
        return [to_json_types(part) for part in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def build_failover_json(failover: Failover, published: tuple[float, str] | None) -> dict[str, object]:
    """Return a failover with its times.

    `failover_s` is the time from detection to the new role, as in the white paper. *published*:
    published seconds of a comparable failover and their source; None if there is none.
    """
    row: dict[str, object] = {
        "database": failover.database,
        "kind": failover.kind,
        "cause": failover.cause,
        "from_server": failover.from_server,
        "to_server": failover.to_server,
        "under_load": failover.under_load,
    }
    for step in FAILOVER_STEPS:
        row[f"{step}_t_s"] = _to_seconds(getattr(failover, f"{step}_tick"))
    is_done = failover.online_tick is not None
    row["failover_s"] = (
        _to_seconds(failover.online_tick - failover.detected_tick) if failover.online_tick else None
    )
    row["lost_transactions"] = failover.lost_transactions
    row["lost_kb"] = failover.lost_kb
    if published is not None and is_done:
        row["published_s"], row["published_ref"] = published
    return row


def _to_seconds(tick: int | None) -> float | None:
    return None if tick is None else tick / TICKS_PER_S


def build_availability_json(world: World) -> ReportRow:
    """Return downtime, unprotected time and losses, in total and for each database."""
    accounts = {name: quantities.compute_availability(world, name) for name in world.availability}
    total = {
        name: arithmetic.add_in_order(_convert_availability_to_seconds(a)[name] for a in accounts.values())
        for name in _convert_availability_to_seconds(Availability(database=""))
    }
    return {**total, "databases": {name: _convert_availability_to_seconds(a) for name, a in accounts.items()}}


def build_clients_json(drill: DrillState) -> ReportRow:
    """Return the client downtime in total and for each database, and the clients that it is computed from."""
    clients = group_clients_by_database(drill.scenario)
    down = compute_client_downtime_s(iterate_events(drill), clients, drill.world.t_s)
    return {
        "downtime_s": arithmetic.add_in_order(down.values()),
        "databases": {
            name: {"downtime_s": down[name], "names": list(users.names), "server": users.server}
            for name, users in clients.items()
        },
    }


def _convert_availability_to_seconds(availability: Availability) -> dict[str, float]:
    """Return the report fields of an availability record: durations in seconds, and losses."""
    return {
        "downtime_s": availability.down_ticks / TICKS_PER_S,
        "exposed_s": availability.exposed_ticks / TICKS_PER_S,
        "lost_transactions": availability.lost_transactions,
        "lost_kb": availability.lost_kb,
    }


# --- readings -----------------------------------------------------------------------------------------------


def find_log_numbers(world: World, database: str) -> StreamNumbers | None:
    """Return the numbers of the log source and of the stream that the leading copy of *database* uses.

    If the leading copy has none, the numbers of any other copy are returned; None if no copy has a log.
    """
    copy = condition_context.find_leading_copy(world, database)
    copies = [*([copy] if copy is not None else []), *world.list_copies_of(database)]
    log_places = (streams.find_stream_numbers(world, other_copy) for other_copy in copies)
    return next((log_place for log_place in log_places if log_place is not None), None)


def build_readings(drill: DrillState) -> ReportRow:
    """Return the readings of a run: `t_s`, and an array for each counter of the first database.

    If there are several databases, `databases` contains the arrays of each. A value is None at times
    without a running copy of the database. The interval is one second; in long runs it is longer, so
    that there are at most READINGS_MAX values.
    """
    databases = list(drill.world.availability)
    interval = 1 + len(drill.logs) * len(databases) * len(COUNTERS) // READINGS_MAX
    arrays = {name: _read_counter_arrays(drill, name, interval) for name in databases}
    first_database = next(iter(arrays), None)
    times = [tick / TICKS_PER_S for tick in drill.samples.ticks.tolist()[::interval]]
    fields: dict[str, object] = {
        "t_s": times,
        "database": first_database,
        **(arrays[first_database] if first_database is not None else {}),
    }
    return {**fields, "databases": arrays} if len(arrays) > 1 else fields


def build_readings_by_database(drill: DrillState) -> dict[str, dict[str, list[float | None]]]:
    """Return database -> counter -> value at each second. A value is None without a running copy."""
    return {name: _read_counter_arrays(drill, name) for name in drill.world.availability}


READINGS_MAX: Final = 500_000
"""Maximum number of values in the readings of a report. A value needs about six characters.

Assumed: seven hours of one database.
"""


def _read_counter_arrays(drill: DrillState, database: str, stride: int = 1) -> dict[str, list[float | None]]:
    """Return counter -> values at every *stride*-th sample of a database.

    A value is None at times without a running copy of the database.
    """
    number_pairs = [entry.get(database) for entry in drill.logs]
    values = drill.samples.read_entries(
        0, *np.array([place or NO_STREAM_NUMBERS for place in number_pairs], dtype=np.int64).reshape(-1, 2).T
    )
    return {
        counter: [
            None if place is None else round(value, 3)
            for place, value in zip(number_pairs[::stride], values[::stride, column].tolist(), strict=True)
        ]
        for column, counter in enumerate(COUNTERS)
    }


# --- service as clients see it ------------------------------------------------------------------------------

# A database can be online before its clients have connected to it.

DISCONNECTION_CHANGES: Final = frozenset(
    {"cut", "stopped", "gave up", "timeout", "partner refused", "login failed"}
)
"""Kinds of client events after which the client has no connection."""


class WritingClients(Struct, frozen=True):
    """Clients that write to a database, and the server of the database at the start."""

    names: tuple[str, ...]
    server: str | None


def group_clients_by_database(scenario: Scenario) -> dict[str, WritingClients]:
    """Return database -> clients, for each database that has any. Clients with read intent do not count."""
    servers = {session.database: session.principal for session in scenario.sessions}
    servers |= {database: group.primary for group in scenario.groups for database in group.databases}
    clients = {}
    for database in scenario.databases:
        for name in database.names:
            users = [
                client.name
                for client in scenario.clients
                if name in client.databases and not client.read_only
            ]
            if users:
                server = servers.get(name, servers.get(database.name)) or database.server
                clients[name] = WritingClients(tuple(users), server)
    return clients


class ClientServiceTracker:
    """Tracker that determines from report events which databases serve all their clients.

    It stores the server of each client, and the servers with an open copy of each database.
    """

    def __init__(self, clients: Mapping[str, WritingClients]) -> None:
        self._clients = clients
        self._serving = {
            database: {users.server} if users.server else set() for database, users in clients.items()
        }
        """Database -> servers with an open copy: two if a copy was recovered in addition to its principal."""
        self._connected: dict[str, str | None] = {
            name: users.server or "" for users in clients.values() for name in users.names
        }
        """Client -> its server; empty means the database's server at the start; None means no connection."""

    @property
    def has_clients(self) -> bool:
        """Return whether any database has clients."""
        return bool(self._connected)

    def apply_event(self, event: ReportRow) -> None:
        """Update the state with *event*."""
        if event["kind"] == "availability" and event.get("database") in self._serving:
            if event.get("serving") is not None:
                self._serving[str(event["database"])] = set(event.get("servers") or ())
        elif event["kind"] == "client" and event.get("client") in self._connected:
            if event.get("what") == "connected":
                self._connected[str(event["client"])] = event.get("server")
            elif event.get("what") in DISCONNECTION_CHANGES:
                self._connected[str(event["client"])] = None

    def is_working(self, database: str) -> bool:
        """Return whether every client of *database* is connected to a server that serves it."""
        users, servers = self._clients.get(database), self._serving.get(database)
        if users is None:
            return True
        client_servers = [self._connected[name] for name in users.names]
        return all(
            client_server is not None and (not client_server or not servers or client_server in servers)
            for client_server in client_servers
        )


def compute_client_downtime_s(
    events: Iterable[ReportRow], clients: Mapping[str, WritingClients], until_s: float
) -> dict[str, float]:
    """Return database -> seconds in which the database was down or one of its clients had no connection."""
    service = ClientServiceTracker(clients)
    online = dict.fromkeys(clients, True)
    total = dict.fromkeys(clients, 0.0)
    outage_start: dict[str, float | None] = dict.fromkeys(clients)
    for event in events:
        if event["kind"] not in ("availability", "client"):
            continue
        service.apply_event(event)
        if event.get("database") in online and event.get("serving") is not None:
            online[str(event["database"])] = bool(event["serving"])
        for database in clients:
            working, t_s, began = (
                online[database] and service.is_working(database),
                float(event["t_s"]),
                outage_start[database],
            )
            if working and began is not None:
                total[database] += t_s - began
            outage_start[database] = None if working else t_s if began is None else began
    for database, began in outage_start.items():
        total[database] += 0.0 if began is None else until_s - began
    return {database: round(seconds, 2) for database, seconds in total.items()}


# --- calibration of a trainee's confidence ----------------------------------------------------------------
# Brier score and calibration curve of questions and predictions. The Brier score (Monthly Weather Review 78,
# 1950) is the mean of (stated probability - outcome) squared. It is 0 for a trainee who is always certain and
# right, 0.25 for a trainee who always says 50%, and at most 1.


def compute_calibration(questions: Iterable[ReportRow]) -> Calibration | None:
    """Return the calibration of the trainee's confidence, computed from the `questions` of reports.

    The result is None if no answer has a confidence.
    """
    answers = [
        (float(row["sure_percent"]), bool(row["correct"]))
        for row in questions
        if row.get("sure_percent") is not None and row.get("right")
    ]
    if not answers:
        return None
    missed = [(percent / 100.0 - right) * (percent / 100.0 - right) for percent, right in answers]
    return {
        "answers": len(answers),
        "brier": arithmetic.add_in_order(missed) / len(answers),
        "curve": [
            _build_calibration_point(percent, answers)
            for percent in sorted({percent for percent, _ in answers})
        ],
    }


def _build_calibration_point(percent: float, answers: Sequence[tuple[float, bool]]) -> CalibrationPoint:
    outcomes = [right for stated, right in answers if stated == percent]
    right_percent = 100.0 * arithmetic.add_in_order(outcomes) / len(outcomes)
    return {"sure_percent": percent, "right_percent": right_percent, "answers": len(outcomes)}
