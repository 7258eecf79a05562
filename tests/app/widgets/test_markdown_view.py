"""Tests of untrusted Markdown on screen: it is formatted, fits, and loads nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSize, QUrl
from PySide6.QtGui import QFont, QImage, QTextDocument
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.widgets.markdown_view import MarkdownView


@pytest.fixture
def prose(qtbot: QtBot) -> MarkdownView:
    prose = MarkdownView(full_height=True)
    qtbot.addWidget(prose)
    prose.resize(300, 50)
    prose.show()
    return prose


def test_html_is_shown_as_text(prose: MarkdownView) -> None:
    prose.show_text("**bold** <b>no</b> <img src='x'>")
    assert "<b>no</b>" in prose.toPlainText()
    assert "bold" in prose.toPlainText()
    assert "**" not in prose.toPlainText()


def test_a_picture_is_not_fetched(prose: MarkdownView, tmp_path: Path) -> None:
    picture = tmp_path / "secret.png"
    QImage(8, 8, QImage.Format.Format_RGB32).save(str(picture))
    prose.show_text(f"![look]({picture.as_uri()})")
    image = QTextDocument.ResourceType.ImageResource.value
    assert prose.document().resource(image, QUrl(picture.as_uri())).size() == QSize(1, 1)
    assert prose.document().resource(image, QUrl(str(picture))).size() == QSize(1, 1)


def test_clicking_a_link_emits_a_signal_and_opens_nothing(qtbot: QtBot, prose: MarkdownView) -> None:
    prose.show_text("[there](time.md)")
    before = prose.toPlainText()
    with qtbot.waitSignal(prose.link_chosen, timeout=100) as blocker:
        prose.anchorClicked.emit(QUrl("time.md"))
    assert blocker.args == ["time.md"]
    assert prose.toPlainText() == before


def test_the_widget_is_as_high_as_its_text_in_any_font(prose: MarkdownView) -> None:
    prose.show_text("A sentence that needs more than one line at this width. " * 4)
    before = prose.height()
    font = QFont(prose.font())
    font.setPointSizeF(font.pointSizeF() * 1.6)
    prose.setFont(font)
    assert prose.height() > 1.4 * before
    assert prose.document().size().height() <= prose.viewport().height() + 1


def test_a_text_is_shown_from_its_beginning_at_any_size(qtbot: QtBot) -> None:
    prose = MarkdownView()
    qtbot.addWidget(prose)
    prose.show_text("\n\n".join(f"Paragraph {number} of many." for number in range(60)))
    prose.resize(300, 120)
    prose.show()
    QApplication.processEvents()
    assert prose.verticalScrollBar().maximum() > 0
    assert prose.verticalScrollBar().value() == 0
