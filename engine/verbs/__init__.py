"""Verbs of input lines. Each module defines the verbs for one kind of target, with one record per verb."""

from typing import Final

from engine.protocol import loss_causes
from engine.verbs import (
    clients,
    cluster,
    disks,
    files,
    installation,
    jobs,
    links,
    meta_commands,
    network,
    servers,
    sql,
)
from engine.verbs.verb import Verb

FAMILIES: Final = (
    servers, cluster, links, disks, network, jobs, clients, files, installation, sql, meta_commands,
)  # fmt: skip

VERBS: Final[dict[str, Verb]] = {verb.name: verb for family in FAMILIES for verb in family.VERBS}
"""Verbs by name, in menu order."""

REMARK_VERBS: Final = frozenset(verb.name for verb in VERBS.values() if verb.group == "remark")
"""Verbs that do not change the world."""

for _verb in VERBS.values():
    loss_causes.register_fault(_verb.name, _verb.loses, _verb.mechanism)
