"""Extended procedures about files and folders: xp_fileexist, xp_create_subdir, xp_dirtree, xp_subdirs.

Not documented; results and messages as in public output.
"""

from __future__ import annotations

from typing import Final

from engine.messages import SqlError
from engine.tsql.catalog import folders
from engine.tsql.procedures.call import ProcedureCall, Procedures, procedure


def _file_exists(call: ProcedureCall) -> None:
    found = folders.exists(call.machine.context, call.text("@path"))
    if "@found" in call.arguments:
        call.outputs["@found"] = found[0]
    else:
        call.show(("File Exists", "File is a Directory", "Parent Directory Exists"), [found])


def _create_folder(call: ProcedureCall) -> None:
    """Accept the folder, which always exists if its drive does."""
    if not any(folders.exists(call.machine.context, call.text("@path"))):
        raise SqlError(22048, "xp_create_subdir", 3, "The system cannot find the path specified.")


def _tree(call: ProcedureCall) -> None:
    deepest, with_files = call.number("@depth"), call.number("@file")
    rows = [
        (name, depth, int(is_file))[: 3 if with_files else 2]
        for name, depth, is_file in folders.list_descendants(call.machine.context, call.text("@path"))
        if (with_files or not is_file) and (not deepest or depth <= deepest)
    ]
    call.show(("subdirectory", "depth", "file")[: 3 if with_files else 2], rows)


def _folders(call: ProcedureCall) -> None:
    found = folders.list_descendants(call.machine.context, call.text("@path"))
    call.show(("subdirectory",), [(name,) for name, depth, is_file in found if depth == 1 and not is_file])


PROCEDURES: Final[Procedures] = {
    "xp_fileexist": procedure(_file_exists, "@path @found?"),
    "xp_create_subdir": procedure(_create_folder, "@path"),
    "xp_dirtree": procedure(_tree, "@path @depth? @file?"),
    "xp_subdirs": procedure(_folders, "@path"),
}
