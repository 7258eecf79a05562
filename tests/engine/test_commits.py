"""The chain of commits: short in a hash, flat when pickled, shared by forks, one path per copy."""

from __future__ import annotations

import copy
import pickle

from engine.commits import USER, chain
from engine.protocol import commits
from tests.assertions import require
from tests.engine.tsql.console import ask
from tests.engine.worlds import P, lab

LONG = tuple((float(number), 0.5, number, (("t", number),)) for number in range(1, 5_000))


def test_a_long_chain_is_pickled_and_copied_and_keeps_its_digest() -> None:
    last = chain(LONG)
    assert last is not None
    for again in (pickle.loads(pickle.dumps(last)), copy.deepcopy(last)):
        assert repr(again) == repr(last)
    assert len(repr(last)) < 100


def test_a_different_past_has_a_different_digest() -> None:
    other = chain(((1.0, 0.5, 1, (("t", "other"),)), *LONG[1:]))
    assert repr(other) != repr(chain(LONG))


def test_a_path_contains_the_commits_up_to_its_position() -> None:
    world = lab(workload="none")
    world.commits[1, 0] = trunk = require(chain(LONG[:10]))
    world.commits[1, 7] = branch = require(chain((*LONG[:4], (100.0, 0.5, 1, ()))))
    whole, parted = ((0, 0.0),), ((0, 0.0), (7, 4.2))
    assert commits.find_last_commit(world, 1, whole, 1e9) is trunk
    assert commits.find_last_commit(world, 1, whole, 9.5) is trunk.previous
    assert commits.find_last_commit(world, 1, parted, 100.0) is branch
    for end in (99.0, 4.0, 4.1):
        found = commits.find_last_commit(world, 1, parted, end)
        assert found is not None
        assert found.kb == 4.0
    assert commits.find_last_commit(world, 1, parted, 0.5) is None
    assert commits.find_last_commit(world, 2, whole, 1e9) is None


def test_users_follow_the_chain() -> None:
    made = chain(
        ((1.0, 1.0, 0, ((USER + "a", "A"),)), (2.0, 1.0, 0, ((USER + "a", None), (USER + "b", "B"))))
    )
    assert made is not None
    assert made.previous is not None
    assert (dict(made.previous.users), dict(made.users)) == ({"a": "A"}, {"b": "B"})


def test_diverged_forks_have_different_hashes() -> None:
    world = lab(workload="none")
    ask(world, P, "CREATE TABLE Sales.dbo.t (n int)", then_s=1)
    one, two = world.fork(), world.fork()
    ask(one, P, "INSERT Sales.dbo.t VALUES (1)", then_s=1)
    ask(two, P, "INSERT Sales.dbo.t VALUES (2)", then_s=1)
    assert len({world.state_hash(), one.state_hash(), two.state_hash()}) == 3
    assert [ask(each, P, "SELECT n FROM Sales.dbo.t").grids for each in (one, two, world)] == [
        [[[1]]],
        [[[2]]],
        [[]],
    ]
