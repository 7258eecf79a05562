"""Drafts of unsent queries, stored in the profile while the user types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from app.main_window.shared_parts import SharedParts, WindowPart
from app.storage import StorageError
from app.views.console import QueryConsole
from app.views.console.tabs import ClosedWindow, parse_server_name

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill

EDITOR_DRAFT: Final = "editor"
"""Key of the scenario editor's draft. All other drafts are unsent queries."""
DRAFT_SAVE_DELAY_MS: Final = 400
"""Pause in typing after which drafts are stored."""


UNSAVED_MAX_MS: Final = 2_000
"""Maximum time without storage while the user types without a pause."""


class DebounceTimer(QTimer):
    """Timer that fires after a pause in changes, or after a maximum time of continuous changes.

    Syntax highlighting, which takes seconds for a long text, also counts as a change.
    """

    def __init__(self, after_ms: int, parent: QObject) -> None:
        super().__init__(parent)
        self.setInterval(after_ms)
        self.setSingleShot(True)
        self._change_timer = QElapsedTimer()

    def restart_pause(self) -> None:
        """Restart the pause, because the text has changed."""
        if not self.isActive():
            self._change_timer.start()
        if not self.isActive() or self._change_timer.elapsed() < UNSAVED_MAX_MS:
            self.start()


OPEN_WINDOW_PREFIX, CLOSED_WINDOW_PREFIX = "tabs", "closed"
"""First part of a draft's key: "tabs/RUN/WINDOW" for open windows of a run, "closed/NUMBER/SERVER" for closed ones."""


class QueryDraftStore(WindowPart):
    """Store of the texts in the query windows, separately for each run."""

    message_ready = Signal(str)
    """Signal with the reason why drafts could not be stored."""

    def __init__(self, shared: SharedParts, console: QueryConsole) -> None:
        super().__init__(shared)
        self._console = console
        self._reported_problem = ""
        self._tree: object = None
        """Tree of branches to which the texts in the query windows belong."""
        self._run_known = 0
        self._title = ""
        self._resumable: set[str] = set()
        """IDs of the runs that can be resumed. Their drafts are kept."""
        self._save_pause = DebounceTimer(DRAFT_SAVE_DELAY_MS, self)
        self._save_pause.timeout.connect(self.save_drafts)

    def restore_windows(self) -> None:
        """Offer to reopen the query windows from the last use of the program, and start to store drafts."""
        drafts = self._load_drafts()
        self._resumable = {str(run.run_id) for run in self._play.list_unfinished_runs()}
        closed_drafts = [
            ClosedWindow(parse_server_name(key.rpartition("/")[2]), text)
            for key, text in drafts.items()
            if key.partition("/")[0] != OPEN_WINDOW_PREFIX and text.strip()
        ]
        self._console.tabs.store_closed_windows(closed_drafts)
        self._console.drafts_changed.connect(self._save_pause.restart_pause)

    def open_run_windows(self, drill: Drill) -> None:
        """Open the query windows of another run with their texts. Branches of the same run share their windows."""
        tree = self._play.branches
        if tree is not None and tree is self._tree:
            return
        self.save_drafts()
        left_drafts = self._console.list_drafts() if self._tree is not None or self._title else {}
        closed_drafts = [
            ClosedWindow(parse_server_name(name), text, self._title)
            for name, text in left_drafts.items()
            if text.strip()
        ]
        self._tree, self._title = tree, drill.scenario.title
        self._run_known = 0
        run = f"{OPEN_WINDOW_PREFIX}/{self._tree_run_id}/"
        stored_drafts = {
            key.removeprefix(run): text for key, text in self._load_drafts().items() if key.startswith(run)
        }
        self._resumable = {str(run.run_id) for run in self._play.list_unfinished_runs()}
        self._console.begin_run(drill.world, stored_drafts, closed_drafts)

    @property
    def _tree_run_id(self) -> int:
        """Return the ID of the run from which all branches that share these query windows descend.

        0 for an unrecorded run.
        """
        if self._tree is not None and self._play.branches is self._tree:
            self._run_known = self._play.first_run_id or 0
        return self._run_known

    def _load_drafts(self) -> dict[str, str]:
        if self._profile is None:
            return {}
        try:
            return {key: self._profile.drafts.load(key) or "" for key in self._list_keys()}
        except StorageError as problem:
            self.message_ready.emit(str(problem))
            return {}

    def _select_drafts(self, saved_keys: Iterable[str]) -> Iterator[tuple[str, str | None]]:
        """Yield the key and text of each draft to keep. For the text None, keep the stored draft as it is.

        Stored drafts of other runs are kept if these runs can be resumed.
        """
        for number, closed_window in enumerate(self._console.tabs.closed):
            yield f"{CLOSED_WINDOW_PREFIX}/{number}/{closed_window.server}", closed_window.text
        prefix = f"{OPEN_WINDOW_PREFIX}/{self._tree_run_id}/"
        if self._tree is not None:
            for name, text in self._console.list_drafts().items():
                yield f"{prefix}{name}", text
        for key in saved_keys:
            belongs_to_other = key.startswith(f"{OPEN_WINDOW_PREFIX}/") and not (
                self._tree and key.startswith(prefix)
            )
            if belongs_to_other and key.split("/")[1] in self._resumable:
                yield key, None

    def save_drafts(self) -> None:
        """Store changed drafts. A full disk is reported once, and the texts stay in the windows."""
        self._save_pause.stop()
        if self._profile is None:
            return
        drafts = self._profile.drafts
        try:
            known_keys = self._list_keys()
            wanted_drafts = dict(self._select_drafts(known_keys))
            for key in set(known_keys) - set(wanted_drafts):
                drafts.delete(key)
            for key, text in wanted_drafts.items():
                if text is not None and drafts.load(key) != text:
                    drafts.save(key, text)
        except StorageError as problem:
            if str(problem) != self._reported_problem:
                self.message_ready.emit(str(problem))
            self._reported_problem = str(problem)
        else:
            self._reported_problem = ""

    def _list_keys(self) -> list[str]:
        assert self._profile is not None
        drafts = self._profile.drafts
        return [key for key in drafts.list_keys() if key != EDITOR_DRAFT]

    def save_and_close(self) -> None:
        """Store the drafts for the last time, because the profile is about to be closed."""
        self.save_drafts()
        self._console.drafts_changed.disconnect(self._save_pause.restart_pause)
