"""Full states for transcripts: all changes of a world, and the results of all public functions of a package.

The module calls each function in a fork with combinations of the servers, databases, groups, nodes and other
parts of the world that its parameters name. A row lists the arguments with a new result. For a function that
changes the world, the row has the hash of all its results and changes instead.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import itertools
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any, Final, get_type_hints

from msgspec import Struct, structs

from engine.cluster.roles import RoleKind
from engine.events import Event
from engine.inputs import InputError
from engine.messages import SqlError
from engine.model import (
    AvailabilityGroup,
    Client,
    Cluster,
    ClusterConfig,
    ClusterRole,
    Computer,
    DatabaseCopy,
    Group,
    Instance,
    Node,
    World,
)
from engine.model.times import Key
from engine.model.world import FieldUse, list_parts
from engine.protocol.group_policies import GroupPolicy

WORLD_PARTS: Final = tuple(
    name for name in list_parts(FieldUse.FORK) if name not in ("errorlog", "clusterlog", "contact_keys")
)
"""Parts of the world that are compared. Events contain the logs."""
CALLS_MAX: Final = 20
"""Maximum number of argument combinations of a function, spread evenly over all combinations."""
VALUE_CHARACTERS_MAX: Final = 120
"""Maximum number of characters of a value. A hash replaces the rest."""

Readings = dict[tuple[str, str], str]
"""(function, arguments) -> result as text."""


def shorten_text(text: str) -> str:
    text = text.replace("\0", "\\0")
    if len(text) <= VALUE_CHARACTERS_MAX:
        return text
    return text[:VALUE_CHARACTERS_MAX] + "…" + hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def format_value(value: object) -> str:
    """Return *value* as text: a part of the world by its name, any other struct by its fields."""
    match value:
        case float():
            return f"{value:.4f}".rstrip("0").rstrip(".")
        case DatabaseCopy():
            return ".".join(value.key)
        case Node() | Client() | Cluster() | ClusterRole():
            return value.name
        case Event():
            return f"{value.tick} {value.kind} {value.server} {value.text}"
        case Struct():
            text = f"{type(value).__name__}({format_fields(value)})"
        case str():
            text = value
        case Mapping():
            text = "{" + ", ".join(f"{format_value(key)}: {format_value(value[key])}" for key in value) + "}"
        case tuple() | list():
            text = "[" + ", ".join(map(format_value, value)) + "]"
        case set() | frozenset():
            text = "{" + ", ".join(sorted(map(format_value, value))) + "}"
        case Iterator():
            return format_value(list(value))
        case _:
            text = repr(value)
            assert " at 0x" not in text, text
    return text


def format_fields(data: Struct) -> str:
    """Return those fields of a struct that are not empty."""
    return ", ".join(f"{name}={format_value(value)}" for name, value in structs.asdict(data).items() if value)


def _list_changed_results(name: str, before: object, after: object) -> Iterator[str]:
    if before is after or before == after:
        return
    if isinstance(before, Struct) and type(before) is type(after):
        for field in type(before).__struct_fields__:
            yield from _list_changed_results(f"{name} {field}", getattr(before, field), getattr(after, field))
    elif isinstance(before, dict) and isinstance(after, dict):
        changed = [key for key in before | after if before.get(key) is not after.get(key)]
        for key in sorted(changed, key=str):
            label = ".".join(map(str, key)) if isinstance(key, tuple) else str(key)
            yield from _list_changed_results(f"{name} {label}", before.get(key), after.get(key))
    elif isinstance(before, (list, tuple, set)) and isinstance(after, type(before)):
        before, after = (sorted(value) if isinstance(value, set) else value for value in (before, after))
        yield from (shorten_text(f"{name} - {format_value(value)}") for value in before if value not in after)
        yield from (shorten_text(f"{name} + {format_value(value)}") for value in after if value not in before)
    elif before is None and isinstance(after, Struct):
        yield shorten_text(f"{name} = {format_fields(after)}")
    else:
        yield shorten_text(f"{name} = {format_value(after)}")


def list_changes(before: World, after: World) -> list[str]:
    """Return all changed fields of all parts of a world with their new values."""
    pairs = ((name, getattr(before, name), getattr(after, name)) for name in WORLD_PARTS)
    return [row for name, old, new in pairs for row in _list_changed_results(name, old, new)]


def _list_values(world: World) -> dict[object, dict[str, Any]]:
    """Return type or name of a parameter -> its possible values by label. A name is used where the type is
    not enough.
    """
    servers = {name: name for name in world.instances}
    nodes = {name: name for name in world.nodes or world.computers}
    configs = [node.config for node in world.nodes.values()]
    roles = {role.name: role for config in configs for role in config.roles}
    databases = {name: name for name in world.list_databases()}
    ticks = {"": max(0, world.tick - 100)}
    values: dict[object, dict[str, Any]] = {
        DatabaseCopy: {".".join(key): copy for key, copy in world.copies.items()},
        Node: dict(world.nodes),
        Client: dict(world.clients),
        Cluster: dict(world.clusters),
        ClusterRole: roles,
        ClusterConfig: {node.name: node.config for node in world.nodes.values()},
        AvailabilityGroup: {group.name: group for config in configs for group in config.groups},
        Group: {str(guid): group for guid, group in world.groups.items()},
        Instance: dict(world.instances),
        Computer: dict(world.computers),
        "key": {".".join(key): key for key in world.copies},
        "database": databases,
        "role": {name: name for name in roles},
        "client": {name: name for name in world.clients},
        "name": {name: name for name in (*roles, *nodes, *(() if roles else (*databases, *world.clients)))},
    }
    for name in (
        "server",
        "caller",
        "acceptor",
        "peer",
        "host",
        "me",
        "primary",
        "secondary",
        "target",
        "principal",
        "witness",
    ):
        values[name] = servers
    for name in ("node", "observer", "a", "b", "computer", "owner"):
        values[name] = nodes
    values["step"] = {f"step-{role.step}": role.step for role in roles.values()}
    values["role_name"] = values["role"]
    values["instance"], values["cluster"] = servers, {name: name for name in world.clusters}
    values["resource"] = {resource.name: resource for role in roles.values() for resource in role.resources}
    for name in ("side_nodes", "members", "nodes", "living_nodes", "lost_nodes", "target_nodes", "partition"):
        values[name] = {"all": tuple(nodes), "first": tuple(nodes)[:1]}
    for name in ("guid", "group"):
        values[name] = {str(guid): guid for guid in world.groups}
    values["source"] = {str(number): number for number in world.sources}
    values["stream"] = {str(number): number for number in world.streams}
    for name in ("tick", "detected_tick", "since_tick", "failed_tick", "started_tick"):
        values[name] = ticks
    for name in ("kb", "upto_kb", "after_kb"):
        values[name] = {"": 1000.0}
    values["version"] = {"2012": 2012, "2022": 2022}
    values["weight"] = {"0": 0, "1": 1}
    values["number"] = values["port"] = values["minutes"] = values["count"] = values["level"] = values[
        "seconds"
    ] = values["threshold"] = {"": 7}
    values["epoch"] = {"now": max((contact.epoch for contact in world.contacts.values()), default=1)}
    values["path"] = {path: path for _, path in world.files}
    values["drive"] = values["letter"] = {"": "D"}
    values["page"] = {"": 200}
    values["reason"] = values["cause"] = values["text"] = {"": "a reason"}
    return values


def _choose_values(values: dict[object, dict[str, Any]], param: object, kind: object) -> dict[str, Any]:
    """Return the possible values of a parameter by label."""
    if param == "world":
        return {"": None}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {member.name: member for member in kind}
    if kind is bool:
        return {"yes": True, "no": False}
    return values.get("key" if kind == Key else kind) or values.get(param, {})


@cache
def _list_functions(
    package: str,
) -> list[tuple[str, Callable[..., object], tuple[tuple[object, object], ...]]]:
    """Return (name, function, required parameters as name and type) of functions, and of methods of group
    policies.
    """
    rows = []
    parent = importlib.import_module(package)
    for info in pkgutil.walk_packages(parent.__path__, f"{package}."):
        module = importlib.import_module(info.name)
        functions: list[tuple[str, Any]] = inspect.getmembers(module, inspect.isfunction)
        for title, kind in inspect.getmembers(module, inspect.isclass):
            if (
                kind.__module__ == info.name
                and issubclass(kind, (GroupPolicy, RoleKind))
                and not inspect.isabstract(kind)
            ):
                functions += [
                    (f"{title}.{name}", method)
                    for name, method in inspect.getmembers(kind(), inspect.ismethod)
                ]
        for name, function in functions:
            if function.__module__ != info.name or name.rpartition(".")[2].startswith("_"):
                continue
            hints = get_type_hints(function)
            required = [
                parameter
                for parameter in inspect.signature(function).parameters.values()
                if parameter.default is parameter.empty
            ]
            parameters = tuple((parameter.name, hints.get(parameter.name)) for parameter in required)
            rows.append((f"{info.name.removeprefix('engine.')}.{name}", function, parameters))
    return sorted(rows, key=lambda row: row[0])


def _call_function(
    fork: World, function: Callable[..., object], arguments: Mapping[object, object]
) -> str | None:
    """Return the result of a function, or the message of an error that a player can see. Return None for
    other errors.
    """
    try:
        return format_value(
            function(*[fork if name == "world" else value for name, value in arguments.items()])
        )
    except SqlError as problem:
        return f"Msg {problem.args}"
    except InputError as problem:
        return str(problem)
    except Exception:
        return None


def read_results(world: World, package: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield (function, arguments) and the result of the public functions of a package.

    A function that changes the world has one result: the hash of all results and changes.
    """
    values, fork = _list_values(world), world.fork()
    for name, function, parameters in _list_functions(package):
        choices = [_choose_values(values, param, kind) for param, kind in parameters]
        if not parameters or not all(choices):
            continue
        combinations = list(itertools.product(*(choice.items() for choice in choices)))
        results, is_change = dict[tuple[str, str], str](), False
        for combination in combinations[:: len(combinations) // CALLS_MAX + 1]:
            arguments = {param: value for (param, _), (_, value) in zip(parameters, combination, strict=True)}
            result = _call_function(fork, function, arguments)
            effects = [*list_changes(world, fork), *map(format_value, fork.outbox)]
            if effects:
                fork, is_change = world.fork(), True
            results[name, ",".join(filter(None, (text for text, _ in combination)))] = "; ".join(
                [result or "error", *effects]
            )
        if is_change:
            text = "\n".join(f"{label} {result}" for (_, label), result in results.items())
            yield (name, ""), f"changes {hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"
        else:
            yield from ((key, shorten_text(result)) for key, result in results.items())


def list_differences(before: Readings, after: Readings) -> list[str]:
    """Return a row for each new result of a function, with the arguments that produce it."""
    rows = dict[tuple[str, str], list[str]]()
    for (name, label), result in after.items():
        if before.get((name, label)) != result:
            rows.setdefault((name, result), []).append(label)
    return [f"{name}({' '.join(labels)}): {result}" for (name, result), labels in rows.items()]
