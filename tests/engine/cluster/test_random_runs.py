"""Few random runs on each lab; `python -m tests.engine.cluster.random_runs 500` plays many runs."""

from __future__ import annotations

import pytest

from tests.engine.cluster.random_runs import LABS, RandomRun


@pytest.mark.parametrize("lab", LABS)
def test_random_runs_have_no_split_brain_and_no_loss_and_recover(lab: str) -> None:
    for seed in range(4):
        run = RandomRun(lab, seed, settles_faults=seed % 2 == 0)
        assert not run.play(), (lab, seed, run.lines)
        assert run.acknowledged_rows or run.data_loss_accepted
