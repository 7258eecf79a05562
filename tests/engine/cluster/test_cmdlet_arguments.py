"""Arguments of cmdlets: PowerShell's errors for invalid numbers, patterns and words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies

from engine.cluster.quorum import WINDOWS_VERSIONS
from engine.internal_errors import INTERNAL_ERROR_PREFIX
from engine.powershell.parameters import CMDLET_PARAMETERS, resolve_parameters
from engine.powershell.pipeline import CmdletCall, CommandNotSimulatedError
from tests.engine.availability.worlds import build_ag_lab
from tests.engine.cluster.test_powershell import run_cmdlet
from tests.engine.cluster.worlds import build_pair

NOT_A_NUMBER_ERROR = (
    'Cannot convert value "{0}" to type "System.{1}". Error: "Input string was not in a correct format."'
)
OUT_OF_RANGE_ERROR = (
    'Cannot convert value "{0}" to type "System.{1}". '
    'Error: "Value was either too large or too small for {2}."'
)

REFUSALS = (
    ("Get-ClusterLog -TimeSpan abc", NOT_A_NUMBER_ERROR.format("abc", "UInt32")),
    ("Get-ClusterLog -TimeSpan -5", OUT_OF_RANGE_ERROR.format("-5", "UInt32", "a UInt32")),
    ("Get-ClusterLog -TimeSpan 4294967296", OUT_OF_RANGE_ERROR.format("4294967296", "UInt32", "a UInt32")),
    ("Stop-ClusterGroup AG1 -Wait soon", NOT_A_NUMBER_ERROR.format("soon", "Int32")),
    ("Start-ClusterNode NODE_2 -Wait 3000000000", OUT_OF_RANGE_ERROR.format("3000000000", "Int32", "an Int32")),
    ("Test-NetConnection NODE_2 -Port 5022x", NOT_A_NUMBER_ERROR.format("5022x", "Int32")),
    ("Get-ClusterNode | Select-Object -First x", NOT_A_NUMBER_ERROR.format("x", "Int32")),
    ("Get-ClusterNode | select -First -1", "The -1 argument is less than the minimum allowed range of 0."),
    ("Test-NetConnection NODE_2 -Port 70000", "The 70000 argument is greater than the maximum allowed range of 65535."),
    ("Test-NetConnection NODE_2 -Port 0", "The 0 argument is less than the minimum allowed range of 1."),
    ("Test-NetConnection NODE_2 -InformationLevel Loud", 'does not belong to the set "Quiet,Detailed"'),
    ("Get-ClusterLog -TimeSpan", "Specify a parameter of type 'System.UInt32' and try again."),
    ("Get-ClusterNode -Name", "of type 'System.Collections.Specialized.StringCollection' and try again."),
    ("Set-ClusterQuorum -FileShareWitness", "Specify a parameter of type 'System.String' and try again."),
    ("Get-ClusterNode 'NODE_['", "The specified wildcard character pattern is not valid: NODE_["),
    ("Get-ClusterGroup -Name '[z-a]*'", "The specified wildcard character pattern is not valid: [z-a]*"),
    ("Get-ClusterResource '['", "The specified wildcard character pattern is not valid: ["),
    ("Get-Service 'MSSQL['", "The specified wildcard character pattern is not valid: MSSQL["),
    ("Get-ClusterNode | ft Na[", "The specified wildcard character pattern is not valid: Na["),
    ("Get-ClusterNode | ? Name -like '['", "The specified wildcard character pattern is not valid: ["),
    ("Get-ClusterNode | ? { $_.Name -notlike '[' }", "The specified wildcard character pattern is not valid: ["),
    ("Get-ClusterNode | ? Name -match '['", 'parsing "[" - Unterminated [] set.\n'),
    ("Get-ClusterNode | ? Name -notmatch '*a'", 'parsing "*a" - Quantifier {x,y} following nothing.\n'),
    ("Get-ClusterNode | ? Name -match 'a)'", "parsing \"a)\" - Too many )'s.\n"),
    ("Get-ClusterNode | ? Name -match '(a'", "parsing \"(a\" - Not enough )'s.\n"),
    ("Get-ClusterNode | ? Name -match '[b-a]'", 'parsing "[b-a]" - [x-y] range in reverse order.\n'),
    ("Get-ClusterNode | ? Name -match '(a+)+$'", 'The regular expression "(a+)+$" is not simulated.'),
    ("Get-ClusterNode | ? Name -cmatch 'a'", "-cmatch of Where-Object is not simulated."),
    ("Get-ClusterNode | sort -Bogus", "A parameter cannot be found that matches parameter name 'Bogus'."),
    ("Get-ClusterNode | measure -Sum", "-Sum of Measure-Object is not simulated."),
)  # fmt: skip


def test_a_parameter_that_is_not_simulated_needs_no_argument_to_be_refused() -> None:
    """Some of these parameters are switches, such as -Wait of Suspend-ClusterNode."""
    for cmdlet, parameters in CMDLET_PARAMETERS.items():
        for word in parameters.partition("|")[2].split():
            name = re.split("[:/@]", word)[0]
            call = CmdletCall(cmdlet, {name.lower(): ()})
            with pytest.raises(CommandNotSimulatedError):
                resolve_parameters(call, "2022")


@pytest.mark.parametrize(("line", "text"), REFUSALS, ids=[line for line, _ in REFUSALS])
def test_an_invalid_argument_is_refused(line: str, text: str) -> None:
    world = build_ag_lab(version=2019)
    before = world.compute_state_hash()
    assert text in run_cmdlet(world, line)
    assert world.compute_state_hash() == before


NAMES = {
    "Get-ClusterNode NODE_[12]": ["NODE_1", "NODE_2"],
    "Get-ClusterNode node_[!a3]": ["NODE_3"],
    "Get-ClusterNode '*_?'": ["NODE_1", "NODE_2", "NODE_3"],
    "Get-ClusterNode | ? Name -like '*[2-3]'": ["NODE_2", "NODE_3"],
    r"Get-ClusterNode | ? Name -match '^\D+_2$'": ["NODE_2"],
    "Get-ClusterNode | sort -desc Name": ["NODE_3", "NODE_2", "NODE_1"],
    "Get-ClusterNode | select -First 0x2": ["NODE_1", "NODE_2"],
    "Get-ClusterNode | select -First 1.5": ["NODE_1", "NODE_2"],
    "Get-ClusterNode | select -First 2.5": ["NODE_1", "NODE_2"],
}


@pytest.mark.parametrize(("line", "names"), NAMES.items(), ids=list(NAMES))
def test_valid_patterns_and_numbers_select_objects(line: str, names: list[str]) -> None:
    rows = run_cmdlet(build_ag_lab(), line).splitlines()[2:]
    assert [row.split()[0] for row in rows] == names


ARGUMENT_TEXTS = strategies.text("-[](){}*?+\\|;,'\"$`.0129xaN_ \t{}", max_size=12)


@settings(max_examples=300)
@given(strategies.sampled_from(sorted(CMDLET_PARAMETERS)), strategies.data())
def test_any_argument_gives_a_result(cmdlet: str, data: strategies.DataObject) -> None:
    words = [re.split("[:/@]", word)[0] for word in CMDLET_PARAMETERS[cmdlet].replace("|", "").split()]
    line = " ".join(
        [
            cmdlet,
            *(
                f"-{name} {data.draw(ARGUMENT_TEXTS)}"
                for name in data.draw(strategies.lists(strategies.sampled_from(words)))
            ),
        ]
    )
    assert INTERNAL_ERROR_PREFIX not in run_cmdlet(build_ag_lab(), f"{line} {data.draw(ARGUMENT_TEXTS)}")


REFUSING_VERSIONS = (
    # cmdlet, last Windows Server that refuses it ("" if none does), parameter in the error ("" for the
    # cmdlet)
    ("Suspend-ClusterNode N2 -Drain", "2008 R2", "Drain"),
    ("Suspend-ClusterNode N2 -TargetNode N1", "2008 R2", "TargetNode"),
    ("Resume-ClusterNode N2 -Failback Immediate", "2008 R2", "Failback"),
    ("Start-ClusterNode N2 -PreventQuorum", "2008 R2", "PreventQuorum"),
    ("Start-ClusterNode N2 -fq", "2008 R2", "fq"),
    ("Start-ClusterNode N2 -ForceQuorum", "2012", "ForceQuorum"),
    ("Start-ClusterNode N2 -pq", "2012", "pq"),
    ("Start-ClusterNode N2 -ClearQuarantine", "2012 R2", "ClearQuarantine"),
    ("Start-ClusterNode N2 -FixQuorum", "", ""),
    ("Stop-ClusterNode N2 -WhatIf", "2008 R2", "WhatIf"),
    ("Remove-ClusterNode N2 -WhatIf", "2012", "WhatIf"),
    ("Suspend-ClusterNode N2 -wi", "2012", "wi"),
    ("Stop-ClusterGroup AG1 -IgnoreLocked", "2008 R2", "IgnoreLocked"),
    ("Start-ClusterGroup AG1 -ChooseBestNode", "2012 R2", "ChooseBestNode"),
    ("Get-ClusterLog -UseLocalTime", "2008 R2", "UseLocalTime"),
    ("Get-ClusterLog -Health", "2012 R2", "Health"),
    ("Set-ClusterQuorum -NoWitness", "2012", "NoWitness"),
    ("Set-ClusterQuorum -DiskWitness Q", "2012", "DiskWitness"),
    ("Set-ClusterQuorum -CloudWitness -AccountName a -AccessKey k", "2012 R2", "CloudWitness"),
    ("Set-ClusterQuorum -NodeMajority", "", ""),
    ("Get-ClusterNode | Where State -eq Up", "2008 R2", "eq"),
    ("Test-NetConnection N2 -Port 5022", "2012", ""),
    ("Resolve-DnsName AGL1", "2008 R2", ""),
    ("Set-ClusterFaultDomain N1 -Parent Rack", "2012 R2", ""),
)


@pytest.mark.parametrize(
    ("line", "last_refusing_version", "name"),
    REFUSING_VERSIONS,
    ids=[line for line, _, _ in REFUSING_VERSIONS],
)
def test_each_version_of_windows_has_its_parameters_and_cmdlets(
    line: str, last_refusing_version: str, name: str
) -> None:
    refusal = f"A parameter cannot be found that matches parameter name '{name}'."
    if not name:
        refusal = f"The term '{line.partition(' ')[0]}' is not recognized as the name of a cmdlet, function,"
    refusing_versions = [
        windows
        for windows in WINDOWS_VERSIONS
        if refusal in run_cmdlet(build_pair("disk", windows), line, "N1")
    ]
    assert refusing_versions == list(
        WINDOWS_VERSIONS[: WINDOWS_VERSIONS.index(last_refusing_version) + 1] if last_refusing_version else ()
    )


def test_a_prefix_of_two_parameters_is_ambiguous() -> None:
    text = "the parameter name 'N' is ambiguous. Possible matches include: -Name -Node."
    assert text in run_cmdlet(build_ag_lab(), "Move-ClusterGroup AG1 -N NODE_2")
