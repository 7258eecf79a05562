"""Painter of a `StageView`: static parts of a phase, and parts that move during it."""

import itertools

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainterPath, QPen, QPolygonF

from app.view_models.failover_moment import view as view_model
from app.view_models.failover_moment.phases import CLIENT, DISK, FROM, LISTENER, QUEUE, TO, VOTES
from app.view_models.failover_moment.stage_facts import (
    VOTE_LOST,
    VOTE_NOT_COUNTED,
    StageCard,
    StageVote,
    shorten_names,
)
from app.view_models.failover_moment.view import DONE, RUNNING, WAITING, StageView
from app.views.failover_stage import canvas
from app.views.failover_stage.canvas import CANVAS_WIDTH
from app.views.failover_stage.panel import PanelPainter
from app.widgets import theme
from app.widgets.scene_symbols import (
    compute_indicator_width,
    condense_drawing,
    draw_chip,
    draw_indicator,
    draw_symbol,
)
from app.words import formatting
from app.words.language import tr
from engine.drill.running.published_comparison import MIRRORING


class StagePainter(PanelPainter):
    """Painter of the whole stage."""

    def draw_static_parts(self, view: StageView) -> None:
        """Draw the parts that do not move during the phase."""
        self.painter.fillRect(QRectF(0, 0, CANVAS_WIDTH, self.height), self.colors.surface)
        self._draw_heading(view)
        self._draw_cluster_frame(view)
        for wire in view.facts.wires:
            self._draw_wire(view, wire.ends, wire.is_interrupted, wire.is_used, wire.label)
        for name, card in view.facts.cards.items():
            box = self.find_box(view.technology, name)
            if box is not None:
                self._draw_card(view, name, card, box)
        self._draw_disk(view)
        self._draw_listener(view)
        if not (
            view.redo_gauge is not None and view.technology == MIRRORING and QUEUE in view.highlighted_places
        ):
            self._draw_votes(view)
        self._draw_panel(view)

    def _draw_heading(self, view: StageView) -> None:
        colors = self.colors
        disk = self.draw_title(view.heading, view.sentence, colors.ok if view.has_ended else colors.accent)
        font = "server" if self.style.is_presentation else "second"
        self.draw_text(str(view.number + 1), disk, font, colors.on_accent, Qt.AlignmentFlag.AlignHCenter)

    def _draw_cluster_frame(self, view: StageView) -> None:
        box = self.find_box(view.technology, "cluster")
        if box is None:
            return
        painter = self.painter
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.colors.border, 1.5, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(box, 10, 10)
        words = tr("Windows cluster {name}").format(name=view.facts.cluster)
        width = QFontMetricsF(self.style.fonts["bold"]).horizontalAdvance(words)
        label = QRectF(box.left() + 24, box.top() - 10, width + 12, 20)
        painter.fillRect(label, self.colors.surface)
        self.draw_text(words, label.adjusted(6, 0, 0, 0), "bold", self.colors.muted)

    def _draw_wire(
        self, view: StageView, ends: tuple[str, str], is_interrupted: bool, is_used: bool, label: str
    ) -> None:
        corners = canvas.compute_route(view.technology, *ends, self.height)
        if not corners:
            return
        painter, colors = self.painter, self.colors
        painter.setBrush(Qt.BrushStyle.NoBrush)
        glowing = (
            not is_interrupted
            and (ends in view.highlighted_wires or ends[::-1] in view.highlighted_wires)
            and (is_used or not view.has_ended)
        )
        if glowing and is_used:
            color_name = colors.ok if CLIENT in ends else colors.focus
            painter.setPen(QPen(theme.add_alpha(color_name, 70), 9))
            painter.drawPolyline(QPolygonF(corners))
            painter.setPen(QPen(color_name, 3))
        elif is_interrupted:
            painter.setPen(QPen(colors.bad, 2, Qt.PenStyle.DashLine))
        elif is_used:
            painter.setPen(QPen(colors.muted, 2))
        else:
            painter.setPen(QPen(colors.border, 2, Qt.PenStyle.DotLine))
        painter.drawPolyline(QPolygonF(corners))
        longest = max(itertools.pairwise(corners), key=lambda pair: _compute_length(*pair))
        middle = (longest[0] + longest[1]) / 2
        if is_interrupted:
            box = QRectF(middle.x() - 10, middle.y() - 10, 20, 20)
            painter.fillRect(box, colors.surface)
            draw_symbol(painter, "cross", box.adjusted(1, 1, -1, -1), colors.bad)
        if label:
            words = tr("{name} cut").format(name=label) if is_interrupted else label
            text_rect = QRectF(middle.x() - 140, middle.y() + 10, 280, self.compute_line_height("body"))
            self.draw_text(
                words,
                text_rect,
                "body",
                colors.bad if is_interrupted else colors.muted,
                Qt.AlignmentFlag.AlignHCenter,
            )

    def _draw_card(self, view: StageView, name: str, card: StageCard, box: QRectF) -> None:
        painter, colors, style = self.painter, self.colors, self.style
        if name in view.highlighted_places:
            self.draw_halo(box, view.has_ended)
        dead = card.status.color_name == "bad" and name != CLIENT
        self.draw_box(
            box,
            colors.bad if dead else colors.border,
            colors.idle_soft if dead else colors.raised,
            1.6 if dead else 1.2,
        )
        clip = QPainterPath()
        clip.addRoundedRect(box, 8, 8)
        painter.save()
        painter.setClipPath(clip)
        band = colors.border if card.color is None else colors.get_server_color(card.color)
        painter.fillRect(QRectF(box.left(), box.top(), 8, box.height()), band)
        painter.restore()
        tall = self.compute_line_height("server")
        # space that remains if the card has two lines
        room = box.height() - tall - 4 - self.compute_line_height("body")
        left, right, y = box.left() + 20, box.right() - 14, box.top() + max(2.0, min(10.0, room / 2))
        font = style.fonts["body"]
        width = compute_indicator_width(card.status, style.scene_style, font)
        name_width = QFontMetricsF(style.fonts["server"]).horizontalAdvance(card.name)
        is_beside = name_width + width + 10 <= right - left
        self.draw_text(
            card.name, QRectF(left, y, right - left - (width + 10) * is_beside, tall), "server", colors.text
        )
        y += 0 if is_beside else tall
        base = y + tall / 2 + (QFontMetricsF(font).ascent() - QFontMetricsF(font).descent()) / 2
        draw_indicator(
            painter, card.status, QPointF(right - width if is_beside else left, base), style.scene_style, font
        )
        y += tall + 4
        replaced = name == CLIENT and name in view.lines
        has_room = y + self.compute_line_height("body") <= box.bottom()
        if (
            card.note
            and has_room
            and not replaced
            and not (style.is_presentation and (card.database or name == CLIENT))
        ):
            self.draw_text(
                card.note,
                QRectF(left, y, right - left, self.compute_line_height("body")),
                "body",
                colors.muted,
            )
            y += self.compute_line_height("body") + 4
        words, color_name = view.lines.get(name, ("", ""))
        if card.database:
            height_below = self.compute_line_height("body") + 2 if words else 0.0
            self._draw_copy(
                view, name, card, QRectF(left, y, right - left, box.bottom() - y - 8 - height_below)
            )
        if words and not (name == TO and view.resources):
            tall, room = self.compute_line_height("body"), right - left
            wraps = self.compute_width(words, "body") > room and box.bottom() - 2 * tall - 8 >= y - 2
            tall *= 2 if wraps else 1
            row = QRectF(left, box.bottom() - tall - 8, room, tall)
            ink = colors.text if color_name == "text" else style.scene_style.get_color(color_name)
            if row.top() >= y - 2:
                self.draw_text(words, row, "body", ink, wraps=wraps)
        if name == CLIENT and view.facts.more_clients:
            words = tr("More clients: {n}").format(n=view.facts.more_clients)
            self.draw_text(
                words, QRectF(left, y, right - left, self.compute_line_height("body")), "body", colors.muted
            )
        if name == TO and view.resources:
            self._draw_resources(view, QRectF(left - 4, y + 2, right - left + 8, box.bottom() - y - 10))

    def _draw_copy(self, view: StageView, name: str, card: StageCard, box: QRectF) -> None:
        painter, colors, style = self.painter, self.colors, self.style
        painter.setPen(QPen(colors.border, 1))
        painter.drawLine(QPointF(box.left(), box.top()), QPointF(box.right(), box.top()))
        tall = self.compute_line_height("bold")
        y = box.top() + 8
        role = card.role
        if role is not None:
            draw_symbol(
                painter,
                role.shape,
                QRectF(box.left(), y + tall / 2 - 9, 18, 18),
                style.scene_style.get_color(role.color_name),
            )
            words = role.label
            width = QFontMetricsF(style.fonts["bold"]).horizontalAdvance(words)
            color_name = (
                colors.text
                if role.text in ("MIRROR", "SECONDARY")
                else style.scene_style.get_color(role.color_name)
            )
            if style.is_presentation:
                self.draw_text(
                    words, QRectF(box.left() + 26, y + tall + 4, box.width() - 26, tall), "bold", color_name
                )
                width = 0
            else:
                self.draw_text(words, QRectF(box.right() - width, y, width + 1, tall), "bold", color_name)
            self.draw_text(
                card.database, QRectF(box.left() + 26, y, box.width() - width - 34, tall), "bold", colors.text
            )
        more_text = view_model.format_hidden_count(view.facts) if name in (FROM, TO) else ""
        y += tall * (2 if style.is_presentation else 1) + 10
        if style.is_presentation:
            return
        chip, widths = style.fonts["small"], []
        for indicator in card.badges:
            widths.append(compute_indicator_width(indicator, style.scene_style, chip) + 16)
        first = list(zip(card.badges, widths, strict=True))
        # with space for a single row of badges, the card omits those that are "ok" if others are not
        bad = [sign_pair for sign_pair in first if sign_pair[0].color_name != "ok"]
        rows = [first[:2], first[2:]] if y + 48 <= box.bottom() + 6 else [bad or first]
        for row in rows:
            x = box.left()
            with condense_drawing(painter, box, sum(w for _, w in row) + 6 * (len(row) - 1)):
                for indicator, wide in row:
                    draw_chip(painter, indicator, QRectF(x, y, wide, 21), style.scene_style, chip)
                    x += wide + 6
            y += 27 if row else 0
        if more_text and y + 16 < box.bottom() + 6:
            self.draw_text(
                more_text,
                QRectF(box.left(), y, box.width(), self.compute_line_height("body")),
                "body",
                colors.muted,
            )

    def _draw_resources(self, view: StageView, box: QRectF) -> None:
        colors = self.colors
        step = box.height() / max(1, len(view.resources))
        marks = {DONE: ("check", "ok"), RUNNING: ("hourglass", "warn"), WAITING: ("ring", "idle")}
        for index, (name, state, _time_taken) in enumerate(view.resources):
            row = QRectF(box.left(), box.top() + index * step, box.width(), step - 5)
            shape, color_name = marks[state]
            running = state == RUNNING
            self.draw_box(
                row, colors.focus if running else colors.border, colors.surface, 2 if running else 1
            )
            draw_symbol(
                self.painter,
                shape,
                QRectF(row.left() + 8, row.center().y() - 7, 14, 14),
                self.style.scene_style.get_color(color_name),
            )
            half_height = row.height() / 2
            if half_height >= self.compute_line_height("body") + 2:
                self.draw_text(
                    name,
                    QRectF(row.left() + 30, row.top() + 2, row.width() - 110, half_height),
                    "body",
                    colors.text,
                )
                words = view_model.get_resource_label(state)
                self.draw_text(words,
                          QRectF(row.left() + 30, row.center().y() - 2, row.width() - 110, half_height), "small",
                          self.style.scene_style.get_color(color_name))  # fmt: skip
            else:
                self.draw_text(
                    name,
                    QRectF(row.left() + 30, row.top(), row.width() - 110, row.height()),
                    "body",
                    colors.text,
                )

    def _draw_disk(self, view: StageView) -> None:
        box, pill = self.find_box(view.technology, DISK), self.find_box(view.technology, "owner")
        if box is None or pill is None or not view.facts.disk:
            return
        painter, colors = self.painter, self.colors
        lit = DISK in view.highlighted_places
        painter.setPen(QPen(colors.focus if lit else colors.muted, 3 if lit else 1.6))
        painter.setBrush(colors.raised)
        cap = 20.0
        path = QPainterPath()
        path.moveTo(box.left(), box.top() + cap / 2)
        path.lineTo(box.left(), box.bottom() - cap / 2)
        path.arcTo(QRectF(box.left(), box.bottom() - cap, box.width(), cap), 180, 180)
        path.lineTo(box.right(), box.top() + cap / 2)
        path.arcTo(QRectF(box.left(), box.top(), box.width(), cap), 0, 180)
        painter.drawPath(path)
        painter.drawEllipse(QRectF(box.left(), box.top(), box.width(), cap))
        self.draw_text(view.facts.disk, QRectF(box.left(), box.center().y() - 10, box.width(), 22), "bold", colors.text,
                  Qt.AlignmentFlag.AlignHCenter)  # fmt: skip
        if not self.style.is_presentation:
            rect_below = QRectF(box.left(), box.center().y() + 12, box.width(), 18)
            self.draw_text(
                tr("data and log"), rect_below, "body", colors.muted, Qt.AlignmentFlag.AlignHCenter
            )
        self.draw_pill(
            tr("owner: {node}").format(node=view.facts.owner), pill, colors.accent, colors.on_accent
        )

    def _draw_listener(self, view: StageView) -> None:
        facts, colors = view.facts, self.colors
        box, former = self.find_box(view.technology, LISTENER), self.find_box(view.technology, "former")
        if not facts.listener or box is None or former is None:
            return
        words = tr("listener {name}").format(name=facts.listener)
        has_moved = facts.listener_at == TO
        if facts.listener_at == FROM or not facts.listener_at:
            self.draw_pill(words, former, colors.surface, colors.muted, dashed=True)
        if has_moved:
            if LISTENER in view.highlighted_places:
                self.draw_halo(box, False)
            self.draw_pill(facts.listener, former, colors.surface, colors.muted, dashed=True)
            self.painter.setPen(QPen(colors.get_server_color(4), 3, Qt.PenStyle.DotLine))
            start, end = (
                QPointF(former.right() + 6, former.center().y()),
                QPointF(box.left() - 10, box.center().y()),
            )
            self.painter.drawLine(start, end)
            self.draw_pill(words, box, colors.accent, colors.on_accent)
            target = self.find_box(view.technology, TO)
            if target is not None:
                self.painter.setPen(QPen(colors.focus, 3))
                self.painter.drawLine(
                    QPointF(box.center().x(), target.bottom()), QPointF(box.center().x(), box.top())
                )

    def _draw_votes(self, view: StageView) -> None:
        box = self.find_box(view.technology, VOTES)
        if box is None or not view.facts.votes:
            return
        colors = self.colors
        lit = VOTES in view.highlighted_places and not view.has_ended
        self.draw_box(box, colors.focus if lit else colors.border, colors.raised, 2.5 if lit else 1.2)
        is_beside = box.width() > 300
        radius = 21.0 if not self.style.is_presentation or not is_beside else 23.0
        count = len(view.facts.votes)
        step = min(58.0, (box.width() * (0.55 if is_beside else 1.0) - 20) / count)
        x = box.left() + 18 + radius if is_beside else box.center().x() - step * (count - 1) / 2
        y = box.center().y() if is_beside else box.top() + 16 + radius
        labels = shorten_names([vote.name for vote in view.facts.votes])
        for number, (vote, letter) in enumerate(zip(view.facts.votes, labels, strict=True)):
            self._draw_vote_token(
                vote, letter, QPointF(x + number * step, y), radius, counted=view.votes_color_name != "muted"
            )
        color_name = (
            self.style.scene_style.get_color(view.votes_color_name)
            if view.votes_color_name != "muted"
            else colors.muted
        )
        tall = self.compute_line_height("bold")
        if is_beside:
            left_px = x + (count - 1) * step + radius + 24
            # in a presentation, the voters' names are omitted, so the text is centered
            top = box.center().y() - tall / (2 if self.style.is_presentation else 1)
            words = QRectF(left_px, top, box.right() - left_px - 10, tall)
            self.draw_text(view.votes_text, words, "bold", color_name)
            if not self.style.is_presentation:
                names = ", ".join(vote.name for vote in view.facts.votes)
                rect_below = QRectF(left_px, words.bottom(), words.width(), box.bottom() - words.bottom())
                self.draw_text(names, rect_below, "small", colors.muted, wraps=True)
        else:
            row = QRectF(box.left() + 8, y + radius + 6, box.width() - 16, tall)
            self.draw_text(view.votes_text, row, "bold", color_name, Qt.AlignmentFlag.AlignHCenter)

    def _draw_vote_token(
        self, vote: StageVote, letter: str, center: QPointF, radius: float, counted: bool
    ) -> None:
        painter, colors = self.painter, self.colors
        circle = QRectF(center.x() - radius, center.y() - radius, 2 * radius, 2 * radius)
        if vote.state in (VOTE_LOST, VOTE_NOT_COUNTED):
            pen = QPen(colors.bad if vote.state == VOTE_LOST else colors.muted, 2, Qt.PenStyle.DashLine)
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(circle)
            self.draw_text(letter, circle, "server", pen.color(), Qt.AlignmentFlag.AlignHCenter)
            if vote.state == VOTE_LOST:
                painter.setPen(QPen(colors.bad, 2.4))
                reach = radius * 0.72
                painter.drawLine(center + QPointF(-reach, -reach), center + QPointF(reach, reach))
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.get_server_color(vote.color))
        painter.drawEllipse(circle)
        self.draw_text(letter, circle, "server", self.style.series_text_color, Qt.AlignmentFlag.AlignHCenter)
        if not counted:
            return
        badge = QRectF(circle.right() - 11, circle.top() - 5, 17, 17)
        painter.setPen(QPen(colors.surface, 1.5))
        painter.setBrush(colors.ok)
        painter.drawEllipse(badge)
        draw_symbol(painter, "check", badge.adjusted(4, 4, -4, -4), colors.surface)

    def draw_moving_parts(self, view: StageView, time_s: float) -> None:
        """Draw stopwatches, duration gauge, redo queue gauge, packets and ribbon.

        *time_s*: wall time in seconds that animates them. A negative value means no animation.
        """
        self._draw_stopwatches(view)
        self._draw_rows(view)
        self._draw_resource_times(view)
        self._draw_redo_gauge(view)
        self._draw_packets(view, time_s)
        self.draw_ribbon(view, time_s)

    def _draw_resource_times(self, view: StageView) -> None:
        box, card = self.find_box(view.technology, TO), view.facts.cards.get(TO)
        if box is None or card is None or not view.resources:
            return
        y = (
            box.top()
            + 10
            + self.compute_line_height("server")
            + 4
            + (self.compute_line_height("body") + 4 if card.note else 0)
            + 2
        )
        step = (box.bottom() - y - 8) / len(view.resources)
        for index, (_, _, time_taken) in enumerate(view.resources):
            row = QRectF(box.right() - 100, y + index * step, 76, step - 5)
            self.draw_text(time_taken, row, "mono", self.colors.muted, Qt.AlignmentFlag.AlignRight)

    def _draw_redo_gauge(self, view: StageView) -> None:
        box, vessel = self.find_box(view.technology, QUEUE), view.redo_gauge
        if box is None or vessel is None or QUEUE not in view.highlighted_places:
            return
        painter, colors = self.painter, self.colors
        self.draw_box(box, colors.focus, colors.raised, 2.5)
        tall = self.compute_line_height("bold")
        words = tr("Redo queue {size}").format(size=formatting.format_kb(round(vessel.kb)))
        self.draw_text(
            words,
            QRectF(box.left() + 8, box.top() + 6, box.width() - 16, tall),
            "bold",
            colors.text,
            Qt.AlignmentFlag.AlignHCenter,
        )
        small = self.compute_line_height("small")
        top, bottom = box.top() + 8 + tall + small / 2, box.bottom() - 6 - small / 2
        glass = QRectF(box.center().x() - 40, top, 56, bottom - top)
        level = glass.height() * vessel.share
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.style.get_series_color(1))
        painter.drawRect(QRectF(glass.left() + 2, glass.bottom() - level, glass.width() - 4, level))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colors.muted, 1.6))
        painter.drawRoundedRect(glass, 4, 4)
        mark_y = glass.bottom() - glass.height() * min(1.0, vessel.before_kb / vessel.limit_kb)
        painter.setPen(QPen(colors.text, 1.6, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(glass.left() - 6, mark_y), QPointF(glass.right() + 2, mark_y))
        for share in (0.0, 0.5, 1.0):
            y = glass.bottom() - glass.height() * share
            painter.setPen(QPen(colors.muted, 1.3))
            painter.drawLine(QPointF(glass.right(), y), QPointF(glass.right() + 7, y))
            label = formatting.format_kb(vessel.limit_kb * share) if share else "0"
            self.draw_text(
                label,
                QRectF(glass.right() + 11, y - small / 2, box.right() - glass.right() - 14, small),
                "small",
                colors.muted,
            )

    def _draw_packets(self, view: StageView, phase: float) -> None:
        if phase < 0 or view.has_ended:
            return
        used = {wire.ends for wire in view.facts.wires if wire.is_used}
        for ends in view.highlighted_wires:
            if ends not in used and ends[::-1] not in used:
                continue
            corners = (
                canvas.compute_route(view.technology, *ends, self.height)
                or canvas.compute_route(view.technology, *ends[::-1], self.height)[::-1]
            )
            color = self.style.get_series_color(view.chips[view.number].color)
            for number in range(3):
                point = _compute_point(corners, (phase * 0.5 + number / 3) % 1.0)
                if point is not None:
                    self.painter.setPen(QPen(self.colors.surface, 2))
                    self.painter.setBrush(color)
                    self.painter.drawEllipse(point, 6, 6)


def _compute_length(a: QPointF, b: QPointF) -> float:
    return abs(a.x() - b.x()) + abs(a.y() - b.y())


def _compute_point(corners: list[QPointF], share: float) -> QPointF | None:
    """Return the point at *share* of the path's length."""
    legs = list(itertools.pairwise(corners))
    total_length = sum(_compute_length(*leg) for leg in legs)
    if not legs or not total_length:
        return None
    remaining_length = total_length * share
    for a, b in legs:
        length = _compute_length(a, b)
        if remaining_length <= length:
            return a + (b - a) * (remaining_length / length)
        remaining_length -= length
    return corners[-1]
