"""Conflicts of a listener's names and addresses with other objects."""

from __future__ import annotations

import pytest

from engine.cluster import config
from tests.engine.availability.test_statements import ALTER_AG1, run_batch
from tests.engine.availability.worlds import build_ag_lab, run_until

ADD_LISTENER_TEMPLATE = (
    ALTER_AG1 + "ADD LISTENER '{name}' (WITH IP ((N'{address}', N'255.255.255.0')), PORT = 1433)"
)


@pytest.mark.parametrize("name", ["NODE_2", "CLU1", "clu1"])
def test_the_name_of_a_computer_or_cluster_is_refused(name: str) -> None:
    world = build_ag_lab()
    run_until(world, 5)
    assert run_batch(world, "NODE_1", ALTER_AG1 + "REMOVE LISTENER 'AGL1'") == []
    assert run_batch(world, "NODE_1", ADD_LISTENER_TEMPLATE.format(name=name, address="10.0.0.78")) == [19471]


@pytest.mark.parametrize("computer", ["NODE_1", "NODE_2", "FSW"])
def test_the_address_of_a_computer_is_refused(computer: str) -> None:
    world = build_ag_lab()
    run_until(world, 5)
    assert run_batch(world, "NODE_1", ALTER_AG1 + "REMOVE LISTENER 'AGL1'") == []
    address = config.get_computer_address(world, computer)
    assert run_batch(world, "NODE_1", ADD_LISTENER_TEMPLATE.format(name="AGL1", address=address)) == [19476]
    assert run_batch(world, "NODE_1", ADD_LISTENER_TEMPLATE.format(name="AGL1", address="10.0.0.78")) == []
