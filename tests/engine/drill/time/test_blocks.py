"""Arrays that are split into blocks: restored unchanged, with unchanged blocks shared."""

from __future__ import annotations

import numpy as np
import pytest

from engine.drill.time.snapshots import (
    ENTRIES_PER_SNAPSHOT_BLOCK,
    pack_array,
    split_into_blocks,
    unpack_array,
)
from tests.room import measure_memory_bytes


@pytest.mark.parametrize(
    "count",
    [0, 1, ENTRIES_PER_SNAPSHOT_BLOCK - 1, ENTRIES_PER_SNAPSHOT_BLOCK, 3 * ENTRIES_PER_SNAPSHOT_BLOCK + 5],
)
def test_dictionaries_and_lists_keep_their_order(count: int) -> None:
    all_values = {str(-number): number for number in range(count)}
    assert list(split_into_blocks(all_values).as_dict().items()) == list(all_values.items())
    assert split_into_blocks(list(all_values)).as_list() == list(all_values)


def test_one_change_costs_one_block() -> None:
    all_values = {str(number): object() for number in range(4 * ENTRIES_PER_SNAPSHOT_BLOCK)}
    before = split_into_blocks(all_values)
    assert split_into_blocks(all_values.copy(), before) is before
    all_values[str(ENTRIES_PER_SNAPSHOT_BLOCK)] = object()
    blocks_after = split_into_blocks(all_values, before)
    assert blocks_after.keys is before.keys
    assert [a is b for a, b in zip(blocks_after.values, before.values, strict=True)] == [
        True,
        False,
        True,
        True,
    ]
    assert blocks_after.as_dict() == all_values


def test_a_value_of_another_type_is_a_change() -> None:
    before = split_into_blocks([1, 2])
    assert isinstance(split_into_blocks([1.0, 2], before).as_list()[0], float)


def test_entries_can_be_added_and_removed() -> None:
    before = split_into_blocks(list(range(1_000, 1_000 + 2 * ENTRIES_PER_SNAPSHOT_BLOCK)))
    more_blocks = split_into_blocks([*before.as_list(), 7], before)
    fewer = split_into_blocks(before.as_list()[: ENTRIES_PER_SNAPSHOT_BLOCK + 1], before)
    assert more_blocks.values[:2] == before.values
    assert more_blocks.values[0] is fewer.values[0] is before.values[0]
    assert (more_blocks.as_list()[-1], len(fewer.as_list())) == (7, ENTRIES_PER_SNAPSHOT_BLOCK + 1)


def test_compressed_data_is_small_and_keeps_its_types() -> None:
    all_values = {
        str(number): (float(number), number, None) for number in range(4 * ENTRIES_PER_SNAPSHOT_BLOCK)
    }
    before = split_into_blocks(all_values)
    bytes_used = measure_memory_bytes([before.values])
    blocks_after = split_into_blocks(all_values | {"0": (1, 2.0, None)}, before)
    before.pack(blocks_after)
    assert repr(before.as_dict()) == repr(all_values)
    assert repr(blocks_after.as_dict()) == repr(all_values | {"0": (1, 2.0, None)})
    assert blocks_after.values[1:] == before.values[1:], (
        "what the newest moment has stays as it is, to be shared further"
    )
    assert split_into_blocks(blocks_after.as_dict(), blocks_after) is blocks_after
    before.pack(split_into_blocks({}))
    assert measure_memory_bytes([before.values]) < bytes_used / 5
    assert repr(before.as_dict()) == repr(all_values)


@pytest.mark.parametrize("count", [0, 1, 21])
def test_restored_arrays_are_writable(count: int) -> None:
    array = np.arange(count * 6, dtype=float).reshape(count, 2, 3)
    unpacked = unpack_array(pack_array(array), template=np.zeros((0, 2, 3)))
    assert np.array_equal(unpacked, array)
    assert unpacked.flags.writeable
