"""Contacts of mirroring sessions and groups: lookup by group finds all, and each end waits for its own event."""

from __future__ import annotations

import pytest

from engine.inputs import InputError
from engine.model import World
from engine.protocol import network
from engine.random_streams import RandomStream
from tests.engine.availability.worlds import build_ag_lab
from tests.engine.worlds import M, P, W, apply_lines, build_lab


def _build_sql_line(server: str, database: str, clause: str) -> str:
    return f"sql {server} ALTER DATABASE [{database}] SET {clause}"


SERVER_VERBS = ("restart-service", "pull-cable", "plug-cable", "hang")
LINES_BY_KIND = {
    "mirroring": [
        *(
            _build_sql_line(P, "Sales000", clause)
            for clause in ("PARTNER OFF", "WITNESS OFF", "PARTNER FAILOVER")
        ),
        *(
            _build_sql_line(M, "Sales001", clause)
            for clause in ("PARTNER SUSPEND", "PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS")
        ),
        _build_sql_line(P, "Sales002", f"WITNESS = 'TCP://{W}:5022'"),
        *(f"{verb} {server}" for verb in SERVER_VERBS for server in (P, M, W)),
        f"cut {P} {M}",
        f"sql {M} ALTER ENDPOINT Mirroring STATE = STOPPED",
        f"slow-cpu {M} factor=500",
        "revert-all",
    ],
    "group": [
        "sql NODE_1 ALTER AVAILABILITY GROUP [AG1] REMOVE REPLICA ON 'NODE_3'",
        "sql NODE_2 ALTER AVAILABILITY GROUP [AG1] FAILOVER",
        "sql NODE_3 ALTER AVAILABILITY GROUP [AG1] FORCE_FAILOVER_ALLOW_DATA_LOSS",
        "sql NODE_1 DROP AVAILABILITY GROUP [AG1]",
        *(f"{verb} NODE_{n}" for verb in SERVER_VERBS for n in (1, 2, 3)),
    ],
}


def _find_expected_wait(world: World, guid: int, waiting_server: str, peer: str) -> str:
    """Return the event for which the end *waiting_server* of a connection would wait if no other connection existed."""
    path = network.NetworkPath(world, waiting_server, peer)
    if world.contacts[guid, waiting_server, peer].connected:
        link_state = network.detect_peer_signal(world, guid, waiting_server, peer, path)
        return "" if link_state == "ok" else link_state
    return "reconnect" if network.can_connect(world, guid, waiting_server, peer, path) else ""


@pytest.mark.parametrize(("kind", "seed"), [(kind, seed) for kind in LINES_BY_KIND for seed in range(4)])
def test_contacts_stay_consistent_after_random_actions(kind: str, seed: int) -> None:
    world = build_lab(databases=3) if kind == "mirroring" else build_ag_lab()
    chance, lines = RandomStream.from_seed(seed), LINES_BY_KIND[kind]
    for _ in range(10):
        try:
            apply_lines(
                world, lines[chance.draw_integer(0, len(lines) - 1)], wait_s=chance.draw_uniform(0.0, 15.0)
            )
        except InputError:
            continue
        contacts_found = {
            key: contact for guid in world.contact_keys for key, contact in world.list_contacts(guid)
        }
        assert contacts_found == world.contacts
        for guid in world.groups:
            contact_keys = [key for key in world.contacts if key[0] == guid]
            assert [key for key, _ in world.list_contacts(guid)] == contact_keys
        network.schedule_detections(world)
        for (guid, me, peer), contact in world.contacts.items():
            if world.instances[me].answering:
                assert contact.pending == _find_expected_wait(world, guid, me, peer), (me, peer)
