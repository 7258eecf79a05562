"""What is cut into blocks comes back as it was, and shares what has not changed."""

from __future__ import annotations

import numpy as np
import pytest

from engine.drill.blocks import BLOCK, ROWS, array_of, blocks, rows


@pytest.mark.parametrize("count", [0, 1, BLOCK - 1, BLOCK, 3 * BLOCK + 5])
def test_dictionaries_and_lists_come_back_in_their_order(count: int) -> None:
    whole = {str(-number): number for number in range(count)}
    assert list(blocks(whole).as_dict().items()) == list(whole.items())
    assert blocks(list(whole)).as_list() == list(whole)


def test_one_change_costs_one_block() -> None:
    whole = {str(number): object() for number in range(4 * BLOCK)}
    before = blocks(whole)
    assert blocks(whole.copy(), before) is before
    whole[str(BLOCK)] = object()
    after = blocks(whole, before)
    assert after.keys is before.keys
    assert [a is b for a, b in zip(after.values, before.values, strict=True)] == [True, False, True, True]
    assert after.as_dict() == whole


def test_what_is_equal_and_not_the_same_is_a_change() -> None:
    before = blocks([1, 2])
    assert blocks([1.0, 2], before).as_list()[0].hex()


def test_more_and_fewer_entries() -> None:
    before = blocks(list(range(1_000, 1_000 + 2 * BLOCK)))
    more = blocks([*before.as_list(), 7], before)
    fewer = blocks(before.as_list()[: BLOCK + 1], before)
    assert more.values[:2] == before.values
    assert more.values[0] is fewer.values[0] is before.values[0]
    assert (more.as_list()[-1], len(fewer.as_list())) == (7, BLOCK + 1)


@pytest.mark.parametrize("count", [0, 1, ROWS, 5 * ROWS + 1])
def test_arrays_come_back_and_share_equal_rows(count: int) -> None:
    array = np.arange(count * 3, dtype=float).reshape(count, 3)
    cut = rows(array)
    back = array_of(cut, like=np.zeros((0, 3)))
    assert np.array_equal(back, array)
    assert back.flags.writeable
    if count > ROWS:
        array[0, 0] = -1.0
        after = rows(array, cut)
        assert [a is b for a, b in zip(after, cut, strict=True)] == [False] + [True] * (len(cut) - 1)
        assert len(rows(array[:ROWS], cut)) == 1
