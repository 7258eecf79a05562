"""PowerShell prompt on a node, with the cmdlets that DBAs use to inspect and change a failover cluster."""

from engine.powershell.prompt import run_prompt_line

__all__ = ["run_prompt_line"]
