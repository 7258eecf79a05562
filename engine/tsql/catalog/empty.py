"""Views about things that no simulated instance has: no cluster, no availability groups, no audits, no mail sent …

They are empty because there is nothing, not because it is unknown. A view whose things do exist here in life (plans,
indexes, memory clerks) is not among them: asking it is not simulated (known.py).
"""

from __future__ import annotations

from typing import Final

from engine.tsql.catalog.view import none, view

_EMPTY: Final = """
sys.dm_os_cluster_nodes 2005: NodeName nvarchar, status int 2012, status_description nvarchar 2012,
    is_current_owner bit 2012;
sys.dm_io_cluster_shared_drives 2005: DriveName nchar(2);
sys.dm_hadr_cluster 2012: cluster_name nvarchar, quorum_type tinyint, quorum_type_desc nvarchar, quorum_state
    tinyint, quorum_state_desc nvarchar;
sys.dm_hadr_cluster_members 2012: member_name nvarchar, member_type tinyint, member_type_desc nvarchar,
    member_state tinyint, member_state_desc nvarchar, number_of_quorum_votes int;
sys.dm_hadr_availability_group_states 2012: group_id uniqueidentifier, primary_replica nvarchar,
    primary_recovery_health tinyint, primary_recovery_health_desc nvarchar, secondary_recovery_health tinyint,
    secondary_recovery_health_desc nvarchar, synchronization_health tinyint, synchronization_health_desc
    nvarchar;
sys.dm_hadr_database_replica_cluster_states 2012: replica_id uniqueidentifier, group_database_id
    uniqueidentifier, database_name sysname, is_failover_ready bit, is_pending_secondary_suspend bit,
    is_database_joined bit, recovery_lsn numeric, truncation_lsn numeric;
sys.dm_hadr_database_replica_states 2012: database_id int, group_id uniqueidentifier, replica_id
    uniqueidentifier, group_database_id uniqueidentifier, is_local bit, is_primary_replica bit 2014,
    synchronization_state tinyint, synchronization_state_desc nvarchar, is_commit_participant bit,
    synchronization_health tinyint, synchronization_health_desc nvarchar, database_state tinyint,
    database_state_desc nvarchar, is_suspended bit, suspend_reason tinyint, suspend_reason_desc nvarchar,
    recovery_lsn numeric, truncation_lsn numeric, last_sent_lsn numeric, last_sent_time datetime,
    last_received_lsn numeric, last_received_time datetime, last_hardened_lsn numeric, last_hardened_time
    datetime, last_redone_lsn numeric, last_redone_time datetime, log_send_queue_size bigint, log_send_rate
    bigint, redo_queue_size bigint, redo_rate bigint, filestream_send_rate bigint, end_of_log_lsn numeric,
    last_commit_lsn numeric, last_commit_time datetime, low_water_mark_for_ghosts bigint;
sys.availability_group_listeners 2012: group_id uniqueidentifier, listener_id nvarchar, dns_name nvarchar,
    port int, is_conformant bit, ip_configuration_string_from_cluster nvarchar;
sys.availability_databases_cluster 2012: group_id uniqueidentifier, group_database_id uniqueidentifier,
    database_name sysname, truncation_lsn numeric;
sys.availability_groups_cluster 2012: group_id uniqueidentifier, name sysname, resource_id nvarchar,
    resource_group_id nvarchar, failure_condition_level int, health_check_timeout int,
    automated_backup_preference tinyint, automated_backup_preference_desc nvarchar;
sys.server_triggers 2005: name sysname, object_id int, parent_class tinyint, parent_class_desc nvarchar,
    parent_id int, type char(2), type_desc nvarchar, create_date datetime, modify_date datetime, is_ms_shipped
    bit, is_disabled bit;
sys.triggers 2005: name sysname, object_id int, parent_class tinyint, parent_class_desc nvarchar, parent_id
    int, type char(2), type_desc nvarchar, create_date datetime, modify_date datetime, is_ms_shipped bit,
    is_disabled bit, is_not_for_replication bit, is_instead_of_trigger bit;
sys.synonyms 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id int, type
    char(2), type_desc nvarchar, create_date datetime, modify_date datetime, base_object_name nvarchar;
sys.credentials 2005: credential_id int, name sysname, credential_identity nvarchar, create_date datetime,
    modify_date datetime, target_type nvarchar 2008, target_id int 2008;
sys.backup_devices 2005: name sysname, type tinyint, type_desc nvarchar, physical_name nvarchar;
sys.server_audits 2008: audit_id int, name sysname, audit_guid uniqueidentifier, create_date datetime,
    modify_date datetime, principal_id int, type char(2), type_desc nvarchar, on_failure tinyint,
    on_failure_desc nvarchar, is_state_enabled bit, queue_delay int;
sys.server_audit_specifications 2008: server_specification_id int, name sysname, create_date datetime,
    modify_date datetime, audit_guid uniqueidentifier, is_state_enabled bit;
sys.database_audit_specifications 2008: database_specification_id int, name sysname, create_date datetime,
    modify_date datetime, audit_guid uniqueidentifier, is_state_enabled bit;
sys.dm_database_encryption_keys 2008: database_id int, encryption_state int, create_date datetime,
    regenerate_date datetime, modify_date datetime, set_date datetime, opened_date datetime, key_algorithm
    nvarchar, key_length int, encryptor_thumbprint varbinary, encryptor_type nvarchar 2012, percent_complete
    real;
sys.dm_server_memory_dumps 2008: filename nvarchar, creation_time datetime, size_in_bytes bigint;
sys.change_tracking_databases 2008: database_id int, is_auto_cleanup_on bit, retention_period int,
    retention_period_units tinyint, retention_period_units_desc nvarchar, max_cleanup_version bigint;
sys.asymmetric_keys 2005: name sysname, principal_id int, asymmetric_key_id int, pvt_key_encryption_type
    char(2), pvt_key_encryption_type_desc nvarchar, thumbprint varbinary, algorithm char(2), algorithm_desc
    nvarchar, key_length int, sid varbinary, string_sid nvarchar;
sys.cryptographic_providers 2008: provider_id int, name sysname, guid uniqueidentifier, version nvarchar,
    dll_path nvarchar, is_enabled bit;
sys.service_broker_endpoints 2005: name sysname, endpoint_id int, principal_id int, protocol tinyint,
    protocol_desc nvarchar, type tinyint, type_desc nvarchar, state tinyint, state_desc nvarchar,
    is_admin_endpoint bit, is_message_forwarding_enabled bit, message_forwarding_size int, connection_auth
    tinyint, connection_auth_desc nvarchar, certificate_id int, encryption_algorithm tinyint,
    encryption_algorithm_desc nvarchar;
sys.dm_broker_connections 2005: connection_id uniqueidentifier, transport_stream_id uniqueidentifier, state
    smallint, state_desc nvarchar, connect_time datetime, login_time datetime, authentication_method nvarchar,
    principal_name nvarchar, remote_user_name nvarchar, last_activity_time datetime, is_accept bit,
    login_state smallint, login_state_desc nvarchar;
sys.transmission_queue 2005: conversation_handle uniqueidentifier, to_service_name nvarchar,
    to_broker_instance nvarchar, from_service_name nvarchar, service_contract_name nvarchar, enqueue_time
    datetime, message_sequence_number bigint, message_type_name nvarchar, is_conversation_error bit,
    is_end_of_dialog bit, message_body varbinary, transmission_status nvarchar, priority tinyint 2008;
sys.fulltext_catalogs 2005: fulltext_catalog_id int, name sysname, path nvarchar, is_default bit,
    is_accent_sensitivity_on bit, data_space_id int, file_id int, principal_id int, is_importing bit;
sys.foreign_keys 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id int,
    type char(2), type_desc nvarchar, create_date datetime, modify_date datetime, is_ms_shipped bit,
    referenced_object_id int, key_index_id int, is_disabled bit, is_not_trusted bit;
sys.dm_tran_session_transactions 2005: session_id int, transaction_id bigint, transaction_descriptor binary,
    enlist_count int, is_user_transaction bit, is_local bit, is_enlisted bit, is_bound bit,
    open_transaction_count int 2012;
sys.dm_exec_query_memory_grants 2005: session_id smallint, request_id int, scheduler_id int, dop smallint,
    request_time datetime, grant_time datetime, requested_memory_kb bigint, granted_memory_kb bigint,
    required_memory_kb bigint, used_memory_kb bigint, max_used_memory_kb bigint, query_cost float, timeout_sec
    int, wait_time_ms bigint;
sys.extended_properties 2005: class tinyint, class_desc nvarchar, major_id int, minor_id int, name sysname,
    value sql_variant;
sys.linked_logins 2005: server_id int, local_principal_id int, uses_self_credential bit, remote_name sysname,
    modify_date datetime;
sys.dm_repl_articles 2005: artid int;
msdb.dbo.log_shipping_primary_databases 2005: primary_id uniqueidentifier, primary_database sysname,
    backup_directory nvarchar, backup_share nvarchar, backup_retention_period int, backup_job_id
    uniqueidentifier, monitor_server sysname, last_backup_file nvarchar, last_backup_date datetime;
msdb.dbo.log_shipping_secondary_databases 2005: secondary_database sysname, secondary_id uniqueidentifier,
    restore_delay int, restore_all bit, restore_mode bit, disconnect_users bit, last_restored_file nvarchar,
    last_restored_date datetime;
msdb.dbo.log_shipping_secondary 2005: secondary_id uniqueidentifier, primary_server sysname, primary_database
    sysname, backup_source_directory nvarchar, backup_destination_directory nvarchar, last_copied_file
    nvarchar, last_copied_date datetime;
msdb.dbo.log_shipping_monitor_primary 2005: primary_id uniqueidentifier, primary_server sysname,
    primary_database sysname, backup_threshold int, threshold_alert int, threshold_alert_enabled bit,
    last_backup_file nvarchar, last_backup_date datetime, last_backup_date_utc datetime,
    history_retention_period int;
msdb.dbo.log_shipping_monitor_secondary 2005: secondary_server sysname, secondary_database sysname,
    secondary_id uniqueidentifier, primary_server sysname, primary_database sysname, restore_threshold int,
    threshold_alert int, threshold_alert_enabled bit, last_copied_file nvarchar, last_copied_date datetime,
    last_restored_file nvarchar, last_restored_date datetime, last_restored_latency int;
msdb.dbo.sysproxies 2005: proxy_id int, name sysname, credential_id int, enabled tinyint, description
    nvarchar, user_sid varbinary, credential_date_created datetime;
msdb.dbo.sysdbmaintplans 2005: plan_id uniqueidentifier, plan_name sysname, date_created datetime, owner
    sysname, max_history_rows int;
msdb.dbo.sysmaintplan_plans 2005: id uniqueidentifier, name sysname, description nvarchar, owner sysname;
msdb.dbo.sysmaintplan_subplans 2005: subplan_id uniqueidentifier, subplan_name sysname, subplan_description
    nvarchar, plan_id uniqueidentifier, job_id uniqueidentifier, msx_job_id uniqueidentifier, schedule_id int,
    msx_plan bit;
msdb.dbo.sysmail_sentitems 2005: mailitem_id int, profile_id int, recipients varchar, subject nvarchar, body
    nvarchar, sent_status varchar, sent_date datetime, send_request_date datetime;
msdb.dbo.sysmail_faileditems 2005: mailitem_id int, profile_id int, recipients varchar, subject nvarchar, body
    nvarchar, sent_status varchar, sent_date datetime, send_request_date datetime, last_mod_date datetime;
msdb.dbo.sysmail_event_log 2005: log_id int, event_type varchar, log_date datetime, description nvarchar,
    process_id int, mailitem_id int, account_id int, last_mod_date datetime, last_mod_user sysname;
msdb.dbo.sysmail_server 2005: account_id int, servertype sysname, servername sysname, port int, username
    nvarchar, credential_id int, use_default_credentials bit, enable_ssl bit;
"""
"""name, first version: columns. Documented [DOC: system views, system tables]."""

for _entry in _EMPTY.split(";"):
    _name, _, _columns = _entry.partition(":")
    if _columns:
        view(_name.split()[0], _columns, none, since=int(_name.split()[1]))
