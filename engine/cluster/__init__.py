"""Windows Server Failover Clustering: membership, quorum, roles, and instances that move from node to node."""
