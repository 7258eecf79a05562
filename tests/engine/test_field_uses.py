"""Declared uses of world parts and drill attributes in forks, hashes, comparisons and snapshots."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, fields

from engine.drill.running.state import STORAGE_RULES, StorageRule
from engine.flow import Flow
from engine.model import World
from engine.model.world import FieldUse
from engine.random_streams import RandomStream
from tests.engine.drill.texts import build_drill

SHARED_BY_FORKS = {
    "seed", "chance", "flow", "settings", "tick", "sql_work", "counter", "log_was_full", "windows_held_log",
    "settlings", "written",
}  # fmt: skip
CONTAINERS = (dict, list, set)


def list_parts_without_use(world: type[World]) -> list[str]:
    """Return the containers of a world that have no declared use."""
    return [
        field.name
        for field in fields(world)
        if field.name not in SHARED_BY_FORKS and "use" not in field.metadata
    ]


def test_every_container_of_a_world_states_its_use() -> None:
    assert not list_parts_without_use(World)
    world = World(seed=1, chance=RandomStream.from_seed(1), flow=Flow.create_empty())
    stated = {field.name for field in fields(World) if isinstance(getattr(world, field.name), CONTAINERS)}
    assert stated == {field.name for field in fields(World) if "use" in field.metadata}


def test_a_new_field_without_metadata_is_found() -> None:
    @dataclass(slots=True)
    class Grown(World):
        quorum_notes: dict[str, str] = dataclasses.field(default_factory=dict)

    assert list_parts_without_use(Grown) == ["quorum_notes"]


def test_a_fork_has_its_own_copies() -> None:
    world = World(
        seed=1, chance=RandomStream.from_seed(1), flow=Flow.create_empty(), tick=7, counter=3, settlings=2
    )
    twin = world.fork()
    for field in fields(World):
        own_value, fork_value = getattr(world, field.name), getattr(twin, field.name)
        assert type(own_value) is type(fork_value), field.name
        assert (own_value is fork_value) == (field.name in SHARED_BY_FORKS - {"chance", "flow"}), field.name
        if field.name not in ("flow", "written"):
            assert own_value == fork_value, field.name


def test_hashed_fields_are_forked_and_stored() -> None:
    for field in fields(World):
        use = field.metadata.get("use", FieldUse.NONE)
        if use & (FieldUse.HASH | FieldUse.HASH_IF_ANY | FieldUse.DECIDE | FieldUse.COMPARE | FieldUse.ASK):
            assert FieldUse.FORK in use, field.name
            assert FieldUse.BLOCKS in use or field.name == "errorlog", field.name


def test_every_attribute_of_a_drill_states_its_storage() -> None:
    base_drill = build_drill()
    assert {*vars(base_drill)} == {*STORAGE_RULES}
    grows = {name for name, value in vars(base_drill).items() if isinstance(value, CONTAINERS)}
    shared = {name for name, storage in STORAGE_RULES.items() if storage is StorageRule.SHARED}
    assert grows & shared == {
        "errorlog_before", "states_before", "_conditions", "_watched", "_places", "_log_of", "_held", "_asked_besides",
    }, "replaced as a whole"  # fmt: skip
