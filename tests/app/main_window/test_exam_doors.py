"""Every door of the window in an exam: two runs that differ only in what no server was asked for show the same.

Nothing is listed here that looks at the truth: all panels, menus, the palette, what is copied and what is told aloud
are read whole, so that a door which is added later is read, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from app.main_window import commands, menus
from app.main_window.announcements import how_things_stand
from app.view_models.offers import Target
from app.widgets.docks import DOCKS
from tests.app.main_window.conftest import Hands
from tests.engine.drill.texts import small

HIDDEN = (
    "close-firewall SERVER_W 5022",
    "stop-agent SERVER_A",
    "disable-tcp SERVER_B",
    "hang SERVER_W",
    "black-hole SERVER_B SERVER_W",
)
"""Faults that no server has met yet: connections live on, and what is silent is not missed for ten seconds."""

SECONDS = 4.0
AT_S = 2


def course(acts: tuple[str, ...]) -> str:
    timeline = "".join(f'[[timeline]]\nat = "{AT_S}s"\ndo = "{act}"\n\n' for act in acts)
    return timeline + '[[goal]]\nname = "served"'


def rows(model: QAbstractItemModel, parent: QModelIndex | None = None) -> Iterator[str]:
    """Every cell of a table or tree, with its hint and what is said of it."""
    above = parent or QModelIndex()
    for row in range(model.rowCount(above)):
        for column in range(1 if isinstance(model, QAbstractListModel) else model.columnCount(above)):
            cell = model.index(row, column, above)
            for role in (
                Qt.ItemDataRole.DisplayRole,
                Qt.ItemDataRole.ToolTipRole,
                Qt.ItemDataRole.AccessibleTextRole,
            ):
                if (found := model.data(cell, role)) is not None:
                    yield str(found)
        yield from rows(model, model.index(row, 0, above))


def texts(widget: QWidget) -> Iterator[str]:
    """What *widget* itself tells."""
    own = f"{type(widget).__name__} {widget.isEnabled()}"
    yield from (own, widget.toolTip(), widget.accessibleName(), widget.accessibleDescription())
    match widget:
        case QLabel() | QAbstractButton() | QLineEdit():
            yield widget.text()
        case QComboBox():
            yield from (widget.itemText(index) for index in range(widget.count()))
        case QPlainTextEdit() | QTextEdit():
            yield widget.toPlainText()
        case QAbstractItemView():
            if widget.model() is not None:
                yield from rows(widget.model())


def entries(actions: list[QAction]) -> Iterator[str]:
    for action in actions:
        yield f"{action.text()} {action.isEnabled()} {action.isVisible()} {action.toolTip()}"
        if isinstance(inner := action.menu(), QMenu):
            inner.aboutToShow.emit()
            yield from entries(inner.actions())


def shown(hands: Hands) -> Iterator[str]:
    """Everything: of the window with each panel in front, of its menus, of what it copies and tells."""
    window = hands.window
    window.session.pause()
    for place in DOCKS:
        window.desk.go_to(place.name)
        QApplication.processEvents()
        for widget in window.findChildren(QWidget):
            if widget.isVisible():
                yield from texts(widget)
    for title, menu in window.menus.items():
        menu.aboutToShow.emit()
        for found in entries(menu.actions()):
            yield f"{title}: {found}"
    for group, actions in commands._groups(window):
        for found in entries(actions):
            yield f"palette {group}: {found}"
    for _, targets in menus.things(hands.drill.world):
        for target in targets:
            window.topology.choose(target)
            QApplication.processEvents()
            yield window.topology.summary
            for action in window.topology.actions_for(target):
                action.hover()
                yield f"preview {window.topology._caption.text()} {window.topology._pointed}"
    for voice in window.topology.voices():
        yield voice.item.face.spoken
        yield voice.item.toolTip()
    yield how_things_stand(hands.drill, running=False)


def stops(hands: Hands) -> Iterator[str]:
    """What is said by the ways to let time pass, and when they stop."""
    window = hands.window
    for name in ("time.next_event", "time.next_state", "time.next_alarm", "time.until"):
        window.notice.clear()
        window.actions_by_name[name].trigger()
        if (box := QApplication.activeModalWidget()) is not None:
            box.close()
        hands.search()
        yield f"{name} {window.notice.text} {hands.drill.tick}"


def taken(hands: Hands, mode: str, acts: tuple[str, ...]) -> set[str]:
    window = hands.window
    window.play.begin(small(('[[goal]]\nname = "served"', course(acts))), mode, seed=3)
    window.session.play()
    hands.wait(SECONDS)
    window.topology.choose(Target("server", ("SERVER_A",)))
    return {*shown(hands), *stops(hands)}


def test_nothing_in_the_window_tells_in_an_exam_what_no_server_has_met(hands: Hands) -> None:
    assert taken(hands, "exam", HIDDEN) ^ taken(hands, "exam", ()) == set()


def test_in_practice_each_of_it_is_told(hands: Hands) -> None:
    told = "\n".join(taken(hands, "practice", HIDDEN) - taken(hands, "practice", ()))
    assert [act for act in HIDDEN if act not in told] == []
