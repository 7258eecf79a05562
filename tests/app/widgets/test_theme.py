"""Tests of themes: contrast of every color token on its backgrounds, and their effect on real widgets."""

from __future__ import annotations

import gc
from importlib.resources import files

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QFontMetrics, QPalette
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.views.charts.lane import SHADE_ALPHA
from app.views.charts.panel import FILL_ALPHA, SELECTION_ALPHA
from app.views.planner.curves import BAND_ALPHA
from app.widgets import theme
from app.widgets.theme import ThemeTokens
from tests.painted import compute_contrast

THEMES = [theme.build_light_theme(), theme.build_dark_theme(), theme.build_high_contrast_theme()]
BACKGROUND_TOKENS = ("window", "surface", "raised")
TEXT_TOKENS = ("text", "muted", "ok", "warn", "bad", "info", "idle")
SOFT_TOKENS = ("ok", "warn", "bad", "info", "idle")
CODE_TOKENS = ("keyword", "string", "number", "comment", "function")


def test_contrast_follows_the_wcag_formula() -> None:
    assert compute_contrast(QColor("black"), QColor("white")) == pytest.approx(21.0)
    assert compute_contrast(QColor("#767676"), QColor("white")) == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("colors", THEMES, ids=lambda colors: colors.name)
def test_text_is_readable_on_its_backgrounds(colors: ThemeTokens) -> None:
    pairs = [(text, ground) for text in TEXT_TOKENS for ground in BACKGROUND_TOKENS]
    pairs += [(name, f"{name}_soft") for name in SOFT_TOKENS] + [
        ("text", f"{name}_soft") for name in SOFT_TOKENS
    ]
    pairs += [(name, "surface") for name in CODE_TOKENS]
    pairs += [("on_accent", "accent"), ("on_selection", "selection")]
    low = {
        pair: round(compute_contrast(getattr(colors, pair[0]), getattr(colors, pair[1])), 2)
        for pair in pairs
        if compute_contrast(getattr(colors, pair[0]), getattr(colors, pair[1])) < 4.5
    }
    assert not low


def blend_color(color: QColor, ground: QColor, alpha: int) -> QColor:
    """Return the visible color when *color* is painted with *alpha* (0 to 255) on *ground*."""
    share = alpha / 255.0
    foreground_rgb, background_rgb = ((c.redF(), c.greenF(), c.blueF()) for c in (color, ground))
    return QColor.fromRgbF(
        *(share * a + (1.0 - share) * b for a, b in zip(foreground_rgb, background_rgb, strict=True))
    )


@pytest.mark.parametrize("colors", THEMES, ids=lambda colors: colors.name)
def test_text_is_readable_in_the_scene_and_on_plots(colors: ThemeTokens) -> None:
    """The test covers cards in every state, link labels, shaded plot areas, and names on server and phase
    colors.
    """
    grounds = {"a card": colors.raised, "a card that is down": colors.window, "the scene": colors.surface}
    pairs = {
        f"{name} on {ground_name}": (getattr(colors, name), ground)
        for ground_name, ground in grounds.items()
        for name in ("text", "muted", "ok", "warn", "bad", "idle", "info")
    }
    for soft in ("info_soft", "idle_soft"):  # backgrounds of the planner's networks
        band = blend_color(getattr(colors, soft), colors.surface, BAND_ALPHA)
        pairs |= {f"{name} on a band {soft}": (getattr(colors, name), band) for name in ("text", "muted")}
    for soft in ("warn_soft", "bad_soft"):  # backgrounds of times without protection or service
        shade = blend_color(getattr(colors, soft), colors.surface, SHADE_ALPHA)
        pairs |= {f"{name} on a shade {soft}": (getattr(colors, name), shade) for name in ("text", "muted")}
    selected_color = blend_color(colors.accent, colors.surface, SELECTION_ALPHA)
    pairs["text on a chosen span"] = (colors.text, blend_color(colors.surface, selected_color, SHADE_ALPHA))
    pairs["the time of the cursor"] = (colors.surface, colors.text)
    for number, ground in enumerate((*colors.series, colors.idle)):
        pairs[f"words on series {number}"] = (colors.on_accent, ground)
    for number, line in enumerate(colors.series):
        fill = blend_color(line, colors.surface, FILL_ALPHA)
        pairs[f"text on the area below curve {number}"] = (
            colors.text,
            blend_color(colors.surface, fill, SHADE_ALPHA),
        )
    low = {
        name: round(compute_contrast(*pair), 2)
        for name, pair in pairs.items()
        if compute_contrast(*pair) < 4.5
    }
    assert not low


@pytest.mark.parametrize("colors", THEMES, ids=lambda colors: colors.name)
def test_marks_stand_out_from_their_backgrounds(colors: ThemeTokens) -> None:
    for ground in BACKGROUND_TOKENS:
        for mark in (*colors.series, colors.accent, colors.focus):
            assert compute_contrast(mark, getattr(colors, ground)) >= 3.0, (mark.name(), ground)


def test_server_colors_stay_the_same_with_many_servers() -> None:
    assert theme.build_light_theme().get_server_color(0) == theme.build_light_theme().get_server_color(
        len(theme.SERIES_COLOR_NAMES)
    )
    assert len({color.name() for color in theme.build_dark_theme().series}) == len(theme.SERIES_COLOR_NAMES)


def test_the_theme_reaches_widgets_and_is_read_from_their_palette(qtbot: QtBot, qapp: QApplication) -> None:
    theme.apply_theme_choice(qapp)
    window, label = QWidget(), QLabel("text")
    QVBoxLayout(window).addWidget(label)
    qtbot.addWidget(window)
    window.show()
    for choice, expected in (
        (theme.DARK_THEME, theme.build_dark_theme()),
        (theme.LIGHT_THEME, theme.build_light_theme()),
    ):
        theme.apply_theme_choice(qapp, choice, 1.5)
        assert theme.get_theme_tokens(label.palette()) is expected
        assert label.palette().color(QPalette.ColorRole.WindowText) == expected.text
        assert label.font().pointSizeF() == pytest.approx(1.5 * theme.BASE_FONT_POINTS)
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME, 1.0)
    assert label.font().pointSizeF() == pytest.approx(theme.BASE_FONT_POINTS)


def test_every_icon_has_the_requested_color(qapp: QApplication) -> None:
    names = sorted(entry.name.removesuffix(".svg") for entry in (files("assets") / "icons").iterdir())
    assert "play" in names
    for name in names:
        image = theme.render_pixmap(name, QColor("#ff0000"), 32).toImage()
        painted = [image.pixelColor(x, y) for x in range(32) for y in range(32)]
        solid = [color for color in painted if color.alpha() > 200]
        assert len(solid) > 20, f"{name} is almost empty"
        assert all(color.red() > 200 and color.green() < 60 for color in solid), f"{name} has its own color"


def test_no_garbage_collection_runs_during_restyling(qtbot: QtBot, qapp: QApplication) -> None:
    """The collector could delete objects over which Qt is iterating."""
    collects: list[bool] = []

    class Restyled(QLabel):
        def changeEvent(self, event: QEvent) -> None:
            collects.append(gc.isenabled())
            super().changeEvent(event)

    label = Restyled("text")
    qtbot.addWidget(label)
    label.show()
    theme.apply_theme_choice(qapp, theme.DARK_THEME, 2.0)
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME)
    assert collects
    assert not any(collects)
    assert gc.isenabled()


def test_a_primary_button_has_room_for_its_bold_text_in_another_text_size(
    qtbot: QtBot, qapp: QApplication
) -> None:
    """After a change of the text size, the button used to compute its width without the bold font of the
    style sheet.
    """
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME)
    button = QPushButton("Open the debrief")
    button.setProperty("primary", "true")
    qtbot.addWidget(button)
    button.show()
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME, 1.5)
    try:
        assert button.font().bold()
        assert button.sizeHint().width() > QFontMetrics(button.font()).horizontalAdvance(button.text())
    finally:
        theme.apply_theme_choice(qapp, theme.LIGHT_THEME)
