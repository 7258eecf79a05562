"""Measured difficulty of shipped drills, from the results of `mirrordrill par`.

The results are read without the engine, so that the drill list opens quickly.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Final

from app.files.scenario_summary import DIFFICULTY_LEVELS
from app.words import formatting
from app.words.language import tr

if TYPE_CHECKING:
    from engine.drill.par.certificate_types import ParCertificate

BLUNDER_LOSS_MIN: Final = 15
"""Minimum loss of a blunder in points (engine/drill/judging/report_types.py)."""

TRIED_ACTIONS_MIN: Final = 5
"""Minimum number of tried actions for a meaningful share of blunders. Assumed."""

BLUNDER_CHANCE_BOUNDS: Final = (0.3, 0.44, 0.57)
"""Blunder probabilities that separate the difficulty levels: quartiles of the 122 shipped drills.

`compute_blunder_chance` computes the probabilities.
"""


GENERATED_DRILL_LEVELS: Final = DIFFICULTY_LEVELS[1:]
"""Difficulty levels of generated drills (app/files/generated_drills.py): all except the beginner's level.

The faults of a generated drill must be diagnosed. No generated drill was measured as easy as a beginner's
drill.
"""


def load_certificate(name: str, text: str) -> ParCertificate | None:
    """Return the certificate of exactly this scenario text, or None if there is none or the drill has changed."""
    file = resources.files("assets").joinpath("par", f"{name}.json")
    try:
        certificate: ParCertificate = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    is_unchanged: bool = certificate["hashes"]["scenario"] == hashlib.sha256(text.encode()).hexdigest()
    return certificate if is_unchanged else None


def describe_certificate(name: str, text: str) -> str:
    """Describe the certificate of this drill: reachable points, deadline and share of blunders.

    Return an empty text without a certificate.
    """
    certificate = load_certificate(name, text)
    if certificate is None:
        return ""
    points, lost_s, share = (
        certificate["par"]["score"],
        certificate["point_of_no_return_s"],
        certificate.get("blunder_share"),
    )
    if points < 100.0:
        sentences = [tr("The best possible score is {points:g}.").format(points=points)]
    elif lost_s is None:
        sentences = [tr("A full score is possible.")]
    else:
        words = tr("A full score is possible if you act before {moment}.")
        sentences = [words.format(moment=formatting.format_run_time(lost_s))]
    if share is not None:
        words = tr("{share} of the possible actions are serious mistakes (loss of {points} points or more).")
        sentences.append(words.format(share=f"{round(100 * share)}%", points=BLUNDER_LOSS_MIN))
    return " ".join(sentences)


def get_drill_difficulty(name: str) -> str:
    """Return the measured difficulty of the shipped drill *name*; empty if unknown.

    It is one of DIFFICULTY_LEVELS.
    """
    certificate = _load_shipped_certificate(name)
    return "" if certificate is None else compute_difficulty(certificate)


def compute_difficulty(certificate: ParCertificate) -> str:
    """Return the difficulty, one of DIFFICULTY_LEVELS; empty if too few actions were tried."""
    measured = compute_blunder_chance(certificate)
    return "" if measured is None else DIFFICULTY_LEVELS[bisect(BLUNDER_CHANCE_BOUNDS, measured)]


def compute_blunder_chance(certificate: ParCertificate) -> float | None:
    """Return the probability that a random player makes a blunder; None if too few actions were tried.

    The random player makes as many choices as the reference solution. This probability measures the
    difficulty of a drill before any user has played it. Source: the share of blunders among the
    possible actions predicts human errors better than skill or time (Anderson, Kleinberg and
    Mullainathan, arXiv 1606.04956).
    """
    share = certificate.get("blunder_share")
    if share is None or certificate["acts_tried"] < TRIED_ACTIONS_MIN:
        return None
    return 1.0 - float(1.0 - share) ** int(certificate["choices"])


@lru_cache
def _load_shipped_certificate(name: str) -> ParCertificate | None:
    file = resources.files("scenarios").joinpath(f"{name}.toml")
    return load_certificate(name, file.read_text(encoding="utf-8")) if file.is_file() else None
