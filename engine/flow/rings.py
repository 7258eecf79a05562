"""Rings in which streams store their last steps: an array by stream, ring and step."""

from __future__ import annotations

import numpy as np

from engine.flow.kernel import Array


def shorten_steps(rings: Array, step_number: int, factor: int) -> Array:
    """Return rings with *factor* steps for each old one, interpolated. *step_number* is the number of the last step."""
    length = rings.shape[2]
    finer = np.zeros((*rings.shape[:2], length * factor))
    for back in range(length * factor):
        newer, older = back // factor, min(back // factor + 1, length - 1)
        part = back % factor / factor
        past = rings[:, :, (step_number - newer) % length]
        finer[:, :, (step_number - back) % (length * factor)] = past + part * (
            rings[:, :, (step_number - older) % length] - past
        )
    return finer


def lengthen_rings(rings: Array, step_number: int, length: int) -> Array:
    """Return rings of *length* steps; earlier steps repeat the oldest known one."""
    grown = np.zeros((*rings.shape[:2], length))
    for back in range(length):
        grown[:, :, (step_number - back) % length] = rings[
            :, :, (step_number - min(back, rings.shape[2] - 1)) % rings.shape[2]
        ]
    return grown
