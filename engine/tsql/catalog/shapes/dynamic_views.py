"""Dynamic management views of sessions, plans, indexes, transactions. See __init__.py."""

from typing import Final

TEXT: Final = """
sys.dm_database_encryption_keys 2008: database_id int, encryption_state int, create_date datetime,
    regenerate_date datetime, modify_date datetime, set_date datetime, opened_date datetime, key_algorithm
    nvarchar(32), key_length int, encryptor_thumbprint varbinary(20), encryptor_type nvarchar(32) 2014,
    percent_complete real
sys.dm_db_file_space_usage 2005: database_id smallint, file_id smallint, filegroup_id smallint 2012,
    total_page_count bigint 2012, allocated_extent_page_count bigint 2012, unallocated_extent_page_count
    bigint, version_store_reserved_page_count bigint, user_object_reserved_page_count bigint,
    internal_object_reserved_page_count bigint, mixed_extent_page_count bigint
sys.dm_db_fts_index_physical_stats 2012: object_id int, fulltext_index_page_count bigint,
    keyphrase_index_page_count bigint, similarity_index_page_count bigint
sys.dm_db_incremental_stats_properties() 2014: object_id int, stats_id int, partition_number int,
    last_updated datetime2, rows bigint, rows_sampled bigint, steps int, unfiltered_rows bigint,
    modification_counter bigint
sys.dm_db_index_operational_stats() 2005: database_id smallint, object_id int, index_id int,
    partition_number int, leaf_insert_count bigint, leaf_delete_count bigint, leaf_update_count bigint,
    leaf_ghost_count bigint, nonleaf_insert_count bigint, nonleaf_delete_count bigint, nonleaf_update_count
    bigint, leaf_allocation_count bigint, nonleaf_allocation_count bigint, leaf_page_merge_count bigint,
    nonleaf_page_merge_count bigint, range_scan_count bigint, singleton_lookup_count bigint,
    forwarded_fetch_count bigint, lob_fetch_in_pages bigint, lob_fetch_in_bytes bigint,
    lob_orphan_create_count bigint, lob_orphan_insert_count bigint, row_overflow_fetch_in_pages bigint,
    row_overflow_fetch_in_bytes bigint, column_value_push_off_row_count bigint,
    column_value_pull_in_row_count bigint, row_lock_count bigint, row_lock_wait_count bigint,
    row_lock_wait_in_ms bigint, page_lock_count bigint, page_lock_wait_count bigint, page_lock_wait_in_ms
    bigint, index_lock_promotion_attempt_count bigint, index_lock_promotion_count bigint,
    page_latch_wait_count bigint, page_latch_wait_in_ms bigint, page_io_latch_wait_count bigint,
    page_io_latch_wait_in_ms bigint, tree_page_latch_wait_count bigint, tree_page_latch_wait_in_ms bigint,
    tree_page_io_latch_wait_count bigint, tree_page_io_latch_wait_in_ms bigint,
    page_compression_attempt_count bigint 2008, page_compression_success_count bigint 2008
sys.dm_db_index_physical_stats() 2005: database_id smallint, object_id int, index_id int, partition_number
    int, index_type_desc nvarchar(60), alloc_unit_type_desc nvarchar(60), index_depth tinyint, index_level
    tinyint, avg_fragmentation_in_percent float, fragment_count bigint, avg_fragment_size_in_pages float,
    page_count bigint, avg_page_space_used_in_percent float, record_count bigint, ghost_record_count bigint,
    version_ghost_record_count bigint, min_record_size_in_bytes int, max_record_size_in_bytes int,
    avg_record_size_in_bytes float, forwarded_record_count bigint, compressed_page_count bigint 2008
sys.dm_db_index_usage_stats 2005: database_id smallint, object_id int, index_id int, user_seeks bigint,
    user_scans bigint, user_lookups bigint, user_updates bigint, last_user_seek datetime, last_user_scan
    datetime, last_user_lookup datetime, last_user_update datetime, system_seeks bigint, system_scans
    bigint, system_lookups bigint, system_updates bigint, last_system_seek datetime, last_system_scan
    datetime, last_system_lookup datetime, last_system_update datetime
sys.dm_db_log_space_usage 2012: database_id smallint, total_log_size_in_bytes bigint,
    used_log_space_in_bytes bigint, used_log_space_in_percent real, log_space_in_bytes_since_last_backup
    bigint 2014
sys.dm_db_objects_disabled_on_compatibility_level_change() 2012: class int, class_desc nvarchar(60),
    major_id int, minor_id int, dependency nvarchar(60)
sys.dm_db_partition_stats 2005: partition_id bigint, object_id int, index_id int, partition_number int,
    in_row_data_page_count bigint, in_row_used_page_count bigint, in_row_reserved_page_count bigint,
    lob_used_page_count bigint, lob_reserved_page_count bigint, row_overflow_used_page_count bigint,
    row_overflow_reserved_page_count bigint, used_page_count bigint, reserved_page_count bigint, row_count
    bigint
sys.dm_db_persisted_sku_features 2008: feature_name sysname, feature_id int
sys.dm_db_session_space_usage 2005: session_id smallint, database_id smallint, user_objects_alloc_page_count
    bigint, user_objects_dealloc_page_count bigint, internal_objects_alloc_page_count bigint,
    internal_objects_dealloc_page_count bigint, user_objects_deferred_dealloc_page_count bigint
sys.dm_db_stats_properties() 2012: object_id int, stats_id int, last_updated datetime2, rows bigint,
    rows_sampled bigint, steps int, unfiltered_rows bigint, modification_counter bigint
sys.dm_db_task_space_usage 2005: session_id smallint, request_id int, exec_context_id int, database_id
    smallint, user_objects_alloc_page_count bigint, user_objects_dealloc_page_count bigint,
    internal_objects_alloc_page_count bigint, internal_objects_dealloc_page_count bigint
sys.dm_db_xtp_checkpoint_files 2014: container_id int, container_guid uniqueidentifier, checkpoint_file_id
    uniqueidentifier, relative_file_path nvarchar(256), file_type smallint, file_type_desc nvarchar(60),
    internal_storage_slot int, checkpoint_pair_file_id uniqueidentifier, file_size_in_bytes bigint,
    file_size_used_in_bytes bigint, logical_row_count bigint, state smallint, state_desc nvarchar(60),
    lower_bound_tsn bigint, upper_bound_tsn bigint, begin_checkpoint_id bigint, end_checkpoint_id bigint,
    last_updated_checkpoint_id bigint, encryption_status smallint, encryption_status_desc nvarchar(60),
    inserted_row_count bigint, deleted_row_count bigint, drop_table_deleted_row_count bigint,
    last_backup_page_count int, delta_watermark_tsn int, last_checkpoint_recovery_lsn nvarchar(23),
    tombstone_operation_lsn nvarchar(23), logical_deletion_log_block_id bigint
sys.dm_db_xtp_checkpoint_stats 2014: last_lsn_processed bigint, end_of_log_lsn numeric(38),
    bytes_to_end_of_log bigint, log_consumption_rate bigint, active_scan_time_in_ms bigint,
    total_wait_time_in_ms bigint, waits_for_io bigint, io_wait_time_in_ms bigint, waits_for_new_log_count
    bigint, new_log_wait_time_in_ms bigint, idle_attempts_count bigint, tx_segments_dispatched bigint,
    segment_bytes_dispatched bigint, bytes_serialized bigint, serializer_user_time_in_ms bigint,
    serializer_kernel_time_in_ms bigint, xtp_log_bytes_consumed bigint, checkpoints_closed bigint,
    last_closed_checkpoint_ts bigint, hardened_recovery_lsn numeric(38), hardened_root_file_guid
    uniqueidentifier, hardened_root_file_watermark bigint, hardened_truncation_lsn numeric(38),
    log_bytes_since_last_close bigint, time_since_last_close_in_ms bigint, current_checkpoint_id bigint,
    current_checkpoint_segment_count bigint, recovery_lsn_candidate bigint, outstanding_checkpoint_count
    bigint, closing_checkpoint_id bigint, recovery_checkpoint_id bigint, recovery_checkpoint_ts bigint,
    bootstrap_recovery_lsn numeric(38), bootstrap_root_file_guid uniqueidentifier, internal_error_code
    bigint, bytes_of_large_data_serialized bigint, log_to_process_in_bytes bigint,
    total_log_blocks_processed bigint, total_log_records_processed bigint, xtp_log_records_processed bigint,
    waits_for_new_log bigint, log_generated_since_last_checkpoint_in_bytes bigint, ms_since_last_checkpoint
    bigint, checkpoint_lsn numeric(38), current_lsn numeric(38), task_address varbinary(8)
sys.dm_db_xtp_gc_cycle_stats 2014: cycle_id bigint, ticks_at_cycle_start bigint, ticks_at_cycle_end bigint,
    base_generation bigint, xacts_copied_to_local bigint
sys.dm_db_xtp_hash_index_stats 2014: object_id int, xtp_object_id bigint, index_id int, total_bucket_count
    bigint, empty_bucket_count bigint, avg_chain_length bigint, max_chain_length bigint
sys.dm_db_xtp_index_stats 2014: object_id bigint, index_id bigint, scans_started bigint, scans_retries
    bigint, rows_returned bigint, rows_touched bigint, rows_expiring bigint, rows_expired bigint,
    rows_expired_removed bigint, phantom_scans_started bigint, phatom_scans_retries bigint,
    phantom_rows_touched bigint, phantom_expiring_rows_encountered bigint, phantom_expired_rows_encountered
    bigint, phantom_expired_removed_rows_encountered bigint, phantom_expired_rows_removed bigint,
    object_address varbinary(8)
sys.dm_db_xtp_memory_consumers 2014: memory_consumer_id bigint, memory_consumer_type int,
    memory_consumer_type_desc nvarchar(64), memory_consumer_desc nvarchar(64), object_id bigint,
    xtp_object_id bigint, index_id int, allocated_bytes bigint, used_bytes bigint, allocation_count int,
    partition_count int, sizeclass_count int, min_sizeclass int, max_sizeclass int, memory_consumer_address
    varbinary
sys.dm_db_xtp_merge_requests 2014: request_state tinyint, request_state_desc nvarchar(60), lower_bound_tsn
    bigint, upper_bound_tsn bigint, collection_tsn bigint, checkpoint_tsn bigint
sys.dm_db_xtp_nonclustered_index_stats 2014: object_id int, xtp_object_id bigint, index_id int, delta_pages
    bigint, internal_pages bigint, leaf_pages bigint, outstanding_retired_nodes bigint, page_update_count
    bigint, page_update_retry_count bigint, page_consolidation_count bigint, page_consolidation_retry_count
    bigint, page_split_count bigint, page_split_retry_count bigint, key_split_count bigint,
    key_split_retry_count bigint, page_merge_count bigint, page_merge_retry_count bigint, key_merge_count
    bigint, key_merge_retry_count bigint
sys.dm_db_xtp_object_stats 2014: object_id bigint, row_insert_attempts bigint, row_update_attempts bigint,
    row_delete_attempts bigint, write_conflicts bigint, unique_constraint_violations bigint, object_address
    varbinary(8)
sys.dm_db_xtp_table_memory_stats 2014: object_id int, memory_allocated_for_table_kb bigint,
    memory_used_by_table_kb bigint, memory_allocated_for_indexes_kb bigint, memory_used_by_indexes_kb bigint
sys.dm_db_xtp_transactions 2014: xtp_transaction_id bigint, transaction_id bigint, session_id smallint,
    begin_tsn bigint, end_tsn bigint, state int, state_desc nvarchar, result int, result_desc nvarchar,
    last_error int, is_speculative bit, is_prepared bit, is_delayed_durability bit, memory_address
    varbinary, database_address varbinary, thread_id int, read_set_row_count int, write_set_row_count int,
    scan_set_count int, savepoint_garbage_count int, log_bytes_required bigint, count_of_allocations int,
    allocated_bytes int, reserved_bytes int, commit_dependency_count int,
    commit_dependency_total_attempt_count int, scan_area int, scan_area_desc nvarchar, scan_location int,
    dependent_1_address varbinary(8), dependent_2_address varbinary(8), dependent_3_address varbinary(8),
    dependent_4_address varbinary(8), dependent_5_address varbinary(8), dependent_6_address varbinary(8),
    dependent_7_address varbinary(8), dependent_8_address varbinary(8)
sys.dm_exec_background_job_queue 2005: time_queued datetime, job_id int, database_id int, object_id1 int,
    object_id2 int, object_id3 int, object_id4 int, error_code int, request_type smallint, retry_count
    smallint, in_progress smallint, session_id smallint
sys.dm_exec_background_job_queue_stats 2005: queue_max_len int, enqueued_count int, started_count int,
    ended_count int, failed_lock_count int, failed_other_count int, failed_giveup_count int,
    enqueue_failed_full_count int, enqueue_failed_duplicate_count int, elapsed_avg_ms int, elapsed_max_ms
    int
sys.dm_exec_cached_plan_dependent_objects() 2005: usecounts int, memory_object_address varbinary(8),
    cacheobjtype nvarchar(50)
sys.dm_exec_cached_plans 2005: bucketid int, refcounts int, usecounts int, size_in_bytes int,
    memory_object_address varbinary(8), cacheobjtype nvarchar(34), objtype nvarchar(16), plan_handle
    varbinary(64), pool_id int 2008
sys.dm_exec_connections 2005: session_id int, most_recent_session_id int, connect_time datetime,
    net_transport nvarchar(40), protocol_type nvarchar(40), protocol_version int, endpoint_id int,
    encrypt_option nvarchar(40), auth_scheme nvarchar(40), node_affinity smallint, num_reads int, num_writes
    int, last_read datetime, last_write datetime, net_packet_size int, client_net_address varchar(48),
    client_tcp_port int, local_net_address varchar(48), local_tcp_port int, connection_id uniqueidentifier,
    parent_connection_id uniqueidentifier, most_recent_sql_handle varbinary(64)
sys.dm_exec_cursors() 2005: session_id int, cursor_id int, name nvarchar(256), properties nvarchar(256),
    sql_handle varbinary(64), statement_start_offset int, statement_end_offset int, plan_generation_num
    bigint, creation_time datetime, is_open bit, is_async_population bit, is_close_on_commit bit,
    fetch_status int, fetch_buffer_size int, fetch_buffer_start int, ansi_position int, worker_time bigint,
    reads bigint, writes bigint, dormant_duration bigint
sys.dm_exec_describe_first_result_set() 2012: is_hidden bit, column_ordinal int, name sysname, is_nullable
    bit, system_type_id int, system_type_name nvarchar(256), max_length smallint, precision tinyint, scale
    tinyint, collation_name sysname, user_type_id int, user_type_database sysname, user_type_schema sysname,
    user_type_name sysname, assembly_qualified_type_name nvarchar(4000), xml_collection_id int,
    xml_collection_database sysname, xml_collection_schema sysname, xml_collection_name sysname,
    is_xml_document bit, is_case_sensitive bit, is_fixed_length_clr_type bit, source_server sysname,
    source_database sysname, source_schema sysname, source_table sysname, source_column sysname,
    is_identity_column bit, is_part_of_unique_key bit, is_updateable bit, is_computed_column bit,
    is_sparse_column_set bit, ordinal_in_order_by_list smallint, order_by_list_length smallint,
    order_by_is_descending smallint, error_number int, error_severity int, error_state int, error_message
    nvarchar(4096), error_type int, error_type_desc nvarchar(60)
sys.dm_exec_describe_first_result_set_for_object() 2012: is_hidden bit, column_ordinal int, name sysname,
    is_nullable bit, system_type_id int, system_type_name nvarchar(256), max_length smallint, precision
    tinyint, scale tinyint, collation_name sysname, user_type_id int, user_type_database sysname,
    user_type_schema sysname, user_type_name sysname, assembly_qualified_type_name nvarchar(4000),
    xml_collection_id int, xml_collection_database sysname, xml_collection_schema sysname,
    xml_collection_name sysname, is_xml_document bit, is_case_sensitive bit, is_fixed_length_clr_type bit,
    source_server sysname, source_database sysname, source_schema sysname, source_table sysname,
    source_column sysname, is_identity_column bit, is_part_of_unique_key bit, is_updateable bit,
    is_computed_column bit, is_sparse_column_set bit, ordinal_in_order_by_list smallint,
    order_by_list_length smallint, order_by_is_descending smallint, error_number int, error_severity int,
    error_state int, error_message nvarchar(4096), error_type int, error_type_desc nvarchar(60)
sys.dm_exec_input_buffer() 2014: event_type nvarchar(256), parameters smallint, event_info nvarchar(max)
sys.dm_exec_plan_attributes() 2005: attribute varchar(128), value sql_variant, is_cache_key bit, set_options
    int, objectid int, dbid int, dbid_execute int, user_id int, language_id smallint, date_format smallint,
    date_first tinyint, status int, required_cursor_options int, acceptable_cursor_options int,
    inuse_exec_context int, free_exec_context int, hits_exec_context int, misses_exec_context int,
    removed_exec_context int, inuse_cursors int, free_cursors int, hits_cursors int, misses_cursors int,
    removed_cursors int, sql_handle varbinary(64), merge_action_type smallint
sys.dm_exec_procedure_stats 2008: database_id int, object_id int, type char(2), type_desc nvarchar(60),
    sql_handle varbinary(64), plan_handle varbinary(64), cached_time datetime, last_execution_time datetime,
    execution_count bigint, total_worker_time bigint, last_worker_time bigint, min_worker_time bigint,
    max_worker_time bigint, total_physical_reads bigint, last_physical_reads bigint, min_physical_reads
    bigint, max_physical_reads bigint, total_logical_writes bigint, last_logical_writes bigint,
    min_logical_writes bigint, max_logical_writes bigint, total_logical_reads bigint, last_logical_reads
    bigint, min_logical_reads bigint, max_logical_reads bigint, total_elapsed_time bigint, last_elapsed_time
    bigint, min_elapsed_time bigint, max_elapsed_time bigint
sys.dm_exec_query_memory_grants 2005: session_id smallint, request_id int, scheduler_id int, dop smallint,
    request_time datetime, grant_time datetime, requested_memory_kb bigint, granted_memory_kb bigint,
    required_memory_kb bigint, used_memory_kb bigint, max_used_memory_kb bigint, query_cost float,
    timeout_sec int, resource_semaphore_id smallint, queue_id smallint, wait_order int, is_next_candidate
    bit, wait_time_ms bigint, plan_handle varbinary(64), sql_handle varbinary(64), group_id int 2008,
    pool_id int 2008, is_small tinyint 2008, ideal_memory_kb bigint 2008
sys.dm_exec_query_optimizer_info 2005: counter nvarchar(4000), occurrence bigint, value float
sys.dm_exec_query_plan() 2005: dbid smallint, objectid int, number smallint, encrypted bit, query_plan xml,
    asked_handle varbinary
sys.dm_exec_query_profiles 2014: session_id smallint, request_id int, sql_handle varbinary(64), plan_handle
    varbinary(64), physical_operator_name nvarchar(256), node_id int, thread_id int, task_address
    varbinary(8), row_count bigint, rewind_count bigint, rebind_count bigint, end_of_scan_count bigint,
    estimate_row_count bigint, first_active_time bigint, last_active_time bigint, open_time bigint,
    first_row_time bigint, last_row_time bigint, close_time bigint, elapsed_time_ms bigint, cpu_time_ms
    bigint, database_id smallint, object_id int, index_id int, scan_count bigint, logical_read_count bigint,
    physical_read_count bigint, read_ahead_count bigint, write_page_count bigint, lob_logical_read_count
    bigint, lob_physical_read_count bigint, lob_read_ahead_count bigint, segment_read_count int,
    segment_skip_count int, actual_read_row_count bigint
sys.dm_exec_query_resource_semaphores 2005: resource_semaphore_id smallint, target_memory_kb bigint,
    max_target_memory_kb bigint, total_memory_kb bigint, available_memory_kb bigint, granted_memory_kb
    bigint, used_memory_kb bigint, grantee_count int, waiter_count int, timeout_error_count bigint,
    forced_grant_count bigint, pool_id int 2008
sys.dm_exec_query_stats 2005: sql_handle varbinary(64), statement_start_offset int, statement_end_offset
    int, plan_generation_num bigint, plan_handle varbinary(64), creation_time datetime, last_execution_time
    datetime, execution_count bigint, total_worker_time bigint, last_worker_time bigint, min_worker_time
    bigint, max_worker_time bigint, total_physical_reads bigint, last_physical_reads bigint,
    min_physical_reads bigint, max_physical_reads bigint, total_logical_writes bigint, last_logical_writes
    bigint, min_logical_writes bigint, max_logical_writes bigint, total_logical_reads bigint,
    last_logical_reads bigint, min_logical_reads bigint, max_logical_reads bigint, total_clr_time bigint,
    last_clr_time bigint, min_clr_time bigint, max_clr_time bigint, total_elapsed_time bigint,
    last_elapsed_time bigint, min_elapsed_time bigint, max_elapsed_time bigint, query_hash binary(8) 2008,
    query_plan_hash binary(8) 2008, total_rows bigint 2012, last_rows bigint 2012, min_rows bigint 2012,
    max_rows bigint 2012, statement_sql_handle varbinary(64) 2014, statement_context_id bigint 2014
sys.dm_exec_requests 2005: session_id smallint, request_id int, start_time datetime, status nvarchar(30),
    command nvarchar(32), sql_handle varbinary(64), statement_start_offset int, statement_end_offset int,
    plan_handle varbinary(64), database_id smallint, user_id int, connection_id uniqueidentifier,
    blocking_session_id smallint, wait_type nvarchar(60), wait_time int, last_wait_type nvarchar(60),
    wait_resource nvarchar(256), open_transaction_count int, open_resultset_count int, transaction_id
    bigint, context_info varbinary(128), percent_complete real, estimated_completion_time bigint, cpu_time
    int, total_elapsed_time int, scheduler_id int, task_address varbinary(8), reads bigint, writes bigint,
    logical_reads bigint, text_size int, language nvarchar(128), date_format nvarchar(3), date_first
    smallint, quoted_identifier bit, arithabort bit, ansi_null_dflt_on bit, ansi_defaults bit, ansi_warnings
    bit, ansi_padding bit, ansi_nulls bit, concat_null_yields_null bit, transaction_isolation_level
    smallint, lock_timeout int, deadlock_priority int, row_count bigint, prev_error int, nest_level int,
    granted_query_memory int, executing_managed_code bit, group_id int 2008, query_hash binary(8) 2008,
    query_plan_hash binary(8) 2008, statement_sql_handle varbinary(64) 2014, statement_context_id bigint
    2014
sys.dm_exec_sessions 2005: session_id smallint, login_time datetime, host_name nvarchar(128), program_name
    nvarchar(128), host_process_id int, client_version int, client_interface_name nvarchar(32), security_id
    varbinary(85), login_name nvarchar(128), nt_domain nvarchar(128), nt_user_name nvarchar(128), status
    nvarchar(30), context_info varbinary(128), cpu_time int, memory_usage int, total_scheduled_time int,
    total_elapsed_time int, endpoint_id int, last_request_start_time datetime, last_request_end_time
    datetime, reads bigint, writes bigint, logical_reads bigint, is_user_process bit, text_size int,
    language nvarchar(128), date_format nvarchar(3), date_first smallint, quoted_identifier bit, arithabort
    bit, ansi_null_dflt_on bit, ansi_defaults bit, ansi_warnings bit, ansi_padding bit, ansi_nulls bit,
    concat_null_yields_null bit, transaction_isolation_level smallint, lock_timeout int, deadlock_priority
    int, row_count bigint, prev_error int, original_security_id varbinary(85), original_login_name
    nvarchar(128), last_successful_logon datetime, last_unsuccessful_logon datetime, unsuccessful_logons
    bigint, group_id int 2008, database_id smallint 2012, authenticating_database_id int 2012,
    open_transaction_count int 2012
sys.dm_exec_sql_text() 2005: dbid smallint, objectid int, number smallint, encrypted bit, text
    nvarchar(max), asked_handle varbinary
sys.dm_exec_text_query_plan() 2005: dbid smallint, objectid int, number smallint, encrypted bit, query_plan
    nvarchar(max)
sys.dm_exec_trigger_stats 2008: database_id int, object_id int, type char(2), Type_desc nvarchar(60),
    sql_handle varbinary(64), plan_handle varbinary(64), cached_time datetime, last_execution_time datetime,
    execution_count bigint, total_worker_time bigint, last_worker_time bigint, min_worker_time bigint,
    max_worker_time bigint, total_physical_reads bigint, last_physical_reads bigint, min_physical_reads
    bigint, max_physical_reads bigint, total_logical_writes bigint, last_logical_writes bigint,
    min_logical_writes bigint, max_logical_writes bigint, total_logical_reads bigint, last_logical_reads
    bigint, min_logical_reads bigint, max_logical_reads bigint, total_elapsed_time bigint, last_elapsed_time
    bigint, min_elapsed_time bigint, max_elapsed_time bigint
sys.dm_exec_xml_handles() 2005: session_id int, document_id int, namespace_document_id int, sql_handle
    varbinary(64), statement_start_offset int, statement_end_offset int, creation_time datetime,
    original_document_size_bytes bigint, original_namespace_document_size_bytes bigint, num_openxml_calls
    bigint, row_count bigint, dormant_duration_ms bigint
sys.dm_qn_subscriptions 2005: id int, database_id int, sid varbinary(85), object_id int, created datetime,
    timeout int, status int
sys.dm_sql_referenced_entities() 2008: referencing_minor_id int, referenced_server_name sysname,
    referenced_database_name sysname, referenced_schema_name sysname, referenced_entity_name sysname,
    referenced_minor_name sysname, referenced_id int, referenced_minor_id int, referenced_class tinyint,
    referenced_class_desc nvarchar(60), is_caller_dependent bit, is_ambiguous bit, is_selected bit 2012,
    is_updated bit 2012, is_select_all bit 2012, is_all_columns_found bit 2012
sys.dm_sql_referencing_entities() 2008: referencing_schema_name sysname, referencing_entity_name sysname,
    referencing_id int, referencing_class tinyint, referencing_class_desc nvarchar(60), is_caller_dependent
    bit
sys.dm_tran_active_snapshot_database_transactions 2005: transaction_id bigint, transaction_sequence_num
    bigint, commit_sequence_num bigint, is_snapshot int, session_id int, first_snapshot_sequence_num bigint,
    max_version_chain_traversed int, average_version_chain_traversed real, elapsed_time_seconds bigint
sys.dm_tran_active_transactions 2005: transaction_id bigint, name nvarchar(32), transaction_begin_time
    datetime, transaction_type int, transaction_uow uniqueidentifier, transaction_state int,
    transaction_status int, transaction_status2 int, dtc_status int, dtc_isolation_level int
sys.dm_tran_commit_table 2008: commit_ts bigint, xdes_id bigint, commit_lbn bigint, commit_csn bigint,
    commit_time smalldatetime
sys.dm_tran_current_snapshot 2005: transaction_sequence_num bigint
sys.dm_tran_current_transaction 2005: transaction_id bigint, transaction_sequence_num bigint,
    transaction_is_snapshot bit, first_snapshot_sequence_num bigint, last_transaction_sequence_num bigint,
    first_useful_sequence_num bigint
sys.dm_tran_database_transactions 2005: transaction_id bigint, database_id int,
    database_transaction_begin_time datetime, database_transaction_type int, database_transaction_state int,
    database_transaction_status int, database_transaction_status2 int, database_transaction_log_record_count
    bigint, database_transaction_replicate_record_count int, database_transaction_log_bytes_used bigint,
    database_transaction_log_bytes_reserved bigint, database_transaction_log_bytes_used_system int,
    database_transaction_log_bytes_reserved_system int, database_transaction_begin_lsn numeric(25,0),
    database_transaction_last_lsn numeric(25,0), database_transaction_most_recent_savepoint_lsn
    numeric(25,0), database_transaction_commit_lsn numeric(25,0), database_transaction_last_rollback_lsn
    numeric(25,0), database_transaction_next_undo_lsn numeric(25,0)
sys.dm_tran_locks 2005: resource_type nvarchar(60), resource_subtype nvarchar(60), resource_database_id int,
    resource_description nvarchar(256), resource_associated_entity_id bigint, resource_lock_partition int,
    request_mode nvarchar(60), request_type nvarchar(60), request_status nvarchar(60),
    request_reference_count smallint, request_lifetime int, request_session_id int, request_exec_context_id
    int, request_request_id int, request_owner_type nvarchar(60), request_owner_id bigint,
    request_owner_guid uniqueidentifier, request_owner_lockspace_id nvarchar(32), lock_owner_address
    varbinary(8)
sys.dm_tran_session_transactions 2005: session_id int, transaction_id bigint, transaction_descriptor
    binary(8), enlist_count int, is_user_transaction bit, is_local bit, is_enlisted bit, is_bound bit,
    open_transaction_count int 2012
sys.dm_tran_top_version_generators 2005: database_id int, rowset_id bigint,
    aggregated_record_length_in_bytes int
sys.dm_tran_transactions_snapshot 2005: transaction_sequence_num bigint, snapshot_id int,
    snapshot_sequence_num bigint
sys.dm_tran_version_store 2005: transaction_sequence_num bigint, version_sequence_num bigint, database_id
    int, rowset_id bigint, status tinyint, min_length_in_bytes smallint, record_length_first_part_in_bytes
    smallint, record_image_first_part varbinary(8000), record_length_second_part_in_bytes smallint,
    record_image_second_part varbinary(8000)
sys.dm_xtp_gc_queue_stats 2014: queue_id int, total_enqueues bigint, total_dequeues bigint,
    current_queue_depth bigint, maximum_queue_depth bigint, last_service_ticks bigint
sys.dm_xtp_gc_stats 2014: rows_examined bigint, rows_no_sweep_needed bigint, rows_first_in_bucket bigint,
    rows_first_in_bucket_removed bigint, rows_marked_for_unlink bigint, parallel_assist_count bigint,
    idle_worker_count bigint, sweep_scans_started bigint, sweep_scans_retries bigint, sweep_rows_touched
    bigint, sweep_rows_expiring bigint, sweep_rows_expired bigint, sweep_rows_expired_removed bigint
sys.dm_xtp_system_memory_consumers 2014: memory_consumer_id bigint, memory_consumer_type int,
    memory_consumer_type_desc nvarchar(16), memory_consumer_desc nvarchar(64), lookaside_id bigint,
    pagepool_id bigint, allocated_bytes bigint, used_bytes bigint, allocation_count int, partition_count
    int, sizeclass_count int, min_sizeclass int, max_sizeclass int, memory_consumer_address varbinary
sys.dm_xtp_transaction_stats 2014: total_count bigint, read_only_count bigint, total_aborts bigint,
    user_aborts bigint, validation_failures bigint, dependencies_taken bigint, dependencies_failed bigint,
    savepoint_create bigint, savepoint_rollbacks bigint, savepoint_refreshes bigint, log_bytes_written
    bigint, log_IO_count bigint, phantom_scans_started bigint, phatom_scans_retries bigint,
    phantom_rows_touched bigint, phantom_rows_expiring bigint, phantom_rows_expired bigint,
    phantom_rows_expired_removed bigint, scans_started bigint, scans_retried bigint, rows_returned bigint,
    rows_touched bigint, rows_expiring bigint, rows_expired bigint, rows_expired_removed bigint,
    rows_inserted bigint, rows_updated bigint, rows_deleted bigint, write_conflicts bigint,
    unique_constraint_violations bigint
"""
