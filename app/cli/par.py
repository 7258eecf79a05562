"""Commands `mirrordrill par` and `regret`: the best result of a drill, and the losses of a run compared with it."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.cli.command_helpers import UsageError, load_named_scenario, write_json
from app.cli.processes import use_cluster
from app.cli.terminal_progress import ProgressPrinter, catch_interrupts, run_with_progress
from app.exit_codes import SUCCESS
from app.files import par_certificates
from app.files.file_content import UnreadableFileError, decode_text, read_bytes
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.json_text import parse_json

if TYPE_CHECKING:
    from engine.drill.authoring.schema import Scenario
    from engine.drill.par.certificate_types import ParCertificate
    from engine.drill.par.regret_analysis import BoundGap, LastChance, RegretAnalysis, RunSegment
    from engine.drill.par.search import DecisionTester, ParSearch

CERTIFICATE_BYTES_MAX: Final = 1_000_000
"""Maximum size of a certificate in bytes. The largest shipped certificate has 11,194 (`ls -lS assets/par`)."""

PARALLEL_SEARCH_MIN_S: Final = 20.0
"""Minimum duration of a search for which several processes are useful.

Measured: a process needs 1.3 s of processor time to start.
"""

WORKERS_PER_PROCESSOR_MAX: Final = 4
"""Maximum number of processes per processor. More processes only use memory, about 200 MB each. Assumed."""

LISTED_LOSS_MIN_POINTS: Final = 0.05
"""Minimum loss of a listed wait in points. A smaller loss would be printed as 0."""


def _run_par(options: argparse.Namespace) -> int:
    scenario = load_named_scenario(options.scenario)
    workers_max = WORKERS_PER_PROCESSOR_MAX * (os.cpu_count() or 1)
    if options.workers is not None and not 1 <= options.workers <= workers_max:
        raise UsageError(f"--workers must be from 1 to {workers_max}, not {options.workers}")
    if not scenario.scored:
        raise UsageError(f"{scenario.name} is not scored, so it has no best result")
    seed = scenario.seed if options.seed is None else options.seed
    text_hash = hashlib.sha256(scenario.text.encode()).hexdigest()
    earlier_certificate = (
        None if options.earlier is None else _read_certificate(Path(options.earlier), seed, text_hash)
    )
    with use_cluster(options.on), _distribute_work(scenario, seed, options) as spread:
        certificate = _search_certificate(scenario, seed, options.seconds, spread, earlier_certificate)
    certificate["hashes"]["scenario"] = text_hash
    if options.json is not None:
        write_json(certificate, options.json)
    else:
        print("\n".join(_format_certificate(certificate)))
    for problem in (
        *_explain_refused_step(scenario, seed),
        *par_certificates.list_certificate_warnings(certificate, options.scenario),
    ):
        print(problem, file=sys.stderr)
    return SUCCESS


def _explain_refused_step(scenario: Scenario, seed: int) -> list[str]:
    """Return the reason why the reference solution cannot be played to its end.

    The list is empty if the solution can be played.
    """
    from engine.drill.running.solution import play_reference
    from engine.inputs import InputError

    try:
        play_reference(scenario, seed)
    except InputError as problem:
        text = tr("the reference solution cannot be played: {problem}")
        return [f"{scenario.name}: {text.format(problem=problem)}"]
    return []


def _read_certificate(file: Path, seed: int, text_hash: str) -> ParCertificate:
    """Read a certificate of `par --json` for exactly this drill and seed. Raises UsageError."""
    from engine.drill.par.certificate import read_clairvoyant_plan, read_fair_plans

    try:
        certificate: ParCertificate = parse_json(
            decode_text(read_bytes(file, CERTIFICATE_BYTES_MAX), str(file))
        )
        of_this = (certificate["hashes"]["scenario"], certificate["seed"]) == (text_hash, seed)
        if of_this:
            # raises an error for unreadable plans
            (
                read_fair_plans(certificate),
                read_clairvoyant_plan(certificate),
            )
    except UnreadableFileError as error:
        raise UsageError(str(error)) from error
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise UsageError(f"{file} was not written by par --json") from error
    if not of_this:
        raise UsageError(f"{file} belongs to another version or seed of the scenario")
    return certificate


def _distribute_work(
    scenario: Scenario, seed: int, options: argparse.Namespace
) -> AbstractContextManager[DecisionTester | None]:
    """Return a context that distributes work over processes. It yields None if one process is enough."""
    from app.cli.distributed_search import distribute_search

    default_workers = os.cpu_count() or 1 if options.seconds >= PARALLEL_SEARCH_MIN_S else 1
    workers = None if options.on != "local" else options.workers or default_workers
    if workers == 1 or options.seconds == 0.0:
        return nullcontext()
    return distribute_search(scenario, seed, workers)


def _search_certificate(
    scenario: Scenario,
    seed: int,
    seconds: float,
    spread: DecisionTester | None,
    earlier_certificate: ParCertificate | None = None,
) -> ParCertificate:
    """Search for a certificate within *seconds*. After Ctrl+C, use the results so far.

    *spread*: function that distributes the search over processes, or None. *earlier_certificate*: certificate
    to improve.
    """
    from engine.drill.par.certificate import CertificateBuilder

    work, progress = CertificateBuilder(scenario, seed, spread, earlier_certificate), ProgressPrinter()
    with catch_interrupts() as stop:

        def is_time_over(share: float = 1.0) -> bool:
            """Return whether *share* of the time limit has passed, or Ctrl+C was pressed."""
            return stop() or progress.elapsed_s >= share * seconds

        for share in work.run_steps():  # each search plays its initial plans, even after the time limit
            if is_time_over(share):
                work.end_search()
            progress.report(_format_progress(work.now), f" of {seconds:g} s")
        return work.build_certificate(is_time_over)


def _format_progress(search: ParSearch) -> str:
    best = f", best {search.best.score:g}" if search.best is not None else ""
    return f"{search.node_count} nodes of the {'fair' if search.fair else 'clairvoyant'} search{best}"


def _run_regret(options: argparse.Namespace) -> int:
    from app.cli.runs import read_recorded_run
    from engine.drill.par.regret import analyze_regret

    _, drill = read_recorded_run(options.run)
    if not drill.scenario.scored:
        raise UsageError(f"{drill.scenario.name} is not scored, so no points can be lost")
    regret_analysis = run_with_progress(
        analyze_regret(drill, par_certificates.load_certified_plans(drill)),
        lambda _: "computing the cost of actions and waits",
    )
    print("\n".join(_format_regret_analysis(regret_analysis)))
    return SUCCESS


def _format_regret_analysis(regret_analysis: RegretAnalysis) -> list[str]:
    """Format one row for each action, and for each wait that lost points."""
    rows = ["   from s      to s  before   after  label       action"]
    for move in regret_analysis.moves:
        if move.line or move.regret >= LISTED_LOSS_MIN_POINTS:
            times = f"{move.tick / TICKS_PER_S:9.2f} {move.until / TICKS_PER_S:9.2f}"
            rows.append(
                f"{times} {move.before:7.1f} {move.after:7.1f}  {move.label:<11} {move.line or 'waiting'}"
            )
    first_value, earned = (
        (regret_analysis.moves[0].before, regret_analysis.moves[-1].after)
        if regret_analysis.moves
        else (0.0, 0.0)
    )
    rows.append(f"{first_value:.1f} points were possible at the start, {earned:.1f} were reached")
    rows.append(_format_certainty(regret_analysis.largest_gap))
    rows.append(
        f"accuracy {regret_analysis.accuracy:.1f} of 100: how close actions and waits came to the best choice"
    )
    return rows + _format_better_action(regret_analysis.last_chance, regret_analysis.worst)


def _format_certainty(bound_gap: BoundGap | None) -> str:
    if bound_gap is None:
        return "a higher score was not possible at any time"
    return (
        f"a higher score may have been possible: at {bound_gap.tick / TICKS_PER_S:.2f} s the best known score is "
        f"{bound_gap.value:.1f}, and up to {bound_gap.upper_bound:.1f} may be possible"
    )


def _format_better_action(last_chance: LastChance | None, worst: RunSegment | None) -> list[str]:
    """Format the last chance to reach all goals, and the better actions instead of the mistake *worst*.

    If both consist of the same actions, format these actions only once.
    """
    rows = []
    if last_chance is not None and worst is not None and _is_same_advice(last_chance, worst):
        rows.append(
            f"all goals could be reached until {last_chance.tick / TICKS_PER_S:g} s, best with these steps:"
        )
    else:
        if last_chance is not None:
            rows.append(
                f"all goals could be reached until {last_chance.tick / TICKS_PER_S:g} s, with these steps:"
            )
            rows += [f"    {item.line}" for item in last_chance.remaining_actions]
        if worst is not None:
            rows.append(f"better from {worst.tick / TICKS_PER_S:g} s on:")
    if worst is not None:
        rows += [f"    {item.line}" for item in worst.best] or ["    do nothing more"]
    return rows


def _is_same_advice(last_chance: LastChance, worst: RunSegment) -> bool:
    words = [
        [item.line_without_time for item in acts] for acts in (last_chance.remaining_actions, worst.best)
    ]
    return last_chance.tick == worst.tick and words[0] == words[1]


def _format_certificate(certificate: ParCertificate) -> list[str]:
    reference, last_chance_s = certificate["reference"]["score"], certificate["point_of_no_return_s"]
    completeness = (
        "all plans were tried" if certificate["complete"] else f"best of {certificate['nodes']} plans"
    )
    if certificate["optimal"] and not certificate["complete"]:
        completeness += ", and no plan can score higher"
    lines = [f"{certificate['scenario']}, seed {certificate['seed']}: {completeness}"]
    lines.append(
        f"fair score {certificate['par']['score']:g}, clairvoyant score {certificate['clairvoyant']['score']:g}"
    )
    lines.append(
        "no reference solution" if reference is None else f"score of the reference solution {reference:g}"
    )
    if last_chance_s is not None:
        lines.append(f"all goals are still reachable if the first action is before {last_chance_s:g} s")
    robust = certificate["robust"]
    if robust is not None and robust["seeds"]:
        text = (
            "with {seeds} other seeds, the most robust plan scores {least:g} to {most:g}, on average {mean:g}"
        )
        lines.append(text.format(**robust))
    return [*lines, *(certificate["par"]["plan"] or ["no action is needed"])]


COMMANDS: Final = {"par": _run_par, "regret": _run_regret}
