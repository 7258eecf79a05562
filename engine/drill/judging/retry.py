"""Start time of a retry: early enough for a person to look, think and type before the decisive moment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.drill.judging.counterfactual import is_inspection
from engine.inputs import Input
from engine.model import Tick, ticks
from engine.verbs import REMARKS

LOOK_S: Final = 5.0
"""Time for a query and its answer. Assumed."""

THINK_S: Final = 1.35
KEY_S: Final = 0.28
"""Time to prepare an action, and per key for an average typist [Card, Moran and Newell 1980, keystroke-level model]."""

LEAD_S_MAX: Final = 60.0
"""Maximum typing time: longer texts are pasted, or typed while the clock is paused. Assumed."""


def find_retry_tick(tick: Tick, act: Input | None, journal: Iterable[Input]) -> Tick:
    """Return the latest tick that leaves enough time before *tick* to type *act* (None: any action).

    If there is time for a look after them, actions of the *journal* before that tick are kept.
    """
    typed = 0 if act is None else len(act.args[-1] if act.verb in ("sql", "ps") else act.command_text)
    early = tick - ticks(min(LEAD_S_MAX, LOOK_S + THINK_S + KEY_S * typed))
    done = [item.tick for item in journal if item.verb not in REMARKS and not is_inspection(item)]
    kept = [at + 1 for at in done if early <= at <= tick - ticks(LOOK_S)]
    return max(0, early, *kept)
