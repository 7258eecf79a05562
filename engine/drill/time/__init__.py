"""A run's past: kept moments, looking back, branches, and playing a recorded run again.

Guarantees
    A restored drill is independent and equal to the drill at that tick: the same inputs give the same states, events
    and hashes. Snapshots are a cache. Any of them can be dropped, because a run is its scenario, seed and journal. A
    replay of a recorded run is compared with the recorded hashes, and the first divergence is named.

How it works
    history.py stores a snapshot before an input, if the run has advanced far enough since the last one. It restores a
    tick from the latest earlier snapshot and plays the journal from there. snapshots.py stores the world without its
    past: events, samples and journal are prefixes of the run's own lists. World parts are immutable structs, so
    snapshots share unchanged parts. snapshot_blocks.py divides long dictionaries and lists into blocks and shares equal
    blocks. packed_results.py compresses large result sets. event_log.py is an append-only list with indexes by kind.

    branches.py keeps the tree of runs after rewinds: a rewind leaves the old branch intact. cooperative_tasks.py plays
    in slices, so that a window stays responsive during a long replay. verify.py compares a replay with its record.

Memory
    The distance of snapshots grows with the length of the run. Of too many, the one that is replayed fastest for its
    age is dropped. Hours of a run with a hundred databases stay within a fixed limit.

Why this way
    Retry, branches, review and the search for par all need "the run as it was at t". One mechanism serves them all.

Rejected
    Inverse operations for undo: every rule of the protocol would need one. Deep copies: a world of a hundred databases
    takes tens of milliseconds and megabytes each. Storing all states on disk: decision 2 keeps recordings small.
"""
