"""BACKUP and RESTORE: their options, and their information about a file.

Documented [DOC: BACKUP; RESTORE arguments].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from engine.messages import Message, SqlError, fill_message
from engine.model import ticks
from engine.protocol import backup, clock, encryption, logspace, restore, statements
from engine.tsql.batches import access, backupsets
from engine.tsql.batches.context import SYSTEM_DATABASES
from engine.tsql.batches.machine import Machine
from engine.tsql.catalog.configurations import option_value
from engine.tsql.language import option_table
from engine.tsql.language import statements as s
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import Scalar, is_moment, to_number, to_text

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
    _check_options(machine, statement)
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
            details=_details(machine, statement, copy.database if copy is not None else database),
        )
    return backup.backup_database(
        world,
        server,
        database,
        path,
        differential="DIFFERENTIAL" in options,
        copy_only="COPY_ONLY" in options,
        init=init,
        details=_details(machine, statement, copy.database if copy is not None else database),
    )


def _check_options(machine: Machine, statement: s.Backup | s.Restore | s.RestoreInfo) -> None:
    """Raise 155 for an option that does not exist, 3031 for those that contradict; refuse what is not simulated."""
    written = [name for name, _ in statement.options]
    ends = [name for name in ("NORECOVERY", "RECOVERY", "STANDBY") if name in written]
    if len(ends) > 1:
        raise SqlError(3031, ends[0].lower(), ends[1].lower(), also=(3013,))
    pairs = [(name, _shown_value(machine, name, value)) for name, value in statement.options]
    option_table.check_options(statement.title.split()[0], pairs, machine.context.version)


def _shown_value(machine: Machine, name: str, value: s.Value) -> Scalar:
    """Return the value of an option; a group in brackets is text already."""
    given = machine.value(value)
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _stats(options: dict[str, Any]) -> int:
    """Return the percent between two progress messages: that of STATS, 10 for the bare word, 0 without it."""
    if "STATS" not in options:
        return 0
    return min(100, max(1, int(to_number(options["STATS"])))) if options["STATS"] is not None else 10


RETAIN_DAYS_MAX: Final = 99_999
"""Maximum of RETAINDAYS. Known."""


def _details(machine: Machine, statement: s.Backup, database: str) -> backup.BackupDetails:
    """Return the options that the backup set keeps [DOC: BACKUP; backup checksum default]."""
    options = {name: machine.value(value) for name, value in statement.options}
    version, world = machine.context.version, machine.world
    default = "COMPRESSION" in options
    if version >= 2008 and not {"COMPRESSION", "NO_COMPRESSION"} & options.keys():
        default = option_value(machine.context, "backup compression default") == 1
    checked = "CHECKSUM" in options or default
    if version >= 2014 and not checked:
        checked = option_value(machine.context, "backup checksum default") == 1
    expires = None
    if options.get("RETAINDAYS") is not None:
        days = to_number(options["RETAINDAYS"])
        if not 0 <= days <= RETAIN_DAYS_MAX:
            raise SqlError(102, options["RETAINDAYS"])
        expires = world.tick + ticks(86_400.0 * int(days))
    elif options.get("EXPIREDATE") is not None:
        stop = options["EXPIREDATE"]
        expires = clock.tick_of(world, to_text(stop, 121 if is_moment(stop) else 0))
    return backup.BackupDetails(
        name=None if options.get("NAME") is None else to_text(options["NAME"]),
        description=None if options.get("DESCRIPTION") is None else to_text(options["DESCRIPTION"]),
        expires_tick=expires,
        checksum=checked and "NO_CHECKSUM" not in options,
        compressed=default,
        stats=_stats(options),
        skip=bool({"SKIP", "FORMAT"} & options.keys()),
        login=machine.session.login,
        single_user=access.mode_of(world, machine.session.server, database) == "SINGLE_USER",
    )


def _restore(machine: Machine, statement: s.Restore) -> Outcome:
    world, server = machine.world, machine.session.server
    if statement.snapshot is not None:
        raise UnsimulatedFeatureError("RESTORE … FROM DATABASE_SNAPSHOT")
    database = machine.text(statement.database)
    if database.lower() in SYSTEM_DATABASES:
        raise UnsimulatedFeatureError("RESTORE of a system database")
    _check_options(machine, statement)
    options = {name: machine.value(value) for name, value in statement.options}
    standby = "STANDBY" in options
    recovery = "NORECOVERY" not in options and not standby
    if not statement.devices:
        if not recovery:
            raise SqlError(102, database)
        return statements.restore_with_recovery(world, server, database)
    path = _one_device(machine, statement.devices)
    number = int(to_number(options.get("FILE", 1)))
    stop = options.get("STOPAT")
    stop_tick = (
        clock.tick_of(world, to_text(stop, 121 if is_moment(stop) else 0)) if stop is not None else None
    )
    ending = restore.Ending(
        recovery, standby, stop_tick, stats=_stats(options), checksum="CHECKSUM" in options
    )
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
    _check_options(machine, statement)
    path = _one_device(machine, statement.devices)
    found = restore.list_backup_sets(machine.world, machine.session.server, path, statement.title)
    number = int(to_number(machine.value(dict(statement.options).get("FILE", 1))))
    if not 1 <= number <= len(found):
        raise SqlError(4038, number, path, also=(3013,), title=statement.title)
    chosen = found[number - 1]
    if statement.what in ("VERIFYONLY", "FILELISTONLY"):  # only the header is not encrypted
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
