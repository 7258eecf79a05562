"""A PowerShell prompt on a node: the cmdlets with which DBAs look at a failover cluster and change it."""

from engine.powershell.prompt import run

__all__ = ["run"]
