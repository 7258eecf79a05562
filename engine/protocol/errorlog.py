"""Functions that write and read the lines of a server's ERRORLOG."""

from typing import Final

from engine.events import ErrorLogData
from engine.messages import fill_message
from engine.model import LogLine, World

ERROR_LOG_LINES_MAX: Final = 1_000
"""Maximum number of lines of an ERRORLOG that xp_readerrorlog can read. Assumed."""


def write_message(world: World, server: str, number: int, *args: object, state: int = 1) -> None:
    """Write message *number* into the ERRORLOG of *server*. An `Error: …` line precedes the text of an error."""
    if not world.instances[server].running and world.instances[server].service != "stopping":
        return
    severity, text = fill_message(number, *args, version=world.instances[server].version)
    write_line(world, server, number, severity, state, text)


def write_text(world: World, server: str, text: str) -> None:
    """Write an ERRORLOG line without a message number."""
    write_line(world, server, 0, 10, 0, text)


def write_line(world: World, server: str, number: int, severity: int, state: int, text: str) -> None:
    """Write an ERRORLOG line with its number, severity and state.

    T-SQL can read only the last ERROR_LOG_LINES_MAX lines.
    """
    line = (world.tick, number, severity, state, text)
    before = world.errorlog.get(server, ())
    world.errorlog[server] = (
        *(before if len(before) < ERROR_LOG_LINES_MAX else before[1 - ERROR_LOG_LINES_MAX :]),
        line,
    )
    world.emit(ErrorLogData(number=number, severity=severity, state=state), text, server=server)


LINE_SOURCES: Final = (
    (3_041, 3_042, "Backup"),
    (17_100, 17_136, "Server"),
    (17_140, 17_203, "Server"),
    (18_200, 18_300, "Backup"),
    (18_400, 18_500, "Logon"),
    (26_000, 27_000, "Server"),
)
"""(first message number, last message number + 1, source of these ERRORLOG lines).

Seen in published ERRORLOGs.
"""

SERVER_LINE_STARTS: Final = (
    "Microsoft SQL Server",
    "Authentication mode",
    "The service account",
    "SQL Server detected",
)
BACKUP_LINE_STARTS: Final = (
    "Database backed up.",
    "Log was backed up.",
    "Database was restored",
    "Log was restored",
)
"""First words of ERRORLOG lines about backups. Their message numbers are unknown."""

SYSTEM_SESSION_SOURCE: Final = "spid15s"
"""Source of all ERRORLOG lines without another known source: a system session. Its ID is assumed."""


def find_line_source(number: int, text: str) -> str:
    """Return the source of an ERRORLOG line: the column ProcessInfo of xp_readerrorlog."""
    if not number and text.startswith(BACKUP_LINE_STARTS):
        return "Backup"
    if not number and text.startswith(SERVER_LINE_STARTS):
        return "Server"
    return next((name for low, high, name in LINE_SOURCES if low <= number < high), SYSTEM_SESSION_SOURCE)


ARCHIVED_ERRORLOGS_MAX: Final = 6
"""Number of archived ERRORLOGs that a server keeps. Documented [DOC: sp_cycle_errorlog; configure SQL Server
error logs].
"""


def list_logs(world: World, server: str) -> list[list[LogLine]]:
    """Return the ERRORLOGs of a server, the current one first. Each begins with the line that names the product."""
    log_files: list[list[LogLine]] = [[]]
    for line in world.errorlog.get(server, ()):
        if log_files[-1] and not line[1] and line[4].startswith("Microsoft SQL Server"):
            log_files.append([])
        log_files[-1].append(line)
    return log_files[: -2 - ARCHIVED_ERRORLOGS_MAX : -1]
