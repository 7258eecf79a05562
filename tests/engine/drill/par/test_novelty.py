"""Search for a plan of three actions of which only the last one earns points."""

from __future__ import annotations

from engine.drill.authoring.scenario import Scenario
from engine.drill.judging.score import SCORE_TOTAL_MAX
from engine.drill.par.search import ParSearch
from tests.engine.drill import texts

FAULTS = ("stop-service SERVER_A", "stop-service SERVER_B", "hang SERVER_W")
REPAIRS = ("start-service SERVER_A", "start-service SERVER_B", "unhang SERVER_W")
NOOP_LINES = tuple(f"sql SERVER_W SELECT {number}" for number in range(6))
"""Actions without effect, which precede the others in sort order."""

USELESS_LINES = (
    "disable-tcp SERVER_A", "disable-tcp SERVER_B", "disable-tcp SERVER_W", "hang SERVER_W", "power-off SERVER_W",
    "pull-cable SERVER_W",
)  # fmt: skip
"""Actions that change the state but do not help."""

SET_PARTNER = "sql SERVER_A ALTER DATABASE {} SET PARTNER {}"

PARTS = (
    '[[database]]\nname = "Sales"\nworkload = "Workload1"\n\n',
    '[[session]]\ndatabase = "Sales"\nprincipal = "SERVER_A"\nmirror = "SERVER_B"\nwitness = "SERVER_W"\n\n',
)

NODE_LIMIT = 350


def build_all_or_nothing(goal: str, *faults: str, text: str = texts.SMALL_TEXT) -> Scenario:
    """Return the small drill with *faults*, worth 100 points if *goal* is reached at the end."""
    story, end = texts.COURSE_TEXT.split("[[solution]]")
    goals = story[story.index("[[goal]]") :]
    solution, _, rubric = f"[[solution]]{end}".partition("[[rubric]]")
    other_rules = rubric[rubric.index("[[rubric]]") :]
    timeline = "".join(
        f'[[timeline]]\nat = "{at_s}s"\ndo = "{fault}"\n\n' for at_s, fault in enumerate(faults, 1)
    )
    wanted = f'[[goal]]\nname = "all"\ntext = "All"\nwhen = "{goal}"\nafter = "10s"\nhold = "3s"\n\n'
    return texts.change_small_text(
        (story[: story.index("[[goal]]")].lstrip("\n"), timeline),
        (goals, wanted),
        (solution, ""),
        (other_rules, ""),
        ("points = 40", "points = 100"),
        text=text,
    )


def can_find_full_score(scenario: Scenario, *lines: str) -> bool:
    """Return whether few search nodes are enough to find the full score."""
    search = ParSearch(scenario, scenario.seed, decision_points_max=9, offered_lines=lines)
    for _ in search.run_steps():
        if search.node_count >= NODE_LIMIT or (
            search.best is not None and search.best.score == SCORE_TOTAL_MAX
        ):
            break
    return search.best is not None and search.best.score == SCORE_TOTAL_MAX


def test_an_action_with_a_new_effect_comes_first() -> None:
    drill = build_all_or_nothing(
        "not (not Sales is SYNCHRONIZED or not witness of Sales is CONNECTED)", *FAULTS
    )
    assert can_find_full_score(drill, *NOOP_LINES, *REPAIRS)


def test_part_of_a_goal_guides_the_search() -> None:
    names = ("D1", "D2", "D3")
    text = texts.change_text(
        *((part, "".join(part.replace("Sales", name) for name in names)) for part in PARTS)
    )
    text = texts.change_text(('databases = ["Sales"]', f"databases = {list(names)}"), text=text)
    faults = [SET_PARTNER.format(name, "SUSPEND") for name in names]
    drill = build_all_or_nothing(
        " and ".join(f"{name} is SYNCHRONIZED" for name in names), *faults, text=text
    )
    assert can_find_full_score(drill, *USELESS_LINES, *(SET_PARTNER.format(name, "RESUME") for name in names))
