"""Detection of folders on network drives, where SQLite's locks and write-ahead log are not reliable."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

NETWORK_SYSTEMS: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "ceph", "lustre", "fuse.sshfs", "fuse.glusterfs", "davfs"}
)  # fmt: skip
"""File systems on other computers. Not 9p: virtual machines access their own disks through it."""
MOUNTS: Final = Path("/proc/self/mountinfo")
DRIVE_REMOTE: Final = 4
"""GetDriveTypeW: "The drive is a remote (network) drive"."""


def network_system(folder: Path) -> str | None:
    """Return the kind of network drive that *folder* is or will be on.

    None for a local disk, or where nobody can tell.
    """
    there = folder.absolute()
    if sys.platform == "win32":
        return _windows_drive(there)
    try:
        mounts = MOUNTS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    kind = _kind_of_mount(there.resolve(), mounts)
    return kind if kind in NETWORK_SYSTEMS else None


def _kind_of_mount(folder: Path, mounts: str) -> str | None:
    """Return the file system of the innermost mount point around *folder*.

    Among equals the last one covers the others.
    """
    best, kind = -1, None
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        point = Path(fields[4].replace("\\040", " "))
        if folder.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), after.split()[0]
    return kind


def _windows_drive(folder: Path) -> str | None:
    if folder.drive.startswith("\\\\"):
        return "share"
    if sys.platform != "win32":
        return None
    import ctypes

    found = ctypes.windll.kernel32.GetDriveTypeW(folder.anchor)
    return "network drive" if found == DRIVE_REMOTE else None
