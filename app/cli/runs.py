"""Commands `mirrordrill run`, `replay` and `record`: play a scenario without a window, and use recorded runs."""

import argparse
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Final, TextIO

from msgspec.structs import replace

from app.cli.command_helpers import (
    UsageError,
    load_named_scenario,
    write_file,
    write_json,
)
from app.exit_codes import NEGATIVE_ANSWER, SUCCESS
from app.files.file_content import UnreadableFileError, decode_text
from app.host import InputResult, NullRecorder, RunHost
from engine import simulator
from engine.constants import TICKS_PER_S
from engine.drill.judging.report_types import Report
from engine.drill.running.drill import Drill, play_inputs
from engine.drill.running.solution import find_default_end, play_solution
from engine.events import Event
from engine.inputs import Input, InputError
from engine.localization import LocalizableMessage, build_message, format_duration, format_run_time
from engine.model import to_ticks
from engine.verbs.input_lines import parse_script

FRAME_INTERVAL_S: Final = 0.016
"""Wall time between two frames while there are no requests."""
UNPRINTED_EVENT_KINDS: Final = frozenset({"sql", "errorlog", "trace"})
"""Kinds of events that are not printed, because they repeat other events or the typed line."""


def play_live(
    drill: Drill, speed: float, until_s: float | None, lines: TextIO, show_line: Callable[[str], object]
) -> None:
    """Play *drill* at *speed* simulated seconds per second.

    The run ends with the drill, at *until_s*, or at the end of *lines*. Each line is an input without its
    time and is applied when it is read. *show_line* receives events and the reasons of refused lines.
    """
    wakeup = threading.Event()
    host = RunHost()
    host.inbox.wake = wakeup.set
    host.events_occurred.connect(
        lambda events: [
            show_line(_format_line(event)) for event in events if event.kind not in UNPRINTED_EVENT_KINDS
        ]
    )
    host.open_run(drill, NullRecorder())
    host.set_speed(speed)
    reading = threading.Thread(target=_post_lines, args=(host, lines, show_line), daemon=True)
    reading.start()
    host.play()
    last = time.perf_counter()
    end = None if until_s is None else to_ticks(until_s)
    while not drill.finished and (reading.is_alive() if end is None else drill.tick < end):
        wakeup.wait(FRAME_INTERVAL_S)
        wakeup.clear()
        now_s, is_input_complete = time.perf_counter(), not reading.is_alive()
        host.on_frame((now_s - last) * 1000.0)
        last = now_s
        if is_input_complete and not host.is_running:
            break  # a question has paused the clock, and no input line is left to answer it
    host.on_frame(0.0)  # process the request of the last line
    host.close()


def _post_lines(host: RunHost, lines: TextIO, show_line: Callable[[str], object]) -> None:
    def print_result(future: Future[InputResult]) -> None:
        if future.result().refusal:
            show_line(future.result().refusal)

    for line in lines:
        if line.strip():
            host.inbox.post(line.strip()).result_future.add_done_callback(print_result)


def _format_line(event: Event) -> str:
    subject = " ".join(name for name in (event.server, event.database) if name)
    return f"{event.tick / TICKS_PER_S:9.2f} s  {subject:24} {event.text}"


INPUT_BYTES_MAX: Final = 4_000_000
"""Maximum size of a file of input lines in bytes. A busy hour has about 20 kB. Assumed."""


def _run_scenario(options: argparse.Namespace) -> int:
    scenario = load_named_scenario(options.scenario)
    drill = Drill(scenario, options.seed)
    if options.solution and not scenario.solution:
        raise UsageError(f"{scenario.name} has no reference solution")
    if options.speed is not None and (options.solution or options.inputs is not None):
        raise UsageError(
            "--speed reads lines from standard input; it cannot be used with --solution or --inputs"
        )
    inputs = [] if options.solution or options.speed is not None else _read_inputs(options.inputs, drill)
    try:
        if options.speed is not None:
            output = sys.stderr if options.json == "-" else sys.stdout
            play_live(drill, options.speed, options.until, sys.stdin, partial(print, file=output, flush=True))
        elif options.solution:
            _play_solution(drill)
        else:
            _play_inputs(drill, inputs, options.until)
    except UsageError:
        raise
    except Exception:  # an internal error: export the part of the run before it
        if options.json is not None:
            write_json(drill.build_report(), options.json)
        raise
    _export_debrief(drill, options)
    if options.json is None:
        print("\n".join(_format_run(drill)))
    else:
        write_json(drill.build_report(), options.json)
    goals_missed = any(not state.is_reached for state in drill.goals.values())
    return NEGATIVE_ANSWER if goals_missed else SUCCESS


def _read_inputs(file: str | None, drill: Drill) -> list[Input]:
    """Return the input lines of *file*. Report every line that is invalid or names an unknown object."""
    if file is None:
        return []
    inputs, problems = read_input_lines(file)
    for item in inputs:
        try:
            simulator.resolve_names(drill.world, item)
        except InputError as problem:
            problems.append(build_message("{input}: {why}", input=item.line, why=str(problem)))
    if problems:
        raise UsageError("\n".join(f"{file}: {problem}" for problem in problems))
    return inputs


def read_input_lines(file: str) -> tuple[list[Input], list[LocalizableMessage]]:
    """Return the valid input lines of *file*, and the problems of the invalid lines. Raises UsageError."""
    try:
        return parse_script(_read_lines(file))
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    except UnreadableFileError as error:
        raise UsageError(str(error)) from error


def _read_lines(file: str) -> str:
    """Read *file*, which may be a pipe. Raises OSError, UnreadableFileError, and UsageError if it is too long."""
    with nullcontext(sys.stdin.buffer) if file == "-" else open(file, "rb") as opened:
        content = opened.read(INPUT_BYTES_MAX + 1)
    if len(content) > INPUT_BYTES_MAX:
        raise UsageError(f"{file} has more than {INPUT_BYTES_MAX} bytes")
    return decode_text(content, file).replace("\r\n", "\n").replace("\r", "\n")


def _play_inputs(drill: Drill, inputs: Sequence[Input], until_s: float | None) -> None:
    last_tick = max((item.tick for item in inputs), default=0)
    end = find_default_end(drill, last_tick) if until_s is None else to_ticks(until_s)
    due_inputs = [item for item in inputs if item.tick <= end]
    play_inputs(drill, due_inputs, lambda item, problem: print(f"{item.line}: {problem}", file=sys.stderr))
    drill.advance_to(end)


def _play_solution(drill: Drill) -> None:
    try:
        play_solution(drill)
    except InputError as problem:
        raise UsageError(f"the solution of {drill.scenario.name} cannot be played: {problem}") from problem


def _export_debrief(drill: Drill, options: argparse.Namespace) -> None:
    """Export the debrief in all requested formats."""
    if not any((options.html, options.pdf, options.csv, options.runbook)):
        return
    from app.export.csv_tables import build_csv_tables
    from app.export.page import build_debrief_html
    from app.export.runbook import build_runbook
    from app.export.source import build_export_source
    from app.files import par_certificates
    from engine.drill.par.regret import analyze_regret
    from engine.generators import run_to_completion

    source = build_export_source(drill)
    if drill.scenario.scored:
        source = replace(
            source,
            regret_analysis=run_to_completion(
                analyze_regret(drill, par_certificates.load_certified_plans(drill))
            ),
        )
    if options.html:
        write_file(build_debrief_html(source), Path(options.html))
    if options.runbook:
        write_file(build_runbook(source), Path(options.runbook))
    if options.csv:
        folder = Path(options.csv)
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise UsageError(f"{folder} cannot be created: {error.strerror}") from error
        for name, content in build_csv_tables(source).items():
            write_file(content, folder / name)
    if options.pdf:
        from app.export.pdf import PdfWriteError, write_debrief_pdf

        try:
            write_debrief_pdf(source, Path(options.pdf))
        except PdfWriteError as problem:
            raise UsageError(str(problem)) from problem


def _format_run(drill: Drill) -> list[str]:
    """Format a summary of the run as a few lines of text."""
    report = drill.build_report()
    reason = f" ({drill.ended_by.value})" if drill.ended_by else ""
    lines = [
        f"{report['scenario']}, seed {report['seed']}: ended after {format_duration(report['ended_at_s'])}{reason}"
    ]
    for failover in report["failovers"]:
        failover_s = failover["failover_s"]
        took_text = format_duration(failover_s, ".2f") if failover_s is not None else "not completed"
        published = (
            f", published {format_duration(failover['published_s'])}" if "published_s" in failover else ""
        )
        direction = f"{failover['from_server']} -> {failover['to_server']}"
        lines.append(f"{failover['kind']} failover {direction} ({failover['cause']}): {took_text}{published}")
    for attempt in report["attempts"]:
        direction = f"{attempt['from_server']} -> {attempt['to_server']}"
        lines.append(f"{attempt['kind']} failover {direction} failed: {attempt['why']}")
    for batch in report["unfinished"]:
        lines.append(
            f"not finished on {batch['server']} ({batch['state']}): {batch['batch'].splitlines()[0]}"
        )
    for part in report.get("failed_parts", ()):
        lines.append(f"missing in this report because of an internal error: {part['part']} ({part['error']})")
    sums = report["availability"]
    lines.append(
        f"downtime {format_duration(sums['downtime_s'])}, unprotected {format_duration(sums['exposed_s'])}, "
        f"lost transactions {sums['lost_transactions']}"
    )
    lines += [f"[{'x' if goal['met'] else ' '}] {goal['text']}" for goal in report["goals"]]
    if report["score"]["scored"]:
        lines.append(f"score {report['score']['total']:g} of 100")
        for item in report["score"]["items"]:
            lines.append(f"  {item['points']:5g} of {item['max']:3g}  {item['name']}: {item['why']}")
    lines.append(f"state {report['state_hash']}")
    return lines


def read_recorded_run(file: str) -> tuple[Report, Drill]:
    """Read the report in *file*, and replay its run. Return both."""
    from app.files import run_files
    from app.files.guarded_player import UnplayableError

    try:
        report, text = run_files.read_run(Path(file))
        drill = run_files.replay_run(report, text)
    except (run_files.RunFileError, InputError) as problem:
        raise UsageError(str(problem)) from problem
    except UnplayableError as problem:
        raise UsageError(f"{file} cannot be replayed: {problem}") from problem
    return report, drill


def _run_replay(options: argparse.Namespace) -> int:
    from engine.drill.time import replay_verification

    report, drill = read_recorded_run(options.run)
    divergence = replay_verification.find_divergence(drill, report)
    if divergence is not None:
        print(f"{options.run} differs from the recorded run: {divergence}")
        return NEGATIVE_ANSWER
    print(
        f"{options.run} reaches the same states: {len(drill.hashes)} compared, "
        f"{len(drill.events)} events, up to {format_run_time(drill.world.t_s, 2)}, state {drill.compute_state_hash()}"
    )
    return SUCCESS


def _run_record(options: argparse.Namespace) -> int:
    from engine.drill.authoring import run_scenario

    _, drill = read_recorded_run(options.run)
    target = Path(options.target)
    name = target.name.removesuffix(".toml")
    if target.suffix != ".toml" or run_scenario.make_slug(name) != name:
        raise UsageError(
            f"{target.name} is not a valid name for a scenario; expected a lowercase name such as my-drill.toml"
        )
    if target.exists() and not options.replace:
        raise UsageError(f"{target} exists; use --replace to overwrite it")
    try:
        text = run_scenario.build_scenario_text(drill, name)
    except run_scenario.ScenarioRecordingError as problem:
        print(problem, file=sys.stderr)
        return NEGATIVE_ANSWER
    write_file(text, target)
    prompt_count = len(list(run_scenario.find_placeholders(tomllib.loads(text))))
    print(
        f"{target} written; {prompt_count} texts must still be replaced: `mirrordrill check {target}` lists them"
    )
    return SUCCESS


COMMANDS: Final = {"run": _run_scenario, "replay": _run_replay, "record": _run_record}
