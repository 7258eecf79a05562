"""A database with safety OFF is not protected, even if its state is SYNCHRONIZED."""

from __future__ import annotations

from app.view_models.course import ASYNCHRONOUS, PROTECTED, RunTimeline
from app.view_models.picture import picture_of
from engine.model import Safety
from tests.engine.worlds import lab


def spoken(safety: Safety) -> str:
    return " ".join(sign.label for server in picture_of(lab(safety=safety)).servers
                    for copy in server.copies for sign in copy.signs)  # fmt: skip


def test_the_card_and_the_lane_say_asynchronous() -> None:
    assert "asynchronous" in spoken(Safety.OFF)
    assert "asynchronous" not in spoken(Safety.FULL)
    assert [s.what for s in RunTimeline(["Sales"], ["Sales"], ["Sales"]).protection(10.0)] == [ASYNCHRONOUS]


def test_the_lane_follows_changes_of_safety() -> None:
    course = RunTimeline(["Sales"], ["Sales"])
    for t_s, new in ((5.0, "OFF"), (8.0, "FULL")):
        course.add([{"t_s": t_s, "kind": "state", "server": "A", "database": "Sales", "text": "",
                     "why": "safety", "new": new}])  # fmt: skip
    found = [(span.from_s, span.what) for span in course.protection(10.0)]
    assert found == [(0.0, PROTECTED), (5.0, ASYNCHRONOUS), (8.0, PROTECTED)]
