"""Command line of the program, for everything except the window.

Exit codes: 0 success, 1 negative result, 2 invalid use.

`commands.toml` lists the commands with their options. Each module contains the functions that execute its
commands.
"""

import argparse
import sys
import tomllib
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any, Final

from app.cli import bundles, checks, classes, lists, measures, par, runs, serve, support, sweep
from app.cli.argument_checks import check_numbers, check_output_files
from app.cli.command_helpers import UsageError, load_named_scenario
from app.exit_codes import INVALID_USE
from app.files.scenario_files import ScenarioNotFoundError
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import Scenario
from engine.drill.judging.report import get_program_version
from engine.flow import compiled

OpenWindow = Callable[[Scenario | None], int]
"""Function that shows the window, with a scenario if one is given, and returns the exit code."""

COMMANDS: Final[dict[str, Callable[[argparse.Namespace], int]]] = {
    **lists.COMMANDS, **runs.COMMANDS, **serve.COMMANDS, **classes.COMMANDS, **par.COMMANDS, **sweep.COMMANDS,
    **checks.COMMANDS, **bundles.COMMANDS, **measures.COMMANDS, **support.COMMANDS,
}  # fmt: skip
"""Command -> function that executes it and returns the exit code."""

_OPTION_TYPES: Final = {"int": int, "float": float}


def main(arguments: Sequence[str], open_window: OpenWindow) -> int:
    """Execute the command in *arguments* and return the exit code. Only *open_window* imports Qt."""
    try:
        options = _build_parser().parse_args(list(arguments))
    except SystemExit as stop:  # argparse has printed the reason or the help
        return stop.code if isinstance(stop.code, int) else INVALID_USE
    try:
        if options.command is None:
            return open_window(None)
        if options.command == "drill":
            return open_window(load_named_scenario(options.scenario))
        check_numbers(options)
        check_output_files(options)
        do: Callable[[argparse.Namespace], int] = options.do
        compiled.report_fallback = _report_fallback
        return do(options)
    except ScenarioError as problems:
        return _print_refusal(str(problems))
    except (UsageError, ScenarioNotFoundError) as problem:
        return _print_refusal(f"mirrordrill: {problem}")


def _report_fallback(reason: str) -> None:
    text = f"mirrordrill: the flow model runs as plain Python, slowly but with the same results: {reason}"
    print(text, file=sys.stderr, flush=True)


def _print_refusal(text: str) -> int:
    print(text, file=sys.stderr)
    return INVALID_USE


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mirrordrill", description="Practice SQL Server failover. Without a command, the window opens."
    )
    parser.add_argument("--version", action="version", version=f"mirrordrill {get_program_version()}")
    groups = {"": parser.add_subparsers(dest="command", metavar="COMMAND")}
    table = tomllib.loads(files("app.cli").joinpath("commands.toml").read_text(encoding="utf-8"))
    for name, row in table.items():
        prefix, _, word = name.rpartition(" ")
        text = row.pop("help")
        command = groups[prefix].add_parser(word, help=text, description=text)
        if "commands" in row:
            groups[name] = command.add_subparsers(metavar=row.pop("commands"), required=True)
        command.set_defaults(do=COMMANDS.get(name))
        exclusive = None
        for option, facts in row.items():
            if facts.pop("exclusive", False):
                exclusive = exclusive or command.add_mutually_exclusive_group()
                _add_option(exclusive, option, facts)
            else:
                _add_option(command, option, facts)
    return parser


def _add_option(command: argparse._ActionsContainer, name: str, properties: dict[str, Any]) -> None:
    if "type" in properties:
        properties["type"] = _OPTION_TYPES[properties["type"]]
    if properties.get("help") == "":
        properties["help"] = argparse.SUPPRESS
    command.add_argument(name, **properties)
