"""Rules of the protocol: connections, quorum, roles, failover, services and clients.

Each rule runs only when it is due.
"""
