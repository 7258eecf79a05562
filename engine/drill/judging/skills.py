"""Skills that drills train. The package app/learning computes their state for a learner."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from msgspec import Struct


class Skill(Struct, frozen=True):
    """Skill that a drill can train."""

    key: str
    title: str
    text: str
    """Description of the skill."""


@cache
def load_skills() -> tuple[Skill, ...]:
    """Return all skills in their display order."""
    source = resources.files("engine.drill.judging").joinpath("skills.toml").read_text(encoding="utf-8")
    return tuple(Skill(key, entry["title"], entry["text"]) for key, entry in tomllib.loads(source).items())


@cache
def load_skills_by_key() -> Mapping[str, Skill]:
    """Return a dictionary: key in scenario files -> skill."""
    return {skill.key: skill for skill in load_skills()}


def get_skill_title(key: str) -> str:
    """Return the title of a skill. For an unknown key, return the key as words."""
    skill = load_skills_by_key().get(key)
    return skill.title if skill is not None else key.replace("-", " ")
