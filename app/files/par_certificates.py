"""Certificates of the shipped drills, written by `par NAME --json` to assets/par/NAME.json."""

from typing import Final

from app.files import drill_difficulty
from app.words.language import tr
from engine.drill.authoring.problems import FileProblem
from engine.drill.authoring.scenario import Scenario
from engine.drill.judging.report_types import BLUNDER_POINTS_MIN
from engine.drill.par.certificate_types import ParCertificate
from engine.drill.running.state import DrillState
from engine.inputs import Input
from engine.verbs.input_lines import parse_script

PAR_EXCESS_MAX: Final = 3.0
"""Maximum number of points by which par may exceed the reference solution.

More means a mistake in drill or rubric. Assumed.
"""

INACTION_LOSS_MIN: Final = BLUNDER_POINTS_MIN
"""Minimum difference between the best plan's score and the score for doing nothing.

It equals the minimum loss of a blunder.
"""

TRAP_LOSS_MIN: Final = 0.5
"""Minimum points that a trap must cost. A trap is a forbidden state or a penalized action.

A smaller loss is insignificant (`SEGMENT_LABELS` of the regret analysis).
"""

SEED_DIFFERENCE_MAX: Final = BLUNDER_POINTS_MIN
"""Maximum difference between the scores of one solution with different seeds, in points.

It equals the minimum loss of a blunder.
"""


def load_certificate(scenario: Scenario) -> ParCertificate | None:
    """Return the certificate of exactly this scenario text, or None if there is none or the drill has changed."""
    return drill_difficulty.load_certificate(scenario.name, scenario.text)


def load_certified_plans(drill: DrillState) -> list[list[Input]]:
    """Return the certificate's best plan and latest-starting plan for this drill and seed; [] without them."""
    proved = load_certificate(drill.scenario)
    if proved is None or proved["seed"] != drill.seed:
        return []
    plan_lists = (proved["par"]["plan"], proved["last_chance"])
    return [parse_script("\n".join(lines))[0] for lines in plan_lists if lines]


def list_certificate_warnings(certificate: ParCertificate, file: str) -> list[FileProblem]:
    """Return the problems of the drill in *file* that its certificate reveals."""
    par, idle = certificate["par"]["score"], certificate["idle"]["score"]
    reference = certificate["reference"]["score"]
    sentences = []
    if reference is not None and reference < par - PAR_EXCESS_MAX:
        text = tr("the reference solution earns {points:g} points, the best known plan {par:g}")
        sentences.append(
            (
                text.format(points=reference, par=par),
                tr("The reference solution is as good as any known plan"),
            )
        )
    solved = "shortest" not in certificate or certificate["shortest"] is not None
    if not solved:
        text = tr("no known plan reaches all goals; the best earns {par:g} points")
        sentences.append((text.format(par=par), tr("All goals can be reached")))
    if solved and idle > par - INACTION_LOSS_MIN:
        text = tr("doing nothing earns {points:g} points, the best known plan {par:g}")
        sentences.append((text.format(points=idle, par=par), tr("Doing nothing costs points")))
    for trap in certificate.get("traps", ()) if solved else ():
        if trap["best"] is not None and trap["best"] > par - TRAP_LOSS_MIN:
            text = tr(
                "after the trap {trap!r}, {points:g} points are still possible; the best known "
                "plan earns {par:g}"
            )
            warning = text.format(trap=trap["text"] or trap["name"], points=trap["best"], par=par)
            sentences.append((warning, tr("The trap costs points")))
    luck, robust = certificate.get("luck"), certificate.get("robust")
    if luck is not None and luck["most"] - luck["least"] > SEED_DIFFERENCE_MAX:
        text = tr("with other seeds the reference solution earns {least:g} to {most:g} points")
        sentences.append((text.format(**luck), tr("The result does not depend on luck")))
    if (
        luck is not None
        and robust is not None
        and (lowest := max(luck["least"], robust["least"])) < par - SEED_DIFFERENCE_MAX
    ):
        text = tr("the best plan earns only {least:g} points with another seed, but {par:g} with this one")
        sentences.append((text.format(least=lowest, par=par), tr("The result does not depend on luck")))
    return [FileProblem(file, 1, 1, "", text, expected) for text, expected in sentences]
