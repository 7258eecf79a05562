"""Chain of commits: short in a hash, flat when pickled, shared by forks, and with one path for each copy."""

from __future__ import annotations

import copy
import pickle

from engine.commits import USER_KEY_PREFIX, build_commit_chain
from engine.protocol import commits
from tests.assertions import require
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import P, build_lab

LONG_CHAIN = tuple((float(number), 0.5, number, (("t", number),)) for number in range(1, 5_000))


def test_a_long_chain_is_pickled_and_copied_and_keeps_its_digest() -> None:
    last = build_commit_chain(LONG_CHAIN)
    assert last is not None
    for commit_copy in (pickle.loads(pickle.dumps(last)), copy.deepcopy(last)):
        assert repr(commit_copy) == repr(last)
    assert len(repr(last)) < 100


def test_a_different_past_has_a_different_digest() -> None:
    other_chain = build_commit_chain(((1.0, 0.5, 1, (("t", "other"),)), *LONG_CHAIN[1:]))
    assert repr(other_chain) != repr(build_commit_chain(LONG_CHAIN))


def test_a_path_contains_the_commits_up_to_its_position() -> None:
    world = build_lab(workload="none")
    world.commits[1, 0] = trunk = require(build_commit_chain(LONG_CHAIN[:10]))
    world.commits[1, 7] = branch = require(build_commit_chain((*LONG_CHAIN[:4], (100.0, 0.5, 1, ()))))
    whole_chain, parted = ((0, 0.0),), ((0, 0.0), (7, 4.2))
    assert commits.find_last_commit(world, 1, whole_chain, 1e9) is trunk
    assert commits.find_last_commit(world, 1, whole_chain, 9.5) is trunk.previous
    assert commits.find_last_commit(world, 1, parted, 100.0) is branch
    for end in (99.0, 4.0, 4.1):
        last_commit = commits.find_last_commit(world, 1, parted, end)
        assert last_commit is not None
        assert last_commit.kb == 4.0
    assert commits.find_last_commit(world, 1, parted, 0.5) is None
    assert commits.find_last_commit(world, 2, whole_chain, 1e9) is None


def test_users_follow_the_chain() -> None:
    chain_made = build_commit_chain(
        (
            (1.0, 1.0, 0, ((USER_KEY_PREFIX + "a", "A"),)),
            (2.0, 1.0, 0, ((USER_KEY_PREFIX + "a", None), (USER_KEY_PREFIX + "b", "B"))),
        )
    )
    assert chain_made is not None
    assert chain_made.previous is not None
    assert (dict(chain_made.previous.users), dict(chain_made.users)) == ({"a": "A"}, {"b": "B"})


def test_diverged_forks_have_different_hashes() -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, "CREATE TABLE Sales.dbo.t (n int)", wait_s=1)
    first_world, two = world.fork(), world.fork()
    submit_batch(first_world, P, "INSERT Sales.dbo.t VALUES (1)", wait_s=1)
    submit_batch(two, P, "INSERT Sales.dbo.t VALUES (2)", wait_s=1)
    assert len({world.compute_state_hash(), first_world.compute_state_hash(), two.compute_state_hash()}) == 3
    assert [
        submit_batch(variant, P, "SELECT n FROM Sales.dbo.t").grids for variant in (first_world, two, world)
    ] == [
        [[[1]]],
        [[[2]]],
        [[]],
    ]
