"""Database mirroring: sessions of two partners and an optional witness; quorum, roles, states, failover."""

from engine.mirroring.policy import MirroringPolicy
from engine.protocol.groups import POLICIES

POLICIES["mirroring"] = MirroringPolicy()
