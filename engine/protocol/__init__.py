"""Rules of the protocol: connections, quorum, roles, failover, services, clients. Plain Python, run only when due."""
