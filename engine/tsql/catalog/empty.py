"""Views about objects that no simulated instance has: audits, triggers, sent mail.

They are empty because nothing exists, not because it is unknown. A view of things that exist on a real instance in
this state (plans, memory clerks) is not listed here: it reports that its rows are not simulated.
"""

from __future__ import annotations

from typing import Final

from engine.tsql.catalog.view import no_rows, view

_EMPTY: Final = """
sys.server_triggers sys.triggers sys.synonyms sys.credentials sys.sequences information_schema.sequences
sys.backup_devices sys.server_audits sys.server_audit_specifications sys.database_audit_specifications
sys.dm_server_memory_dumps sys.change_tracking_databases sys.asymmetric_keys
sys.cryptographic_providers sys.service_broker_endpoints sys.dm_broker_connections sys.transmission_queue
sys.fulltext_catalogs sys.dm_exec_query_memory_grants
sys.column_encryption_keys sys.column_master_keys sys.dm_exec_function_stats sys.fn_pagerescracker()
sys.extended_properties sys.fn_listextendedproperty() sys.assembly_types
sys.partition_schemes sys.partition_functions sys.index_resumable_operations
sys.linked_logins sys.dm_repl_articles msdb.dbo.log_shipping_primary_databases
msdb.dbo.log_shipping_secondary_databases msdb.dbo.log_shipping_secondary
msdb.dbo.log_shipping_monitor_primary msdb.dbo.log_shipping_monitor_secondary msdb.dbo.sysproxies
msdb.dbo.sysdbmaintplans msdb.dbo.sysmaintplan_plans msdb.dbo.sysmaintplan_subplans
msdb.dbo.sysmail_sentitems msdb.dbo.sysmail_faileditems msdb.dbo.sysmail_event_log msdb.dbo.sysmail_server
"""

for _name in _EMPTY.split():
    view(_name, no_rows)
