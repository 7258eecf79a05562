"""Database mirroring: sessions of two partners and an optional witness, their states and failovers."""

from engine.mirroring.policy import MirroringPolicy
from engine.protocol.group_policies import POLICIES

POLICIES["mirroring"] = MirroringPolicy()
