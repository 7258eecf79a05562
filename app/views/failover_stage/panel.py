"""Drawing of the stage's side panel, with stopwatches and the published failover time, and of the phase bar."""

from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPen, QPolygonF

from app.view_models.failover_moment.view import DONE, RUNNING, WAITING, StageView
from app.views.failover_stage.canvas import (
    CANVAS_WIDTH,
    TEXT_SCALE_MIN,
    CanvasPainter,
    compute_panel_box,
    compute_phase_boxes,
)
from app.widgets.scene_symbols import draw_symbol, draw_text
from app.words import formatting
from app.words.language import tr

ROW_INDENT: Final = 24.0
"""Indentation of a row for its symbol, in canvas units."""
BOTTOM_MARGIN: Final = 8.0
"""Space below the last row in canvas units."""
SINGLE_LINE_SCALE_MIN: Final = 0.9
"""Minimum text scale for a value next to the name of its row. Below it, the value moves to a second line."""
SENTENCE_HEIGHT_MIN: Final = 620.0
"""Minimum canvas height at which a presentation shows the sentence about the published value."""


class PanelPainter(CanvasPainter):
    """Painter of the panel and the ribbon."""

    def _compute_panel_rows(self, view: StageView) -> dict[str, float]:
        """Return part of the panel -> y coordinate of its top."""
        box = compute_panel_box(self.height)
        watch, second, body = (self.compute_line_height(name) for name in ("watch", "second", "body"))
        y = {"since": box.top() + 12}
        y["watch"] = y["since"] + body
        y["line1"] = y["watch"] + watch * 0.96
        y["second_words"] = y["line1"] + 8
        y["second"] = y["second_words"] + body + 2
        y["gauge"] = y["second"] + second + 6
        y["published"] = y["gauge"] + (
            self.compute_line_height("small") + 22 if view.duration_gauge is not None else 0
        )
        lines = 2 if view.duration_gauge is None else 1
        if self.style.is_presentation and (view.duration_gauge is None or self.height < SENTENCE_HEIGHT_MIN):
            lines = 0
        y["line2"] = y["published"] + body * lines + 8
        y["rows"] = y["line2"] + 10
        return y

    def _draw_panel(self, view: StageView) -> None:
        colors, box, y = self.colors, compute_panel_box(self.height), self._compute_panel_rows(view)
        self.draw_box(box, colors.border, colors.raised)
        left_px, width = box.left() + 20, box.width() - 40
        self.draw_text(
            view.elapsed_label,
            QRectF(left_px, y["since"], width, self.compute_line_height("body")),
            "body",
            colors.muted,
        )
        self.draw_text(
            view.failover_time_label,
            QRectF(left_px, y["second_words"], width, self.compute_line_height("body")),
            "body",
            colors.muted,
        )
        self.painter.setPen(QPen(colors.border, 1))
        for name in ("line1", "line2"):
            self.painter.drawLine(QPointF(left_px, y[name]), QPointF(left_px + width, y[name]))
        if view.where_to_check and not self.style.is_presentation:
            tall, (bottom, lines) = self.compute_line_height("body"), self._compute_check_position(view)
            mono = lines * (self.compute_line_height("mono") + 1)
            self.painter.setPen(QPen(colors.border, 1))
            self.painter.drawLine(QPointF(left_px, bottom), QPointF(left_px + width, bottom))
            self.draw_text(
                tr("Where to check"), QRectF(left_px, bottom + 4, width, tall), "body", colors.muted
            )
            row = QRectF(left_px, bottom + 6 + tall, width, mono)
            self.draw_text(view.where_to_check, row, "mono", colors.text, wraps=lines > 1)

    def _compute_check_position(self, view: StageView) -> tuple[float, int]:
        """Return the top and the number of lines of the text "Where to check"."""
        box = compute_panel_box(self.height)
        lines = (
            2 if self.compute_width(view.where_to_check, "mono") * TEXT_SCALE_MIN > box.width() - 40 else 1
        )
        return box.bottom() - self.compute_line_height("body") - lines * (
            self.compute_line_height("mono") + 1
        ) - 14, lines

    def _draw_stopwatches(self, view: StageView) -> None:
        box, colors, y = compute_panel_box(self.height), self.colors, self._compute_panel_rows(view)
        left_px, width = box.left() + 20, box.width() - 40
        font = self.style.fonts["watch"]
        advance = QFontMetricsF(font).horizontalAdvance(view.elapsed_text)
        room = width - 36
        tall = self.compute_line_height("watch")
        self.draw_text(
            view.elapsed_text,
            QRectF(left_px, y["watch"], min(room, advance + 2), tall * 0.98),
            "watch",
            colors.text,
        )
        base = y["watch"] + tall * 0.79
        draw_text(
            self.painter,
            "s",
            QPointF(left_px + min(room, advance) + 10, base),
            self.style.fonts["second"],
            colors.muted,
        )
        self.draw_text(
            f"{view.failover_time_text} s",
            QRectF(left_px, y["second"], width, self.compute_line_height("second")),
            "second",
            colors.text,
        )
        if view.duration_gauge is not None:
            self._draw_gauge(view.duration_gauge, QRectF(left_px, y["gauge"], width, 13))
        wrap = view.duration_gauge is None
        if view.published_comparison and not (
            self.style.is_presentation and (wrap or not view.has_ended or self.height < SENTENCE_HEIGHT_MIN)
        ):
            row = QRectF(
                left_px, y["published"], width, self.compute_line_height("body") * (2.2 if wrap else 1)
            )
            self.draw_text(
                view.published_comparison,
                row,
                "bold" if view.has_ended and not wrap and not self.style.is_presentation else "body",
                colors.muted if not view.has_ended else colors.text,
                wraps=wrap,
            )

    def _draw_gauge(self, gauge: tuple[float, float, float], box: QRectF) -> None:
        current_value, published, end = gauge
        painter, colors = self.painter, self.colors
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.idle_soft)
        painter.drawRoundedRect(box, 4, 4)
        if current_value > 0:
            painter.setBrush(colors.accent)
            painter.drawRoundedRect(
                QRectF(box.left(), box.top(), max(6.0, box.width() * current_value / end), box.height()), 4, 4
            )
        x = box.left() + box.width() * published / end
        painter.setPen(QPen(colors.text, 3))
        painter.drawLine(QPointF(x, box.top() - 4), QPointF(x, box.bottom() + 4))
        scale = QRectF(box.left(), box.bottom() + 4, box.width(), self.compute_line_height("small"))
        self.draw_text("0", scale, "small", colors.muted)
        self.draw_text(
            f"{formatting.format_plain_number(end)} s",
            scale,
            "small",
            colors.muted,
            Qt.AlignmentFlag.AlignRight,
        )
        words = tr("published {seconds} s").format(seconds=formatting.format_plain_number(published))
        font = self.style.fonts["small"]
        wide = QFontMetricsF(font).horizontalAdvance(words) + 4
        left = min(max(box.left() + 14, x - wide / 2), box.right() - wide - 34)
        self.draw_text(words, QRectF(left, scale.top(), wide, scale.height()), "small", colors.text)

    def _draw_rows(self, view: StageView) -> None:
        box, colors, y = compute_panel_box(self.height), self.colors, self._compute_panel_rows(view)["rows"]
        left, right, tall = box.left() + 20, box.right() - 20, self.compute_line_height("bold")
        far_edge, end = self.style.is_presentation, box.bottom() - BOTTOM_MARGIN
        if view.where_to_check and not far_edge:
            end = self._compute_check_position(view)[0]
        rows = [
            row for row in view.rows if row.color_name != "muted"
        ]  # muted rows may be omitted, because the picture shows them
        if not far_edge and len(view.rows) * tall <= end - y:
            rows = list(view.rows)
        room = right - left - ROW_INDENT - 8
        min_share = self.style.compute_scale_min("body")
        shares = [
            min(1.0, room / (self.compute_width(row.name, "bold") + self.compute_width(row.text, "body") + 2))
            for row in rows
        ]
        min_side_share = max(SINGLE_LINE_SCALE_MIN, min_share)
        if sum(1 + (share < min_side_share) for share in shares) * tall > end + 2 - y:
            min_side_share = min_share  # shrink the text, because otherwise a value would be omitted
        line_count = sum(1 + (share < min_side_share) for share in shares)
        gap = max(0.0, min(4.0 if far_edge else 8.0, (end - y - line_count * tall) / len(rows)))
        for row, share in zip(rows, shares, strict=True):
            is_beside = share >= min_side_share
            needed_height = tall if is_beside or row.indicator is not None else 2 * tall
            if y + needed_height > end + 2:
                return
            if row.indicator is not None:
                draw_symbol(
                    self.painter,
                    row.indicator.shape,
                    QRectF(left, y + tall / 2 - 7, 15, 15),
                    self.style.scene_style.get_color(row.indicator.color_name),
                )
            color_name = {"muted": colors.muted, "text": colors.text}.get(
                row.color_name
            ) or self.style.scene_style.get_color(row.color_name)
            name_width, wide = self.compute_width(row.name, "bold"), self.compute_width(row.text, "body") + 2
            name = QRectF(left + ROW_INDENT, y, name_width * share if is_beside else room, tall)
            self.draw_text(row.name, name, "bold", colors.text)
            if not is_beside and y + 2 * tall > end + 2:
                return  # without space for the value, the symbol alone shows the state
            y += 0 if is_beside else tall
            start = right - (wide * share if is_beside else min(wide, room))
            self.draw_text(
                row.text,
                QRectF(start, y, right - start, tall),
                "body",
                color_name,
                Qt.AlignmentFlag.AlignRight,
            )
            y += tall + gap

    def draw_ribbon(self, view: StageView, time_s: float) -> None:
        """Draw the ribbon of phases."""
        painter, colors = self.painter, self.colors
        for chip, box in zip(view.chips, compute_phase_boxes(len(view.chips), self.height), strict=True):
            running = chip.state == RUNNING
            painter.setPen(
                QPen(
                    colors.border,
                    1.2,
                    Qt.PenStyle.DashLine if chip.state == WAITING else Qt.PenStyle.SolidLine,
                )
            )
            painter.setBrush(
                colors.accent if running else colors.raised if chip.state == DONE else colors.surface
            )
            painter.drawRoundedRect(box, 7, 7)
            ink = colors.on_accent if running else colors.text if chip.state == DONE else colors.muted
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink if running else self.style.get_series_color(chip.color))
            painter.drawRoundedRect(QRectF(box.left() + 9, box.top() + 9, 7, box.height() - 18), 3, 3)
            room = box.width() - 30
            self.draw_text(chip.name, QRectF(box.left() + 25, box.top() + 3, room, 23), "chip", ink)
            self.draw_text(chip.seconds, QRectF(box.left() + 25, box.top() + 25, room, 21), "mono", ink)
            if chip.state == DONE:
                draw_symbol(painter, "check", QRectF(box.right() - 26, box.top() + 28, 16, 16), colors.ok)
        bar = QRectF(24, self.height - 40, CANVAS_WIDTH - 48, 11)
        painter.fillRect(bar, colors.idle_soft)
        for segment in view.segments:
            left, right = bar.left() + bar.width() * segment.start, bar.left() + bar.width() * segment.end
            painter.fillRect(
                QRectF(left, bar.top(), max(1.5, right - left), bar.height()),
                self.style.get_series_color(segment.color),
            )
        x = bar.left() + bar.width() * view.playhead
        painter.setPen(QPen(colors.text, 2))
        painter.drawLine(QPointF(x, bar.top() - 3), QPointF(x, bar.bottom() + 3))
        painter.setBrush(colors.text)
        painter.drawPolygon(
            QPolygonF(
                [
                    QPointF(x, bar.bottom() + 1),
                    QPointF(x - 7, bar.bottom() + 11),
                    QPointF(x + 7, bar.bottom() + 11),
                ]
            )
        )
        step = _choose_tick_step(view.scale_s)
        second, small = 0.0, self.compute_line_height("small")
        while second <= view.scale_s + 1e-9:
            second_x = bar.left() + bar.width() * second / view.scale_s
            words = f"{formatting.format_plain_number(second)} s"
            align = Qt.AlignmentFlag.AlignLeft if second == 0 else Qt.AlignmentFlag.AlignHCenter
            left = second_x if second == 0 else min(second_x - 40, bar.right() - 60)
            if abs(second_x - x) > 24 or second == 0:
                self.draw_text(words, QRectF(left, bar.bottom() + 5, 80, small), "small", colors.muted, align)
            second += step


def _choose_tick_step(scale_s: float) -> float:
    return next(
        step for step in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 600.0, 1e9) if scale_s / step <= 6.5
    )
