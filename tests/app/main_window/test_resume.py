"""Tests that no acknowledged input is lost when the program is killed, and the next start has the same tick
and hash.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.settings import WindowSettings
from app.storage import Profile, StorageError, StorageProblemKind, open_profile
from app.widgets import theme
from engine.drill.running.drill import Drill, replay
from tests.app.main_window.conftest import WindowUser, show_window
from tests.assertions import require

ROOT = Path(__file__).parents[3]

KILLED_SCRIPT = """
import sys
from pathlib import Path
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from tests.open_window import build_window
from app.settings import WindowSettings
from app.storage import open_profile

folder, settings = map(Path, sys.argv[1:])
app = QApplication([])
store = WindowSettings(QSettings(str(settings), QSettings.Format.IniFormat))
window = build_window(open_profile(folder), store, use_timer=False)
window.show()
window.select_drill("lab")
window.brief.start_wanted.emit("lab")
session = window.session
session.play()
for frame in range(40):
    session.on_frame(100.0)
    if frame == 10:
        session.apply_input("power-off SERVER_A")
    if frame == 30:
        session.apply_input("sql SERVER_B SELECT mirroring_state_desc\\n    FROM sys.database_mirroring")
session.pause()
print(session.drill.tick, session.drill.compute_state_hash(), flush=True)
sys.stdin.read()
"""


def test_a_run_killed_during_a_drill_is_resumed(
    qtbot: QtBot, qapp: QApplication, profile_folder: Path, tmp_path: Path, store: WindowSettings
) -> None:
    victim = subprocess.Popen(
        [sys.executable, "-c", KILLED_SCRIPT, str(profile_folder), str(tmp_path / "victim.ini")],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert victim.stdout is not None
    assert victim.stdin is not None
    tick, state_hash = victim.stdout.readline().split()
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    victim.stdin.close()
    victim.stdout.close()

    theme.apply_theme_choice(qapp)
    with open_profile(profile_folder) as profile:
        window = show_window(qtbot, profile, store)
        hands = WindowUser(qtbot, window)
        (continue_button,) = [
            b for b in window.picker.findChildren(QPushButton) if b.text().startswith("Continue at 0:0")
        ]
        hands.click_widget(continue_button)
        hands.finish_search()
        assert window.pages.currentWidget() is window.desk_page
        assert (hands.drill.tick, hands.drill.compute_state_hash()) == (int(tick), state_hash)
        hands.window.session.play()
        hands.run_frames(1.0)
        window.session.apply_input("finish")
        (row,) = profile.list_results()
        lines = [line.text.partition(" ")[2] for line in profile.read_journal(row.run_id)]
        assert lines[0] == "power-off SERVER_A"
        assert lines[1] == "sql SERVER_B SELECT mirroring_state_desc\n    FROM sys.database_mirroring"
        assert lines[2] == "finish"
        assert profile.list_unfinished_runs() == []
        window.close()


def leave_a_run(hands: WindowUser) -> Drill:
    """Play the lab for a while and go home without ending it."""
    window = hands.window
    window.select_drill("lab")
    window.brief.start_wanted.emit("lab")
    hands.run_frames(3.0)
    window.session.apply_input("cut SERVER_A SERVER_W")
    hands.run_frames(2.0)
    drill = hands.drill
    window.show_home()
    return drill


def test_a_run_can_be_left_resumed_or_abandoned(hands: WindowUser, profile: Profile) -> None:
    window, left = hands.window, leave_a_run(hands)
    (run,) = profile.list_unfinished_runs()
    assert run.tick == left.tick
    window.resume_run(run.run_id)
    hands.finish_search()
    assert hands.drill.compute_state_hash() == left.compute_state_hash()
    window.show_home()
    menu = require(window.picker.top.resume.more.menu())
    menu.aboutToShow.emit()
    (give_up,) = menu.actions()
    assert give_up.text() == "Give up: Database mirroring lab"
    give_up.trigger()
    hands.confirm_action()
    assert profile.list_unfinished_runs() == []
    assert not window.picker.top.resume.isVisible()


def test_the_offer_to_continue_shows_the_goals_that_are_met(hands: WindowUser) -> None:
    window = hands.window
    window.select_drill("automatic-failover")
    window.start_drill("practice")
    hands.run_frames(70.0)
    window.show_home()
    assert "1 of 2 goals met" in window.picker.top.resume.text.text()


def test_a_run_whose_clock_never_ran_is_not_offered(hands: WindowUser, profile: Profile) -> None:
    window = hands.window
    window.select_drill("lab")
    window.start_drill("lab")
    window.session.pause()
    window.show_home()
    assert [run.tick for run in profile.list_unfinished_runs()] == [0]
    assert not window.picker.top.resume.isVisible()


def test_an_incompatible_journal_is_refused_with_a_message(hands: WindowUser, profile: Profile) -> None:
    window = hands.window
    leave_a_run(hands)
    (run,) = profile.list_unfinished_runs()
    profile.store_hash(run.run_id, 200, "0" * 32)
    window.resume_run(run.run_id)
    hands.finish_search()
    assert "differs from the recorded state" in window.notice.text
    assert window.pages.currentWidget() is window.picker
    assert profile.list_unfinished_runs()  # The program discards no run.


def test_a_full_disk_undoes_the_input_and_reports_it(
    hands: WindowUser, profile: Profile, monkeypatch
) -> None:
    window = hands.window
    window.select_drill("lab")
    window.brief.start_wanted.emit("lab")
    hands.run_frames(2.0)
    before = hands.drill.compute_state_hash()

    def raise_disk_full(*_: object) -> None:
        raise StorageError(StorageProblemKind.DISK_FULL, "The disk with it is full.")

    with monkeypatch.context() as patch:
        patch.setattr(profile, "append_line", raise_disk_full)
        patch.setattr(profile, "store_position", raise_disk_full)
        window.apply_line("power-off SERVER_A")
    assert window.notice.text == "The disk with it is full."
    assert hands.drill.compute_state_hash() == before
    assert "running" in window.topology.summary.split(";")[0]
    window.apply_line("power-off SERVER_A")
    assert window.notice.text == ""
    (run,) = profile.list_unfinished_runs()
    replayed = replay(
        hands.drill.scenario, run.seed, run.mode, [line.text for line in run.lines], hands.drill.tick
    )
    assert replayed.compute_state_hash() == hands.drill.compute_state_hash()
