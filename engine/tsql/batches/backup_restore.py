"""BACKUP and RESTORE: their options, and the statements that show the contents of a backup file.

Documented [DOC: BACKUP; RESTORE arguments].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from engine.constants import COMPATIBILITY_LEVELS, DATABASE_FILE_VERSIONS, PRODUCT_VERSIONS
from engine.identifiers import make_unique_id
from engine.messages import Message, SqlError, fill_message
from engine.model import DatabaseCopy, DbFile, to_ticks
from engine.protocol import backup, clock, log_space, options, restore, statements, volumes
from engine.protocol.lineage import format_lsn
from engine.protocol.restore import list_backup_files
from engine.tsql.batches import access
from engine.tsql.batches.context import SYSTEM_DATABASES, StatementContext
from engine.tsql.batches.data import Row
from engine.tsql.batches.machine import ExecutionMachine
from engine.tsql.batches.work import StatementHandler
from engine.tsql.catalog.configurations import get_option_value
from engine.tsql.catalog.databases import COLLATION
from engine.tsql.language import option_table
from engine.tsql.language import statements as s
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import Scalar, is_stored_date, to_number, to_text

Outcome = statements.Outcome


def _require_one_device(machine: ExecutionMachine, devices: tuple[s.Value, ...]) -> str:
    """Return the path of the only device. Raise 3206 for a logical device."""
    if len(devices) > 1:
        raise UnsimulatedFeatureError("backups striped over several files")
    if isinstance(devices[0], s.LogicalDevice):
        raise SqlError(3206, devices[0], also=(3013,))
    return machine.resolve_text(devices[0])


def _execute_backup(machine: ExecutionMachine, statement: s.BackupStatement) -> Outcome:
    world, server = machine.world, machine.session.server
    database = machine.resolve_text(statement.database)
    options = dict(statement.options)
    _check_options(machine, statement)
    copy = machine.context.find_copy(database)
    if copy is not None and copy.bad_pages and {"CHECKSUM", "CONTINUE_AFTER_ERROR"} & options.keys():
        raise UnsimulatedFeatureError("BACKUP … WITH CHECKSUM of a database with damaged pages")
    if {"TRUNCATE_ONLY", "NO_LOG"} & options.keys():
        if machine.context.version >= 2008:
            raise (
                SqlError(155, "TRUNCATE_ONLY", "BACKUP")
                if "NO_LOG" not in options
                else SqlError(3032, "no_log")
            )
        return log_space.truncate_log(world, server, database)
    if not statement.devices:
        raise SqlError(102, database)
    _check_backup_kind_options(statement, database)
    path = _require_one_device(machine, statement.devices)
    init = bool({"INIT", "FORMAT"} & options.keys())
    if statement.backup_type == "LOG":
        return backup.back_up_log(
            world,
            server,
            database,
            path,
            norecovery="NORECOVERY" in options,
            no_truncate="NO_TRUNCATE" in options,
            copy_only="COPY_ONLY" in options,
            init=init,
            details=_build_backup_details(
                machine, statement, copy.database if copy is not None else database
            ),
        )
    return backup.back_up_database(
        world,
        server,
        database,
        path,
        differential="DIFFERENTIAL" in options,
        copy_only="COPY_ONLY" in options,
        init=init,
        details=_build_backup_details(machine, statement, copy.database if copy is not None else database),
    )


_LOG_BACKUP_OPTIONS, _DATABASE_BACKUP_OPTIONS = ("NORECOVERY", "STANDBY", "NO_TRUNCATE"), ("DIFFERENTIAL",)
"""Options of BACKUP LOG only, and options of BACKUP DATABASE only. Documented [DOC: BACKUP]."""


def _check_backup_kind_options(statement: s.BackupStatement, database: str) -> None:
    """Raise an error for an option that this kind of backup does not have.

    Raise 3032 for an option of the other kind (database or log), 3024 for a differential backup of master.
    """
    option_names = [name for name, _ in statement.options]
    other_options = _DATABASE_BACKUP_OPTIONS if statement.backup_type == "LOG" else _LOG_BACKUP_OPTIONS
    wrong_options = [name.lower() for name in other_options if name in option_names]
    if wrong_options:
        raise SqlError(3032, ", ".join(wrong_options), also=(3013,), title=statement.title)
    if database.lower() == "master" and "DIFFERENTIAL" in option_names:
        raise SqlError(3024, also=(3013,), title=statement.title)


def _check_options(
    machine: ExecutionMachine,
    statement: s.BackupStatement | s.RestoreStatement | s.RestoreInformationStatement,
) -> None:
    """Check the options of a BACKUP or RESTORE.

    Raise 155 for an unknown option, 3031 for contradictory options, UnsimulatedFeatureError for an option
    that is not simulated.
    """
    option_names = [name for name, _ in statement.options]
    for alternatives in _EXCLUSIVE_OPTIONS:
        used_names = [name for name in alternatives if name in option_names]
        if len(used_names) > 1:
            raise SqlError(
                3031, used_names[0].lower(), used_names[1].lower(), also=(3013,), title=statement.title
            )
    pairs = [(name, _evaluate_option(machine, name, value)) for name, value in statement.options]
    kind = "BACKUP" if isinstance(statement, s.BackupStatement) else "RESTORE"
    option_table.check_options(kind, pairs, machine.context.version)


_EXCLUSIVE_OPTIONS: Final = (
    ("NORECOVERY", "RECOVERY", "STANDBY"), ("NO_CHECKSUM", "CHECKSUM"), ("NO_COMPRESSION", "COMPRESSION"),
    ("NOINIT", "INIT"), ("NOSKIP", "SKIP"), ("NOFORMAT", "FORMAT"), ("CONTINUE_AFTER_ERROR", "STOP_ON_ERROR"),
    ("NOUNLOAD", "UNLOAD"), ("NOREWIND", "REWIND"), ("RETAINDAYS", "EXPIREDATE"),
)  # fmt: skip
"""Sets of options that exclude each other. Documented [DOC: BACKUP; RESTORE arguments]."""


def _evaluate_option(machine: ExecutionMachine, name: str, value: s.Value) -> Scalar:
    """Return the value of an option, with a whole number as int."""
    number = machine.resolve_value(value)
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _get_progress_interval(options: Mapping[str, Scalar]) -> int:
    """Return the percentage between two progress messages; 0 means no messages.

    The option STATS sets the percentage; it is 10 for STATS without a value.
    """
    if "STATS" not in options:
        return 0
    return min(100, max(1, int(to_number(options["STATS"])))) if options["STATS"] is not None else 10


RETAIN_DAYS_MAX: Final = 99_999
"""Maximum value of RETAINDAYS. Known."""


def _build_backup_details(
    machine: ExecutionMachine, statement: s.BackupStatement, database: str
) -> backup.BackupDetails:
    """Return the details that the backup set stores [DOC: BACKUP; backup checksum default]."""
    options = {name: machine.resolve_value(value) for name, value in statement.options}
    version, world = machine.context.version, machine.world
    is_compressed = "COMPRESSION" in options
    if version >= 2008 and not {"COMPRESSION", "NO_COMPRESSION"} & options.keys():
        is_compressed = get_option_value(machine.context, "backup compression default") == 1
    has_checksum = "CHECKSUM" in options or is_compressed
    if version >= 2014 and not has_checksum:
        has_checksum = get_option_value(machine.context, "backup checksum default") == 1
    expiry_tick = None
    if options.get("RETAINDAYS") is not None:
        days = to_number(options["RETAINDAYS"])
        if not 0 <= days <= RETAIN_DAYS_MAX:
            raise SqlError(102, options["RETAINDAYS"])
        expiry_tick = world.tick + to_ticks(86_400.0 * int(days))
    elif options.get("EXPIREDATE") is not None:
        stop = options["EXPIREDATE"]
        expiry_tick = clock.parse_tick(world, to_text(stop, 121 if is_stored_date(stop) else 0))
    return backup.BackupDetails(
        name=None if options.get("NAME") is None else to_text(options["NAME"]),
        description=None if options.get("DESCRIPTION") is None else to_text(options["DESCRIPTION"]),
        expires_tick=expiry_tick,
        checksum=has_checksum and "NO_CHECKSUM" not in options,
        compressed=is_compressed,
        stats=_get_progress_interval(options),
        skip=bool({"SKIP", "FORMAT"} & options.keys()),
        login=machine.session.login,
        single_user=access.get_access_mode(world, machine.session.server, database) == "SINGLE_USER",
    )


def _execute_restore(machine: ExecutionMachine, statement: s.RestoreStatement) -> Outcome:
    world, server = machine.world, machine.session.server
    if statement.snapshot is not None:
        raise UnsimulatedFeatureError("RESTORE … FROM DATABASE_SNAPSHOT")
    database = machine.resolve_text(statement.database)
    if database.lower() == "master":
        raise SqlError(3108, also=(3013,), title=statement.title)
    if database.lower() == "tempdb":
        raise SqlError(3147, also=(3013,), title=statement.title)
    if database.lower() in SYSTEM_DATABASES:
        raise UnsimulatedFeatureError("RESTORE of a system database")
    _check_options(machine, statement)
    options = {name: machine.resolve_value(value) for name, value in statement.options}
    standby = "STANDBY" in options
    recovery = "NORECOVERY" not in options and not standby
    if not statement.devices:
        return statements.restore_without_backup(world, server, database, recovery=recovery, standby=standby)
    path = _require_one_device(machine, statement.devices)
    number = int(to_number(options.get("FILE", 1)))
    stop = options.get("STOPAT")
    stop_tick = (
        clock.parse_tick(world, to_text(stop, 121 if is_stored_date(stop) else 0))
        if stop is not None
        else None
    )
    ending = restore.RestoreState(
        recovery, standby, stop_tick, stats=_get_progress_interval(options), checksum="CHECKSUM" in options
    )
    if statement.restore_type == "LOG":
        return restore.restore_log(world, server, database, path, ending=ending, file=number)
    return restore.restore_database(
        world,
        server,
        database,
        path,
        ending=ending,
        replace_existing="REPLACE" in options,
        moves={
            machine.resolve_text(name): machine.resolve_text(target_path)
            for name, target_path in statement.moves
        },
        file=number,
        login=machine.session.login,
    )


def _show_backup_information(machine: ExecutionMachine, statement: s.RestoreInformationStatement) -> Outcome:
    _check_options(machine, statement)
    path = _require_one_device(machine, statement.devices)
    sets = restore.list_backup_sets(machine.world, machine.session.server, path, statement.title)
    number = int(to_number(machine.resolve_value(dict(statement.options).get("FILE", 1))))
    if not 1 <= number <= len(sets):
        raise SqlError(4038, number, path, also=(3013,), title=statement.title)
    backup_set = sets[number - 1]
    if statement.information in (
        "VERIFYONLY",
        "FILELISTONLY",
    ):  # the other statements read only the unencrypted header
        options.require_certificate(machine.context.server, backup_set.encryption_key, statement.title)
    if statement.information == "VERIFYONLY":
        if "CHECKSUM" in dict(statement.options) and not backup_set.details.checksum:
            raise SqlError(3187, also=(3013,), title=statement.title)
        return [Message(3262, 0, 1, 0, fill_message(3262, number)[1])]
    if statement.information == "HEADERONLY":
        machine.report_partly_simulated(
            "DatabaseCreationDate, BindingID and BeginsLogChain of RESTORE HEADERONLY; NULL here"
        )
        _show_result_set(machine, build_header_list(machine.context, sets))
    elif statement.information == "FILELISTONLY":
        _show_result_set(machine, build_file_list(machine.context, backup_set))
    else:
        raise UnsimulatedFeatureError(statement.title)
    return []


def _show_result_set(machine: ExecutionMachine, grid: ResultGrid) -> None:
    columns, rows = grid
    machine.add_result(columns, rows)
    machine.append_row_count(len(rows))


COMMANDS: Final[dict[type[s.Statement], StatementHandler[ExecutionMachine, Outcome]]] = {
    s.BackupStatement: _execute_backup,
    s.RestoreStatement: _execute_restore,
    s.RestoreInformationStatement: _show_backup_information,
}
"""Class of a statement -> function that executes it."""


# --- result sets of RESTORE FILELISTONLY and HEADERONLY, with every column of each version ----------------
# Scripts insert the rows into their own tables with INSERT … EXEC, so the number and order of the columns
# matter.
# Documented [DOC: RESTORE FILELISTONLY; RESTORE HEADERONLY]. The numbers of the collation are from public
# listings.

ResultGrid = tuple[tuple[str, ...], list[Row]]
"""Column names and rows of a result set."""

_FILE_COLUMNS: Final = """
LogicalName PhysicalName Type FileGroupName Size MaxSize FileId CreateLSN DropLSN UniqueId ReadOnlyLSN
ReadWriteLSN BackupSizeInBytes SourceBlockSize FileGroupId LogGroupGUID DifferentialBaseLSN
DifferentialBaseGUID IsReadOnly IsPresent TDEThumbprint:2008
"""
"""Columns of RESTORE FILELISTONLY in order. `:2008` marks a column that exists since version 2008."""
_HEADER_COLUMNS: Final = """
BackupName BackupDescription BackupType ExpirationDate Compressed Position DeviceType UserName ServerName
DatabaseName DatabaseVersion DatabaseCreationDate BackupSize FirstLSN LastLSN CheckpointLSN DatabaseBackupLSN
BackupStartDate BackupFinishDate SortOrder CodePage UnicodeLocaleId UnicodeComparisonStyle CompatibilityLevel
SoftwareVendorId SoftwareVersionMajor SoftwareVersionMinor SoftwareVersionBuild MachineName Flags BindingID
RecoveryForkID Collation FamilyGUID HasBulkLoggedData IsSnapshot IsReadOnly IsSingleUser HasBackupChecksums
IsDamaged BeginsLogChain HasIncompleteMetaData IsForceOffline IsCopyOnly FirstRecoveryForkID ForkPointLSN
RecoveryModel DifferentialBaseLSN DifferentialBaseGUID BackupTypeDescription BackupSetGUID
CompressedBackupSize:2008 Containment:2012 KeyAlgorithm:2014 EncryptorThumbprint:2014 EncryptorType:2014
"""
"""Columns of RESTORE HEADERONLY in order. `:2008` marks a column that exists since version 2008."""

_BACKUP_TYPES: Final = {
    backup.DATABASE_BACKUP_KIND: (1, "Database"),
    backup.LOG_BACKUP_KIND: (2, "Transaction Log"),
    backup.DIFFERENTIAL_BACKUP_KIND: (5, "Database Differential"),
}
"""Kind of a backup -> (BackupType, BackupTypeDescription). Documented [DOC: backupset]."""

_VERSION_COLUMNS: Final = ("SoftwareVersionMajor", "SoftwareVersionMinor", "SoftwareVersionBuild")
_UNLIMITED_BYTES: Final = 35_184_372_080_640
"""MaxSize of a file without a limit: 2^32 − 1 pages of 8 KB, as the product shows it for data files."""


def build_file_list(context: StatementContext, backup_set: backup.BackupSet) -> ResultGrid:
    """Return the database files in the backup set as rows, with their original paths."""
    image = backup_set.image
    records = (
        []
        if image is None
        else [_build_file_record(image, f, n) for n, f in enumerate(list_backup_files(backup_set), start=1)]
    )
    return _build_grid(context, _FILE_COLUMNS, records)


def build_header_list(context: StatementContext, sets: Sequence[backup.BackupSet]) -> ResultGrid:
    """Return one row for each backup set in the file."""
    return _build_grid(
        context,
        _HEADER_COLUMNS,
        [_build_header_record(context, backup_set, n) for n, backup_set in enumerate(sets, start=1)],
    )


def _build_grid(context: StatementContext, columns: str, records: list[dict[str, Scalar]]) -> ResultGrid:
    column_parts = [word.partition(":") for word in columns.split()]
    names = tuple(
        name for name, _, first_version in column_parts if int(first_version or 0) <= context.version
    )
    return names, [tuple(record.get(name) for name in names) for record in records]


def _build_file_record(image: DatabaseCopy, file: DbFile, number: int) -> dict[str, Scalar]:
    """Return a row of RESTORE FILELISTONLY as column -> value."""
    size = int(file.size_kb * 1024)
    size_max = int(image.log_max_kb * 1024) if file.log else _UNLIMITED_BYTES
    return {
        "LogicalName": file.name,
        "PhysicalName": volumes.get_file_path(image, file),
        "Type": "L" if file.log else "D",
        "FileGroupName": None if file.log else "PRIMARY",
        "Size": size,
        "MaxSize": size_max,
        "FileId": number,
        "CreateLSN": 0,
        "DropLSN": 0,
        "UniqueId": make_unique_id("file", image.family, file.name),
        "ReadOnlyLSN": 0,
        "ReadWriteLSN": 0,
        "BackupSizeInBytes": 0 if file.log else size,
        "SourceBlockSize": 512,
        "FileGroupId": 0 if file.log else 1,
        "IsReadOnly": 0,
        "IsPresent": 1,
        "TDEThumbprint": options.format_thumbprint(image.encryption_key) if image.encryption_key else None,
    }


def _build_header_record(
    context: StatementContext, backup_set: backup.BackupSet, position: int
) -> dict[str, Scalar]:
    """Return a row of RESTORE HEADERONLY as column -> value."""
    kind, described = _BACKUP_TYPES[backup_set.kind]
    size, details = int(backup_set.backup_kb * 1024), backup_set.details
    expires = details.expires_tick
    return {
        "BackupName": details.name,
        "BackupDescription": details.description,
        "ExpirationDate": context.get_datetime_value(expires) if expires is not None else None,
        "BackupType": kind,
        "Compressed": int(details.compressed),
        "Position": position,
        "DeviceType": 2,
        "UserName": details.login,
        "ServerName": backup_set.server,
        "DatabaseName": backup_set.database,
        "BackupSize": size,
        "FirstLSN": format_lsn(backup_set.first_kb),
        "LastLSN": format_lsn(backup_set.last_kb),
        "CheckpointLSN": format_lsn(backup_set.first_kb),
        "DatabaseBackupLSN": format_lsn(backup_set.base_kb) if backup_set.base_kb is not None else 0,
        "DifferentialBaseLSN": format_lsn(backup_set.base_kb or 0.0) if kind == 5 else None,
        "BackupStartDate": context.get_datetime_value(backup_set.started_tick),
        "BackupFinishDate": context.get_datetime_value(backup_set.tick),
        "DatabaseVersion": DATABASE_FILE_VERSIONS[backup_set.version],
        "CompatibilityLevel": (backup_set.image and backup_set.image.compatibility_level)
        or COMPATIBILITY_LEVELS[backup_set.version],
        "SortOrder": 52,
        "CodePage": 0,
        "UnicodeLocaleId": 1033,
        "UnicodeComparisonStyle": 196609,
        "Collation": COLLATION,
        "SoftwareVendorId": 4608,
        **dict(
            zip(_VERSION_COLUMNS, map(int, PRODUCT_VERSIONS[backup_set.version][0].split(".")), strict=False)
        ),
        "MachineName": backup_set.server,
        "RecoveryForkID": make_unique_id("fork", backup_set.family, backup_set.fork),
        "FamilyGUID": make_unique_id("family", backup_set.family),
        "HasBulkLoggedData": int(backup_set.bulk_logged),
        "IsSnapshot": 0,
        "IsReadOnly": int(backup_set.read_only),
        "IsSingleUser": int(details.single_user),
        "HasBackupChecksums": int(details.checksum),
        "IsDamaged": 0,
        "HasIncompleteMetaData": int(backup_set.incomplete),
        "IsForceOffline": int(backup_set.tail),
        "Flags": backup_set.flags,
        "IsCopyOnly": int(backup_set.copy_only),
        "FirstRecoveryForkID": make_unique_id("fork", backup_set.family, 0),
        "RecoveryModel": backup_set.recovery_model.name,
        "BackupTypeDescription": described,
        "BackupSetGUID": make_unique_id("backup", backup_set.server, backup_set.id),
        "CompressedBackupSize": int(backup_set.size_kb * 1024),
        "Containment": 0,
    }
