"""Files and folders of a server as T-SQL functions show them: backups, certificates, database files.

Every folder on an existing drive exists, as BACKUP also assumes. The simulation does not create or delete
folders.
"""

from collections.abc import Iterator

from engine.messages import SqlError
from engine.protocol import files, volumes
from engine.tsql.batches.context import StatementContext
from engine.tsql.catalog.databases import list_file_rows


def _list_all_paths(context: StatementContext, host: str) -> Iterator[str]:
    """Yield the paths of all files on a host."""
    yield from (path for file_host, path in context.world.files if file_host == host)
    if host == context.server.name:
        yield from (str(row["physical_name"]) for row in list_file_rows(context))


def get_path_flags(context: StatementContext, path: str) -> tuple[int, int, int]:
    """Return (file exists, path is a folder, parent folder exists), each 0 or 1."""
    bare_path = path.rstrip("\\")
    if not bare_path or (not bare_path.startswith("\\\\") and not volumes.get_drive_letter(bare_path)):
        return 0, 0, 0
    try:
        host, local = files.locate_path(context.world, context.server.name, f"{bare_path}\\x")
    except SqlError:
        return 0, 0, 0
    lower_path = local.removesuffix("\\x").lower()
    if any(file_path.lower() == lower_path for file_path in _list_all_paths(context, host)):
        return 1, 0, 1
    return (0, 0, 1) if "." in lower_path.rpartition("\\")[2] else (0, 1, 1)


def list_descendants(context: StatementContext, path: str) -> list[tuple[str, int, bool]]:
    """Return (name, depth from 1, True for a file) for each file and folder below the folder *path*."""
    try:
        host, local = files.locate_path(context.world, context.server.name, path.rstrip("\\") + "\\x")
    except SqlError:
        return []
    start = local[:-1].lower()
    descendants: dict[tuple[str, ...], bool] = {}
    for file_path in _list_all_paths(context, host):
        if file_path.lower().startswith(start):
            parts = tuple(file_path[len(start) :].split("\\"))
            for length in range(1, len(parts) + 1):
                descendants[parts[:length]] = length == len(parts)
    return [(parts[-1], len(parts), descendants[parts]) for parts in sorted(descendants)]
