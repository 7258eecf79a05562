"""Tests of the text size of the topology, in pixels, on the canvas of the desk."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication, QGraphicsItem
from pytestqt.qtbot import QtBot

from app.views.topology import TopologyView
from app.views.topology.canvas import TEXT_HEIGHT_MIN_PX
from app.words import language
from engine.drill.running.drill import Drill
from tests.cases import sample_cases
from tests.children import get_scene
from tests.open_window import OpenWindow
from tests.painted import list_texts
from tests.shipped_scenarios import LAB_NAMES, SCENARIO_NAMES, load_shipped_scenario

SIZES = ((1366, 768), (1920, 1080))
PLAYED_S = 1.0


@pytest.mark.usefixtures("hands", "style_sheet")
@pytest.mark.parametrize("scale", sample_cases(4, [1.0, 1.1, 1.2, 1.5]))
@pytest.mark.parametrize("first_index", sample_cases(4, range(4)))
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_no_text_of_the_topology_is_smaller_than_eleven_pixels(
    qtbot: QtBot, window: OpenWindow, size: tuple[int, int], first_index: int, scale: float
) -> None:
    """The test checks every fourth shipped scenario in both languages. The test screen is smaller than the
    window.
    """
    window.appearance.set_font_scale(scale)
    window.select_drill(LAB_NAMES[0])
    window.brief.start_wanted.emit("lab")
    window.setMinimumSize(*size)
    window.resize(*size)
    for _ in range(3):
        QApplication.processEvents()
    assert (window.width(), window.height()) == size
    canvas = TopologyView()
    qtbot.addWidget(canvas)
    canvas.setFont(QFont(window.topology.font()))
    canvas.resize(window.topology.size())
    canvas.show()
    small: dict[str, float] = {}
    for locale in (language.ENGLISH, language.GERMAN):
        language.use_language(locale)
        try:
            small |= {
                f"{name} {locale}": px
                for name in SCENARIO_NAMES[first_index::4]
                if (px := measure_smallest_text(canvas, name)) < TEXT_HEIGHT_MIN_PX
            }
        finally:
            language.use_language(language.ENGLISH)
    window.setMinimumSize(0, 0)
    window.appearance.set_font_scale(1.0)
    assert not small


def measure_smallest_text(canvas: TopologyView, name: str) -> float:
    """Return the height of the smallest text of a scenario. For labs, measure the painted text."""
    drill = Drill(load_shipped_scenario(name), seed=1)
    drill.advance_to(round(100 * PLAYED_S))
    canvas.show_drill(drill)
    canvas.fit_all()
    claimed = canvas.get_zoom() * get_scene(canvas).compute_smallest_text_px()
    if name not in LAB_NAMES:
        return claimed
    for node in get_scene(canvas).nodes.values():  # a cached card is a picture, not text
        node.setCacheMode(QGraphicsItem.CacheMode.NoCache)
    painted = [text.size_px for text in list_texts(canvas) if text.widget is canvas.viewport()]
    assert len(painted) > 20
    return min(claimed, *painted)
