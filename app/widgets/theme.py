"""Colors, fonts, icons and style of the program, as one set of tokens for widgets, scenes and plots.

A view calls `get_theme_tokens(self.palette())` when it is created and after each change that
`call_after_events` reports. There is no global "current theme". Text colors have a contrast of 4.5:1 on every
intended background, and symbols 3:1 (tests/app/widgets/test_theme.py).
"""

import gc
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from importlib.resources import files
from pathlib import Path
from string import Template
from types import MethodType
from typing import Final, cast
from weakref import ref

import shiboken6
from msgspec import Struct
from PySide6.QtCore import QByteArray, QEvent, QObject, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetrics, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QWidget

from engine.overrides import override

SYSTEM_THEME, LIGHT_THEME, DARK_THEME, HIGH_CONTRAST_THEME = "system", "light", "dark", "high contrast"
THEME_NAMES: Final = (SYSTEM_THEME, LIGHT_THEME, DARK_THEME, HIGH_CONTRAST_THEME)


class ThemeTokens(Struct, frozen=True):
    """Colors by meaning. `*_soft` is the background for text in the color of the same name."""

    name: str
    dark: bool
    window: QColor
    """Background of the window, behind panels."""
    surface: QColor
    """Background of panels, editors, tables, plots and the scene."""
    raised: QColor
    """Background of cards, headers and alternate rows."""
    border: QColor
    """Lines between objects. They are decoration and never the only indication of a state."""
    text: QColor
    muted: QColor
    """Less important text, and axes."""
    accent: QColor
    on_accent: QColor
    selection: QColor
    on_selection: QColor
    focus: QColor
    ok: QColor
    ok_soft: QColor
    warn: QColor
    warn_soft: QColor
    bad: QColor
    bad_soft: QColor
    info: QColor
    info_soft: QColor
    idle: QColor
    """Objects that are off, unknown or not applicable."""
    idle_soft: QColor
    series: tuple[QColor, ...]
    """Colors of plot lines and servers, in the order of `SERIES_COLOR_NAMES`.

    People with red-green blindness can distinguish them.
    """
    keyword: QColor
    string: QColor
    number: QColor
    comment: QColor
    function: QColor

    def get_color(self, name: str) -> QColor:
        """Return the color with the token name *name*, such as ok or warn.

        Raises AttributeError for an unknown name.
        """
        color: QColor = getattr(self, name)
        return color

    def get_server_color(self, index: int) -> QColor:
        """Return the color of the server with number *index* in the drill. It is the same in every view."""
        return self.series[index % len(self.series)]


SERIES_COLOR_NAMES: Final = ("blue", "orange", "purple", "teal", "pink", "olive")


@cache
def _load_colors() -> dict[str, dict[str, str | list[str]]]:
    return tomllib.loads(resources.files("app.widgets").joinpath("colors.toml").read_text(encoding="utf-8"))


def _build_tokens(name: str, dark: bool) -> ThemeTokens:
    colors_by_name = dict(_load_colors()[name])
    series = tuple(QColor(value) for value in colors_by_name.pop("series"))
    colors = {key: QColor(value) for key, value in colors_by_name.items() if isinstance(value, str)}
    return ThemeTokens(name=name, dark=dark, series=series, **colors)


@cache
def build_light_theme() -> ThemeTokens:
    """Return the light theme."""
    return _build_tokens(LIGHT_THEME, False)


@cache
def build_dark_theme() -> ThemeTokens:
    """Return the dark theme."""
    return _build_tokens(DARK_THEME, True)


@cache
def build_high_contrast_theme() -> ThemeTokens:
    """Return the high-contrast theme for bright rooms and low vision: text at 7:1 or more, and visible lines."""
    return _build_tokens(HIGH_CONTRAST_THEME, True)


def get_theme_tokens(palette: QPalette) -> ThemeTokens:
    """Return the tokens of the theme to which *palette* belongs."""
    if palette.color(QPalette.ColorRole.Window) == build_high_contrast_theme().window:
        return build_high_contrast_theme()
    return (
        build_dark_theme()
        if palette.color(QPalette.ColorRole.Window).lightness() < 128
        else build_light_theme()
    )


def add_alpha(color: QColor, alpha: int) -> QColor:
    """Return *color* with the opacity *alpha*, from 0 (invisible) to 255 (opaque)."""
    result = QColor(color)
    result.setAlpha(alpha)
    return result


# --- fonts --------------------------------------------------------------------------------------------------

CHECK_BOX_LINES: Final = 0.75
"""Size of a check box in line heights."""
BASE_FONT_POINTS: Final = 10.0
"""Text size in points at font scale 1. Assumed: the rounded default of Windows and most Linux desktops."""


def build_fixed_font(scale: float = 1.0) -> QFont:
    """Return the system's fixed-width font. *scale* is relative to normal text."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(QApplication.font().pointSizeF() * scale)
    return font


def resize_font(font: QFont, scale: float, bold: bool = False) -> QFont:
    """Return *font* with its size multiplied by *scale*."""
    new_font = QFont(font)
    new_font.setPointSizeF(font.pointSizeF() * scale)
    new_font.setBold(bold)
    return new_font


# --- icons --------------------------------------------------------------------------------------------------

ICON_SIZES: Final = (16, 20, 24, 32, 48)


def load_icon(name: str, colors: ThemeTokens, color: QColor | None = None) -> QIcon:
    """Return the icon `assets/icons/NAME.svg` in *color* (default: the text color).

    Qt shows it faint in disabled widgets.
    """
    return _load_icon(name, (color or colors.text).rgba(), _get_faint_color(colors).rgba())


@cache
def _load_icon(name: str, normal: int, disabled: int) -> QIcon:
    """Return a cached icon. Many actions share an icon, and each icon is drawn in ten variants."""
    rendered_icon = QIcon()
    for mode, pixmap in ((QIcon.Mode.Normal, normal), (QIcon.Mode.Disabled, disabled)):
        renderer = _load_renderer(name, QColor.fromRgba(pixmap))
        for size in ICON_SIZES:
            rendered_icon.addPixmap(_render_pixmap(renderer, size), mode)
    return rendered_icon


def render_pixmap(name: str, color: QColor, size: int) -> QPixmap:
    """Return an icon in *color* with a size of *size* device pixels."""
    return _render_pixmap(_load_renderer(name, color), size)


def _load_renderer(name: str, color: QColor) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(_read_source(name).replace("currentColor", color.name()).encode()))


@cache
def _read_source(name: str) -> str:
    return (files("assets") / "icons" / f"{name}.svg").read_text(encoding="utf-8")


def _render_pixmap(renderer: QSvgRenderer, size: int) -> QPixmap:
    rendered_pixmap = QPixmap(QSize(size, size))
    rendered_pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(rendered_pixmap)
    renderer.render(painter)
    painter.end()
    return rendered_pixmap


def _get_faint_color(colors: ThemeTokens) -> QColor:
    faint = QColor(colors.muted)
    faint.setAlphaF(0.45)
    return faint


# --- applying -----------------------------------------------------------------------------------------------


@contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Pause Python's garbage collector in this context.

    The collector deletes closed windows without references. If that happened while Qt iterates over all
    widgets, Qt would access deleted widgets.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@_pause_garbage_collection()
def apply_theme_choice(app: QApplication, choice: str = SYSTEM_THEME, font_scale: float = 1.0) -> ThemeTokens:
    """Apply the theme *choice* to the program, and scale its text by *font_scale*. Return the tokens."""
    colors = _select_tokens(app, choice)
    if app.property("styled") is None:  # setting the style makes Qt polish every widget, so do it only once
        app.setStyle("Fusion")
        app.setProperty("styled", True)
    font = app.font()
    growth = BASE_FONT_POINTS * font_scale / font.pointSizeF()
    fonts = _find_custom_fonts(app)
    # Replacing a style sheet takes four times as long as removing it and setting the new one.
    app.setStyleSheet("")
    font.setPointSizeF(BASE_FONT_POINTS * font_scale)
    app.setFont(font)
    app.setPalette(build_palette(colors))
    # The style sheet comes last, because it passes palette and font to all widgets.
    app.setStyleSheet(build_style_sheet(colors, QFontMetrics(font).height()))
    # Setting a style sheet restores the fonts from the time of the first style sheet. Make each widget
    # inherit the font of its parent again. Parents must come first, otherwise tab bars would keep their size.
    for widget in sorted(app.allWidgets(), key=_count_ancestors) if growth != 1.0 else ():
        if not widget.testAttribute(Qt.WidgetAttribute.WA_SetFont):
            widget.setFont(QFont())
        # the style sheet makes the text of a primary button bold, so its size must be computed again
        if widget.property("primary") == "true":
            widget.style().unpolish(widget)
            widget.style().polish(widget)
        QApplication.sendEvent(widget, QEvent(QEvent.Type.FontChange))
    # Some widgets receive the palette event while they still have the old palette, so their icons would
    # have the wrong color.
    for widget in app.allWidgets():
        if _has_palette_handler(widget):
            QApplication.sendEvent(widget, QEvent(QEvent.Type.PaletteChange))
    for widget, before in fonts:
        if (
            shiboken6.isValid(widget)
            and abs(widget.font().pointSizeF() - before.pointSizeF() * growth) > 0.01
        ):
            widget.setFont(resize_font(before, growth, before.bold()))
    return colors


def _count_ancestors(widget: QWidget) -> int:
    """Return the number of ancestors of *widget*."""
    parent, depth = widget.parentWidget(), 0
    while parent is not None:
        parent, depth = parent.parentWidget(), depth + 1
    return depth


def _has_palette_handler(widget: QWidget) -> bool:
    """Return True if *widget* is a widget of this program that handles palette changes."""
    return bool(widget.property(FOLLOWER_PROPERTY)) or any(
        "changeEvent" in base.__dict__ for base in type(widget).__mro__ if base.__module__.startswith("app.")
    )


FOLLOWER_PROPERTY: Final = "followsLooks"
"""Qt property with the `_EventFollower` of a widget, set by `call_after_events`."""
PALETTE_EVENTS: Final = (QEvent.Type.PaletteChange,)
FONT_EVENTS: Final = (QEvent.Type.FontChange,)
APPEARANCE_EVENTS: Final = (*PALETTE_EVENTS, *FONT_EVENTS)
STYLE_EVENTS: Final = (*FONT_EVENTS, QEvent.Type.StyleChange)
SIZE_EVENTS: Final = (QEvent.Type.Resize,)
SHOW_EVENTS: Final = (QEvent.Type.Show,)


def call_after_events(
    widget: QWidget, kinds: tuple[QEvent.Type, ...], *methods: Callable[[], object]
) -> None:
    """Call *methods* each time after *widget* has processed an event of one of these *kinds*."""
    follower = widget.property(FOLLOWER_PROPERTY)
    if not isinstance(follower, _EventFollower):
        follower = _EventFollower(widget)
        widget.setProperty(FOLLOWER_PROPERTY, follower)
    for method in methods:
        bound_method = cast(MethodType, method)
        # a strong reference would keep the widget alive
        follower.reactions.append((kinds, ref(bound_method.__self__), bound_method.__name__))


class _EventFollower(QObject):
    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.reactions: list[tuple[tuple[QEvent.Type, ...], ref[object], str]] = []
        widget.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        due_reactions = [(owner, name) for kinds, owner, name in self.reactions if event.type() in kinds]
        if due_reactions:
            watched.event(event)
        for owner, name in due_reactions:
            if (receiver := owner()) is not None:
                getattr(receiver, name)()
        return bool(due_reactions)


def _find_custom_fonts(app: QApplication) -> list[tuple[QWidget, QFont]]:
    """Return the widgets whose font was set explicitly, with their fonts."""
    return [
        (widget, QFont(widget.font()))
        for widget in app.allWidgets()
        if widget.testAttribute(Qt.WidgetAttribute.WA_SetFont)
    ]


def _select_tokens(app: QApplication, choice: str) -> ThemeTokens:
    hints = app.styleHints()
    if choice == HIGH_CONTRAST_THEME:
        hints.setColorScheme(Qt.ColorScheme.Dark)
        return build_high_contrast_theme()
    if choice == SYSTEM_THEME:
        hints.unsetColorScheme()
        if hints.accessibility().contrastPreference() is Qt.ContrastPreference.HighContrast:
            return build_high_contrast_theme()
        return build_dark_theme() if hints.colorScheme() is Qt.ColorScheme.Dark else build_light_theme()
    hints.setColorScheme(Qt.ColorScheme.Dark if choice == DARK_THEME else Qt.ColorScheme.Light)
    return build_dark_theme() if choice == DARK_THEME else build_light_theme()


def build_palette(colors: ThemeTokens) -> QPalette:
    """Return a palette with a color for every role, so that no color of the desktop's theme is used."""
    role, new_palette = QPalette.ColorRole, QPalette()
    for color_role, color in (
        (role.Window, colors.window),
        (role.WindowText, colors.text),
        (role.Base, colors.surface),
        (role.AlternateBase, colors.raised),
        (role.ToolTipBase, colors.raised),
        (role.ToolTipText, colors.text),
        (role.PlaceholderText, colors.muted),
        (role.Text, colors.text),
        (role.Button, colors.raised),
        (role.ButtonText, colors.text),
        (role.BrightText, colors.bad),
        (role.Light, colors.surface),
        (role.Midlight, colors.raised),
        (role.Mid, colors.border),
        (role.Dark, colors.border.darker(120)),
        (role.Shadow, QColor(0, 0, 0)),
        (role.Highlight, colors.selection),
        (role.HighlightedText, colors.on_selection),
        (role.Accent, colors.accent),
        (role.Link, colors.info),
        (role.LinkVisited, colors.series[2]),
    ):
        new_palette.setColor(color_role, color)
    for color_role in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        new_palette.setColor(QPalette.ColorGroup.Disabled, color_role, _get_faint_color(colors))
    return new_palette


def build_style_sheet(colors: ThemeTokens, line_px: int = 16) -> str:
    """Return the style sheet on top of the Fusion style: flat tabs, dock titles, headers, primary buttons.

    *line_px* is the line height. Radii must be whole pixels of at most half of the box; otherwise Qt draws
    square corners.
    """
    names = {key: colors.get_color(key).name() for key in _load_colors()[LIGHT_THEME] if key != "series"}
    folder = files("assets") / "style"
    on_accent, on_surface = ("dark", "light") if colors.dark else ("light", "dark")
    names["tick"] = (Path(str(folder)) / f"tick-{on_accent}.svg").as_posix()
    names["menu_tick"] = (Path(str(folder)) / f"tick-{on_surface}.svg").as_posix()
    box = round(CHECK_BOX_LINES * line_px)
    ring = round(0.3 * box)
    names |= {
        "chip": str((line_px + 6) // 2),
        "box": str(box),
        "ring": str(ring),
        "dot": str(box + 2 - 2 * ring),
        "round": str((box + 2) // 2),
        "badge": str(line_px // 2),
    }
    return Template(
        resources.files("app.widgets").joinpath("style.qss").read_text(encoding="utf-8")
    ).substitute(names)
