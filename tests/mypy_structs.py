"""Plugin of mypy: keyword arguments that are fields of a struct or of an event have its names and types.

`msgspec.structs.replace` takes the fields of the struct that it is given. A parameter `**changes: FieldOf[Struct]`
takes the fields of that struct, `**data: FieldOf[EventData]` those of the kind of event that the argument *kind* names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mypy.nodes import ARG_NAMED_OPT, ARG_STAR2, CallExpr, Expression, StrExpr, TypeInfo
from mypy.plugin import FunctionSigContext, MethodSigContext, Plugin
from mypy.types import AnyType, CallableType, FunctionLike, Instance, Type, TypeOfAny, get_proper_type

MARKER: Final = "engine.model.times.FieldOf"
READING: Final = "engine.events.Event.get"
EVENT_DATA: Final = "engine.events.EventData"
Context = FunctionSigContext | MethodSigContext


class StructPlugin(Plugin):
    """Checks `replace`, `FieldOf` and the names that are read from an event."""

    def get_function_signature_hook(
        self, fullname: str
    ) -> Callable[[FunctionSigContext], FunctionLike] | None:
        if fullname == "msgspec.structs.replace":
            return _check_replace
        return _check_marked if fullname.startswith(("engine.", "app.")) else None

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        if fullname == READING:
            return self._check_reading
        return _check_marked if fullname.startswith("engine.") else None

    def _check_reading(self, context: MethodSigContext) -> FunctionLike:
        """Reject a name that no kind of event has."""
        known = self.lookup_fully_qualified(EVENT_DATA)
        name = context.args[0][0] if context.args and context.args[0] else None
        if known is not None and isinstance(known.node, TypeInfo) and isinstance(name, StrExpr):
            kinds = known.node.typeddict_type
            if kinds is not None and not any(name.value in _fields(kind) for kind in kinds.items.values()):
                context.api.fail(f'No kind of event has the field "{name.value}"', name)
        return context.default_signature


def plugin(version: str) -> type[Plugin]:
    return StructPlugin


def _fields(owner: Type) -> dict[str, Type]:
    """Names and types of the fields of a struct or of a typed dictionary."""
    proper = get_proper_type(owner)
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
    given = get_proper_type(context.api.get_expression_type(context.args[0][0]))
    given = get_proper_type(getattr(given, "upper_bound", given))
    return _with_fields(context, _fields(given) if isinstance(given, Instance) else {})


def _check_marked(context: Context) -> FunctionLike:
    signature = context.default_signature
    marker = get_proper_type(signature.arg_types[-1]) if signature.arg_types else None
    if not isinstance(marker, Instance) or marker.type.fullname != MARKER:
        return signature
    fields = _fields(marker.args[0])
    if "kind" in signature.arg_names and fields:
        kind = context.args[signature.arg_names.index("kind")]
        fields = _fields_of_kind(kind[0] if kind else None, fields)
    return _with_fields(context, fields)


def _fields_of_kind(kind: Expression | None, kinds: dict[str, Type]) -> dict[str, Type]:
    if isinstance(kind, StrExpr):
        return _fields(kinds[kind.value]) if kind.value in kinds else {}
    return {name: of for each in kinds.values() for name, of in _fields(each).items()}


def _with_fields(context: Context, fields: dict[str, Type]) -> CallableType:
    """The signature with *fields* in place of its last parameter, which takes any."""
    signature, call = context.default_signature, context.context
    fields = {name: of for name, of in fields.items() if name not in signature.arg_names}
    if not isinstance(call, CallExpr) or not fields:
        return signature
    names: list[str | None] = [*signature.arg_names[:-1], *fields]
    kinds = [*signature.arg_kinds[:-1], *[ARG_NAMED_OPT] * len(fields)]
    types = [*signature.arg_types[:-1], *fields.values()]
    if ARG_STAR2 in call.arg_kinds:  # what a dictionary holds cannot be checked; the names beside it can
        unknown = [name for name in call.arg_names if name is not None and name not in names]
        if unknown:
            context.api.fail(f'Unexpected keyword argument "{unknown[0]}"', call)
        return signature.copy_modified(arg_types=[*signature.arg_types[:-1], AnyType(TypeOfAny.special_form)])
    return signature.copy_modified(arg_names=names, arg_kinds=kinds, arg_types=types)
