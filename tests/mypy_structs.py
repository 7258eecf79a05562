"""Mypy plugin that checks names and types of keyword arguments for the fields of a struct.

`msgspec.structs.replace` takes the fields of its struct. A parameter `**changes: FieldOf[Struct]` takes the
fields of that struct.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mypy.nodes import ARG_NAMED_OPT, ARG_STAR2, CallExpr
from mypy.plugin import FunctionSigContext, MethodSigContext, Plugin
from mypy.types import (
    AnyType,
    CallableType,
    FunctionLike,
    Instance,
    Type,
    TypedDictType,
    TypeOfAny,
    UnionType,
    get_proper_type,
)

MARKER: Final = "engine.field_types.FieldOf"
Context = FunctionSigContext | MethodSigContext


class StructPlugin(Plugin):
    """Plugin for `replace_match` and `FieldOf`."""

    def get_function_signature_hook(
        self, fullname: str
    ) -> Callable[[FunctionSigContext], FunctionLike] | None:
        if fullname == "msgspec.structs.replace":
            return _check_replace
        return _check_marked if fullname.startswith(("engine.", "app.")) else None

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        return _check_marked if fullname.startswith("engine.") else None


def plugin(version: str) -> type[Plugin]:
    return StructPlugin


def _list_fields(owner: Type) -> dict[str, Type]:
    """Return name -> type of the fields of a struct, a typed dictionary, or a union of these."""
    proper = get_proper_type(owner)
    if isinstance(proper, UnionType):
        return {name: field_type for part in proper.items for name, field_type in _list_fields(part).items()}
    if not isinstance(proper, Instance):
        return dict(getattr(proper, "items", {}))
    constructor = proper.type.get_method("__init__")
    signature = get_proper_type(constructor.type) if constructor is not None else None
    if not isinstance(signature, CallableType):
        return {}
    pairs = zip(signature.arg_names, signature.arg_types, strict=True)
    return {name: kind for name, kind in pairs if name is not None and name != "self"}


def _check_replace(context: FunctionSigContext) -> FunctionLike:
    if len(context.args) != 2 or len(context.args[0]) != 1:
        return context.default_signature
    given_type = get_proper_type(context.api.get_expression_type(context.args[0][0]))
    given_type = get_proper_type(getattr(given_type, "upper_bound", given_type))
    return _replace_by_fields(context, _list_fields(given_type) if isinstance(given_type, Instance) else {})


def _check_marked(context: Context) -> FunctionLike:
    signature = context.default_signature
    marker = get_proper_type(signature.arg_types[-1]) if signature.arg_types else None
    if not isinstance(marker, Instance) or marker.type.fullname != MARKER:
        return signature
    return _replace_by_fields(context, _list_fields(marker.args[0]))


def _list_star_types(context: Context, call: CallExpr) -> list[Type]:
    """Return the types of the arguments `**x`."""
    arguments = zip(call.args, call.arg_kinds, strict=True)
    return [context.api.get_expression_type(argument) for argument, kind in arguments if kind is ARG_STAR2]


def _list_typed_keys(star_type: Type) -> list[str]:
    """Return the keys of a typed dictionary. A plain dictionary has no known keys."""
    proper = get_proper_type(star_type)
    return list(proper.items) if isinstance(proper, TypedDictType) else []


def _replace_by_fields(context: Context, fields: dict[str, Type]) -> CallableType:
    """Return the signature with *fields* as keyword parameters instead of its last parameter."""
    signature, call = context.default_signature, context.context
    fields = {name: field_type for name, field_type in fields.items() if name not in signature.arg_names}
    if not isinstance(call, CallExpr) or not fields:
        return signature
    names: list[str | None] = [*signature.arg_names[:-1], *fields]
    kinds = [*signature.arg_kinds[:-1], *[ARG_NAMED_OPT] * len(fields)]
    types = [*signature.arg_types[:-1], *fields.values()]
    if ARG_STAR2 in call.arg_kinds:  # The names and types of a plain dictionary's values are unknown.
        typed = [
            name for star_type in _list_star_types(context, call) for name in _list_typed_keys(star_type)
        ]
        unknown = [name for name in (*call.arg_names, *typed) if name is not None and name not in names]
        if unknown:
            context.api.fail(f'Unexpected keyword argument "{unknown[0]}"', call)
        return signature.copy_modified(arg_types=[*signature.arg_types[:-1], AnyType(TypeOfAny.special_form)])
    return signature.copy_modified(arg_names=names, arg_kinds=kinds, arg_types=types)
