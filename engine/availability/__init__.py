"""Availability groups: replicas, data movement, failover, and their cluster role."""

from engine.availability.policy import AvailabilityPolicy
from engine.availability.role import GroupRole
from engine.cluster.roles import KINDS
from engine.protocol.group_policies import POLICIES

POLICIES["availability"] = AvailabilityPolicy()
KINDS["availability"] = GroupRole()
