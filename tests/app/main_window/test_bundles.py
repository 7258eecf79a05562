"""Tests of bundles in the window: quarantine, selection, import, listed origin, removal, and export of own
drills.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel

from app.files import bundle, bundle_store, scenario_files
from app.views.quarantine import QuarantinePage
from engine.drill.running.drill import Drill
from tests.engine.drill.texts import WORLD_TEXT
from tests.open_window import OpenWindow
from tests.shipped_scenarios import load_shipped_scenario

OTHER_SCENARIO = WORLD_TEXT.replace("Small", "<b>Another</b>", 1)
INVALID_SCENARIO = WORLD_TEXT.replace('level = "beginner"', 'level = "none"', 1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    lab = Drill(load_shipped_scenario("lab"), 5)
    lab.advance_to(300)
    lab.apply_line("power-off SERVER_B")
    lab.apply_line("finish")
    run = json.dumps(lab.build_report() | {"scenario_text": lab.scenario.text}).encode()
    path = tmp_path / "course.mirrordrill"
    drills = {"small": WORLD_TEXT, "other": OTHER_SCENARIO, "broken": INVALID_SCENARIO}
    bundle.write_bundle(path, "A <i>course</i>", drills, {"mine": run}, author="Ada L.")
    return path


def get_quarantine(window: OpenWindow) -> QuarantinePage:
    page = window.pages.currentWidget()
    assert isinstance(page, QuarantinePage)
    return page


def list_rows(window: OpenWindow) -> list[list[str]]:
    tree = get_quarantine(window).items.tree
    rows = [tree.topLevelItem(number) for number in range(tree.topLevelItemCount())]
    return [[row.text(column) for column in range(5)] for row in rows if row is not None]


def test_an_opened_bundle_is_held_and_its_contents_shown(window: OpenWindow, file: Path) -> None:
    window.open_file(str(file))
    assert [row[0] for row in list_rows(window)] == ["broken", "<b>Another</b>", "Small", "Recorded run mine"]
    assert "Not playable" in list_rows(window)[0][4]
    assert "power-off × 1" in list_rows(window)[3][4]
    assert get_quarantine(window).items.list_names() == ["drill other", "drill small", "run mine"]
    assert window.session.drill is None
    assert bundle_store.list_imported_bundles() == []
    another = get_quarantine(window).items.tree.topLevelItem(1)
    assert another is not None
    get_quarantine(window).items.tree.setCurrentItem(another)
    assert "contains the solution and the answers" in get_quarantine(window).text.toPlainText()
    get_quarantine(window).author.setChecked(True)
    assert get_quarantine(window).text.toPlainText() == OTHER_SCENARIO
    facts = {fact.label: fact.value for fact in get_quarantine(window).facts.table.rows}
    assert facts["SHA-256 of the bundle"] == bundle.read_bundle(file).sha256
    for label in get_quarantine(window).findChildren(QLabel):
        assert label.textFormat() != Qt.TextFormat.RichText
        assert "<i>" not in label.text() or label.textFormat() == Qt.TextFormat.PlainText


def test_selected_drills_are_imported_and_listed_with_their_origin(window: OpenWindow, file: Path) -> None:
    window.open_file(str(file))
    row = get_quarantine(window).items.tree.topLevelItem(1)
    assert row is not None
    row.setCheckState(0, Qt.CheckState.Unchecked)
    assert get_quarantine(window).accept.text() == "Import 2"
    get_quarantine(window).accept.click()
    assert window.pages.currentWidget() is window.picker
    card = window.picker.get_current_card()
    assert card is not None
    assert (card.name, card.origin) == ("small", "A <i>course</i>")
    assert "A <i>course</i>" in card.facts
    window.select_drill("small")
    assert window.pages.currentWidget() is window.brief
    window.open_file(str(file))
    # a drill that exists already is not imported again
    assert get_quarantine(window).items.list_names() == [
        "drill other",
        "run mine",
    ]


def test_an_imported_drill_is_edited_as_a_copy(window: OpenWindow, file: Path) -> None:
    window.open_file(str(file))
    get_quarantine(window).accept.click()
    window.editing.show_editor()
    window.editing.open_file("small")
    assert window.editing.page.text.toPlainText() == WORLD_TEXT
    assert window.editing.page.file is None


def test_the_run_of_a_bundle_is_replayed_without_a_question(window: OpenWindow, file: Path) -> None:
    window.open_file(str(file))
    get_quarantine(window).accept.click()
    window.bundling.show_imported_bundles()
    export_dialog = window.bundling.dialog
    assert export_dialog is not None
    top = export_dialog.tree.topLevelItem(0)
    assert top is not None
    run = top.child(2)
    assert run is not None
    export_dialog.tree.setCurrentItem(run)
    export_dialog.open_button.click()
    assert window.pages.currentWidget() is window.debrief
    assert "matches the recorded run" in window.notice.text


def test_a_declined_bundle_stores_nothing(window: OpenWindow, file: Path) -> None:
    window.open_file(str(file))
    get_quarantine(window).decline.click()
    assert window.pages.currentWidget() is window.picker
    assert bundle_store.list_imported_bundles() == []
    window.open_file(str(file))
    for row in range(4):
        item = get_quarantine(window).items.tree.topLevelItem(row)
        if item is not None and item.flags() & Qt.ItemFlag.ItemIsUserCheckable:
            item.setCheckState(0, Qt.CheckState.Unchecked)
    assert not get_quarantine(window).accept.isEnabled()


def test_an_imported_bundle_can_be_removed(window: OpenWindow, file: Path) -> None:
    window.open_file(str(file))
    get_quarantine(window).accept.click()
    (imported_bundle,) = bundle_store.list_imported_bundles()
    window.bundling.show_imported_bundles()
    window.bundling.remove_bundle(imported_bundle.key)
    assert window.bundling.dialog is not None
    assert window.bundling.dialog.tree.topLevelItemCount() == 0
    window.picker.select_drill("small")
    card = window.picker.get_current_card()
    assert card is not None
    assert card.name != "small"
    window.bundling.dialog.close()


def test_problems_of_a_bundle_are_shown(window: OpenWindow, tmp_path: Path) -> None:
    file = tmp_path / "x.mirrordrill"
    file.write_bytes(b"PK\3\4 and nothing of the kind")
    window.open_file(str(file))
    assert "the file is cut off" in window.notice.text
    assert window.pages.currentWidget() is window.picker


def drop_urls(window: OpenWindow, *urls: QUrl) -> bool:
    """Drop *urls* on the window and return whether it accepts them."""
    data = QMimeData()
    data.setUrls(list(urls))
    copy, left, no_modifier = (
        Qt.DropAction.CopyAction,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    entered = QDragEnterEvent(QPoint(9, 9), copy, data, left, no_modifier)
    entered.ignore()
    QApplication.sendEvent(window, entered)
    if entered.isAccepted():
        QApplication.sendEvent(window, QDropEvent(QPointF(9, 9), copy, data, left, no_modifier))
    return entered.isAccepted()


def test_a_file_dropped_on_the_window_is_opened(window: OpenWindow, file: Path, tmp_path: Path) -> None:
    file_url = QUrl.fromLocalFile(str(file))
    assert not drop_urls(window, QUrl("https://example.org/x.mirrordrill"))
    assert not drop_urls(window, QUrl.fromLocalFile(str(tmp_path / "x.exe")))
    assert not drop_urls(window, file_url, file_url)
    assert window.pages.currentWidget() is window.picker
    assert drop_urls(window, file_url)
    get_quarantine(window)


def test_user_drills_can_be_exported(
    window: OpenWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.bundling.show_export_dialog()
    assert "no drills of your own" in window.notice.text
    own_folder = scenario_files.get_user_scenario_folder()
    own_folder.mkdir(parents=True)
    (own_folder / "small.toml").write_text(WORLD_TEXT, encoding="utf-8")
    (own_folder / "other.toml").write_text(OTHER_SCENARIO, encoding="utf-8")
    window.bundling.show_export_dialog()
    maker = window.bundling.new_bundle_dialog
    assert maker is not None
    assert not maker.save.isEnabled()
    maker.title_field.setText("Week 1")
    maker.drills.item(0).setCheckState(Qt.CheckState.Unchecked)
    (name,) = maker.list_selected_drills()
    target = tmp_path / "week"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    maker.save.click()
    bundle_read = bundle.read_bundle(tmp_path / "week.mirrordrill")
    assert bundle_read.manifest.title == "Week 1"
    assert list(bundle_read.scenarios) == [name]
    assert "Saved" in window.notice.text


def test_importing_a_large_bundle_shows_progress_and_can_be_canceled(
    window: OpenWindow, tmp_path: Path
) -> None:
    large = tmp_path / "large.mirrordrill"
    bundle.write_bundle(large, "Many", {f"one-{number}": WORLD_TEXT for number in range(60)})
    session = window.session
    window.open_file(str(large))
    while session.is_busy:
        session.on_frame(16.0)
    session.host.immediate_task_s = 0.0
    page = window.pages.currentWidget()
    assert isinstance(page, QuarantinePage)
    page.accepted.emit()
    session.on_frame(16.0)
    assert session.is_busy
    assert window.loading.isVisible()
    window.loading.stop.click()
    assert not session.is_busy
    assert window.pages.currentWidget() is window.picker
    assert bundle_store.list_imported_bundles() == []


def test_reading_a_large_bundle_shows_progress_and_can_be_canceled(
    window: OpenWindow, tmp_path: Path
) -> None:
    large = tmp_path / "large.mirrordrill"
    bundle.write_bundle(large, "Many", {f"one-{number}": WORLD_TEXT for number in range(60)})
    session = window.session
    session.host.immediate_task_s = 0.0
    window.open_file(str(large))
    session.on_frame(16.0)
    assert session.is_busy
    assert window.loading.isVisible()
    assert 0 < window.loading.bar.value() < 1000
    window.loading.stop.click()
    assert not session.is_busy
    assert not window.loading.isVisible()
    assert window.pages.currentWidget() is window.picker
    window.open_file(str(large))
    while session.is_busy:
        session.on_frame(16.0)
    assert len(list_rows(window)) == 60
