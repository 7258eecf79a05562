"""The command line. Everything but the window itself; exit codes: 0 as asked, 1 the answer is no, 2 unusable."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from app import bundle, bundle_commands, scenario_files
from app.exit_codes import ANSWER_IS_NO, AS_ASKED, UNUSABLE
from app.scenario_files import NoScenario
from engine import simulator
from engine.drill.drill import Drill, play_inputs
from engine.drill.lint import lint
from engine.drill.problems import Problem, ScenarioProblems
from engine.drill.report import plain, program_version
from engine.drill.scenario import Scenario, load_scenario, schema
from engine.drill.solution import default_end, play_solution
from engine.inputs import Input, InputProblem, parse_script
from engine.model import ticks

if TYPE_CHECKING:
    from engine.drill.agents import Ranking

INPUTS_MAX: Final = 4_000_000
"""Characters of a file of input lines; a lively hour is some 20 kB. Assumed."""

OpenWindow = Callable[[Scenario | None], int]
"""Shows the window, on a scenario if one is given; returns the exit code."""


class Unusable(Exception):
    """Arguments or files that cannot be used; the text says why."""


def main(arguments: Sequence[str], open_window: OpenWindow) -> int:
    """Do what *arguments* ask for; returns the exit code. Only *open_window* knows Qt."""
    try:
        options = _parser().parse_args(list(arguments))
    except SystemExit as stop:  # argparse has said why, or printed its help
        return stop.code if isinstance(stop.code, int) else UNUSABLE
    try:
        if options.command is None:
            return open_window(None)
        if options.command == "drill":
            return open_window(_loaded(options.scenario))
        command: Callable[[argparse.Namespace], int] = COMMANDS[options.command]
        return command(options)
    except ScenarioProblems as problems:
        return _refuse(str(problems))
    except (Unusable, NoScenario) as problem:
        return _refuse(f"mirrordrill: {problem}")


def _refuse(text: str) -> int:
    print(text, file=sys.stderr)
    return UNUSABLE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mirrordrill",
        description="Practise failover of mirrored SQL Server databases. Without a command it opens the window.",
    )
    parser.add_argument("--version", action="version", version=f"mirrordrill {program_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def command(name: str, help: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=help, description=help)

    command("drill", "open the window on a drill").add_argument("scenario", metavar="NAME|FILE")
    command("list", "the shipped and your own scenarios").add_argument(
        "--json", action="store_true", help="as JSON"
    )
    run = command("run", "play a scenario without a window")
    run.add_argument("scenario", metavar="NAME|FILE")
    played = run.add_mutually_exclusive_group()
    played.add_argument("--inputs", metavar="FILE", help="input lines to do; - reads standard input")
    played.add_argument("--solution", action="store_true", help="play the scenario's reference solution")
    run.add_argument("--seed", type=int, metavar="N", help="another seed than the scenario's")
    run.add_argument("--until", type=float, metavar="SECONDS", help="when to end")
    run.add_argument("--json", metavar="FILE", help="write the report; - is standard output")
    run.add_argument("--html", metavar="FILE", help="write the debrief as a page")
    run.add_argument("--pdf", metavar="FILE", help="write the debrief for print: one page and an annex")
    run.add_argument("--csv", metavar="FOLDER", help="write events, readings and score as tables")
    run.add_argument("--runbook", metavar="FILE", help="write what was done as a commented SQL script")
    check = command("check", "every problem of scenario files and bundles: line, column, what was expected")
    check.add_argument("files", nargs="*", metavar="FILE")
    check.add_argument("--json", action="store_true", help="as JSON")
    check.add_argument(
        "--schema", action="store_true", help="print the JSON Schema of scenario files, for editors"
    )
    bundle_commands.add_arguments(
        command("bundle", "drills in one file, to hand on: make, show, add, list, remove")
    )
    replay = command("replay", "play a recorded run again and compare it, state by state")
    replay.add_argument("run", metavar="RUN.json", help="as `run --json` or the debrief writes it")
    record = command(
        "record", "make a scenario of a recorded run: its faults the timeline, its repairs the solution"
    )
    record.add_argument("run", metavar="RUN.json", help="as `run --json` or the debrief writes it")
    record.add_argument(
        "--as", dest="target", required=True, metavar="FILE", help="the scenario, a .toml file"
    )
    agents = command("agents", "whether points go to the right players: reference, nothing, random, exploits")
    agents.add_argument(
        "scenarios", nargs="*", metavar="NAME|FILE", help="which; all that are scored, if none"
    )
    agents.add_argument("--seed", type=int, metavar="N", help="another seed than the scenarios'")
    agents.add_argument("--json", metavar="FILE", help="write the rankings; - is standard output")
    command("progress", "your skills, what is due, and what to take next").add_argument(
        "--json", action="store_true", help="as JSON"
    )
    fidelity = command("fidelity", "the papers' figures beside ours")
    bench = command("bench", "how fast this machine simulates")
    for figures in (fidelity, bench):
        figures.add_argument("--json", metavar="FILE", help="write the figures; - is standard output")
    doctor = command("doctor", "whether everything that Mirrordrill needs works here")
    doctor.add_argument("--bundle", metavar="FILE", help="also write what helps support into a zip file")
    doctor.add_argument(
        "--export", metavar="FILE", help="instead, write all of the profile as JSON, read only"
    )
    doctor.add_argument("--renew-replay", metavar="FILE", help=argparse.SUPPRESS)
    return parser


# --- list ---------------------------------------------------------------------------------------------------


def _list(options: argparse.Namespace) -> int:
    files, unreadable = scenario_files.all_files()
    scenarios: list[tuple[Scenario, bool]] = []
    for file in files:
        try:
            scenarios.append((file.load(), file.shipped))
        except ScenarioProblems as problems:
            unreadable.append(str(problems))
    if options.json:
        _print_json([_listed(scenario, shipped) for scenario, shipped in scenarios])
    else:
        width = max(len(scenario.name) for scenario, _ in scenarios)
        for scenario, shipped in scenarios:
            mark = "" if shipped else " (yours)"
            print(
                f"{scenario.name:{width}}  {scenario.minutes:3d} min  {scenario.level:12}  {scenario.title}{mark}"
            )
    for problem in unreadable:
        print(problem, file=sys.stderr)
    return ANSWER_IS_NO if unreadable else AS_ASKED


def _listed(scenario: Scenario, shipped: bool) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "title": scenario.title,
        "summary": scenario.summary,
        "level": scenario.level,
        "minutes": scenario.minutes,
        "skills": list(scenario.skills),
        "sources": [source.model_dump() for source in scenario.sources],
        "scored": scenario.scored,
        "shipped": shipped,
    }


# --- run ----------------------------------------------------------------------------------------------------


def _run(options: argparse.Namespace) -> int:
    scenario = _loaded(options.scenario)
    _check_seed(options.seed)
    if options.until is not None and not 0.0 <= options.until <= 1e6:
        raise Unusable(f"--until {options.until:g} is not from 0 to 1e6 seconds")
    drill = Drill(scenario, options.seed)
    if options.solution:
        if not scenario.solution:
            raise Unusable(f"{scenario.name} has no reference solution")
        _play_solution(drill)
    else:
        _play_inputs(drill, _inputs(options.inputs, drill), options.until)
    _export(drill, options)
    if options.json is None:
        print("\n".join(_told(drill)))
    else:
        _write_json(drill.report(), options.json)
    goals_missed = any(not state.met for state in drill.goals.values())
    return ANSWER_IS_NO if goals_missed else AS_ASKED


def _check_seed(seed: int | None) -> None:
    if seed is not None and not 0 <= seed < 2**63:
        raise Unusable(f"--seed {seed} is not from 0 to 2**63 - 1")


def _loaded(name_or_path: str) -> Scenario:
    return scenario_files.find(name_or_path).load()


def _inputs(file: str | None, drill: Drill) -> list[Input]:
    """The input lines of *file*; every line that cannot be understood or names what is not there is told."""
    if file is None:
        return []
    try:
        text = _read_lines(file)
    except OSError as error:
        raise Unusable(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Unusable(f"{file} is not text in UTF-8 (byte {error.start + 1})") from error
    inputs, problems = parse_script(text)
    for item in inputs:
        try:
            simulator.resolve(drill.world, item)
        except InputProblem as problem:
            problems.append(f"{item.line}: {problem}")
    if problems:
        raise Unusable("\n".join(f"{file}: {problem}" for problem in problems))
    return inputs


def _read_lines(file: str) -> str:
    """All of *file* unless it is too much. Raises OSError, UnicodeDecodeError, Unusable."""
    if file == "-":
        text = sys.stdin.read(INPUTS_MAX + 1)
    else:
        with open(file, encoding="utf-8") as opened:
            text = opened.read(INPUTS_MAX + 1)
    if len(text) > INPUTS_MAX:
        raise Unusable(f"{file} has more than {INPUTS_MAX} characters")
    return text


def _play_inputs(drill: Drill, inputs: Sequence[Input], until_s: float | None) -> None:
    last = max((item.tick for item in inputs), default=0)
    end = default_end(drill, last) if until_s is None else ticks(until_s)
    due = [item for item in inputs if item.tick <= end]
    play_inputs(drill, due, lambda item, problem: print(f"{item.line}: {problem}", file=sys.stderr))
    drill.advance_to(end)


def _play_solution(drill: Drill) -> None:
    try:
        play_solution(drill)
    except InputProblem as problem:
        raise Unusable(f"the solution of {drill.scenario.name} cannot be played: {problem}") from problem


def _export(drill: Drill, options: argparse.Namespace) -> None:
    """The debrief in whatever forms were asked for."""
    if not any((options.html, options.pdf, options.csv, options.runbook)):
        return
    from app.export.page import page
    from app.export.runbook import runbook
    from app.export.sheets import sheets
    from app.export.source import source_of

    source = source_of(drill)
    if options.html:
        _write(page(source), Path(options.html))
    if options.runbook:
        _write(runbook(source), Path(options.runbook))
    if options.csv:
        folder = Path(options.csv)
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise Unusable(f"{folder} cannot be made: {error.strerror}") from error
        for name, content in sheets(source).items():
            _write(content, folder / name)
    if options.pdf:
        from app.export.pdf import NoPdf, write_pdf

        try:
            write_pdf(source, Path(options.pdf))
        except NoPdf as problem:
            raise Unusable(str(problem)) from problem


def _told(drill: Drill) -> list[str]:
    """The run in a few lines for people."""
    report = drill.report()
    why = f" ({drill.ended_by})" if drill.ended_by else ""
    lines = [f"{report['scenario']}, seed {report['seed']}: ended at {report['ended_at_s']:g} s{why}"]
    for failover in report["failovers"]:
        took = failover["failover_s"]
        took_text = f"{took:.2f} s" if took is not None else "not completed"
        published = f", published {failover['published_s']:g} s" if "published_s" in failover else ""
        way = f"{failover['from_server']} -> {failover['to_server']}"
        lines.append(f"{failover['kind']} failover {way} ({failover['cause']}): {took_text}{published}")
    sums = report["availability"]
    lines.append(
        f"downtime {sums['downtime_s']:g} s, exposed {sums['exposed_s']:g} s, "
        f"lost transactions {sums['lost_transactions']}"
    )
    lines += [f"[{'x' if goal['met'] else ' '}] {goal['text']}" for goal in report["goals"]]
    if report["score"]["scored"]:
        lines.append(f"score {report['score']['total']:g} of 100")
        for item in report["score"]["items"]:
            lines.append(f"  {item['points']:5g} of {item['max']:3g}  {item['name']}: {item['why']}")
    lines.append(f"state {report['state_hash']}")
    return lines


# --- check --------------------------------------------------------------------------------------------------


def _check(options: argparse.Namespace) -> int:
    if options.schema:
        _print_json(schema())
        return AS_ASKED
    if not options.files:
        raise Unusable("check needs a FILE, or --schema")
    found: list[Problem] = []
    for name in options.files:
        if name.endswith(bundle.SUFFIX):
            found += bundle_commands.problems_of(Path(name))
            continue
        file = scenario_files.find(name)
        try:
            found += lint(file.load(), file.file)
        except ScenarioProblems as problems:
            found += problems.problems
    if options.json:
        _print_json([problem.as_json() for problem in found])
    else:
        for problem in found:
            print(problem)
        count = len(options.files)
        print(f"{len(found)} problem(s) in {count} file(s)" if found else f"{count} file(s), no problem")
    return ANSWER_IS_NO if found else AS_ASKED


# --- replay, record -----------------------------------------------------------------------------------------


def _recorded_run(file: str) -> tuple[dict[str, Any], Drill]:
    """The report in *file* and its run, played again."""
    from app import run_files
    from engine.drill import verify

    try:
        report, text = run_files.read(Path(file))
        scenario = load_scenario(text, f"{report['scenario']}.toml")
        return report, verify.played_again(scenario, report)
    except (run_files.NoRun, InputProblem) as problem:
        raise Unusable(str(problem)) from problem


def _replay(options: argparse.Namespace) -> int:
    from engine.drill import verify

    report, drill = _recorded_run(options.run)
    found = verify.divergence(drill, report)
    if found is not None:
        print(f"{options.run} does not play again as it was recorded: {found}")
        return ANSWER_IS_NO
    print(
        f"{options.run} plays again to the same states: {len(drill.hashes)} compared, "
        f"{len(drill.events)} events, to {drill.world.t_s:g} s, state {drill.state_hash()}"
    )
    return AS_ASKED


def _record(options: argparse.Namespace) -> int:
    from engine.drill import recorded

    _, drill = _recorded_run(options.run)
    target = Path(options.target)
    name = target.name.removesuffix(".toml")
    if target.suffix != ".toml" or recorded.slug(name) != name:
        raise Unusable(f"{target.name} is no name for a scenario: it is like my-drill.toml, in small letters")
    try:
        text = recorded.scenario_from_drill(drill, name)
    except recorded.CannotRecord as problem:
        print(problem, file=sys.stderr)
        return ANSWER_IS_NO
    _write(text, target)
    left = len(list(recorded.prompts(tomllib.loads(text))))
    print(f"{target} is written; {left} texts are left to you: `mirrordrill check {target}` names them")
    return AS_ASKED


# --- agents -------------------------------------------------------------------------------------------------


def _rank(job: tuple[str, str, int | None]) -> Ranking:
    """In a process of its own: a scenario by its name and text."""
    from engine.drill import agents

    name, text, seed = job
    return agents.rank(load_scenario(text, f"{name}.toml"), seed)


def _ranked(scenarios: Sequence[Scenario], seed: int | None) -> Iterator[Ranking]:
    """Each scenario's ranking, in order; many are shared out among the processors."""
    jobs = [(scenario.name, scenario.text, seed) for scenario in scenarios]
    workers = min(len(jobs), os.cpu_count() or 1)
    if workers <= 1:
        yield from map(_rank, jobs)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_rank, jobs)


def _agents(options: argparse.Namespace) -> int:
    from engine.drill import agents

    _check_seed(options.seed)
    files = [scenario_files.find(name) for name in options.scenarios] or scenario_files.all_files()[0]
    scenarios = [scenario for file in files if (scenario := file.load()).scored]
    rankings = list(_ranked(scenarios, options.seed))
    if options.json is not None:
        _write_json([ranking.as_json() for ranking in rankings], options.json)
    else:
        print(agents.table(rankings))
    return ANSWER_IS_NO if any(ranking.wrong for ranking in rankings) else AS_ASKED


# --- progress -----------------------------------------------------------------------------------------------


def _progress(options: argparse.Namespace) -> int:
    from datetime import UTC, datetime

    from app import progress, summaries
    from app.folders import default_folder
    from app.storage import ResultRow, StorageProblem, open_profile
    from app.storage.database import FILE_NAME

    folder, rows = default_folder(), list[ResultRow]()
    try:
        if (folder / FILE_NAME).exists():  # looking makes no profile
            with open_profile(folder) as profile:
                rows = profile.results()
    except StorageProblem as problem:
        raise Unusable(str(problem)) from problem
    files, _ = scenario_files.all_files()
    known, _ = summaries.read(files, folder if rows else None)
    found = progress.progress(rows, known, datetime.now(UTC))
    titles = {summary.name: summary.title for summary in known}
    if options.json:
        _print_json(progress.as_json(found, titles))
    else:
        print("\n".join(progress.told(found, titles)))
    return AS_ASKED


# --- fidelity, bench, doctor --------------------------------------------------------------------------------


def _fidelity(options: argparse.Namespace) -> int:
    from engine.published import fidelity

    rows = fidelity.fidelity_rows()
    counts = fidelity.summary(rows)
    if options.json is not None:
        _write_json({"rows": [plain(row.as_json()) for row in rows], "summary": counts}, options.json)
    else:
        print(fidelity.render(rows))
    return ANSWER_IS_NO if counts["unexplained"] else AS_ASKED


def _bench(options: argparse.Namespace) -> int:
    from app import bench

    figures = bench.bench_rows()
    if options.json is not None:
        _write_json({"figures": [plain(figure.as_json()) for figure in figures]}, options.json)
    else:
        width = max(len(figure.name) for figure in figures)
        for figure in figures:
            ratio = f"x {figure.ratio:,.4g}" if figure.ratio is not None else ""
            value = f"{figure.value:,.4g}" if isinstance(figure.value, float) else figure.value
            print(f"{figure.name:{width}}  {value:>12} {figure.unit:18} {ratio:>12}  {figure.against}")
    return AS_ASKED


def _doctor(options: argparse.Namespace) -> int:
    from app import doctor, golden, support
    from app.storage import StorageProblem

    if options.export is not None:
        try:
            rows = doctor.export(Path(options.export))
        except StorageProblem as problem:
            raise Unusable(str(problem)) from problem
        print(f"{rows} rows written to {options.export}")
        return AS_ASKED
    if options.renew_replay is not None:
        Path(options.renew_replay).write_text(golden.as_text(golden.play()), encoding="utf-8")
        return AS_ASKED
    well = True
    findings: list[doctor.Finding] = []
    for finding in doctor.examine():
        print(f"{'ok  ' if finding.well else 'FAIL'} {finding.name}: {finding.text}", flush=True)
        well = well and finding.well
        findings.append(finding)
    if options.bundle is not None:
        try:
            with doctor.profile_if_any() as profile:
                members = support.write_bundle(Path(options.bundle), findings, profile)
        except support.NoBundle as problem:
            raise Unusable(str(problem)) from problem
        print(f"{options.bundle} holds {', '.join(members)}; read it before you send it")
    return AS_ASKED if well else ANSWER_IS_NO


# --- JSON ---------------------------------------------------------------------------------------------------


def _print_json(value: Any) -> None:
    print(_as_json(value))


def _as_json(value: Any) -> str:
    """One line for each of the outermost parts: short to read, small where there are readings."""
    inside = (json.dumps(part, allow_nan=False, ensure_ascii=False) for part in value)
    if isinstance(value, dict):
        inside = (
            f"{json.dumps(key)}: {json.dumps(part, allow_nan=False, ensure_ascii=False)}"
            for key, part in value.items()
        )
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{(',' + chr(10)).join(inside)}\n{closing}"


def _write_json(value: Any, file: str) -> None:
    if file == "-":
        _print_json(value)
    else:
        _write(_as_json(value) + "\n", Path(file))


def _write(content: str, file: Path) -> None:
    try:
        file.write_text(content, encoding="utf-8", newline="")
    except OSError as error:
        raise Unusable(f"{file} cannot be written: {error.strerror}") from error


COMMANDS: Final[dict[str, Callable[[argparse.Namespace], int]]] = {
    "list": _list,
    "run": _run,
    "check": _check,
    "bundle": bundle_commands.run,
    "replay": _replay,
    "record": _record,
    "agents": _agents,
    "progress": _progress,
    "fidelity": _fidelity,
    "bench": _bench,
    "doctor": _doctor,
}
"""What each command does; `drill` and none open the window."""
