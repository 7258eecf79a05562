"""Trials as jobs of a process that has only the text of the drill."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from engine.drill.authoring.scenario import load_scenario
from engine.drill.par.trials import Decision, Part, Rules, Trial, Trials

Drill = tuple[str, str, int]
"""Name and text of the scenario, and the seed."""


def warm_up(drill: Drill) -> None:
    """Load all that a job of the drill needs."""
    trials = _trials(drill)
    trials.play(trials.begun.fork(), (), Rules())


def trials_at(
    search: str, drill: Drill, rules: Rules, news: Sequence[bytes], decision: Decision, part: Part, keep: bool
) -> list[Trial]:
    """Return the trials at a part of a decision, except states reported as *news* now or earlier in this *search*.

    *keep*: also except states that this process has found itself. This is allowed if the process plays all its
    jobs in order and nobody repeats any: the caller knows the states from an earlier job.
    """
    known = _known_states(search, rules)
    known.update(news)
    found = []
    for trial in _trials(drill).try_neighbors(decision, rules, known, part):
        if trial is not None:
            found.append(trial)
            if keep:
                known.add(trial.state)
    return found


@lru_cache(maxsize=1)
def _trials(drill: Drill) -> Trials:
    name, text, seed = drill
    return Trials(load_scenario(text, f"{name}.toml"), seed)


@lru_cache(maxsize=2)  # the fair search and the clairvoyant search
def _known_states(search: str, rules: Rules) -> set[bytes]:
    """Return the states that this process knows from *search*: the same set for every call, to add to."""
    return set()
