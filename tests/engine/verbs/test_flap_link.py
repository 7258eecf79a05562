"""Link that goes down and up repeatedly. The module also shows that a new verb needs only one record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.view_models.action_offers import ActionTarget, list_action_offers
from app.view_models.preview import preview_impact
from app.views import command_line
from app.views.editor.input_completion import complete_input
from app.words import language
from engine import simulator
from engine.drill.judging import pointless_actions
from engine.drill.judging.replay_timeline import find_marker
from engine.inputs import InputError
from engine.model import World, to_ticks
from engine.protocol import loss_causes, network
from engine.verbs import VERBS
from engine.verbs.input_lines import find_reverse_input, format_usage, parse_input_line
from tests.engine.drill.texts import build_drill
from tests.engine.worlds import M, P, apply_lines, build_lab

ROOT = Path(__file__).parents[3]
FLAP_LINE = f"flap-link {P} {M}"
LINK_TARGET = ActionTarget("link", (P, M))


def sample_link_states(world: World, seconds: float, step_s: float) -> list[bool]:
    """Return whether the link is up, now and after each step."""
    passing = []
    for _ in range(round(seconds / step_s)):
        passing.append(network.can_exchange_packets(world, P, M))
        apply_lines(world, wait_s=step_s)
    return passing


# --- effect -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("option", "half_s"), [("", 1.0), (" period_s=8", 4.0)])
def test_a_flapping_link_is_down_and_up_for_half_a_period_each(option: str, half_s: float) -> None:
    world = build_lab()
    apply_lines(world, FLAP_LINE + option, wait_s=half_s / 2.0)
    assert sample_link_states(world, 4.0 * half_s, half_s) == [False, True, False, True]


def test_both_ends_lose_each_other_repeatedly() -> None:
    world = build_lab()
    apply_lines(world, f"{FLAP_LINE} period_s=10", wait_s=60.0)
    (fault,) = world.faults
    assert fault.effective_tick is not None
    assert fault.effect == f"{P} has lost its connection to {M}"
    assert loss_causes.find_loss_cause(world, P, M)[0] == "flap-link"
    events_later = apply_lines(world, wait_s=60.0)
    assert sum(event.text == f"lost {P}" and event.server == M for event in events_later) >= 4


@pytest.mark.parametrize("line", [f"mend {M} {P}", "revert-all"])
def test_flapping_ends_when_the_link_is_repaired(line: str) -> None:
    world = build_lab()
    before = world.links.copy()
    apply_lines(world, FLAP_LINE, wait_s=10.5)
    apply_lines(world, line, wait_s=5.0)
    assert world.faults[0].reverted_tick is not None
    assert all(
        world.links[pair] == before.get(pair, network.get_link(build_lab(), *pair)) for pair in world.links
    )
    assert all(sample_link_states(world, 10.0, 0.5))


def test_a_cut_stays_while_the_link_flaps() -> None:
    world = build_lab()
    apply_lines(world, FLAP_LINE, f"cut {P} {M}", wait_s=0.5)
    assert not any(sample_link_states(world, 6.0, 0.5))


def test_a_repeated_request_continues_with_the_new_period() -> None:
    world = build_lab()
    apply_lines(world, FLAP_LINE, f"{FLAP_LINE} period_s=8", wait_s=0.5)
    assert sample_link_states(world, 8.0, 0.5) == [*[False] * 7, *[True] * 8, False]
    apply_lines(world, f"mend {P} {M}", wait_s=0.5)
    assert all(fault.reverted_tick is not None for fault in world.faults)
    assert all(sample_link_states(world, 10.0, 0.5))


@pytest.mark.parametrize("period", ["0.1", "601", "nan", "x"])
def test_periods_are_limited(period: str) -> None:
    with pytest.raises(InputError):
        parse_input_line(f"{FLAP_LINE} period_s={period}")


# --- appearance in the interface ----------------------------------------------------------------------------


@pytest.fixture
def german() -> Iterator[None]:
    language.use_language(language.GERMAN)
    yield
    language.use_language(language.ENGLISH)


def test_menus_offer_the_fault_and_its_repair() -> None:
    world = build_lab()
    offer = next(offer for offer in list_action_offers(world, LINK_TARGET) if offer.line == FLAP_LINE)
    assert offer.group == "fault"
    assert offer.label == VERBS["flap-link"].label
    apply_lines(world, FLAP_LINE, wait_s=1.5)
    assert f"mend {P} {M}" in [offer.line for offer in list_action_offers(world, LINK_TARGET)]


def test_the_preview_shows_the_affected_objects() -> None:
    assert LINK_TARGET in preview_impact(build_lab(), FLAP_LINE).targets


def test_typing_is_completed_and_explained_at_the_desk_and_in_the_editor() -> None:
    assert command_line.list_line_completions(build_lab(), "flap") == ["flap-link"]
    assert command_line.list_line_completions(build_lab(), f"{FLAP_LINE} ") == [f"{FLAP_LINE} period_s="]
    assert "flap-link" in complete_input("flap", lambda _: [])
    assert complete_input(f"10 {FLAP_LINE} ", lambda _: []) == ["period_s="]
    assert (
        command_line.get_verb_help(FLAP_LINE)
        == f"{format_usage(VERBS['flap-link'])}: {VERBS['flap-link'].help}"
    )


def test_the_fault_list_names_its_repair_and_the_timeline_marks_it() -> None:
    world = build_lab()
    event = next(event for event in apply_lines(world, FLAP_LINE) if event.kind == "fault")
    marker = find_marker(event)
    assert marker is not None
    assert marker.kind == "fault"
    reverted = find_reverse_input(world.faults[0])
    assert reverted is not None
    simulator.apply_input(world, reverted)
    assert world.faults[0].reverted_tick == world.tick


def test_flapping_without_need_costs_points() -> None:
    base_drill = build_drill()
    for at_s, line in ((2.0, "flap-link SERVER_B SERVER_W"), (3.0, "mend SERVER_W SERVER_B")):
        base_drill.advance_to(to_ticks(at_s))
        base_drill.apply_line(line)
    assert [
        pointless_action.action
        for pointless_action in pointless_actions.find_pointless_actions(
            base_drill.world, base_drill.journal, base_drill.events, base_drill.scenario
        )
    ] == ["flap-link SERVER_B SERVER_W"]


@pytest.mark.usefixtures("german")
def test_the_texts_are_translated_to_german() -> None:
    record = VERBS["flap-link"]
    assert language.tr(record.help) != record.help
    assert language.tr(record.label) != record.label


def test_only_its_record_mentions_the_fault() -> None:
    naming = [
        str(path.relative_to(ROOT))
        for room in ("engine", "app")
        for path in (ROOT / room).rglob("*.py")
        if "flap" in path.read_text("utf-8")
    ]
    # this module declares the timer
    assert sorted(naming) == [
        "engine/model/times.py",
        "engine/verbs/links.py",
    ]
