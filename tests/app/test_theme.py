"""Theme: contrast of every token on the grounds it is meant for, and that widgets really take it on."""

from __future__ import annotations

from importlib.resources import files

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app import theme
from app.theme import Tokens

THEMES = [theme.light(), theme.dark(), theme.high_contrast()]
GROUNDS = ("window", "surface", "raised")
TEXTS = ("text", "muted", "ok", "warn", "bad", "info", "idle")
SOFT = ("ok", "warn", "bad", "info", "idle")
CODE = ("keyword", "string", "number", "comment", "function")


def test_contrast_is_that_of_the_standard() -> None:
    assert theme.contrast(QColor("black"), QColor("white")) == pytest.approx(21.0)
    assert theme.contrast(QColor("#767676"), QColor("white")) == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("colours", THEMES, ids=lambda colours: colours.name)
def test_text_reads_on_its_grounds(colours: Tokens) -> None:
    pairs = [(text, ground) for text in TEXTS for ground in GROUNDS]
    pairs += [(name, f"{name}_soft") for name in SOFT] + [("text", f"{name}_soft") for name in SOFT]
    pairs += [(name, "surface") for name in CODE]
    pairs += [("on_accent", "accent"), ("on_selection", "selection")]
    low = {
        pair: round(theme.contrast(getattr(colours, pair[0]), getattr(colours, pair[1])), 2)
        for pair in pairs
        if theme.contrast(getattr(colours, pair[0]), getattr(colours, pair[1])) < 4.5
    }
    assert not low


@pytest.mark.parametrize("colours", THEMES, ids=lambda colours: colours.name)
def test_marks_stand_out_from_their_grounds(colours: Tokens) -> None:
    for ground in GROUNDS:
        for mark in (*colours.series, colours.accent, colours.focus):
            assert theme.contrast(mark, getattr(colours, ground)) >= 3.0, (mark.name(), ground)


def test_servers_keep_their_colours_when_there_are_many() -> None:
    assert theme.light().server(0) == theme.light().server(len(theme.SERIES))
    assert len({colour.name() for colour in theme.dark().series}) == len(theme.SERIES)


def test_the_theme_reaches_widgets_and_is_told_from_their_palette(qtbot: QtBot, qapp: QApplication) -> None:
    theme.apply(qapp)
    window, label = QWidget(), QLabel("text")
    QVBoxLayout(window).addWidget(label)
    qtbot.addWidget(window)
    window.show()
    for choice, expected in ((theme.DARK, theme.dark()), (theme.LIGHT, theme.light())):
        theme.apply(qapp, choice, 1.5)
        assert theme.tokens(label.palette()) is expected
        assert label.palette().color(QPalette.ColorRole.WindowText) == expected.text
        assert label.font().pointSizeF() == pytest.approx(1.5 * theme.BASE_POINTS)
    theme.apply(qapp, theme.LIGHT, 1.0)
    assert label.font().pointSizeF() == pytest.approx(theme.BASE_POINTS)


def test_every_icon_is_drawn_in_the_colour_asked_for(qapp: QApplication) -> None:
    names = sorted(entry.name.removesuffix(".svg") for entry in (files("assets") / "icons").iterdir())
    assert "play" in names
    for name in names:
        image = theme.pixmap(name, QColor("#ff0000"), 32).toImage()
        painted = [image.pixelColor(x, y) for x in range(32) for y in range(32)]
        solid = [colour for colour in painted if colour.alpha() > 200]
        assert len(solid) > 20, f"{name} is almost empty"
        assert all(colour.red() > 200 and colour.green() < 60 for colour in solid), (
            f"{name} has its own colour"
        )
