"""Questions of a run with the trainee's answers and their assessment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.views.debrief.parts import code, label, muted, table
from app.words import formatting
from app.words.language import tr
from engine.drill.judging.calibration import calibration
from engine.drill.judging.refusals import is_refusal
from engine.drill.judging.shapes import Calibration, Report, Row


def question(row: Row) -> QWidget:
    """Build the view of a question: its text, the trainee's answer, and the right answers."""
    box = QWidget()
    layout = QVBoxLayout(box)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(2)
    layout.addWidget(label(f"{formatting.run_time(row['asked_t_s'], 1)}  {row['text']}", 1.0, bold=True))
    right = row.get("right") or ()
    for number, choice in enumerate(row["choices"], start=1):
        mark = "✓" if number in right else "✗" if number == row.get("choice") else "·"
        yours = _format_answer(row) if number == row.get("choice") else ""
        layout.addWidget(label(f"{mark}  {choice}{yours}"))
    if row.get("choice") is None:
        layout.addWidget(label(tr("No answer.")))
    if row.get("why"):
        layout.addWidget(muted(str(row["why"])))
    return box


def _format_answer(row: Row) -> str:
    if row.get("sure_percent") is None:
        return "  " + tr("(your answer)")
    return "  " + tr("(your answer, {percent}% sure)").format(percent=f"{row['sure_percent']:g}")


def build_confidence(rows: Iterable[Row], narrow: bool = False) -> list[QWidget]:
    """Build the comparison of the trainee's confidence with the share of right answers; empty without confidence."""
    found = calibration(rows)
    return [] if found is None else build_calibration(found, narrow)


def build_calibration(calibration: Calibration, narrow: bool = False) -> list[QWidget]:
    """Return the score and the curve in numbers."""
    curve = [
        (f"{point['sure_percent']:g} %", f"{point['right_percent']:.0f} %", str(point["answers"]))
        for point in calibration["curve"]
    ]
    return [
        label(formatting.brier(calibration)),
        table((tr("confidence"), tr("correct"), tr("answers")), curve, (0, 0, 0), narrow),
    ]


def commands(report: Report, narrow: bool = False) -> QWidget | None:
    """Return every batch with what the server said to it; None if nothing was typed."""
    rows = list(_batches(report))
    return table((tr("at"), tr("server"), tr("batch"), ""), rows, (0, 0, 1, 0), narrow) if rows else None


def _batches(report: Report) -> Iterator[tuple[str | QWidget, ...]]:
    for batch in report.get("sql") or ():
        errors = [m for m in batch.get("messages") or () if int(m.get("severity") or 0) > 10]
        said = "".join(f"\nMsg {m['number']}: {m['text']}" for m in errors)
        text = " ".join(str(batch.get("batch", "")).split())
        refused = any(is_refusal(int(m["number"])) for m in errors)  # counted as the score does
        done = muted(tr("✗ refused") if refused else tr("✗ failed") if errors else tr("✓ done"))
        yield muted(formatting.run_time(batch["t_s"], 1)), str(batch["server"]), code(f"{text}{said}"), done
