"""Database mirroring: sessions of two partners and perhaps a witness; quorum, roles, states, failover."""

from engine.mirroring.policy import MirroringPolicy
from engine.protocol.groups import POLICIES

POLICIES["mirroring"] = MirroringPolicy()
