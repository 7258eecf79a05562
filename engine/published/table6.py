"""Table 6 of the first white paper: failover time by cause, synchronous mirroring with witness, Workload1."""

from typing import Final

REFERENCE: Final = "Database Mirroring Best Practices and Performance Considerations (2006), Table 6"

FAILOVER_S: Final[dict[str, tuple[str, float, float]]] = {
    # cause: (row of the table, no load s, normal load s)
    "manual": ("ALTER DATABASE FAILOVER (manual failover)", 20.5, 32.2),
    "shutdown-nowait": ("SHUTDOWN WITH NOWAIT", 5.7, 8.5),
    "stop-service": ("Stop SQL Server service on principal", 3.2, 10.8),
    "shutdown-server": ("Shutdown principal server", 10.2, 15.8),
    "power-off": ("Power OFF principal server", 2.2, 2.6),
    "pull-cable": ("Pull network cable on principal connecting to mirror and witness", 1.9, 3.1),
}
"""Single samples of one hour of Workload1, without detection."""
