"""Colours, fonts, icons and style: one set of tokens for widgets, scene and plots.

A view asks `tokens(self.palette())` when it is made and again on `QEvent.Type.PaletteChange`; there is no
global "current theme". Text tokens reach 4.5:1 on every ground they are meant for, marks 3:1
(tests/app/widgets/test_theme.py).
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final

import shiboken6
from PySide6.QtCore import QByteArray, QEvent, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetrics, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QWidget

SYSTEM, LIGHT, DARK, CONTRAST = "system", "light", "dark", "high contrast"
CHOICES: Final = (SYSTEM, LIGHT, DARK, CONTRAST)


@dataclass(frozen=True, slots=True)
class ThemeTokens:
    """Every colour by what it means. `*_soft` is the ground on which the text of the same name stands."""

    name: str
    dark: bool
    window: QColor
    """Ground of the window, behind panels."""
    surface: QColor
    """Ground of panels, editors, tables, plots and the scene."""
    raised: QColor
    """Ground of cards, headers and alternate rows."""
    border: QColor
    """Lines between things; decoration, never the only sign of something."""
    text: QColor
    muted: QColor
    """Less important text, axes."""
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
    """Off, unknown, not applicable."""
    idle_soft: QColor
    series: tuple[QColor, ...]
    """Lines of plots and colours of servers, in the order of `SERIES`; also told apart with red-green blindness."""
    keyword: QColor
    string: QColor
    number: QColor
    comment: QColor
    function: QColor

    def named(self, name: str) -> QColor:
        """Return the colour of that name, for tables that say what something means.

        Raises AttributeError for no colour.
        """
        colour: QColor = getattr(self, name)
        return colour

    def server(self, index: int) -> QColor:
        """Return the colour by which the server number *index* of a drill is known in every view."""
        return self.series[index % len(self.series)]


SERIES: Final = ("blue", "orange", "purple", "teal", "pink", "olive")

_LIGHT_COLOURS: Final = {
    "window": "#eef1f5",
    "surface": "#ffffff",
    "raised": "#f6f8fa",
    "border": "#cbd3dc",
    "text": "#18212c",
    "muted": "#525e6d",
    "accent": "#1d5fb8",
    "on_accent": "#ffffff",
    "selection": "#cfe1fa",
    "on_selection": "#0f2a4d",
    "focus": "#1d5fb8",
    "ok": "#17692f",
    "ok_soft": "#dcf2e2",
    "warn": "#855000",
    "warn_soft": "#fcedcc",
    "bad": "#b3202a",
    "bad_soft": "#fce2e2",
    "info": "#1b56a6",
    "info_soft": "#e0ebfa",
    "idle": "#566270",
    "idle_soft": "#e6eaef",
    "keyword": "#1b4fc4",
    "string": "#a3262e",
    "number": "#0f6b5c",
    "comment": "#4a7030",
    "function": "#8a2a8f",
}
_LIGHT_SERIES: Final = ("#1f66c1", "#b95a00", "#7c4dbd", "#0b7f78", "#b8336f", "#6f7300")

_DARK_COLOURS: Final = {
    "window": "#12161b",
    "surface": "#1a2027",
    "raised": "#232a33",
    "border": "#3a4552",
    "text": "#e7ecf2",
    "muted": "#a3afbd",
    "accent": "#6fabff",
    "on_accent": "#0c1626",
    "selection": "#254a7a",
    "on_selection": "#f2f6fb",
    "focus": "#8abaff",
    "ok": "#63cf85",
    "ok_soft": "#17321f",
    "warn": "#ecb755",
    "warn_soft": "#392d12",
    "bad": "#ff8a87",
    "bad_soft": "#432023",
    "info": "#82b5ff",
    "info_soft": "#1a2e4b",
    "idle": "#a3afbd",
    "idle_soft": "#2a323c",
    "keyword": "#82b5ff",
    "string": "#f0a08a",
    "number": "#7fd6c0",
    "comment": "#8fbc74",
    "function": "#d9a0e8",
}
_DARK_SERIES: Final = ("#6fabff", "#f2a154", "#bb9af2", "#4ec5ba", "#f28bb6", "#c3c24f")

_CONTRAST_COLOURS: Final = {
    "window": "#000000",
    "surface": "#000000",
    "raised": "#161616",
    "border": "#c8c8c8",
    "text": "#ffffff",
    "muted": "#e0e0e0",
    "accent": "#ffe14d",
    "on_accent": "#000000",
    "selection": "#ffe14d",
    "on_selection": "#000000",
    "focus": "#4dd8ff",
    "ok": "#5cf58a",
    "ok_soft": "#00240c",
    "warn": "#ffd23f",
    "warn_soft": "#2b2100",
    "bad": "#ff9b98",
    "bad_soft": "#3a0000",
    "info": "#8ecbff",
    "info_soft": "#001c38",
    "idle": "#d6d6d6",
    "idle_soft": "#262626",
    "keyword": "#8ecbff",
    "string": "#ffb59e",
    "number": "#7df0d4",
    "comment": "#a9e08a",
    "function": "#f0b5ff",
}
_CONTRAST_SERIES: Final = ("#6fc0ff", "#ffae52", "#d3b4ff", "#52e8da", "#ff9fc8", "#e6e452")


def _tokens(name: str, dark: bool, colours: dict[str, str], series: tuple[str, ...]) -> ThemeTokens:
    named = {key: QColor(value) for key, value in colours.items()}
    return ThemeTokens(name=name, dark=dark, series=tuple(QColor(value) for value in series), **named)


@cache
def light() -> ThemeTokens:
    return _tokens(LIGHT, False, _LIGHT_COLOURS, _LIGHT_SERIES)


@cache
def dark() -> ThemeTokens:
    return _tokens(DARK, True, _DARK_COLOURS, _DARK_SERIES)


@cache
def high_contrast() -> ThemeTokens:
    """Return text 7:1 and more, lines that can be seen: for projectors in bright rooms, and for weak eyes."""
    return _tokens(CONTRAST, True, _CONTRAST_COLOURS, _CONTRAST_SERIES)


def tokens(palette: QPalette) -> ThemeTokens:
    """Return the tokens that belong to *palette*."""
    if palette.color(QPalette.ColorRole.Window) == high_contrast().window:
        return high_contrast()
    return dark() if palette.color(QPalette.ColorRole.Window).lightness() < 128 else light()


def with_alpha(colour: QColor, alpha: int) -> QColor:
    """*colour* as a veil; *alpha* 0 (nothing) to 255."""
    found = QColor(colour)
    found.setAlpha(alpha)
    return found


def contrast(colour: QColor, other_colour: QColor) -> float:
    """Contrast ratio of two opaque colours, 1 to 21, as WCAG 2 defines it."""
    high, low = sorted((_luminance(colour), _luminance(other_colour)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: QColor) -> float:
    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(part) for part in (colour.redF(), colour.greenF(), colour.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


# --- fonts --------------------------------------------------------------------------------------------------

BOX: Final = 0.75
"""Side of the box to tick in line heights."""
BASE_POINTS: Final = 10.0
"""Size of ordinary text at font scale 1. Assumed: what Windows and most Linux desktops use, rounded."""


def fixed_font(scale: float = 1.0) -> QFont:
    """Return the system's fixed-width font; *scale* is relative to ordinary text."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(QApplication.font().pointSizeF() * scale)
    return font


def sized(font: QFont, scale: float, bold: bool = False) -> QFont:
    """*font* in another size."""
    new = QFont(font)
    new.setPointSizeF(font.pointSizeF() * scale)
    new.setBold(bold)
    return new


# --- icons --------------------------------------------------------------------------------------------------

ICON_SIZES: Final = (16, 20, 24, 32, 48)


def icon(name: str, colours: ThemeTokens, colour: QColor | None = None) -> QIcon:
    """`assets/icons/NAME.svg`, drawn in *colour* or else in that of text, and faintly when disabled."""
    return _icon(name, (colour or colours.text).rgba(), _faint(colours).rgba())


@cache
def _icon(name: str, normal: int, disabled: int) -> QIcon:
    """Many actions and tools share an icon, and each is drawn in ten ways."""
    found = QIcon()
    for mode, drawn in ((QIcon.Mode.Normal, normal), (QIcon.Mode.Disabled, disabled)):
        renderer = _renderer(name, QColor.fromRgba(drawn))
        for size in ICON_SIZES:
            found.addPixmap(_render_pixmap(renderer, size), mode)
    return found


def pixmap(name: str, colour: QColor, size: int) -> QPixmap:
    """Return the icon in one *colour*, *size* device pixels wide and high."""
    return _render_pixmap(_renderer(name, colour), size)


def _renderer(name: str, colour: QColor) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(_source(name).replace("currentColor", colour.name()).encode()))


@cache
def _source(name: str) -> str:
    return (files("assets") / "icons" / f"{name}.svg").read_text(encoding="utf-8")


def _render_pixmap(renderer: QSvgRenderer, size: int) -> QPixmap:
    found = QPixmap(QSize(size, size))
    found.fill(Qt.GlobalColor.transparent)
    painter = QPainter(found)
    renderer.render(painter)
    painter.end()
    return found


def _faint(colours: ThemeTokens) -> QColor:
    faint = QColor(colours.muted)
    faint.setAlphaF(0.45)
    return faint


# --- applying -----------------------------------------------------------------------------------------------


@contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Pause Python's garbage collector.

    It deletes closed windows without references, while Qt walks through a list of all widgets and would access
    them.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@_pause_garbage_collection()
def apply(app: QApplication, choice: str = SYSTEM, font_scale: float = 1.0) -> ThemeTokens:
    """Give the program the theme *choice* and text *font_scale* times the ordinary size."""
    colours = _select_tokens(app, choice)
    if app.property("styled") is None:  # once: another style would polish every widget anew
        app.setStyle("Fusion")
        app.setProperty("styled", True)
    font = app.font()
    growth = BASE_POINTS * font_scale / font.pointSizeF()
    chosen = _find_custom_fonts(app)
    app.setStyleSheet("")  # a sheet over another takes Qt four times as long as none and then the new one
    font.setPointSizeF(BASE_POINTS * font_scale)
    app.setFont(font)
    app.setPalette(palette(colours))
    app.setStyleSheet(
        style_sheet(colours, QFontMetrics(font).height())
    )  # last: it hands palette and font on to all widgets
    # It puts back fonts that widgets had when the first sheet came: have them choose again.
    for widget in app.allWidgets() if growth != 1.0 else ():
        QApplication.sendEvent(widget, QEvent(QEvent.Type.FontChange))
    # And some hear of the new palette only while they still have the old one: icons would be drawn for that.
    for widget in app.allWidgets():
        if _has_palette_handler(type(widget)):
            QApplication.sendEvent(widget, QEvent(QEvent.Type.PaletteChange))
    for widget, before in chosen:
        if (
            shiboken6.isValid(widget)
            and abs(widget.font().pointSizeF() - before.pointSizeF() * growth) > 0.01
        ):
            widget.setFont(sized(before, growth, before.bold()))
    return colours


def _has_palette_handler(kind: type[QWidget]) -> bool:
    """A widget of this program that does something about another palette."""
    return any("changeEvent" in each.__dict__ for each in kind.__mro__ if each.__module__.startswith("app."))


def _find_custom_fonts(app: QApplication) -> list[tuple[QWidget, QFont]]:
    """Widgets that the user has given a font, and that font."""
    return [
        (widget, QFont(widget.font()))
        for widget in app.allWidgets()
        if widget.testAttribute(Qt.WidgetAttribute.WA_SetFont)
    ]


def _select_tokens(app: QApplication, choice: str) -> ThemeTokens:
    hints = app.styleHints()
    if choice == CONTRAST:
        hints.setColorScheme(Qt.ColorScheme.Dark)
        return high_contrast()
    if choice == SYSTEM:
        hints.unsetColorScheme()
        if hints.accessibility().contrastPreference() is Qt.ContrastPreference.HighContrast:
            return high_contrast()
        return dark() if hints.colorScheme() is Qt.ColorScheme.Dark else light()
    hints.setColorScheme(Qt.ColorScheme.Dark if choice == DARK else Qt.ColorScheme.Light)
    return dark() if choice == DARK else light()


def palette(colours: ThemeTokens) -> QPalette:
    """Return every role, so that nothing of the desktop's own colours is mixed in."""
    role, found = QPalette.ColorRole, QPalette()
    for which, colour in (
        (role.Window, colours.window),
        (role.WindowText, colours.text),
        (role.Base, colours.surface),
        (role.AlternateBase, colours.raised),
        (role.ToolTipBase, colours.raised),
        (role.ToolTipText, colours.text),
        (role.PlaceholderText, colours.muted),
        (role.Text, colours.text),
        (role.Button, colours.raised),
        (role.ButtonText, colours.text),
        (role.BrightText, colours.bad),
        (role.Light, colours.surface),
        (role.Midlight, colours.raised),
        (role.Mid, colours.border),
        (role.Dark, colours.border.darker(120)),
        (role.Shadow, QColor(0, 0, 0)),
        (role.Highlight, colours.selection),
        (role.HighlightedText, colours.on_selection),
        (role.Accent, colours.accent),
        (role.Link, colours.info),
        (role.LinkVisited, colours.series[2]),
    ):
        found.setColor(which, colour)
    for which in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        found.setColor(QPalette.ColorGroup.Disabled, which, _faint(colours))
    return found


def style_sheet(colours: ThemeTokens, line_px: int = 16) -> str:
    """Return the style sheet for the plain parts of Fusion: flat tabs, dock titles, headers, primary buttons.

    *line_px* is the height of a line. Round shapes need whole pixels: Qt draws a corner square if its radius exceeds
    half of the box.
    """
    names = {key: colours.named(key).name() for key in _LIGHT_COLOURS}
    folder = files("assets") / "style"
    on_accent, on_surface = ("dark", "light") if colours.dark else ("light", "dark")
    names["tick"] = (Path(str(folder)) / f"tick-{on_accent}.svg").as_posix()
    names["menu_tick"] = (Path(str(folder)) / f"tick-{on_surface}.svg").as_posix()
    box = round(BOX * line_px)
    ring = round(0.3 * box)
    names |= {
        "chip": str((line_px + 6) // 2),
        "box": str(box),
        "ring": str(ring),
        "dot": str(box + 2 - 2 * ring),
        "round": str((box + 2) // 2),
        "badge": str(line_px // 2),
    }
    return Template(_STYLE).substitute(names)


_STYLE: Final = """
QToolTip { background: $raised; color: $text; border: 1px solid $border; padding: 4px 6px; }
QMainWindow::separator { background: $window; width: 5px; height: 5px; }
QMainWindow::separator:hover { background: $accent; }
QMenuBar { background: $window; padding: 1px 4px; }
QMenuBar::item { padding: 4px 9px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: $selection; color: $on_selection; }
QMenu { background: $surface; border: 1px solid $border; padding: 4px; menu-scrollable: 1; }
QMenu::item { padding: 5px 26px 5px 26px; border-radius: 4px; }
QMenu::item:selected { background: $selection; color: $on_selection; }
QMenu::item:disabled { color: $muted; }
QMenu::icon { padding-left: 6px; }
QMenu::separator { height: 1px; background: $border; margin: 4px 6px; }
QToolBar { background: $window; border: none; spacing: 2px; padding: 2px 4px; }
QFrame[bar="true"] QToolBar { background: transparent; }
QToolButton { border: 1px solid transparent; border-radius: 5px; padding: 4px; }
QToolButton:hover { background: $raised; border-color: $border; }
QToolButton:pressed, QToolButton:checked { background: $selection; color: $on_selection; }
QToolButton:focus { border-color: $focus; }
QToolButton[chip="true"] {
    background: $surface; border: 1px solid $border; border-radius: ${chip}px; padding: 2px 10px;
}
QToolButton[chip="true"]:hover { border-color: $accent; }
QToolButton[chip="true"]:focus { border-color: $focus; background: $info_soft; }
QToolButton[chip="true"][on="true"], QToolButton[chip="true"]:checked {
    background: $selection; color: $on_selection; border-color: $accent;
}
QToolButton[chip="true"]::menu-indicator { image: none; width: 0; }
QToolButton[primary="true"] { background: $accent; border-color: $accent; border-radius: 8px; }
QToolButton[primary="true"]:hover { border-color: $text; }
QToolButton[primary="true"]:focus { border: 2px solid $text; }
QToolButton[primary="true"]:disabled { background: $idle_soft; border-color: $border; }
QDockWidget { titlebar-close-icon: none; titlebar-normal-icon: none; }
QDockWidget::title { background: $window; padding: 5px 8px; text-align: left; }
QTabWidget::pane { border: 1px solid $border; background: $surface; top: -1px; }
QTabBar { qproperty-drawBase: 0; }
QTabBar::tab {
    background: transparent; color: $muted; padding: 5px 11px; border: none;
    border-bottom: 2px solid transparent;
}
QTabBar::tab:selected { color: $text; border-bottom-color: $accent; }
QTabBar::tab:hover:!selected { color: $text; border-bottom-color: $border; }
QTabBar::tab:focus { color: $accent; }
QHeaderView { background: $raised; }
QHeaderView::section {
    background: $raised; color: $muted; border: none; border-right: 1px solid $border;
    border-bottom: 1px solid $border; padding: 3px 6px;
}
QTableView, QTreeView, QListView, QTextBrowser, QPlainTextEdit {
    border: 1px solid $border; background: $surface; gridline-color: $border;
}
QTableView:focus, QTreeView:focus, QListView:focus, QPlainTextEdit:focus { border-color: $focus; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QPushButton {
    background: $raised; border: 1px solid $border; border-radius: 5px; padding: 5px 14px; min-height: 1.25em;
}
QPushButton[small="true"] { padding: 2px 9px; min-height: 1.1em; }
QPushButton[link="true"] {
    background: transparent; border: 1px solid transparent; color: $info; padding: 2px 0; text-decoration: underline;
}
QPushButton[link="true"]:focus { border-color: $focus; }
QPushButton:hover { border-color: $accent; }
QPushButton:pressed { background: $selection; color: $on_selection; }
QPushButton:focus { border: 1px solid $focus; outline: none; }
QPushButton:disabled { color: $muted; background: $window; }
QPushButton[primary="true"] { background: $accent; color: $on_accent; border-color: $accent; font-weight: 600; }
QPushButton[primary="true"]:hover { border-color: $text; }
QPushButton[primary="true"]:focus { border: 2px solid $text; }
QPushButton[primary="true"]:disabled { background: $idle_soft; color: $muted; border-color: $border; }
QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox {
    background: $surface; border: 1px solid $border; border-radius: 5px; padding: 3px 7px; min-height: 1.3em;
}
QComboBox::drop-down { border: none; width: 22px; }
QComboBox::down-arrow {
    width: 0; height: 0; border-left: 4px solid $surface; border-right: 4px solid $surface;
    border-top: 5px solid $muted;
}
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button {
    border: none; width: 0;
}
QLineEdit:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus { border-color: $focus; }
QLineEdit[small="true"], QComboBox[small="true"] { padding: 1px 7px; min-height: 1.1em; }
QCheckBox::indicator, QRadioButton::indicator, QGroupBox::indicator, QAbstractItemView::indicator {
    width: ${box}px; height: ${box}px; background: $surface; border: 1px solid $muted; border-radius: 3px;
}
QRadioButton::indicator { border-radius: ${round}px; }
QCheckBox::indicator:hover, QRadioButton::indicator:hover { border-color: $accent; }
QCheckBox::indicator:focus, QRadioButton::indicator:focus { border: 2px solid $focus; }
QCheckBox::indicator:checked, QGroupBox::indicator:checked, QAbstractItemView::indicator:checked {
    background: $accent; border-color: $accent; image: url("$tick");
}
QRadioButton::indicator:checked {
    width: ${dot}px; height: ${dot}px; background: $surface; border: ${ring}px solid $accent;
    border-radius: ${round}px;
}
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled { background: $window; border-color: $border; }
QCheckBox::indicator:checked:disabled { background: $idle_soft; }
QMenu::indicator { width: ${box}px; height: ${box}px; padding-left: 6px; }
QMenu::indicator:checked { image: url("$menu_tick"); }
QStatusBar { background: $window; color: $muted; }
QStatusBar::item { border: none; }
QProgressBar {
    border: none; border-radius: 3px; background: $idle_soft; text-align: center; max-height: 6px;
}
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: $border; border-radius: 4px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QLabel[muted="true"] { color: $muted; }
QLabel[tone="ok"] { color: $ok; }
QLabel[tone="warn"] { color: $warn; }
QLabel[tone="bad"] { color: $bad; }
QLabel[badge="ok"] { color: $ok; background: $ok_soft; border: 1px solid $ok; }
QLabel[badge="warn"] { color: $warn; background: $warn_soft; border: 1px solid $warn; }
QLabel[badge="bad"] { color: $bad; background: $bad_soft; border: 1px solid $bad; }
QLabel[badge] { border-radius: ${badge}px; padding: 2px 10px; }
QFrame[line="true"] { background: $border; border: none; max-height: 1px; min-height: 1px; }
QFrame[verdict] {
    background: $surface; border: 1px solid $border; border-left: 6px solid $idle;
    border-top-right-radius: 8px; border-bottom-right-radius: 8px;
}
QFrame[verdict="ok"] { border-left-color: $ok; }
QFrame[verdict="bad"] { border-left-color: $bad; }
QPushButton[link="true"] {
    background: transparent; border: 1px solid transparent; color: $accent; padding: 2px 4px;
    text-align: left; text-decoration: underline;
}
QPushButton[link="true"]:focus { border-color: $focus; }
QFrame[card="true"] { background: $surface; border: 1px solid $border; border-radius: 8px; }
QFrame[bar="true"] { background: $surface; border: none; border-bottom: 1px solid $border; }
QAbstractScrollArea[plain="true"] { border: none; background: transparent; }
"""
