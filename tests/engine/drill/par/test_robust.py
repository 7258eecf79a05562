"""What luck has found is told apart from what is worth much with every seed."""

from __future__ import annotations

from app.files.certificates import LUCK_MAX, warnings
from app.files.proof import Certificate
from engine.drill.par.certificate import SEEDS, Certifying
from engine.drill.par.search import Search
from tests.engine.drill import texts

SOLUTION = texts.COURSE[texts.COURSE.index("[[solution]]") : texts.COURSE.index("[[rubric]]")]
FORCE = "sql SERVER_B ALTER DATABASE Sales SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS"

BACK_BY_CHANCE = (
    ('\nwitness = "SERVER_W"', ""),
    ('at = "20s"\ndo = "power-off SERVER_A"', '''at = "20s"
do = "stop-service SERVER_A"

[[timeline]]
between = ["25s", "250s"]
do = "start-service SERVER_A"'''),
    ('when = "Sales serves on SERVER_B"\n\n', 'when = "Sales serves"\n\n'),
    ('when = "Sales is SYNCHRONIZED and Sales on SERVER_A is MIRROR"', 'when = "Sales serves"'),
    (SOLUTION, ""),
    ('target = "10s"\nlimit = "60s"', 'target = "10s"\nlimit = "150s"'),
    ("points = 40", "points = 10"), ('name = "Downtime"\npoints = 30', 'name = "Downtime"\npoints = 60'),
    ("price = 20", "price = 30"), ('ran "SET PARTNER OFF"', 'ran "FORCE_SERVICE_ALLOW_DATA_LOSS"'),
)  # fmt: skip
"""The principal's service stops, and comes back sooner or later; who forces service at its mirror pays for it."""


def certified(search: Search, nodes: int) -> Certificate:
    work = Certifying(search.scenario, search.seed)
    work.fair = search.run(nodes)
    work.enough()
    for _ in work.clairvoyant.steps(after=search):
        if work.clairvoyant.begun_with_all:
            break
    return work.certificate()


def test_a_plan_that_luck_has_found_is_worth_less_over_several_seeds() -> None:
    found = certified(Search(texts.small(*BACK_BY_CHANCE), 23, offered=(FORCE,)), 12)
    robust = found["robust"]
    assert found["par"]["plan"] == [], "it comes back soon with this seed"
    assert [line.partition(" ")[2] for line in robust["plan"]] == [FORCE]
    assert robust["seeds"] == SEEDS
    assert robust["least"] == robust["mean"] == robust["most"] < found["par"]["score"]
    assert found["luck"]["least"] < robust["least"]


def test_acts_of_a_plan_follow_their_symptom_with_every_seed() -> None:
    drill = texts.small(('at = "20s"\ndo', 'between = ["10s", "150s"]\ndo'))
    found = certified(Search(drill, 1, offered=()), 2)
    assert found["robust"]["plan"] == found["par"]["plan"]
    assert found["robust"]["least"] > found["par"]["score"] - 1.0


def test_check_says_where_luck_has_found_the_best_plan() -> None:
    found = certified(Search(texts.small(*BACK_BY_CHANCE), 23, offered=()), 2)
    assert found["robust"]["mean"] < found["par"]["score"] - LUCK_MAX
    assert any("over several seeds" in problem.text for problem in warnings(found, "small.toml"))
    found["robust"]["mean"] = found["par"]["score"]
    assert not any("over several seeds" in problem.text for problem in warnings(found, "small.toml"))
