"""Files on the servers' drives: backups and certificates, resolution of paths, and the duration of a copy."""

import re
from typing import Final

from engine.constants import BACKUP_KB_PER_S
from engine.messages import SqlError
from engine.model import DatabaseCopy, World
from engine.model.world import StoredFile
from engine.protocol import network, volumes

SHARE_PATH: Final = re.compile(r"\\\\(?P<host>[^\\]+)\\(?P<share>[^\\]+)\\(?P<rest>.+)")
ETHERNET_PAYLOAD_SHARE: Final = 0.949
"""Payload share of an Ethernet frame, 1460 / 1538 bytes. Derived (also in flow/sites.toml)."""

NO_FILE: Final = "2(The system cannot find the file specified.)"
NO_PATH: Final = "3(The system cannot find the path specified.)"
DISK_FULL: Final = "112(There is not enough space on the disk.)"
DEVICE_NOT_READY: Final = "21(The device is not ready.)"
NO_NETWORK_PATH: Final = "53(The network path was not found.)"


NULL_DEVICE: Final = "NUL"


def is_null_device(path: str) -> bool:
    """Return whether *path* is the device that discards all data. [DOC: backup devices]."""
    return path.rstrip(":").upper() == NULL_DEVICE


def locate_path(world: World, server: str, path: str) -> tuple[str, str]:
    r"""Return (server, local path) of the file that *server* calls *path*.

    `\\SERVER_B\share\x` is D:\share\x of SERVER_B. Raise 3201 if the drive or the other server does not
    exist.
    """
    if is_null_device(path):
        return server, NULL_DEVICE
    share_match = SHARE_PATH.match(path)
    if share_match is None:
        local = path if volumes.get_drive_letter(path) else f"{volumes.BACKUP_FOLDER}\\{path}"
        _require_drive(world, server, local, path)
        return server, local
    name = share_match["host"].split(".")[0].lower()
    host = next((instance for instance in world.instances if instance.lower() == name), None)
    if host is None or not world.get_computer_of(host).powered or not _can_reach(world, server, host):
        raise SqlError(3201, path, NO_NETWORK_PATH, also=(3013,))
    share = share_match["share"]
    local = (
        f"{share[0]}:\\{share_match['rest']}"
        if share.endswith("$")
        else f"D:\\{share}\\{share_match['rest']}"
    )
    _require_drive(world, host, local, path)
    return host, local


def _require_drive(world: World, server: str, local: str, path: str) -> None:
    if not volumes.has_drive(world.get_computer_of(server), volumes.get_drive_letter(local)):
        raise SqlError(3201, path, NO_PATH, also=(3013,))


def _can_reach(world: World, server: str, host: str) -> bool:
    return server == host or network.can_exchange_packets(world, server, host)


PAGE_BYTES: Final = 8192
"""Size of a page in bytes. Documented."""

LOST_FILE_PAGE_NUMBER: Final = 1_234
"""Page number in error 823 about a lost data file. Assumed."""


def build_io_error_arguments(copy: DatabaseCopy, operation: str) -> tuple[object, ...]:
    """Return the arguments of error 823 for an *operation* (read or write) on a data file of a lost volume."""
    return (
        DEVICE_NOT_READY,
        operation,
        LOST_FILE_PAGE_NUMBER * PAGE_BYTES,
        volumes.get_file_path(copy, volumes.list_copy_files(copy)[0]),
    )


def find_file(world: World, server: str, path: str) -> StoredFile | None:
    """Return the file at a local path, or None. Case does not matter."""
    name = find_path_spelling(world, server, path)
    return world.files.get((server, name))


def find_path_spelling(world: World, server: str, path: str) -> str:
    """Return the path in the spelling of an existing file, or *path* itself if no such file exists."""
    if (server, path) in world.files:
        return path
    lower_path = path.lower()
    return next(
        (name for server_name, name in world.files if server_name == server and name.lower() == lower_path),
        path,
    )


def compute_disk_transfer_s(world: World, server: str, size_kb: float) -> float:
    """Return the time that a data drive of the server needs to write or read *size_kb*, in seconds."""
    return size_kb / BACKUP_KB_PER_S * world.get_computer_of(server).data_disk_factor


def compute_file_copy_s(world: World, a: str, b: str, size_kb: float) -> float:
    """Return the time to copy *size_kb* between two servers, in seconds.

    The slowest of the two drives and the network determines the time.
    """
    slowest = max(compute_disk_transfer_s(world, a, size_kb), compute_disk_transfer_s(world, b, size_kb))
    if a == b:
        return slowest
    path = network.get_link(world, a, b)
    rate_kb_per_s = path.bandwidth_mbps * 1e6 / 8.0 / 1024.0 * ETHERNET_PAYLOAD_SHARE * (1.0 - path.loss)
    return max(slowest, size_kb / rate_kb_per_s)
