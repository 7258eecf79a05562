"""Columns that hold the same in every row here: settings nobody can change, features nobody uses. Data only.

An entry: views (or * for all that have the column): `column value`. NULL stands where the documentation says that the
column is NULL without the feature (no contained users, no file tables, no replication …); a column that is neither here
nor in a view's rows is not simulated, and a query that reads it says so. Documented [DOC: each view].
"""

from __future__ import annotations

from functools import cache
from typing import Final

from engine.constants import VERSIONS
from engine.tsql.catalog.shapes import SHAPES
from engine.tsql.scalars.values import Scalar

_TEXT: Final = """
*: is_published 0, is_schema_published 0, is_ms_shipped 0, is_replicated 0, has_replication_filter 0,
    has_opaque_metadata 0, has_unchecked_assembly_data 0, with_check_option 0, is_date_correlation_view 0,
    is_non_sql_subscribed 0, is_merge_published 0, is_dts_replicated 0, is_xml_document 0, xml_collection_id 0,
    is_filestream 0, is_sparse 0, is_column_set 0, is_rowguidcol 0, default_object_id 0, rule_object_id 0,
    is_computed 0, is_identity 0, is_not_for_replication 0, is_system 0, principal_id NULL, parent_object_id 0,
    is_schema_bound 0, uses_database_collation 0, is_recompiled 0, null_on_null_input 0, execute_as_principal_id NULL,
    uses_native_compilation 0, uses_quoted_identifier 1, uses_ansi_nulls 1, is_sync_tran_subscribed 0,
    is_tracked_by_cdc 0, lock_escalation 0, lock_escalation_desc TABLE, is_filetable 0, is_memory_optimized 0,
    durability 0, durability_desc SCHEMA_AND_DATA, lob_data_space_id 0, filestream_data_space_id NULL,
    lock_on_bulk_load 0, text_in_row_limit 0, large_value_types_out_of_row 0, filegroup_guid NULL,
    log_filegroup_id NULL, is_auto_executed 0, is_execution_replicated 0, is_repl_serializable_only 0,
    skips_repl_constraints 0, is_hypothetical 0, is_padded 0, allow_row_locks 1, allow_page_locks 1,
    has_filter 0, filter_definition NULL, suppress_dup_key_messages 0, optimize_for_sequential_key 0,
    is_inlineable 0, inline_type 0, is_disabled 0, fill_factor 0, ignore_dup_key 0,
    filestream_filegroup_id 0, data_compression 0, data_compression_desc NONE, partition_number 1,
    attested_by NULL, pvt_key_last_backup_date NULL, drop_lsn NULL, read_only_lsn NULL, read_write_lsn NULL,
    redo_start_lsn NULL, redo_start_fork_guid NULL, redo_target_lsn NULL, redo_target_fork_guid NULL,
    credential_id NULL, default_language_lcid NULL, default_fulltext_language_lcid NULL,
    default_fulltext_language_name NULL, is_nested_triggers_on NULL, is_transform_noise_words_on NULL,
    two_digit_year_cutoff NULL, replica_id NULL, group_database_id NULL, source_database_id NULL,
    resource_pool_id NULL, is_auto_create_stats_incremental_on 0, is_memory_optimized_elevate_to_snapshot_on 0,
    page_fault_count 0, processor_group 0
sys.columns sys.all_columns sys.system_columns sys.computed_columns sys.identity_columns:
    generated_always_type 0, generated_always_type_desc NOT_APPLICABLE, encryption_type NULL, encryption_type_desc NULL,
    encryption_algorithm_name NULL, column_encryption_key_id NULL, column_encryption_key_database_name NULL,
    is_hidden 0, is_masked 0, graph_type NULL, graph_type_desc NULL
sys.tables: temporal_type 0, temporal_type_desc NON_TEMPORAL_TABLE, history_table_id NULL,
    is_remote_data_archive_enabled 0, is_external 0, history_retention_period NULL, history_retention_period_unit NULL,
    history_retention_period_unit_desc NULL, is_node 0, is_edge 0
sys.databases: default_language_name NULL, is_query_store_on 0, is_federation_member 0,
    is_remote_data_archive_enabled 0, is_temporal_history_retention_enabled 1, catalog_collation_type 0,
    catalog_collation_type_desc DATABASE_DEFAULT, is_result_set_caching_on 0,
    is_accelerated_database_recovery_on 0, is_tempdb_spill_to_remote_store 0, is_stale_page_detection_on 0,
    is_memory_optimized_enabled 1, is_data_retention_enabled 0, is_ledger_on 0, is_change_feed_enabled 0
sys.dm_exec_sessions sys.dm_exec_requests: context_info 0x, text_size 2147483647, language us_english,
    date_format mdy, date_first 7, quoted_identifier 1, arithabort 1, ansi_null_dflt_on 1, ansi_defaults 0,
    ansi_warnings 1, ansi_padding 1, ansi_nulls 1, concat_null_yields_null 1, transaction_isolation_level 2,
    lock_timeout -1, deadlock_priority 0, prev_error 0, group_id 2, executing_managed_code 0,
    last_successful_logon NULL, last_unsuccessful_logon NULL, unsuccessful_logons NULL,
    statement_start_offset 0, statement_end_offset -1, nest_level 1, percent_complete 0,
    estimated_completion_time 0, open_transaction_count 0, open_resultset_count 1, sql_handle NULL,
    plan_handle NULL, endpoint_id 4, authenticating_database_id 1, database_id 0, host_name NULL,
    host_process_id NULL, nt_user_name NULL, nt_domain NULL, original_login_name sa, program_name NULL, row_count 0,
    client_interface_name NULL, client_version NULL, statement_sql_handle NULL, statement_context_id NULL,
    granted_query_memory 0, query_hash NULL, query_plan_hash NULL, dop 1, parallel_worker_count NULL,
    external_script_request_id NULL, is_resumable 0, page_resource NULL, page_server_reads 0,
    dist_statement_id NULL, label NULL
sys.dm_exec_connections: protocol_version 1946157060, endpoint_id 4, node_affinity 0,
    parent_connection_id NULL
sys.sysprocesses: kpid 0, waittype 0x0000, waittime 0, waitresource '', uid 1, ecid 0, hostprocess '',
    nt_domain '', nt_username '', net_address '', net_library '', context_info NULL, stmt_start 0, stmt_end -1,
    request_id 0, open_tran 0, sql_handle NULL
sys.syslogins: status 9, password NULL, language us_english, securityadmin 0, serveradmin 0, setupadmin 0,
    processadmin 0, diskadmin 0, dbcreator 0, bulkadmin 0, totcpu 0, totio 0, spacelimit 0, timelimit 0,
    resultlimit 0
sys.sysusers: roles NULL, altuid NULL, password NULL, gid 0, environ NULL, isntgroup 0, isntuser 0, isaliased 0,
    isapprole 0
sys.sysobjects: info 0, status 0, base_schema_ver 0, replinfo 0, parent_obj 0, ftcatid 0, schema_ver 0,
    stats_schema_ver 0, userstat 1, sysstat 3, indexdel 0, version 0, deltrig 0, instrig 0, updtrig 0, seltrig 0,
    category 0, cache 0
sys.sysservers: srvstatus 1089, srvproduct 'SQL Server', providername SQLOLEDB, location NULL,
    providerstring NULL, topologyx 0, topologyy 0, catalog NULL, srvcollation NULL, connecttimeout 0,
    querytimeout 0, rpc 1, pub 0, sub 0, dist 0, dpub 0, collationcompatible 0, system 0, useremotecollation 1,
    lazyschemavalidation 0, collation NULL, nonsqlsub 0
sys.servers: location NULL, provider_string NULL, catalog NULL, connect_timeout 0, query_timeout 0, is_system 0,
    is_publisher 0, is_subscriber 0, is_distributor 0, is_nonsql_subscriber 0, is_collation_compatible 0,
    uses_remote_collation 1, collation_name NULL, lazy_schema_validation 0,
    is_remote_proc_transaction_promotion_enabled 1
msdb.dbo.backupmediafamily: family_sequence_number 1, media_count 1, logical_device_name NULL,
    physical_block_size 512, mirror 0
msdb.dbo.backupset: first_family_number 1, first_media_number 1, last_family_number 1, last_media_number 1,
    catalog_family_number 1, catalog_media_number 1, expiration_date NULL, software_vendor_id 4608,
    name NULL, description NULL, time_zone 127, mtf_minor_version 0, sort_order 52, code_page 0, flags 512,
    unicode_locale 1033, unicode_compare_style 196609, is_password_protected 0, has_bulk_logged_data 0,
    is_snapshot 0, is_readonly 0, is_single_user 0, has_backup_checksums 0, is_damaged 0, begins_log_chain 0,
    has_incomplete_metadata 0, is_force_offline 0, fork_point_lsn NULL, differential_base_lsn NULL,
    differential_base_guid NULL, key_algorithm NULL, encryptor_thumbprint NULL, encryptor_type NULL
msdb.dbo.restorehistory: restart 0, stop_at NULL, device_count 1, stop_at_mark_name NULL, stop_before NULL
msdb.dbo.sysjobs msdb.dbo.sysjobs_view: originating_server_id 0, notify_level_netsend 0, notify_level_page 0,
    notify_netsend_operator_id 0, notify_page_operator_id 0, delete_level 0
msdb.dbo.sysjobsteps: additional_parameters NULL, cmdexec_success_code 0, server NULL, database_user_name NULL,
    os_run_priority 0, output_file_name NULL, proxy_id NULL
msdb.dbo.sysjobhistory: operator_id_emailed 0, operator_id_netsent 0, operator_id_paged 0
msdb.dbo.sysjobactivity: queued_date NULL, next_scheduled_run_date NULL
msdb.dbo.sysalerts: event_category_id NULL, event_id NULL, notification_message NULL, include_event_description 0,
    event_description_keyword NULL, count_reset_date 0, count_reset_time 0
msdb.dbo.sysoperators: email_address NULL, last_email_date 0, last_email_time 0, pager_address NULL,
    last_pager_date 0, last_pager_time 0, weekday_pager_start_time 90000, weekday_pager_end_time 180000,
    saturday_pager_start_time 90000, saturday_pager_end_time 180000, sunday_pager_start_time 90000,
    sunday_pager_end_time 180000, netsend_address NULL, last_netsend_date 0, last_netsend_time 0, category_id 0
msdb.dbo.dbm_monitor_alerts: time_behind NULL, enable_time_behind 0, send_queue NULL, enable_send_queue 0,
    redo_queue NULL, enable_redo_queue 0, average_delay NULL, enable_average_delay 0
sys.availability_groups sys.availability_groups_cluster: is_distributed 0,
    cluster_type 0, cluster_type_desc wsfc, is_contained 0
sys.dm_hadr_database_replica_states: filestream_send_rate 0, last_sent_lsn NULL, last_sent_time NULL,
    last_received_lsn NULL, last_received_time NULL, last_hardened_lsn NULL, last_hardened_time NULL,
    last_redone_lsn NULL, last_redone_time NULL, log_send_queue_size NULL, log_send_rate NULL,
    redo_queue_size NULL, redo_rate NULL, end_of_log_lsn NULL, last_commit_lsn NULL, last_commit_time NULL,
    secondary_lag_seconds NULL, recovery_lsn NULL, truncation_lsn NULL, quorum_commit_lsn NULL,
    quorum_commit_time NULL, is_internal 0
sys.dm_hadr_database_replica_cluster_states: truncation_lsn NULL
sys.dm_hadr_availability_replica_states: write_lease_remaining_ticks NULL,
    current_configuration_commit_start_time_utc NULL
sys.availability_databases_cluster: truncation_lsn NULL
sys.database_mirroring: mirroring_guid NULL, mirroring_state NULL, mirroring_state_desc NULL, mirroring_role NULL,
    mirroring_role_desc NULL, mirroring_role_sequence NULL, mirroring_safety_level NULL,
    mirroring_safety_level_desc NULL, mirroring_safety_sequence NULL, mirroring_partner_name NULL,
    mirroring_partner_instance NULL, mirroring_witness_name NULL, mirroring_witness_state NULL,
    mirroring_witness_state_desc NULL, mirroring_failover_lsn NULL, mirroring_connection_timeout NULL,
    mirroring_redo_queue NULL, mirroring_redo_queue_type NULL, mirroring_end_of_log_lsn NULL,
    mirroring_replication_lsn NULL
sys.dm_exec_sql_text(): dbid NULL, objectid NULL, number NULL, encrypted 0
sys.database_principals: owning_principal_id NULL, authentication_type 1, authentication_type_desc INSTANCE,
    default_language_name NULL
sys.schemas: principal_id 1
sys.dm_os_volume_stats(): supports_compression 1, supports_alternate_streams 1, supports_sparse_files 1,
    is_read_only 0, is_compressed 0, file_system_type NTFS, logical_volume_name ''
sys.dm_os_schedulers: failed_to_create_worker 0, parent_node_id 0, is_idle 0
sys.stats: no_recompute 0, is_temporary 0, is_incremental 0
sys.check_constraints sys.foreign_keys: is_system_named 0
sys.foreign_keys: delete_referential_action 0, delete_referential_action_desc NO_ACTION,
    update_referential_action 0, update_referential_action_desc NO_ACTION
sys.identity_columns: is_not_for_replication 0
"""


@cache
def _entries() -> dict[str, dict[str, Scalar]]:
    found: dict[str, dict[str, Scalar]] = {}
    for entry in _TEXT.strip().replace("\n    ", " ").split("\n"):
        views, _, pairs = entry.partition(": ")
        for view in views.split():
            values = found.setdefault(view, {})
            for pair in pairs.split(", "):
                name, _, value = pair.partition(" ")
                values[name] = _value(value)
    return found


def _value(text: str) -> Scalar:
    if text == "NULL":
        return None
    if text.startswith("0x"):
        return bytes.fromhex(text[2:])
    return int(text) if text.lstrip("-").isdigit() else text.strip("'")


@cache
def fixed(view: str) -> dict[str, Scalar]:
    """The columns of a view that are the same in all of its rows; of those, only what the view has."""
    columns = {column.name for version in VERSIONS for column in SHAPES[view].columns_in(version)}
    both = {**_entries()["*"], **_entries().get(view, {})}
    return {name: value for name, value in both.items() if name in columns}
