"""Mirrored database: a principal on one server and its mirror on another.

The Microsoft white papers measure this setup, and the planner assumes it.
"""

from __future__ import annotations

from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

from engine.field_types import FieldOf
from engine.flow.flow import Flow
from engine.flow.setup import ServerHardware, SourceSetup, StreamSetup, Workload


class SafetyMode(IntEnum):
    """Safety mode of a session. It decides whether a commit waits for the mirror."""

    NONE = 0  # no mirror
    FULL = 1  # a commit waits until the mirror has hardened its log
    OFF = 2  # log is sent after it is written locally; no commit waits


class MirroringSetup(Struct, frozen=True):
    """Setups of a principal database and, if it is mirrored, of the stream of its log to the mirror."""

    source: SourceSetup
    stream: StreamSetup | None

    @property
    def mode(self) -> SafetyMode:
        """Return the safety mode of the session."""
        return (
            SafetyMode.NONE
            if self.stream is None
            else SafetyMode.FULL
            if self.stream.awaited
            else SafetyMode.OFF
        )

    def with_changes(self, **changes: FieldOf[SourceSetup | StreamSetup]) -> MirroringSetup:
        """Return a copy in which *changes* replace fields of the source or the stream, by field name.

        *site* applies to both servers. Raise TypeError for an unknown field.
        """
        source_fields = SourceSetup.__struct_fields__
        ours = {name: value for name, value in changes.items() if name in source_fields}
        stream_changes = {
            name: value for name, value in changes.items() if name not in source_fields or name == "site"
        }
        stream = replace(self.stream or StreamSetup(site=self.source.site), **stream_changes)
        return MirroringSetup(replace(self.source, **ours), stream if self.stream is not None else None)


def build_mirroring_setup(
    site: ServerHardware, workload: Workload, mode: SafetyMode, **changes: FieldOf[SourceSetup | StreamSetup]
) -> MirroringSetup:
    """Return a database on instance 0 and, unless *mode* is NONE, its synchronized mirror on instance 1.

    *changes*: values of other fields, by field name.
    """
    stream = StreamSetup(
        site=site, target_host=1, connected=True, carrying=True, awaited=mode is SafetyMode.FULL
    )
    return MirroringSetup(SourceSetup(site=site, workload=workload), stream if mode else None).with_changes(
        **changes
    )


def add_mirroring_setup(flow: Flow, pair: MirroringSetup) -> int:
    """Add the source of *pair* and, if it is mirrored, its stream. Return the number of the source."""
    source = flow.add_source(pair.source)
    if pair.stream is not None:
        flow.add_stream(source, pair.stream)
    return source
