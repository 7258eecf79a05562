"""Command `mirrordrill check`: it reports every problem of scenario files and bundles."""

import argparse
from pathlib import Path
from typing import Final

from app.cli import bundles
from app.cli.command_helpers import UsageError, print_json
from app.exit_codes import NEGATIVE_ANSWER, SUCCESS
from app.files import bundle, par_certificates, scenario_files
from engine.drill.authoring.lint import list_warnings
from engine.drill.authoring.problems import FileProblem, ScenarioError
from engine.drill.authoring.scenario import build_schema


def _run_check(options: argparse.Namespace) -> int:
    if options.schema:
        print_json(build_schema())
        return SUCCESS
    if not options.files:
        raise UsageError("check needs a FILE, or --schema")
    found_problems: list[FileProblem] = []
    missing: list[str] = []
    for name in options.files:
        if name.endswith(bundle.BUNDLE_SUFFIX):
            found_problems += bundles.find_bundle_problems(Path(name))
            continue
        try:
            file = scenario_files.find_scenario_file(name)
        except scenario_files.ScenarioNotFoundError as unknown:
            missing.append(str(unknown))
            continue
        try:
            scenario = file.load()
            found_problems += list_warnings(scenario, file.file)
            if (certificate := par_certificates.load_certificate(scenario)) is not None:
                found_problems += par_certificates.list_certificate_warnings(certificate, file.file)
        except ScenarioError as broken:
            found_problems += broken.problems
    if options.json:
        print_json([problem.as_json() for problem in found_problems])
    else:
        for problem in found_problems:
            print(problem)
        count = len(options.files) - len(missing)
        problems = _format_count(len(found_problems), "problem") if found_problems else "no problem"
        if count:
            print(f"{_format_count(count, 'file')}: {problems}")
    if missing:
        raise UsageError("\n".join(missing))
    return NEGATIVE_ANSWER if found_problems else SUCCESS


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


COMMANDS: Final = {"check": _run_check}
