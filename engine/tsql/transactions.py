"""BEGIN, COMMIT, ROLLBACK and SAVE of a connection: what a transaction wrote into tables is taken back with it.

Table variables and what commands did to the world are not: the product does not roll those back either (commands that
it would roll back are refused inside transactions, message 226).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from engine.messages import SqlError
from engine.protocol import logspace
from engine.tsql import statements as s
from engine.tsql.data import Undo
from engine.tsql.plans import Unsimulated

if TYPE_CHECKING:
    from engine.tsql.machine import Machine


def run(machine: Machine, statement: s.Transaction) -> None:
    """Carry out the statement. Raises 3902, 3903, 3930 or 6401."""
    _VERBS[statement.verb](machine, statement)
    machine.note(error=0, rowcount=0)
    _hold_log(machine)


def _begin(machine: Machine, statement: s.Transaction) -> None:
    session = machine.session
    if not session.transactions:
        machine.note(undo=Undo(session.tables), transaction_name=statement.name.lower())
    machine.note(transactions=session.transactions + 1)


def _commit(machine: Machine, statement: s.Transaction) -> None:
    count = machine.session.transactions
    if not count:
        raise SqlError(3902)
    if machine.session.doomed:
        raise SqlError(3930)
    machine.note(transactions=count - 1)
    if count == 1:
        machine.note(undo=None, savepoints=())


SAVEPOINTS_MAX: Final = 1_000
"""Savepoints of one transaction. Assumed."""


def _save(machine: Machine, statement: s.Transaction) -> None:
    session = machine.session
    if session.undo is None:
        raise SqlError(628)
    if len(session.savepoints) >= SAVEPOINTS_MAX:
        raise Unsimulated(f"more than {SAVEPOINTS_MAX} savepoints of one transaction")
    point = (statement.name.lower(), Undo(session.tables, session.undo.written))
    machine.note(savepoints=(*session.savepoints, point))


def _rollback(machine: Machine, statement: s.Transaction) -> None:
    session = machine.session
    if not session.transactions:
        raise SqlError(3903)
    name = statement.name.lower()
    if name and name != session.transaction_name:
        _roll_back_to(machine, name)
    else:
        roll_back(machine)


def _roll_back_to(machine: Machine, name: str) -> None:
    """To the last savepoint of that name; 6401 if there is none, 3931 in a transaction that is lost."""
    session = machine.session
    places = [place for place, (known, _) in enumerate(session.savepoints) if known == name]
    if not places:
        raise SqlError(6401, name)
    if session.doomed:
        raise SqlError(3931)
    kept = session.savepoints[places[-1]][1]
    assert session.undo is not None
    for place, old in reversed(session.undo.written[len(kept.written) :]):
        _put_back(machine, place, old)
    undo = Undo(session.undo.tables, kept.written)
    machine.note(tables=kept.tables, undo=undo, savepoints=session.savepoints[: places[-1] + 1])


def roll_back(machine: Machine) -> None:
    """The whole transaction, however deep it is nested."""
    undo = machine.session.undo
    if undo is not None:
        for place, old in reversed(undo.written):
            _put_back(machine, place, old)
        machine.note(tables=undo.tables)
    machine.note(transactions=0, undo=None, savepoints=(), doomed=False)
    _hold_log(machine)


def _put_back(machine: Machine, place: tuple[str, str, str], old: object) -> None:
    if old is None:
        machine.world.objects.pop(place, None)
    else:
        machine.world.objects[place] = old


def note_written(machine: Machine) -> None:
    """After a statement: what it wrote belongs to the transaction, if there is one."""
    if not machine.context.written:
        return
    written, machine.context.written = machine.context.written, []
    undo, points = machine.session.undo, machine.session.savepoints
    if undo is None:
        return
    since = undo.written[len(points[-1][1].written) if points else 0 :]
    known = {place for place, _ in since}  # what it was before the first change is what a rollback restores
    new = [
        (place, old)
        for number, (place, old) in enumerate(written)
        if place not in known and place not in {earlier for earlier, _ in written[:number]}
    ]
    if new:
        machine.note(undo=Undo(undo.tables, (*undo.written, *new)))


def _hold_log(machine: Machine) -> None:
    """An open transaction keeps its log; what the world does not know yet is noted at once, for DBCC OPENTRAN."""
    copy = machine.context.copy_named(machine.session.database)
    if copy is None:
        return
    others = tuple(spid for spid, _, _ in copy.window_transactions if spid != machine.session.spid)
    mine = (machine.session.spid,) if machine.session.transactions else ()
    logspace.note_window_transactions(machine.world, copy.server, copy.database, (*others, *mine))


_VERBS: Final[dict[str, Callable[[Machine, s.Transaction], None]]] = {
    "BEGIN": _begin,
    "COMMIT": _commit,
    "ROLLBACK": _rollback,
    "SAVE": _save,
}
