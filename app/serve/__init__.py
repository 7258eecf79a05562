"""Server for real SQL clients: each simulated instance speaks TDS 7.1 to 7.4 and 8.0 on a port. Without Qt.

Section numbers in this package refer to [MS-TDS], Tabular Data Stream Protocol, in its edition for TDS 8.0.
Only `service`, `session`, `sql_ports` and `tds_transport` use the network. The other modules only read and
write bytes.
"""
