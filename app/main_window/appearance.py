"""Appearance settings: theme, text size, motion, shortcuts and layout. Changes apply immediately and are stored."""

from collections.abc import Callable, Mapping
from typing import Final

from PySide6.QtCore import QByteArray, QObject, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QApplication, QMenu

from app import settings
from app.main_window.desk import Desk
from app.settings import WindowSettings
from app.widgets import keys, theme
from app.widgets.busy_cursor import show_busy_cursor
from app.widgets.docks import (
    AUTHOR_PROFILE,
    INSTRUCTOR_PROFILE,
    LAYOUT_PROFILES,
    LEARNER_PROFILE,
    PRESENTER_PROFILE,
)
from app.words.fuzzy import SEARCH_WORDS_PROPERTY
from app.words.language import LANGUAGES, mark, tr

KEY_SCHEME: Final = settings.WindowSettingKey("keys/scheme", keys.SSMS_SCHEME)
KEY_CHANGES: Final = settings.WindowSettingKey("keys/changes", "")

LAYOUT_CHOICES: Final = {
    LEARNER_PROFILE: mark("Learner"),
    INSTRUCTOR_PROFILE: mark("Instructor"),
    AUTHOR_PROFILE: mark("Author"),
    PRESENTER_PROFILE: mark("Presenter"),
}
THEME_CHOICES: Final = {
    theme.SYSTEM_THEME: mark("System default"),
    theme.LIGHT_THEME: mark("Light"),
    theme.DARK_THEME: mark("Dark"),
    theme.HIGH_CONTRAST_THEME: mark("High contrast"),
}
STAGING_CHOICES: Final = {
    settings.ALWAYS: mark("Always, except in exams"),
    settings.PRESENTING: mark("When presenting"),
    settings.NEVER: mark("Never"),
}
LANGUAGE_CHOICES: Final = {settings.LANGUAGE.default: mark("System default"), **LANGUAGES}
"""Languages that the user can choose -> menu text. Each language appears under its own name."""


class AppearanceSettings(QObject):
    """Appearance that the user has chosen. It stores each change and applies it to the window."""

    changed = Signal()
    """Signal: theme, text size or keys have changed."""
    motion_changed = Signal(bool)
    message_ready = Signal(str)
    """Signal: message to the user about a changed setting."""

    def __init__(
        self, store: WindowSettings, desk: Desk, actions: Mapping[str, QAction], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._store, self._desk = store, desk
        self._actions = dict(actions)
        """Actions with configurable shortcuts, by name in the table of keys."""
        self._groups: dict[str, QActionGroup] = {}
        desk.narrow_changed.connect(self._on_narrow_changed)
        self._motion = QAction(tr("Reduce &motion"), self, checkable=True)
        self._motion.setChecked(store.get(settings.REDUCED_MOTION))
        self._motion.toggled.connect(self._set_reduced_motion)

    def fill_layout_menu(self, menu: QMenu) -> None:
        """Add the submenu of layouts to the View menu."""
        self._add_choices(menu, "layout", tr("&Layout"), LAYOUT_CHOICES, self.set_layout)
        self._check_menu_entry("layout", self.layout)

    def fill_menu(self, menu: QMenu) -> None:
        """Add the submenus for theme, language and failover display, and the motion entry, to *menu*."""
        self._add_choices(menu, "theme", tr("&Theme"), THEME_CHOICES, self.set_theme)
        self._add_choices(menu, "language", tr("Lan&guage"), LANGUAGE_CHOICES, self.set_language)
        self._add_choices(
            menu, "moment", tr("&Show failovers phase by phase"), STAGING_CHOICES, self.set_failover_staging
        )
        menu.addAction(self._motion)
        self._check_menu_entry("theme", self._store.get(settings.THEME))
        self._check_menu_entry("language", self._store.get(settings.LANGUAGE))
        self._check_menu_entry("moment", self._store.get(settings.FAILOVER_STAGING))

    def _add_choices(
        self,
        parent_menu: QMenu,
        group_name: str,
        title: str,
        names: Mapping[str, str],
        choose: Callable[[str], None],
    ) -> None:
        menu = parent_menu.addMenu(title)
        self._groups[group_name] = QActionGroup(menu)
        for name, words in names.items():
            action = QAction(tr(words), menu, checkable=True)
            action.setData(name)
            # the command palette also finds the English text
            action.setProperty(SEARCH_WORDS_PROPERTY, words)
            action.triggered.connect(lambda _=False, name=name: choose(name))
            self._groups[group_name].addAction(action)
            menu.addAction(action)

    def _check_menu_entry(self, group_name: str, name: str) -> None:
        for action in self._groups[group_name].actions() if group_name in self._groups else ():
            action.setChecked(action.data() == name)

    @property
    def theme(self) -> str:
        """Selected theme, which may be the system's theme."""
        return self._store.get(settings.THEME)

    # --- theme and text -------------------------------------------------------------------------------------

    def set_theme(self, choice: str) -> None:
        """Set and store the theme."""
        self._store.set(settings.THEME, choice)
        self._check_menu_entry("theme", choice)
        self.apply()

    def set_language(self, choice: str) -> None:
        """Store the language for the next start and inform the user. Texts on screen do not change."""
        self._store.set(settings.LANGUAGE, choice)
        self._check_menu_entry("language", choice)
        self.message_ready.emit(tr("The language changes at the next start of Mirrordrill."))

    def set_failover_staging(self, choice: str) -> None:
        """Set and store when failovers are shown phase by phase: always, when presenting, or never."""
        self._store.set(settings.FAILOVER_STAGING, choice)
        self._check_menu_entry("moment", choice)

    def select_next_theme(self) -> None:
        """Set the theme that follows the current theme in the list."""
        choices = list(theme.THEME_NAMES)
        index = choices.index(self.theme) if self.theme in choices else 0
        self.set_theme(choices[(index + 1) % len(choices)])

    def set_font_scale(self, scale: float) -> None:
        """Set and store the text size."""
        self._store.set(settings.FONT_SCALE, scale)
        self.apply()

    def step_font_scale(self, step: int) -> None:
        """Increase (1) or decrease (-1) the text size by one step."""
        scales, current_scale = settings.FONT_SCALES, self._store.get(settings.FONT_SCALE)
        nearest_index = min(range(len(scales)), key=lambda index: abs(scales[index] - current_scale))
        new_scale = scales[max(0, min(len(scales) - 1, nearest_index + step))]
        if new_scale != current_scale:
            self.set_font_scale(new_scale)

    def toggle_contrast(self) -> None:
        """Switch between high contrast and the previous theme."""
        before = self._store.get(settings.THEME_BEFORE_CONTRAST)
        if self.theme != theme.HIGH_CONTRAST_THEME:
            self._store.set(settings.THEME_BEFORE_CONTRAST, self.theme)
            self.set_theme(theme.HIGH_CONTRAST_THEME)
        else:
            self.set_theme(
                before
                if before in theme.THEME_NAMES and before != theme.HIGH_CONTRAST_THEME
                else theme.SYSTEM_THEME
            )

    def apply_system_colors(self) -> None:
        """Apply changed colors of the system, if the theme uses them."""
        if self._store.get(settings.THEME) == theme.SYSTEM_THEME:
            self.apply()

    def apply(self) -> None:
        """Apply the current theme, text size and keys."""
        with show_busy_cursor():
            apply_stored_theme(self._store)
            self.changed.emit()

    def _set_reduced_motion(self, reduced: bool) -> None:
        self._store.set(settings.REDUCED_MOTION, reduced)
        self.motion_changed.emit(reduced)

    # --- keys -----------------------------------------------------------------------------------------------

    @property
    def key_scheme(self) -> str:
        """Return the name of the key scheme."""
        scheme = self._store.get(KEY_SCHEME)
        return scheme if scheme in keys.KEY_SCHEMES else keys.SSMS_SCHEME

    @property
    def key_changes(self) -> dict[str, tuple[str, ...]]:
        """Return the user's changes to the key scheme, by name of the command."""
        return keys.parse_key_changes(self._store.get(KEY_CHANGES))

    @property
    def current_keys(self) -> dict[str, tuple[str, ...]]:
        """Return the current keys of all commands, by name of the command."""
        return keys.resolve_keys(self.key_scheme, self.key_changes)

    def set_keys(self, scheme: str, changes: keys.KeysByCommand) -> None:
        """Set and store the key scheme and its changes."""
        self._store.set(KEY_SCHEME, scheme)
        self._store.set(KEY_CHANGES, keys.format_key_changes(changes))
        self.bind_keys()
        self.changed.emit()

    def bind_actions(self, actions: Mapping[str, QAction]) -> None:
        """Assign keys to further *actions*, now and after each change of the keys."""
        self._actions.update(actions)
        keys.bind_shortcuts(actions, self.current_keys)

    def bind_keys(self) -> None:
        """Assign the current keys to all actions."""
        keys.bind_shortcuts(self._actions, self.current_keys)

    # --- layout ---------------------------------------------------------------------------------------------

    @property
    def layout(self) -> str:
        """Return the name of the desk's layout."""
        profile = self._store.get(settings.LAYOUT_PROFILE)
        return profile if profile in LAYOUT_PROFILES else LAYOUT_PROFILES[0]

    def set_layout(self, profile: str) -> None:
        """Store the current layout of the desk, then switch to the layout *profile*."""
        with show_busy_cursor():
            self.store_layout()
            self._store.set(settings.LAYOUT_PROFILE, profile)
            self._check_menu_entry("layout", profile)
            self.restore_layout()

    def restore_layout(self) -> None:
        """Restore the stored layout for this screen size."""
        self._desk.restore_layout(self._store.get(self._build_layout_key(self._desk.is_narrow)), self.layout)

    @show_busy_cursor()
    def reset_layout(self) -> None:
        """Move all panels to their default positions."""
        self._store.remove(self._build_layout_key(self._desk.is_narrow))
        self._desk.arrange_panels(self.layout)

    def store_layout(self) -> None:
        """Store the current layout for this screen size."""
        if self._desk.has_been_visible:
            self._store.set(self._build_layout_key(self._desk.narrow), self._desk.save_layout())

    def _build_layout_key(self, narrow: bool) -> settings.WindowSettingKey[QByteArray]:
        """Return the settings key of the layout for this screen size.

        Each layout has a stored state for each screen size, and another state for a *narrow* desk of this
        screen size. On a small screen, the state of a large screen would leave no room for the topology.
        """
        screen = self._desk.screen().size()
        kind = f"{self.layout}-narrow" if narrow else self.layout
        return settings.build_layout_key(f"{kind} {screen.width()}x{screen.height()}")

    def _on_narrow_changed(self) -> None:
        """Store the layout for the previous width of the desk, and restore the layout for the new width."""
        self.store_layout()
        self.restore_layout()


def enlarge_text_on_wide_screen(store: WindowSettings, width_px: int) -> None:
    """At the first start on a wide screen, store a larger text size."""
    if width_px >= settings.WIDE_SCREEN_PX and not store.has_value(settings.FONT_SCALE):
        store.set(settings.FONT_SCALE, settings.WIDE_SCREEN_TEXT_SCALE)


def apply_stored_theme(store: WindowSettings) -> None:
    """Apply the stored theme and text size."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    theme.apply_theme_choice(app, store.get(settings.THEME), store.get(settings.FONT_SCALE))
