"""The papers' figures beside ours."""

from app.views.fidelity.fidelity import FidelityView

__all__ = ["FidelityView"]
