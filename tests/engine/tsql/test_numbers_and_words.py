"""Numbers in catalog columns and the documented words in their columns `…_desc`.

The table is written from the documentation of each view, not from the code.
"""

from __future__ import annotations

import pytest

from engine.model import World
from engine.tsql.catalog.shapes import VIEW_SCHEMAS, list_view_columns
from engine.tsql.catalog.view import CATALOG_VIEWS
from tests.engine.availability.worlds import build_ag_lab
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import build_lab, play_script

DOCUMENTED_WORDS: dict[str, str] = {
    "availability_mode": "0 ASYNCHRONOUS_COMMIT 1 SYNCHRONOUS_COMMIT 4 CONFIGURATION_ONLY",
    "failover_mode": "0 AUTOMATIC 1 MANUAL",
    "seeding_mode": "0 AUTOMATIC 1 MANUAL",
    "primary_role_allow_connections": "2 ALL 3 READ_WRITE",
    "secondary_role_allow_connections": "0 NO 1 READ_ONLY 2 ALL",
    "automated_backup_preference": "0 PRIMARY 1 SECONDARY_ONLY 2 SECONDARY 3 NONE",
    "cluster_type": "0 wsfc 1 external 2 none",
    "connected_state": "0 DISCONNECTED 1 CONNECTED",
    "operational_state": "0 PENDING_FAILOVER 1 PENDING 2 ONLINE 3 OFFLINE 4 FAILED 5 FAILED_NO_QUORUM",
    "recovery_health": "0 ONLINE_IN_PROGRESS 1 ONLINE",
    "primary_recovery_health": "0 ONLINE_IN_PROGRESS 1 ONLINE",
    "secondary_recovery_health": "0 ONLINE_IN_PROGRESS 1 ONLINE",
    "synchronization_health": "0 NOT_HEALTHY 1 PARTIALLY_HEALTHY 2 HEALTHY",
    "synchronization_state": "0 NOT|SYNCHRONIZING 1 SYNCHRONIZING 2 SYNCHRONIZED 3 REVERTING 4 INITIALIZING",
    "suspend_reason": "0 SUSPEND_FROM_USER 1 SUSPEND_FROM_PARTNER 2 SUSPEND_FROM_REDO 3 SUSPEND_FROM_CAPTURE "
    "4 SUSPEND_FROM_APPLY 5 SUSPEND_FROM_RESTART 6 SUSPEND_FROM_UNDO 7 SUSPEND_FROM_REVALIDATION "
    "8 SUSPEND_FROM_XRF_UPDATE",
    "database_state": "0 ONLINE 1 RESTORING 2 RECOVERING 3 RECOVERY_PENDING 4 SUSPECT 5 EMERGENCY 6 OFFLINE",
    "join_state": "0 NOT_JOINED 1 JOINED_STANDALONE_INSTANCE 2 JOINED_FAILOVER_CLUSTER_INSTANCE",
    "quorum_type": "0 NODE_MAJORITY 1 NODE_AND_DISK_MAJORITY 2 NODE_AND_FILE_SHARE_MAJORITY 5 CLOUD_WITNESS",
    "quorum_state": "0 UNKNOWN_QUORUM_STATE 1 NORMAL_QUORUM 2 FORCED_QUORUM",
    "member_type": "0 CLUSTER_NODE 1 DISK_WITNESS 2 FILE_SHARE_WITNESS 3 CLOUD_WITNESS",
    "member_state": "0 DOWN 1 UP",
    "mirroring_state": "0 SUSPENDED 1 DISCONNECTED 2 SYNCHRONIZING 3 PENDING_FAILOVER 4 SYNCHRONIZED "
    "5 UNSYNCHRONIZED 6 SYNCHRONIZED",
    "mirroring_role": "1 PRINCIPAL 2 MIRROR",
    "mirroring_safety_level": "0 UNKNOWN 1 OFF 2 FULL",
    "safety_level": "0 UNKNOWN 1 OFF 2 FULL",
    "mirroring_witness_state": "0 UNKNOWN 1 CONNECTED 2 DISCONNECTED",
    "partner_sync_state": "5 SYNCHRONIZED 6 UNSYNCHRONIZED",
    "recovery_model": "1 FULL 2 BULK_LOGGED 3 SIMPLE",
    "page_verify_option": "0 NONE 1 TORN_PAGE_DETECTION 2 CHECKSUM",
    "user_access": "0 MULTI_USER 1 SINGLE_USER 2 RESTRICTED_USER",
    "snapshot_isolation_state": "0 OFF 1 ON 2 IN_TRANSITION_TO_ON 3 IN_TRANSITION_TO_OFF",
    "delayed_durability": "0 DISABLED 1 ALLOWED 2 FORCED",
    "containment": "0 NONE 1 PARTIAL",
    "catalog_collation_type": "0 DATABASE_DEFAULT 2 SQL_Latin1_General_CP1_CI_AS",
    "connection_auth": "1 NTLM 2 KERBEROS 3 NEGOTIATE 4 CERTIFICATE 5 NTLM,|CERTIFICATE 6 KERBEROS,|CERTIFICATE "
    "7 NEGOTIATE,|CERTIFICATE 8 CERTIFICATE,|NTLM 9 CERTIFICATE,|KERBEROS 10 CERTIFICATE,|NEGOTIATE",
    "encryption_algorithm": "0 NONE 1 RC4 2 AES 3 NONE,|RC4 4 NONE,|AES 5 RC4,|AES 6 AES,|RC4 "
    "7 NONE,|RC4,|AES 8 NONE,|AES,|RC4",
    "protocol": "1 HTTP 2 TCP 3 NAMED_PIPES 4 SHARED_MEMORY 5 VIA",
    "temporal_type": "0 NON_TEMPORAL_TABLE 1 HISTORY_TABLE 2 SYSTEM_VERSIONED_TEMPORAL_TABLE",
    "lock_escalation": "0 TABLE 1 DISABLE 2 AUTO",
    "durability": "0 SCHEMA_AND_DATA 1 SCHEMA_ONLY",
    "data_compression": "0 NONE 1 ROW 2 PAGE 3 COLUMNSTORE 4 COLUMNSTORE_ARCHIVE",
    "generated_always_type": "0 NOT_APPLICABLE 1 AS_ROW_START 2 AS_ROW_END",
    "delete_referential_action": "0 NO_ACTION 1 CASCADE 2 SET_NULL 3 SET_DEFAULT",
    "update_referential_action": "0 NO_ACTION 1 CASCADE 2 SET_NULL 3 SET_DEFAULT",
    "authentication_type": "0 NONE 1 INSTANCE 2 DATABASE 3 EXTERNAL",
    "event_retention_mode": "M ALLOW_MULTIPLE_EVENT_LOSS S ALLOW_SINGLE_EVENT_LOSS N NO_EVENT_LOSS",
    "memory_partition_mode": "N NONE C PER_CPU M PER_NODE",
    "login_state": "0 INITIAL 1 WAIT|LOGIN|NEGOTIATE 2 ONE|ISC 3 ONE|ASC 4 TWO|ISC 5 TWO|ASC 6 WAIT|ISC|CONFIRM "
    "7 WAIT|ASC|CONFIRM 8 WAIT|REJECT 9 WAIT|PRE-MASTER|SECRET 10 WAIT|VALIDATION 11 WAIT|ARBITRATION 12 ONLINE "
    "13 ERROR",
    "startup_type": "0 Other 1 Other 2 Automatic 3 Manual 4 Disabled",
    "drive_type": "2 DRIVE_REMOVABLE 3 DRIVE_FIXED 4 DRIVE_REMOTE 5 DRIVE_CDROM",
    "pvt_key_encryption_type": "NA NO_PRIVATE_KEY MK ENCRYPTED_BY_MASTER_KEY PW ENCRYPTED_BY_PASSWORD "
    "SK ENCRYPTED_BY_SERVICE_MASTER_KEY",
    "sql_memory_model": "1 CONVENTIONAL 2 LOCK_PAGES 3 LARGE_PAGES",
    "softnuma_configuration": "0 OFF 1 ON 2 MANUAL",
    "virtual_machine_type": "0 NONE 1 HYPERVISOR 2 OTHER",
    "affinity_type": "1 MANUAL 2 AUTO",
    "time_source": "0 QUERY_PERFORMANCE_COUNTER 1 MULTIMEDIA_TIMER",
    "container_type": "0 NONE 1 LINUX|CONTAINER",
    "log_reuse_wait": "0 NOTHING 1 CHECKPOINT 2 LOG_BACKUP 3 ACTIVE_BACKUP_OR_RESTORE 4 ACTIVE_TRANSACTION "
    "5 DATABASE_MIRRORING 6 REPLICATION 7 DATABASE_SNAPSHOT_CREATION 8 LOG_SCAN 9 AVAILABILITY_REPLICA "
    "13 OLDEST_PAGE 16 XTP_CHECKPOINT",
    "desired_state": "0 OFF 1 READ_ONLY 2 READ_WRITE",
    "actual_state": "0 OFF 1 READ_ONLY 2 READ_WRITE 3 ERROR",
    "query_capture_mode": "1 ALL 2 AUTO 3 NONE 4 CUSTOM",
    "size_based_cleanup_mode": "0 OFF 1 AUTO",
    "wait_stats_capture_mode": "0 OFF 1 ON",
}
"""Numbers and words by column name; | replaces a blank within a word."""

WORDS_BY_VIEW: dict[tuple[str, str], str] = {
    ("sys.databases", "state"): DOCUMENTED_WORDS["database_state"],
    (
        "sys.database_files",
        "state",
    ): "0 ONLINE 1 RESTORING 2 RECOVERING 3 RECOVERY_PENDING 4 SUSPECT 6 OFFLINE 7 DEFUNCT",
    (
        "sys.master_files",
        "state",
    ): "0 ONLINE 1 RESTORING 2 RECOVERING 3 RECOVERY_PENDING 4 SUSPECT 6 OFFLINE 7 DEFUNCT",
    ("sys.availability_group_listener_ip_addresses", "state"): "0 OFFLINE 1 ONLINE 2 ONLINE_PENDING 3 FAILED",
    ("sys.database_files", "type"): "0 ROWS 1 LOG 2 FILESTREAM 4 FULLTEXT",
    ("sys.master_files", "type"): "0 ROWS 1 LOG 2 FILESTREAM 4 FULLTEXT",
    ("sys.indexes", "type"): "0 HEAP 1 CLUSTERED 2 NONCLUSTERED",
    ("sys.endpoints", "type"): "1 SOAP 2 TSQL 3 SERVICE_BROKER 4 DATABASE_MIRRORING",
    ("sys.database_mirroring_endpoints", "type"): "4 DATABASE_MIRRORING",
    ("sys.tcp_endpoints", "type"): "1 SOAP 2 TSQL 3 SERVICE_BROKER 4 DATABASE_MIRRORING",
    ("sys.endpoints", "state"): "0 STARTED 1 STOPPED 2 DISABLED",
    ("sys.tcp_endpoints", "state"): "0 STARTED 1 STOPPED 2 DISABLED",
    ("sys.database_mirroring_endpoints", "state"): "0 STARTED 1 STOPPED 2 DISABLED",
    ("sys.database_mirroring_endpoints", "role"): "0 NONE 1 PARTNER 2 WITNESS 3 ALL",
    ("sys.dm_hadr_availability_replica_states", "role"): "0 RESOLVING 1 PRIMARY 2 SECONDARY",
    ("sys.dm_tcp_listener_states", "type"): "0 TSQL 1 SERVICE_BROKER 2 DATABASE_MIRRORING",
    (
        "sys.dm_server_services",
        "status",
    ): "1 Stopped 2 StartPending 3 StopPending 4 Running 5 ContinuePending 6 PausePending 7 Paused",
    ("sys.dm_tcp_listener_states", "state"): "0 ONLINE 1 PENDING_RESTART",
    ("sys.dm_db_mirroring_connections", "state"): "1 NEW 2 CONNECTING 3 CONNECTED 4 LOGGED_IN 5 CLOSED",
}
EXCLUDED_COLUMNS = frozenset({"type", "class", "state"})
"""Columns with letters or with many classes, which other tests cover."""

MIRRORING_PLAYS = (
    "",
    "3 stop-service SERVER_B",
    "3 power-off SERVER_A",
    "3 sql SERVER_A ALTER DATABASE Sales SET PARTNER SUSPEND",
)
GROUP_PLAYS = (
    "",
    "3 power-off NODE_1",
    "3 stop-service NODE_2",
    "3 sql NODE_1 ALTER DATABASE Sales SET HADR SUSPEND",
    "3 sql NODE_3 ALTER AVAILABILITY GROUP AG1 FORCE_FAILOVER_ALLOW_DATA_LOSS",
)


def list_pairs(world: World, server: str) -> set[tuple[str, str, str, str]]:
    """Return (view, column, number, word) of every pair that the views of a server show."""
    version = world.instances[server].version
    seen_values = set()
    for name, view in CATALOG_VIEWS.items():
        if (
            view.rows is None
            or view.first_version > version
            or name.endswith("()")
            or not name.startswith("sys.")
        ):
            continue
        columns = {column.name for column in list_view_columns(VIEW_SCHEMAS[name], version)}
        pairs = sorted(column for column in columns if f"{column}_desc" in columns)
        if pairs:
            wanted = ", ".join(f"[{column}], [{column}_desc]" for column in pairs)
            answer = submit_batch(world, server, f"SELECT DISTINCT {wanted} FROM {name}", wait_s=5)
            for row in answer.grids[0] if answer.grids else []:
                for place, column in enumerate(pairs):
                    seen_values.add((name, column, str(row[2 * place]).strip(), str(row[2 * place + 1])))
    return seen_values


def list_known_pairs(text: str) -> set[tuple[str, str]]:
    parts = text.split()
    return {(number, word.replace("|", " ")) for number, word in zip(parts[::2], parts[1::2], strict=True)}


def check_columns(world: World) -> None:
    wrong_values, unlisted = [], set()
    for server, instance in world.instances.items():
        if not instance.running or not world.get_computer_of(server).powered:
            continue
        for view, column, number, word in sorted(list_pairs(world, server)):
            documented = WORDS_BY_VIEW.get((view, column)) or DOCUMENTED_WORDS.get(column, "")
            if number == "None":
                continue
            if not documented and column not in EXCLUDED_COLUMNS:
                unlisted.add((view, column, number, word))
            elif documented and (number, word) not in list_known_pairs(documented):
                wrong_values.append((view, column, number, word))
    assert (wrong_values, unlisted) == ([], set())


@pytest.mark.parametrize("script", MIRRORING_PLAYS)
def test_mirroring_numbers_and_descriptions_agree(script: str) -> None:
    world = build_lab()
    play_script(world, script, 20)
    check_columns(world)


@pytest.mark.parametrize("script", GROUP_PLAYS)
def test_group_numbers_and_descriptions_agree(script: str) -> None:
    world = build_ag_lab(version=2022)
    play_script(world, script, 20)
    check_columns(world)
