"""The papers' figures beside ours."""

from app.views.fidelity.fidelity import Fidelity

__all__ = ["Fidelity"]
