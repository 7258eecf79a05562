"""Texts of the form: titles of sections, labels of fields, names of choices. Without Qt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.words.tables import read_table

PLAIN: Final = ""
"""Key of the section of keys before the first table."""
VARIANTS: Final = "variants"
"""Key of the section of pools, which has no fields."""

_ROWS: Final = read_table("app.views.editor", "form_words.tsv")


def _texts(table: str) -> Mapping[str, str]:
    return {row["key"]: row["text"] for row in _ROWS if row["of"] == table}


SECTIONS: Final = _texts("section")
"""Titles of sections; other tables show their key."""

LABELS: Final = _texts("label")
"""Key, or class of the schema and key where the same key means several things -> label."""

KINDS: Final = _texts("rule")
"""Kinds of rules -> label."""

ACT, CONDITION = "act", "condition"
"""Kinds of text that are not names: an input line and a condition. Completion offers each of their words."""

OFFERED: Final = {
    "do": ACT,
    "type": ACT,
    "when": CONDITION,
    "ClientSpec.data_source": "server",
    "ClientSpec.databases": "database",
    "ClientSpec.failover_partner": "server",
    "DatabaseSpec.restored_on": "server",
    "DatabaseSpec.server": "server",
    "DatabaseSpec.workload": "workload",
    "DowntimeRule.database": "database",
    "ExposedRule.database": "database",
    "Hint.goal": "goal",
    "StoryRole.does": ACT,
    "StoryRole.servers": "server",
    "LinkSpec.ends": "name",
    "LostRule.database": "database",
    "Scenario.skills": "skill",
    "ServerSpec.jobs_for": "database",
    "ServerSpec.site": "site",
    "SessionSpec.database": "database",
    "SessionSpec.mirror": "server",
    "SessionSpec.principal": "server",
    "SessionSpec.witness": "server",
}
"""Key, or class of the schema and key -> kind of names that are valid there."""
