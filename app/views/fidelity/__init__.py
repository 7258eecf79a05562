"""Comparison with the papers' figures."""

from app.views.fidelity.fidelity import FidelityView

__all__ = ["FidelityView"]
