"""Tests that ARCHITECTURE.md and its picture match the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import architecture_picture

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_the_picture_matches_the_code() -> None:
    drawn = architecture_picture.PICTURE.read_text(encoding="utf-8")
    assert drawn == architecture_picture.draw_picture(), "stale: python -m tests.architecture_picture"


def test_the_picture_contains_every_package() -> None:
    shown = re.findall(r'<text class="name"[^>]*>(\w+)</text>', architecture_picture.draw_picture())
    rooms = {
        name.partition(".")[2]
        for name in architecture_picture.CODE_MODULES
        if name.count(".") == 1 and architecture_picture.is_package(name)
    }
    assert rooms <= set(shown)


@pytest.mark.parametrize(
    "page_name", sorted(set(re.findall(r"`((?:app|engine|tests|assets|docs|scenarios)/[\w/.]*)`", PAGE)))
)
def test_names_on_the_page_exist(page_name: str) -> None:
    assert (ROOT / page_name).exists()


def test_names_in_a_row_exist_in_the_files_of_the_row() -> None:
    missing = []
    for row in (line for line in PAGE.splitlines() if line.startswith("| ")):
        quoted = [text for text in re.findall(r"`([^`]+)`", row) if not (ROOT / text).is_dir() or "/" in text]
        texts = [file.read_text("utf-8") for file in list_row_files(quoted)]
        names = [match[1] for text in quoted if (match := re.fullmatch(r"(\w+)(?:\(.*\))?", text))]
        missing += [name for name in names if not any(re.search(rf"\b{name}\b", text) for text in texts)]
    assert not missing


def list_row_files(quoted: list[str]) -> list[Path]:
    paths = [ROOT / text for text in quoted if "/" in text and (ROOT / text).exists()]
    return [
        file
        for path in paths
        for file in ([path] if path.is_file() else path.glob("*.py"))
        if file.suffix in {".py", ".tsv", ".toml"}
    ]


def test_file_names_without_a_folder_exist() -> None:
    existing = {
        path.name
        for folder in ("app", "engine", "tests")
        for path in (ROOT / folder).rglob("*.*")
        if path.is_file()
    }
    named = set(re.findall(r"`(\w+\.(?:py|tsv|toml|sql))`", PAGE))
    assert named
    assert named <= existing
