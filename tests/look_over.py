"""Tour of the program that lists clipped, overlapping or low-contrast text in many sizes.

`python -m tests.look_over [--words de] [--sizes 1024x768,1366x768] [--texts 0.8,2.0] [--themes light,dark]
[--scenes brief,editor] [--pictures FOLDER]` exits with 1 if it finds a problem. A short version is
tests/app/main_window/test_painted.py.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from app import settings
from app.widgets import theme
from app.words import language
from tests import painted
from tests.open_window import OpenWindow
from tests.screenshots import open_screenshot_window, walk_scenes

SIZE_BETWEEN_SCENES: Final = (1366, 768)
"""Size of the window between two scenes."""


def process_events() -> None:
    """Process events until nested layouts are stable."""
    for _ in range(4):
        QApplication.processEvents()
    for _ in range(10):
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)


def find_layout_problems(window: QWidget, colors: bool) -> Iterator[str]:
    """Yield the problems of the visible widgets."""
    yield from painted.find_hidden_parts(window)
    texts = list(painted.list_texts(window))
    for text in texts:
        clipping = painted.describe_clipping(text, window)
        if clipping:
            yield f"{text.content!r} {clipping}: {text.location}"
    if colors:
        picture = window.grab().toImage()
        for text in texts:
            faint = painted.find_faint_contrast(text, picture, window)
            if faint is not None:
                yield f"{text.content!r} has {faint:.1f}:1 ({text.color.name()}): {text.location}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", default=language.ENGLISH)
    parser.add_argument("--sizes", default="1024x768,1280x720,1366x768,1920x1080")
    parser.add_argument("--texts", default="0.8,1.0,1.5,2.0")
    parser.add_argument("--themes", default=theme.LIGHT_THEME)
    parser.add_argument("--scenes", default="")
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--no-colors", action="store_true")
    options_given = parser.parse_args()
    os.environ["MIRRORDRILL_PROFILE"] = tempfile.mkdtemp()
    app = QApplication(sys.argv[:1])
    app.setApplicationName("mirrordrill")
    sizes = [tuple(map(int, size.split("x"))) for size in options_given.sizes.split(",")]
    scales = [float(scale) for scale in options_given.texts.split(",")]
    themes = (
        options_given.themes.replace("contrast", theme.HIGH_CONTRAST_THEME)
        .replace("high high", "high")
        .split(",")
    )
    chosen_scenes = set(options_given.scenes.split(",")) - {""}
    language.use_language(options_given.words)
    problems: dict[str, list[str]] = defaultdict(list)
    with (
        tempfile.TemporaryDirectory() as folder,
        open_screenshot_window(Path(folder), theme.LIGHT_THEME, SIZE_BETWEEN_SCENES, scales[0]) as window,
    ):
        for name in walk_scenes(window):
            scene = name.strip()
            if chosen_scenes and scene not in chosen_scenes:
                continue
            shown_widget = _find_dialog() if name.endswith("\n") else window
            for choice in themes:
                # A dialog opens again for each further scale.
                for scale in scales if shown_widget is window else scales[:1]:
                    _show_theme(window, choice, scale)
                    for width, height in sizes if shown_widget is window else sizes[:1]:
                        if shown_widget is window:
                            window.resize(width, height)
                        process_events()
                        label = f"{scene} {choice} {width}x{height} {scale:.0%} {options_given.words}"
                        print(label, file=sys.stderr, flush=True)
                        for fault in set(find_layout_problems(shown_widget, not options_given.no_colors)):
                            problems[fault].append(label)
                        if options_given.pictures:
                            options_given.pictures.mkdir(parents=True, exist_ok=True)
                            shown_widget.grab().save(
                                str(options_given.pictures / f"{label.replace(' ', '-')}.png")
                            )
            _show_theme(window, theme.LIGHT_THEME, scales[0])
            window.resize(*SIZE_BETWEEN_SCENES)
            process_events()
    for fault, places in sorted(problems.items()):
        print(f"{fault}\n    {len(places)}: {', '.join(places[:6])}{' …' if len(places) > 6 else ''}")
    print(f"{len(problems)} faults")
    return 1 if problems else 0


def _show_theme(window: OpenWindow, choice: str, scale: float) -> None:
    if window.appearance.theme != choice:
        window.appearance.set_theme(choice)
    if window.store.get(settings.FONT_SCALE) != scale:
        window.appearance.set_font_scale(scale)
    process_events()


def _find_dialog() -> QWidget:
    return next(w for w in QApplication.topLevelWidgets() if w.isVisible() and not isinstance(w, QMainWindow))


if __name__ == "__main__":
    sys.exit(main())
