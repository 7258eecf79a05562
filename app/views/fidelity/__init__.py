"""View that compares the simulation with published figures."""

from app.views.fidelity.fidelity import FidelityView

__all__ = ["FidelityView"]
