"""Windows Server Failover Clustering: membership, quorum, roles, and failover cluster instances."""

from engine.cluster.preconditions import of_database
from engine.protocol.groups import PRECONDITION_SOURCES

PRECONDITION_SOURCES.append(of_database)
