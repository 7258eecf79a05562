"""A PowerShell prompt on a node: the cmdlets with which DBAs look at a failover cluster and change it."""

from engine.powershell.prompt import run_line

__all__ = ["run_line"]
