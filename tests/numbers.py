"""Check that all values of a flow are finite."""

from __future__ import annotations

import numpy as np

from engine.flow import Flow


def is_finite(flow: Flow) -> bool:
    """Return whether the state and the parameters of *flow* contain neither infinity nor NaN."""
    arrays = (flow.sources, flow.streams, flow.source_params, flow.stream_params, flow.hosts, flow.history)
    return all(np.isfinite(array).all() for array in arrays)
