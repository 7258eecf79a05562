"""Export of a staged failover as an animated GIF, a frame at a time between the frames of the window."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog

from app.export.gif import GifWriter, Pixels
from app.files import atomic_write
from app.main_window.task_runner import TaskRunner
from app.views.failover_stage.stage import EXPORT, draw_view
from app.widgets import theme
from app.words import formatting
from app.words.language import tr

if TYPE_CHECKING:
    from app.view_models.failover_moment.replay import MomentReplay
    from app.view_models.failover_moment.view import StageView
    from app.views.failover_stage import FailoverStage
    from app.widgets.notice import NoticeBar
    from engine.drill.time.cooperative_tasks import Slices

SIZE: Final = QSize(1280, 620)
"""Pixels of the picture: half a slide. Ours."""
FRAME_S: Final = 0.1
LAST_S: Final = 4.0
"""The result stays on screen for so long before the film begins again."""


def export_moment(replay: MomentReplay, stage: FailoverStage, notice: NoticeBar) -> None:
    """Ask for a file and write the film; the button shows how far it is."""
    button = stage.buttons[EXPORT]
    file, _ = QFileDialog.getSaveFileName(stage, tr("Export as GIF"), "failover.gif", "GIF (*.gif)")
    if not file:
        return
    words = button.text()
    runner = TaskRunner(stage)
    button.setEnabled(False)
    runner.progress.connect(
        lambda share: button.setText(tr("Exporting {share}").format(share=formatting.percent(share)))
    )

    def write(data: bytes) -> None:
        button.setText(words)
        button.setEnabled(True)
        try:
            atomic_write.write(Path(file), data)
        except OSError as problem:
            notice.warn(str(problem))
            return
        notice.show_info(tr("Saved as {file}.").format(file=file))

    runner.start(encode_film(replay, theme.tokens(stage.palette()), stage.canvas.far), write)


def encode_film(replay: MomentReplay, colors: theme.ThemeTokens, large_text: bool) -> Slices[bytes]:
    """Return the film of a replay as a GIF; a slice is a frame."""
    samples = []
    for number in range(replay.begun_count):
        samples.append(_pixels(replay.view_of(number), colors, large_text))
        yield 0.0
    writer = GifWriter(samples)
    count = max(1, round(replay.length_s / FRAME_S))
    for number in range(count):
        writer.add(_pixels(replay.view_at(number * FRAME_S), colors, large_text), round(100 * FRAME_S))
        yield number / count
    writer.add(samples[-1], round(100 * LAST_S))
    return writer.finish()


def _pixels(view: StageView, colors: theme.ThemeTokens, large_text: bool) -> Pixels:
    picture = draw_view(view, SIZE, colors, large_text).convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(picture.constBits(), np.uint8).reshape(picture.height(), picture.bytesPerLine())
    return rows[:, : 3 * picture.width()].reshape(picture.height(), picture.width(), 3).copy()
