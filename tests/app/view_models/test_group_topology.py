"""Tests of an availability group and its cluster on the canvas."""

from __future__ import annotations

from app.view_models.action_offers import ActionTarget, list_action_offers
from app.view_models.topology_builder import build_topology_contents
from tests.engine.availability.worlds import apply_lines, build_ag_lab, run_until
from tests.engine.cluster.worlds import build_fci_lab


def test_replicas_votes_and_witness_are_shown() -> None:
    picture = build_topology_contents(build_ag_lab())
    kinds = {face.name: face.kind for face in picture.servers}
    assert kinds == {"NODE_1": "replica", "NODE_2": "replica", "NODE_3": "replica", "FSW": "share"}
    roles = {(c.server, c.database): c.role.text for face in picture.servers for c in face.copies}
    assert roles["NODE_1", "Sales"] == "PRIMARY"
    assert roles["NODE_3", "Orders"] == "SECONDARY"
    links = {(link.a, link.b): link.kind for link in picture.links}
    assert links["NODE_1", "NODE_2"] == links["NODE_1", "NODE_3"] == "replica"
    assert links["NODE_2", "FSW"] == "witness"
    assert links["APP", "NODE_1"] == links["REPORT", "NODE_3"] == "client"


def test_a_node_without_quorum_is_labeled() -> None:
    world = build_ag_lab()
    apply_lines(world, "pull-cable NODE_1")
    run_until(world, 30)
    face = next(face for face in build_topology_contents(world).servers if face.name == "NODE_1")
    assert "no cluster quorum" in face.faults
    assert [copy.role.text for copy in face.copies] == ["RESOLVING", "RESOLVING"]


def test_no_role_is_green_on_a_node_without_power() -> None:
    world = build_fci_lab()
    duties = []
    for line in ("power-on NODE_2", "power-off NODE_1"):
        apply_lines(world, line)
        face = next(face for face in build_topology_contents(world).servers if face.name == "NODE_1")
        duties.append([(sign.label, sign.color_name) for sign in face.witness_indicators])
    assert duties == [[("SQLFCI1 Online", "ok")], [("SQLFCI1", "idle")]]


def test_a_node_menu_offers_cluster_actions() -> None:
    world = build_ag_lab()
    lines = {offer.line for offer in list_action_offers(world, ActionTarget("server", ("NODE_2",)))}
    assert {"move-role AG1 NODE_2", "stop-cluster NODE_2", "set-weight NODE_2 0", "power-off NODE_2"} <= lines
    bare_lines = {offer.line for offer in list_action_offers(world, ActionTarget("server", ("FSW",)))}
    assert "power-off FSW" in bare_lines
    assert not any(line.startswith(("stop-service", "stop-cluster")) for line in bare_lines)


def test_a_read_only_client_shows_no_writes_and_a_link_to_its_server() -> None:
    world = build_ag_lab()
    apply_lines(world, "power-off NODE_1")
    run_until(world, 30)
    picture = build_topology_contents(world)
    report = next(face for face in picture.clients if face.name == "REPORT")
    server = world.clients["REPORT"].connected_to
    assert report.rate.startswith("0 ")
    assert ("REPORT", server) in {(link.a, link.b) for link in picture.links if link.active}


def test_an_instance_location_and_missing_mirroring_are_no_problems() -> None:
    picture = build_topology_contents(build_fci_lab())
    face = next(face for face in picture.servers if face.name == "SQLFCI1")
    assert (face.host_node, face.faults) == ("on NODE_1", ())
    assert "on NODE_1" in face.accessible_text
    assert [copy.role.label for copy in face.copies] == [""]


def test_an_instance_without_its_node_names_the_node_that_it_moves_to() -> None:
    """An instance has no power switch. The cluster selects its next node long before the instance starts."""
    world = build_fci_lab()
    apply_lines(world, "power-off NODE_1")

    def read_card() -> tuple[str, str]:
        face = next(face for face in build_topology_contents(world).servers if face.name == "SQLFCI1")
        return face.status.text, face.host_node

    assert read_card() == ("node is down", "on NODE_1")
    run_until(world, world.tick / 100 + 10.0)
    assert read_card() == ("node is down", "moving to NODE_2")
    run_until(world, world.tick / 100 + 30.0)
    assert read_card() == ("running", "on NODE_2")
