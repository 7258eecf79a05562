"""Tests that ARCHITECTURE.md and its picture match the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import architecture_picture as picture

PAGE = (Path(__file__).parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_the_picture_matches_the_code() -> None:
    drawn = picture.PICTURE.read_text(encoding="utf-8")
    assert drawn == picture.draw_picture(), "stale: python -m tests.architecture_picture"


def test_the_picture_contains_every_package() -> None:
    shown = re.findall(r'<text class="name"[^>]*>(\w+)</text>', picture.draw_picture())
    rooms = {
        name.partition(".")[2] for name in picture.CODE if name.count(".") == 1 and picture.is_room(name)
    }
    assert rooms <= set(shown)


@pytest.mark.parametrize(
    "named", sorted(set(re.findall(r"`((?:app|engine|tests|assets|docs|scenarios)/[\w/.]*)`", PAGE)))
)
def test_names_on_the_page_exist(named: str) -> None:
    assert (Path(__file__).parents[1] / named).exists()
