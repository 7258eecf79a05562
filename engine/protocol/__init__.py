"""Who may do what: connections, quorum, roles, failover, services, clients. Plain Python, run only when due."""
