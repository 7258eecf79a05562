"""Builder of hostile archives: it writes each entry separately, and can write false headers."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.files import bundle
from tests.engine.drill.texts import WORLD_TEXT

DRILL_TEXT = WORLD_TEXT
MANIFEST_HEAD = 'format = 1\ntitle = "A course"\n'


@dataclass
class ArchiveEntry:
    """Archive member. Its headers are computed from the content unless given."""

    name: bytes
    content: bytes = b""
    flags: int = 0
    method: int = 8
    mode: int = 0o100644
    crc: int | None = None
    size: int | None = None
    packed_content: bytes | None = None
    packed_size: int | None = None
    local_name: bytes | None = None
    extra: bytes = b""
    offset: int | None = field(default=None)
    """Offset of the member in the central directory; None means the true offset."""


def build_archive(
    entries: Sequence[ArchiveEntry], prefix: bytes = b"", suffix: bytes = b"", count: int | None = None
) -> bytes:
    """Return a ZIP archive of *entries* between *prefix* and *suffix*."""
    body, directory = bytearray(prefix), bytearray()
    for entry in entries:
        packed = entry.packed_content
        if packed is None:
            packer = zlib.compressobj(9, zlib.DEFLATED, -15)
            packed = packer.compress(entry.content) + packer.flush() if entry.method == 8 else entry.content
        crc = zlib.crc32(entry.content) if entry.crc is None else entry.crc
        size = len(entry.content) if entry.size is None else entry.size
        packed_size = len(packed) if entry.packed_size is None else entry.packed_size
        local = entry.name if entry.local_name is None else entry.local_name
        header = (entry.flags, entry.method, 0, 33, crc, packed_size, size)
        place = len(body) if entry.offset is None else entry.offset
        body += struct.pack("<4s5H3L2H", b"PK\3\4", 20, *header, len(local), 0) + local + packed
        directory += struct.pack(
            "<4s6H3L5H2L", b"PK\1\2", 0x314, 20, *header, len(entry.name), len(entry.extra), 0, 0, 0,
            entry.mode << 16, place,
        )  # fmt: skip
        directory += entry.name + entry.extra
    count = len(entries) if count is None else count
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(directory), len(body), 0)
    return bytes(body + directory + end + suffix)


def build_manifest(entries: Iterable[ArchiveEntry], head: str = MANIFEST_HEAD) -> ArchiveEntry:
    """Return a `bundle.toml` that lists *entries*."""
    listed = "".join(
        f"[[member]]\nname = {entry.name.decode('utf-8', 'replace')!r}\n"
        f"sha256 = '{hashlib.sha256(entry.content).hexdigest()}'\n"
        for entry in entries
    )
    return ArchiveEntry(bundle.MANIFEST_NAME.encode(), (head + listed).encode())


def build_valid_archive(*entries: ArchiveEntry, head: str = MANIFEST_HEAD) -> bytes:
    """Return an archive of *entries* with a manifest that lists them all."""
    return build_archive([build_manifest(entries, head), *entries])


def build_drill_entry(
    name: bytes = b"scenarios/small.toml", content: bytes = DRILL_TEXT.encode(), **fields: Any
) -> ArchiveEntry:
    return ArchiveEntry(name, content, **fields)
