"""Verification that the replay of a recorded run results in the same states.

If it does not, the first divergence is located.
"""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Final

from msgspec import Struct

from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.report import iterate_events, to_json_types
from engine.drill.judging.report_types import Report, ReportRow
from engine.drill.running.drill import Drill, DrillMode, play_inputs
from engine.drill.running.state import StateHash
from engine.drill.time.cooperative_tasks import CooperativeTask
from engine.generators import run_to_completion
from engine.inputs import InputError
from engine.localization import LocalizableMessage, build_message, format_run_time, join_messages
from engine.model import Tick, to_ticks
from engine.verbs.input_lines import parse_script

EVENTS_PER_SLICE: Final = 200
"""Number of events that are compared in one slice, which takes about 3 ms."""


class ReplayDivergence(Struct, frozen=True):
    """First difference between a replay and the recorded run."""

    last_equal_hash: StateHash | None
    """Last equal state hash of run and replay; None if the first one differs."""
    recorded_hash: StateHash | None
    """First recorded hash that differs; None if the recorded run has no more hashes."""
    replayed_hash: StateHash | None
    """Hash of the replay at the position of *recorded_hash*; None if the replay has no more hashes."""
    lines: tuple[str, ...] = ()
    """Inputs between the last equal hash and the first different hash."""
    event: str = ""
    """Text about the first event that differs; empty if the events are equal or not recorded."""
    differing_field: tuple[str, str, str] | None = None
    """(field of the report, recorded value, replayed value) if only this field differs.

    States and events are then equal.
    """

    def __str__(self) -> str:
        if self.differing_field is not None:
            path, claimed, replayed = self.differing_field
            return build_message(
                "the states match, but {place} differs: recorded {said}, replayed {so}",
                place=path, said=claimed, so=replayed,
            )  # fmt: skip
        agreed, state_hash = self.last_equal_hash, self.recorded_hash or self.replayed_hash
        text = build_message("no state is identical")
        if agreed:
            text = build_message("the states are identical until {moment}", moment=_format_time(agreed.tick))
        if self.recorded_hash is None and self.replayed_hash is None:
            text = build_message("the states match, but the events differ")
        elif self.replayed_hash is None:
            text = build_message("{what}; the replay ends earlier than the record", what=text)
        elif self.recorded_hash is None:
            text = build_message("{what}; the record ends earlier than the replay", what=text)
        elif state_hash:
            text = build_message(
                "{what}; the first difference is at {moment}", what=text, moment=_format_time(state_hash.tick)
            )
        if self.lines:
            lines = "; ".join(line.splitlines()[0] for line in self.lines)
            text = build_message("{what}, after these inputs: {lines}", what=text, lines=lines)
        return (
            build_message("{what}. First differing event: {event}", what=text, event=self.event)
            if self.event
            else text
        )


def verify_report(scenario: Scenario, report: Report) -> ReplayDivergence | None:
    """Return the first difference between the report of a run and its replay; None if they are equal."""
    return find_divergence(replay_report(scenario, report), report)


def replay_report(scenario: Scenario, report: Report) -> Drill:
    """Replay the run of a report. Raises InputError for invalid inputs."""
    return _replay_journal(
        scenario, report["seed"], report["mode"], report["inputs"], to_ticks(report["ended_at_s"])
    )


def find_divergence(drill: Drill, report: Report) -> ReplayDivergence | None:
    """Return the first difference between the replay *drill* and the run of *report*; None if they are equal."""
    return run_to_completion(find_divergence_in_slices(drill, report))


def find_divergence_in_slices(drill: Drill, report: Report) -> CooperativeTask[ReplayDivergence | None]:
    """Run `find_divergence` in slices."""
    recorded = [StateHash(to_ticks(h["t_s"]), h["inputs"], h["hash"]) for h in report["hashes"]]
    difference = _compare_states(drill, recorded)
    if report.get("cut_off"):  # a report that was cut off has no other data to compare
        return difference or _compare_end(drill, report)
    event = yield from _find_first_event(report["events"], drill)
    if difference is None and event:
        return ReplayDivergence(drill.hashes[-1], None, None, (), event)
    if difference is None:
        return _compare_end(drill, report) or _compare_report(drill, report)
    return ReplayDivergence(
        difference.last_equal_hash,
        difference.recorded_hash,
        difference.replayed_hash,
        difference.lines,
        event,
    )


def _replay_journal(
    scenario: Scenario, seed: int, mode: DrillMode | str, lines: Iterable[str], tick: Tick
) -> Drill:
    inputs, problems = parse_script("\n".join(lines))
    if problems:
        raise InputError(join_messages("; ", problems))
    drill = Drill(scenario, seed, mode)
    play_inputs(
        drill, inputs, lambda item, problem: None
    )  # ignore refused inputs, because a replay that has diverged may refuse one
    drill.advance_to(tick)
    return drill


def _compare_states(drill: Drill, recorded: Sequence[StateHash]) -> ReplayDivergence | None:
    agreed = None
    for expected, replayed in zip_longest(recorded, drill.hashes):
        if expected != replayed:
            first_input = agreed.inputs if agreed else 0
            last_input = min(
                hash_entry.inputs for hash_entry in (expected, replayed) if hash_entry is not None
            )
            lines = tuple(item.line for item in drill.journal[first_input:last_input])
            return ReplayDivergence(agreed, expected, replayed, lines)
        agreed = expected
    return None


def _compare_end(drill: Drill, report: Report) -> ReplayDivergence | None:
    """Compare the state at the end of *drill* with *report*, after all recorded hashes were found equal."""
    state_hash = StateHash(drill.tick, len(drill.journal), drill.compute_state_hash())
    reported_hash = StateHash(
        to_ticks(report["ended_at_s"]), state_hash.inputs, report.get("state_hash", state_hash.digest)
    )
    return (
        ReplayDivergence(drill.hashes[-1] if drill.hashes else None, reported_hash, state_hash)
        if reported_hash != state_hash
        else None
    )


COMPARED_FIELDS: Final = (
    "scenario", "title", "seed", "mode", "origin", "ended_by", "score", "availability", "goals",
    "questions",
)  # fmt: skip
"""Fields of a report that are compared in addition to states and events.

All of them follow from the inputs.
"""


def _compare_report(drill: Drill, report: Report) -> ReplayDivergence | None:
    """Compare the COMPARED_FIELDS of *report* with the replay *drill*, after all states were found equal."""
    replayed_report = drill.build_report()
    for name in COMPARED_FIELDS:
        if name in report and to_json_types(report[name]) != to_json_types(replayed_report[name]):
            path, recorded_value, replayed_value = _find_first_difference(
                name, to_json_types(report[name]), to_json_types(replayed_report[name])
            )
            return ReplayDivergence(
                drill.hashes[-1], None, None, differing_field=(path, str(recorded_value), str(replayed_value))
            )
    return None


def _find_first_difference(path: str, expected: object, actual: object) -> tuple[str, object, object]:
    """Return (path, expected value, actual value) of the first difference between two JSON values."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in {**actual, **expected}:
            if expected.get(key) != actual.get(key):
                return _find_first_difference(f"{path}.{key}", expected.get(key), actual.get(key))
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for number, (left, right) in enumerate(zip(expected, actual, strict=True)):
            if left != right:
                return _find_first_difference(f"{path}[{number}]", left, right)
    return path, expected, actual


def _find_first_event(recorded: Sequence[ReportRow], drill: Drill) -> CooperativeTask[str]:
    for index, (recorded_event, replayed_event) in enumerate(zip_longest(recorded, iterate_events(drill))):
        if recorded_event != replayed_event:
            return build_message(
                "recorded: {event}; replayed: {other_event}",
                event=_format_event(recorded_event),
                other_event=_format_event(replayed_event),
            )
        if index % EVENTS_PER_SLICE == EVENTS_PER_SLICE - 1:
            yield index / max(len(recorded), len(drill.events))
    return ""


def _format_event(event: ReportRow | None) -> str:
    if event is None:
        return build_message("none")
    time = format_run_time(event["t_s"], 2)
    return build_message("{kind} at {moment} ({text})", kind=event["kind"], moment=time, text=event["text"])


def _format_time(tick: Tick) -> LocalizableMessage:
    return format_run_time(tick / TICKS_PER_S, 2)
