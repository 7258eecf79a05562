"""Parameters of each cmdlet: the existing ones, the simulated ones, and their full names.

[DOC: about parameters]
"""

from typing import Final

from msgspec.structs import replace

from engine.powershell.pipeline import CmdletCall, CommandNotSimulatedError, ShellError

_SERVICE: Final = "DisplayName PassThru Include Exclude InputObject"

PARAMETERS: Final[dict[str, str]] = {
    "get-cluster": "Name | Domain",
    "set-clusterquorum": "NoWitness/NodeMajority DiskWitness/NodeAndDiskMajority"
    " FileShareWitness/NodeAndFileShareMajority CloudWitness AccountName AccessKey | Endpoint DiskOnly InputObject",
    "get-clusternode": "Name | InputObject",
    "get-clustergroup": "Name | VMId InputObject",
    "get-clusterresource": "Name | VMId InputObject",
    "get-clusterquorum": "| InputObject",
    "get-clusterownernode": "Resource Group | ResourceType InputObject",
    "get-clusterparameter": "Name | InputObject",
    "get-clusterlog": "Node TimeSpan | Destination UseLocalTime SkipClusterState Health InputObject",
    "move-clustergroup": "Name Node Wait | IgnoreLocked InputObject",
    "start-clustergroup": "Name Wait | IgnoreLocked ChooseBestNode InputObject",
    "stop-clustergroup": "Name Wait | IgnoreLocked InputObject",
    "start-clusterresource": "Name Wait | IgnoreLocked ChooseBestNode InputObject",
    "stop-clusterresource": "Name Wait | IgnoreLocked InputObject",
    "remove-clusternode": "Name Wait Force WhatIf/wi Confirm/cf"
    " | IgnoreStorageConnectivityLoss CleanupDisks InputObject",
    "move-clusterresource": "Name Group | InputObject",
    "add-clusterresourcedependency": "Resource Provider | InputObject",
    "get-clusterresourcedependency": "Resource | Guid InputObject",
    "start-clusternode": "Name Wait ForceQuorum/fq/FixQuorum ClearQuarantine/cq PreventQuorum/pq"
    " | IgnorePersistentState/ips InputObject",
    "stop-clusternode": "Name Wait WhatIf/wi Confirm/cf | InputObject",
    "suspend-clusternode": "Name Drain TargetNode WhatIf/wi Confirm/cf | Wait ForceDrain InputObject",
    "resume-clusternode": "Name | Failback InputObject",
    "set-clusterownernode": "Resource Group Owners | InputObject",
    "set-clusterparameter": "Name Value | Multiple Create Delete InputObject",
    "get-clusternetwork": "| Name InputObject",
    "get-clusternetworkinterface": "| Name Node Network InputObject",
    "get-service": "Name | DisplayName ComputerName DependentServices RequiredServices Include Exclude InputObject",
    "restart-service": f"Name Force WhatIf/wi Confirm/cf | {_SERVICE}",
    "start-service": f"Name WhatIf/wi Confirm/cf | {_SERVICE}",
    "stop-service": f"Name Force WhatIf/wi Confirm/cf | NoWait {_SERVICE}",
    "test-netconnection": "ComputerName Port InformationLevel"
    " | CommonTCPPort TraceRoute Hops DiagnoseRouting ConstrainSourceAddress ConstrainInterface",
    "resolve-dnsname": "Name | Type Server DnsOnly CacheOnly DnssecOk DnssecCd NoHostsFile LlmnrNetbiosOnly"
    " LlmnrFallback LlmnrOnly NetbiosFallback NoIdn NoRecursion QuickTimeout TcpOnly",
    "test-path": "Path | LiteralPath PathType IsValid Include Exclude Filter NewerThan OlderThan Credential",
    "new-item": "Path ItemType Force | Name Value Credential WhatIf/wi Confirm/cf",
    "test-connection": "ComputerName Quiet | Count Delay Source BufferSize TimeToLive AsJob Credential ThrottleLimit",
    "import-module": "Name Force | Global Prefix PassThru DisableNameChecking Scope RequiredVersion Assembly",
}
"""Parameters by cmdlet: simulated ones first, then after | those that only the product has. An alias follows
its name.

Documented; each cluster cmdlet also has -Cluster.
"""

COMMON: Final = (
    "Verbose/vb Debug/db ErrorVariable/ev WarningAction/wa WarningVariable/wv InformationAction/infa "
    "InformationVariable/iv OutVariable/ov OutBuffer/ob PipelineVariable/pv"
)
"""Parameters of every cmdlet. -ErrorAction is accepted as well and has no effect: the prompt shows every error."""

_PARAMETERS_2016: Final = ("cloudwitness", "clearquarantine")
"""Parameters since Windows Server 2016."""


def _find(cmdlet: str, prefix: str) -> tuple[str, bool] | None:
    """Return (full name in lowercase, whether it is simulated) of a parameter, an alias or an unambiguous prefix."""
    known, _, others = PARAMETERS[cmdlet].partition("|")
    own = f"{known} ErrorAction/ea" + (" Cluster" if "-cluster" in cmdlet else "")
    names = [(word.lower().split("/"), True) for word in own.split()]
    names += [(word.lower().split("/"), False) for word in f"{others} {COMMON}".split()]
    exact = [(words[0], simulated) for words, simulated in names if prefix in words]
    begun = [(words[0], simulated) for words, simulated in names if words[0].startswith(prefix)]
    return exact[0] if exact else begun[0] if len(begun) == 1 else None


def resolve(call: CmdletCall, is_before_2016: bool) -> CmdletCall:
    """Return the call with full names of its parameters; *is_before_2016*: Windows before 2016.

    Raises ShellError for a parameter that does not exist, CommandNotSimulatedError for one that is not simulated.
    """
    named: dict[str, tuple[str, ...]] = {}
    for given, values in call.named.items():
        found = _find(call.name.lower(), given)
        if found is None or (is_before_2016 and found[0] in _PARAMETERS_2016):
            text = f"A parameter cannot be found that matches parameter name '{given}'."
            raise ShellError(call.name, text, "InvalidArgument", "NamedParameterNotFound")
        name, simulated = found
        if not simulated or (
            name == "wait" and values != ("0",)
        ):  # every cmdlet returns at once in this simulation
            raise CommandNotSimulatedError(f"-{given} of {call.name}")
        if name == "confirm" and values != ("$false",):
            raise CommandNotSimulatedError(f"-{given} of {call.name}")
        named[name] = values
    return replace(call, named=named)
