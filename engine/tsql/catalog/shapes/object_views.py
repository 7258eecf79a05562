"""Catalog views of the objects of a database. See __init__.py."""

from typing import Final

TEXT: Final = """
sys.all_columns 2005: object_id int, name sysname, column_id int, system_type_id tinyint, user_type_id int,
    max_length smallint, precision tinyint, scale tinyint, collation_name sysname, is_nullable bit,
    is_ansi_padded bit, is_rowguidcol bit, is_identity bit, is_computed bit, is_filestream bit,
    is_replicated bit, is_non_sql_subscribed bit, is_merge_published bit, is_dts_replicated bit,
    is_xml_document bit, xml_collection_id int, default_object_id int, rule_object_id int, is_sparse bit
    2008, is_column_set bit 2008
sys.all_objects 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id int,
    type char(2), type_desc nvarchar(60), create_date datetime, modify_date datetime, is_ms_shipped bit,
    is_published bit, is_schema_published bit
sys.all_parameters 2005: object_id int, name sysname, parameter_id int, system_type_id tinyint, user_type_id
    int, max_length smallint, precision tinyint, scale tinyint, is_output bit, is_cursor_ref bit,
    has_default_value bit, is_xml_document bit, default_value sql_variant, xml_collection_id int
sys.all_sql_modules 2005: object_id int, definition nvarchar(max), uses_ansi_nulls bit,
    uses_quoted_identifier bit, is_schema_bound bit, uses_database_collation bit, is_recompiled bit,
    null_on_null_input bit, execute_as_principal_id int, uses_native_compilation bit 2014
sys.all_views 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id int, type
    char(2), type_desc nvarchar(60), create_date datetime, modify_date datetime, is_ms_shipped bit,
    is_published bit, is_schema_published bit, is_replicated bit, has_replication_filter bit,
    has_opaque_metadata bit, has_unchecked_assembly_data bit, with_check_option bit,
    is_date_correlation_view bit
sys.allocation_units 2005: allocation_unit_id bigint, type tinyint, type_desc nvarchar(60), container_id
    bigint, data_space_id int, total_pages bigint, used_pages bigint, data_pages bigint
sys.assemblies 2005: name sysname, principal_id int, assembly_id int, clr_name nvarchar(4000),
    permission_set tinyint, permission_set_desc nvarchar(60), is_visible bit, create_date datetime,
    modify_date datetime, is_user_defined bit
sys.assembly_files 2005: assembly_id int, name nvarchar(260), file_id int, content varbinary(max)
sys.assembly_modules 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id
    int, type char(2) 2012, type_desc nvarchar(60) 2012, create_date datetime, modify_date datetime,
    is_ms_shipped bit, is_published bit, is_schema_published bit, assembly_id int, assembly_class sysname,
    assembly_method sysname, null_on_null_input bit, execute_as_principal_id int
sys.assembly_references 2005: assembly_id int, referenced_assembly_id int
sys.assembly_types 2005: name sysname, system_type_id tinyint, user_type_id int, schema_id int, principal_id
    int, max_length smallint, precision tinyint, scale tinyint, collation_name sysname, is_nullable bit,
    is_user_defined bit, is_assembly_type bit, default_object_id int, rule_object_id int, is_table_type bit
    2008, assembly_id int, assembly_class sysname, is_binary_ordered bit, is_fixed_length bit, prog_id
    nvarchar(40), assembly_qualified_name nvarchar(4000)
sys.change_tracking_databases 2008: database_id int, is_auto_cleanup_on bit, retention_period int,
    retention_period_units_desc nvarchar(60), retention_period_units tinyint, max_cleanup_version bigint
sys.change_tracking_tables 2008: object_id int, is_track_columns_updated_on bit, begin_version bigint,
    cleanup_version bigint, min_valid_version bigint
sys.check_constraints 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id
    int, type char(2) 2012, type_desc nvarchar(60) 2012, create_date datetime, modify_date datetime,
    is_ms_shipped bit, is_published bit, is_schema_published bit, is_disabled bit, is_not_for_replication
    bit, is_not_trusted bit, parent_column_id int, definition nvarchar(max), uses_database_collation bit,
    is_system_named bit
sys.column_store_dictionaries 2012: hobt_id bigint, column_id int, dictionary_id int, version int, type int,
    last_id int, entry_count bigint, on_disc_size bigint, partition_id bigint
sys.column_store_row_groups 2014: object_id int, index_id int, partition_number int, row_group_id int,
    delta_store_hobt_id bigint, state tinyint, state_description nvarchar(60), total_rows bigint,
    deleted_rows bigint, size_in_bytes bigint
sys.column_store_segments 2014: partition_id bigint, hobt_id bigint, column_id int, segment_id int, version
    int, encoding_type int, row_count int, has_nulls int, base_id bigint, magnitude float,
    primary_dictionary_id int, secondary_dictionary_id int, min_data_id bigint, max_data_id bigint,
    null_value bigint, on_disk_size bigint
sys.column_type_usages 2005: object_id int, column_id int, user_type_id int
sys.column_xml_schema_collection_usages 2005: object_id int, column_id int, xml_collection_id int
sys.columns 2005: object_id int, name sysname, column_id int, system_type_id tinyint, user_type_id int,
    max_length smallint, precision tinyint, scale tinyint, collation_name sysname, is_nullable bit,
    is_ansi_padded bit, is_rowguidcol bit, is_identity bit, is_computed bit, is_filestream bit,
    is_replicated bit, is_non_sql_subscribed bit, is_merge_published bit, is_dts_replicated bit,
    is_xml_document bit, xml_collection_id int, default_object_id int, rule_object_id int, is_sparse bit
    2008, is_column_set bit 2008
sys.computed_columns 2005: object_id int, name sysname, column_id int, system_type_id tinyint, user_type_id
    int, max_length smallint, precision tinyint, scale tinyint, collation_name sysname, is_nullable bit,
    is_ansi_padded bit, is_rowguidcol bit, is_identity bit, is_computed bit, is_filestream bit,
    is_replicated bit, is_non_sql_subscribed bit, is_merge_published bit, is_dts_replicated bit,
    is_xml_document bit, xml_collection_id int, default_object_id int, rule_object_id int, is_sparse bit
    2008, is_column_set bit 2008, definition nvarchar(max), uses_database_collation bit, is_persisted bit
sys.data_spaces 2005: name sysname, data_space_id int, type char(2), type_desc nvarchar(60), is_default bit,
    is_system bit 2012
sys.data_tier_application_views_dbo_sysdac_instances 2005: instance_id uniqueidentifier, instance_name
    sysname, type_name sysname, type_version nvarchar(64), description nvarchar(4000), type_stream
    varbinary(max), date_created datetime, created_by sysname, database_name sysname
sys.default_constraints 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id
    int, type char(2) 2012, type_desc nvarchar(60) 2012, create_date datetime, modify_date datetime,
    is_ms_shipped bit, is_published bit, is_schema_published bit, parent_column_id int, Definition
    nvarchar(max), is_system_named bit
sys.destination_data_spaces 2005: partition_scheme_id int, destination_id int, data_space_id int
sys.extended_procedures 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id
    int, type char(2) 2012, type_desc nvarchar(60) 2012, create_date datetime, modify_date datetime,
    is_ms_shipped bit, is_published bit, is_schema_published bit, dll_name nvarchar(260)
sys.extended_properties 2005: class tinyint, class_desc nvarchar(60), major_id int, minor_id int, name
    sysname, value sql_variant
sys.filegroups 2005: name sysname, data_space_id int, type char(2), type_desc nvarchar(60), is_default bit,
    is_system bit 2012, filegroup_guid uniqueidentifier, log_filegroup_id int, is_read_only bit
sys.filetable_system_defined_objects 2012: object_id int, parent_object_id int
sys.filetables 2012: is_enabled bit, directory_name varchar(255)
sys.foreign_key_columns 2005: constraint_object_id int, constraint_column_id int, parent_object_id int,
    parent_column_id int, referenced_object_id int, referenced_column_id int
sys.foreign_keys 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id int,
    type char(2), type_desc nvarchar(60), create_date datetime, modify_date datetime, is_ms_shipped bit,
    is_published bit, is_schema_published bit, referenced_object_id int, key_index_id int, is_disabled bit,
    is_not_for_replication bit, is_not_trusted bit, delete_referential_action tinyint,
    delete_referential_action_desc nvarchar(60), update_referential_action tinyint,
    update_referential_action_desc nvarchar(60), is_system_named bit
sys.fulltext_catalogs 2005: fulltext_catalog_id int, name sysname, path nvarchar(260), is_default bit,
    is_accent_sensitivity_on bit, data_space_id int, file_id int, principal_id int, is_importing bit
sys.fulltext_document_types 2005: document_type sysname, class_id uniqueidentifier, path nvarchar(260),
    version sysname, manufacturer sysname
sys.fulltext_index_catalog_usages 2005: object_id int, index_id int, fulltext_catalog_id int
sys.fulltext_index_columns 2005: object_id int, column_id int, type_column_id int, language_id int,
    statistical_semantics int
sys.fulltext_index_fragments 2008: table_id int, fragment_object_id int, fragment_id int, timestamp
    timestamp, data_size int, row_count int, status int
sys.fulltext_indexes 2005: object_id int, unique_index_id int, fulltext_catalog_id int, is_enabled bit,
    change_tracking_state char(1), change_tracking_state_desc nvarchar(60), has_crawl_completed bit,
    crawl_type char(1), crawl_type_desc nvarchar(60), crawl_start_date datetime, crawl_end_date datetime,
    incremental_timestamp binary(8), stoplist_id int 2008, data_space_id int 2008, property_list_id int 2012
sys.fulltext_languages 2005: lcid int, name sysname
sys.fulltext_semantic_language_statistics_database 2012: database_id int, register_date datetime,
    registered_by int, version nvarchar(128)
sys.fulltext_semantic_languages 2012: lcid int, name sysname
sys.fulltext_stoplists 2008: stoplist_id int, name sysname, create_date datetime, modify_date datetime,
    Principal_id int
sys.fulltext_stopwords 2008: stoplist_id int, stopword nvarchar(64), language sysname, language_id int
sys.fulltext_system_stopwords 2008: stopword nvarchar(64), language_id int
sys.function_order_columns 2008: object_id int, order_column_id int, column_id int, is_descending bit
sys.hash_indexes 2014: object_id int, name sysname, index_id int, type tinyint, type_desc nvarchar(60),
    is_unique bit, data_space_id int, ignore_dup_key bit, is_primary_key bit, is_unique_constraint bit,
    fill_factor tinyint, is_padded bit, is_disabled bit, is_hypothetical bit, allow_row_locks bit,
    allow_page_locks bit, has_filter bit, filter_definition nvarchar(max), bucket_count int
sys.identity_columns 2005: object_id int, name sysname, column_id int, system_type_id tinyint, user_type_id
    int, max_length smallint, precision tinyint, scale tinyint, collation_name sysname, is_nullable bit,
    is_ansi_padded bit, is_rowguidcol bit, is_identity bit, is_computed bit, is_filestream bit,
    is_replicated bit, is_non_sql_subscribed bit, is_merge_published bit, is_dts_replicated bit,
    is_xml_document bit, xml_collection_id int, default_object_id int, rule_object_id int, is_sparse bit
    2008, is_column_set bit 2008, seed_value sql_variant, increment_value sql_variant, last_value
    sql_variant, is_not_for_replication bit
sys.index_columns 2005: object_id int, index_id int, index_column_id int, column_id int, key_ordinal
    tinyint, partition_ordinal tinyint, is_descending_key bit, is_included_column bit
sys.index_resumable_operations 2005: object_id int, index_id int, name sysname, sql_text nvarchar(max),
    last_max_dop smallint, partition_number int, state tinyint, state_desc nvarchar(60), start_time
    datetime, total_execution_time int, percent_complete real, page_count bigint
sys.indexes 2005: object_id int, name sysname, index_id int, type tinyint, type_desc nvarchar(60), is_unique
    bit, data_space_id int, ignore_dup_key bit, is_primary_key bit, is_unique_constraint bit, fill_factor
    tinyint, is_padded bit, is_disabled bit, is_hypothetical bit, allow_row_locks bit, allow_page_locks bit,
    has_filter bit 2008, filter_definition nvarchar(max) 2008
sys.internal_tables 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id
    int, type char(2) 2012, type_desc nvarchar(60) 2012, create_date datetime, modify_date datetime,
    is_ms_shipped bit, is_published bit, is_schema_published bit, internal_type tinyint, internal_type_desc
    nvarchar(60), parent_id int, parent_minor_id int, lob_data_space_id int, filestream_data_space_id int
sys.key_constraints 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id
    int, type char(2) 2012, type_desc nvarchar(60) 2012, create_date datetime, modify_date datetime,
    is_ms_shipped bit, is_published bit, is_schema_published bit, unique_index_id int, is_system_named bit
sys.message_type_xml_schema_collection_usages 2005: message_type_id int, xml_collection_id int
sys.module_assembly_usages 2005: object_id int, assembly_id int
sys.numbered_procedure_parameters 2005: object_id int, procedure_number smallint, name sysname, parameter_id
    int, system_type_id tinyint, user_type_id int, max_length smallint, precision tinyint, scale tinyint,
    is_output bit, is_cursor_ref bit
sys.numbered_procedures 2005: object_id int, procedure_number smallint, definition nvarchar(max)
sys.objects 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id int, type
    char(2), type_desc nvarchar(60), create_date datetime, modify_date datetime, is_ms_shipped bit,
    is_published bit, is_schema_published bit
sys.openkeys 2005: database_id int, database_name sysname, key_id int, key_name sysname, key_guid varbinary,
    opened_date datetime, status int
sys.parameter_type_usages 2005: object_id int, parameter_id int, user_type_id int
sys.parameter_xml_schema_collection_usages 2005: object_id int, parameter_id int, xml_collection_id int
sys.parameters 2005: object_id int, name sysname, parameter_id int, system_type_id tinyint, user_type_id
    int, max_length smallint, precision tinyint, scale tinyint, is_output bit, is_cursor_ref bit,
    has_default_value bit, is_xml_document bit, default_value sql_variant, xml_collection_id int,
    is_readonly bit 2008, is_nullable bit 2014
sys.partition_functions 2005: name sysname, function_id int, type char(2), type_desc nvarchar(60), fanout
    int, boundary_value_on_right bit, create_date datetime, modify_date datetime
sys.partition_parameters 2005: function_id int, parameter_id int, system_type_id tinyint, max_length
    smallint, precision tinyint, scale tinyint, collation_name sysname, user_type_id int
sys.partition_range_values 2005: function_id int, boundary_id int, parameter_id int, value sql_variant
sys.partition_schemes 2005: name sysname, data_space_id int, type char(2) 2014, type_desc nvarchar(60) 2014,
    is_default bit, is_system bit 2012, function_id int
sys.partitions 2005: partition_id bigint, object_id int, index_id int, partition_number int, hobt_id bigint,
    rows bigint, filestream_filegroup_id smallint 2008, data_compression tinyint 2008, data_compression_desc
    nvarchar(60) 2008
sys.plan_guides 2005: plan_guide_id int, name sysname, create_date datetime, modify_date datetime,
    is_disabled bit, query_text nvarchar(max), scope_type tinyint, scope_type_desc nvarchar(60),
    scope_object_id int, scope_batch nvarchar(max), parameters nvarchar(max), hints nvarchar(max)
sys.procedures 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id int,
    type char(2), type_desc nvarchar(60), create_date datetime, modify_date datetime, is_ms_shipped bit,
    is_published bit, is_schema_published bit, is_auto_executed bit, is_execution_replicated bit,
    is_repl_serializable_only bit, skips_repl_constraints bit
sys.registered_search_properties 2012: property_list_id int, property_set_guid uniqueidentifier,
    property_int_id int, property_name nvarchar(64), property_description nvarchar(512), property_id int
sys.registered_search_property_lists 2012: property_list_id int, name sysname, create_date datetime,
    modify_date datetime, principal_id int
sys.schemas 2005: name sysname, schema_id int, principal_id int
sys.selective_xml_index_paths 2012: object_id int, index_id int, path_id int, path nvarchar(4000), name
    sysname, path_type tinyint, path_type_desc sysname, xml_component_id int, xquery_type_description
    nvarchar(4000), is_xquery_type_inferred bit, xquery_max_length smallint, is_xquery_max_length_inferred
    bit, is_node bit, system_type_id tinyint, user_type_id tinyint, max_length smallint, precision tinyint,
    scale tinyint, collation_name sysname, is_singleton bit
sys.sequences 2012: name sysname, object_id int, principal_id int, schema_id int, parent_object_id int, type
    char(2), type_desc nvarchar(60), create_date datetime, modify_date datetime, is_ms_shipped bit,
    is_published bit, is_schema_published bit, start_value sql_variant, increment sql_variant, minimum_value
    sql_variant, maximum_value sql_variant, is_cycling bit, is_cached bit, cache_size int, system_type_id
    tinyint, user_type_id int, precision tinyint, scale tinyint, current_value sql_variant, is_exhausted bit
sys.spatial_index_tessellations 2008: object_id int, index_id int, tessellation_scheme sysname,
    bounding_box_xmin float(53), bounding_box_ymin float(53), bounding_box_xmax float(53), bounding_box_ymax
    float(53), level_1_grid smallint, level_1_grid_desc nvarchar(60), level_2_grid smallint,
    level_2_grid_desc nvarchar(60), level_3_grid smallint, level_3_grid_desc nvarchar(60), level_4_grid
    smallint, level_4_grid_desc nvarchar(60), cells_per_object int
sys.spatial_indexes 2008: object_id int, name sysname, index_id int, type tinyint 2014, type_desc
    nvarchar(60) 2014, is_unique bit, data_space_id int, ignore_dup_key bit, is_primary_key bit,
    is_unique_constraint bit, fill_factor tinyint, is_padded bit, is_disabled bit, is_hypothetical bit,
    allow_row_locks bit, allow_page_locks bit, has_filter bit, filter_definition nvarchar(max),
    spatial_index_type tinyint, spatial_index_type_desc nvarchar(60), tessellation_scheme sysname
sys.spatial_reference_systems 2008: spatial_reference_id int, authority_name nvarchar(128),
    authorized_spatial_reference_id int, well_known_text nvarchar(4000), unit_of_measure nvarchar(128),
    unit_conversion_factor float
sys.sql_dependencies 2005: class tinyint, class_desc nvarchar(60), object_id int, column_id int,
    referenced_major_id int, referenced_minor_id int, is_selected bit, is_updated bit, is_select_all bit
sys.sql_expression_dependencies 2008: referencing_id int, referencing_minor_id int, referencing_class
    tinyint, referencing_class_desc nvarchar(60), is_schema_bound_reference bit, referenced_class tinyint,
    referenced_class_desc nvarchar(60), referenced_server_name sysname, referenced_database_name sysname,
    referenced_schema_name sysname, referenced_entity_name sysname, referenced_id int, referenced_minor_id
    int, is_caller_dependent bit, is_ambiguous bit
sys.sql_modules 2005: object_id int, definition nvarchar(max), uses_ansi_nulls bit, uses_quoted_identifier
    bit, is_schema_bound bit, uses_database_collation bit, is_recompiled bit, null_on_null_input bit,
    execute_as_principal_id int, uses_native_compilation bit 2014
sys.stats 2005: object_id int, name sysname, stats_id int, auto_created bit, user_created bit, no_recompute
    bit, has_filter bit 2008, filter_definition nvarchar(max) 2008, is_temporary bit 2012, is_incremental
    bit 2014
sys.stats_columns 2005: object_id int, stats_id int, stats_column_id int, column_id int
sys.synonyms 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id int, type
    char(2), type_desc nvarchar(60), create_date datetime, modify_date datetime, is_ms_shipped bit,
    is_published bit, is_schema_published bit, base_object_name nvarchar(1035)
sys.system_columns 2005: object_id int, name sysname, column_id int, system_type_id tinyint, user_type_id
    int, max_length smallint, precision tinyint, scale tinyint, collation_name sysname, is_nullable bit,
    is_ansi_padded bit, is_rowguidcol bit, is_identity bit, is_computed bit, is_filestream bit,
    is_replicated bit, is_non_sql_subscribed bit, is_merge_published bit, is_dts_replicated bit,
    is_xml_document bit, xml_collection_id int, default_object_id int, rule_object_id int, is_sparse bit
    2008, is_column_set bit 2008
sys.system_objects 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id int,
    type char(2), type_desc nvarchar(60), create_date datetime, modify_date datetime, is_ms_shipped bit,
    is_published bit, is_schema_published bit
sys.system_parameters 2005: object_id int, name sysname, parameter_id int, system_type_id tinyint,
    user_type_id int, max_length smallint, precision tinyint, scale tinyint, is_output bit, is_cursor_ref
    bit, has_default_value bit, is_xml_document bit, default_value sql_variant, xml_collection_id int
sys.system_sql_modules 2005: object_id int, definition nvarchar(max), uses_ansi_nulls bit,
    uses_quoted_identifier bit, is_schema_bound bit, uses_database_collation bit, is_recompiled bit,
    null_on_null_input bit, execute_as_principal_id int
sys.system_views 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id int,
    type char(2), type_desc nvarchar(60), create_date datetime, modify_date datetime, is_ms_shipped bit,
    is_published bit, is_schema_published bit, is_replicated bit, has_replication_filter bit,
    has_opaque_metadata bit, has_unchecked_assembly_data bit, with_check_option bit,
    is_date_correlation_view bit
sys.table_types 2008: name sysname, system_type_id tinyint, user_type_id int, schema_id int, principal_id
    int, max_length smallint, precision tinyint, scale tinyint, collation_name sysname, is_nullable bit,
    is_user_defined bit, is_assembly_type bit, default_object_id int, rule_object_id int, is_table_type bit,
    type_table_object_id int, is_memory_optimized bit 2014
sys.tables 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id int, type
    char(2), type_desc nvarchar(60), create_date datetime, modify_date datetime, is_ms_shipped bit,
    is_published bit, is_schema_published bit, lob_data_space_id int, filestream_data_space_id int,
    max_column_id_used int, lock_on_bulk_load bit, uses_ansi_nulls bit, is_replicated bit,
    has_replication_filter bit, is_merge_published bit, is_sync_tran_subscribed bit,
    has_unchecked_assembly_data bit, text_in_row_limit int, large_value_types_out_of_row bit,
    is_tracked_by_cdc bit 2008, lock_escalation tinyint 2008, lock_escalation_desc nvarchar(60) 2008,
    is_filetable bit 2012, durability tinyint 2014, durability_desc nvarchar(60) 2014, is_memory_optimized
    bit 2014
sys.time_zone_info 2005: name sysname, current_utc_offset nvarchar(12), is_currently_dst bit
sys.trigger_event_types 2008: type int, type_name nvarchar(64), parent_type int
sys.trigger_events 2005: object_id int, type int, type_desc nvarchar(60), is_trigger_event bit,
    event_group_type int, event_group_type_desc nvarchar(60), is_first bit, is_last bit
sys.triggers 2005: name sysname, object_id int, parent_class tinyint, parent_class_desc nvarchar(60),
    parent_id int, type char(2), type_desc nvarchar(60), create_date datetime, modify_date datetime,
    is_ms_shipped bit, is_disabled bit, is_not_for_replication bit, is_instead_of_trigger bit
sys.type_assembly_usages 2005: user_type_id int, assembly_id int
sys.types 2005: name sysname, system_type_id tinyint, user_type_id int, schema_id int, principal_id int,
    max_length smallint, precision tinyint, scale tinyint, collation_name sysname, is_nullable bit,
    is_user_defined bit, is_assembly_type bit, default_object_id int, rule_object_id int, is_table_type bit
    2008
sys.views 2005: name sysname, object_id int, principal_id int, schema_id int, parent_object_id int, type
    char(2), type_desc nvarchar(60), create_date datetime, modify_date datetime, is_ms_shipped bit,
    is_published bit, is_schema_published bit, is_replicated bit, has_replication_filter bit,
    has_opaque_metadata bit, has_unchecked_assembly_data bit, with_check_option bit,
    is_date_correlation_view bit
sys.xml_indexes 2005: object_id int, name sysname, index_id int, type tinyint 2014, type_desc nvarchar(60)
    2014, is_unique bit, data_space_id int, ignore_dup_key bit, is_primary_key bit, is_unique_constraint
    bit, fill_factor tinyint, is_padded bit, is_disabled bit, is_hypothetical bit, allow_row_locks bit,
    allow_page_locks bit, has_filter bit 2008, filter_definition nvarchar(max) 2008, using_xml_index_id int,
    secondary_type char(1), secondary_type_desc nvarchar(60), xml_index_type tinyint,
    xml_index_type_description nvarchar(60), path_id int
sys.xml_schema_attributes 2005: is_default_fixed bit, must_be_qualified bit, default_value nvarchar
sys.xml_schema_collections 2005: xml_collection_id int, schema_id int, principal_id int, name sysname,
    create_date datetime, modify_date datetime
sys.xml_schema_component_placements 2005: xml_component_id int, placement_id int, placed_xml_component_id
    int, is_default_fixed bit, min_occurrences int, max_occurrences int, default_value nvarchar(4000)
sys.xml_schema_components 2005: xml_component_id int, xml_collection_id int, xml_namespace_id int,
    is_qualified bit, name nvarchar, symbol_space char(1), symbol_space_desc nvarchar, kind char(1),
    kind_desc nvarchar, derivation char(1), derivation_desc nvarchar, base_xml_component_id int,
    scoping_xml_component_id int
sys.xml_schema_elements 2005: is_default_fixed bit, is_abstract bit, is_nillable bit, must_be_qualified bit,
    is_extension_blocked bit, is_restriction_blocked bit, is_substitution_blocked bit, is_final_extension
    bit, is_final_restriction bit, default_value nvarchar(4000)
sys.xml_schema_facets 2005: xml_component_id int, facet_id int, kind char(2), kind_desc nvarchar(60),
    is_fixed bit, value nvarchar(4000)
sys.xml_schema_model_groups 2005: compositor char(1), compositor_desc nvarchar(60)
sys.xml_schema_namespaces 2005: xml_collection_id int, name nvarchar(4000), xml_namespace_id int
sys.xml_schema_types 2005: is_abstract bit, allows_mixed_content bit, is_extension_blocked bit,
    is_restriction_blocked bit, is_final_extension bit, is_final_restriction bit, is_final_list_member bit,
    is_final_union_member bit
sys.xml_schema_wildcard_namespaces 2005: xml_component_id int, namespace nvarchar(4000)
sys.xml_schema_wildcards 2005: process_content char(1), process_content_desc nvarchar(60),
    disallow_namespaces bit
"""
