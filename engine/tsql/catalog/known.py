"""Views of the product whose columns are not documented: asking one is not simulated."""

from typing import Final

_NAMES: Final = """
msdb.dbo.log_shipping_primaries msdb.dbo.log_shipping_secondaries msdb.dbo.msagentparameters
msdb.dbo.syscachedcredentials msdb.dbo.sysdtscategories msdb.dbo.sysdtspackages
msdb.dbo.sysmail_configuration msdb.dbo.sysmail_servertype msdb.dbo.sysmanagement_shared_registered_servers
msdb.dbo.sysoriginatingservers msdb.dbo.sysssislog msdb.dbo.sysssispackages sys.dm_db_uncontained_entities
sys.dm_exec_query_transformation_stats sys.dm_logpool_hashentries sys.dm_logpool_stats sys.dm_os_dispatchers
sys.dm_os_memory_allocations sys.dm_os_memory_node_access_stats sys.dm_os_sublatches
sys.dm_os_worker_local_storage sys.syscursorcolumns sys.syscursorrefs sys.syscursors sys.syscursortables
sys.sysopentapes sys.system_internals_allocation_units sys.via_endpoints
"""
KNOWN: Final = frozenset(_NAMES.split())
"""Full names in small letters."""
