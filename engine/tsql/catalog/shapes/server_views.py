"""Catalog views of the instance, its databases, files, principals and endpoints. See __init__.py."""

from typing import Final

TEXT: Final = """
sys.asymmetric_keys 2005: name sysname, principal_id int, asymmetric_key_id int, pvt_key_encryption_type
    char(2), pvt_key_encryption_type_desc nvarchar(60), thumbprint varbinary(32), algorithm char(2),
    algorithm_desc nvarchar(60), key_length int, sid varbinary(85), string_sid nvarchar(128), public_key
    varbinary(max), attested_by nvarchar(260) 2008, provider_type nvarchar(120), cryptographic_provider_guid
    uniqueidentifier 2008, cryptographic_provider_algid sql_variant 2008
sys.backup_devices 2005: name sysname, type tinyint, type_desc nvarchar(60), physical_name nvarchar(260)
sys.certificates 2005: name sysname, certificate_id int, principal_id int, pvt_key_encryption_type char(2),
    pvt_key_encryption_type_desc nvarchar(60), is_active_for_begin_dialog bit, issuer_name nvarchar(442),
    cert_serial_number nvarchar(64), sid varbinary(85), string_sid nvarchar(128), subject nvarchar(4000),
    expiry_date datetime, start_date datetime, thumbprint varbinary(32), attested_by nvarchar(260) 2008,
    pvt_key_last_backup_date datetime 2008
sys.configurations 2005: configuration_id int, name nvarchar(35), value sql_variant, minimum sql_variant,
    maximum sql_variant, value_in_use sql_variant, description nvarchar(255), is_dynamic bit, is_advanced
    bit
sys.conversation_endpoints 2005: conversation_handle uniqueidentifier, conversation_id uniqueidentifier,
    is_initiator tinyint, service_contract_id int, conversation_group_id uniqueidentifier, service_id int,
    lifetime datetime, state char(2), state_desc nvarchar(60), far_service nvarchar(256),
    far_broker_instance nvarchar(128), principal_id int, far_principal_id int,
    outbound_session_key_identifier uniqueidentifier, inbound_session_key_identifier uniqueidentifier,
    security_timestamp datetime, dialog_timer datetime, send_sequence bigint, last_send_tran_id binary(6),
    end_dialog_sequence bigint, receive_sequence bigint, receive_sequence_frag int, system_sequence bigint,
    first_out_of_order_sequence bigint, last_out_of_order_sequence bigint, last_out_of_order_frag int,
    is_system bit, priority tinyint
sys.conversation_groups 2005: conversation_group_id uniqueidentifier, service_id int, is_system bit
sys.conversation_priorities 2008: Priority_id int, name sysname, service_contract_id int, local_service_id
    int, remote_service_name nvarchar(256), priority tinyint
sys.credentials 2005: credential_id int, name sysname, credential_identity nvarchar(4000), create_date
    datetime, modify_date datetime, target_type nvarchar(100) 2008, target_id int 2008
sys.crypt_properties 2005: class tinyint, class_desc nvarchar(60), major_id int, thumbprint varbinary(32),
    crypt_type char(4), crypt_type_desc nvarchar(60), crypt_property varbinary(max)
sys.cryptographic_providers 2008: provider_id int, name sysname, guid uniqueidentifier, version
    nvarchar(50), dll_path nvarchar(512), is_enabled bit
sys.database_audit_specification_details 2008: database_specification_id int, audit_action_id int,
    audit_action_name sysname, Class int, major_id int, minor_id int, audited_principal_id int,
    audited_result nvarchar(60), is_group bit
sys.database_audit_specifications 2008: name sysname, database_specification_id int, create_date datetime,
    is_state_enabled bit, modify_date datetime, audit_guid uniqueidentifier
sys.database_files 2005: file_id int, file_guid uniqueidentifier, type tinyint, type_desc nvarchar(60),
    data_space_id int, name sysname, physical_name nvarchar(260), state tinyint, state_desc nvarchar(60),
    size int, max_size int, growth int, is_media_read_only bit, is_read_only bit, is_sparse bit,
    is_percent_growth bit, is_name_reserved bit, create_lsn numeric(25,0), drop_lsn numeric(25,0),
    read_only_lsn numeric(25,0), read_write_lsn numeric(25,0), differential_base_lsn numeric(25,0),
    differential_base_guid uniqueidentifier, differential_base_time datetime, redo_start_lsn numeric(25,0),
    redo_start_fork_guid uniqueidentifier, redo_target_lsn numeric(25,0), redo_target_fork_guid
    uniqueidentifier, backup_lsn numeric(25,0)
sys.database_filestream_options 2012: database_id int, directory_name nvarchar(255), non_transacted_access
    tinyint, non_transacted_access_desc nvarchar(60)
sys.database_mirroring 2005: database_id int, mirroring_guid uniqueidentifier, mirroring_state tinyint,
    mirroring_state_desc nvarchar(60), mirroring_role tinyint, mirroring_role_desc nvarchar(60),
    mirroring_role_sequence int, mirroring_safety_level tinyint, mirroring_safety_level_desc nvarchar(60),
    mirroring_safety_sequence int, mirroring_partner_name nvarchar(128), mirroring_partner_instance
    nvarchar(128), mirroring_witness_name nvarchar(128), mirroring_witness_state tinyint,
    mirroring_witness_state_desc nvarchar(60), mirroring_failover_lsn numeric(25,0),
    mirroring_connection_timeout int, mirroring_redo_queue int, mirroring_redo_queue_type nvarchar(60),
    mirroring_end_of_log_lsn numeric(25,0) 2008, mirroring_replication_lsn numeric(25,0) 2008
sys.database_mirroring_endpoints 2005: name sysname, endpoint_id int, principal_id int, protocol tinyint,
    protocol_desc nvarchar(60), type tinyint, type_desc nvarchar(60), state tinyint, state_desc
    nvarchar(60), is_admin_endpoint bit, role tinyint, role_desc nvarchar(60), is_encryption_enabled bit,
    connection_auth tinyint, connection_auth_desc nvarchar(60), certificate_id int, encryption_algorithm
    tinyint, encryption_algorithm_desc nvarchar(60)
sys.database_mirroring_witnesses 2005: database_name sysname, principal_server_name sysname,
    mirror_server_name sysname, safety_level tinyint, safety_level_desc nvarchar(60), safety_sequence_number
    int, role_sequence_number int, mirroring_guid uniqueidentifier, family_guid uniqueidentifier,
    is_suspended bit, is_suspended_sequence_number int, partner_sync_state tinyint, partner_sync_state_desc
    nvarchar(60)
sys.database_permissions 2005: class tinyint, class_desc nvarchar(60), major_id int, minor_id int,
    grantee_principal_id int, grantor_principal_id int, type char(4), permission_name nvarchar(128), state
    char(1), state_desc nvarchar(60)
sys.database_principals 2005: name sysname, principal_id int, type char(1), type_desc nvarchar(60),
    default_schema_name sysname, create_date datetime, modify_date datetime, owning_principal_id int, sid
    varbinary(85), is_fixed_role bit, authentication_type int 2012, authentication_type_desc nvarchar(60)
    2012, default_language_name sysname 2012, default_language_lcid int 2012
sys.database_recovery_status 2005: database_id int, database_guid uniqueidentifier, family_guid
    uniqueidentifier, last_log_backup_lsn numeric(25,0), recovery_fork_guid uniqueidentifier,
    first_recovery_fork_guid uniqueidentifier, fork_point_lsn numeric(25,0)
sys.database_role_members 2005: role_principal_id int, member_principal_id int
sys.database_snapshots 2005: name sysname
sys.databases 2005: name sysname, database_id int, source_database_id int, owner_sid varbinary(85),
    create_date datetime, compatibility_level tinyint, collation_name sysname, user_access tinyint,
    user_access_desc nvarchar(60), is_read_only bit, is_auto_close_on bit, is_auto_shrink_on bit, state
    tinyint, state_desc nvarchar(60), is_in_standby bit, is_cleanly_shutdown bit,
    is_supplemental_logging_enabled bit, snapshot_isolation_state tinyint, snapshot_isolation_state_desc
    nvarchar(60), is_read_committed_snapshot_on bit, recovery_model tinyint, recovery_model_desc
    nvarchar(60), page_verify_option tinyint, page_verify_option_desc nvarchar(60), is_auto_create_stats_on
    bit, is_auto_create_stats_incremental_on bit 2014, is_auto_update_stats_on bit,
    is_auto_update_stats_async_on bit, is_ansi_null_default_on bit, is_ansi_nulls_on bit, is_ansi_padding_on
    bit, is_ansi_warnings_on bit, is_arithabort_on bit, is_concat_null_yields_null_on bit,
    is_numeric_roundabort_on bit, is_quoted_identifier_on bit, is_recursive_triggers_on bit,
    is_cursor_close_on_commit_on bit, is_local_cursor_default bit, is_fulltext_enabled bit,
    is_trustworthy_on bit, is_db_chaining_on bit, is_parameterization_forced bit,
    is_master_key_encrypted_by_server bit, is_published bit, is_subscribed bit, is_merge_published bit,
    is_distributor bit, is_sync_with_backup bit, service_broker_guid uniqueidentifier, is_broker_enabled
    bit, log_reuse_wait tinyint, log_reuse_wait_desc nvarchar(60), is_date_correlation_on bit,
    is_cdc_enabled bit 2008, is_encrypted bit 2008, is_honor_broker_priority_on bit 2008, replica_id
    uniqueidentifier 2012, group_database_id uniqueidentifier 2012, resource_pool_id int 2014,
    default_language_lcid smallint 2012, default_language_name nvarchar(128) 2012,
    default_fulltext_language_lcid int 2012, default_fulltext_language_name nvarchar(128) 2012,
    is_nested_triggers_on bit 2012, is_transform_noise_words_on bit 2012, two_digit_year_cutoff smallint
    2012, containment tinyint 2012, containment_desc nvarchar(60) 2012, target_recovery_time_in_seconds int
    2012, delayed_durability int 2014, delayed_durability_desc nvarchar(60) 2014,
    is_memory_optimized_elevate_to_snapshot_on bit 2014
sys.endpoint_webmethods 2005: endpoint_id int, namespace nvarchar(384), method_alias nvarchar(64),
    object_name nvarchar(776), result_schema tinyint, result_schema_desc nvarchar(60), result_format
    tinyint, result_format_desc nvarchar(60)
sys.endpoints 2005: name sysname, endpoint_id int, principal_id int, protocol tinyint, protocol_desc
    nvarchar(60), type tinyint, type_desc nvarchar(60), state tinyint, state_desc nvarchar(60),
    is_admin_endpoint bit
sys.event_notification_event_types 2005: type int, type_name nvarchar(128), parent_type int
sys.event_notifications 2005: name sysname, object_id int, parent_class tinyint, parent_class_desc
    nvarchar(60), parent_id int, create_date datetime, modify_date datetime, service_name nvarchar(256),
    broker_instance nvarchar(128), principal_id int, creator_sid varbinary(85)
sys.events 2005: object_id int, type int, type_desc nvarchar(60), is_trigger_event bit, event_group_type
    int, event_group_type_desc nvarchar(60)
sys.http_endpoints 2005: name sysname, endpoint_id int, principal_id int, protocol tinyint, protocol_desc
    nvarchar(60), type tinyint, type_desc nvarchar(60), state tinyint, state_desc nvarchar(60),
    is_admin_endpoint bit, site nvarchar(128), url_path nvarchar(4000), is_clear_port_enabled bit,
    clear_port int, is_ssl_port_enabled bit, ssl_port int, is_anonymous_enabled bit, is_basic_auth_enabled
    bit, is_digest_auth_enabled bit, is_kerberos_auth_enabled bit, is_ntlm_auth_enabled bit,
    is_integrated_auth_enabled bit, authorization_realm nvarchar(128), default_logon_domain nvarchar(128),
    is_compression_enabled bit
sys.key_encryptions 2005: key_id int, thumbprint varbinary(32), crypt_type char(4), crypt_type_desc
    nvarchar(60), crypt_property varbinary(max)
sys.linked_logins 2005: server_id int, local_principal_id int, uses_self_credential bit, remote_name
    sysname, modify_date datetime
sys.login_token 2005: principal_id int, sid varbinary(85), name nvarchar(128), type nvarchar(128), usage
    nvarchar(128)
sys.master_files 2005: database_id int, file_id int, file_guid uniqueidentifier, type tinyint, type_desc
    nvarchar(60), data_space_id int, name sysname, physical_name nvarchar(260), state tinyint, state_desc
    nvarchar(60), size int, max_size int, growth int, is_read_only bit, is_sparse bit, is_percent_growth
    bit, is_name_reserved bit, create_lsn numeric(25,0), drop_lsn numeric(25,0), read_only_lsn
    numeric(25,0), read_write_lsn numeric(25,0), differential_base_lsn numeric(25,0), differential_base_guid
    uniqueidentifier, differential_base_time datetime, redo_start_lsn numeric(25,0), redo_start_fork_guid
    uniqueidentifier, redo_target_lsn numeric(25,0), redo_target_fork_guid uniqueidentifier, backup_lsn
    numeric(25,0), credential_id int 2014, is_media_read_only bit
sys.master_key_passwords 2005: credential_id int, family_guid uniqueidentifier
sys.messages 2005: message_id int, language_id smallint, severity tinyint, is_event_logged bit, text
    nvarchar(2048)
sys.remote_logins 2005: server_id int, remote_name sysname, local_principal_id int, modify_date datetime
sys.remote_service_bindings 2005: name sysname, remote_service_binding_id int, principal_id int,
    remote_service_name nvarchar(256), service_contract_id int, remote_principal_id int, is_anonymous_on bit
sys.resource_governor_configuration 2008: classifier_function_id int, is_enabled bit,
    max_outstanding_io_per_volume int 2014
sys.resource_governor_resource_pools 2008: pool_id int, name sysname, min_cpu_percent int, max_cpu_percent
    int, min_memory_percent int, max_memory_percent int, cap_cpu_percent int 2012, min_iops_per_volume int
    2014, max_iops_per_volume int 2014
sys.resource_governor_workload_groups 2008: group_id int, name sysname, importance sysname,
    request_max_memory_grant_percent int, request_max_cpu_time_sec int, request_memory_grant_timeout_sec
    int, max_dop int, group_max_requests int, pool_id int
sys.routes 2005: name sysname, route_id int, principal_id int, remote_service_name nvarchar(256),
    broker_instance nvarchar(128), lifetime datetime, address nvarchar(256), mirror_address nvarchar(256)
sys.securable_classes 2005: class_desc sysname, class int
sys.server_assembly_modules 2005: object_id int, assembly_id int, assembly_class sysname, assembly_method
    sysname, execute_as_principal_id int
sys.server_audit_specification_details 2008: server_specification_id int, audit_action_id int,
    audit_action_name sysname, class tinyint, class_desc nvarchar(60), major_id int, minor_id int,
    audited_principal_id int, audited_result nvarchar(60), is_group bit
sys.server_audit_specifications 2008: name sysname, server_specification_id int, create_date datetime,
    is_state_enabled tinyint, audit_guid uniqueidentifier, modify_date datetime
sys.server_audits 2008: audit_id int, name sysname, audit_guid uniqueidentifier, create_date datetime,
    modify_date datetime, principal_id int, type char(2), type_desc nvarchar(60), on_failure tinyint,
    on_failure_desc nvarchar(60), is_state_enabled tinyint, queue_delay int, predicate nvarchar(3000)
sys.server_event_notifications 2005: name sysname, object_id int, parent_class tinyint, parent_class_desc
    nvarchar(60), parent_id int, create_date datetime, modify_date datetime, service_name nvarchar(256),
    broker_instance nvarchar(128), creator_sid varbinary(85), principal_id int
sys.server_event_session_actions 2008: event_session_id int, event_id int, name sysname, package sysname,
    module sysname
sys.server_event_session_events 2008: event_session_id int, event_id int, name sysname, package sysname,
    module sysname, predicate nvarchar(3000), predicate_xml nvarchar(3000)
sys.server_event_session_fields 2008: event_session_id int, object_id int, name sysname, value sql_variant
sys.server_event_session_targets 2008: event_session_id int, target_id int, name sysname, package sysname,
    module sysname
sys.server_event_sessions 2008: event_session_id int, name sysname, event_retention_mode nchar(1),
    event_retention_mode_desc sysname, max_dispatch_latency int, max_memory int, max_event_size int,
    memory_partition_mode nchar(1), memory_partition_mode_desc sysname, track_causality bit, startup_state
    bit
sys.server_events 2005: object_id int, type int, type_desc nvarchar(60), event_group_type int,
    event_group_type_desc nvarchar(60)
sys.server_file_audits 2008: audit_id int, name sysname, audit_guid uniqueidentifier, create_date datetime,
    principal_id int, type char(2), type_desc nvarchar(60), on_failure tinyint, on_failure_desc
    nvarchar(60), is_state_enabled tinyint, queue_delay int, predicate nvarchar(8000), max_file_size bigint,
    max_rollover_files int, max_files int, reserved_disk_space int, log_file_path nvarchar(260),
    log_file_name nvarchar(260)
sys.server_permissions 2005: class tinyint, class_desc nvarchar(60), major_id int, minor_id int,
    grantee_principal_id int, grantor_principal_id int, type char(4), permission_name nvarchar(128), state
    char(1), state_desc nvarchar(60)
sys.server_principals 2005: name sysname, principal_id int, sid varbinary(85), type char(1), type_desc
    nvarchar(60), is_disabled int, create_date datetime, modify_date datetime, default_database_name
    sysname, default_language_name sysname, credential_id int, owning_principal_id int 2012, is_fixed_role
    bit 2012
sys.server_role_members 2005: role_principal_id int, member_principal_id int
sys.server_sql_modules 2005: object_id int, definition nvarchar(max), uses_ansi_nulls bit,
    uses_quoted_identifier bit, execute_as_principal_id int
sys.server_trigger_events 2005: object_id int, type int, type_desc nvarchar(60), event_group_type int,
    event_group_type_desc nvarchar(60), is_first bit, is_last bit
sys.server_triggers 2005: name sysname, object_id int, parent_class tinyint, parent_class_desc nvarchar(60),
    parent_id int, type char(2), type_desc nvarchar(60), create_date datetime, modify_date datetime,
    is_ms_shipped bit, is_disabled bit
sys.servers 2005: server_id int, name sysname, product sysname, provider sysname, data_source
    nvarchar(4000), location nvarchar(4000), provider_string nvarchar(4000), catalog sysname,
    connect_timeout int, query_timeout int, is_linked bit, is_remote_login_enabled bit, is_rpc_out_enabled
    bit, is_data_access_enabled bit, is_collation_compatible bit, uses_remote_collation bit, collation_name
    sysname, lazy_schema_validation bit, is_system bit, is_publisher bit, is_subscriber bit, is_distributor
    bit, is_nonsql_subscriber bit, is_remote_proc_transaction_promotion_enabled bit 2008, modify_date
    datetime
sys.service_broker_endpoints 2005: name sysname, endpoint_id int, principal_id int, protocol tinyint,
    protocol_desc nvarchar(60), type tinyint, type_desc nvarchar(60), state tinyint, state_desc
    nvarchar(60), is_admin_endpoint bit, is_message_forwarding_enabled bit, message_forwarding_size int,
    connection_auth tinyint, connection_auth_desc nvarchar(60), certificate_id int, encryption_algorithm
    tinyint, encryption_algorithm_desc nvarchar(60)
sys.service_contract_message_usages 2005: service_contract_id int, message_type_id int, is_sent_by_initiator
    bit, is_sent_by_target bit
sys.service_contract_usages 2005: service_id int, service_contract_id int
sys.service_contracts 2005: name sysname, service_contract_id int, principal_id int
sys.service_message_types 2005: name sysname, message_type_id int, principal_id int, validation char(2),
    validation_desc nvarchar(60), xml_collection_id int
sys.service_queue_usages 2005: service_id int, service_queue_id int
sys.service_queues 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id int,
    type char(2) 2012, type_desc nvarchar(60) 2012, create_date datetime, modify_date datetime,
    is_ms_shipped bit, is_published bit, is_schema_published bit, max_readers smallint, activation_procedure
    nvarchar(776), execute_as_principal_id int, is_activation_enabled bit, is_receive_enabled bit,
    is_enqueue_enabled bit, is_retention_enabled bit, is_poison_message_handling_enabled bit 2008
sys.services 2005: name sysname, service_id int, principal_id int, service_queue_id int
sys.soap_endpoints 2005: name sysname, endpoint_id int, principal_id int, protocol tinyint, protocol_desc
    nvarchar(60), type tinyint, type_desc nvarchar(60), state tinyint, state_desc nvarchar(60),
    is_admin_endpoint bit, is_sql_language_enabled bit, wsdl_generator_procedure nvarchar(776),
    default_database sysname, default_namespace nvarchar(384), default_result_schema tinyint,
    default_result_schema_desc nvarchar(60), is_xml_charset_enforced bit, is_session_enabled bit,
    session_timeout int, login_type nvarchar(60), header_limit int
sys.sql_logins 2005: name sysname, principal_id int, sid varbinary(85), type char(1), type_desc
    nvarchar(60), is_disabled int, create_date datetime, modify_date datetime, default_database_name
    sysname, default_language_name sysname, credential_id int, is_policy_checked bit, is_expiration_checked
    bit, password_hash varbinary(256)
sys.symmetric_keys 2005: name sysname, principal_id int, symmetric_key_id int, key_length int, key_algorithm
    char(2), algorithm_desc nvarchar(60), create_date datetime, modify_date datetime, key_guid
    uniqueidentifier, key_thumbprint sql_variant 2008, provider_type nvarchar(120) 2008,
    cryptographic_provider_guid uniqueidentifier 2008, cryptographic_provider_algid sql_variant 2008
sys.system_components_surface_area_configuration 2005: component_name sysname, database_name sysname,
    schema_name sysname, object_name sysname, state tinyint, type char(2), type_desc nvarchar(60)
sys.tcp_endpoints 2005: name sysname, endpoint_id int, principal_id int, protocol tinyint, protocol_desc
    nvarchar(60), type tinyint, type_desc nvarchar(60), state tinyint, state_desc nvarchar(60),
    is_admin_endpoint bit, port int, is_dynamic_port bit, ip_address nvarchar(45)
sys.trace_categories 2005: category_id smallint, name nvarchar(128), type tinyint
sys.trace_columns 2005: trace_column_id smallint, name nvarchar(128), type_name nvarchar(128), max_size int,
    is_filterable bit, is_repeatable bit, is_repeated_base bit
sys.trace_event_bindings 2005: trace_event_id smallint, trace_column_id smallint
sys.trace_events 2005: trace_event_id smallint, category_id smallint, name nvarchar(128)
sys.trace_subclass_values 2005: trace_event_id smallint, trace_column_id smallint, subclass_name
    nvarchar(128), subclass_value smallint
sys.traces 2005: id int, status int, path nvarchar(260), max_size bigint, stop_time datetime, max_files int,
    is_rowset bit, is_rollover bit, is_shutdown bit, is_default bit, buffer_count int, buffer_size int,
    file_position bigint, reader_spid int, start_time datetime, last_event_time datetime, event_count
    bigint, dropped_event_count int
sys.transmission_queue 2005: conversation_handle uniqueidentifier, to_service_name nvarchar(256),
    to_broker_instance nvarchar(128), from_service_name nvarchar(256), service_contract_name nvarchar(256),
    enqueue_time datetime, message_sequence_number bigint, message_type_name nvarchar(256),
    is_conversation_error bit, is_end_of_dialog bit, message_body varbinary(max), transmission_status
    nvarchar(4000), priority tinyint 2008
sys.user_token 2005: principal_id int, sid varbinary(85), name nvarchar(128), type nvarchar(128), usage
    nvarchar(128)
"""
