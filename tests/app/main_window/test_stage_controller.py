"""Tests of the failover stage: it opens automatically, slows the clock, responds to keys, and keeps the run
unchanged.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app import settings
from app.main_window import stage_controller
from app.settings import WindowSettings
from app.storage import Profile
from app.view_models.failover_moment.missing_failover import MissingFailoverView, explain_failover
from app.view_models.failover_moment.view import StageView
from app.views.failover_stage import stage
from app.views.failover_stage.canvas import CANVAS_WIDTH, build_stage_style, compute_panel_box
from app.views.failover_stage.drawing import StagePainter
from app.views.failover_stage.stage import draw_requirements
from app.widgets import theme
from app.words import language
from tests import painted
from tests.app.main_window.conftest import WindowUser, show_window
from tests.cases import sample_cases
from tests.open_window import OpenWindow

FRAMES_MAX = 20_000
FRAME_MS = 50.0
BEFORE_STAGE_FRAME_MS = 250.0
"""Wall time of a frame before the stage opens."""
STAGE_FRAMES = 5
"""Number of frames between two paint events on the stage."""
BEFORE_STAGE_FRAMES = 100
"""Number of frames between two paint events before the failover."""


@pytest.fixture
def staged_window(
    qtbot: QtBot, store: WindowSettings, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> OpenWindow:
    """Return a window that shows failovers on the stage, with short pauses at each step."""
    monkeypatch.setattr(stage_controller, "SHORT_PHASE_WALL_MS", 1)
    store.set(settings.FAILOVER_STAGING, settings.ALWAYS)
    return show_window(qtbot, profile, store)


def start_drill(window: OpenWindow, name: str, mode: str) -> None:
    window.select_drill(name)
    window.brief.start_wanted.emit(mode)
    window.topology.setFocus()


def wait_for(window: OpenWindow, state: str) -> list[str]:
    """Run frames until the stage is in *state*, and return the headings that it showed."""
    headings: list[str] = []
    failover_moment, session = window.failover_moment, window.session
    for number in range(FRAMES_MAX):
        view = failover_moment.stage.view
        if view is not None and failover_moment.state and view.heading not in headings:
            headings.append(view.heading)
        if failover_moment.state == state:
            return headings
        if number % (STAGE_FRAMES if failover_moment.state else BEFORE_STAGE_FRAMES) == 0:
            QApplication.processEvents()
        session.on_frame(FRAME_MS if failover_moment.state else BEFORE_STAGE_FRAME_MS)
    raise AssertionError(f"the stage did not reach {state!r}")


def press_key(qtbot: QtBot, key: Qt.Key) -> None:
    qtbot.keyClick(QApplication.focusWidget(), key)


def test_a_failover_is_watched_stepped_and_replayed_by_keyboard(
    staged_window: OpenWindow, qtbot: QtBot
) -> None:
    window, stage = staged_window, staged_window.failover_moment.stage
    start_drill(window, "automatic-failover", "practice")
    QApplication.processEvents()
    docks = {name: dock.geometry() for name, dock in window.desk.docks.items()}
    wait_for(window, "live")
    assert stage.view.votes_text == "2 of 3 votes are needed", (
        "nobody counts votes before the failure is detected"
    )
    assert stage.buttons["forth"].text().startswith("Next phase")
    headings = ["Detection", *wait_for(window, "over")[1:]]
    assert stage.view.votes_text == "2 of 3 votes: quorum"
    assert [heading.partition(":")[0] for heading in headings] == [
        "Detection", "Redo", "Quorum vote", "Role change", "Undo", "Clients back", "Clients are back after 4.35 s",
    ]  # fmt: skip
    assert stage.isVisible()
    assert not window.desk.isVisible()
    assert not window.session.is_running, "the clock waits until the result was seen"
    assert window.session.speed == 1.0
    (failover,) = window.session.live_drill.build_report()["failovers"]
    assert stage.view.failover_time_text == f"{failover['failover_s']:.2f}"
    assert stage.view.duration_gauge[1] == failover["published_s"]
    press_key(qtbot, Qt.Key.Key_Left)
    assert stage.view.heading.startswith("Undo")
    for _ in range(9):
        press_key(qtbot, Qt.Key.Key_Left)
    assert stage.view.heading.startswith("Detection")
    press_key(qtbot, Qt.Key.Key_Right)
    assert stage.view.heading.startswith("Redo")
    press_key(qtbot, Qt.Key.Key_R)
    assert stage.view.heading.startswith("Detection")
    qtbot.waitUntil(lambda: stage.view.elapsed_text != "0.00")
    inputs = list(window.session.live_drill.journal)
    press_key(qtbot, Qt.Key.Key_Escape)
    QApplication.processEvents()
    assert window.desk.isVisible()
    assert window.session.is_running
    assert {name: dock.geometry() for name, dock in window.desk.docks.items()} == docks
    assert window.topology.hasFocus()
    assert window.session.live_drill.journal == inputs
    qtbot.keyClick(window, Qt.Key.Key_F12)
    assert stage.isVisible()
    assert stage.view.heading.startswith("Detection")


def test_the_stage_enlarges_its_text_as_soon_as_the_user_presents(
    staged_window: OpenWindow, qtbot: QtBot
) -> None:
    window, stage = staged_window, staged_window.failover_moment.stage
    start_drill(window, "automatic-failover", "practice")
    wait_for(window, "over")
    assert not stage.canvas.has_large_text
    press_key(qtbot, Qt.Key.Key_P)
    assert window.presenting.is_active
    assert stage.canvas.has_large_text
    assert stage.canvas.hasFocus()
    assert stage.buttons["present"].text().startswith(("Stop presenting", "Normal text"))
    stage.buttons["present"].click()
    assert not window.presenting.is_active
    assert not stage.canvas.has_large_text
    window.appearance.set_font_scale(1.5)
    assert stage.canvas.has_large_text
    window.appearance.set_font_scale(1.0)


def test_a_layout_chosen_during_the_stage_stays_after_it(staged_window: OpenWindow, qtbot: QtBot) -> None:
    window = staged_window
    start_drill(window, "automatic-failover", "practice")
    wait_for(window, "over")
    press_key(qtbot, Qt.Key.Key_Escape)
    desk_docks = [name for name, dock in window.desk.docks.items() if dock.isVisible()]
    for is_presenting in (True, False):
        qtbot.keyClick(window, Qt.Key.Key_F12)
        press_key(qtbot, Qt.Key.Key_P)
        press_key(qtbot, Qt.Key.Key_Escape)
        assert window.presenting.is_active is is_presenting
        assert window.desk.isVisible()
        assert window.desk.docks["console"].isVisible() is not is_presenting
    assert [name for name, dock in window.desk.docks.items() if dock.isVisible()] == desk_docks


@pytest.mark.parametrize(
    ("name", "mode", "line", "last_heading"),
    [
        ("ag-automatic-failover", "practice", "", "Clients are back after 11.78 s"),
        ("fci-lab", "lab", "power-off NODE_1", "Clients are back after"),
    ],
)
def test_ags_and_fcis_are_staged_with_their_own_phases(
    staged_window: OpenWindow, name: str, mode: str, line: str, last_heading: str
) -> None:
    start_drill(staged_window, name, mode)
    if line:
        for _ in range(40):
            staged_window.session.on_frame(BEFORE_STAGE_FRAME_MS)
        staged_window.session.apply_input(line)
    headings = wait_for(staged_window, "over")
    names = {chip.name for chip in staged_window.failover_moment.stage.view.chips}
    assert ("Listener" in names) == (name != "fci-lab")
    assert ("Shared disk" in names) == (name == "fci-lab")
    assert len(headings) == len(names) + 1
    assert headings[-1].startswith(last_heading)
    view = staged_window.failover_moment.stage.view
    assert headings[-1] == f"Clients are back after {view.elapsed_text} s"
    assert staged_window.failover_moment.stage.buttons["go"].text().startswith("Continue")
    assert staged_window.timing.comparison.rowCount() == 0


@pytest.mark.parametrize(("choice", "mode"), sample_cases(3, [
    (settings.NEVER, "practice"), (settings.PRESENTING, "practice"), (settings.ALWAYS, "exam"),
]))  # fmt: skip
def test_the_stage_stays_closed_if_disabled(
    hands: WindowUser, staged_window: OpenWindow, choice: str, mode: str
) -> None:
    staged_window.store.set(settings.FAILOVER_STAGING, choice)
    start_drill(staged_window, "automatic-failover", mode)
    for _ in range(400):
        staged_window.session.on_frame(BEFORE_STAGE_FRAME_MS)
        assert not staged_window.failover_moment.state
        if staged_window.session.drill.tick > 7_000:
            break
    assert staged_window.session.drill.world.failovers


def test_the_stage_asks_a_person_who_is_typing(staged_window: OpenWindow, qtbot: QtBot) -> None:
    start_drill(staged_window, "automatic-failover", "practice")
    query = staged_window.console.open_query("SERVER_B", "")
    query.editor.setFocus()
    for _ in range(FRAMES_MAX):
        if staged_window.session.drill.tick >= 5_700:
            qtbot.keyClicks(query.editor, "S")
        staged_window.session.on_frame(BEFORE_STAGE_FRAME_MS)
        if staged_window.session.drill.world.failovers:
            break
    assert not staged_window.failover_moment.state
    assert query.editor.hasFocus()
    assert "failover" in staged_window.notice.text
    assert staged_window.notice._hide_timer.isActive()
    qtbot.keyClick(staged_window, Qt.Key.Key_F12)
    assert staged_window.failover_moment.state == "live"


def test_the_film_is_written(
    staged_window: OpenWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The film is a GIF, or an MP4 from a stub encoder. Without an encoder, the window shows the reason."""
    encoder = tmp_path / "encoder"
    encoder.write_text('#!/bin/sh\nfor file; do :; done\ncat > "$file"\n')
    encoder.chmod(0o700)
    monkeypatch.setattr(stage_controller, "FILM_FRAME_S", 3.0)
    monkeypatch.setattr(stage_controller, "FRAMES_PER_S", 1)
    monkeypatch.setattr(stage_controller, "FILM_SIZE_PX", QSize(320, 180))
    start_drill(staged_window, "automatic-failover", "practice")
    wait_for(staged_window, "over")
    frame = stage_controller.FILM_SIZE_PX.width() * stage_controller.FILM_SIZE_PX.height() * 3
    for kind, encoder_found in (("GIF", None), ("MP4", None), ("MP4", str(encoder))):
        monkeypatch.setattr(stage_controller, "find_encoder", lambda encoder_path=encoder_found: encoder_path)
        answer = (str(tmp_path / "failover.gif"), f"{kind} (*.{kind.lower()})")
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, answer=answer: answer)
        file = tmp_path / f"failover.{kind.lower()}"
        press_key(qtbot, Qt.Key.Key_E)
        if kind == "MP4" and encoder_found is None:
            assert "ffmpeg" in staged_window.notice.text
            assert not file.exists()
            continue
        qtbot.waitUntil(file.exists, timeout=60_000)
        data = file.read_bytes()
        assert data.startswith(b"GIF89a") if kind == "GIF" else len(data) % frame == 0 < len(data)
        qtbot.waitUntil(staged_window.failover_moment.stage.buttons["export"].isEnabled)


def test_a_film_that_cannot_be_written_is_refused_at_once(
    staged_window: OpenWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A film of a cluster takes more than a minute to draw."""
    start_drill(staged_window, "automatic-failover", "practice")
    wait_for(staged_window, "over")
    (tmp_path / "folder.gif").mkdir()
    for target in ("folder.gif", "missing/failover.gif"):
        answer = (str(tmp_path / target), "GIF (*.gif)")
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, answer=answer: answer)
        staged_window.notice.hide_notice()
        press_key(qtbot, Qt.Key.Key_E)
        assert "cannot be written" in staged_window.notice.text
        assert "Errno" not in staged_window.notice.text
        assert "unfinished" not in staged_window.notice.text
        assert staged_window.failover_moment.stage.buttons["export"].isEnabled()


def test_a_film_never_replaces_a_file_that_the_dialog_did_not_name(
    staged_window: OpenWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dialog asks about the typed name, and the program adds the suffix. During an export the key has no
    effect.
    """
    monkeypatch.setattr(stage_controller, "FILM_FRAME_S", 3.0)
    start_drill(staged_window, "automatic-failover", "practice")
    wait_for(staged_window, "over")
    button = staged_window.failover_moment.stage.buttons["export"]
    words, requests = button.text(), list[str]()
    for name, kind in (("failover", "GIF (*.gif)"), ("failover.gif", "MP4 (*.mp4)"), ("new", "GIF (*.gif)")):
        for ending in (".gif", ".mp4"):
            (tmp_path / f"failover{ending}").write_bytes(b"earlier film")
        answer = (str(tmp_path / name), kind)

        def choose_file(*_: object, answer: tuple[str, str] = answer) -> tuple[str, str]:
            requests.append(answer[0])
            return answer

        questions: list[str] = []

        def record_question(*texts: object, questions: list[str] = questions) -> QMessageBox.StandardButton:
            questions.append(str(texts[2]))
            return QMessageBox.StandardButton.No

        monkeypatch.setattr(QFileDialog, "getSaveFileName", choose_file)
        monkeypatch.setattr(QMessageBox, "question", record_question)
        press_key(qtbot, Qt.Key.Key_E)
        assert len(questions) == (name != "new")
        assert (tmp_path / "failover.gif").read_bytes() == (tmp_path / "failover.mp4").read_bytes()
    assert not button.isEnabled()
    press_key(qtbot, Qt.Key.Key_E)
    assert len(requests) == 3
    qtbot.waitUntil(button.isEnabled, timeout=60_000)
    assert button.text() == words
    assert (tmp_path / "new.gif").exists()


def test_the_reason_is_offered_after_a_jump_to_the_failure(staged_window: OpenWindow) -> None:
    start_drill(staged_window, "forced-service", "practice")
    staged_window.session.pause()
    for _ in range(4_000):
        if not staged_window.session.is_busy:
            staged_window.actions_by_name["time.next_event"].trigger()
        staged_window.session.on_frame(BEFORE_STAGE_FRAME_MS)
        if "no automatic failover" in staged_window.notice.text:
            break
    assert "no automatic failover" in staged_window.notice.text
    assert not staged_window.session.is_running


def test_the_reason_for_no_failover_is_revealed_by_keys(staged_window: OpenWindow, qtbot: QtBot) -> None:
    start_drill(staged_window, "forced-service", "practice")
    for _ in range(4_000):
        staged_window.session.on_frame(BEFORE_STAGE_FRAME_MS)
        if "no automatic failover" in staged_window.notice.text:
            break
    else:
        raise AssertionError("nothing is offered")
    assert not staged_window.failover_moment.state
    qtbot.keyClick(staged_window, Qt.Key.Key_F12, Qt.KeyboardModifier.ShiftModifier)
    view = staged_window.failover_moment.stage.view
    assert view.heading == "No automatic failover: 2 requirements are not met"
    assert view.revealed == 0
    assert staged_window.failover_moment.stage.buttons["forth"].text().startswith("Next requirement")
    for _ in view.rows:
        press_key(qtbot, Qt.Key.Key_Right)
    view = staged_window.failover_moment.stage.view
    assert view.is_complete
    assert {row.name for row in view.rows if not row.is_met} >= {"A witness is configured", "Safety is FULL"}
    press_key(qtbot, Qt.Key.Key_Escape)
    assert staged_window.desk.isVisible()
    assert staged_window.session.is_running


@pytest.fixture(params=[language.ENGLISH, language.GERMAN])
def locale(request: pytest.FixtureRequest) -> Iterator[None]:
    language.use_language(request.param)
    yield
    language.use_language(language.ENGLISH)


class StageWidget(QWidget):
    """Widget that draws one state of the stage without the cached picture."""

    def __init__(self, size: QSize, large_text: bool) -> None:
        super().__init__()
        self.resize(size)
        self.view: StageView | MissingFailoverView | None = None
        self.style_of_stage = build_stage_style(theme.build_light_theme(), large_text)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        scale, height = stage._compute_scale(self.size())
        painter.scale(scale, scale)
        if isinstance(self.view, MissingFailoverView):
            draw_requirements(painter, self.style_of_stage, height, self.view)
        elif self.view is not None:
            canvas = StagePainter(painter, self.style_of_stage, height)
            canvas.draw_static_parts(self.view)
            canvas.draw_moving_parts(self.view, -1.0)


def find_overlaps(widget: QWidget) -> list[tuple[str, str]]:
    """Return the pairs of texts that overlap by more than their edges."""
    boxes = [
        (text.content, text.box.adjusted(2.0, 4.0, -2.0, -4.0))
        for text in painted.list_texts(widget)
        if text.content
    ]
    return [
        (a, b) for (a, box), (b, other_box) in itertools.combinations(boxes, 2) if box.intersects(other_box)
    ]


@pytest.mark.parametrize(
    ("name", "mode", "line"),
    sample_cases(
        4,
        [
            ("automatic-failover", "practice", ""),
            ("ag-automatic-failover", "practice", ""),
            ("forced-service", "practice", "why"),
            ("fci-lab", "lab", "power-off NODE_1"),
        ],
    ),
)
@pytest.mark.usefixtures("locale")
def test_text_of_the_stage_is_read_from_the_back_row(
    staged_window: OpenWindow, qtbot: QtBot, name: str, mode: str, line: str
) -> None:
    """Text has at least 24 pixels at 1920×1080 in presenter mode and 11 at 1366×768, and no text is cut off."""
    start_drill(staged_window, name, mode)
    views: list[StageView | MissingFailoverView] = []
    if line == "why":
        assert staged_window.session.history is not None
        explanation = explain_failover(staged_window.session.history)
        assert explanation is not None
        views.append(explanation.reveal(len(explanation.rows)))
    else:
        if line:
            for _ in range(40):
                staged_window.session.on_frame(BEFORE_STAGE_FRAME_MS)
            staged_window.session.apply_input(line)
        wait_for(staged_window, "live")
        assert staged_window.failover_moment.stage.view.votes_color_name == "muted"
        wait_for(staged_window, "over")
        replay = staged_window.failover_moment._prepare_replay()
        assert replay is not None
        views += [replay.build_phase_view(number) for number in range(replay.begun_phase_count)]
    small: dict[str, float] = {}
    cut: set[str] = set()
    for size, large_text, min_size in ((QSize(1920, 860), True, 24.0), (QSize(1366, 640), False, 11.0)):
        bare_stage = StageWidget(size, large_text)
        qtbot.addWidget(bare_stage)
        bare_stage.show()
        for bare_stage.view in views:
            texts_painted = list(painted.list_texts(bare_stage))
            assert len(texts_painted) >= 10
            small |= {
                text.content: round(text.size_px, 1) for text in texts_painted if text.size_px < min_size
            }
            cut |= {text.content for text in texts_painted if painted.ELLIPSIS in text.content}
            scale = size.width() / CANVAS_WIDTH
            panel = compute_panel_box(size.height() / scale)
            in_panel = [
                text
                for text in texts_painted
                if text.box.left() > panel.left() * scale and text.box.top() < (panel.bottom() - 1) * scale
            ]
            cut |= {text.content for text in in_panel if text.box.bottom() > (panel.bottom() - 4) * scale}
    assert not small
    assert not cut
    for size, large_text in ((QSize(1366, 640), False), (QSize(1900, 510), False), (QSize(1366, 440), True)):
        bare_stage = StageWidget(size, large_text)
        qtbot.addWidget(bare_stage)
        bare_stage.show()
        for bare_stage.view in views:
            assert not find_overlaps(bare_stage)
    low = StageWidget(QSize(1366, 440), True)
    qtbot.addWidget(low)
    low.show()
    for low.view in views:
        if isinstance(low.view, StageView):
            words = {text.content for text in painted.list_texts(low)}
            assert words >= {row.name for row in low.view.rows if row.indicator is not None}
    low.view = views[-1]
    low.resize(1_600, 730)
    if isinstance(low.view, StageView):
        words = {text.content for text in painted.list_texts(low)}
        rows = [row for row in low.view.rows if row.indicator is None and row.name in words]
        assert words >= {row.text for row in rows}, "no name without its value"


@pytest.mark.usefixtures("locale")
@pytest.mark.parametrize("width", [1366, 1800])
def test_the_buttons_of_the_stage_are_in_one_row(qtbot: QtBot, width: int) -> None:
    stage_made = stage.FailoverStage()
    stage_made.setFont(theme.resize_font(stage_made.font(), 1.5))
    qtbot.addWidget(stage_made)
    stage_made.resize(width, 600)
    stage_made.show()
    for running in (True, False):
        stage_made.show_running(running)
        QApplication.processEvents()
        assert len({button.y() for button in stage_made.buttons.values() if button.isVisible()}) == 1
