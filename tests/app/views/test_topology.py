"""Tests of the topology on screen, with real mouse and keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import (
    QAccessible,
    QContextMenuEvent,
    QFontMetricsF,
    QImage,
    QPainter,
    QPainterPath,
    QPainterPathStroker,
)
from PySide6.QtWidgets import QApplication, QMenu, QStyleOptionGraphicsItem, QToolButton
from pytestqt.qtbot import QtBot

from app.view_models.action_offers import ActionTarget
from app.view_models.topology_contents import StatusIndicator
from app.views.topology import TopologyView, card_items
from app.views.topology.canvas import READABLE_ZOOM_MIN
from app.views.topology.card_items import ServerCardItem
from app.views.topology.links import LinkItem
from app.views.topology.tools import CanvasTools
from app.views.topology.view import TRAFFIC_SPEED_MAX
from app.widgets import theme
from app.words import language
from engine.drill.running.modes import PERMISSIONS_BY_MODE, DrillMode
from engine.drill.running.world_builder import start_world
from tests.app.views.fakes import FakeRun
from tests.cases import sample_cases
from tests.children import find_child, get_scene
from tests.engine.worlds import M, P, W, apply_lines, build_lab
from tests.shipped_scenarios import load_shipped_scenario

IGNORE_MENU_WARNING = pytest.mark.qt_log_ignore("This plugin does not support")
"""The offscreen plugin logs this warning for every menu."""


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[TopologyView]:
    topology = TopologyView()
    qtbot.addWidget(topology)
    topology.resize(700, 380)
    topology.show()
    topology.show_drill(FakeRun(build_lab()))
    topology.setFocus()
    yield topology
    for menu in open_menus():
        menu.close()


def open_menus() -> list[QMenu]:
    return [
        widget
        for widget in QApplication.topLevelWidgets()
        if isinstance(widget, QMenu) and widget.isVisible()
    ]


def find_center(view: TopologyView, target: ActionTarget) -> QPoint:
    """Return the center of *target* on screen."""
    item = get_scene(view).find_item(target)
    assert item is not None
    return view.mapFromScene(item.shape().boundingRect().translated(item.pos()).center())


def build_server_target(name: str) -> ActionTarget:
    return ActionTarget("server", (name,))


def click_target(qtbot: QtBot, view: TopologyView, target: ActionTarget) -> None:
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=find_center(view, target))


# --- selection --------------------------------------------------------------------------------------------------


def test_a_click_selects_and_a_click_on_empty_space_clears(qtbot: QtBot, view: TopologyView) -> None:
    click_target(qtbot, view, build_server_target(M))
    assert view.get_target() == build_server_target(M)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    assert view.get_target() is None


def test_links_can_be_clicked(qtbot: QtBot, view: TopologyView) -> None:
    item = get_scene(view).find_item(ActionTarget("link", (P, M)))
    assert isinstance(item, LinkItem)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.mapFromScene(item.line.center()))
    assert view.get_target() == ActionTarget("link", (P, M))


def test_tab_visits_every_object_and_leaves(qtbot: QtBot, view: TopologyView) -> None:
    titles = []
    for _ in range(9):
        qtbot.keyClick(view, Qt.Key.Key_Tab)
        target = view.get_target()
        assert target is not None
        titles.append(target.title)
    assert titles[:4] == [P, M, W, "APP"]
    assert len(set(titles)) == 9  # The objects are three servers, an application and five links.
    qtbot.keyClick(view, Qt.Key.Key_Tab)
    assert view.get_target() is None


def test_arrow_keys_follow_their_direction(qtbot: QtBot, view: TopologyView) -> None:
    view.select_target(build_server_target(P))
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert view.get_target() == ActionTarget("link", (P, M))
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert view.get_target() == build_server_target(M)
    qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert view.get_target() is None


def test_a_double_click_opens_a_query_or_a_connection(qtbot: QtBot, view: TopologyView) -> None:
    with qtbot.waitSignal(view.server_opened, timeout=100) as blocker:
        qtbot.mouseDClick(
            view.viewport(), Qt.MouseButton.LeftButton, pos=find_center(view, build_server_target(M))
        )
    assert blocker.args == [M]
    app = ActionTarget("client", ("APP",))
    with qtbot.waitSignal(view.shared_actions.connection_wanted, timeout=100) as blocker:
        qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=find_center(view, app))
    assert blocker.args == ["APP"]


# --- actions ----------------------------------------------------------------------------------------------------


@IGNORE_MENU_WARNING
def test_the_context_menu_sends_input_lines(qtbot: QtBot, view: TopologyView) -> None:
    place = find_center(view, build_server_target(P))
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, view.viewport().mapToGlobal(place))
    QApplication.sendEvent(view.viewport(), event)
    (menu,) = open_menus()
    action = next(action for action in menu.actions() if action.text() == "Power off")
    with qtbot.waitSignal(view.requested, timeout=100) as blocker:
        qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
    assert blocker.args == [f"power-off {P}"]


@IGNORE_MENU_WARNING
def test_enter_opens_the_menu_of_the_selection(qtbot: QtBot, view: TopologyView) -> None:
    view.select_target(build_server_target(W))
    qtbot.keyClick(view, Qt.Key.Key_Return)
    (menu,) = open_menus()
    with qtbot.waitSignal(view.requested, timeout=100) as blocker:
        qtbot.keyClick(menu, Qt.Key.Key_Down)
        qtbot.keyClick(menu, Qt.Key.Key_Return)
    assert blocker.args == [f"restart-service {W}"]


def test_menu_and_toolbar_share_their_actions(view: TopologyView) -> None:
    first_menu, second_menu = (
        view.list_actions(build_server_target(P)),
        view.list_actions(build_server_target(P)),
    )
    assert all(a is b for a, b in zip(first_menu, second_menu, strict=True))
    menu = QMenu()
    view.fill_menu(menu, build_server_target(P))
    submenus = menu.findChildren(QMenu)
    assert set(first_menu) <= {action for part in (menu, *submenus) for action in part.actions()}
    assert {part.title() for part in submenus} == {action.property("section") for action in first_menu} - {""}


def test_the_menu_follows_the_world(view: TopologyView) -> None:
    world = build_lab()
    apply_lines(world, f"power-off {P}", wait_s=1.0)
    view.show_world(world)
    labels = [action.text() for action in view.list_actions(build_server_target(P))]
    assert labels[0] == "Power on"
    assert "Power off" not in labels


# --- appearance -------------------------------------------------------------------------------------------------


def test_everything_fits_after_every_change(view: TopologyView) -> None:
    for width, height in ((700, 380), (400, 300), (1200, 700)):
        view.resize(width, height)
        QApplication.processEvents()
        assert is_all_visible(view)


def is_all_visible(view: TopologyView) -> bool:
    visible_area = view.mapToScene(view.viewport().rect()).boundingRect()
    px = 1.0 / view.get_zoom()
    return visible_area.adjusted(-px, -px, px, px).contains(get_scene(view).get_extent())


LONG_TEXT: Final = (
    "a much longer text that is not yet detected and reaches far beyond the cards of the links " * 2
)


def test_everything_fits_after_a_text_has_grown(qtbot: QtBot, view: TopologyView) -> None:
    link = next(iter(get_scene(view).links.values()))
    picture = view.contents
    assert picture is not None
    links = tuple(replace(face, notes=(LONG_TEXT,), measured=LONG_TEXT) for face in picture.links)
    get_scene(view).show_contents(replace(picture, links=links))
    assert is_all_visible(view)
    links = tuple(replace(face, notes=(), measured=LONG_TEXT) for face in picture.links)
    get_scene(view).show_contents(replace(picture, links=links))
    view.fit_all()
    click_target(qtbot, view, link.target)
    assert link.isSelected()
    assert is_all_visible(view)


def test_everything_fits_while_a_note_is_written(qtbot: QtBot, view: TopologyView) -> None:
    note = get_scene(view).add_note("", 0.0, 0.0)
    note.start_editing()
    note.setPlainText("\n".join("line" for _ in range(80)))
    assert is_all_visible(view)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("APP", {"status": StatusIndicator(LONG_TEXT, "ok", "dot"), "rate": LONG_TEXT}),
        (W, {"faults": (LONG_TEXT,)}),
    ],
)
def test_a_long_line_stays_inside_its_card(view: TopologyView, name: str, fields: dict[str, Any]) -> None:
    node = get_scene(view).nodes[name]
    node.show_display(replace(node.display, **fields))
    image = QImage(1_000, 400, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.translate(200.0, 200.0)
    node.paint(painter, QStyleOptionGraphicsItem())
    painter.end()
    beyond = image.copy(int(205.0 + node.get_card_rect().right()), 0, 200, 400)
    assert all(beyond.pixel(x, y) == 0 for x in range(0, 200, 3) for y in range(400))


def test_a_name_is_never_shortened_for_the_word_next_to_it(view: TopologyView, monkeypatch: Any) -> None:
    node = get_scene(view).nodes[W]
    assert isinstance(node, ServerCardItem)
    drawn: list[str] = []
    monkeypatch.setattr(card_items, "draw_text", lambda _painter, text, *_: drawn.append(text))
    image = QImage(8, 8, QImage.Format.Format_ARGB32_Premultiplied)
    painter = QPainter(image)
    for width in range(50, 400, 2):
        node._draw_header(painter, 0.0, float(width), 0.0)
    painter.end()
    whole = [text == node.display.name for text in drawn if text in (node.display.name,) or "…" in text]
    assert whole == sorted(whole)
    shortest = whole.index(True) * 2 + 50
    name_px = QFontMetricsF(node.style.title).horizontalAdvance(node.display.name)
    assert shortest < name_px + 3.0 * node.style.unit


def test_keys_zoom_and_fit(qtbot: QtBot, view: TopologyView) -> None:
    before = view.get_zoom()
    qtbot.keyClick(view, Qt.Key.Key_Plus)
    qtbot.keyClick(view, Qt.Key.Key_Plus)
    assert view.get_zoom() == pytest.approx(before * 1.44, rel=0.01)
    qtbot.keyClick(view, Qt.Key.Key_0)
    assert view.get_zoom() == pytest.approx(before, rel=0.01)


def test_a_dragged_card_snaps_to_the_grid_and_is_remembered(qtbot: QtBot, view: TopologyView) -> None:
    start = find_center(view, build_server_target(P))
    before = get_scene(view).nodes[P].pos()
    assert view.list_moved_positions() == {}
    viewport = view.viewport()
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=start)
    for step in range(1, 6):
        qtbot.mouseMove(viewport, start + QPoint(0, step * 7))
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=start + QPoint(0, 35))
    x, y = view.list_moved_positions()[P]
    assert y > before.y() + 15
    assert (x % 8, y % 8) == (0, 0)
    second_view = TopologyView()
    qtbot.addWidget(second_view)
    second_view.show_drill(FakeRun(build_lab()))
    second_view.place_cards(view.list_moved_positions())
    assert (get_scene(second_view).nodes[P].x(), get_scene(second_view).nodes[P].y()) == (x, y)
    second_view.reset_positions()
    assert second_view.list_moved_positions() == {}


def test_cards_can_be_moved_by_keys(qtbot: QtBot, view: TopologyView) -> None:
    view.select_target(build_server_target(M))
    before = get_scene(view).nodes[M].x()
    qtbot.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert get_scene(view).nodes[M].x() == before + 8


def is_moving(view: TopologyView) -> bool:
    """Return whether the picture of the log's link changes within a third of a second while all data stays
    the same.
    """
    world = build_lab()
    pictures = []
    for _ in range(2):
        view.show_world(world)
        item = get_scene(view).links[frozenset((P, M))]
        box = view.mapFromScene(item.sceneBoundingRect()).boundingRect()
        pictures.append(view.viewport().grab(box).toImage())
        world.tick += 35
    return pictures[0] != pictures[1]


def test_log_blocks_move_only_at_low_speeds_and_without_reduced_motion(view: TopologyView) -> None:
    assert is_moving(view)
    view.set_speed(TRAFFIC_SPEED_MAX * 2)
    assert not is_moving(view)
    view.set_speed(1.0)
    view.set_reduced_motion(True)
    assert not is_moving(view)


def test_a_change_of_theme_reaches_the_canvas(qapp: QApplication, view: TopologyView) -> None:
    for choice, colors in (
        (theme.DARK_THEME, theme.build_dark_theme()),
        (theme.LIGHT_THEME, theme.build_light_theme()),
    ):
        theme.apply_theme_choice(qapp, choice)
        QApplication.processEvents()
        image = view.viewport().grab().toImage()
        assert image.pixelColor(2, image.height() // 2) == colors.surface


def test_larger_text_makes_larger_cards(qapp: QApplication, view: TopologyView) -> None:
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME, 1.0)
    QApplication.processEvents()
    before = get_scene(view).nodes[P].get_card_rect().height()
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME, 2.0)
    QApplication.processEvents()
    assert get_scene(view).nodes[P].get_card_rect().height() > 1.8 * before
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME, 1.0)


def measure_cards(view: TopologyView) -> tuple[bool, float]:
    """Return whether cards are narrow, and the ratio of their line height on screen to that of normal text."""
    style = next(iter(get_scene(view).links.values())).style
    return style.narrow, view.get_zoom()


def test_narrow_cards_are_drawn_where_wide_ones_would_be_unreadable(
    qapp: QApplication, view: TopologyView
) -> None:
    """The test measures sizes in line heights, so that it holds for every font."""
    line = view.fontMetrics().height()
    view.resize(44 * line, 28 * line)
    wide, whole_width = measure_cards(view)
    assert (wide, whole_width > READABLE_ZOOM_MIN) == (False, True)
    view.resize(24 * line, 20 * line)
    narrow, readable = measure_cards(view)
    view._is_fitting = True  # This is the zoom of wide cards.
    get_scene(view).set_narrow(False)
    view._fit_all_cards()
    assert narrow
    assert readable > 1.08 * view.get_zoom()
    view._is_fitting = False
    view.resize(44 * line, 28 * line)
    assert measure_cards(view) == (wide, whole_width)


def test_a_long_role_is_shortened_before_the_name(
    view: TopologyView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In German, a narrow card used to show a copy without a session as "S…s keine Spiegelung"."""
    get_scene(view).set_narrow(True)
    node = get_scene(view).nodes[P]
    assert isinstance(node, ServerCardItem)
    role = StatusIndicator("a role with a very long name", "idle", "single")
    node.show_display(replace(node.display, copies=(replace(node.display.copies[0], role=role),)))
    written: list[str] = []
    monkeypatch.setattr(card_items, "draw_text", lambda _, words, *rest: written.append(words))
    image = QImage(400, 300, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    node.paint(painter, QStyleOptionGraphicsItem())
    painter.end()
    assert "Sales" in written
    assert [words[-1] for words in written if words.startswith("a role")] == ["…"]


def find_label_area(link: LinkItem) -> QPainterPath:
    """Return the clickable area of a link without its line: the area of its label."""
    path, stroker = QPainterPath(link.line.p1()), QPainterPathStroker()
    path.lineTo(link.line.p2())
    stroker.setWidth(14.0)
    return link.shape().subtracted(stroker.createStroke(path))


def test_narrow_cards_and_link_texts_do_not_overlap(view: TopologyView) -> None:
    line = view.fontMetrics().height()
    view.resize(24 * line, 20 * line)
    world = build_lab()
    apply_lines(world, f"stop-service {P}")
    view.show_world(world)
    assert measure_cards(view)[0]
    cards = [node.get_card_rect().translated(node.pos()) for node in get_scene(view).nodes.values()]
    words = [area for link in get_scene(view).links.values() if not (area := find_label_area(link)).isEmpty()]
    assert words
    assert not [(a, b) for a in cards for b in cards if a is not b and a.intersects(b)]
    assert not [(a, b) for a in cards for b in words if b.intersects(a)]


@pytest.mark.parametrize(
    ("name", "width", "height"),
    sample_cases(
        3, [("ag-automatic-failover", 660, 362), ("app-routing-nowhere", 660, 362), ("ag-lab", 980, 560)]
    ),
)
def test_no_link_crosses_the_text_of_another(view: TopologyView, name: str, width: int, height: int) -> None:
    view.resize(width, height)
    view.show_world(start_world(load_shipped_scenario(name), seed=1))
    links = list(get_scene(view).links.values())
    words = {link: find_label_area(link).boundingRect() for link in links}
    words = {link: box.adjusted(-1.0, 1.0, 1.0, -1.0) for link, box in words.items() if not box.isEmpty()}
    assert words
    lines = {link: QPainterPath(link.line.p1()) for link in links}
    for link, path in lines.items():
        path.lineTo(link.line.p2())
    assert not [
        (link.display.notes, other_link.display)
        for link, box in words.items()
        for other_link, path in lines.items()
        if other_link is not link and path.intersects(box)
    ]


def test_no_broken_link_mark_hides_another_links_text(view: TopologyView) -> None:
    view.resize(620, 345)
    world = build_lab()
    apply_lines(world, f"power-off {P}", wait_s=0.2)  # The failure is not detected yet.
    language.use_language(language.GERMAN)
    try:
        view.show_world(world)
        broken = [link for link in get_scene(view).links.values() if link.display.status.color_name == "bad"]
        words = {link: area for link in broken if not (area := find_label_area(link)).isEmpty()}
        marks = [link.line.center() for link in broken]
        assert len(marks) > len(words) > 1
        assert not [(box, mark) for box in words.values() for mark in marks if box.contains(mark)]
    finally:
        language.use_language(language.ENGLISH)


def get_description(view: TopologyView) -> str:
    interface = QAccessible.queryAccessibleInterface(view)
    assert interface is not None
    return interface.text(QAccessible.Text.Description)


def test_the_canvas_has_a_text_description(view: TopologyView) -> None:
    assert f"{P}: partner, running" in get_description(view)
    view.select_target(build_server_target(M))
    assert get_description(view).startswith(f"{M}: partner")


def test_an_exam_shows_only_facts_visible_without_a_query(view: TopologyView) -> None:
    world = build_lab()
    apply_lines(world, f"hang {M}", f"power-off {W}", wait_s=20.0)
    view.show_drill(FakeRun(world, permissions=PERMISSIONS_BY_MODE[DrillMode.EXAM]))
    description_text = get_description(view)
    assert f"{W}: witness, power off" in description_text
    assert f"{M}: partner, power on" in description_text
    for secret in ("PRINCIPAL", "SYNCHRONIZED", "DISCONNECTED", "respond", "quorum", "queue", "cut", "lost"):
        assert secret not in description_text


def test_the_toolbar_fits_a_narrow_canvas(view: TopologyView) -> None:
    """The narrow toolbar hides its captions. A screen reader still speaks them."""
    view.select_target(build_server_target(P))
    words = find_child(find_child(view, CanvasTools), QToolButton).text()
    assert P in words
    view.resize(find_child(view, CanvasTools).width() - 10, 380)
    assert find_child(view, CanvasTools).x() >= 0
    assert find_child(find_child(view, CanvasTools), QToolButton).text() != words
    assert find_child(find_child(view, CanvasTools), QToolButton).accessibleName() == words
    view.resize(900, 380)
    assert find_child(find_child(view, CanvasTools), QToolButton).text() == words
