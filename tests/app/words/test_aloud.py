"""Tests of event announcements: complete sentences, the important part first, and never more than a listener
can follow.
"""

from __future__ import annotations

from app.words.announcements import SENTENCES_MAX, describe_events, select_announced_kinds
from engine.drill.running.modes import PERMISSIONS_BY_MODE, DrillMode
from engine.events import Event
from engine.localization import build_message
from tests.events import build_event


def build_state_event(database: str, new_state: str, tick: int = 0, server: str = "S") -> Event:
    return build_event(tick, "state", server, database, f"X -> {new_state}", new=new_state)


def test_a_change_is_announced_as_a_sentence() -> None:
    assert (
        describe_events([build_state_event("Sales", "PENDING_FAILOVER")]) == "Sales on S is PENDING FAILOVER."
    )
    assert describe_events([build_event(0, "service", "S", None, "power off")]) == "S: power off."
    assert describe_events([build_event(0, "errorlog", "S", None, "x")]) == ""


def test_only_the_last_state_of_a_copy_is_announced() -> None:
    assert describe_events(
        [build_state_event("Sales", "SYNCHRONIZING"), build_state_event("Sales", "SYNCHRONIZED", 9)]
    ) == ("Sales on S is SYNCHRONIZED.")


def test_changes_of_many_databases_are_one_sentence() -> None:
    events = [build_state_event(f"D{n}", "SYNCHRONIZED") for n in range(50)]
    events += [
        build_event(
            0,
            "availability",
            None,
            f"D{n}",
            build_message("{database} accepts connections", database=f"D{n}"),
        )
        for n in range(50)
    ]
    assert describe_events(events) == "50 databases on S: SYNCHRONIZED. 50 databases: accepts connections."


def test_of_many_events_the_least_important_are_counted() -> None:
    events = [build_event(n, "detected", f"S{n}", None, "lost SERVER_A") for n in range(20)]
    events.append(build_event(30, "goal", None, None, "goal met: all is well"))
    spoken = describe_events(events)
    assert "Goal met: all is well." in spoken
    assert spoken.endswith(f"Further events: {21 - SENTENCES_MAX}.")
    assert spoken.count("lost SERVER_A") == SENTENCES_MAX - 1


def test_a_fault_is_not_announced_twice() -> None:
    power_off_events = [
        build_event(5, "fault", "S", None, "power-off S"),
        build_event(5, "service", "S", None, "power off"),
    ]
    assert describe_events(power_off_events) == "S: power off."
    assert describe_events([build_event(5, "fault", None, None, "cut A B")]) == "Fault: cut A B."


def test_an_exam_announces_nothing_about_the_world() -> None:
    exam = select_announced_kinds(PERMISSIONS_BY_MODE[DrillMode.EXAM])
    assert (
        describe_events(
            [build_state_event("Sales", "DISCONNECTED"), build_event(0, "goal", None, None, "goal met: x")],
            exam,
        )
        == ""
    )
    assert (
        describe_events([build_event(0, "question", None, None, "Who serves?")], exam)
        == "Question: Who serves?"
    )
    assert {"goal", "state"} <= select_announced_kinds(PERMISSIONS_BY_MODE[DrillMode.PRACTICE])
