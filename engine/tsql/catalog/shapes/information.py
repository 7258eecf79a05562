"""INFORMATION_SCHEMA. See __init__.py."""

from typing import Final

TEXT: Final = """
information_schema.check_constraints 2005: CONSTRAINT_CATALOG nvarchar(128), CONSTRAINT_SCHEMA
    nvarchar(128), CONSTRAINT_NAME sysname, CHECK_CLAUSE nvarchar(4000)
information_schema.column_domain_usage 2005: DOMAIN_CATALOG nvarchar(128), DOMAIN_SCHEMA nvarchar(128),
    DOMAIN_NAME sysname, TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME sysname,
    COLUMN_NAME sysname
information_schema.column_privileges 2005: GRANTOR nvarchar(128), GRANTEE nvarchar(128), TABLE_CATALOG
    nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME sysname, COLUMN_NAME sysname, PRIVILEGE_TYPE
    varchar(10), IS_GRANTABLE varchar(3)
information_schema.columns 2005: TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME
    nvarchar(128), COLUMN_NAME nvarchar(128), ORDINAL_POSITION int, COLUMN_DEFAULT nvarchar(4000),
    IS_NULLABLE varchar(3), DATA_TYPE nvarchar(128), CHARACTER_MAXIMUM_LENGTH int, CHARACTER_OCTET_LENGTH
    int, NUMERIC_PRECISION tinyint, NUMERIC_PRECISION_RADIX smallint, NUMERIC_SCALE int, DATETIME_PRECISION
    smallint, CHARACTER_SET_CATALOG nvarchar(128), CHARACTER_SET_SCHEMA nvarchar(128), CHARACTER_SET_NAME
    nvarchar(128), COLLATION_CATALOG nvarchar(128), COLLATION_SCHEMA nvarchar(128), COLLATION_NAME
    nvarchar(128), DOMAIN_CATALOG nvarchar(128), DOMAIN_SCHEMA nvarchar(128), DOMAIN_NAME nvarchar(128)
information_schema.constraint_column_usage 2005: TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128),
    TABLE_NAME nvarchar(128), COLUMN_NAME nvarchar(128), CONSTRAINT_CATALOG nvarchar(128), CONSTRAINT_SCHEMA
    nvarchar(128), CONSTRAINT_NAME nvarchar(128)
information_schema.constraint_table_usage 2005: TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128),
    TABLE_NAME sysname, CONSTRAINT_CATALOG nvarchar(128), CONSTRAINT_SCHEMA nvarchar(128), CONSTRAINT_NAME
    sysname
information_schema.domain_constraints 2005: CONSTRAINT_CATALOG nvarchar(128), CONSTRAINT_SCHEMA
    nvarchar(128), CONSTRAINT_NAME sysname, DOMAIN_CATALOG nvarchar(128), DOMAIN_SCHEMA nvarchar(128),
    DOMAIN_NAME sysname, IS_DEFERRABLE varchar(2), INITIALLY_DEFERRED varchar(2)
information_schema.domains 2005: DOMAIN_CATALOG nvarchar(128), DOMAIN_SCHEMA nvarchar(128), DOMAIN_NAME
    sysname, DATA_TYPE sysname, CHARACTER_MAXIMUM_LENGTH int, CHARACTER_OCTET_LENGTH int, COLLATION_CATALOG
    varchar(6), COLLATION_SCHEMA varchar(3), COLLATION_NAME nvarchar(128), CHARACTER_SET_CATALOG varchar(6),
    CHARACTER_SET_SCHEMA varchar(3), CHARACTER_SET_NAME nvarchar(128), NUMERIC_PRECISION tinyint,
    NUMERIC_PRECISION_RADIX smallint, NUMERIC_SCALE tinyint, DATETIME_PRECISION smallint, DOMAIN_DEFAULT
    nvarchar(4000)
information_schema.key_column_usage 2005: CONSTRAINT_CATALOG nvarchar(128), CONSTRAINT_SCHEMA nvarchar(128),
    CONSTRAINT_NAME nvarchar(128), TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME
    nvarchar(128), COLUMN_NAME nvarchar(128), ORDINAL_POSITION int
information_schema.parameters 2005: SPECIFIC_CATALOG nvarchar(128), SPECIFIC_SCHEMA nvarchar(128),
    SPECIFIC_NAME nvarchar(128), ORDINAL_POSITION int, PARAMETER_MODE nvarchar(10), IS_RESULT nvarchar(10),
    AS_LOCATOR nvarchar(10), PARAMETER_NAME nvarchar(128), DATA_TYPE nvarchar(128), CHARACTER_MAXIMUM_LENGTH
    int, CHARACTER_OCTET_LENGTH int, COLLATION_CATALOG nvarchar(128), COLLATION_SCHEMA nvarchar(128),
    COLLATION_NAME nvarchar(128), CHARACTER_SET_CATALOG nvarchar(128), CHARACTER_SET_SCHEMA nvarchar(128),
    CHARACTER_SET_NAME nvarchar(128), NUMERIC_PRECISION tinyint, NUMERIC_PRECISION_RADIX smallint,
    NUMERIC_SCALE tinyint, DATETIME_PRECISION smallint, INTERVAL_TYPE nvarchar(30), INTERVAL_PRECISION
    smallint, USER_DEFINED_TYPE_CATALOG nvarchar(128), USER_DEFINED_TYPE_SCHEMA nvarchar(128),
    USER_DEFINED_TYPE_NAME nvarchar(128), SCOPE_CATALOG nvarchar(128), SCOPE_SCHEMA nvarchar(128),
    SCOPE_NAME nvarchar(128)
information_schema.referential_constraints 2005: CONSTRAINT_CATALOG nvarchar(128), CONSTRAINT_SCHEMA
    nvarchar(128), CONSTRAINT_NAME sysname, UNIQUE_CONSTRAINT_CATALOG nvarchar(128),
    UNIQUE_CONSTRAINT_SCHEMA nvarchar(128), UNIQUE_CONSTRAINT_NAME sysname, MATCH_OPTION varchar(7),
    UPDATE_RULE varchar(11), DELETE_RULE varchar(11)
information_schema.routine_columns 2005: TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME
    nvarchar(128), COLUMN_NAME nvarchar(128), ORDINAL_POSITION int, COLUMN_DEFAULT nvarchar(4000),
    IS_NULLABLE varchar(3), DATA_TYPE nvarchar(128), CHARACTER_MAXIMUM_LENGTH int, CHARACTER_OCTET_LENGTH
    int, NUMERIC_PRECISION tinyint, NUMERIC_PRECISION_RADIX smallint, NUMERIC_SCALE tinyint,
    DATETIME_PRECISION smallint, CHARACTER_SET_CATALOG varchar(6), CHARACTER_SET_SCHEMA varchar(3),
    CHARACTER_SET_NAME nvarchar(128), COLLATION_CATALOG varchar(6), COLLATION_SCHEMA varchar(3),
    COLLATION_NAME nvarchar(128), DOMAIN_CATALOG nvarchar(128), DOMAIN_SCHEMA nvarchar(128), DOMAIN_NAME
    nvarchar(128)
information_schema.routines 2005: SPECIFIC_CATALOG nvarchar(128), SPECIFIC_SCHEMA nvarchar(128),
    SPECIFIC_NAME nvarchar(128), ROUTINE_CATALOG nvarchar(128), ROUTINE_SCHEMA nvarchar(128), ROUTINE_NAME
    nvarchar(128), ROUTINE_TYPE nvarchar(20), MODULE_CATALOG nvarchar(128), MODULE_SCHEMA nvarchar(128),
    MODULE_NAME nvarchar(128), UDT_CATALOG nvarchar(128), UDT_SCHEMA nvarchar(128), UDT_NAME nvarchar(128),
    DATA_TYPE nvarchar(128), CHARACTER_MAXIMUM_LENGTH int, CHARACTER_OCTET_LENGTH int, COLLATION_CATALOG
    nvarchar(128), COLLATION_SCHEMA nvarchar(128), COLLATION_NAME nvarchar(128), CHARACTER_SET_CATALOG
    nvarchar(128), CHARACTER_SET_SCHEMA nvarchar(128), CHARACTER_SET_NAME nvarchar(128), NUMERIC_PRECISION
    smallint, NUMERIC_PRECISION_RADIX smallint, NUMERIC_SCALE smallint, DATETIME_PRECISION smallint,
    INTERVAL_TYPE nvarchar(30), INTERVAL_PRECISION smallint, TYPE_UDT_CATALOG nvarchar(128), TYPE_UDT_SCHEMA
    nvarchar(128), TYPE_UDT_NAME nvarchar(128), SCOPE_CATALOG nvarchar(128), SCOPE_SCHEMA nvarchar(128),
    SCOPE_NAME nvarchar(128), MAXIMUM_CARDINALITY bigint, DTD_IDENTIFIER nvarchar(128), ROUTINE_BODY
    nvarchar(30), ROUTINE_DEFINITION nvarchar(4000), EXTERNAL_NAME nvarchar(128), EXTERNAL_LANGUAGE
    nvarchar(30), PARAMETER_STYLE nvarchar(30), IS_DETERMINISTIC nvarchar(10), SQL_DATA_ACCESS nvarchar(30),
    IS_NULL_CALL nvarchar(10), SQL_PATH nvarchar(128), SCHEMA_LEVEL_ROUTINE nvarchar(10),
    MAX_DYNAMIC_RESULT_SETS smallint, IS_USER_DEFINED_CAST nvarchar(10), IS_IMPLICITLY_INVOCABLE
    nvarchar(10), CREATED datetime, LAST_ALTERED datetime
information_schema.schemata 2005: CATALOG_NAME sysname, SCHEMA_NAME nvarchar(128), SCHEMA_OWNER
    nvarchar(128), DEFAULT_CHARACTER_SET_CATALOG varchar(6), DEFAULT_CHARACTER_SET_SCHEMA varchar(3),
    DEFAULT_CHARACTER_SET_NAME sysname
information_schema.table_constraints 2005: CONSTRAINT_CATALOG nvarchar(128), CONSTRAINT_SCHEMA
    nvarchar(128), CONSTRAINT_NAME sysname, TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128),
    TABLE_NAME sysname, CONSTRAINT_TYPE varchar(11), IS_DEFERRABLE varchar(2), INITIALLY_DEFERRED varchar(2)
information_schema.table_privileges 2005: GRANTOR nvarchar(128), GRANTEE nvarchar(128), TABLE_CATALOG
    nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME sysname, PRIVILEGE_TYPE varchar(10), IS_GRANTABLE
    varchar(3)
information_schema.tables 2005: TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME sysname,
    TABLE_TYPE varchar(10)
information_schema.view_column_usage 2005: VIEW_CATALOG nvarchar(128), VIEW_SCHEMA nvarchar(128), VIEW_NAME
    sysname, TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME sysname, COLUMN_NAME
    sysname
information_schema.view_table_usage 2005: VIEW_CATALOG nvarchar(128), VIEW_SCHEMA nvarchar(128), VIEW_NAME
    sysname, TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME sysname
information_schema.views 2005: TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME
    nvarchar(128), VIEW_DEFINITION nvarchar(4000), CHECK_OPTION varchar(7), IS_UPDATABLE varchar(2)
"""
