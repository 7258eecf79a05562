"""Tests of the charts of sweep results."""

from __future__ import annotations

from app.cli.sweep import draw_plot
from engine.drill.judging.sweep import RunOutcome

RUNS = [RunOutcome("small", "reference", seed, float(seed), seed > 2, 4.0, None, 0.0) for seed in range(1, 6)]


def test_the_picture_has_a_line_per_player_and_one_for_the_limit() -> None:
    svg_text = draw_plot([*RUNS, RunOutcome("small", "idle", 1, 2.0)], "points", 4.0)
    assert svg_text.count('fill="none"') == 2
    assert "small, idle (1)" in svg_text
    assert 'stroke-dasharray="2 3"' in svg_text
    assert draw_plot([], "points").startswith("<svg")
