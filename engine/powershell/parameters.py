"""Parameters of each cmdlet: the existing ones, the simulated ones, and their full names.

[DOC: about parameters]
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.powershell import conversions
from engine.powershell.conversions import build_binding_error
from engine.powershell.pipeline import CmdletCall, CommandNotSimulatedError

_SERVICE: Final = "DisplayName PassThru Include Exclude InputObject"

PARAMETERS: Final[dict[str, str]] = {
    "get-cluster": "Name:n | Domain",
    "set-clusterquorum": "NoWitness/NodeMajority DiskWitness/NodeAndDiskMajority"
    " FileShareWitness/NodeAndFileShareMajority CloudWitness AccountName AccessKey | Endpoint DiskOnly InputObject",
    "get-clusternode": "Name:n | InputObject",
    "get-clustergroup": "Name:n | VMId InputObject",
    "get-clusterresource": "Name:n | VMId InputObject",
    "get-clusterquorum": "| InputObject",
    "get-clusterownernode": "Resource Group | ResourceType InputObject",
    "get-clusterparameter": "Name:n | InputObject",
    "get-clusterlog": "Node:n TimeSpan:u | Destination UseLocalTime SkipClusterState Health InputObject",
    "move-clustergroup": "Name:n Node Wait:i | IgnoreLocked InputObject",
    "start-clustergroup": "Name:n Wait:i | IgnoreLocked ChooseBestNode InputObject",
    "stop-clustergroup": "Name:n Wait:i | IgnoreLocked InputObject",
    "start-clusterresource": "Name:n Wait:i | IgnoreLocked ChooseBestNode InputObject",
    "stop-clusterresource": "Name:n Wait:i | IgnoreLocked InputObject",
    "remove-clusternode": "Name:n Wait:i Force WhatIf/wi Confirm/cf"
    " | IgnoreStorageConnectivityLoss CleanupDisks InputObject",
    "move-clusterresource": "Name Group | InputObject",
    "add-clusterresourcedependency": "Resource Provider | InputObject",
    "get-clusterresourcedependency": "Resource | Guid InputObject",
    "start-clusternode": "Name:n Wait:i ForceQuorum/fq/FixQuorum ClearQuarantine/cq PreventQuorum/pq"
    " | IgnorePersistentState/ips InputObject",
    "stop-clusternode": "Name:n Wait:i WhatIf/wi Confirm/cf | InputObject",
    "suspend-clusternode": "Name:n Drain TargetNode WhatIf/wi Confirm/cf | Wait ForceDrain InputObject",
    "resume-clusternode": "Name:n | Failback InputObject",
    "set-clusterownernode": "Resource Group Owners:n | InputObject",
    "set-clusterparameter": "Name Value | Multiple Create Delete InputObject",
    "get-clusternetwork": "| Name InputObject",
    "get-clusternetworkinterface": "| Name Node Network InputObject",
    "get-service": "Name:s | DisplayName ComputerName DependentServices RequiredServices Include Exclude InputObject",
    "restart-service": f"Name:s Force WhatIf/wi Confirm/cf | {_SERVICE}",
    "start-service": f"Name:s WhatIf/wi Confirm/cf | {_SERVICE}",
    "stop-service": f"Name:s Force WhatIf/wi Confirm/cf | NoWait {_SERVICE}",
    "test-netconnection": "ComputerName Port:i InformationLevel"
    " | CommonTCPPort TraceRoute Hops DiagnoseRouting ConstrainSourceAddress ConstrainInterface",
    "resolve-dnsname": "Name | Type Server DnsOnly CacheOnly DnssecOk DnssecCd NoHostsFile LlmnrNetbiosOnly"
    " LlmnrFallback LlmnrOnly NetbiosFallback NoIdn NoRecursion QuickTimeout TcpOnly",
    "test-path": "Path:s | LiteralPath PathType IsValid Include Exclude Filter NewerThan OlderThan Credential",
    "new-item": "Path:s ItemType Force | Name Value Credential WhatIf/wi Confirm/cf",
    "test-connection": "ComputerName:s Quiet | Count Delay Source BufferSize TimeToLive AsJob Credential ThrottleLimit",
    "import-module": "Name:s Force | Global Prefix PassThru DisableNameChecking Scope RequiredVersion Assembly",
    "where-object": "FilterScript Property Value EQ NE Like NotLike Match NotMatch GT GE LT LE | InputObject CEQ CNE"
    " CGT CGE CLT CLE CLike CNotLike CMatch CNotMatch Contains CContains NotContains CNotContains In CIn NotIn CNotIn"
    " Is IsNot Not",
    "foreach-object": "Process MemberName | InputObject Begin End RemainingScripts ArgumentList",
    "sort-object": "Property Descending | InputObject Unique CaseSensitive Culture Top Bottom",
    "measure-object": "| Property InputObject Sum Average Maximum Minimum Line Word Character IgnoreWhiteSpace",
    "select-object": "Property First:i ExpandProperty | InputObject ExcludeProperty Last Skip SkipLast Unique Index"
    " Wait",
    "format-table": "Property AutoSize Wrap | InputObject HideTableHeaders GroupBy View ShowError DisplayError Force"
    " Expand",
    "format-list": "Property | InputObject GroupBy View ShowError DisplayError Force Expand",
}
"""Parameters by cmdlet: simulated ones first, then after | those that only the product has. An alias follows
its name, `:` and a mark of TYPES the name of one with another type than String.

Documented; each cluster cmdlet also has -Cluster.
"""

COMMON: Final = (
    "Verbose/vb Debug/db ErrorVariable/ev WarningAction/wa WarningVariable/wv InformationAction/infa "
    "InformationVariable/iv OutVariable/ov OutBuffer/ob PipelineVariable/pv"
)
"""Parameters of every cmdlet. -ErrorAction is accepted as well and has no effect: the prompt shows every error."""

_PARAMETERS_2016: Final = ("cloudwitness", "clearquarantine")
"""Parameters since Windows Server 2016."""


SWITCHES: Final = """
forcequorum preventquorum drain force uselocaltime clearquarantine nowitness cloudwitness ignorepersistentstate autosize
wrap descending quiet whatif confirm ignorelocked choosebestnode forcedrain cleanupdisks passthru nowait verbose debug
skipclusterstate ignorestorageconnectivityloss unique
"""
"""Parameters without a value, by lowercase full name."""


FILTERS: Final = ("-object", "-table", "-list")
"""Ends of the names of cmdlets whose parameters may lack an argument at this prompt."""


class Parameter(Struct, frozen=True):
    """Parameter of a cmdlet."""

    name: str
    is_simulated: bool
    mark: str
    """Mark of its type in `conversions.TYPES`."""


def _find(cmdlet: str, prefix: str) -> Parameter | None:
    """Return the parameter with a name, an alias or an unambiguous prefix in lowercase."""
    cmdlet_names, _, other_names = PARAMETERS[cmdlet].partition("|")
    own_names = f"{cmdlet_names} ErrorAction/ea" + (" Cluster" if "-cluster" in cmdlet else "")
    exact, prefixed = list[Parameter](), list[Parameter]()
    for words, is_simulated in ((own_names, True), (f"{other_names} {COMMON}", False)):
        for word in words.split():
            spelling, _, mark = word.partition(":")
            names = spelling.lower().split("/")
            parameter = Parameter(spelling.split("/")[0], is_simulated, mark)
            if prefix in names:
                exact.append(parameter)
            elif names[0].startswith(prefix):
                prefixed.append(parameter)
    return exact[0] if exact else prefixed[0] if len(prefixed) == 1 else None


def is_switch(cmdlet: str, prefix: str) -> bool:
    """Return whether a parameter has no value; *cmdlet* may be unknown."""
    parameter = _find(cmdlet.lower(), prefix) if cmdlet.lower() in PARAMETERS else None
    return (parameter.name.lower() if parameter is not None else prefix) in SWITCHES.split()


def resolve(call: CmdletCall, is_before_2016: bool) -> CmdletCall:
    """Return the call with full names of its parameters; *is_before_2016*: Windows before 2016.

    Raises ShellError for a parameter that does not exist, CommandNotSimulatedError for one that is not simulated.
    """
    values_by_name: dict[str, tuple[str, ...]] = {}
    for given_name, values in call.named.items():
        parameter_name = _find(call.name.lower(), given_name)
        name = parameter_name.name.lower() if parameter_name is not None else given_name
        if parameter_name is None or (is_before_2016 and name in _PARAMETERS_2016):
            text = f"A parameter cannot be found that matches parameter name '{given_name}'."
            raise build_binding_error(call, text, "NamedParameterNotFound")
        if parameter_name.mark in conversions.NUMBERS and values:
            values = tuple(
                conversions.to_number(call, parameter_name.name, value, parameter_name.mark)
                for value in values
            )
        elif (
            not values
            and parameter_name.is_simulated
            and name not in SWITCHES.split()
            and not call.name.lower().endswith(FILTERS)
        ):
            text = f"Missing an argument for parameter '{parameter_name.name}'. Specify a parameter of type"
            text = f"{text} 'System.{conversions.TYPES[parameter_name.mark]}' and try again."
            raise build_binding_error(call, text, "MissingArgument")
        for value in values:
            conversions.check_range(call, parameter_name.name, value)
        if not parameter_name.is_simulated or (
            name == "wait" and values != ("0",)
        ):  # every cmdlet returns at once in this simulation
            raise CommandNotSimulatedError(f"-{given_name} of {call.name}")
        if name == "confirm" and values != ("$false",):
            raise CommandNotSimulatedError(f"-{given_name} of {call.name}")
        values_by_name[name] = values
    return replace(call, named=values_by_name)
