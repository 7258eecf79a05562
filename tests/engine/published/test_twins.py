"""The twins that the flow model is measured against do the same work."""

from __future__ import annotations

import sys

import pytest

from engine.flow import Flow, Mode, add_pair, run
from engine.flow.advance import arrays
from engine.flow.sites import WORKLOAD1, WORKLOAD2
from engine.published.measure import setup_of
from engine.published.twins import SimPyMissing, plain_advance, simpy_model


def test_plain_python_is_the_same_source_to_the_bit() -> None:
    flow = Flow.empty()
    add_pair(flow, setup_of(WORKLOAD1, Mode.FULL, rtt_ms=20.0))
    add_pair(flow, setup_of(WORKLOAD2, Mode.OFF))
    twin = flow.fork()
    run(flow, 40)
    advance = plain_advance()
    assert not hasattr(advance, "py_func"), "compiled"
    room = twin.sources[:0, :, None]
    assert advance(*arrays(twin), room, room, twin.clock, 40, 0, twin.step_s) == 40
    assert twin.digest() == flow.digest()


def test_the_event_by_event_model_agrees_with_the_flow() -> None:
    play = simpy_model(1)
    play(10.0)
    assert play(40.0).transactions_per_s == pytest.approx(238.6, rel=0.02)


def test_without_simpy_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "simpy", None)
    with pytest.raises(SimPyMissing, match="development dependencies"):
        simpy_model(1)
