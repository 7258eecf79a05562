"""Command `mirrordrill serve`: a simulation to which real SQL clients on this computer can connect."""

import argparse
import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import Final

import tomlkit

from app.cli.command_helpers import (
    UsageError,
    load_named_scenario,
    write_file,
    write_json,
)
from app.exit_codes import NEGATIVE_ANSWER, SUCCESS
from app.files.journal_file import JournalFileRecorder
from app.host import NullRecorder
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import load_scenario
from engine.drill.authoring.schema import Scenario
from engine.drill.running.drill import Drill


def _run_serve(options: argparse.Namespace) -> int:
    from app.serve.service import serve_run
    from app.serve.sql_ports import PortUnavailableError

    scenario = load_named_scenario(options.scenario)
    if options.sql_version is not None:
        scenario = set_version(scenario, options.sql_version)
    drill = Drill(scenario, options.seed)
    last = 65_535 - len(drill.world.instances) - len(drill.world.listeners)
    if not (options.port_base == 0 or 1024 <= options.port_base <= last):
        raise UsageError(f"--port-base must be 0 or from 1024 to {last}, not {options.port_base}")
    record = JournalFileRecorder(drill, options.record) if options.record not in (None, "-") else None
    try:
        asyncio.run(
            serve_run(
                drill,
                options.speed,
                options.port_base,
                sys.stdin,
                partial(print, flush=True),
                partial(_write_certificate, options.certificate),
                record or NullRecorder(),
                options.browser,
                (lambda: record.problem) if record is not None else lambda: False,
            )
        )
    # nothing was played, so an existing record with this name is kept
    except PortUnavailableError as problem:
        raise UsageError(f"{problem}; choose another --port-base, or no --browser") from problem
    except BaseException:
        _save_report(drill, options.record, record)
        raise
    _save_report(drill, options.record, record)
    goals_missed = any(not state.is_reached for state in drill.goals.values())
    return NEGATIVE_ANSWER if goals_missed else SUCCESS


def set_version(scenario: Scenario, year: int) -> Scenario:
    """Return *scenario* with the SQL Server version *year* for every instance."""
    document = tomlkit.parse(scenario.text)
    for kind in ("server", "instance"):
        for table in document.get(kind, ()):
            table["version"] = year
    try:
        return load_scenario(tomlkit.dumps(document), f"{scenario.name}.toml")
    except ScenarioError as problem:
        raise UsageError(f"--sql-version {year}: {problem.problems[0]}") from problem


def _write_certificate(file: str | None, certificate: str) -> None:
    if file is not None:
        write_file(certificate, Path(file))


def _save_report(drill: Drill, file: str | None, record: JournalFileRecorder | None) -> None:
    """Replace the journal by the report, unless the journal is incomplete."""
    if record is not None:
        record.close()
        if record.problem:
            raise UsageError(f"{file}: {record.problem} `mirrordrill replay` plays what was recorded before.")
    if file is not None:
        write_json(drill.build_report(), file)


COMMANDS: Final = {"serve": _run_serve}
