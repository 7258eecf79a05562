"""Views of the product that are not simulated at all: their columns are not documented, or they came after 2014.

Documented, the first version of each too [DOC: system catalog views; dynamic management views]; dm_db_script_level and
dm_db_mirroring_past_actions from memory, dm_db_database_page_allocations as in public output.
"""

from __future__ import annotations

from typing import Final

_NAMES: Final = {
    2005: """
        msdb.dbo.log_shipping_primaries msdb.dbo.log_shipping_secondaries msdb.dbo.msagentparameters
        msdb.dbo.syscachedcredentials msdb.dbo.sysdtscategories msdb.dbo.sysdtspackages
        msdb.dbo.sysmail_configuration msdb.dbo.sysmail_servertype
        msdb.dbo.sysmanagement_shared_registered_servers msdb.dbo.sysoriginatingservers msdb.dbo.sysssislog
        msdb.dbo.sysssispackages sys.dm_db_uncontained_entities sys.dm_exec_query_transformation_stats
        sys.dm_logpool_hashentries sys.dm_logpool_stats sys.dm_os_dispatchers sys.dm_os_memory_allocations
        sys.dm_os_memory_node_access_stats sys.dm_os_sublatches sys.dm_os_worker_local_storage
        sys.syscursorcolumns sys.syscursorrefs sys.syscursors sys.syscursortables sys.sysopentapes
        sys.system_internals_allocation_units sys.via_endpoints
    """,
    2008: """
        sys.dm_db_mirroring_past_actions sys.dm_db_script_level
    """,
    2012: """
        sys.dm_db_database_page_allocations()
    """,
    2014: """
        sys.dm_xtp_threads sys.dm_xtp_transaction_recent_rows
    """,
    2016: """
        sys.masked_columns sys.query_store_plan sys.query_store_query sys.query_store_query_text
        sys.query_store_runtime_stats sys.query_store_runtime_stats_interval sys.query_context_settings
        sys.dm_db_column_store_row_group_physical_stats
        sys.dm_db_column_store_row_group_operational_stats sys.dm_column_store_object_pool
        sys.memory_optimized_tables_internal_attributes sys.security_policies sys.security_predicates
        sys.column_encryption_key_values sys.database_scoped_credentials sys.external_data_sources
        sys.external_file_formats sys.external_tables sys.periods sys.internal_partitions
        sys.dm_exec_compute_nodes sys.dm_exec_compute_node_errors sys.dm_exec_compute_node_status
        sys.dm_exec_distributed_requests sys.dm_exec_distributed_request_steps
        sys.dm_exec_distributed_sql_requests sys.dm_exec_dms_services sys.dm_exec_dms_workers
        sys.dm_exec_external_operations sys.dm_exec_external_work sys.dm_external_script_execution_stats
        sys.dm_external_script_requests sys.dm_db_rda_migration_status sys.dm_db_rda_schema_update_status
        sys.remote_data_archive_databases sys.remote_data_archive_tables
        sys.dm_exec_query_optimizer_memory_gateways sys.dm_db_stats_histogram()
        sys.dm_exec_query_statistics_xml() sys.resource_governor_external_resource_pools
        sys.resource_governor_external_resource_pool_affinity sys.dm_resource_governor_external_resource_pools
        sys.dm_resource_governor_external_resource_pool_affinity sys.selective_xml_index_namespaces
    """,
    2017: """
        sys.dm_db_tuning_recommendations sys.query_store_wait_stats sys.database_automatic_tuning_mode
        sys.trusted_assemblies sys.external_libraries sys.external_library_files
    """,
    2019: """
        sys.dm_db_page_info() sys.dm_exec_query_plan_stats() sys.dm_tran_aborted_transactions
        sys.edge_constraints sys.edge_constraint_clauses sys.external_languages sys.external_language_files
        sys.sensitivity_classifications sys.server_memory_optimized_hybrid_buffer_pool_configuration
        sys.dm_db_data_pool_nodes sys.dm_cluster_endpoints sys.dm_column_encryption_enclave
        sys.persistent_version_store
    """,
    2022: """
        sys.query_store_query_hints sys.query_store_plan_feedback sys.query_store_query_variant
        sys.query_store_replicas sys.query_store_plan_forcing_locations sys.database_ledger_transactions
        sys.database_ledger_blocks sys.database_ledger_digest_locations sys.ledger_table_history
        sys.ledger_column_history sys.dm_change_feed_errors sys.dm_change_feed_log_scan_sessions
        sys.dm_exec_ce_feedback_cache sys.dm_server_suspend_status sys.dm_server_external_policy_actions
        sys.dm_server_external_policy_principals sys.dm_server_external_policy_principal_assigned_actions
        sys.dm_server_external_policy_role_actions sys.dm_server_external_policy_role_members
        sys.dm_server_external_policy_roles sys.dm_server_hardware_offload_config
    """,
}
_SINCE: Final = {name: since for since, names in _NAMES.items() for name in names.split()}


def has_view(name: str, version: int) -> bool:
    """Return whether *version* has this view or table-valued function.

    *name*: its full name in lowercase, `sys.x` or `sys.f()`.
    """
    return _SINCE.get(name, 9999) <= version
