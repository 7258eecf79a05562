"""Windows Server Failover Clustering: membership, quorum, roles, and failover cluster instances."""

from engine.cluster.preconditions import list_instance_preconditions
from engine.protocol.group_policies import UNGROUPED_PRECONDITION_LISTERS

UNGROUPED_PRECONDITION_LISTERS.append(list_instance_preconditions)
