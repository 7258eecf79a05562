"""Input lines in any state: each is applied, or is refused and changes nothing. No line raises another
exception.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import pytest
from hypothesis import Phase, given, settings, strategies

from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.drill import Drill
from engine.inputs import InputError
from engine.model import World
from engine.simulator import NAME_LISTERS
from engine.verbs import VERBS
from engine.verbs.verb import ValueLister, Verb

SCENARIOS: Final = Path(__file__).parents[3] / "scenarios"
STATES: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("lab", "calm"): (),
    ("lab", "broken"): (
        "power-off SERVER_B",
        "cut SERVER_A SERVER_W",
        "sql SERVER_A WAITFOR DELAY '01:00:00'",
    ),
    ("ag-lab", "calm"): (),
    ("ag-lab", "without quorum"): (
        "fail-witness CLU1",
        "power-off NODE_2",
        "power-off NODE_3",
        "slow-disk NODE_1 data",
    ),
    ("ag-lab", "without a copy"): (
        "corrupt-page NODE_2 Sales",
        "sql NODE_2 ALTER DATABASE Sales SET HADR OFF",
        "sql NODE_2 DROP DATABASE Sales",
        "fail-witness CLU1",
    ),
    ("fci-lab", "calm"): (),
    ("ag-lab", "evicted"): ("evict NODE_2", "pull-cable NODE_3"),
    ("ag-lab", "dropped"): ("sql NODE_1 DROP AVAILABILITY GROUP AG1", "shutdown-server NODE_3"),
    ("ag-lab", "frozen"): ("fail-volume NODE_2 L", "hang NODE_1"),
    ("lab", "stopping"): ("sql SERVER_A DROP DATABASE Sales", "shutdown-server SERVER_A", "hang SERVER_B"),
    ("fci-lab", "failed"): ("fail-volume SQLFCI1 L", "stop-role SQLFCI1", "stop-cluster NODE_3"),
    ("fci-lab", "moved"): ("close-firewall SQLFCI1 3", "move-role SQLFCI1 NODE_2", "fail-witness CLU1"),
}
"""(scenario, name of the state) -> inputs that lead to the state, at intervals of 20 s."""

HOSTILE_WORDS: Final = (
    "NOWHERE", "#", "#2", "=", "a=b", "0", "-1", "3", "1e308", "nan", "inf", "99999999999999999999", "É", "\u3164",
    "\u202e", "\ud800", "'", '"', "[[[[", "*", "D", "D:", "D:\\", "\\\\SERVER_B\\x", "master", "data", "%s", "{0}",
    "²", "\r", "\x1b[2J", "../..", "con", "A" * 129, "{", "}", "\\", "|", "`", "$x", "🜁", "1,2", "0x10", "1e-300", "GO",
    "\ufeff", "\u0000\u0001", "-0", "+1", "1_000", "٣", "NODE_1#99999", "SERVER_A#0", "AGL1", "CLU1", "*" * 200,
    "²", "9" * 5_000, "[" * 30_000, "@dba", "--", ";", "\x00", "x" * 3_000, "2012", "true", "15",
)  # fmt: skip
"""Invalid and extreme arguments."""


@cache
def _build_drill(scenario: str, state: str) -> Drill:
    text = (SCENARIOS / f"{scenario}.toml").read_text(encoding="utf-8")
    drill = Drill(load_scenario(text, scenario), 1)
    for line in STATES[scenario, state]:
        drill.advance_to(drill.world.tick + 2_000)
        drill.apply_line(line)
    drill.advance_to(drill.world.tick + 3_000)
    return drill


def _build_lines(verb: Verb, drill: Drill) -> strategies.SearchStrategy[str]:
    """Return a strategy for input lines of *verb*, with names of the world, other names, and hostile words."""
    world = drill.world
    everything = sorted({name for names in NAME_LISTERS.values() for name in names(world)})
    anything = strategies.sampled_from((*everything, *HOSTILE_WORDS))
    places: list[strategies.SearchStrategy[str]] = []
    for parameter in verb.parameters:
        offered_words = [
            *(NAME_LISTERS[parameter.kind](world) if parameter.kind in NAME_LISTERS else ()),
            *parameter.choices,
        ]
        if parameter.values is not None:
            offered_words += _list_offered_words(parameter.values, world)
        fitting = strategies.sampled_from(offered_words) if offered_words else anything
        places.append(
            strategies.one_of(
                fitting, fitting, anything, *([strategies.just("")] if parameter.optional else [])
            )
        )
    options = [
        strategies.tuples(
            strategies.just(name),
            strategies.sampled_from((f"{minimum:g}", f"{maximum:g}", "1", "-1", "nan", "1e999", "", "x")),
        )
        for name, (minimum, maximum) in verb.options.items()
    ]
    option_lists = (
        strategies.lists(strategies.one_of(options).map("=".join), max_size=2)
        if options
        else strategies.just([])
    )
    return strategies.tuples(
        strategies.tuples(*places),
        option_lists,
        strategies.sampled_from(("", "", "", "", " extra", "\n    x")),
    ).map(lambda parts: " ".join((verb.name, *parts[0], *parts[1])) + parts[2])


def _list_offered_words(values: ValueLister, world: World) -> list[str]:
    """Return the words that menus offer for any server."""
    return sorted({value for server in world.instances for value in values(world, server, True)})


def check_line(drill: Drill, line: str) -> None:
    """Apply *line* to a copy of the drill. If the line is refused, the copy must be unchanged."""
    tried = drill.fork()
    before, journal = tried.compute_state_hash(), list(tried.journal)
    try:
        tried.apply_line(line)
    except InputError:
        assert tried.compute_state_hash() == before
        assert tried.journal == journal
    else:
        tried.advance_to(tried.world.tick + 100)


def _check_each(scenario: str, state: str, count: int) -> None:
    """Check *count* lines of each verb in the given state."""
    drill = _build_drill(scenario, state)
    for verb in VERBS.values():

        @settings(
            max_examples=count,
            deadline=None,
            derandomize=True,
            database=None,
            phases=(Phase.generate, Phase.shrink),
        )
        @given(line=_build_lines(verb, drill))
        def check_lines(line: str) -> None:
            check_line(drill, line)

        check_lines()


@pytest.mark.parametrize(("scenario", "state"), STATES)
def test_a_line_is_applied_or_refused_without_a_change(scenario: str, state: str) -> None:
    _check_each(scenario, state, 3)


@pytest.mark.slow
@pytest.mark.parametrize(("scenario", "state"), STATES)
def test_many_lines_are_applied_or_refused_without_a_change(scenario: str, state: str) -> None:
    _check_each(scenario, state, 150)


@pytest.mark.parametrize(
    "line", ["", " ", "\t", "\u2003", "@", "@dba", "@dba @dba sql", "\n", "\x00", "add-node SQLFCI1 SQLFCI1"]
)
@pytest.mark.parametrize("scenario", ["lab", "ag-lab", "fci-lab"])
def test_a_line_without_a_verb_or_with_a_wrong_object_is_refused(scenario: str, line: str) -> None:
    drill = _build_drill(scenario, "calm")
    check_line(drill, line)
    with pytest.raises(InputError):
        drill.fork().apply_line(line)


@pytest.mark.parametrize("argument", ["Sales", "1e308", "nan", "-1"])
def test_a_rewind_starts_at_a_second_of_a_run(argument: str) -> None:
    with pytest.raises(InputError):
        _build_drill("lab", "calm").fork().apply_line(f"rewind {argument}")


@pytest.mark.parametrize("value", ["²", "9" * 5_000, "0", "3601", ""])
def test_a_timeout_of_a_connection_string_is_a_number_of_seconds(value: str) -> None:
    with pytest.raises(InputError):
        _build_drill("lab", "calm").fork().apply_line(f"connect-string APP Connect Timeout={value}")


def test_revert_all_changes_nothing_if_a_later_step_is_refused() -> None:
    """After the repair of the witness, no copy is left that could repair the damaged page."""
    drill = _build_drill("ag-lab", "without a copy")
    steps = drill.fork()
    steps.apply_line("mend-witness CLU1")
    with pytest.raises(InputError):
        steps.apply_line("mend-page NODE_2 Sales")
    tried = drill.fork()
    before = tried.compute_state_hash()
    with pytest.raises(InputError):
        tried.apply_line("revert-all")
    assert tried.compute_state_hash() == before
    assert tried.journal == drill.journal


def test_revert_all_opens_the_firewall_of_the_node_where_it_was_closed() -> None:
    drill = _build_drill("fci-lab", "moved").fork()
    assert 3 in drill.world.computers["NODE_1"].blocked_ports
    drill.apply_line("revert-all")
    assert not drill.world.computers["NODE_1"].blocked_ports
