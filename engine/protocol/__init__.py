"""Rules of SQL Server for connections, quorum, roles, failover, services and clients.

Each rule runs only when a change or a timer requires it.
"""
