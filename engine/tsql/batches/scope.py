"""Frame of a running batch during its execution; a waiting batch has a Frame (data.py)."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.tsql.batches.data import Caught, Declared, Frame, Outside, Table
from engine.tsql.language import program
from engine.tsql.language import statements as s
from engine.tsql.language.instructions import Program, RunStatement
from engine.tsql.query.names import Columns
from engine.tsql.scalars.types import SqlType


@dataclass(slots=True)
class Scope:
    """Frame during its execution."""

    text: str
    version: int
    parameters: tuple[str, ...] = ()
    read: int | None = 0
    """Work spent on compiling the text; None when `code` is complete."""
    code: Program = ()
    units: Program = ()
    """Instructions whose names are resolved before the text runs: those of a procedure at its creation."""
    resolved: int = 0
    """Number of `units` with resolved names (resolution.py)."""
    problems: list[Caught] = field(default_factory=list)
    """Errors found by the name resolution."""
    database: str = ""
    """Database of the latest USE at that point."""
    quoting: str = ""
    """ON or OFF by SET QUOTED_IDENTIFIER at that point."""
    known_types: dict[str, SqlType] = field(default_factory=dict)
    known_tables: dict[str, Columns] = field(default_factory=dict)
    """Variables and table variables declared at that point."""
    position: int = 0
    variables: dict[str, Declared] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    caught: list[Caught] = field(default_factory=list)
    outputs: tuple[tuple[str, str], ...] = ()
    insert_into: str = ""
    outside: Outside | None = None
    returns: str = ""
    line: int = 0
    result: int = 0
    """Return value."""
    held: int = 0
    """Number of characters in all its variables."""
    procedure: str = ""

    @classmethod
    def from_frame(cls, frame: Frame, version: int) -> Scope:
        """Restore the scope from a stored frame."""
        code = (
            program.compile_batch(frame.text, version, frozenset(frame.parameters))
            if frame.read is None
            else ()
        )
        return cls(
            frame.text,
            version,
            frame.parameters,
            frame.read,
            code,
            _units(code),
            position=frame.position,
            variables=dict(frame.variables),
            tables=dict(frame.tables),
            caught=list(frame.caught),
            outputs=frame.outputs,
            insert_into=frame.insert_into,
            outside=frame.outside,
            returns=frame.returns,
            line=frame.line,
            resolved=frame.resolved,
            problems=list(frame.problems),
            database=frame.database,
            quoting=frame.quoting,
            known_types=dict(frame.known[0]),
            known_tables=dict(frame.known[1]),
            procedure=frame.procedure,
            held=sum(len(d.value) for _, d in frame.variables if isinstance(d.value, str | bytes)),
        )

    def compile(self, work: int) -> int:
        """Continue compiling the text, for *work*; return the work done. Raises SqlSyntaxError."""
        assert self.read is not None
        compiling = program.compiling(self.text, self.version, frozenset(self.parameters))
        if not compiling.reached(self.read + work):
            self.read += work
            return work
        cost = compiling.spent - self.read
        self.read = None
        self.code = compiling.result()
        self.units = _units(self.code)
        self.declare_all()
        return cost

    def declare_all(self) -> None:
        """Declare all variables as NULL, also if their DECLARE is never passed [DOC: DECLARE @local_variable]."""
        for instruction in self.code:
            action = instruction.action
            if isinstance(action, RunStatement) and isinstance(action.statement, s.Declare):
                for item in action.statement.variables:
                    if item.type not in ("table", "cursor"):
                        self.variables.setdefault(item.name, Declared(item.type))

    def to_frame(self) -> Frame:
        """Return the scope as a frame that can be stored."""
        return Frame(
            text=self.text,
            parameters=self.parameters,
            position=self.position,
            variables=tuple(self.variables.items()),
            tables=tuple(self.tables.items()),
            caught=tuple(self.caught),
            outputs=self.outputs,
            insert_into=self.insert_into,
            outside=self.outside,
            returns=self.returns,
            line=self.line,
            read=self.read,
            resolved=self.resolved,
            problems=tuple(self.problems),
            database=self.database,
            quoting=self.quoting,
            known=(tuple(self.known_types.items()), tuple(self.known_tables.items())),
            procedure=self.procedure,
        )


def _units(code: Program) -> Program:
    first = code[0].action if code else None
    if isinstance(first, RunStatement) and isinstance(first.statement, s.CreateProcedure | s.CreateFunction):
        return (code[0], *first.statement.program)
    return code
