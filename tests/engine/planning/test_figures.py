"""Curves of the model for the figures of the white papers, compared with their statements and published
points.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.planning.figures import FIGURE_BUILDERS, Figure, FigureLine


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    return {name: make() for name, make in FIGURE_BUILDERS.items()}


def find_line(figure: Figure, panel: int, name: str) -> FigureLine:
    (curve,) = [line for line in figure.panels[panel].lines if line.name == name]
    return curve


@pytest.mark.parametrize("name", FIGURE_BUILDERS)
def test_every_figure_has_curves_of_finite_numbers(name: str, figures: dict[str, Figure]) -> None:
    figure = figures[name]
    assert figure.title
    assert figure.conclusion
    for panel in figure.panels:
        for line in panel.lines:
            assert len(line.x) == len(line.y) > 0
            assert all(math.isfinite(value) for value in (*line.x, *line.y))
        if figure.categories:
            assert {x for line in panel.lines for x in line.x} == set(range(len(figure.categories)))


def test_measured_points_are_on_the_model_curves(figures: dict[str, Figure]) -> None:
    compared = 0
    for figure in figures.values():
        for panel in figure.panels:
            ours = panel.lines[0]
            for line in panel.lines:
                if line.is_measured and figure.logarithmic_x:
                    interpolated = np.interp(np.log(line.x), np.log(ours.x), ours.y)
                    assert interpolated[0] == pytest.approx(line.y[0], rel=0.11), figure.title
                    compared += 1
    assert compared >= 12


def test_a_rebuild_fills_queues_and_the_redo_queue_drains_last(figures: dict[str, Figure]) -> None:
    figure = figures["Figure 3"]
    send, redo = find_line(figure, 0, "send queue"), find_line(figure, 0, "redo queue")
    (point,) = [line for line in figure.panels[0].lines if line.is_measured]
    empty = next(x for x, y in zip(send.x, send.y, strict=True) if x > point.x[0] - 10.0 and y < 1000.0)
    assert empty == pytest.approx(point.x[0], rel=0.03)
    assert redo.x[-1] > send.x[int(np.argmax(send.y))] + 5.0
    assert redo.y[-1] < 0.02 * max(redo.y)


def test_small_batches_are_slowed_most_in_full(figures: dict[str, Figure]) -> None:
    full_curve, none_curve = (
        find_line(figures["Figure 4"], 0, name).y for name in ("safety FULL", "no mirroring")
    )
    penalty = np.array(full_curve) / np.array(none_curve)
    assert penalty[0] > 3.0
    assert np.all(np.diff(penalty) < 0.01)
    assert np.all(np.diff(full_curve) <= 0.0)


def test_full_slows_a_clustered_index_and_hardly_a_nonclustered_one(figures: dict[str, Figure]) -> None:
    for name in ("Figure 1", "Figure 2"):
        figure = figures[name]
        ratio = np.array(find_line(figure, 0, "safety FULL").y) / np.array(
            find_line(figure, 0, "safety OFF").y
        )
        clustered = ["non" not in kind for kind in figure.categories]
        assert min(ratio[clustered]) > 1.2
        assert max(ratio[np.logical_not(clustered)]) < 1.1


@pytest.mark.parametrize("name", ["Figure 11", "Figure 15"])
def test_send_queues_over_time_only_grow(name: str, figures: dict[str, Figure]) -> None:
    queue = find_line(figures[name], 0, "safety OFF").y
    assert np.all(np.diff(queue) > 0.0)


def test_compression_helps_most_where_bandwidth_is_low(figures: dict[str, Figure]) -> None:
    packed, raw = (
        np.array(find_line(figures["Compression, FULL"], 0, name).y)
        for name in ("compressed", "not compressed")
    )
    gain = packed / raw
    assert gain[0] > 3.0
    assert gain[-1] < 1.1
    assert np.all(np.diff(gain) < 0.02)


def test_encryption_hardly_changes_throughput(figures: dict[str, Figure]) -> None:
    for line in figures["Figure 7"].panels[0].lines:
        plain_tps, secret = line.y
        assert plain_tps <= secret < plain_tps * 1.01
