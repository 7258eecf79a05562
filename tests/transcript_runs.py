"""Transcripts of inputs and all visible results. `pytest --rewrite` records them again; review the diff.

A block begins with a world or with input lines without time. A world is `lab [option=value …]` (see
`start_world`) or
one of WORLDS. Then follow `run SECONDS`, `----` and the events. `show KIND …` and `hide KIND …` change the
kinds of
events. Refused inputs are listed with the reason. After `read PACKAGE …`, a block lists all events, all
changes of
the world, and those results of the packages' public functions that have changed (tests/readings.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

import pytest

from engine import simulator
from engine.constants import TICKS_PER_S
from engine.events import Event
from engine.inputs import InputError
from engine.model import Safety, World
from engine.verbs.input_lines import parse_input_line
from tests import readings, recordings
from tests.engine.availability.worlds import build_ag_lab
from tests.engine.cluster.worlds import build_cluster_world, build_fci_lab, build_pair
from tests.engine.worlds import build_lab
from tests.events import read_field
from tests.readings import Readings

SHOWN_EVENT_KINDS = (
    "detected", "state", "role", "witness", "trace", "errorlog", "service", "client", "availability",
    "failover", "log", "fault", "cluster",
)  # fmt: skip

WORLD_BUILDERS: Final[dict[str, Callable[..., World]]] = {
    "group-lab": lambda version="2014": build_ag_lab(version=int(version)),
    "fci-lab": build_fci_lab,
    "few-nodes": lambda windows="2012 R2": build_cluster_world(windows=windows.replace("_", " ")),
    "pair": lambda witness, windows="2016": build_pair(witness.replace("_", " "), windows.replace("_", " ")),
}
"""Name -> builder of a world other than `lab`. Its arguments follow the name, with `_` for a space."""


def start_world(settings: list[str]) -> World:
    options = dict(word.split("=") for word in settings)
    world = build_lab(
        databases=int(options.get("databases", "1")),
        seed=int(options.get("seed", "1")),
        witness=options.get("witness", "yes") == "yes",
        safety=Safety[options.get("safety", "FULL")],
        workload=options.get("workload", "Workload1"),
    )
    for name in world.instances:
        if options.get("domains") == "untrusted":
            world.update_computer(name, domain=name.replace("SERVER_", "DOMAIN_"))
        world.update_instance(name, edition=options.get("edition", "Enterprise"))
        world.update_instance(name, version=int(options.get("version", "2005")))
    if options.get("jobs") == "no":
        for key in world.copies:
            world.update_copy(key, log_backup_every_s=0.0)
    return world


def format_event(event: Event, kinds: Collection[str]) -> list[str]:
    server_text = f" {event.server}" if event.server else ""
    if event.kind == "sql":
        return [f"{event.t_s:.2f}{server_text} > {line}" for line in event.text.splitlines()]
    if event.kind == "sql_done":
        lines = []
        for message in read_field(event, "messages"):
            head = f"Msg {message['number']}, Level {message['severity']}, State {message['state']}: "
            lines.append((head if message["severity"] > 10 else "") + message["text"])
        for result in read_field(event, "results"):
            lines.append(" | ".join(result["columns"]))
            lines += map(recordings.format_row, result["rows"])
        return [f"{event.t_s:.2f}{server_text} < {line}" for line in lines]
    if event.kind == "powershell":
        head = f"{event.t_s:.2f}{server_text} > {read_field(event, 'command')}"
        return [head, *(line.rstrip() for line in read_field(event, "output").splitlines() if line.strip())]
    if "all" in kinds:
        head = f"{event.t_s:.2f}{server_text} {event.kind}: {event.text}"
        return [readings.shorten_text(f"{head} {readings.format_fields(event.data)}".rstrip())]
    if event.kind in kinds:
        return [f"{event.t_s:.2f}{server_text} {event.kind}: {event.text}"]
    return []


def apply_line(world: World, line: str) -> list[str]:
    """Apply a line. Return a row with the reason if the world refuses it, otherwise an empty list."""
    try:
        simulator.apply_input(world, parse_input_line(line))
    except InputError as problem:
        return [f"{world.t_s:.2f} refused: {line}: {problem}"]
    return []


def record_transcript(text: str) -> str:
    """Return the transcript of *text* with the results of the current code."""
    world = build_lab()
    output_lines: list[str] = []
    kinds = set(SHOWN_EVENT_KINDS)
    packages: list[str] = []
    previous: Readings = {}
    for block in text.split("\n\n"):
        request_lines = block.split("\n----")[0].rstrip().splitlines()
        happened: list[str] = []
        pending: list[str] = []
        before = world.fork()
        for line in request_lines:
            word, _, rest_text = line.partition(" ")
            if line.startswith("#"):
                continue
            if line[:1] == " " and pending:
                pending[-1] += "\n" + line
            elif word == "lab":
                world = start_world(rest_text.split())
            elif word in WORLD_BUILDERS:
                world = WORLD_BUILDERS[word](*rest_text.split())
            elif word == "show":
                kinds |= set(rest_text.split())
            elif word == "hide":
                kinds -= set(rest_text.split())
            elif word == "read":
                packages, kinds, previous = rest_text.split(), {"all"}, {}
            elif word == "run":
                for input_line in pending:
                    happened += apply_line(world, input_line)
                for event in simulator.advance_world(
                    world, world.tick + round(float(rest_text.removesuffix("s")) * TICKS_PER_S)
                ):
                    happened += format_event(event, kinds)
                pending = []
                if packages:
                    readings_now = {
                        reading_name: result
                        for package in packages
                        for reading_name, result in readings.read_results(world, package)
                    }
                    happened += readings.list_changes(before, world)
                    happened += readings.list_differences(previous, readings_now)
                    before, previous = world.fork(), readings_now
            else:
                pending.append(line)
        assert not pending, f"no run after {pending}"
        output_lines.append(
            "\n".join(
                [
                    *request_lines,
                    *(["----", *happened] if any(line.startswith("run") for line in request_lines) else []),
                ]
            )
        )
    return "\n\n".join(output_lines).rstrip() + "\n"


def check_transcript(path: Path, request: pytest.FixtureRequest) -> None:
    """Compare a transcript with the current code. With `--rewrite`, record it again instead."""
    recordings.compare_text(path, record_transcript(path.read_text(encoding="utf-8")), request)
