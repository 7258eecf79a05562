"""Availability groups: replicas, data movement, failover, as a role of a failover cluster."""

from engine.availability.policy import Availability
from engine.availability.role import GroupRole
from engine.cluster.roles import KINDS
from engine.protocol.groups import POLICIES

POLICIES["availability"] = Availability()
KINDS["availability"] = GroupRole()
