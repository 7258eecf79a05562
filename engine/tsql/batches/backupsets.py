"""Result sets of RESTORE FILELISTONLY and HEADERONLY, with every column of each version.

Scripts insert them into their own tables by INSERT … EXEC, so number and order of the columns matter. Documented
[DOC: RESTORE FILELISTONLY; RESTORE HEADERONLY]. Values that are not simulated are NULL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.constants import PRODUCT
from engine.identifiers import unique_id
from engine.model import DatabaseCopy, DbFile
from engine.protocol import backup, encryption, volumes
from engine.protocol.lineage import lsn
from engine.protocol.restore import list_backup_files
from engine.tsql.batches.context import Context
from engine.tsql.batches.data import Row
from engine.tsql.scalars.values import Scalar

Grid = tuple[tuple[str, ...], list[Row]]

_FILE_COLUMNS: Final = """
LogicalName PhysicalName Type FileGroupName Size MaxSize FileId CreateLSN DropLSN UniqueId ReadOnlyLSN
ReadWriteLSN BackupSizeInBytes SourceBlockSize FileGroupId LogGroupGUID DifferentialBaseLSN
DifferentialBaseGUID IsReadOnly IsPresent TDEThumbprint:2008
"""
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
"""Columns in order; a year after a column is the first version that has it."""

_TYPES: Final = {
    backup.DATABASE: (1, "Database"),
    backup.LOG: (2, "Transaction Log"),
    backup.DIFFERENTIAL: (5, "Database Differential"),
}
"""BackupType and its description. Documented [DOC: backupset]."""

_MAJOR: Final = {version: int(number.partition(".")[0]) for version, (number, *_) in PRODUCT.items()}
_UNLIMITED_BYTES: Final = 35_184_372_080_640
"""MaxSize of a file without a limit: 2^31 pages of 8 KB, as the product shows it for data files."""


def file_list(context: Context, backup_set: backup.BackupSet) -> Grid:
    """Return the files of the database in the backup, each with the path that it had where it was taken."""
    image = backup_set.image
    records = (
        []
        if image is None
        else [_file(image, f, n) for n, f in enumerate(list_backup_files(backup_set), start=1)]
    )
    return _grid(context, _FILE_COLUMNS, records)


def header(context: Context, sets: Sequence[backup.BackupSet]) -> Grid:
    """Return one row for each backup in the file."""
    return _grid(context, _HEADER_COLUMNS, [_header(context, one, n) for n, one in enumerate(sets, start=1)])


def _grid(context: Context, columns: str, records: list[dict[str, Scalar]]) -> Grid:
    named = [word.partition(":") for word in columns.split()]
    names = tuple(name for name, _, since in named if int(since or 0) <= context.version)
    return names, [tuple(record.get(name) for name in names) for record in records]


def _file(image: DatabaseCopy, file: DbFile, number: int) -> dict[str, Scalar]:
    size = int(file.size_kb * 1024)
    most = int(image.log_max_kb * 1024) if file.log else _UNLIMITED_BYTES
    return {
        "LogicalName": file.name,
        "PhysicalName": volumes.path_of(image, file),
        "Type": "L" if file.log else "D",
        "FileGroupName": None if file.log else "PRIMARY",
        "Size": size,
        "MaxSize": most,
        "FileId": number,
        "CreateLSN": 0,
        "DropLSN": 0,
        "UniqueId": unique_id("file", image.family, file.name),
        "ReadOnlyLSN": 0,
        "ReadWriteLSN": 0,
        "BackupSizeInBytes": 0 if file.log else size,
        "SourceBlockSize": 512,
        "FileGroupId": 0 if file.log else 1,
        "IsReadOnly": 0,
        "IsPresent": 1,
        "TDEThumbprint": encryption.thumbprint(image.encryption_key) if image.encryption_key else None,
    }


def _header(context: Context, backup_set: backup.BackupSet, position: int) -> dict[str, Scalar]:
    kind, described = _TYPES[backup_set.kind]
    size, details = int(backup_set.backup_kb * 1024), backup_set.details
    expires = details.expires_tick
    return {
        "BackupName": details.name,
        "BackupDescription": details.description,
        "ExpirationDate": context.datetime_value(expires) if expires is not None else None,
        "BackupType": kind,
        "Compressed": int(details.compressed),
        "Position": position,
        "DeviceType": 2,
        "UserName": details.login,
        "ServerName": backup_set.server,
        "DatabaseName": backup_set.database,
        "BackupSize": size,
        "FirstLSN": lsn(backup_set.first_kb),
        "LastLSN": lsn(backup_set.last_kb),
        "CheckpointLSN": lsn(backup_set.first_kb),
        "DatabaseBackupLSN": lsn(backup_set.first_kb),
        "BackupStartDate": context.datetime_value(backup_set.started_tick),
        "BackupFinishDate": context.datetime_value(backup_set.tick),
        "SoftwareVersionMajor": _MAJOR.get(backup_set.version),
        "MachineName": backup_set.server,
        "RecoveryForkID": unique_id("fork", backup_set.family, backup_set.fork),
        "FamilyGUID": unique_id("family", backup_set.family),
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
        "FirstRecoveryForkID": unique_id("fork", backup_set.family, 0),
        "RecoveryModel": backup_set.recovery_model.name,
        "BackupTypeDescription": described,
        "BackupSetGUID": unique_id("backup", backup_set.server, backup_set.id),
        "CompressedBackupSize": int(backup_set.size_kb * 1024),
        "Containment": 0,
    }
