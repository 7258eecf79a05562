"""A world for real SQL clients: each simulated instance speaks TDS 7.1 to 7.4 on a port of this computer. No Qt.

Section numbers in this package are those of [MS-TDS], Tabular Data Stream Protocol, in its edition for TDS 8.0. What
reads and writes bytes are pure functions; sockets are in `listener` and `session` alone.
"""
