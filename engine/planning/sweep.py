"""Sweep of one field of a plan, with all others fixed: figures 8 to 15 of the white paper for any plan."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from engine import arithmetic
from engine.flow import SafetyMode
from engine.planning.plan import MirroringPlan, build_plan_setup
from engine.planning.steady_state import SteadyState, compute_steady_states

Array = npt.NDArray[np.float64]

SWEPT_RTTS_MS: Final = arithmetic.build_geometric_progression(0.1, 300.0, 41)
"""Round trips, from a local network to the other side of the earth."""

SWEPT_BANDWIDTHS_MBPS: Final = arithmetic.build_geometric_progression(0.056, 10_000.0, 41)
"""Bandwidths, from 56 kbps (the slowest in [WP figure 14]) to ten times the fastest."""

REFINEMENT_POINTS: Final = 9
"""Number of additional points that the search for a limit computes between two points of a sweep."""


class Sweep(Struct, frozen=True):
    """Figures of a plan in steady state, with several values *x* of one field of the plan (*axis*)."""

    axis: str  # name of the field of MirroringPlan that varies
    x: tuple[float, ...]
    safety: SafetyMode
    points: tuple[SteadyState, ...]

    def read_column(self, name: str) -> Array:
        """Return the values of one of `steady_state.STEADY_STATE_FIGURES` at all points."""
        return np.array([getattr(point, name) for point in self.points])


def sweep_values(
    plan: MirroringPlan, axis: str, values: Sequence[float], safety: SafetyMode | None = None
) -> Sweep:
    """Compute *plan* with each of *values* in its field *axis*.

    *safety*: safety level instead of the plan's own.
    """
    mode = plan.safety if safety is None else safety
    setups = tuple(build_plan_setup(plan.with_changes(**{axis: value}), mode) for value in values)
    if mode is SafetyMode.NONE:  # without mirroring, the link is not used
        return Sweep(
            axis, tuple(values), mode, compute_steady_states((build_plan_setup(plan, mode),)) * len(values)
        )
    return Sweep(axis, tuple(values), mode, compute_steady_states(setups))


def sweep_rtt(
    plan: MirroringPlan, rtts: Sequence[float] = SWEPT_RTTS_MS, safety: SafetyMode | None = None
) -> Sweep:
    """Sweep the round trip over *rtts*, in ms."""
    return sweep_values(plan, "rtt_ms", rtts, safety)


def sweep_bandwidth(
    plan: MirroringPlan, mbps: Sequence[float] = SWEPT_BANDWIDTHS_MBPS, safety: SafetyMode | None = None
) -> Sweep:
    """Sweep the bandwidth over *mbps*, in Mbps."""
    return sweep_values(plan, "bandwidth_mbps", mbps, safety)


def find_last_acceptable(
    plan: MirroringPlan,
    axis: str,
    values: Sequence[float],
    safety: SafetyMode,
    is_acceptable: Callable[[SteadyState], bool],
) -> float | None:
    """Return the last value before the first one that *is_acceptable* rejects.

    The search is refined between the two *values* at which the result changes. *axis*: field of the
    plan that has these values. *safety*: safety level instead of the plan's own. Return None if the
    first value fails, and the last value if none fails.
    """
    last_value: float | None = None
    bracket: tuple[float, float] | None = None
    curve = sweep_values(plan, axis, values, safety)
    if is_acceptable(curve.points[0]):
        last_value = curve.x[0]
    for (x, _), (next_x, point) in pairwise(zip(curve.x, curve.points, strict=True)):
        if last_value is None or bracket is not None:
            break
        if is_acceptable(point):
            last_value = next_x
        else:
            bracket = (x, next_x)
    if bracket is None:
        return last_value
    finer = sweep_values(
        plan, axis, arithmetic.build_geometric_progression(*bracket, REFINEMENT_POINTS + 2)[1:-1], safety
    )
    for x, point in zip(finer.x, finer.points, strict=True):
        if not is_acceptable(point):
            break
        last_value = x
    return last_value
