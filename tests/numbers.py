"""Check that all figures of a flow are numbers."""

from __future__ import annotations

import numpy as np

from engine.flow import Flow


def finite(flow: Flow) -> bool:
    """Neither infinite nor undefined, in state and parameters."""
    arrays = (flow.sources, flow.streams, flow.source_params, flow.stream_params, flow.hosts, flow.history)
    return all(np.isfinite(array).all() for array in arrays)
