"""Fixtures for tests of views: a hand-made world and run."""

from __future__ import annotations

import pytest

from engine.flow import Flow
from engine.model import Computer, Instance, Role, World
from engine.random_streams import RandomStream
from tests.app.views.fakes import FakeRun, build_mirrored_copy


@pytest.fixture
def world() -> World:
    """Return the servers and database copies of the lab at 12 s, without the flow model."""
    new_world = World(seed=1, chance=RandomStream.from_seed(1), flow=Flow.create_empty(), tick=1200)
    for host, name in enumerate(("SERVER_A", "SERVER_B", "SERVER_W")):
        new_world.computers[name] = Computer(name=name)
        new_world.instances[name] = Instance(
            name=name, computer=name, host=host, version=2005 if host < 2 else 2008
        )
    new_world.copies["SERVER_A", "Sales"] = build_mirrored_copy("SERVER_A", "SERVER_B", Role.PRINCIPAL)
    new_world.copies["SERVER_B", "Sales"] = build_mirrored_copy("SERVER_B", "SERVER_A", Role.MIRROR)
    return new_world


@pytest.fixture
def run(world: World) -> FakeRun:
    return FakeRun(world)
