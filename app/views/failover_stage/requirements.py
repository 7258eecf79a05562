"""Draws the requirements of an automatic failover, one below another."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from app.view_models.failover_moment.why_not import WhyNotView
from app.views.failover_stage.canvas import CanvasPainter, StageStyle
from app.views.failover_stage.places import BODY_TOP, WIDTH
from app.widgets.signs import draw_mark


def draw_why_not(painter: QPainter, style: StageStyle, height: float, view: WhyNotView) -> None:
    """Draw the requirements of an automatic failover; those that are not revealed yet wait in gray."""
    canvas = CanvasPainter(painter, style, height)
    colors = style.colors
    painter.fillRect(QRectF(0, 0, WIDTH, height), colors.surface)
    tone = colors.bad if view.missing else colors.ok
    disk = canvas.title(view.heading, view.sentence, tone)
    mark_box = disk.adjusted(9, 9, -9, -9)
    draw_mark(painter, "cross" if view.missing else "check", mark_box, colors.surface)
    count = max(1, len(view.rows))
    step = min(64.0, (height - BODY_TOP - 24) / count)
    for number, row in enumerate(view.rows):
        box = QRectF(24, BODY_TOP + 8 + number * step, WIDTH - 48, step - 8)
        shown = number < view.revealed
        bad = shown and not row.met
        canvas.box(
            box,
            colors.bad if bad else colors.border,
            colors.bad_soft if bad else colors.raised,
            2.0 if bad else 1.2,
        )
        shape, ink = ("check", colors.ok) if row.met else ("cross", colors.bad)
        mark_box = QRectF(box.left() + 14, box.center().y() - 9, 18, 18)
        draw_mark(painter, shape if shown else "ring", mark_box, ink if shown else colors.muted)
        words = colors.bad if bad else colors.text if shown else colors.muted
        name = row.name if not (shown and row.now) else f"{row.name}: {row.now}"
        tall, mono = canvas.line_height("bold"), canvas.line_height("mono")
        at = QRectF(box.left() + 46, box.center().y() - (tall + mono) / 2, box.width() - 60, tall)
        canvas.text(name, at, "bold", words)
        if shown:
            at = QRectF(at.left(), at.bottom(), at.width(), mono)
            canvas.text(row.check, at, "mono", colors.text if bad else colors.muted)
