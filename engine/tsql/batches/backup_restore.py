"""BACKUP and RESTORE: what their options ask for, and what they show of a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from engine.messages import Message, SqlError, fill_message
from engine.protocol import backup, clock, encryption, logspace, restore, statements
from engine.tsql.batches import backupsets
from engine.tsql.batches.context import SYSTEM_DATABASES
from engine.tsql.batches.machine import Machine
from engine.tsql.language import statements as s
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import is_moment, to_number, to_text

Outcome = statements.Outcome


def _one_device(machine: Machine, devices: tuple[s.Value, ...]) -> str:
    if len(devices) > 1:
        raise UnsimulatedFeatureError("backups striped over several files")
    if isinstance(devices[0], s.LogicalDevice):
        raise SqlError(3206, devices[0], also=(3013,))
    return machine.text(devices[0])


def _backup(machine: Machine, statement: s.Backup) -> Outcome:
    world, server = machine.world, machine.session.server
    database = machine.text(statement.database)
    options = dict(statement.options)
    _check_options(machine, statement, BACKUP_OPTIONS)
    if "PARTIAL" in options:
        raise UnsimulatedFeatureError("BACKUP of files and filegroups")
    copy = machine.context.copy_named(database)
    if copy is not None and copy.bad_pages and {"CHECKSUM", "CONTINUE_AFTER_ERROR"} & options.keys():
        raise UnsimulatedFeatureError("BACKUP … WITH CHECKSUM of a database with damaged pages")
    if {"TRUNCATE_ONLY", "NO_LOG"} & options.keys():
        if machine.context.version >= 2008:
            raise SqlError(155, "TRUNCATE_ONLY", "BACKUP")
        return logspace.truncate(world, server, database)
    if not statement.devices:
        raise SqlError(102, database)
    path = _one_device(machine, statement.devices)
    init = bool({"INIT", "FORMAT"} & options.keys())
    if statement.what == "LOG":
        return backup.backup_log(
            world,
            server,
            database,
            path,
            norecovery="NORECOVERY" in options,
            no_truncate="NO_TRUNCATE" in options,
            copy_only="COPY_ONLY" in options,
            init=init,
        )
    return backup.backup_database(
        world,
        server,
        database,
        path,
        differential="DIFFERENTIAL" in options,
        copy_only="COPY_ONLY" in options,
        init=init,
        compression="COMPRESSION" in options,
    )


_MEDIA: Final = """
BLOCKSIZE BUFFERCOUNT MAXTRANSFERSIZE CHECKSUM NO_CHECKSUM STOP_ON_ERROR CONTINUE_AFTER_ERROR RESTART STATS REWIND
NOREWIND UNLOAD NOUNLOAD CREDENTIAL PARTIAL NORECOVERY STANDBY
"""
_NO_EFFECT: Final = """
NAME DESCRIPTION MEDIANAME MEDIADESCRIPTION EXPIREDATE RETAINDAYS PASSWORD MEDIAPASSWORD RESTRICTED_USER ENABLE_BROKER
NEW_BROKER ERROR_BROKER_CONVERSATIONS KEEP_REPLICATION KEEP_CDC
"""
_BACKUP: Final = """
COPY_ONLY COMPRESSION NO_COMPRESSION ENCRYPTION FILE_SNAPSHOT NOINIT INIT NOSKIP SKIP NOFORMAT FORMAT NO_TRUNCATE
DIFFERENTIAL TRUNCATE_ONLY NO_LOG
"""
_RESTORE: Final = "RECOVERY REPLACE STOPAT STOPATMARK STOPBEFOREMARK FILE FILESTREAM LOADHISTORY"
NO_EFFECT: Final = frozenset(_NO_EFFECT.split())
REFUSED: Final = frozenset({
    "ENCRYPTION", "FILE_SNAPSHOT", "CREDENTIAL", "PASSWORD", "MEDIAPASSWORD", "RESTRICTED_USER", "FILESTREAM",
})  # fmt: skip
"""Options after which the backup or the database would be another one: such a statement is refused."""
BACKUP_OPTIONS: Final = NO_EFFECT | frozenset((_MEDIA + _BACKUP).split())
RESTORE_OPTIONS: Final = NO_EFFECT | frozenset((_MEDIA + _RESTORE).split())
"""Options of WITH; of some nothing is kept here. Documented [DOC: BACKUP; RESTORE arguments]."""


def _check_options(
    machine: Machine, statement: s.Backup | s.Restore, allowed_options: frozenset[str]
) -> None:
    """Raise 155 for an option that there is not, 3031 for those that contradict; remarks those without effect."""
    written = [name for name, _ in statement.options]
    for name in written:
        if name not in allowed_options:
            raise SqlError(155, name, statement.title.split()[0])
    ends = [name for name in ("NORECOVERY", "RECOVERY", "STANDBY") if name in written]
    if len(ends) > 1:
        raise SqlError(3031, ends[0].lower(), ends[1].lower(), also=(3013,))
    refused = [name for name in written if name in REFUSED]
    if refused:
        raise UnsimulatedFeatureError(f"{statement.title.split()[0]} … WITH {refused[0]}")
    idle = [name for name in written if name in NO_EFFECT]
    if idle:
        machine.remark(f"{statement.title.split()[0]} … WITH {', '.join(idle)}: accepted and has no effect")


_WHOLE_RESTORE: Final = frozenset({"STOPATMARK", "STOPBEFOREMARK", "PARTIAL"})
"""Options that would bring the database to another point than the end of the backup or a time."""


def _restore(machine: Machine, statement: s.Restore) -> Outcome:
    world, server = machine.world, machine.session.server
    if statement.snapshot is not None:
        raise UnsimulatedFeatureError("RESTORE … FROM DATABASE_SNAPSHOT")
    database = machine.text(statement.database)
    if database.lower() in SYSTEM_DATABASES:
        raise UnsimulatedFeatureError("RESTORE of a system database")
    _check_options(machine, statement, RESTORE_OPTIONS)
    options = {name: machine.value(value) for name, value in statement.options}
    standby = "STANDBY" in options
    recovery = "NORECOVERY" not in options and not standby
    if not statement.devices:
        if not recovery:
            raise SqlError(102, database)
        return statements.restore_with_recovery(world, server, database)
    other = sorted(_WHOLE_RESTORE & options.keys())
    if other:
        raise UnsimulatedFeatureError(
            f"RESTORE … WITH {other[0]}" if other != ["PARTIAL"] else "RESTORE of parts: pages, files"
        )
    path = _one_device(machine, statement.devices)
    number = int(to_number(options.get("FILE", 1)))
    stop = options.get("STOPAT")
    stop_tick = (
        clock.tick_of(world, to_text(stop, 121 if is_moment(stop) else 0)) if stop is not None else None
    )
    ending = restore.Ending(recovery, standby, stop_tick)
    if statement.what == "LOG":
        return restore.restore_log(world, server, database, path, ending=ending, file=number)
    return restore.restore_database(
        world,
        server,
        database,
        path,
        ending=ending,
        replace_existing="REPLACE" in options,
        moves={machine.text(name): machine.text(to) for name, to in statement.moves},
        file=number,
        login=machine.session.login,
    )


def _restore_info(machine: Machine, statement: s.RestoreInfo) -> Outcome:
    path = _one_device(machine, statement.devices)
    found = restore.list_backup_sets(machine.world, machine.session.server, path, statement.title)
    number = int(to_number(machine.value(dict(statement.options).get("FILE", 1))))
    if not 1 <= number <= len(found):
        raise SqlError(4038, number, path, also=(3013,), title=statement.title)
    chosen = found[number - 1]
    if statement.what in ("VERIFYONLY", "FILELISTONLY"):  # the header alone is not encrypted
        encryption.need_key(machine.context.server, chosen.encryption_key, statement.title)
    if statement.what == "VERIFYONLY":
        return [Message(3262, 0, 1, 0, fill_message(3262, number)[1])]
    if statement.what == "HEADERONLY":
        _show(machine, backupsets.header(machine.context, found))
    elif statement.what == "FILELISTONLY":
        _show(machine, backupsets.file_list(machine.context, chosen))
    else:
        raise UnsimulatedFeatureError(statement.title)
    return []


def _show(machine: Machine, grid: backupsets.Grid) -> None:
    columns, rows = grid
    machine.add_result(columns, rows)
    machine.say_rows(len(rows))


COMMANDS: Final[dict[type[s.Statement], Callable[[Machine, Any], Outcome]]] = {
    s.Backup: _backup,
    s.Restore: _restore,
    s.RestoreInfo: _restore_info,
}
