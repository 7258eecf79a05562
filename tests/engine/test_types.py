"""Errors that mypy reports before a run: wrong fields, timers and event kinds, and missing methods."""

from __future__ import annotations

from pathlib import Path
from typing import Final, get_args

import pytest
from mypy import api

from engine import simulator, tsql
from engine.events import EVENT_KIND_INFOS, EventKind
from engine.model import TimerName
from tests.events import DATA

ROOT: Final = Path(__file__).parents[2]
IMPORTS: Final = """
from typing import TypedDict
from msgspec.structs import replace
from engine.cluster import config
from engine.events import Event, FaultData, WitnessData
from engine.model import DatabaseCopy, World
from engine.protocol.group_policies import GroupPolicy

class Incomplete(GroupPolicy):
    pass

class Sizes(TypedDict, total=False):
    log_size_kb: float

class MisspelledSizes(TypedDict, total=False):
    log_sise_kb: float

def change(world: World, copy: DatabaseCopy, event: Event) -> None:
"""
VALID_LINES: Final = (
    "world.update_copy(copy.key, disk_failed=True)",
    'world.call_after(1.0, "client.try", "APP", 1)',
    'world.emit(FaultData(verb="power-off", args=["SERVER_A"]), "text")',
    "print(replace(copy, disk_failed=True), isinstance(event.data, FaultData) and event.data.verb)",
    'print(event.kind == "fault")',
    "world.update_copy(copy.key, **Sizes(log_size_kb=1.0))",
)
INVALID_LINES: Final = (
    ('world.update_copy(copy.key, disk_fialed=True)', "disk_fialed"),
    ('world.update_copy(copy.key, disk_failed="yes")', "disk_failed"),
    ('world.update_mirroring(copy.key, partnr=None)', "partnr"),
    ('world.update_copy(copy.key, **MisspelledSizes(log_sise_kb=1.0))', "log_sise_kb"),
    ('world.update_instance("SERVER_A", powered=True)', "powered"),
    ('config.update_config(world, "NODE_1", epch=1)', "epch"),
    ('print(replace(copy, disk_fialed=True))', "disk_fialed"),
    ('world.call_after(1.0, "client.tyr", "APP", 1)', "client.tyr"),
    ('world.cancel_calls("client.tyr")', "client.tyr"),
    ('world.emit(FalutData(), "text")', "FalutData"),
    ('world.emit(FaultData(vreb="power-off", args=[]), "text")', "vreb"),
    ('world.emit(WitnessData(new="CONNECTED", window="of another kind"), "text")', "window"),
    ('print(isinstance(event.data, FaultData) and event.data.vreb)', "vreb"),
    ('print(event.kind == "falut")', "falut"),
    ('Incomplete()', "Incomplete"),
)  # fmt: skip


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """Return line number of the program -> message of mypy. The fixture uses the mypy cache of the repository
    if it exists.
    """
    file = tmp_path_factory.mktemp("types") / "wrong_lines.py"
    lines = [f"    {line}" for line in (*VALID_LINES, *(line for line, _ in INVALID_LINES))]
    file.write_text(IMPORTS + "\n".join(lines) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        text, problems, _ = api.run(["--strict", "--no-pretty", "--no-error-summary", str(file)])
    assert not problems
    types_by_number: dict[int, str] = {}
    for report in text.splitlines():
        if report.startswith(str(file)):
            _, number, message = report.split(":", 2)
            index = int(number) - IMPORTS.count("\n")
            types_by_number[index] = types_by_number.get(index, "") + message
    return types_by_number


def test_valid_lines_pass_the_type_checker(findings: dict[int, str]) -> None:
    assert not [line for number, line in enumerate(VALID_LINES, 1) if number in findings]


@pytest.mark.parametrize(("index", "line", "name"), [(n, *case) for n, case in enumerate(INVALID_LINES)])
def test_type_checker_rejects_a_wrong_line(
    findings: dict[int, str], index: int, line: str, name: str
) -> None:
    assert name in findings.get(len(VALID_LINES) + 1 + index, f"{line} passes")


def test_every_timer_and_every_kind_has_one_record() -> None:
    assert {*simulator.TIMER_HANDLERS, *tsql.HANDLERS} == {*get_args(TimerName)}
    assert {*EVENT_KIND_INFOS} == {*get_args(EventKind)} == {*DATA}
