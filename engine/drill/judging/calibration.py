"""Calibration of a trainee's confidence: Brier score and calibration curve of questions and predictions.

Brier (Monthly Weather Review 78, 1950) for one event: the mean of (stated probability - outcome) squared. The score
is 0 for a trainee who is always certain and right, 0.25 for one who always says 50 %, and at most 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine import arithmetic
from engine.drill.judging.shapes import Calibration, CalibrationPoint, Row


def calibration(questions: Iterable[Row]) -> Calibration | None:
    """Return the calibration from rows of `questions` in reports of finished runs; None without stated confidence."""
    answers = [
        (float(row["sure_percent"]), bool(row["correct"]))
        for row in questions
        if row.get("sure_percent") is not None and row.get("right")
    ]
    if not answers:
        return None
    missed = [(percent / 100.0 - right) * (percent / 100.0 - right) for percent, right in answers]
    return {
        "answers": len(answers),
        "brier": arithmetic.total(missed) / len(answers),
        "curve": [_point(percent, answers) for percent in sorted({percent for percent, _ in answers})],
    }


def _point(percent: float, answers: Sequence[tuple[float, bool]]) -> CalibrationPoint:
    outcomes = [right for stated, right in answers if stated == percent]
    right_percent = 100.0 * arithmetic.total(outcomes) / len(outcomes)
    return {"sure_percent": percent, "right_percent": right_percent, "answers": len(outcomes)}
