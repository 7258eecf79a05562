"""Tests of the texts and positions of the topology for a world, without pixels."""

from __future__ import annotations

from itertools import combinations

import pytest
from msgspec.structs import replace

from app.view_models.topology_builder import FULL_COPIES_MAX, build_topology_contents
from app.view_models.topology_contents import CopyDisplay, LinkDisplay, ServerDisplay, TopologyContents
from app.views.topology.card_layout import CardCenter, CardSize, compute_card_centers, find_nearest_object
from engine.model import World
from tests.engine.worlds import DB, M, P, W, apply_lines, build_lab


def find_server(picture: TopologyContents, name: str) -> ServerDisplay:
    return next(face for face in picture.servers if face.name == name)


def get_first_copy(picture: TopologyContents, name: str) -> CopyDisplay:
    return find_server(picture, name).copies[0]


def find_link(picture: TopologyContents, *ends: str) -> LinkDisplay:
    return next(face for face in picture.links if {face.a, face.b} == set(ends))


def list_labels(face: CopyDisplay) -> list[str]:
    state = [face.state.label] if face.state else []
    return [face.role.label, *state, face.db_state.label, *(sign.label for sign in face.indicators)]


def build_lab_picture(*lines: str, run_s: float = 20.0, witness: bool = True) -> TopologyContents:
    world = build_lab(witness=witness)
    apply_lines(world, *lines, wait_s=run_s)
    return build_topology_contents(world)


def test_a_healthy_session_is_drawn() -> None:
    picture = build_lab_picture()
    assert list_labels(get_first_copy(picture, P)) == [
        "PRINCIPAL",
        "SYNCHRONIZED",
        "ONLINE",
        "in service",
        "quorum",
        "witness",
    ]
    assert list_labels(get_first_copy(picture, M)) == [
        "MIRROR",
        "SYNCHRONIZED",
        "RESTORING",
        "quorum",
        "witness",
    ]
    assert [sign.label for sign in find_server(picture, W).witness_indicators] == [f"sees {P}", f"sees {M}"]
    assert find_server(picture, W).kind == "witness"
    queues = get_first_copy(picture, P).queue, get_first_copy(picture, M).queue
    assert [queue.name for queue in queues if queue] == ["send queue", "redo queue"]
    (client,) = picture.clients
    assert client.status.label == f"on {P}"
    assert 200 < float(client.rate.split()[0]) < 280  # Workload1 commits 241 transactions per second.


def test_the_log_flows_from_the_principal_and_is_acknowledged() -> None:
    face = find_link(build_lab_picture(), P, M)
    assert (face.a, face.b, face.kind) == (P, M, "mirroring")
    assert 500.0 < face.log_kb_per_s < 900.0
    assert face.has_synchronous_commit
    assert face.notes[0] == "safety FULL"


def test_after_a_failover_the_log_flows_the_other_way() -> None:
    picture = build_lab_picture(f"power-off {P}", run_s=30.0)
    assert list_labels(get_first_copy(picture, M))[:4] == [
        "PRINCIPAL",
        "DISCONNECTED",
        "ONLINE",
        "unprotected",
    ]
    assert list_labels(get_first_copy(picture, P)) == ["was PRINCIPAL", "instance is down"]
    assert find_server(picture, P).status.label == "power off"
    face = find_link(picture, P, M)
    assert (face.a, face.b, face.log_kb_per_s) == (M, P, 0.0)
    assert picture.clients[0].status.label == f"on {M}"
    assert [sign.label for sign in find_server(picture, W).witness_indicators] == [
        f"does not see {P}",
        f"sees {M}",
    ]


def test_an_unnoticed_loss_is_labeled() -> None:
    early_picture, late_picture = (
        build_lab_picture(f"black-hole {P} {M}", run_s=1.0),
        build_lab_picture(f"black-hole {P} {M}", run_s=20.0),
    )
    assert find_link(early_picture, P, M).status.label == "drops all packets, not detected yet"
    assert find_link(late_picture, P, M).status.label == "drops all packets"


@pytest.mark.parametrize(
    ("line", "ends", "label"),
    [
        (f"cut {P} {M}", (P, M), "cut"),
        (f"cut-one-way {M} {W}", (M, W), f"no packets in direction {M} → {W}"),
        (f"pull-cable {W}", (P, W), "cable pulled"),
        (f"power-off {W}", (M, W), "power off"),
        (f"degrade {P} {M} rtt_ms=80", (P, M), "degraded"),
        (f"hang {M}", (P, M), "not connected"),
    ],
)
def test_each_link_problem_has_its_text(line: str, ends: tuple[str, str], label: str) -> None:
    assert find_link(build_lab_picture(line), *ends).status.label == label


def test_a_degraded_link_shows_its_values() -> None:
    face = find_link(build_lab_picture(f"degrade {P} {W} rtt_ms=80 loss=0.02 bandwidth_mbps=10"), P, W)
    assert face.measured == "80 ms · 10 Mbit/s · 2.0% lost"
    assert face.notes == (face.measured,)


def test_an_isolated_principal_stops_serving() -> None:
    picture = build_lab_picture(f"power-off {M}", f"power-off {W}")
    assert "down" in list_labels(get_first_copy(picture, P))
    assert "no quorum" in list_labels(get_first_copy(picture, P))


@pytest.mark.parametrize(
    ("lines", "name", "label"),
    [
        ((f"power-off {P}", f"power-on {P}"), P, "booting"),
        ((f"hang {M}",), M, "does not respond"),
        ((f"stop-service {W}",), W, "service stopped"),
    ],
)
def test_the_state_of_a_machine_is_shown(lines: tuple[str, ...], name: str, label: str) -> None:
    assert find_server(build_lab_picture(*lines), name).status.label == label


def test_problems_of_a_machine_are_named() -> None:
    picture = build_lab_picture(f"pull-cable {P}", f"slow-disk {P} log factor=10", f"slow-cpu {P} factor=4")
    assert find_server(picture, P).faults == (
        "network cables unplugged",
        "log disk 10× slower",
        "processors 4× slower",
    )


def test_a_client_without_a_server_differs_from_a_stopped_one() -> None:
    assert build_lab_picture("stop-app APP").clients[0].status.label == "stopped"
    looking = build_lab_picture(f"power-off {P}", f"power-off {M}", run_s=30.0)
    assert looking.clients[0].status.label == "looking for a server"


def test_many_databases_become_a_grid() -> None:
    world: World = build_lab()
    for number in range(FULL_COPIES_MAX):
        world.copies[P, f"Db{number}"] = replace(world.copies[P, DB], database=f"Db{number}")
    face = find_server(build_topology_contents(world), P)
    assert face.copies == ()
    assert [database for database, _ in face.grid] == [DB, "Db0", "Db1"]
    assert "3 databases SYNCHRONIZED" in face.accessible_text


def test_every_symbol_has_text_shape_and_tone() -> None:
    picture = build_lab_picture(f"power-off {P}", run_s=5.0)
    for face in picture.servers:
        signs = [
            face.status,
            *face.witness_indicators,
            *(s for c in face.copies for s in (c.role, c.db_state, *c.indicators)),
        ]
        assert all(
            sign.label and sign.shape and sign.color_name in ("ok", "warn", "bad", "info", "idle")
            for sign in signs
        )


def test_the_picture_has_a_spoken_description() -> None:
    spoken = build_lab_picture().spoken
    assert f"{P}: partner, running; {DB}, PRINCIPAL, SYNCHRONIZED" in spoken
    assert f"link {P} to {M}: ok" in spoken


# --- positions --------------------------------------------------------------------------------------------------

CARD, SMALL = CardSize(250, 130), CardSize(180, 70)


def do_overlap(
    first_position: tuple[float, float],
    second_position: tuple[float, float],
    size_a: CardSize,
    size_b: CardSize,
) -> bool:
    return (
        abs(first_position[0] - second_position[0]) < (size_a.width + size_b.width) / 2
        and abs(first_position[1] - second_position[1]) < (size_a.height + size_b.height) / 2
    )


@pytest.mark.parametrize(
    ("partners", "witnesses", "clients"), [(2, 1, 1), (2, 0, 1), (3, 1, 2), (1, 0, 1), (6, 2, 3)]
)
def test_no_card_overlaps_another(partners: int, witnesses: int, clients: int) -> None:
    rows = (
        [(f"P{i}", CARD) for i in range(partners)],
        [(f"W{i}", SMALL) for i in range(witnesses)],
        [(f"C{i}", SMALL) for i in range(clients)],
    )
    sizes = dict(item for row in rows for item in row)
    places = compute_card_centers(*rows, gap=110.0)
    assert places.keys() == sizes.keys()
    for a in places:
        for b in places:
            assert a == b or not do_overlap(places[a], places[b], sizes[a], sizes[b]), (a, b)


def does_pass_behind(start: CardCenter, end: CardCenter, center: CardCenter, size: CardSize) -> bool:
    """Return whether the line from *start* to *end* passes behind the card at *center*. A touched corner does
    not count.
    """
    shares = [n / 200 for n in range(201)]
    points = [(start[0] + n * (end[0] - start[0]), start[1] + n * (end[1] - start[1])) for n in shares]
    return any(
        abs(x - center[0]) < size.width * 0.35 and abs(y - center[1]) < size.height * 0.35 for x, y in points
    )


@pytest.mark.parametrize("partners", [5, 6, 9])
def test_many_replicas_surround_the_witness_and_the_first_two_reach_all(partners: int) -> None:
    row = [(f"P{i}", CARD) for i in range(partners)]
    places = compute_card_centers(row, [("W", SMALL)], [("C", SMALL)], gap=110.0, arc=True)
    sizes = dict(row) | {"W": SMALL, "C": SMALL}
    for a, b in combinations(places, 2):
        assert not do_overlap(places[a], places[b], sizes[a], sizes[b]), (a, b)
    for first in ("P0", "P1"):
        for name, size in row:
            for third in {name for name, _ in row} - {first, name}:
                assert not does_pass_behind(places[first], places[name], places[third], size), (
                    first,
                    name,
                    third,
                )
    width = max(x for x, _ in places.values()) - min(x for x, _ in places.values()) + CARD.width
    assert width < 0.75 * (partners * CARD.width + (partners - 1) * 110.0), "than a row"


@pytest.mark.parametrize("partners", [3, 4])
def test_no_line_between_replicas_passes_behind_a_third(partners: int) -> None:
    row = [(f"P{i}", CARD) for i in range(partners)]
    places = compute_card_centers(row, [("W", SMALL)], [("C", SMALL)], gap=110.0, arc=True)
    for (a, _), (c, _) in combinations(row, 2):
        (x0, y0), (x1, y1) = places[a], places[c]
        for b, size in row:
            x, y = places[b]
            if x0 < x < x1:
                assert y - size.height / 2 > y0 + (y1 - y0) * (x - x0) / (x1 - x0), (a, b, c)
    lowest = max(y + CARD.height / 2 for name, (_, y) in places.items() if name.startswith("P"))
    assert places["C"][1] - SMALL.height / 2 > lowest


def test_arrow_keys_go_to_the_object_in_that_direction() -> None:
    places = {
        "A": (-300.0, 0.0),
        "B": (300.0, 0.0),
        "W": (0.0, -150.0),
        "APP": (0.0, 150.0),
        "A-B": (0.0, 0.0),
    }
    assert find_nearest_object(places, "A", (1.0, 0.0)) == "A-B"
    assert find_nearest_object(places, "A-B", (1.0, 0.0)) == "B"
    assert find_nearest_object(places, "A-B", (0.0, -1.0)) == "W"
    assert find_nearest_object(places, "W", (0.0, -1.0)) is None
