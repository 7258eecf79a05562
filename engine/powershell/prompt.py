"""Execution of a line at the prompt: simulated cmdlets run, all others report "not simulated"."""

import re
from functools import partial
from typing import Final

from msgspec.structs import replace

from engine.cluster import commands, quorum
from engine.events import PowerShellData
from engine.inputs import InputError
from engine.internal_errors import describe_internal_error
from engine.localization import build_message
from engine.model import World
from engine.powershell import cluster_cmdlets, computer_cmdlets, lookup, parameters, properties, services
from engine.powershell.filters import ALIASES, FILTER_CMDLETS
from engine.powershell.lookup import EMPTY_TABLE, Cmdlet
from engine.powershell.pipeline import (
    CmdletCall,
    CommandNotSimulatedError,
    PipelineTable,
    ShellError,
    parse_pipeline,
)


def run_prompt_line(world: World, node: str, line: str) -> None:
    """Run a line at the prompt of *node* and emit the result as an event.

    Raise InputError if the node has no prompt.
    """
    if not world.computers[node].powered:
        raise InputError(build_message("{node} is off", node=node))
    if node in world.nodes and world.nodes[node].service in ("off", "starting"):
        raise InputError(build_message("{node} is booting", node=node))
    command, outputs, refused = line.strip(), [], False
    for statement in split_statements(line):
        try:
            outputs.append(_execute_statement(world, node, _substitute_variables(world, node, statement)))
        except InputError as problem:
            name = re.split(r"[ )]", statement.lstrip("( "), maxsplit=1)[0]
            outputs.append(str(ShellError(name, str(problem))))
            refused = True
        except (ShellError, CommandNotSimulatedError) as problem:
            outputs.append(str(problem))
            refused = True
        except Exception as problem:  # no internal error of a cmdlet may end the drill
            outputs.append(f"Not simulated: this form of the command; {describe_internal_error(problem)}")
            refused = True
    output = "\n".join(text for text in outputs if text)
    world.emit(
        PowerShellData(node=node, command=command, output=output, refused=refused), output, server=node
    )


STATEMENT_PATTERN: Final = re.compile(r"""(?:'[^']*'|"[^"]*"|\{[^{}]*\}|[^;])+""")
"""Pattern of a statement: the text between semicolons."""
QUOTE_OR_COMMENT_PATTERN: Final = re.compile(r"""('[^']*'|"[^"]*")|(?:^|(?<=\s))#.*""")
"""Pattern of a quoted text, in which # has no meaning, or of a comment."""


def split_statements(line: str) -> list[str]:
    """Return the statements in a line, without comments."""
    code = QUOTE_OR_COMMENT_PATTERN.sub(lambda match: match[1] or "", line)
    return [part.strip() for part in STATEMENT_PATTERN.findall(code) if part.strip()]


VARIABLE: Final = re.compile(r"'[^']*'|(?<!\w)\$(?!_|true\b|false\b|null\b)(\w+)", re.IGNORECASE)
VARIABLE_ASSIGNMENT_PATTERN: Final = re.compile(r"\$(\w+)\s*=\s*(?:'([^']*)'|\"([^\"$]*)\"|(\d+))")
"""Pattern of an assignment, such as $node = "NODE_2". Variables can only hold text and numbers."""


def _substitute_variables(world: World, node: str, statement: str) -> str:
    """Return the statement with variables replaced by their values. Raise ShellError for an unknown variable."""
    if VARIABLE_ASSIGNMENT_PATTERN.fullmatch(statement):
        return statement

    def get_value(match: re.Match[str]) -> str:
        if match[1] is None:  # text in single quotes is literal
            return match[0]
        variable = world.variables.get((node, match[1].lower()))
        if variable is None:
            text = f"${match[1]} has no value; only text is simulated as the value of a variable."
            raise ShellError(statement.split()[0], text)
        return variable

    return VARIABLE.sub(get_value, statement)


def _execute_statement(world: World, node: str, line: str) -> str:
    assignment_match = VARIABLE_ASSIGNMENT_PATTERN.fullmatch(line)
    if assignment_match is not None:
        world.variables[node, assignment_match[1].lower()] = next(
            part for part in assignment_match.groups()[1:] if part is not None
        )
        return ""
    assignment_match = COMPARISON_PATTERN.fullmatch(line)
    if assignment_match is not None:
        left_value, wanted_value = (
            _execute_statement(world, node, assignment_match[1]).lower(),
            assignment_match[3].lower(),
        )
        return str(
            left_value == wanted_value if assignment_match[2].lower() == "eq" else left_value != wanted_value
        )
    assignment_match = properties.PROPERTY_ASSIGNMENT_PATTERN.fullmatch(line)
    if assignment_match is not None:
        return properties.assign_property(world, node, assignment_match)
    assignment_match = services.NET_COMMAND.fullmatch(line) or computer_cmdlets.PING_COMMAND.fullmatch(line)
    if assignment_match is not None:
        answer = (
            services.execute_net
            if assignment_match.re is services.NET_COMMAND
            else computer_cmdlets.execute_ping
        )
        return answer(world, node, *assignment_match.groups())
    if line.lower() == "hostname":
        return node
    assignment_match = MEMBER_PATTERN.fullmatch(line)
    if assignment_match is not None:
        return _read_member(_run_pipeline(world, node, assignment_match[1]), assignment_match[2], line)
    return _run_pipeline(world, node, line).render()


COMPARISON_PATTERN: Final = re.compile(r"(\(.+\)\.\w+)\s+-(eq|ne)\s+['\"]?([^'\"]*)['\"]?", re.IGNORECASE)
"""Pattern of a comparison of a property, such as (Get-ClusterNode NODE_1).State -eq "Up"."""

MEMBER_PATTERN: Final = re.compile(r"\((.+)\)\.(\w+)(?:\.Name)?", re.IGNORECASE)
"""Pattern of a property of a cmdlet's result, such as (Get-ClusterGroup AG1).OwnerNode."""


def _read_member(table: PipelineTable, name: str, line: str) -> str:
    if table.text:
        return table.text
    if name.lower() == "count" and "Count" not in table.columns:
        return str(len(table.rows))
    values = [value for row in table.rows for key, value in row.items() if key.lower() == name.lower()]
    if not values:
        raise CommandNotSimulatedError(line)
    return "\n".join(values)


PER_OBJECT_CMDLETS: Final = frozenset([
    "move-clustergroup", "start-clustergroup", "stop-clustergroup", "start-clusterresource", "stop-clusterresource",
    "start-clusternode", "stop-clusternode", "suspend-clusternode", "resume-clusternode", "remove-clusternode",
    "set-clusterparameter", "get-clusterparameter",
])  # fmt: skip
"""Cmdlets that process the objects of a list or pipeline one by one."""


def _run_cmdlet_for_each_object(
    cmdlet: Cmdlet, world: World, node: str, call: CmdletCall, table: PipelineTable | None
) -> PipelineTable:
    """Run a cmdlet of PER_OBJECT_CMDLETS once per object, and return the rows of all results.

    Run any other cmdlet only once.
    """
    if call.name.lower() not in PER_OBJECT_CMDLETS:
        return cmdlet(world, node, call, table)
    names = call.get_values("name", 0) if table is None else ()
    if table is not None and len(table.rows) > 1:
        tables = [cmdlet(world, node, call, replace(table, rows=(row,))) for row in table.rows]
    elif len(names) > 1:
        positional_values = () if "name" in call.named else call.positional_values[1:]
        tables = [
            cmdlet(
                world,
                node,
                CmdletCall(call.name, {**call.named, "name": (name,)}, ((name,), *positional_values)),
                None,
            )
            for name in names
        ]
    else:
        return cmdlet(world, node, call, table)
    return replace(tables[-1], rows=tuple(row for output in tables for row in output.rows))


def _is_switch(cmdlet: str, parameter: str) -> bool:
    return parameters.is_switch(ALIASES.get(cmdlet.lower(), cmdlet), parameter)


def _run_pipeline(world: World, node: str, line: str) -> PipelineTable:
    """Run a pipeline and return its output."""
    calls, table = parse_pipeline(line, _is_switch), None
    local_node = world.nodes.get(node)
    windows = (
        world.clusters[local_node.cluster].windows if local_node is not None else quorum.WINDOWS_VERSIONS[-1]
    )
    for call in calls:
        call = replace(call, name=ALIASES.get(call.name.lower(), call.name))
        parameters.require_cmdlet(call.name, windows)
        filtered, cmdlet = FILTER_CMDLETS.get(call.name.lower()), CMDLETS.get(call.name.lower())
        if filtered is not None:
            table = filtered(parameters.resolve_parameters(call, windows), table)
            continue
        if cmdlet is None:
            raise CommandNotSimulatedError(call.name)
        if "cluster" in call.name.lower() and call.name.lower() != "start-clusternode":
            lookup.require_cluster_service(world, node, call)
        call = parameters.resolve_parameters(call, windows)
        lookup.require_known_cluster(world, node, call, call.named.get("cluster", ()))
        try:
            run_cmdlet = (
                _preview_operation
                if call.has_switch("whatif")
                else partial(_run_cmdlet_for_each_object, cmdlet)
            )
            table = run_cmdlet(world, node, call, table)
        except InputError as problem:
            raise ShellError(call.name, str(problem)) from None
    return table if table is not None else EMPTY_TABLE


def _preview_operation(
    world: World, node: str, call: CmdletCall, table: PipelineTable | None
) -> PipelineTable:
    """Return the output of -WhatIf: the operation that would run on each node or service.

    [DOC: about parameters].
    """
    if call.name.lower().endswith("-service"):
        rows = services.get_service(world, node, call, table).rows
        targets = [f"{row['DisplayName']} ({row['Name']})" for row in rows]
    else:
        target_names = lookup.read_names(call, table, "node") or (node,)
        targets = [lookup.find_cluster_node(world, node, name, call).name for name in target_names]
    lines = (f'What if: Performing the operation "{call.name}" on target "{target}".' for target in targets)
    return PipelineTable("text", text="\n".join(lines))


CMDLETS: Final[dict[str, Cmdlet]] = {
    "get-cluster": cluster_cmdlets.get_cluster,
    "set-clusterquorum": cluster_cmdlets.set_quorum,
    "get-clusternode": cluster_cmdlets.get_node,
    "get-clustergroup": cluster_cmdlets.get_group,
    "get-clusterresource": cluster_cmdlets.get_resource,
    "get-clusterquorum": cluster_cmdlets.get_quorum,
    "get-clusterownernode": cluster_cmdlets.get_owner_node,
    "get-clusterparameter": cluster_cmdlets.get_parameter,
    "get-clusterlog": cluster_cmdlets.get_log,
    "move-clustergroup": cluster_cmdlets.move_group,
    "start-clustergroup": cluster_cmdlets.build_group_cmdlet(commands.start_role),
    "stop-clustergroup": cluster_cmdlets.build_group_cmdlet(commands.stop_role),
    "start-clusterresource": cluster_cmdlets.build_resource_cmdlet(commands.start_resource),
    "stop-clusterresource": cluster_cmdlets.build_resource_cmdlet(commands.stop_resource),
    "remove-clusternode": cluster_cmdlets.remove_node,
    "move-clusterresource": cluster_cmdlets.move_resource,
    "add-clusterresourcedependency": cluster_cmdlets.add_dependency,
    "get-clusterresourcedependency": cluster_cmdlets.get_dependency,
    "start-clusternode": cluster_cmdlets.start_node,
    "stop-clusternode": cluster_cmdlets.stop_node,
    "suspend-clusternode": cluster_cmdlets.build_pause_cmdlet(True),
    "resume-clusternode": cluster_cmdlets.build_pause_cmdlet(False),
    "set-clusterownernode": cluster_cmdlets.set_owner_node,
    "set-clusterparameter": cluster_cmdlets.set_parameter,
    "get-service": services.get_service,
    "restart-service": services.build_service_cmdlet(stop=True, start=True),
    "test-netconnection": computer_cmdlets.test_net_connection,
    "resolve-dnsname": computer_cmdlets.resolve_name,
    "test-path": computer_cmdlets.test_path,
    "new-item": computer_cmdlets.create_item,
    "get-clusternetwork": cluster_cmdlets.get_network,
    "get-clusternetworkinterface": cluster_cmdlets.get_interface,
    "start-service": services.build_service_cmdlet(stop=False, start=True),
    "stop-service": services.build_service_cmdlet(stop=True, start=False),
    "test-connection": computer_cmdlets.test_ping,
    "import-module": computer_cmdlets.import_module,
}
"""Lowercase name -> simulated cmdlet."""
