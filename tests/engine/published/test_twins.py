"""SimPy reference model, which performs the same work as the flow model."""

from __future__ import annotations

import sys

import pytest

from tests.simpy_models import SimPyMissingError, build_simpy_model


def test_the_event_by_event_model_agrees_with_the_flow() -> None:
    play = build_simpy_model(1)
    play(10.0)
    assert play(40.0).transactions_per_s == pytest.approx(238.6, rel=0.02)


def test_a_missing_simpy_package_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "simpy", None)
    with pytest.raises(SimPyMissingError, match="development dependencies"):
        build_simpy_model(1)
