"""Team drills: rights and visibility by role, confirmed orders, and status calls with correct facts."""

from __future__ import annotations

import pytest

from app.files import scenario_files
from engine.constants import TICKS_PER_S
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import Scenario, load_scenario
from engine.drill.running.drill import Drill, DrillMode, replay
from engine.drill.running.solution import play_reference
from engine.drill.team.calls import describe_call_error
from engine.drill.team.rights import find_role
from engine.drill.team.role_view import build_observation
from engine.drill.team.stand_ins import find_due_line
from engine.inputs import InputError
from engine.verbs.input_lines import parse_script
from tests.events import read_field
from tests.shipped_scenarios import SCENARIO_NAMES, load_shipped_scenario

CABLE_DRILL = load_shipped_scenario("team-cable")
TWO_SITES_DRILL = load_shipped_scenario("team-two-sites")
TEAM_DRILLS = [load_shipped_scenario(name) for name in SCENARIO_NAMES if name.startswith("team-")]


def test_four_team_drills_are_shipped() -> None:
    assert len(TEAM_DRILLS) >= 4
    assert all(len(scenario.team) >= 2 for scenario in TEAM_DRILLS)


def test_a_role_acts_within_its_rights_and_the_journal_names_it() -> None:
    drill = Drill(CABLE_DRILL)
    with pytest.raises(InputError, match="DBA may not do this: power-off PAY1"):
        drill.apply_line("@dba power-off PAY1")
    with pytest.raises(InputError, match="Computer room may not do this: sql PAY2"):
        drill.apply_line("@room sql PAY2 SELECT 1")
    with pytest.raises(InputError, match="this team has no role 'cook'; its roles are dba, room, manager"):
        drill.apply_line("@cook power-off PAY1")
    assert not drill.journal
    drill.apply_line("@room power-off pay2")
    assert drill.journal[0].line == "0 @room power-off PAY2"
    (event,) = [event for event in drill.events if event.kind == "fault"]
    assert (event.text, read_field(event, "by")) == ("Computer room: power-off PAY2", "room")


def test_rights_match_their_patterns() -> None:
    drill = Drill(TWO_SITES_DRILL)
    drill.apply_line("@east sql EAST1#2 SELECT 1")
    with pytest.raises(InputError, match="DBA east may not do this"):
        drill.apply_line("@east sql WEST1 SELECT 1")


def test_one_person_can_play_every_role() -> None:
    drill = Drill(CABLE_DRILL)
    assert drill.apply_line("power-off PAY2").by == "room"
    assert drill.apply_line("sql PAY1 SELECT 1").by == "dba"
    assert drill.apply_line("note nothing").by == ""
    with pytest.raises(InputError, match="no role of this team may do this"):
        drill.apply_line("stop-service PAY1")
    drill.apply_line("call room plug in the cable of PAY1")
    assert drill.apply_line("read-back dba plug in the cable of PAY1").by == "room"
    assert drill.apply_line("confirm room").by == "dba"


def test_a_single_player_drill_has_no_team() -> None:
    drill = Drill(load_shipped_scenario("cable-pulled"))
    for line in ("@dba power-off BANK1", "call room plug it in"):
        with pytest.raises(InputError, match="this drill has no team roles"):
            drill.apply_line(line)


def play_lines(*lines: str) -> Drill:
    drill = Drill(CABLE_DRILL)
    for line in lines:
        drill.advance_to(drill.tick + 100)
        drill.apply_line(line)
    return drill


ORDER = "@dba call room plug in the cable of PAY1"


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ((ORDER,), "the order was not read back"),
        ((ORDER, "@room read-back dba plug in the cable of PAY2"), "the order was read back incorrectly (pay1, pay2)"),
        ((ORDER, "@room read-back dba I plug in the cable of PAY1 now"), "the read-back was not confirmed"),
        (
            (ORDER, "@room read-back dba plug in cable of PAY1", "@room plug-cable PAY1", "@dba confirm room"),
            "the order was executed before it was confirmed",
        ),
        ((ORDER, "@room read-back dba plug in cable of PAY1", "@dba confirm room", "@room plug-cable PAY1"), ""),
        (
            (
                ORDER,
                "@room read-back dba plug in the cable of PAY2",
                "@room read-back dba plug in the cable of PAY1",
                "@dba confirm room",
            ),
            "",
        ),
    ],
)  # fmt: skip
def test_problems_of_an_order_are_named(lines: tuple[str, ...], fault: str) -> None:
    (call,) = play_lines(*lines).calls
    assert describe_call_error(call) == fault
    assert call.closed == (not fault)


def test_an_order_that_was_read_back_wrongly_is_repeated() -> None:
    first, second = play_lines(ORDER, "@room read-back dba pull the cable of PAY1", ORDER).calls
    assert first.repeated_tick
    assert not first.waits
    assert second.waits


def test_only_given_orders_can_be_read_back_or_confirmed() -> None:
    for line in ("@room read-back dba plug in the cable", "@dba confirm room"):
        with pytest.raises(InputError, match="waiting"):
            play_lines(line)


def test_a_status_call_must_be_true() -> None:
    drill = play_lines("@manager ask-status dba Payments?")
    for line in (
        "Payments will be back",
        "time_s() >= 0",
        "Payments is not SUSPENDED",
        "PAY1 is RUNNING or PAY1 is OFF",
    ):
        with pytest.raises(InputError):
            drill.apply_line(f"@dba status manager {line}")
    # the status is about another fact than the question
    drill.apply_line("@dba status manager PAY1 is RUNNING")
    assert drill.calls[0].waits
    drill.apply_line("@dba status manager Payments serves on PAY2")
    assert drill.calls[0].true is False
    assert "true" not in drill.build_report()["team"][0]
    drill.apply_line("finish")
    assert drill.build_report()["team"][0]["true"] is False


def test_a_role_sees_only_what_it_may_see() -> None:
    drill = play_reference(CABLE_DRILL)
    dba, room = (build_observation(drill, find_role(CABLE_DRILL.team, key)) for key in ("dba", "room"))
    assert dba["databases"]
    assert not dba["computers"]
    assert [row["server"] for row in room["computers"]] == ["PAY1", "PAY2", "PAYW"]
    assert not any(room[part] for part in ("databases", "clients", "goals"))
    assert {row["kind"] for row in room["news"]} == {"call", "read-back", "confirm", "fault"}
    assert any(row.get("results") for row in dba["news"])
    manager = build_observation(drill, find_role(CABLE_DRILL.team, "manager"))
    assert {row["text"] for row in manager["calls"]} == {"Can the tills take money? TILLS"}


def test_an_unresponsive_server_shows_no_state() -> None:
    drill = Drill(CABLE_DRILL)
    drill.apply_line("@room power-off PAY1")
    rows = build_observation(drill, find_role(CABLE_DRILL.team, "dba"))["databases"]
    assert [row["state"] for row in rows if row["server"] == "PAY1"] == [None]


@pytest.mark.parametrize("scenario", TEAM_DRILLS, ids=lambda scenario: scenario.name)
def test_a_team_run_replays_to_the_same_hash(scenario: Scenario) -> None:
    drill = play_reference(scenario)
    replayed = replay(
        drill.scenario, drill.seed, drill.mode, [item.line for item in drill.journal], drill.tick
    )
    assert replayed.compute_state_hash() == drill.compute_state_hash()
    assert replayed.calls == drill.calls
    assert replayed.compute_score() == drill.compute_score()


def test_calls_do_not_change_the_world() -> None:
    silent, loud = Drill(CABLE_DRILL, mode=DrillMode.PRACTICE), play_lines(ORDER)
    silent.advance_to(loud.tick)
    assert silent.compute_state_hash() == loud.compute_state_hash()


def test_a_branch_keeps_its_calls() -> None:
    drill = play_lines(ORDER)
    twin = drill.fork()
    twin.apply_line("@room read-back dba plug in the cable of PAY1")
    assert not drill.calls[0].read_back
    assert twin.calls[0].read_back


def read_problem(text: str) -> str:
    with pytest.raises(ScenarioError) as error:
        load_scenario(text, "team-cable.toml")
    return str(error.value.problems[0])


@pytest.mark.parametrize(
    ("old_text", "new_text", "message"),
    [
        ('key = "room"', 'key = "dba"', "'dba' is used twice"),
        ('servers = ["PAY1", "PAY2", "PAYW"]\nsees = ["power"]', 'servers = ["PAY9"]', "no server 'PAY9'"),
        ('"plug-cable", "pull-cable"', '"plug-cabel"', "unknown command 'plug-cabel'"),
        ("@manager ask-status dba Can", "@chief ask-status dba Can", "this team has no role 'chief'"),
        ("@manager ask-status dba Can", "ask-status dba Can", "the input line does not name a role"),
        ("+3 @dba confirm room", "+3 @dba confirm cook", "this team has no role 'cook'"),
    ],
)
def test_an_invalid_team_is_reported(old_text: str, new_text: str, message: str) -> None:
    assert message in read_problem(CABLE_DRILL.text.replace(old_text, new_text))


# --- roles that the scenario plays


def play_with_simulated_roles(
    name: str, simulated_roles: set[str], *lines: str, until_s: float = 0.0
) -> Drill:
    """Play a team drill in which the scenario plays *simulated_roles*, and one person plays the other roles.

    Each of *lines* is applied when nothing else is due. `90 @dba …` is applied at 90 s at the earliest.
    """
    drill = Drill(scenario_files.find_scenario_file(name).load())
    script = [item for line in lines for item in parse_script(line)[0]]
    while drill.tick < until_s * TICKS_PER_S and not drill.finished:
        drill.advance_to(drill.tick + TICKS_PER_S)
        while (line := find_due_line(drill, simulated_roles)) is not None:
            drill.apply_line(line)
        while script and script[0].tick <= drill.tick:
            drill.apply_line(script.pop(0).line_without_time)
    return drill


def list_lines_of_roles(drill: Drill, *roles: str) -> list[str]:
    return [item.line_without_time for item in drill.journal if item.by in roles]


def test_a_simulated_operator_reads_back_and_follows_orders_even_if_wrong() -> None:
    drill = play_with_simulated_roles(
        "team-cable", {"room", "manager"},
        "100 @dba call room please power off PAY2", "120 @dba confirm room", until_s=140,
    )  # fmt: skip
    assert list_lines_of_roles(drill, "room") == [
        "@room read-back dba please power off PAY2",
        "@room power-off PAY2",
    ]
    assert [call.closed for call in drill.calls if call.kind == "order"] == [True]


def test_a_simulated_role_waits_for_confirmation_and_respects_its_rights() -> None:
    drill = play_with_simulated_roles(
        "team-cable", {"room"}, "100 @dba call room plug in the cable of PAY1", until_s=200
    )
    assert list_lines_of_roles(drill, "room") == ["@room read-back dba plug in the cable of PAY1"]
    lines = ("100 @dba call room stop the service of PAY1", "110 @dba confirm room")
    assert (
        len(
            list_lines_of_roles(
                play_with_simulated_roles("team-cable", {"room"}, *lines, until_s=200), "room"
            )
        )
        == 1
    )


def test_one_dba_fails_over_freight_with_a_simulated_colleague() -> None:
    drill = play_with_simulated_roles(
        "team-two-sites", {"west"},
        "200 @east ask-status west Freight", "362 @east mend EAST1 WEST1", "364 @east mend EAST1 WEST2",
        "460 @east call west please fail Freight over to EAST1 now", "470 @east confirm west", until_s=700,
    )  # fmt: skip
    assert "@west status east Freight serves on WEST1" in list_lines_of_roles(drill, "west")
    assert (
        list_lines_of_roles(drill, "west")[-1]
        == "@west sql WEST1 ALTER DATABASE Freight SET PARTNER FAILOVER"
    )
    assert drill.goals["home"].is_reached


def test_a_simulated_owner_decides_and_answers() -> None:
    order = "force service for Orders on NORTH1"
    drill = play_with_simulated_roles(
        "team-owner-decides", {"owner"}, "140 @dba sql NORTH1 SELECT 1", f"160 @dba read-back owner {order}",
        "190 @dba sql NORTH1 ALTER DATABASE Orders SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS",
        "210 @dba ask-status owner SHOP", until_s=230,
    )  # fmt: skip
    assert list_lines_of_roles(drill, "owner") == [f"@owner call dba {order}", "@owner confirm dba",
                                     "@owner status dba SHOP on NORTH1 is CONNECTED"]  # fmt: skip
