"""Snapshots of a drill without its past, so that hundreds of them need little memory."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable, Mapping, Sequence
from operator import is_
from typing import Final, Generic, TypeVar

import numpy as np
from msgspec import Struct

from engine.drill.running.state import DrillState, StorageRule, list_attributes_with_rule
from engine.drill.time.event_log import EventLog
from engine.flow import Array, Samples
from engine.model import Tick
from engine.model.world import FieldUse, PartKey, list_parts
from engine.protocol.errorlog import ERROR_LOG_LINES_MAX

# --- storage of dictionaries and lists in blocks, which snapshots share -----------------------------------
# A block that is no longer compared with later ones can be compressed to a tenth. It is decompressed at every
# read.

ENTRIES_PER_SNAPSHOT_BLOCK: Final = 32
"""Number of entries in a block. Assumed.

With fewer entries, the blocks need more memory; with more entries, each change copies more.
"""

COMPRESSION_LEVEL: Final = 1
"""Compression level of zlib, the fastest. It reduces the flow of a hundred databases from 100 to 12 KB in 0.5
ms.
"""


class EntryBlock:
    """Immutable group of entries, which can be compressed."""

    __slots__ = ("_entries", "_packed")

    def __init__(self, entries: tuple[object, ...]) -> None:
        self._entries = entries
        self._packed = b""

    @property
    def entries(self) -> tuple[object, ...]:
        """Entries of the block.

        After compression, every read returns new objects. They are equal to the originals and have the same
        types.
        """
        if not self._packed:
            return self._entries
        entries: tuple[object, ...] = pickle.loads(zlib.decompress(self._packed))
        return entries

    def pack(self) -> None:
        """Compress the block. Every later read decompresses it."""
        if not self._packed:
            output = pickle.dumps(self._entries, pickle.HIGHEST_PROTOCOL)
            self._packed = zlib.compress(output, COMPRESSION_LEVEL)
            self._entries = ()

    def has_same_entries(self, entries: tuple[object, ...]) -> bool:
        """Return whether the block contains exactly these objects.

        Equality is not sufficient: 1 and 1.0 are equal, but result in different hashes.
        """
        return (
            not self._packed and len(entries) == len(self._entries) and all(map(is_, entries, self._entries))
        )


class BlockCollection(Struct, frozen=True):
    """State of a dictionary (keys and values) or list (only values) at one time, stored in blocks."""

    keys: tuple[EntryBlock, ...]
    values: tuple[EntryBlock, ...]

    def as_dict(self) -> dict[object, object]:
        """Return the dictionary with its entries in the original order."""
        return {
            key: value
            for keys, values in zip(self.keys, self.values, strict=True)
            for key, value in zip(keys.entries, values.entries, strict=True)
        }

    def as_list(self) -> list[object]:
        """Return the list."""
        return [value for values in self.values for value in values.entries]

    def pack(self, newest: BlockCollection) -> None:
        """Compress the blocks that *newest*, a later state of the same collection, does not share."""
        if self is not newest:
            for block in set(self.values).difference(newest.values):
                block.pack()


def split_into_blocks(
    collection: Mapping[PartKey, object] | Sequence[object], previous: BlockCollection | None = None
) -> BlockCollection:
    """Split *collection* into blocks. Blocks equal to those of *previous*, an earlier state, are shared."""
    keys = (
        _split_entries(collection, previous.keys if previous is not None else ())
        if isinstance(collection, dict)
        else ()
    )
    values = _split_entries(
        collection.values() if isinstance(collection, dict) else collection,
        previous.values if previous is not None else (),
    )
    if previous is not None and keys is previous.keys and values is previous.values:
        return previous
    return BlockCollection(keys, values)


def _split_entries(entries: Iterable[object], previous: tuple[EntryBlock, ...]) -> tuple[EntryBlock, ...]:
    entry_list = tuple(entries)
    blocks = []
    for number, start in enumerate(range(0, len(entry_list), ENTRIES_PER_SNAPSHOT_BLOCK)):
        block_entries = entry_list[start : start + ENTRIES_PER_SNAPSHOT_BLOCK]
        is_known = number < len(previous) and previous[number].has_same_entries(block_entries)
        blocks.append(previous[number] if is_known else EntryBlock(block_entries))
    return previous if len(blocks) == len(previous) and all(map(is_, blocks, previous)) else tuple(blocks)


def pack_array(array: Array) -> bytes:
    """Compress *array*. `unpack_array` reverses this."""
    return zlib.compress(array.tobytes(), COMPRESSION_LEVEL)


def unpack_array(packed: bytes, template: Array) -> Array:
    """Decompress the result of `pack_array` to an array with the type and the row shape of *template*."""
    flat = np.frombuffer(bytearray(zlib.decompress(packed)), dtype=template.dtype)
    return flat.reshape(-1, *template.shape[1:])


State = TypeVar("State", bound=DrillState)

LOG_ATTRIBUTES: Final = list_attributes_with_rule(StorageRule.LOG)
"""Append-only lists of a drill, in addition to events and samples."""

BLOCK_WORLD_PARTS: Final = list_parts(FieldUse.BLOCKS)
"""Parts of a world that snapshots store in blocks. Lines of ERRORLOGs are omitted, because events contain
them.
"""

BLOCK_DRILL_PARTS: Final = list_attributes_with_rule(StorageRule.BLOCKS)
"""Dictionaries of the drill that grow with the run."""

FLOW_SETUPS: Final = ("source_setups", "stream_setups")
"""Lists of source and stream setups in the flow model. Snapshots treat them like parts of the world."""

PACKED_PARTS: Final = frozenset((*list_parts(FieldUse.PACK), *FLOW_SETUPS))
"""Parts with an entry per database, stored compressed: most entries differ between distant snapshots."""

FLOW_ARRAYS: Final = ("sources", "streams", "source_params", "stream_params", "history")
"""Arrays of the flow with a row per database. They are always compressed, because every tick changes them."""

NO_EVENTS: Final = EventLog()
"""Empty log in place of the events, which snapshots do not store."""
NO_SAMPLES: Final = Samples(exact=False)
"""Empty object in place of the samples, which snapshots do not store."""


class HistoryLengths(Struct, frozen=True):
    """Lengths of the append-only data at the time of a snapshot."""

    logs: tuple[int, ...]
    """Number of entries of each list in LOG_ATTRIBUTES."""
    events: int
    samples: int
    """Number of samples."""
    sample_interval_ticks: int
    """Ticks between two samples after the snapshot."""

    @property
    def input_count(self) -> int:
        """Number of inputs in the journal."""
        return self.logs[LOG_ATTRIBUTES.index("journal")]

    @property
    def hash_count(self) -> int:
        """Number of state hashes."""
        return self.logs[LOG_ATTRIBUTES.index("hashes")]


class RunSnapshot(Struct, Generic[State], frozen=True):
    """Snapshot of a run without its history.

    Of journal, events and other append-only data, only the lengths are stored (*lengths*). The other parts
    are stored in blocks.
    """

    drill: State
    """Drill without the parts that are stored separately."""
    parts: tuple[BlockCollection, ...]
    """Blocks of BLOCK_WORLD_PARTS, FLOW_SETUPS and BLOCK_DRILL_PARTS, in this order."""
    arrays: tuple[bytes, ...]
    """Compressed arrays of FLOW_ARRAYS, in this order."""
    lengths: HistoryLengths

    @property
    def tick(self) -> Tick:
        """Tick of the snapshot."""
        return self.drill.tick

    @property
    def input_count(self) -> int:
        """Number of inputs in the journal."""
        return self.lengths.input_count

    @property
    def event_count(self) -> int:
        """Number of events."""
        return self.lengths.events

    def restore(self, history_source: State) -> State:
        """Return an independent drill in the state of the snapshot.

        *history_source*: any drill with the same past; this function does not change it.
        """
        drill = self.drill.fork_shallow()
        part_iterator = iter(self.parts)
        for name in BLOCK_WORLD_PARTS:
            part = next(part_iterator)
            as_list = isinstance(getattr(drill.world, name), list)
            setattr(drill.world, name, part.as_list() if as_list else part.as_dict())
        flow = drill.world.flow
        for name in FLOW_SETUPS:
            setattr(flow, name, tuple(next(part_iterator).as_list()))
        for name in BLOCK_DRILL_PARTS:
            setattr(drill, name, next(part_iterator).as_dict())
        for name, packed in zip(FLOW_ARRAYS, self.arrays, strict=True):
            setattr(flow, name, unpack_array(packed, template=getattr(flow, name)))
        attach_history(drill, history_source, self.lengths)
        # Rebuild the ERRORLOG, which T-SQL can read: first the lines from before the run, then the lines of
        # the events.
        errorlogs = dict(drill.errorlog_before)
        for server in drill.world.instances:
            indexes = drill.events.find_indices(("errorlog",), server)[-ERROR_LOG_LINES_MAX:]
            if len(indexes):
                lines = drill.events.iterate_rows(indexes, ("number", "severity", "state"))
                errorlogs[server] = (*errorlogs.get(server, ()), *lines)[-ERROR_LOG_LINES_MAX:]
        drill.world.errorlog = errorlogs
        return drill

    def pack(self, newest: RunSnapshot[State]) -> None:
        """Compress the parts that *newest*, the next snapshot, does not share."""
        for name, part, later_blocks in zip(
            (*BLOCK_WORLD_PARTS, *FLOW_SETUPS), self.parts, newest.parts, strict=False
        ):
            if name in PACKED_PARTS:
                part.pack(later_blocks)


def measure_lengths(drill: DrillState) -> HistoryLengths:
    """Return the current lengths of the append-only data of *drill*."""
    logs = tuple(len(getattr(drill, name)) for name in LOG_ATTRIBUTES)
    return HistoryLengths(logs, len(drill.events), drill.samples.count, drill.samples.every)


def attach_history(drill: State, history_source: State, lengths: HistoryLengths) -> None:
    """Give *drill* the beginning of the history of *history_source*, up to *lengths*.

    Both drills can then continue independently.
    """
    for name, length in zip(LOG_ATTRIBUTES, lengths.logs, strict=True):
        setattr(drill, name, getattr(history_source, name)[:length])
    drill.events = history_source.events.copy_first(lengths.events)
    drill.samples = history_source.samples.copy_beginning(lengths.samples)
    drill.samples.every = lengths.sample_interval_ticks


def take_snapshot(drill: State, previous: RunSnapshot[State] | None = None) -> RunSnapshot[State]:
    """Return a snapshot of *drill*, which shares unchanged parts with the snapshot *previous*."""
    twin = drill.fork_shallow()
    for name in LOG_ATTRIBUTES:
        setattr(twin, name, [])
    twin.events, twin.samples = NO_EVENTS, NO_SAMPLES
    twin.world.errorlog = {}
    blocks, flow = [], twin.world.flow
    owners: list[tuple[object, str]] = [(twin.world, name) for name in BLOCK_WORLD_PARTS]
    owners += [*((flow, name) for name in FLOW_SETUPS), *((twin, name) for name in BLOCK_DRILL_PARTS)]
    for index, (owner, name) in enumerate(owners):
        whole_object = getattr(owner, name)
        blocks.append(
            split_into_blocks(whole_object, previous.parts[index] if previous is not None else None)
        )
        setattr(owner, name, type(whole_object)())
    arrays = []
    for name in FLOW_ARRAYS:
        array = getattr(flow, name)
        arrays.append(pack_array(array))
        setattr(flow, name, np.zeros((0, *array.shape[1:])))
    return RunSnapshot(twin, tuple(blocks), tuple(arrays), measure_lengths(drill))
