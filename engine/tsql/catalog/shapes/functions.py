"""Functions of tables that are no dynamic views. See __init__.py."""

from typing import Final

TEXT: Final = """
sys.fn_builtin_permissions() 2005: class_desc nvarchar(60), permission_name nvarchar(60), type varchar(4),
    covering_permission_name nvarchar(60), parent_class_desc nvarchar(60), parent_covering_permission_name
    nvarchar(60)
sys.fn_helpcollations() 2005: name sysname, description nvarchar(1000)
sys.fn_listextendedproperty() 2005: objtype sysname, objname sysname, name sysname, value sql_variant
sys.fn_my_permissions() 2005: entity_name sysname, subentity_name sysname, permission_name nvarchar(60),
    securable_class nvarchar(60)
sys.fn_servershareddrives() 2005: DriveName nchar(1)
sys.fn_trace_getinfo() 2005: traceid int, property int, value sql_variant
sys.fn_virtualfilestats() 2005: DbId smallint, FileId smallint, TimeStamp bigint, NumberReads bigint,
    BytesRead bigint, IoStallReadMS bigint, NumberWrites bigint, BytesWritten bigint, IoStallWriteMS bigint,
    IoStallMS bigint, BytesOnDisk bigint, FileHandle bigint
sys.fn_virtualservernodes() 2005: NodeName nvarchar(60)
"""
