"""Small drills for tests, in which many parts can break: sessions, availability groups, an FCI, and
preparations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.drill.authoring.scenario import Scenario, load_scenario

SCENARIO_HEAD: Final = """
title = "{title}"
summary = "A drill of the tests."
level = "beginner"
minutes = 5
skills = ["read-state"]
seed = 5
length = "{length}"
brief = "Something will happen."
facilitator = "Ask."

[[source]]
paper = "Nobody's"
section = "None"
"""

SERVICE_RULE: Final = ("downtime", 30, 'target = "20s"\nlimit = "150s"')
PROTECTION_RULE: Final = ("exposed", 30, 'target = "60s"\nlimit = "4min"')


def _format_servers(*names: str, fields: str = "") -> str:
    return "".join(f'\n[[server]]\nname = "{name}"\n{fields}\n' for name in names)


def _format_session(database: str, principal: str, mirror: str, witness: str = "") -> str:
    named = f'witness = "{witness}"\n' if witness else ""
    return (
        f'\n[[database]]\nname = "{database}"\nworkload = "Workload1"\nscale = 0.3\n'
        f'\n[[session]]\ndatabase = "{database}"\nprincipal = "{principal}"\nmirror = "{mirror}"\n{named}'
    )


def _format_client(source: str, partner: str = "") -> str:
    named = f'failover_partner = "{partner}"\n' if partner else ""
    return f'\n[[client]]\nname = "APP"\ndatabases = ["Sales"]\ndata_source = "{source}"\n{named}'


def _format_event(do: str, condition: str) -> str:
    return f"\n[[timeline]]\n{condition}\ndo = '''{do}'''\n"


def _format_goal(name: str, condition: str, fields: str = "") -> str:
    return (
        f'\n[[goal]]\nname = "{name}"\ntext = "{condition}"\nwhen = "{condition}"\n{fields}\n'
        f'\n[[hint]]\ngoal = "{name}"\nlook = "Look."\nmeans = "It."\ntype = "Wait."\n'
    )


def _format_step(do: str, condition: str = "") -> str:
    waits = f'when = "{condition}"\n' if condition else ""
    return f"\n[[solution]]\n{waits}do = '''{do}'''\nwhy = \"So.\"\n"


def _format_rubric(*rules: tuple[str, int, str]) -> str:
    all_rules = (("goals", 100 - 20 - sum(points for _, points, _ in rules), ""), *rules)
    return "".join(
        f'\n[[rubric]]\nkind = "{kind}"\nname = "{kind}"\npoints = {points}\nbetter = "Do."\n{extra_text}\n'
        for kind, points, extra_text in (*all_rules, ("conduct", 20, "refused = 3"))
    )


AG_TEXT: Final = f"""
{_format_servers("N1", "N2", "N3", fields="version = 2014")}
{_format_servers("FSW", fields="sql = false")}

[[cluster]]
name = "CLU1"
nodes = ["N1", "N2", "N3"]
witness = "FSW"

[[database]]
name = "Sales"
workload = "Workload1"
scale = 0.3

[[availability_group]]
name = "AG1"
databases = ["Sales"]
primary = "N1"
listener = "AGL1"

[[availability_group.replica]]
server = "N1"
failover = "MANUAL"

[[availability_group.replica]]
server = "N2"
failover = "MANUAL"

[[availability_group.replica]]
server = "N3"
mode = "ASYNCHRONOUS_COMMIT"
"""

FCI_TEXT: Final = f"""
{_format_servers("N1", "N2", fields="sql = false")}

[[cluster]]
name = "CLU1"
nodes = ["N1", "N2"]
witness = "Quorum"
witness_kind = "disk"

[[instance]]
name = "SQLFCI1"
owners = ["N1", "N2"]

[[database]]
name = "Sales"
workload = "Workload1"
scale = 0.3
server = "SQLFCI1"
"""

RESTORED_TEXT: Final = f"""
{_format_servers("A1", "B1")}

[[database]]
name = "Sales"
server = "A1"
restored_on = ["B1"]
workload = "Workload1"
scale = 0.3
size_mb = 4000
log_backup_every = 0

[[before]]
do = "sql B1 ALTER DATABASE Sales SET PARTNER = 'TCP://A1:5022'"

[[before]]
do = "sql B1 ALTER ENDPOINT Mirroring STATE = STOPPED"
"""

DRILLS: Final[dict[str, Sequence[str]]] = {
    "two-sessions": (
        _format_servers("A1", "B1", "W1"),
        _format_session("Sales", "A1", "B1", "W1"),
        _format_session("Orders", "B1", "A1"),
        _format_client("A1", "B1"),
        _format_event("stop-service W1", 'at = "20s"'),
        _format_event("power-off A1", 'between = ["60s", "80s"]'),
        _format_goal("served", "Sales serves on B1 and APP on B1 is CONNECTED", "weight = 2"),
        _format_goal(
            "whole", "Sales is SYNCHRONIZED and Orders is SYNCHRONIZED and witness of Sales is CONNECTED"
        ),
        _format_step("+5 start-service W1", "W1 is STOPPED"),
        _format_step("+5 power-on A1", "A1 is OFF"),
        _format_rubric(SERVICE_RULE),
    ),
    "no-witness": (
        _format_servers("A1", "B1"),
        _format_session("Sales", "A1", "B1"),
        _format_client("A1", "B1"),
        _format_event("stop-service A1", 'between = ["25s", "50s"]'),
        _format_goal("served", "Sales serves", 'after = "60s"'),
        _format_goal("whole", "Sales is SYNCHRONIZED", 'after = "60s"\nhold = "3s"'),
        _format_step("+8 start-service A1", "A1 is STOPPED"),
        _format_rubric(SERVICE_RULE),
    ),
    "forced": (
        _format_servers("A1", "B1"),
        _format_session("Sales", "A1", "B1"),
        _format_client("A1", "B1"),
        _format_event("pull-cable A1", 'at = "60s"'),
        _format_goal("served", "Sales serves on B1"),
        _format_goal("whole", "Sales on A1 is MIRROR and Sales is SYNCHRONIZED", 'hold = "3s"'),
        _format_step(
            "+20 sql B1 ALTER DATABASE Sales SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS", "A1 is UNPLUGGED"
        ),
        _format_step("+5 plug-cable A1"),
        _format_step("+5 sql B1 ALTER DATABASE Sales SET PARTNER RESUME", "Sales is SUSPENDED"),
        _format_rubric(SERVICE_RULE),
    ),
    "group": (
        AG_TEXT,
        _format_client("AGL1"),
        _format_event("power-off N1", 'between = ["60s", "75s"]'),
        _format_goal("served", "Sales serves and APP on N2 is CONNECTED", "weight = 2"),
        _format_goal("whole", "Sales on N1 is SYNCHRONIZED and Sales serves on N2", 'hold = "5s"'),
        _format_step("+8 sql N2 ALTER AVAILABILITY GROUP AG1 FAILOVER", "N1 is OFF"),
        _format_step("+5 power-on N1"),
        _format_rubric(SERVICE_RULE, ("lost_transactions", 10, "limit = 100")),
    ),
    "cluster": (
        FCI_TEXT,
        _format_client("SQLFCI1"),
        _format_event("power-off N1", 'between = ["60s", "75s"]'),
        _format_goal("served", "Sales serves and APP on SQLFCI1 is CONNECTED", 'weight = 2\nafter = "90s"'),
        _format_goal("whole", "N1 is MEMBER and Sales serves", 'after = "90s"\nhold = "3s"'),
        _format_step("+8 power-on N1", "N1 is OFF"),
        _format_rubric(SERVICE_RULE),
    ),
    "set-up": (
        RESTORED_TEXT,
        _format_client("A1", "B1"),
        _format_goal("whole", "Sales is SYNCHRONIZED and Sales on B1 is MIRROR", 'hold = "3s"'),
        _format_step("60 sql B1 ALTER ENDPOINT Mirroring STATE = STARTED"),
        _format_step("+5 sql A1 ALTER DATABASE Sales SET PARTNER = 'TCP://B1:5022'"),
        _format_rubric(PROTECTION_RULE, SERVICE_RULE),
    ),
}

KNOWN_PLANS: Final[dict[str, tuple[tuple[str, ...], Sequence[str]]]] = {
    "primary-lost": (
        ("61 sql N2 ALTER AVAILABILITY GROUP AG1 FAILOVER",),
        (
            AG_TEXT,
            _format_client("AGL1"),
            _format_event("power-off N1", 'at = "60s"'),
            _format_goal("served", "Sales serves and APP on N2 is CONNECTED", 'weight = 2\nafter = "65s"'),
            _format_goal("third", "Sales on N3 is SYNCHRONIZING", 'after = "65s"\nhold = "3s"'),
            _format_step("+60 sql N2 ALTER AVAILABILITY GROUP AG1 FAILOVER", "N1 is OFF"),
            _format_rubric(SERVICE_RULE, ("lost_transactions", 10, "limit = 100")),
        ),
    ),
    "nobody-to-fail-over-to": (
        ("41 start-cluster N2", "111 power-on N1"),
        (
            FCI_TEXT,
            _format_client("SQLFCI1"),
            _format_event("stop-cluster N2", 'at = "40s"'),
            _format_event("power-off N1", 'at = "110s"'),
            _format_goal(
                "served", "Sales serves and APP on SQLFCI1 is CONNECTED", 'weight = 2\nafter = "115s"'
            ),
            _format_goal("whole", "N1 is MEMBER and N2 is MEMBER", 'after = "115s"\nhold = "3s"'),
            _format_step("+30 start-cluster N2", "N1 is OFF"),
            _format_step("+10 power-on N1"),
            _format_rubric(SERVICE_RULE),
        ),
    ),
    "link-before-principal": (
        ("41 mend A1 B1", "151 power-on A1"),
        (
            _format_servers("A1", "B1", "W1"),
            _format_session("Sales", "A1", "B1", "W1"),
            _format_client("A1", "B1"),
            _format_event("cut A1 B1", 'at = "40s"'),
            _format_event("power-off A1", 'at = "150s"'),
            _format_goal(
                "served", "Sales serves on B1 and APP on B1 is CONNECTED", 'weight = 2\nwithin = "250s"'
            ),
            _format_goal(
                "whole", "Sales is SYNCHRONIZED and Sales on A1 is MIRROR", 'after = "155s"\nhold = "3s"'
            ),
            _format_step("+60 mend A1 B1", "Sales is DISCONNECTED"),
            _format_step("+20 power-on A1", "A1 is OFF"),
            _format_rubric(SERVICE_RULE, PROTECTION_RULE),
        ),
    ),
}
"""Name -> a good plan, and the parts of the drill. The reference solution is slower than the plan."""

LENGTH: Final = "8min"


def list_scenarios() -> list[Scenario]:
    return [_build_scenario(name, parts) for name, parts in DRILLS.items()]


def build_known_drills() -> dict[str, tuple[tuple[str, ...], Scenario]]:
    return {name: (best, _build_scenario(name, parts)) for name, (best, parts) in KNOWN_PLANS.items()}


def _build_scenario(name: str, parts: Sequence[str]) -> Scenario:
    return load_scenario(
        SCENARIO_HEAD.format(title=name, length=LENGTH) + "".join(parts) + FIDELITY_TEXT, f"{name}.toml"
    )


FIDELITY_TEXT: Final = """
[fidelity]
modelled = "All."
simplified = "Some."
absent = "None."
"""
