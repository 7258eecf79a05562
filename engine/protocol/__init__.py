"""Protocol of SQL Server: rules for connections, quorum, roles, failover, services and clients.

Each rule runs only when it is due.
"""
