"""Server for real SQL clients: each simulated instance speaks TDS 7.1 to 7.4 on a port of this computer. Without Qt.

Section numbers in this package are those of [MS-TDS], Tabular Data Stream Protocol, in its edition for TDS 8.0. Pure
functions read and write bytes; only `listener` and `session` use sockets.
"""
