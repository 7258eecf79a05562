"""Translator of `kernel.py` to C.

The translator knows only the Python that the kernel uses. It rejects all other code and names its line. It
also rejects expressions that C could evaluate in another order. It is a pure function of the text and writes
no file.
"""

import ast
import hashlib
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Final, NamedTuple

from msgspec import Struct

from engine.flow.compiled.library import compute_fingerprint

FLOAT: Final = "double"
INT: Final = "int64_t"
BOOL: Final = "bool"
VOID: Final = "void"
ARRAYS_TYPE: Final = "const Arrays *"
SCALARS: Final = {"float": FLOAT, "int": INT, "bool": BOOL, "None": VOID, "Arrays": ARRAYS_TYPE}
ARRAY_TYPES: Final = {
    "Row": (FLOAT, 1),
    "Table": (FLOAT, 2),
    "Cube": (FLOAT, 3),
    "Numbers": (INT, 1),
    "NumberTable": (INT, 2),
}
"""Array type (element and dimensions) of each alias that annotates arrays in `kernel.py`."""

DECORATOR_NAMES: Final = ("inside", "entry", "long_entry")
ARITHMETIC_OPERATORS: Final = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
BIT_OPERATORS: Final = {ast.BitAnd: "&", ast.BitOr: "|"}
COMPARISONS: Final = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}

C_PRELUDE: Final = resources.files("engine.flow.compiled").joinpath("prelude.c").read_text(encoding="utf-8")
"""Beginning of the C text: arrays, Python's operators, and the functions of Python that the C text calls.

The text needs no header of Python and no library of C, because the loader passes the addresses of Python's
functions. `View` is `Py_buffer`, part of the stable interface of Python 3.11 and later.
"""
_KEYWORDS: Final = """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void
    while bool true false views views_taken result arguments thread python connect take modulo checked main
    wide_entries_run cpuid add_product
"""
RESERVED_C_NAMES: Final = frozenset(_KEYWORDS.split())
"""Reserved names in the C text. A variable or function of the kernel with such a name is an error."""

ORDER_ERROR: Final = "the order of evaluation matters; use a name for the result of the call"


class TranslationError(Exception):
    """Error for Python code that the translator does not support; `str()` names the line."""

    def __init__(self, node: ast.AST, reason: str) -> None:
        super().__init__(f"kernel.py, line {getattr(node, 'lineno', 0)}: {reason}")


class ArrayType(Struct, frozen=True):
    """Type of an array with *dims* dimensions; *element* is FLOAT or INT."""

    element: str
    dims: int

    @property
    def c_name(self) -> str:
        """Return the name of the type in C."""
        return "Doubles" if self.element == FLOAT else "Longs"


CType = str | ArrayType


class CCode(NamedTuple):
    """C text of an expression, and its type."""

    text: str
    type: CType


def to_c_type(kind: CType) -> str:
    """Return the C type for a type of the kernel."""
    return kind if isinstance(kind, str) else kind.c_name


def translate(text: str, constants: Mapping[str, object], lines: bool = False) -> str:
    """Return the C text for the kernel *text*.

    *constants* maps the kernel's global names to their values. With *lines*, the C text states the line of
    each statement, for the build that checks indices. Raise TranslationError.
    """
    return _ModuleTranslation(ast.parse(text), constants, lines).write_c(compute_fingerprint(text))


class _ModuleTranslation:
    """Translation of the kernel module: all of its functions."""

    def __init__(self, tree: ast.Module, constants: Mapping[str, object], lines: bool) -> None:
        self.constants = constants
        self.lines = lines
        self.nodes: dict[str, ast.FunctionDef] = {}
        self.marks: dict[str, str] = {}
        self.fields: dict[str, CType] = {}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name not in DECORATOR_NAMES:
                marks = [ast.unparse(mark) for mark in node.decorator_list]
                if len(marks) != 1 or marks[0] not in DECORATOR_NAMES:
                    raise TranslationError(
                        node, f"{node.name} needs one of the marks {', '.join(DECORATOR_NAMES)}"
                    )
                if node.name in RESERVED_C_NAMES:
                    raise TranslationError(node, f"{node.name} is a C keyword")
                self.nodes[node.name], self.marks[node.name] = node, marks[0]
            elif isinstance(node, ast.ClassDef):
                for field in node.body:
                    if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                        self.fields[field.target.id] = self.read_annotation(field.annotation)
        self.order: list[str] = []
        self._writers: dict[str, bool] = {}
        for name in self.nodes:
            self._visit(name, ())

    def read_annotation(self, node: ast.expr | None) -> CType:
        """Return the type that an annotation names."""
        name = ast.unparse(node) if node is not None else "nothing"
        if name in ARRAY_TYPES:
            return ArrayType(*ARRAY_TYPES[name])
        if name in SCALARS and node is not None:
            return SCALARS[name]
        raise TranslationError(node or ast.Pass(), f"the annotation {name} is not supported")

    def list_parameters(self, name: str) -> list[tuple[str, CType]]:
        """Return (name, type) of each parameter of the function *name*."""
        arguments = self.nodes[name].args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
            raise TranslationError(self.nodes[name], "only plain parameters without defaults are supported")
        return [(argument.arg, self.read_annotation(argument.annotation)) for argument in arguments.args]

    def get_result_type(self, name: str) -> str:
        kind = self.read_annotation(self.nodes[name].returns)
        if not isinstance(kind, str) or kind == ARRAYS_TYPE:
            raise TranslationError(self.nodes[name], f"{name} cannot return an array")
        return kind

    def is_writer(self, name: str) -> bool:
        """Return whether the function or a function that it calls changes an array."""
        return self._writers[name]

    def _visit(self, name: str, callers: tuple[str, ...]) -> None:
        """Append the function *name* to the output order, after all functions that it calls."""
        if name in callers:
            raise TranslationError(self.nodes[name], f"{name} calls itself; recursion is not supported")
        if name in self._writers:
            return
        writes = False
        for node in ast.walk(self.nodes[name]):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.nodes:
                self._visit(node.func.id, (*callers, name))
                writes |= self._writers[node.func.id]
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                writes = True
        self._writers[name] = writes
        self.order.append(name)

    def write_c(self, source: str) -> str:
        fields = "".join(f"    {to_c_type(kind)} {name};\n" for name, kind in self.fields.items())
        parts = [C_PRELUDE, f"typedef struct {{\n{fields}}} Arrays;\n"]
        parts += [_FunctionTranslation(self, name).write_c() for name in self.order]
        parts += [self._write_wide_version(name) for name in self.nodes if self.marks[name] == "long_entry"]
        parts += [self._write_entry_point(name) for name in self.nodes if self.marks[name] != "inside"]
        text = "\n".join(parts)
        digest = hashlib.sha256(text.encode()).hexdigest()
        stamps = {"kernel_source": source, "kernel_text": digest}
        lines = "".join(f'\nEXPORT const char {name}[] = "{stamp}";' for name, stamp in stamps.items())
        return text + lines + "\n"

    def _write_wide_version(self, name: str) -> str:
        """Return a second translation of the function, which is compiled for wider vectors."""
        parameters, result = self.list_parameters(name), self.get_result_type(name)
        head = ", ".join(f"{to_c_type(kind)} {parameter}" for parameter, kind in parameters)
        call = f"{name}({', '.join(parameter for parameter, _ in parameters)});"
        keyword = "" if result == VOID else "return "
        return f"#ifdef WIDE\nWIDE {to_c_type(result)} {name}_wide({head}) {{ {keyword}{call} }}\n#endif\n"

    def _write_entry_point(self, name: str) -> str:
        """Return the C function that takes a Python tuple and calls the translated function."""
        parameters, result = self.list_parameters(name), self.get_result_type(name)
        arrays = [(k, n, t) for k, (n, t) in enumerate(parameters) if isinstance(t, ArrayType)]
        kind = to_c_type(result)
        zero = "" if result == VOID else " 0"
        lines = [
            f"EXPORT {kind} call_{name}(void *arguments) {{",
            f"    View views[{len(arrays)}];",
            "    int views_taken = 0;",
            *([] if result == VOID else [f"    {kind} result = 0;"]),
            f'    if (!is_length(arguments, {len(parameters)}, "{name}")) return{zero};',
        ]
        for index, (parameter, parameter_type) in enumerate(parameters):
            if parameter_type == FLOAT:
                lines.append(f"    double {parameter} = python.as_float(python.item(arguments, {index}));")
            elif parameter_type == INT:
                lines.append(f"    int64_t {parameter} = python.as_int(python.item(arguments, {index}));")
            elif not isinstance(parameter_type, ArrayType):
                raise TranslationError(self.nodes[name], f"an entry cannot take {parameter}")
        lines.append(f"    if (python.occurred()) return{zero};")
        for index, parameter, parameter_type in arrays:
            is_float = "true" if parameter_type.element == FLOAT else "false"
            lines.append(
                f"    if (!take(arguments, {index}, views, &views_taken, {parameter_type.dims}, {is_float},"
                f' "{name}: {parameter}")) goto end;'
            )
        for number, (_, parameter, parameter_type) in enumerate(arrays):
            lines.append(
                f"    {parameter_type.c_name} {parameter} = AS_ARRAY({parameter_type.c_name}, views[{number}]);"
            )
        store = "" if result == VOID else "result = "
        values = f"({', '.join(parameter for parameter, _ in parameters)});"
        is_long = self.marks[name] == "long_entry"
        wide = ["#ifdef WIDE", f"    if (wide_entries_run) {store}{name}_wide{values}", "    else", "#endif"]
        lines += [
            *(["    void *thread = python.leave();", *wide] if is_long else []),
            f"    {store}{name}{values}",
            *(["    python.enter(thread);"] if is_long else []),
            "end:",
            "    while (views_taken > 0) python.release(&views[--views_taken]);",
            f"    return{'' if result == VOID else ' result'};",
            "}",
            "",
        ]
        return "\n".join(lines)


class _FunctionTranslation:
    """Translation of one function."""

    def __init__(self, module: _ModuleTranslation, name: str) -> None:
        self.module, self.name, self.node = module, name, module.nodes[name]
        self.parameters, self.result = module.list_parameters(name), module.get_result_type(name)
        self.types: dict[str, CType] = dict(self.parameters)
        self.temporaries = 0

    def write_c(self) -> str:
        body = self._write_block(self.node.body, 1)
        local_types = list(self.types.items())[len(self.parameters) :]
        for name in self.types:
            if name in RESERVED_C_NAMES:
                raise TranslationError(self.node, f"{name} is a C keyword")
        head = ", ".join(f"{to_c_type(kind)} {name}" for name, kind in self.parameters)
        begin = "static" if self.module.marks[self.name] == "entry" else "INLINE"
        zero = [
            f"    {to_c_type(kind)} {name} = {'{0}' if isinstance(kind, ArrayType) else '0'};"
            for name, kind in local_types
        ]
        return "\n".join([f"{begin} {to_c_type(self.result)} {self.name}({head}) {{", *zero, *body, "}", ""])

    # -- statements

    def _write_block(self, body: Iterable[ast.stmt], depth: int) -> list[str]:
        block = []
        for node in body:
            if self.module.lines:
                block.append(f'#line {node.lineno} "kernel.py"')
            block += ["    " * depth + line for line in self._write_statement(node, depth)]
        return block

    def _write_statement(self, node: ast.stmt, depth: int) -> list[str]:
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                return []
            case ast.Expr(value=ast.Call() as call):
                self._check_evaluation_order(call)
                return [f"{self._write_value(call).text};"]
            case ast.Return(value=None):
                return ["return;"]
            case ast.Return(value=ast.expr() as value):
                return [
                    f"return {self._convert_type(self.result, self._write_complete_expression(value), node)};"
                ]
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                return self._assign_all(targets, values, node)
            case ast.Assign(targets=[ast.Call() | ast.Name() | ast.Subscript() as target], value=value):
                return [self._write_store(target, self._write_complete_expression(value, target), node)]
            case ast.AugAssign(target=ast.Name() | ast.Subscript() as target):
                return [self._write_augmented(node)]
            case ast.If():
                return self._write_if(node, depth)
            case ast.While(orelse=[]):
                test_text = self._write_test(node.test)
                return [f"while ({test_text}) {{", *self._write_inner(node.body, depth), "}"]
            case ast.For(target=ast.Name(id=name), orelse=[]):
                return self._write_for(node, name, depth)
            case ast.Break():
                return ["break;"]
            case ast.Continue():
                return ["continue;"]
        raise TranslationError(node, f"{type(node).__name__} is not supported: {ast.unparse(node)[:60]}")

    def _write_inner(self, body: list[ast.stmt], depth: int) -> list[str]:
        block = self._write_block(body, depth + 1)
        return [line if line.startswith("#") else line[4 * depth :] for line in block]

    def _write_if(self, node: ast.If, depth: int) -> list[str]:
        lines = [f"if ({self._write_test(node.test)}) {{", *self._write_inner(node.body, depth)]
        if node.orelse:
            lines += ["} else {", *self._write_inner(node.orelse, depth)]
        return [*lines, "}"]

    def _write_for(self, node: ast.For, name: str, depth: int) -> list[str]:
        """Return a C loop that counts with a hidden counter.

        As in Python, an assignment to the loop variable does not change the number of passes.
        """
        self.temporaries += 1
        counter, end = f"next_{self.temporaries}", f"end_{self.temporaries}"
        if name != "_":
            self._declare_variable(name, INT, node)
        match node.iter:
            case ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]) if 0 < len(arguments) < 4:
                bounds = [
                    self._convert_type(INT, self._write_complete_expression(argument), argument)
                    for argument in arguments
                ]
                first, last = ("0", bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
                step = self._read_constant_int(arguments[2]) if len(arguments) == 3 else 1
                sign = "<" if step > 0 else ">"
                head = f"for (int64_t {counter} = {first}, {end} = {last}; {counter} {sign} {end}; {counter} += {step})"
                value = counter
            case ast.Name(id=function) if isinstance(self.module.constants.get(function), tuple):
                numbers = self.module.constants[function]
                assert isinstance(numbers, tuple)
                if not all(type(number) is int for number in numbers):
                    raise TranslationError(node, f"{function} must contain only integers")
                values = ", ".join(map(str, numbers))
                head = (
                    f"static const int64_t {end}[] = {{{values}}};\n"
                    f"for (size_t {counter} = 0; {counter} < {len(numbers)}; {counter}++)"
                )
                value = f"{end}[{counter}]"
            case _:
                raise TranslationError(node, f"a loop over {ast.unparse(node.iter)} is not supported")
        lines = head.split("\n")
        lines[-1] += " {"
        begin = [f"    {name} = {value};"] if name != "_" else []
        return ["{", *lines, *begin, *self._write_inner(node.body, depth), "}", "}"]

    def _read_constant_int(self, node: ast.expr) -> int:
        try:
            value = ast.literal_eval(node)
        except ValueError:
            value = 0
        if type(value) is not int or value == 0:
            raise TranslationError(node, "the step of a range must be a number")
        return value

    def _assign_all(self, targets: list[ast.expr], values: list[ast.expr], node: ast.stmt) -> list[str]:
        """Return code that evaluates all values first and then stores them from left to right, as Python does."""
        if len(targets) != len(values):
            raise TranslationError(node, "the number of values differs from the number of names")
        first, then_lines = [], []
        for target, value in zip(targets, values, strict=True):
            self.temporaries += 1
            code = self._write_complete_expression(value)
            first.append(f"    {to_c_type(code.type)} value_{self.temporaries} = {code.text};")
            then_lines.append(
                "    " + self._write_store(target, CCode(f"value_{self.temporaries}", code.type), node)
            )
        return ["{", *first, *then_lines, "}"]

    def _write_store(self, target: ast.expr, value: CCode, node: ast.AST) -> str:
        if isinstance(target, ast.Name):
            self._declare_variable(target.id, value.type, node)
            return f"{target.id} = {value.text};"
        place = self._write_value(target)
        return f"{place.text} = {self._convert_type(place.type, value, node)};"

    def _write_augmented(self, node: ast.AugAssign) -> str:
        target = self._write_value(node.target)
        value = self._write_complete_expression(
            node.value, node.target if isinstance(node.target, ast.Subscript) else None, reads=1
        )
        sign = {**ARITHMETIC_OPERATORS, **BIT_OPERATORS}.get(type(node.op))
        if sign is None or (sign == "/" and target.type == INT):
            raise TranslationError(node, f"this assignment is not supported: {ast.unparse(node)}")
        if sign in BIT_OPERATORS.values() and (target.type != INT or value.type != INT):
            raise TranslationError(node, "bit operations need integers")
        return f"{target.text} {sign}= {self._convert_type(target.type, value, node)};"

    def _declare_variable(self, name: str, kind: CType, node: ast.AST) -> None:
        before = self.types.setdefault(name, kind)
        if before != kind and (before, kind) != (INT, BOOL):
            raise TranslationError(node, f"{name} changes from {to_c_type(before)} to {to_c_type(kind)}")

    # -- expressions

    def _write_test(self, node: ast.expr) -> str:
        code = self._write_complete_expression(node)
        if code.type != BOOL:
            raise TranslationError(node, f"a comparison was expected, not {ast.unparse(node)}")
        return code.text

    def _write_complete_expression(
        self, node: ast.expr, target: ast.expr | None = None, reads: int = 0
    ) -> CCode:
        """Return the code of a complete expression. *reads*: number of array reads that locate *target*."""
        calls, _ = self._check_evaluation_order(node)
        if isinstance(target, ast.Subscript):
            reads += self._check_evaluation_order(target.slice)[1]
            if calls and reads:
                raise TranslationError(node, ORDER_ERROR)
        return self._write_value(node)

    def _check_evaluation_order(self, node: ast.AST) -> tuple[int, int]:
        """Return (number of calls that change arrays, number of reads of arrays) in *node*.

        Reject the expression if their order matters: C evaluates operands in any order, Python from left to right.
        """
        if isinstance(
            node, ast.BoolOp | ast.IfExp
        ):  # C and Python evaluate the operands of these operators in the same order
            calls = reads = 0
            for part in ast.iter_child_nodes(node):
                more_calls, more_reads = self._check_evaluation_order(part)
                calls, reads = calls + more_calls, reads + more_reads
            return calls, reads
        calls = reads = 0
        for part in ast.iter_child_nodes(node):
            more_calls, more_reads = self._check_evaluation_order(part)
            calls, reads = calls + more_calls, reads + more_reads
        if calls > 1 or (calls and reads):
            raise TranslationError(
                node, "the order of evaluation matters; use a name for the result of the call"
            )
        if isinstance(node, ast.Subscript) and not _is_shape(node.value):
            reads += 1
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in self.module.nodes
        ):
            is_writer = self.module.is_writer(node.func.id)
            return int(is_writer), 0 if is_writer else reads
        return calls, reads

    def _write_value(self, node: ast.expr) -> CCode:
        match node:
            case ast.Constant(value=value):
                return self._write_constant(value, node)
            case ast.Name(id=name):
                if name in self.types:
                    return CCode(name, self.types[name])
                if name in self.module.constants:
                    return self._write_constant(self.module.constants[name], node)
            case ast.Attribute(value=ast.Name(id=record), attr=field) if (
                self.types.get(record) == ARRAYS_TYPE
            ):
                if field in self.module.fields:
                    return CCode(f"{record}->{field}", self.module.fields[field])
            case ast.Subscript():
                return self._write_subscript(node)
            case ast.BinOp():
                return self._write_binary(node)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return CCode(f"!{self._convert_type(BOOL, self._write_value(operand), node)}", BOOL)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                code = self._write_number(operand)
                return CCode(f"(-{code.text})", code.type)
            case ast.BoolOp(op=op, values=values):
                sign = " && " if isinstance(op, ast.And) else " || "
                return CCode(
                    f"({sign.join(self._convert_type(BOOL, self._write_value(term), term) for term in values)})",
                    BOOL,
                )
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
                a, b = self._write_value(left), self._write_value(right)
                if a.type != b.type or a.type not in (FLOAT, INT, BOOL):
                    raise TranslationError(
                        node, f"cannot compare {to_c_type(a.type)} with {to_c_type(b.type)}"
                    )
                return CCode(f"({a.text} {COMPARISONS[type(op)]} {b.text})", BOOL)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                a, b = self._write_value(body), self._write_value(orelse)
                if a.type != b.type:
                    raise TranslationError(
                        node, f"a condition chooses between {to_c_type(a.type)} and {to_c_type(b.type)}"
                    )
                condition = self._convert_type(BOOL, self._write_value(test), test)
                return CCode(f"({condition} ? {a.text} : {b.text})", a.type)
            case ast.Call(func=func, args=arguments, keywords=[]):
                return self._write_call(ast.unparse(func), arguments, node)
        raise TranslationError(node, f"not supported: {ast.unparse(node)}")

    def _write_constant(self, value: object, node: ast.AST) -> CCode:
        if type(value) is bool:
            return CCode("true" if value else "false", BOOL)
        if type(value) is int and abs(value) < 1 << 62:
            return CCode(f"INT64_C({value})" if value >= 0 else f"(-INT64_C({-value}))", INT)
        if type(value) is float and abs(value) < float("inf"):
            return CCode(repr(value) if value >= 0.0 else f"({value!r})", FLOAT)
        raise TranslationError(node, f"the constant {value!r} is not supported")

    def _write_number(self, node: ast.expr) -> CCode:
        code = self._write_value(node)
        if code.type not in (FLOAT, INT):
            raise TranslationError(node, f"a number was expected, not {ast.unparse(node)}")
        return code

    def _write_subscript(self, node: ast.Subscript) -> CCode:
        if _is_shape(node.value):
            assert isinstance(node.value, ast.Attribute)
            axis = node.slice.value if isinstance(node.slice, ast.Constant) else None
            array = self._write_value(node.value.value)
            if not isinstance(array.type, ArrayType) or not isinstance(axis, int) or axis >= array.type.dims:
                raise TranslationError(node, f"a dimension was expected, not {ast.unparse(node)}")
            return CCode(f"{array.text}.n{axis}", INT)
        array = self._write_value(node.value)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not isinstance(array.type, ArrayType) or len(indices) > array.type.dims:
            raise TranslationError(node, f"wrong number of dimensions: {ast.unparse(node)}")
        if any(isinstance(part, ast.Call) for index in indices for part in ast.walk(index)):
            raise TranslationError(node, "a call in an index is not supported")
        text = ", ".join(self._convert_type(INT, self._write_value(index), index) for index in indices)
        remaining_dims = array.type.dims - len(indices)
        name = f"{array.type.dims}({array.text}, {text})"
        if remaining_dims == 0:
            return CCode(f"AT{name}", array.type.element)
        if remaining_dims == 1:
            return CCode(
                f"ROW{len(indices)}({array.type.c_name}, {array.text}, {text})",
                ArrayType(array.type.element, 1),
            )
        raise TranslationError(node, "a part of an array must be one row")

    def _write_binary(self, node: ast.BinOp) -> CCode:
        a, b = self._write_number(node.left), self._write_number(node.right)
        kind = INT if a.type == b.type == INT else FLOAT
        op = type(node.op)
        if op in ARITHMETIC_OPERATORS:
            kind = FLOAT if op is ast.Div else kind
            return CCode(
                f"({self._convert_type(kind, a, node)} {ARITHMETIC_OPERATORS[op]} {self._convert_type(kind, b, node)})",
                kind,
            )
        if kind == INT and op in BIT_OPERATORS:
            return CCode(f"({a.text} {BIT_OPERATORS[op]} {b.text})", INT)
        if kind == INT and op is ast.Mod:
            return CCode(f"modulo({a.text}, {b.text})", INT)
        raise TranslationError(node, f"this operation is not supported: {ast.unparse(node)}")

    def _write_call(self, name: str, nodes: list[ast.expr], node: ast.Call) -> CCode:
        arguments = [self._write_value(expression) for expression in nodes]
        if name == "Arrays":
            expected = list(self.module.fields.values())
            if [argument.type for argument in arguments] != expected:
                raise TranslationError(node, "the arrays differ from those of the record")
            return CCode(
                f"&(const Arrays){{{', '.join(argument.text for argument in arguments)}}}", ARRAYS_TYPE
            )
        if name in self.module.nodes:
            parameters = self.module.list_parameters(name)
            if len(parameters) != len(arguments):
                raise TranslationError(node, f"{name} has {len(parameters)} parameters")
            pairs = zip(parameters, arguments, strict=True)
            text = ", ".join(self._convert_type(kind, argument, node) for (_, kind), argument in pairs)
            return CCode(f"{name}({text})", self.module.get_result_type(name))
        kinds = {argument.type for argument in arguments}
        if name in ("min", "max") and len(arguments) > 1 and kinds in ({FLOAT}, {INT}):
            (kind,) = kinds
            text = arguments[0].text
            for argument in arguments[1:]:
                text = f"{name}_{'float' if kind == FLOAT else 'int'}({text}, {argument.text})"
            return CCode(text, kind)
        if len(arguments) == 1:
            text = arguments[0].text
            match name, arguments[0].type:
                case ("int", "int64_t") | ("float", "double") | ("bool", "bool"):
                    return arguments[0]
                case "int", "double":
                    return CCode(f"(int64_t){text}", INT)
                case "float", "int64_t":
                    return CCode(f"(double){text}", FLOAT)
                case "abs", "double":
                    return CCode(f"__builtin_fabs({text})", FLOAT)
                case "math.sqrt", "double":
                    return CCode(f"__builtin_sqrt({text})", FLOAT)
                case "math.isfinite", "double":
                    return CCode(f"is_finite({text})", BOOL)
        raise TranslationError(node, f"this call is not supported: {ast.unparse(node)}")

    def _convert_type(self, kind: CType, code: CCode, node: ast.AST) -> str:
        """Return *code* converted to *kind* as in Python's arithmetic: integer to float, or bool to integer."""
        if code.type == kind:
            return code.text
        if (code.type, kind) in ((INT, FLOAT), (BOOL, INT)):
            return f"({kind}){code.text}"
        raise TranslationError(node, f"expected {to_c_type(kind)}, not {to_c_type(code.type)}")


def _is_shape(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "shape"
