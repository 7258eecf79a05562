"""Objects that nearly every part of the window uses, and the base class that gives each part access to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from app.main_window.confirmations import ConfirmationDialogs
    from app.main_window.library import Library
    from app.main_window.run_controller import RunController
    from app.main_window.session import HostSession
    from app.main_window.window import MainWindow
    from app.settings import WindowSettings
    from app.storage import Profile
    from app.widgets.notice import NoticeBar


class SharedParts(Struct, frozen=True):
    """The run, its storage and the window. Without a *profile* nothing is stored."""

    window: MainWindow
    session: HostSession
    play: RunController
    library: Library
    irrevocable: ConfirmationDialogs
    notice: NoticeBar
    store: WindowSettings
    profile: Profile | None


class WindowPart(QObject):
    """Part of the window; the window owns it."""

    def __init__(self, shared: SharedParts) -> None:
        super().__init__(shared.window)
        self._window, self._session, self._play = shared.window, shared.session, shared.play
        self._library, self._irrevocable, self._notice = shared.library, shared.irrevocable, shared.notice
        self._store, self._profile = shared.store, shared.profile
