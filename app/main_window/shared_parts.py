"""Objects that most parts of the window use, and the base class that provides them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from app.main_window.confirmations import ConfirmationDialogs
    from app.main_window.host_session import HostSession
    from app.main_window.library import ScenarioLibrary
    from app.main_window.run_controller import RunController
    from app.main_window.window import MainWindow
    from app.settings import WindowSettings
    from app.storage import Profile
    from app.widgets.notice import NoticeBar


class SharedParts(Struct, frozen=True):
    """Shared objects of the window: the run, its storage, and user interface parts.

    *profile*: None to store nothing.
    """

    window: MainWindow
    session: HostSession
    play: RunController
    library: ScenarioLibrary
    confirmations: ConfirmationDialogs
    notice: NoticeBar
    store: WindowSettings
    profile: Profile | None


class WindowPart(QObject):
    """Base class of the parts of the window. The window owns them."""

    def __init__(self, shared: SharedParts) -> None:
        super().__init__(shared.window)
        self._window, self._session, self._play = shared.window, shared.session, shared.play
        self._library, self._confirmations, self._notice = shared.library, shared.confirmations, shared.notice
        self._store, self._profile = shared.store, shared.profile
