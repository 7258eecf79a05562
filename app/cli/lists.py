"""Commands `mirrordrill list`, `new`, `progress`: list drills, generate a drill, show the progress."""

import argparse
import sys
from typing import Final

from app.cli.command_helpers import UsageError, print_json
from app.cli.terminal_progress import run_with_progress
from app.exit_codes import NEGATIVE_ANSWER, SUCCESS
from app.files import journal_file, learning_paths, scenario_files
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import Scenario

NAME_WIDTH: Final = 26
"""Column width in characters: the longest name in the course, and a space."""


def _run_list(options: argparse.Namespace) -> int:
    files, unreadable = scenario_files.list_all_files()
    scenarios: list[tuple[Scenario, bool]] = []
    for file in files:
        try:
            scenarios.append((file.load(), file.shipped))
        except ScenarioError as problems:
            unreadable.append(str(problems))
    if options.course:
        scenarios = [
            entry for entry in scenarios if entry[1] and entry[0].name in journal_file.load_course_drills()
        ]
        scenarios.sort(key=lambda pair: journal_file.get_course_position(pair[0].name))
    if options.json:
        print_json([_build_list_entry(scenario, shipped) for scenario, shipped in scenarios])
    elif options.course:
        _print_course([scenario for scenario, _ in scenarios])
    else:
        width = max(len(scenario.name) for scenario, _ in scenarios)
        for scenario, shipped in scenarios:
            mark = "" if shipped else " (yours)"
            print(
                f"{scenario.name:{width}}  {scenario.minutes:3d} min  {scenario.level:12}  {scenario.title}{mark}"
            )
    for problem in unreadable:
        print(problem, file=sys.stderr)
    return NEGATIVE_ANSWER if unreadable else SUCCESS


def _generate_drill(options: argparse.Namespace) -> int:
    from app.files import generated_drills

    scenarios = [scenario_files.find_scenario_file(name).load() for name in generated_drills.GENERATOR_NAMES]
    work = generated_drills.generate_drill(
        generated_drills.draw_candidates(scenarios, options.level), options.level
    )
    drill = run_with_progress(
        work, lambda share: f"proving and measuring drill {1 + int(share * generated_drills.ATTEMPTS_MAX)}"
    )
    if drill is None:
        print("Could not generate a drill. Try again.", file=sys.stderr)
        return NEGATIVE_ANSWER
    if options.json:
        print_json(
            {"name": drill.scenario.name, "seed": drill.seed, "minutes": drill.scenario.minutes}
            | drill.certificate
        )
    else:
        print(drill.description)
        print(f"mirrordrill run {drill.scenario.name} --seed {drill.seed} --speed 1")
    return SUCCESS if drill.difficulty == options.level else NEGATIVE_ANSWER


def _print_course(scenarios: list[Scenario]) -> None:
    part = 0
    for scenario in scenarios:
        lesson = journal_file.load_course_drills()[scenario.name]
        if lesson.part != part:
            part = lesson.part
            print(f"{part}. {lesson.part_title}")
        print(f"   {scenario.name:{NAME_WIDTH}} {scenario.minutes:3d} min  {lesson.teaches}")


def _build_list_entry(scenario: Scenario, shipped: bool) -> dict[str, object]:
    key = learning_paths.find_technology(scenario, shipped)
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
        "technology": key,
        "path": learning_paths.load_learning_paths()[key].title,
        "path_place": learning_paths.get_position_in_path(scenario.name) if shipped else None,
        "version": learning_paths.find_version(scenario),
        "course": journal_file.load_course_drills()[scenario.name].position
        if scenario.name in journal_file.load_course_drills()
        else None,
    }


def _show_progress(options: argparse.Namespace) -> int:
    from datetime import UTC, datetime

    from app.files import summary_cache
    from app.files.folders import get_profile_folder
    from app.storage import ResultRow, StorageError, open_profile
    from app.storage.database import PROFILE_FILE_NAME
    from app.view_models import progress
    from engine.drill.judging.report_types import ReportRow

    folder, rows, answers = get_profile_folder(), list[ResultRow](), list[ReportRow]()
    try:
        if (folder / PROFILE_FILE_NAME).exists():  # a listing must not create a profile
            with open_profile(folder) as profile:
                rows, answers = profile.list_results(), profile.list_answers()
    except StorageError as problem:
        raise UsageError(str(problem)) from problem
    files, _ = scenario_files.list_all_files()
    scenario_summaries, _ = summary_cache.read_summaries(files, folder if rows else None)
    learner_progress = progress.compute_progress(rows, scenario_summaries, datetime.now(UTC), answers)
    titles = {summary.name: summary.title for summary in scenario_summaries}
    if options.json:
        print_json(progress.convert_progress_to_json(learner_progress, titles))
    else:
        print("\n".join(progress.format_progress_lines(learner_progress, titles)))
    return SUCCESS


COMMANDS: Final = {"list": _run_list, "new": _generate_drill, "progress": _show_progress}
