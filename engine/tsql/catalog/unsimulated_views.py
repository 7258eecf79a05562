"""Views of the product that are not simulated: their columns are undocumented, or they are newer than 2014.

Documented with the first version of each [DOC: system catalog views; dynamic management views]; dm_db_script_level
and dm_db_mirroring_past_actions from memory, dm_db_database_page_allocations as in public output.
"""

from __future__ import annotations

import re
from importlib import resources
from typing import Final

_TEXT: Final = (
    resources.files("engine.tsql.catalog").joinpath("unsimulated_views.txt").read_text(encoding="utf-8")
)
_SINCE: Final = {
    name: int(since)
    for since, names in re.findall(r"^(\d+):\n((?: .*\n)*)", _TEXT, re.MULTILINE)
    for name in names.split()
}


def has_view(name: str, version: int) -> bool:
    """Return whether *version* has this view or table-valued function.

    *name*: its full name in lowercase, `sys.x` or `sys.f()`.
    """
    return _SINCE.get(name, 9999) <= version
