"""Command line: everything except the window. Exit codes: 0 success, 1 the answer is no, 2 invalid use.

A module adds its commands in `add_to`, and sets the function that executes them as the parser's default `do`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Final

from app.cli import bundles, checks, classes, lists, measures, par, runs, serve, support, sweep
from app.cli.terms import UsageError, check_file, loaded
from app.exit_codes import UNUSABLE
from app.files.scenario_files import ScenarioNotFoundError
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import Scenario
from engine.drill.judging.report import program_version
from engine.flow import compiled

OpenWindow = Callable[[Scenario | None], int]
"""Function that shows the window, on a scenario if one is given, and returns the exit code."""

MODULES: Final = (lists, runs, serve, classes, par, sweep, checks, bundles, measures, support)
"""Modules in the order of their commands in the help."""


def main(arguments: Sequence[str], open_window: OpenWindow) -> int:
    """Execute the command *arguments* and return the exit code. Only *open_window* imports Qt."""
    try:
        options = _parser().parse_args(list(arguments))
    except SystemExit as stop:  # argparse has printed the reason or its help
        return stop.code if isinstance(stop.code, int) else UNUSABLE
    try:
        if options.command is None:
            return open_window(None)
        if options.command == "drill":
            return open_window(loaded(options.scenario))
        for result in (getattr(options, "json", None), getattr(options, "plot", None)):
            if isinstance(result, str):
                check_file(result)
        do: Callable[[argparse.Namespace], int] = options.do
        compiled.report_fallback = _report_fallback
        return do(options)
    except ScenarioError as problems:
        return _refuse(str(problems))
    except (UsageError, ScenarioNotFoundError) as problem:
        return _refuse(f"mirrordrill: {problem}")


def _report_fallback(reason: str) -> None:
    text = f"mirrordrill: the flow model runs as plain Python, which gives the same results slowly: {reason}"
    print(text, file=sys.stderr, flush=True)


def _refuse(text: str) -> int:
    print(text, file=sys.stderr)
    return UNUSABLE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mirrordrill",
        description="Practice SQL Server failover. Without a command, the window opens.",
    )
    parser.add_argument("--version", action="version", version=f"mirrordrill {program_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def command(name: str, help: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=help, description=help)

    command("drill", "open the window on a drill").add_argument("scenario", metavar="NAME|FILE")
    for module in MODULES:
        module.add_to(command)
    return parser
