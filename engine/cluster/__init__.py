"""Windows Server Failover Clustering: membership, quorum, roles, and failover cluster instances."""

from engine.cluster.preconditions import list_instance_preconditions
from engine.protocol.groups import PRECONDITION_SOURCES

PRECONDITION_SOURCES.append(list_instance_preconditions)
