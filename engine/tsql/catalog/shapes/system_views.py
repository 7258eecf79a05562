"""Dynamic management views of the operating system, memory, files, mirroring, resources. See __init__.py."""

from typing import Final

TEXT: Final = """
sys.dm_audit_actions 2008: action_id varchar(4), action_in_log bit, name sysname, class_desc nvarchar(120),
    parent_class_desc nvarchar(120), covering_parent_action_name nvarchar(120), configuration_level
    nvarchar(10), containing_group_name nvarchar(120)
sys.dm_audit_class_type_map 2008: class_type char(2), class_type_desc nvarchar(120), securable_class_desc
    nvarchar(120)
sys.dm_broker_activated_tasks 2005: spid int, database_id smallint, queue_id int, procedure_name
    nvarchar(650), execute_as int
sys.dm_broker_connections 2005: connection_id uniqueidentifier, transport_stream_id uniqueidentifier, state
    smallint, state_desc nvarchar(60), connect_time datetime, login_time datetime, authentication_method
    nvarchar(128), principal_name nvarchar(128), remote_user_name nvarchar(128), last_activity_time
    datetime, is_accept bit, login_state smallint, login_state_desc nvarchar(60), peer_certificate_id int,
    encryption_algorithm smallint, encryption_algorithm_desc nvarchar(60), receives_posted smallint,
    is_receive_flow_controlled bit, sends_posted smallint, is_send_flow_controlled bit, total_bytes_sent
    bigint, total_bytes_received bigint, total_fragments_sent bigint, total_fragments_received bigint,
    total_sends bigint, total_receives bigint, peer_arbitration_id uniqueidentifier
sys.dm_broker_forwarded_messages 2005: conversation_id uniqueidentifier, is_initiator bit, to_service_name
    nvarchar(512), to_broker_instance nvarchar(512), from_service_name nvarchar(512), from_broker_instance
    nvarchar(512), adjacent_broker_address nvarchar(512), message_sequence_number bigint,
    message_fragment_number int, hops_remaining tinyint, time_to_live int, time_consumed int, message_id
    uniqueidentifier
sys.dm_broker_queue_monitors 2005: database_id int, queue_id int, state nvarchar(32), last_empty_rowset_time
    datetime, last_activated_time datetime, tasks_waiting int
sys.dm_cdc_errors 2008: session_id int, phase_number int, entry_time datetime, error_number int,
    error_severity int, error_state int, error_message nvarchar(1024), start_lsn nvarchar(23), begin_lsn
    nvarchar(23), sequence_value nvarchar(23)
sys.dm_cdc_log_scan_sessions 2008: session_id int, start_time datetime, end_time datetime, duration bigint,
    scan_phase nvarchar(200), error_count int, start_lsn nvarchar(23), current_lsn nvarchar(23), end_lsn
    nvarchar(23), tran_count bigint, last_commit_lsn nvarchar(23), last_commit_time datetime,
    log_record_count bigint, schema_change_count int, command_count bigint, first_begin_cdc_lsn
    nvarchar(23), last_commit_cdc_lsn nvarchar(23), last_commit_cdc_time datetime, latency int,
    empty_scan_count int, failed_sessions_count int
sys.dm_clr_appdomains 2005: appdomain_address varbinary(8), appdomain_id int, appdomain_name varchar(386),
    creation_time datetime, db_id int, user_id int, state nvarchar(128), strong_refcount int, weak_refcount
    int, cost int, value int, total_processor_time_ms bigint, total_allocated_memory_kb bigint,
    survived_memory_kb bigint
sys.dm_clr_loaded_assemblies 2005: assembly_id int, appdomain_address int, load_time datetime
sys.dm_clr_properties 2005: name nvarchar(128), value nvarchar(128)
sys.dm_clr_tasks 2005: task_address varbinary(8), sos_task_address varbinary(8), appdomain_address
    varbinary(8), state nvarchar(128), abort_state nvarchar(128), type nvarchar(128), affinity_count int,
    forced_yield_count int
sys.dm_cryptographic_provider_algorithms() 2008: algorithm_id int, algorithm_tag nvarchar(60), key_type
    nvarchar(128), key_length int
sys.dm_cryptographic_provider_keys() 2008: key_id int, key_name nvarchar(512), key_thumbprint varbinary(32),
    algorithm_id int, algorithm_tag int, key_type nchar(256), key_length int
sys.dm_cryptographic_provider_properties 2008: provider_id int, guid uniqueidentifier, provider_version
    nvarchar(256), sqlcrypt_version nvarchar(256), friendly_name nvarchar(2048), authentication_type
    nvarchar(256), symmetric_key_support tinyint, symmetric_key_export tinyint, symmetric_key_import
    tinyint, symmetric_key_persistance tinyint, asymmetric_key_support tinyint, asymmetric_key_export
    tinyint
sys.dm_cryptographic_provider_sessions 2008: provider_id int, identity nvarchar(128)
sys.dm_db_mirroring_auto_page_repair 2008: database_id int, file_id int, page_id bigint, error_type int,
    page_status int, modification_time datetime
sys.dm_db_mirroring_connections 2005: connection_id uniqueidentifier, transport_stream_id uniqueidentifier,
    state smallint, state_desc nvarchar(60), connect_time datetime, login_time datetime,
    authentication_method nvarchar(128), principal_name nvarchar(128), remote_user_name nvarchar(128),
    last_activity_time datetime, is_accept bit, login_state smallint, login_state_desc nvarchar(60),
    peer_certificate_id int, encryption_algorithm smallint, encryption_algorithm_desc nvarchar(60),
    receives_posted smallint, is_receive_flow_controlled bit, sends_posted smallint, is_send_flow_controlled
    bit, total_bytes_sent bigint, total_bytes_received bigint, total_fragments_sent bigint,
    total_fragments_received bigint, total_sends bigint, total_receives bigint, peer_arbitration_id
    uniqueidentifier
sys.dm_db_missing_index_columns() 2005: column_id int, column_name sysname, column_usage varchar(20)
sys.dm_db_missing_index_details 2005: index_handle int, database_id smallint, object_id int,
    equality_columns nvarchar(4000), inequality_columns nvarchar(4000), included_columns nvarchar(4000),
    statement nvarchar(4000)
sys.dm_db_missing_index_group_stats 2005: group_handle int, unique_compiles bigint, user_seeks bigint,
    user_scans bigint, last_user_seek datetime, last_user_scan datetime, avg_total_user_cost float,
    avg_user_impact float, system_seeks bigint, system_scans bigint, last_system_seek datetime,
    last_system_scan datetime, avg_total_system_cost float, avg_system_impact float
sys.dm_db_missing_index_groups 2005: index_group_handle int, index_handle int
sys.dm_filestream_file_io_handles 2008: handle_context_address varbinary(8), creation_request_id int,
    creation_irp_id int, handle_id int, creation_client_thread_id varbinary(8), creation_client_process_id
    varbinary(8), filestream_transaction_id varbinary(128), access_type nvarchar(60), logical_path
    nvarchar(256), physical_path nvarchar(256)
sys.dm_filestream_file_io_requests 2008: request_context_address varbinary(8), current_spid smallint,
    request_type nvarchar(60), request_state nvarchar(60), request_id int, irp_id int, handle_id int,
    client_thread_id varbinary(8), client_process_id varbinary(8), handle_context_address varbinary(8),
    filestream_transaction_id varbinary(128)
sys.dm_filestream_non_transacted_handles 2012: database_id int, object_id int, handle_id int,
    file_object_type int, file_object_type_desc nvarchar(120), correlation_process_id varbinary(8),
    correlation_thread_id varbinary(8), file_context varbinary(8), state int, state_desc nvarchar(120),
    current_workitem_type int, current_workitem_type_desc nvarchar(120), fcb_id bigint, item_id
    varbinary(892), is_directory bit, item_name nvarchar(512), opened_file_name nvarchar(512),
    database_directory_name nvarchar(512), table_directory_name nvarchar(512), remaining_file_name
    nvarchar(512), open_time datetime, flags int, login_id int, login_name nvarchar(512), login_sid
    varbinary(85), read_access bit, write_access bit, delete_access bit, share_read bit, share_write bit,
    share_delete bit
sys.dm_fts_active_catalogs 2005: database_id int, catalog_id int, memory_address varbinary(8), name
    nvarchar(128), is_paused bit, status int, status_description nvarchar(120), previous_status int,
    previous_status_description nvarchar(120), worker_count int, active_fts_index_count int,
    auto_population_count int, manual_population_count int, full_incremental_population_count int,
    row_count_in_thousands int, is_importing bit
sys.dm_fts_fdhosts 2008: fdhost_id int, fdhost_name nvarchar(120), fdhost_process_id int, fdhost_type
    nvarchar(120), max_thread int, batch_count int
sys.dm_fts_index_keywords() 2008: keyword nvarchar(4000), display_term nvarchar(4000), column_id int,
    document_count int
sys.dm_fts_index_keywords_by_document() 2008: keyword nvarchar(4000), display_term nvarchar(4000), column_id
    int, document_id int, occurrence_count int
sys.dm_fts_index_keywords_by_property() 2012: keyword nvarchar(4000), display_term nvarchar(4000), column_id
    int, document_id int, property_id int
sys.dm_fts_index_population 2005: database_id int, catalog_id int, table_id int, memory_address
    varbinary(8), population_type int, population_type_description nvarchar(120), is_clustered_index_scan
    bit, range_count int, completed_range_count int, outstanding_batch_count int, status int 2012,
    status_description nvarchar(120), completion_type int, completion_type_description nvarchar(120),
    worker_count int, queued_population_type int, queued_population_type_description nvarchar(120),
    start_time datetime, incremental_timestamp timestamp
sys.dm_fts_memory_buffers 2005: pool_id int, memory_address varbinary(8), name nvarchar(4000), is_free bit,
    row_count int, bytes_used int, percent_used int
sys.dm_fts_memory_pools 2005: pool_id int, buffer_size int, min_buffer_limit int, max_buffer_limit int,
    buffer_count int
sys.dm_fts_outstanding_batches 2008: database_id int, catalog_id int, table_id int, batch_id int,
    memory_address varbinary(8), crawl_memory_address varbinary(8), memregion_memory_address varbinary(8),
    hr_batch int, is_retry_batch bit, retry_hints int, retry_hints_description nvarchar(120), doc_failed
    bigint, batch_timestamp timestamp
sys.dm_fts_parser() 2008: keyword varbinary(128), group_id int, phrase_id int, occurrence int, special_term
    nvarchar(4000), display_term nvarchar(4000), expansion_type int, source_term nvarchar(4000)
sys.dm_fts_population_ranges 2005: memory_address varbinary(8), parent_memory_address varbinary(8), is_retry
    bit, session_id smallint, processed_row_count int, error_count int
sys.dm_fts_semantic_similarity_population 2012: database_id int, catalog_id int, table_id int,
    document_count int, document_processed_count int, completion_type int, completion_type_description
    nvarchar(120), worker_count int, status int, status_description nvarchar(120), start_time datetime,
    incremental_timestamp timestamp
sys.dm_io_backup_tapes 2005: physical_device_name nvarchar(520), logical_device_name nvarchar(256), status
    int, status_desc nvarchar(520), mount_request_time datetime, mount_expiration_time datetime,
    database_name nvarchar(256), spid int, command int, command_desc nvarchar(120), media_family_id int,
    media_set_name nvarchar(256), media_set_guid uniqueidentifier, media_sequence_number int, tape_operation
    int, tape_operation_desc nvarchar(120), mount_request_type int, mount_request_type_desc nvarchar(120)
sys.dm_io_cluster_shared_drives 2005: DriveName nchar(2)
sys.dm_io_cluster_valid_path_names 2014: path_name nvarchar(512), cluster_owner_node nvarchar(64),
    is_cluster_shared_volume bit
sys.dm_io_pending_io_requests 2005: io_completion_request_address varbinary(8), io_type varchar(7),
    io_pending int, io_completion_routine_address varbinary(8), io_user_data_address varbinary(8),
    scheduler_address varbinary(8), io_handle varbinary(8), io_offset bigint, io_pending_ms_ticks int
sys.dm_io_virtual_file_stats() 2005: database_id smallint, file_id smallint, sample_ms bigint, num_of_reads
    bigint, num_of_bytes_read bigint, io_stall_read_ms bigint, num_of_writes bigint, num_of_bytes_written
    bigint, io_stall_write_ms bigint, io_stall bigint, size_on_disk_bytes bigint, file_handle varbinary,
    io_stall_queued_read_ms bigint 2005-2012, io_stall_queued_write_ms bigint 2005-2012
sys.dm_os_buffer_descriptors 2005: database_id int, file_id int, page_id int, page_level int,
    allocation_unit_id bigint, page_type nvarchar(60), row_count int, free_space_in_bytes int, is_modified
    bit, numa_node int, read_microsec bigint, is_in_bpool_extension bit
sys.dm_os_buffer_pool_extension_configuration 2014: path nvarchar(256), file_id int, state int,
    state_description nvarchar(60), current_size_in_kb bigint
sys.dm_os_child_instances 2005: owning_principal_name nvarchar(256), owning_principal_sid nvarchar(256),
    owning_principal_sid_binary varbinary(85), instance_name nvarchar(128), instance_pipe_name
    nvarchar(260), os_process_id int, os_process_creation_date datetime, heart_beat nvarchar(5)
sys.dm_os_cluster_nodes 2005: NodeName sysname, status int 2012, status_description nvarchar(20) 2012,
    is_current_owner bit 2012
sys.dm_os_cluster_properties 2012: VerboseLogging bigint, SqlDumperDumpFlags bigint, SqlDumperDumpPath
    nvarchar(260), SqlDumperDumpTimeOut bigint, FailureConditionLevel bigint, HealthCheckTimeout bigint
sys.dm_os_dispatcher_pools 2008: dispatcher_pool_address varbinary(8), type nvarchar(256), name
    nvarchar(256), dispatcher_count int, dispatcher_ideal_count int, dispatcher_timeout_ms int,
    dispatcher_waiting_count int, queue_length int
sys.dm_os_hosts 2005: host_address varbinary(8), type nvarchar(60), name nvarchar(32), enqueued_tasks_count
    int, active_tasks_count int, completed_ios_count int, completed_ios_in_bytes bigint, active_ios_count
    int, default_memory_clerk_address varbinary(8)
sys.dm_os_latch_stats 2005: latch_class nvarchar(120), waiting_requests_count bigint, wait_time_ms bigint,
    max_wait_time_ms bigint
sys.dm_os_loaded_modules 2005: base_address varbinary(8), file_version varchar(23), product_version
    varchar(23), debug bit, patched bit, prerelease bit, private_build bit, special_build bit, language int,
    company nvarchar(256), description nvarchar(256), name nvarchar(255)
sys.dm_os_memory_brokers 2008: pool_id int, memory_broker_type nvarchar(60), allocations_kb bigint,
    allocations_kb_per_sec bigint, predicted_allocations_kb bigint, target_allocations_kb bigint,
    future_allocations_kb bigint, overall_limit_kb bigint, last_notification nvarchar(60)
sys.dm_os_memory_cache_clock_hands 2005: cache_address varbinary(8), name nvarchar(256), type nvarchar(60),
    clock_hand nvarchar(60), clock_status nvarchar(60), rounds_count bigint, removed_all_rounds_count
    bigint, updated_last_round_count bigint, removed_last_round_count bigint, last_tick_time bigint,
    round_start_time bigint, last_round_start_time bigint
sys.dm_os_memory_cache_counters 2005: cache_address varbinary(8), name nvarchar(256), type nvarchar(60),
    single_pages_kb bigint 2005-2008, pages_kb bigint 2012, multi_pages_kb bigint 2005-2008, pages_in_use_kb
    bigint 2012, single_pages_in_use_kb bigint 2005-2008, multi_pages_in_use_kb bigint 2005-2008,
    entries_count bigint, entries_in_use_count bigint
sys.dm_os_memory_cache_entries 2005: cache_address varbinary(8), name nvarchar(256), type varchar(60),
    entry_address varbinary(8), entry_data_address varbinary(8), in_use_count int, is_dirty bit,
    disk_ios_count int, context_switches_count int, original_cost int, current_cost int,
    memory_object_address varbinary(8), pages_allocated_count bigint 2005-2008, pages_kb bigint 2012,
    entry_data nvarchar(2048), pool_id int 2008
sys.dm_os_memory_cache_hash_tables 2005: cache_address varbinary(8), name nvarchar(256), type nvarchar(60),
    table_level int, buckets_count int, buckets_in_use_count int, buckets_min_length int, buckets_max_length
    int, buckets_avg_length int, buckets_max_length_ever int, hits_count bigint, misses_count bigint,
    buckets_avg_scan_hit_length int, buckets_avg_scan_miss_length int
sys.dm_os_memory_clerks 2005: memory_clerk_address varbinary(8), type nvarchar(60), name nvarchar(256),
    memory_node_id smallint, single_pages_kb bigint 2005-2008, pages_kb bigint 2012, multi_pages_kb bigint
    2005-2008, virtual_memory_reserved_kb bigint, virtual_memory_committed_kb bigint, awe_allocated_kb
    bigint, shared_memory_reserved_kb bigint, shared_memory_committed_kb bigint, page_size_in_bytes bigint,
    page_allocator_address varbinary(8), host_address varbinary(8)
sys.dm_os_memory_nodes 2008: memory_node_id smallint, virtual_address_space_reserved_kb bigint,
    virtual_address_space_committed_kb bigint, locked_page_allocations_kb bigint, single_pages_kb bigint
    2008-2008, pages_kb bigint 2012, multi_pages_kb bigint 2008-2008, shared_memory_reserved_kb bigint,
    shared_memory_committed_kb bigint, cpu_affinity_mask bigint 2012, online_scheduler_mask bigint 2012,
    processor_group smallint 2012, foreign_committed_kb bigint 2012
sys.dm_os_memory_objects 2005: memory_object_address varbinary(8), parent_address varbinary(8),
    pages_allocated_count int 2005-2008, pages_in_bytes bigint 2012, creation_options int, bytes_used
    bigint, type nvarchar(60), name varchar(128), memory_node_id smallint, creation_time datetime,
    max_pages_allocated_count int 2005-2008, page_size_in_bytes int 2012, max_pages_in_bytes bigint,
    page_allocator_address varbinary(8), creation_stack_address varbinary(8), sequence_num int,
    partition_type int, contention_factor real, waiting_tasks_count bigint, exclusive_access_count bigint
sys.dm_os_memory_pools 2005: memory_pool_address varbinary(8), pool_id int, type nvarchar(60), name
    nvarchar(256), max_free_entries_count bigint, free_entries_count bigint, removed_in_all_rounds_count
    bigint
sys.dm_os_nodes 2008: node_id smallint, node_state_desc nvarchar(256), memory_object_address varbinary(8),
    memory_clerk_address varbinary(8), io_completion_worker_address varbinary(8), memory_node_id smallint,
    cpu_affinity_mask bigint, online_scheduler_count smallint, idle_scheduler_count smallint,
    active_worker_count int, avg_load_balance int, timer_task_affinity_mask bigint,
    permanent_task_affinity_mask bigint, resource_monitor_state bit, online_scheduler_mask bigint,
    processor_group smallint
sys.dm_os_performance_counters 2005: object_name nchar(128), counter_name nchar(128), instance_name
    nchar(128), cntr_value bigint, cntr_type int
sys.dm_os_process_memory 2008: physical_memory_in_use_kb bigint, large_page_allocations_kb bigint,
    locked_page_allocations_kb bigint, total_virtual_address_space_kb bigint,
    virtual_address_space_reserved_kb bigint, virtual_address_space_committed_kb bigint,
    virtual_address_space_available_kb bigint, page_fault_count bigint, memory_utilization_percentage int,
    available_commit_limit_kb bigint, process_physical_memory_low bit, process_virtual_memory_low bit
sys.dm_os_schedulers 2005: scheduler_address varbinary(8), parent_node_id int, scheduler_id int, cpu_id
    smallint, status nvarchar(60), is_online bit, is_idle bit, preemptive_switches_count int,
    context_switches_count int, idle_switches_count int, current_tasks_count int, runnable_tasks_count int,
    current_workers_count int, active_workers_count int, work_queue_count bigint, pending_disk_io_count int,
    load_factor int, yield_count int, last_timer_activity bigint, failed_to_create_worker bit,
    active_worker_address varbinary(8), memory_object_address varbinary(8), task_memory_object_address
    varbinary(8), quantum_length_us bigint
sys.dm_os_server_diagnostics_log_configurations 2012: is_enabled bit, max_size int, max_files int, path
    nvarchar(260)
sys.dm_os_stacks 2005: stack_address varbinary(8), frame_index int, frame_address varbinary(8)
sys.dm_os_sys_info 2005: cpu_ticks bigint, ms_ticks bigint, cpu_count int, hyperthread_ratio int,
    physical_memory_in_bytes bigint 2005-2008, physical_memory_kb bigint 2012, virtual_memory_in_bytes
    bigint 2005-2008, virtual_memory_kb bigint 2012, bpool_committed int 2005-2008, committed_kb int 2012,
    bpool_commit_target int 2005-2008, committed_target_kb int 2012, bpool_visible int 2005-2008,
    visible_target_kb int 2012, stack_size_in_bytes int, os_quantum bigint, os_error_mode int,
    os_priority_class int, max_workers_count int, scheduler_count int, scheduler_total_count int,
    deadlock_monitor_serial_number int, sqlserver_start_time_ms_ticks bigint 2008, sqlserver_start_time
    datetime 2008, affinity_type int 2012, affinity_type_desc varchar(60) 2012, process_kernel_time_ms
    bigint 2012, process_user_time_ms bigint 2012, time_source int 2012, time_source_desc nvarchar(60) 2012,
    virtual_machine_type int 2012, virtual_machine_type_desc nvarchar(60) 2012
sys.dm_os_sys_memory 2008: total_physical_memory_kb bigint, available_physical_memory_kb bigint,
    total_page_file_kb bigint, available_page_file_kb bigint, system_cache_kb bigint, kernel_paged_pool_kb
    bigint, kernel_nonpaged_pool_kb bigint, system_high_memory_signal_state bit,
    system_low_memory_signal_state bit, system_memory_state_desc nvarchar(256)
sys.dm_os_tasks 2005: task_address varbinary(8), task_state nvarchar(60), context_switches_count int,
    pending_io_count int, pending_io_byte_count bigint, pending_io_byte_average int, scheduler_id int,
    session_id smallint, exec_context_id int, request_id int, worker_address varbinary(8), host_address
    varbinary(8), parent_task_address varbinary(8) 2008
sys.dm_os_threads 2005: thread_address varbinary(8), started_by_sqlservr bit, os_thread_id int, status int,
    instruction_address varbinary(8), creation_time datetime, kernel_time bigint, usermode_time bigint,
    stack_base_address varbinary(8), stack_end_address varbinary(8), stack_bytes_committed int,
    stack_bytes_used int, affinity bigint, Priority int, Locale int, Token varbinary(8), is_impersonating
    int, is_waiting_on_loader_lock int, fiber_data varbinary(8), thread_handle varbinary(8), event_handle
    varbinary(8), scheduler_address varbinary(8), worker_address varbinary(8), fiber_context_address
    varbinary(8), self_address varbinary(8), processor_group smallint 2008
sys.dm_os_virtual_address_dump 2005: region_base_address varbinary(8), region_allocation_base_address
    varbinary(8), region_allocation_protection varbinary(8), region_size_in_bytes bigint, region_state
    varbinary(8), region_current_protection varbinary(8), region_type varbinary(8)
sys.dm_os_volume_stats() 2012: database_id int, file_id int, volume_mount_point nvarchar(512), volume_id
    nvarchar(512), logical_volume_name nvarchar(512), file_system_type nvarchar(512), total_bytes bigint,
    available_bytes bigint, supports_compression bit, supports_alternate_streams bit, supports_sparse_files
    bit, is_read_only bit, is_compressed bit
sys.dm_os_wait_stats 2005: wait_type nvarchar(60), waiting_tasks_count bigint, wait_time_ms bigint,
    max_wait_time_ms bigint, signal_wait_time_ms bigint
sys.dm_os_waiting_tasks 2005: waiting_task_address varbinary(8), session_id smallint, exec_context_id int,
    wait_duration_ms bigint, wait_type nvarchar(60), resource_address varbinary(8), blocking_task_address
    varbinary(8), blocking_session_id smallint, blocking_exec_context_id int, resource_description
    nvarchar(3072)
sys.dm_os_windows_info 2012: windows_release nvarchar(256), windows_service_pack_level nvarchar(256),
    windows_sku int, os_language_version int
sys.dm_os_workers 2005: worker_address varbinary(8), status int, is_preemptive bit, is_fiber bit, is_sick
    bit, is_in_cc_exception bit, is_fatal_exception bit, is_inside_catch bit,
    is_in_polling_io_completion_routine bit, context_switch_count int, pending_io_count int,
    pending_io_byte_count bigint, pending_io_byte_average int, wait_started_ms_ticks bigint,
    wait_resumed_ms_ticks bigint, task_bound_ms_ticks bigint, worker_created_ms_ticks bigint, exception_num
    int, exception_severity int, exception_address varbinary(8), affinity bigint, state nvarchar(60),
    start_quantum bigint, end_quantum bigint, last_wait_type nvarchar(60), return_code int, quantum_used
    bigint, max_quantum bigint, boost_count int, tasks_processed_count int, fiber_address varbinary(8),
    task_address varbinary(8), memory_object_address varbinary(8), thread_address varbinary(8),
    signal_worker_address varbinary(8), scheduler_address varbinary(8), processor_group smallint 2008
sys.dm_repl_articles 2005: artcache_db_address varbinary(8), artcache_table_address varbinary(8),
    artcache_schema_address varbinary(8), artcache_article_address varbinary(8), artid bigint, artfilter
    bigint, artobjid bigint, artpubid bigint, artstatus tinyint, arttype tinyint, wszArtdesttable
    nvarchar(514), wszArtdesttableowner nvarchar(514), wszArtinscmd nvarchar(510), cmdTypeIns int,
    wszArtdelcmd nvarchar(510), cmdTypeDel int, wszArtupdcmd nvarchar(510), cmdTypeUpd int,
    wszArtpartialupdcmd nvarchar(510), cmdTypePartialUpd int, numcol int, artcmdtype tinyint, artgeninscmd
    nvarchar(510), artgendelcmd nvarchar(510), artgenupdcmd nvarchar(510), artpartialupdcmd nvarchar(510),
    artupdtxtcmd nvarchar(510), artgenins2cmd nvarchar(510), artgendel2cmd nvarchar(510), fInReconcile
    tinyint, fPubAllowUpdate tinyint, intPublicationOptions bigint
sys.dm_repl_schemas 2005: artcache_schema_address varbinary(8), tabid bigint, indexid smallint, idSch
    bigint, tabschema nvarchar(510), ccTabschema smallint, tabname nvarchar(510), ccTabname smallint,
    rowsetid_delete bigint, rowsetid_insert bigint, num_pk_cols int, pcitee binary(8000), re_numtextcols
    int, re_schema_lsn_begin binary(8000), re_schema_lsn_end binary(8000), re_numcols int, re_colid int,
    re_awcName nvarchar(510), re_ccName smallint, re_pk tinyint, re_unique tinyint, re_maxlen smallint,
    re_prec tinyint, re_scale tinyint, re_collatid bigint, re_xvtype smallint, re_offset smallint, re_bitpos
    tinyint, re_fNullable tinyint, re_fAnsiTrim tinyint, re_computed smallint, se_rowsetid bigint,
    se_schema_lsn_begin binary(8000), se_schema_lsn_end binary(8000), se_numcols int, se_colid int,
    se_maxlen smallint, se_prec tinyint, se_scale tinyint, se_collatid bigint, se_xvtype smallint, se_offset
    smallint, se_bitpos tinyint, se_fNullable tinyint, se_fAnsiTrim tinyint, se_computed smallint,
    se_nullBitInLeafRows int
sys.dm_repl_tranhash 2005: buckets bigint, hashed_trans bigint, completed_trans bigint, compensated_trans
    bigint, first_begin_lsn nvarchar(64), last_commit_lsn nvarchar(64)
sys.dm_repl_traninfo 2005: fp2p_pub_exists tinyint, db_ver int, comp_range_address varbinary(8),
    textinfo_address varbinary(8), fsinfo_address varbinary(8), begin_lsn nvarchar(64), commit_lsn
    nvarchar(64), dbid smallint, rows int, xdesid nvarchar(64), artcache_table_address varbinary(8), server
    nvarchar(514), server_len_in_bytes smallint, database nvarchar(514), db_len_in_bytes smallint,
    originator nvarchar(514), originator_len_in_bytes smallint, orig_db nvarchar(514), orig_db_len_in_bytes
    smallint, cmds_in_tran int, is_boundedupdate_singleton tinyint, begin_update_lsn nvarchar(64),
    delete_lsn nvarchar(64), last_end_lsn nvarchar(64), fcomplete tinyint, fcompensated tinyint,
    fprocessingtext tinyint, max_cmds_in_tran int, begin_time datetime, commit_time datetime, session_id
    int, session_phase int, is_known_cdc_tran bit, error_count int
sys.dm_resource_governor_configuration 2008: classifier_function_id int, is_reconfiguration_pending bit,
    max_outstanding_io_per_volume int 2014
sys.dm_resource_governor_resource_pool_affinity 2012: Pool_id int, Processor_group smallint, Scheduler_mask
    bigint
sys.dm_resource_governor_resource_pool_volumes 2014: pool_id int, volume_name sysname, read_io_queued_total
    int, read_io_issued_total int, read_ios_completed_total int, read_ios_throttled_total int,
    read_bytes_total bigint, read_io_stall_total_ms bigint, read_io_stall_queued_ms bigint,
    write_io_queued_total int, write_io_issued_total int, write_io_completed_total int,
    write_io_throttled_total int, write_bytes_total bigint, write_io_stall_total_ms bigint,
    write_io_stall_queued_ms bigint, io_issue_violations_total int, io_issue_delay_total_ms bigint
sys.dm_resource_governor_resource_pools 2008: pool_id int, name sysname, statistics_start_time datetime,
    total_cpu_usage_ms bigint, cache_memory_kb bigint, compile_memory_kb bigint, used_memgrant_kb bigint,
    total_memgrant_count bigint, total_memgrant_timeout_count bigint, active_memgrant_count int,
    active_memgrant_kb bigint, memgrant_waiter_count int, max_memory_kb bigint, used_memory_kb bigint,
    target_memory_kb bigint, out_of_memory_count bigint, min_cpu_percent int, max_cpu_percent int,
    min_memory_percent int, max_memory_percent int, cap_cpu_percent int 2012, min_iops_per_volume int 2014,
    max_iops_per_volume int 2014, read_io_queued_total int 2014, read_io_issued_total int 2014,
    read_io_completed_total int 2014, read_io_throttled_total int, read_bytes_total bigint 2014,
    read_io_stall_total_ms bigint 2014, read_io_stall_queued_ms bigint 2014, write_io_queued_total int 2014,
    write_io_issued_total int 2014, write_io_completed_total int 2014, write_io_throttled_total int 2014,
    write_bytes_total bigint 2014, write_io_stall_total_ms bigint 2014, write_io_stall_queued_ms bigint
    2014, io_issue_violations_total int 2014, io_issue_delay_total_ms bigint 2014
sys.dm_resource_governor_workload_groups 2008: group_id int, name sysname, pool_id int,
    statistics_start_time datetime, total_request_count bigint, total_queued_request_count bigint,
    active_request_count int, queued_request_count int, total_cpu_limit_violation_count bigint,
    total_cpu_usage_ms bigint, max_request_cpu_time_ms bigint, blocked_task_count int, total_lock_wait_count
    bigint, total_lock_wait_time_ms bigint, total_query_optimization_count bigint,
    total_suboptimal_plan_generation_count bigint, total_reduced_memgrant_count bigint,
    max_request_grant_memory_kb bigint, active_parallel_thread_count bigint, importance sysname,
    request_max_memory_grant_percent int, request_max_cpu_time_sec int, request_memory_grant_timeout_sec
    int, group_max_requests int, max_dop int
sys.dm_server_audit_status 2008: audit_id int, name sysname, status smallint, status_desc nvarchar(256),
    status_time datetime2, event_session_address varbinary(8), audit_file_path nvarchar(256),
    audit_file_size bigint
sys.dm_server_memory_dumps 2008: filename nvarchar(256), creation_time datetimeoffset(7), size_in_bytes
    bigint
sys.dm_server_registry 2012: registry_key nvarchar(256), value_name nvarchar(256), value_data sql_variant
sys.dm_server_services 2012: servicename nvarchar(256), startup_type int, status int, status_desc
    nvarchar(256), process_id int, last_startup_time datetimeoffset(7), service_account nvarchar(256),
    filename nvarchar(256), is_clustered nvarchar(1), cluster_nodename nvarchar(256), startup_type_desc
    nvarchar
sys.dm_tcp_listener_states 2012: listener_id int, is_ipv4 bit, port int, type tinyint, type_desc
    nvarchar(20), state tinyint, state_desc nvarchar(16), start_time datetime
sys.dm_xe_map_values 2008: name nvarchar(60), object_package_guid uniqueidentifier, map_key int, map_value
    nvarchar(2048)
sys.dm_xe_object_columns 2008: name nvarchar(60), column_id int, object_name nvarchar(60),
    object_package_guid uniqueidentifier, type_name nvarchar(60), type_package_guid uniqueidentifier,
    column_type nvarchar(60), column_value nvarchar(256), capabilities int, capabilities_desc nvarchar(256),
    description nvarchar(256)
sys.dm_xe_objects 2008: name nvarchar(60), object_type nvarchar(60), package_guid uniqueidentifier,
    description nvarchar(256), capabilities int, capabilities_desc nvarchar(256), type_name nvarchar(60),
    type_package_guid uniqueidentifier, type_size int
sys.dm_xe_packages 2008: name nvarchar(60), guid uniqueidentifier, description nvarchar(256), capabilities
    int, capabilities_desc nvarchar(256), module_guid uniqueidentifier, module_address varbinary(8)
sys.dm_xe_session_event_actions 2008: event_session_address varbinary(8), action_name nvarchar(60),
    action_package_guid uniqueidentifier, event_name nvarchar(60), event_package_guid uniqueidentifier
sys.dm_xe_session_events 2008: event_session_address varbinary(8), event_name nvarchar(60),
    event_package_guid uniqueidentifier, event_predicate nvarchar(2048)
sys.dm_xe_session_object_columns 2008: event_session_address varbinary(8), column_name nvarchar(60),
    column_id int, column_value nvarchar(2048), object_type nvarchar(60), object_name nvarchar(60),
    object_package_guid uniqueidentifier
sys.dm_xe_session_targets 2008: event_session_address varbinary(8), target_name nvarchar(60),
    target_package_guid uniqueidentifier, execution_count bigint, execution_duration_ms bigint, target_data
    nvarchar(max)
sys.dm_xe_sessions 2008: address varbinary(8), name nvarchar(256), pending_buffers int,
    total_regular_buffers int, regular_buffer_size bigint, total_large_buffers int, large_buffer_size
    bigint, total_buffer_size bigint, buffer_policy_flags int, buffer_policy_desc nvarchar(256), flags int,
    flag_desc nvarchar(256), dropped_event_count int, dropped_buffer_count int, blocked_event_fire_time int,
    create_time datetime, largest_event_dropped_size int
sys.dm_os_memory_broker_clerks 2012: clerk_name nvarchar(60), total_kb bigint, simulated_kb bigint,
    simulation_benefit decimal(38,18), internal_benefit decimal(38,18), external_benefit decimal(38,18),
    value_of_memory decimal(38,18), periodic_freed_kb bigint, internal_freed_kb bigint
sys.dm_os_ring_buffers 2005: ring_buffer_address varbinary(8), ring_buffer_type nvarchar(60), timestamp
    bigint, record nvarchar(3072)
sys.dm_os_spinlock_stats 2008: name nvarchar(256), collisions bigint, spins bigint, spins_per_collision real,
    sleep_time bigint, backoffs bigint
"""
