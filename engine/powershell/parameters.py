"""Parameters of each cmdlet: existing parameters, simulated parameters, and their full names.

[DOC: about parameters]
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.cluster.quorum import WINDOWS_VERSIONS
from engine.powershell import conversions
from engine.powershell.conversions import build_binding_error
from engine.powershell.pipeline import CmdletCall, CommandNotSimulatedError, ShellError

_SERVICE: Final = "DisplayName PassThru Include Exclude InputObject"

CMDLET_PARAMETERS: Final[dict[str, str]] = {
    "get-cluster": "Name:n | Domain",
    "set-clusterquorum": "NoWitness@2012R2/NodeMajority DiskWitness@2012R2/NodeAndDiskMajority"
    " FileShareWitness@2012R2/NodeAndFileShareMajority CloudWitness@2016 AccountName@2016 AccessKey@2016"
    " | Endpoint@2016 DiskOnly InputObject",
    "get-clusternode": "Name:n | InputObject",
    "get-clustergroup": "Name:n | VMId InputObject",
    "get-clusterresource": "Name:n | VMId InputObject",
    "get-clusterquorum": "| InputObject",
    "get-clusterownernode": "Resource/Res Group | ResourceType/ResType InputObject",
    "get-clusterparameter": "Name:n | InputObject",
    "get-clusterlog": "Node:n TimeSpan/Span:u"
    " | Destination UseLocalTime@2012/lt@2012R2 SkipClusterState@2016/scs@2016 Health@2016 InputObject",
    "move-clustergroup": "Name:n Node Wait:i | IgnoreLocked@2012 InputObject",
    "start-clustergroup": "Name:n Wait:i | IgnoreLocked@2012 ChooseBestNode@2016 InputObject",
    "stop-clustergroup": "Name:n Wait:i | IgnoreLocked@2012 InputObject",
    "start-clusterresource": "Name:n Wait:i | IgnoreLocked@2012 ChooseBestNode@2016 InputObject",
    "stop-clusterresource": "Name:n Wait:i | IgnoreLocked@2012 InputObject",
    "remove-clusternode": "Name:n Wait:i Force WhatIf@2012R2/wi@2012R2 Confirm@2012R2/cf@2012R2"
    " | IgnoreStorageConnectivityLoss@2016 CleanupDisks@2016 InputObject",
    "move-clusterresource": "Name Group | InputObject",
    "add-clusterresourcedependency": "Resource Provider | InputObject",
    "get-clusterresourcedependency": "Resource | Guid InputObject",
    "start-clusternode": "Name:n Wait:i ForceQuorum@2012R2/fq@2012/FixQuorum ClearQuarantine@2016/cq@2016"
    " PreventQuorum@2012/pq@2012R2 | IgnorePersistentState@2012/ips@2012R2 InputObject",
    "stop-clusternode": "Name:n Wait:i WhatIf@2012/wi@2012 Confirm@2012/cf@2012 | InputObject",
    "suspend-clusternode": "Name:n Drain@2012 TargetNode@2012 WhatIf@2012R2/wi@2012R2 Confirm@2012R2/cf@2012R2"
    " | Wait@2012 ForceDrain@2012R2 InputObject",
    "resume-clusternode": "Name:n | Failback@2012 InputObject",
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
    "where-object": "FilterScript Property@2012 Value@2012 EQ@2012 NE@2012 Like@2012 NotLike@2012 Match@2012"
    " NotMatch@2012 GT@2012 GE@2012 LT@2012 LE@2012 | InputObject CEQ CNE"
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
"""Cmdlet -> parameters: simulated parameters, then `|`, then parameters that only the real cmdlet has.

An alias follows the name after `/`. A type code of `conversions.DOTNET_TYPES` follows after `:` if the type
is not String. `@2012R2` after a name or an alias is the first Windows Server that has it.

Documented; each cluster cmdlet also has -Cluster. The versions are those of [DOC: failover cluster cmdlets of
2008 R2; failover cluster cmdlets of 2012; failover cluster cmdlets of 2012 R2; failover cluster cmdlets of
2016; Where-Object].
"""

CMDLETS_BY_WINDOWS: Final = {
    "2012": "resolve-dnsname",
    "2012 R2": "test-netconnection get-clustersharedvolumestate",
    "2016": "get-clusterfaultdomain new-clusterfaultdomain remove-clusterfaultdomain set-clusterfaultdomain"
    " get-clusterfaultdomainxml set-clusterfaultdomainxml update-clusterfunctionallevel get-clusterdiagnosticinfo"
    " new-clusternameaccount get-clustergroupset new-clustergroupset remove-clustergroupset set-clustergroupset",
    "2022": "get-clusteraffinityrule new-clusteraffinityrule remove-clusteraffinityrule set-clusteraffinityrule",
}
"""First version of Windows Server -> its new cmdlets. All other cmdlets exist in every version.

[DOC: failover cluster cmdlets of 2012; failover cluster cmdlets of 2012 R2; failover cluster cmdlets of 2016;
failover cluster cmdlets of 2022]
"""

COMMON_PARAMETERS: Final = (
    "Verbose/vb Debug/db ErrorVariable/ev WarningAction/wa WarningVariable/wv InformationAction/infa "
    "InformationVariable/iv OutVariable/ov OutBuffer/ob PipelineVariable/pv"
)
"""Parameters of every cmdlet. -ErrorAction is also accepted but has no effect: the prompt shows every error."""

SWITCH_PARAMETERS: Final = """
forcequorum preventquorum drain force uselocaltime clearquarantine nowitness cloudwitness ignorepersistentstate autosize
wrap descending quiet whatif confirm ignorelocked choosebestnode forcedrain cleanupdisks passthru nowait verbose debug
skipclusterstate ignorestorageconnectivityloss unique
"""
"""Parameters without a value (switches), by full name in lowercase."""


OPTIONAL_ARGUMENT_CMDLET_SUFFIXES: Final = ("-object", "-table", "-list")
"""Suffixes of the names of cmdlets whose parameters can lack an argument at this prompt."""


class CmdletParameter(Struct, frozen=True):
    """Parameter of a cmdlet."""

    name: str
    is_simulated: bool
    type_code: str
    """Type code of the argument (a key of `conversions.DOTNET_TYPES`)."""


def _is_in_version(word: str, windows: str) -> bool:
    """Return whether the parameter name *word* exists in the Windows version *windows*.

    A suffix of *word* states the first version that has the name, such as Drain@2012.
    """
    first_version = word.partition("@")[2].replace("R2", " R2")
    return not first_version or WINDOWS_VERSIONS.index(windows) >= WINDOWS_VERSIONS.index(first_version)


def require_cmdlet(name: str, windows: str) -> None:
    """Raise ShellError for a cmdlet that *windows* does not have yet."""
    for first_version, names in CMDLETS_BY_WINDOWS.items():
        if name.lower() in names.split() and WINDOWS_VERSIONS.index(windows) < WINDOWS_VERSIONS.index(
            first_version
        ):
            text = (
                f"{name} : The term '{name}' is not recognized as the name of a cmdlet, function, script file, or"
                " operable program. Check the spelling of the name, or if a path was included, verify that the path is"
                " correct and try again."
            )
            id = "CommandNotFoundException"
            raise ShellError("", text, "ObjectNotFound", id, f"{name}:String", id)


def _find_parameters(cmdlet: str, prefix: str, windows: str) -> list[CmdletParameter]:
    """Return the parameters whose name or alias begins with *prefix*.

    If *prefix* is a complete name or alias, return only the parameter with this name.
    """
    cmdlet_names, _, other_names = CMDLET_PARAMETERS[cmdlet].partition("|")
    own_names = f"{cmdlet_names} ErrorAction/ea" + (" Cluster" if "-cluster" in cmdlet else "")
    prefixed = list[CmdletParameter]()
    for words, is_simulated in ((own_names, True), (f"{other_names} {COMMON_PARAMETERS}", False)):
        for word in words.split():
            spellings, _, mark = word.partition(":")
            names = [name.partition("@")[0] for name in spellings.split("/") if _is_in_version(name, windows)]
            parameter = CmdletParameter(spellings.partition("@")[0].partition("/")[0], is_simulated, mark)
            if prefix in [name.lower() for name in names]:
                return [parameter]
            if any(name.lower().startswith(prefix) for name in names):
                prefixed.append(parameter)
    return prefixed


def is_switch(cmdlet: str, prefix: str) -> bool:
    """Return whether a parameter is a switch, which takes no value.

    *prefix*: name of the parameter or an unambiguous start of it. *cmdlet* need not exist.
    """
    found = (
        _find_parameters(cmdlet.lower(), prefix.lower(), WINDOWS_VERSIONS[-1])
        if cmdlet.lower() in CMDLET_PARAMETERS
        else []
    )
    return (found[0].name if len(found) == 1 else prefix).lower() in SWITCH_PARAMETERS.split()


def _find_single_parameter(call: CmdletCall, given_name: str, windows: str) -> CmdletParameter:
    """Return the parameter with this name, alias or unambiguous prefix. Raise ShellError if there is none."""
    found = _find_parameters(call.name.lower(), given_name.lower(), windows)
    if not found:
        text = f"A parameter cannot be found that matches parameter name '{given_name}'."
        raise build_binding_error(call, text, "NamedParameterNotFound")
    if len(found) > 1:
        matches = " ".join(f"-{parameter.name}" for parameter in found)
        text = f"Parameter cannot be processed because the parameter name '{given_name}' is ambiguous."
        raise build_binding_error(call, f"{text} Possible matches include: {matches}.", "AmbiguousParameter")
    return found[0]


def resolve_parameters(call: CmdletCall, windows: str) -> CmdletCall:
    """Return the call with the full lowercase names of its parameters.

    Raise ShellError for a parameter that this version of Windows Server does not have. Raise
    CommandNotSimulatedError for a parameter that is not simulated.
    """
    values_by_name: dict[str, tuple[str, ...]] = {}
    for given_name, values in call.named.items():
        parameter = _find_single_parameter(call, given_name, windows)
        name = parameter.name.lower()
        if parameter.type_code in conversions.NUMBER_RANGES and values:
            values = tuple(
                conversions.convert_number(call, parameter.name, value, parameter.type_code)
                for value in values
            )
        elif (
            not values
            and parameter.is_simulated
            and name not in SWITCH_PARAMETERS.split()
            and not call.name.lower().endswith(OPTIONAL_ARGUMENT_CMDLET_SUFFIXES)
        ):
            text = f"Missing an argument for parameter '{parameter.name}'. Specify a parameter of type"
            text = f"{text} 'System.{conversions.DOTNET_TYPES[parameter.type_code]}' and try again."
            raise build_binding_error(call, text, "MissingArgument")
        for value in values:
            conversions.check_parameter_value(call, parameter.name, value)
        if not parameter.is_simulated or (
            name == "wait" and values != ("0",)
        ):  # cmdlets return immediately in this simulation
            raise CommandNotSimulatedError(f"-{given_name} of {call.name}")
        if name == "confirm" and values != ("$false",):
            raise CommandNotSimulatedError(f"-{given_name} of {call.name}")
        values_by_name[name] = values
    return replace(call, named=values_by_name)
