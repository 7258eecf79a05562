"""Tests of offered actions: each is useful and has an effect."""

from __future__ import annotations

import pytest

from app.view_models.action_offers import ActionOffer, ActionTarget, list_action_offers
from engine import simulator
from engine.model import World
from engine.verbs import VERBS
from engine.verbs.input_lines import parse_input_line
from tests.engine.availability.worlds import apply_lines as do_in_group
from tests.engine.availability.worlds import build_ag_lab
from tests.engine.worlds import DB, M, P, W, apply_lines, build_lab
from tests.events import read_field

TARGETS = [
    *(ActionTarget("server", (name,)) for name in (P, M, W)),
    *(ActionTarget("link", pair) for pair in ((P, M), (P, W), (M, W), ("APP", P))),
    ActionTarget("client", ("APP",)),
    ActionTarget("database", (DB,)),
]

SITUATIONS: dict[str, tuple[str, ...]] = {
    "healthy": (),
    "principal off": (f"power-off {P}",),
    "principal stopped": (f"stop-service {P}",),
    "hung": (f"hang {M}",),
    "cables": (f"pull-cable {W}",),
    "links": (f"cut {P} {M}", f"black-hole {P} {W}", f"degrade {M} {W} rtt_ms=50"),
    "slow": (f"slow-disk {P} log factor=10", f"slow-cpu {M} factor=3"),
    "disk": (f"fail-disk {P} {DB}",),
    "drives": (f"fail-volume {P} D", f"fail-volume {M} L"),
    "app": ("stop-app APP",),
    "full": (f"fill-log {DB}",),
    "open": (f"open-transaction {DB}",),
    "closed": (f"close-firewall {M} 5022", f"disable-tcp {P}", f"stop-agent {W}", f"corrupt-page {M} {DB}"),
}


NEEDS_A_CERTIFICATE = {"expire-certificate", "renew-certificate"}
"""Verbs that need an endpoint with certificates; the endpoints of the lab use Windows accounts."""


def build_world_in(situation: str) -> World:
    world = build_lab()
    apply_lines(world, *SITUATIONS[situation], wait_s=40.0)
    return world


def list_offered_lines(world: World, target: ActionTarget) -> list[str]:
    return [offer.line for offer in list_action_offers(world, target)]


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.title)
def test_every_offered_action_is_accepted_and_has_an_effect(situation: str, target: ActionTarget) -> None:
    world = build_world_in(situation)
    offers = list_action_offers(world, target)
    assert len({offer.line for offer in offers}) == len(offers)
    for offer in offers:
        fork = world.fork()
        before = fork.compute_state_hash()
        # An InputError here means that the view must not offer this action.
        simulator.apply_input(fork, parse_input_line(offer.line, fork.tick))
        assert not [event for event in fork.outbox if read_field(event, "no_effect")], offer.line
        assert fork.compute_state_hash() != before, f"{offer.line} does nothing"
        assert offer.label != VERBS[offer.line.split()[0]].help, f"{offer.line} has no label of its own"


def test_repairs_come_first_and_faults_are_marked() -> None:
    offers = list_action_offers(build_world_in("hung"), ActionTarget("server", (M,)))
    words = "End the hang of SQL Server"
    assert offers[0] == ActionOffer(f"unhang {M}", words, "repair", "hang", english=words)


@pytest.mark.parametrize(
    ("situation", "target", "offered_action", "absent_action"),
    [
        ("healthy", ActionTarget("server", (P,)), f"power-off {P}", f"power-on {P}"),
        ("principal off", ActionTarget("server", (P,)), f"power-on {P}", f"hang {P}"),
        ("principal stopped", ActionTarget("server", (P,)), f"start-service {P}", f"stop-service {P}"),
        ("cables", ActionTarget("server", (W,)), f"plug-cable {W}", f"pull-cable {W}"),
        ("links", ActionTarget("link", (P, M)), f"mend {P} {M}", f"cut {P} {M}"),
        ("links", ActionTarget("link", (M, W)), f"mend {M} {W}", f"mend {P} {M}"),
        ("healthy", ActionTarget("link", (P, M)), f"cut-one-way {M} {P}", f"mend {P} {M}"),
        ("slow", ActionTarget("server", (P,)), f"slow-disk {P} log factor=1", f"slow-disk {P} log"),
        ("disk", ActionTarget("server", (P,)), f"mend-disk {P} {DB}", f"fail-disk {P} {DB}"),
        ("drives", ActionTarget("server", (P,)), f"mend-volume {P} D", f"fail-volume {P} D"),
        ("drives", ActionTarget("server", (M,)), f"mend-volume {M} L", f"mend-volume {M} D"),
        ("healthy", ActionTarget("client", ("APP",)), "stop-app APP", f"point-app APP {M}"),
        ("app", ActionTarget("client", ("APP",)), "start-app APP", "stop-app APP"),
        ("closed", ActionTarget("server", (M,)), f"open-firewall {M} 5022", f"close-firewall {M} 5022"),
        ("closed", ActionTarget("server", (P,)), f"enable-tcp {P}", f"disable-tcp {P}"),
        ("closed", ActionTarget("server", (W,)), f"start-agent {W}", f"stop-agent {W}"),
        ("healthy", ActionTarget("database", (DB,)), f"workload {DB} Workload2", f"workload {DB} Workload1"),
    ],
)
def test_only_meaningful_actions_are_offered(
    situation: str, target: ActionTarget, offered_action: str, absent_action: str
) -> None:
    offered_lines = list_offered_lines(build_world_in(situation), target)
    assert offered_action in offered_lines
    assert absent_action not in offered_lines


def test_every_fault_is_offered_somewhere() -> None:
    offered = {
        parse_input_line(line).verb
        for name in SITUATIONS
        for target in TARGETS
        for line in list_offered_lines(build_world_in(name), target)
    } | _list_offers_in_cluster()
    wanted = {verb.name for verb in VERBS.values() if verb.group in ("fault", "repair")} - {"revert-all"}
    assert wanted - NEEDS_A_CERTIFICATE <= offered


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.title)
def test_with_hidden_truth_the_menu_does_not_reveal_faults(situation: str, target: ActionTarget) -> None:
    healthy = list_action_offers(build_lab(), target, reveals_state=False)
    assert list_action_offers(build_world_in(situation), target, reveals_state=False) == healthy
    assert {offer.line for offer in list_action_offers(build_lab(), target)} <= {
        offer.line for offer in healthy
    }


def _list_offers_in_cluster() -> set[str]:
    verbs_found: set[str] = set()
    for before in ([], ["stop-cluster NODE_2", "fail-witness CLU1"]):
        world = build_ag_lab()
        do_in_group(world, *before)
        nodes = [ActionTarget("server", (name,)) for name in world.nodes]
        verbs_found |= {
            parse_input_line(line).verb for node in nodes for line in list_offered_lines(world, node)
        }
    return verbs_found
