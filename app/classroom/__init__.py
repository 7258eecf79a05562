"""Classes with several participants: seats connect to a host, which stores and replays their logs.

Exports prove the results, because anyone can replay the logs that they contain.

A seat is defined by a scenario, a seed and its log of actions. From these, the host computes everything on
the class dashboard. No Qt.

Guarantees
    A score is the result of the host's own replay; no seat can report one. An input that the host has
    acknowledged survives any crash of host or seat. Each input counts once. A seat without a network plays
    the same drill and hands in the same log as a file. Two people with the same scenario, seed and inputs get
    the same result.

The protocol
    1. A seat connects with a code that contains the fingerprint of the host's certificate, so the first
    connection is authenticated (join_code.py). It sends its token and the number of its last entry.
    2. The host answers with the assignment (scenario, seed, limits) and the number of its own last entry. The
    seat sends the entries that the host lacks.
    3. The seat writes each input to its own log (seat_log.py), applies it, and sends it with a number. At
    intervals, it adds the hash of its state. It does not wait for the host.
    4. The host stores entries in one transaction (record.py, writer.py), then acknowledges them.
    5. Worker processes replay all logs (replay_verifier.py, verdict.py). The dashboard shows only their
    results. A long run yields to other seats after one second (workers.py), so an endless batch delays only
    its own seat.
    6. The host sends instructions to seats: freeze, time limit, inject, message, rewind. Each has a number,
    is stored before it is sent, and is answered by an entry of the log (instructions.py).
    Messages are JSON objects with a kind. msgspec validates each message on receipt (messages/).
    seat_phase.py has the table of phases and events of a seat.

Several hosts
    The database is authoritative. bus.py only reports which seats have changed. A host that misses a message
    rereads the record. A host that stays silent is considered lost. Its seats reconnect to another host.

Reasons for this design
    A log of inputs is small, survives bad networks, and proves the result. See decisions 2, 3 and 13.

Rejected alternatives
    Remote play on the host: every click would wait for the network. Signed scores from seats: a modified
    program signs anything. Screen video: it proves nothing and costs bandwidth.
"""
