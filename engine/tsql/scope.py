"""A frame of a running batch while it runs; at rest it is a Frame (data.py)."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.tsql import program
from engine.tsql.data import Caught, Declared, Frame, Outside, Table
from engine.tsql.instructions import Program


@dataclass(slots=True)
class Scope:
    """A frame while it runs."""

    text: str
    version: int
    parameters: tuple[str, ...] = ()
    read: int | None = 0
    """Work that has gone into compiling the text; None once `code` is there."""
    code: Program = ()
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
    """Characters in all its variables."""

    @classmethod
    def thawed(cls, frame: Frame, version: int) -> Scope:
        return cls(
            frame.text,
            version,
            frame.parameters,
            frame.read,
            program.compile_batch(frame.text, version, frozenset(frame.parameters))
            if frame.read is None
            else (),
            frame.position,
            dict(frame.variables),
            dict(frame.tables),
            list(frame.caught),
            frame.outputs,
            frame.insert_into,
            frame.outside,
            frame.returns,
            frame.line,
            held=sum(len(d.value) for _, d in frame.variables if isinstance(d.value, str | bytes)),
        )

    def compile(self, work: int) -> int:
        """Go on with compiling the text, for *work*; what that has cost. Raises SyntaxProblem."""
        assert self.read is not None
        compiling = program.compiling(self.text, self.version, frozenset(self.parameters))
        if not compiling.reached(self.read + work):
            self.read += work
            return work
        cost = compiling.spent - self.read
        self.read = None
        self.code = compiling.result()
        return cost

    def frozen(self) -> Frame:
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
        )
