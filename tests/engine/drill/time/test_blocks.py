"""Arrays that are cut into blocks come back unchanged, and share unchanged parts."""

from __future__ import annotations

import numpy as np
import pytest

from engine.drill.time.snapshots import BLOCK, pack_array, split_into_blocks, unpack_array
from tests.room import room


@pytest.mark.parametrize("count", [0, 1, BLOCK - 1, BLOCK, 3 * BLOCK + 5])
def test_dictionaries_and_lists_keep_their_order(count: int) -> None:
    whole = {str(-number): number for number in range(count)}
    assert list(split_into_blocks(whole).as_dict().items()) == list(whole.items())
    assert split_into_blocks(list(whole)).as_list() == list(whole)


def test_one_change_costs_one_block() -> None:
    whole = {str(number): object() for number in range(4 * BLOCK)}
    before = split_into_blocks(whole)
    assert split_into_blocks(whole.copy(), before) is before
    whole[str(BLOCK)] = object()
    after = split_into_blocks(whole, before)
    assert after.keys is before.keys
    assert [a is b for a, b in zip(after.values, before.values, strict=True)] == [True, False, True, True]
    assert after.as_dict() == whole


def test_an_equal_but_different_object_is_a_change() -> None:
    before = split_into_blocks([1, 2])
    assert isinstance(split_into_blocks([1.0, 2], before).as_list()[0], float)


def test_entries_can_be_added_and_removed() -> None:
    before = split_into_blocks(list(range(1_000, 1_000 + 2 * BLOCK)))
    more = split_into_blocks([*before.as_list(), 7], before)
    fewer = split_into_blocks(before.as_list()[: BLOCK + 1], before)
    assert more.values[:2] == before.values
    assert more.values[0] is fewer.values[0] is before.values[0]
    assert (more.as_list()[-1], len(fewer.as_list())) == (7, BLOCK + 1)


def test_compressed_data_is_small_and_keeps_its_types() -> None:
    whole = {str(number): (float(number), number, None) for number in range(4 * BLOCK)}
    before = split_into_blocks(whole)
    taken = room([before.values])
    after = split_into_blocks(whole | {"0": (1, 2.0, None)}, before)
    before.pack(after)
    assert repr(before.as_dict()) == repr(whole)
    assert repr(after.as_dict()) == repr(whole | {"0": (1, 2.0, None)})
    assert after.values[1:] == before.values[1:], (
        "what the newest moment has stays as it is, to be shared further"
    )
    assert split_into_blocks(after.as_dict(), after) is after
    before.pack(split_into_blocks({}))
    assert room([before.values]) < taken / 5
    assert repr(before.as_dict()) == repr(whole)


@pytest.mark.parametrize("count", [0, 1, 21])
def test_restored_arrays_are_writable(count: int) -> None:
    array = np.arange(count * 6, dtype=float).reshape(count, 2, 3)
    back = unpack_array(pack_array(array), template=np.zeros((0, 2, 3)))
    assert np.array_equal(back, array)
    assert back.flags.writeable
