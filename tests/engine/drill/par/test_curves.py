"""Value V(t) over a run: it never rises, even if players cause faults before the scenario does."""

from __future__ import annotations

from itertools import islice

import pytest

from engine.drill.par.regret import VALUE_RISE_MAX, analyze_regret
from engine.generators import run_to_completion
from tests import par_curves

RUNS_PER_ROUND = 9
HARD_RUN_NUMBERS = (13 * RUNS_PER_ROUND + 2, 20 * RUNS_PER_ROUND + 4)
"""Numbers of runs whose players remove the session and recover the mirror, or unplug a node that its instance
then leaves.
"""

QUICK_RUN_NUMBERS = (9 + 5,)
"""Numbers of runs for the normal suite: one set-up. The other runs of four rounds take a minute."""


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=() if number in QUICK_RUN_NUMBERS else pytest.mark.slow)
        for number in (*range(4 * RUNS_PER_ROUND), *HARD_RUN_NUMBERS)
    ],
)
def test_the_value_never_rises_with_known_information(number: int) -> None:
    _, _, drill = next(islice(par_curves.play_hostile_runs(number), 1))
    account = run_to_completion(analyze_regret(drill))
    assert account.largest_rise <= VALUE_RISE_MAX
    assert par_curves.measure_rise(account) == 0.0
    assert account.curve[-1][1] == drill.compute_score().total
