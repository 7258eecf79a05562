-- Procedures of the product that are one query over the catalog (queries.py). A line "-- name name …" begins the query
-- of these procedures; @qualifier is the name of their database.

-- sp_databases
SELECT d.name AS DATABASE_NAME, f.size AS DATABASE_SIZE, NULL AS REMARKS
FROM sys.databases d
LEFT JOIN (SELECT database_id, SUM(size) * 8 AS size FROM sys.master_files GROUP BY database_id) f
    ON f.database_id = d.database_id
WHERE d.state_desc = 'ONLINE'

-- sp_lock
SELECT request_session_id AS spid, resource_database_id AS dbid,
    CASE resource_type WHEN 'OBJECT' THEN resource_associated_entity_id ELSE 0 END AS ObjId,
    CASE resource_type WHEN 'KEY' THEN 1 ELSE 0 END AS IndId,
    CASE resource_type WHEN 'DATABASE' THEN 'DB' WHEN 'OBJECT' THEN 'TAB' WHEN 'PAGE' THEN 'PAG'
        WHEN 'APPLICATION' THEN 'APP' ELSE resource_type END AS Type,
    resource_description AS Resource, request_mode AS Mode, request_status AS Status
FROM sys.dm_tran_locks
WHERE @spid1 IS NULL OR request_session_id = @spid1

-- sp_helplogins
SELECT name AS LoginName, CASE type WHEN 'S' THEN 'SQL' ELSE 'NT' END AS Type, default_database_name AS DefDBName
FROM sys.server_principals
WHERE type IN ('S', 'U')

-- sp_pkeys
SELECT @qualifier AS TABLE_QUALIFIER, s.name AS TABLE_OWNER, t.name AS TABLE_NAME, c.name AS COLUMN_NAME,
    k.key_ordinal AS KEY_SEQ, i.name AS PK_NAME
FROM sys.indexes i
JOIN sys.tables t ON t.object_id = i.object_id
JOIN sys.schemas s ON s.schema_id = t.schema_id
JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id
JOIN sys.columns c ON c.object_id = k.object_id AND c.column_id = k.column_id
WHERE i.is_primary_key = 1 AND (@table_name IS NULL OR t.name = @table_name)
ORDER BY i.object_id, k.key_ordinal

-- sp_statistics sp_statistics_100
SELECT @qualifier AS TABLE_QUALIFIER, s.name AS TABLE_OWNER, t.name AS TABLE_NAME, i.NON_UNIQUE,
    i.INDEX_QUALIFIER, i.INDEX_NAME, i.TYPE, i.SEQ_IN_INDEX, i.COLUMN_NAME, i.COLLATION, NULL AS CARDINALITY,
    NULL AS PAGES, NULL AS FILTER_CONDITION
FROM sys.tables t
JOIN sys.schemas s ON s.schema_id = t.schema_id
JOIN (
    SELECT object_id, 0 AS place, NULL AS NON_UNIQUE, NULL AS INDEX_QUALIFIER, NULL AS INDEX_NAME, 0 AS TYPE,
        NULL AS SEQ_IN_INDEX, NULL AS COLUMN_NAME, NULL AS COLLATION
    FROM sys.tables
    UNION ALL
    SELECT x.object_id, x.index_id, CASE x.is_unique WHEN 1 THEN 0 ELSE 1 END, o.name, x.name,
        CASE x.type WHEN 1 THEN 1 ELSE 3 END, k.key_ordinal, c.name, 'A'
    FROM sys.indexes x
    JOIN sys.tables o ON o.object_id = x.object_id
    JOIN sys.index_columns k ON k.object_id = x.object_id AND k.index_id = x.index_id
    JOIN sys.columns c ON c.object_id = k.object_id AND c.column_id = k.column_id
    WHERE x.name IS NOT NULL AND k.is_included_column = 0 AND (x.is_unique = 1 OR ISNULL(@is_unique, 'N') <> 'Y')
) i ON i.object_id = t.object_id
WHERE @table_name IS NULL OR t.name = @table_name
ORDER BY CASE i.place WHEN 0 THEN 0 ELSE 1 END, t.object_id, i.place, i.SEQ_IN_INDEX

-- sp_fkeys
SELECT @qualifier AS PKTABLE_QUALIFIER, ps.name AS PKTABLE_OWNER, p.name AS PKTABLE_NAME, pc.name AS PKCOLUMN_NAME,
    @qualifier AS FKTABLE_QUALIFIER, fs.name AS FKTABLE_OWNER, f.name AS FKTABLE_NAME, fc.name AS FKCOLUMN_NAME,
    c.constraint_column_id AS KEY_SEQ,
    CASE k.update_referential_action WHEN 0 THEN 1 WHEN 1 THEN 0 ELSE k.update_referential_action END AS UPDATE_RULE,
    CASE k.delete_referential_action WHEN 0 THEN 1 WHEN 1 THEN 0 ELSE k.delete_referential_action END AS DELETE_RULE,
    k.name AS FK_NAME, i.name AS PK_NAME, 7 AS DEFERRABILITY
FROM sys.foreign_key_columns c
JOIN sys.foreign_keys k ON k.object_id = c.constraint_object_id
JOIN sys.tables p ON p.object_id = c.referenced_object_id
JOIN sys.schemas ps ON ps.schema_id = p.schema_id
JOIN sys.columns pc ON pc.object_id = c.referenced_object_id AND pc.column_id = c.referenced_column_id
JOIN sys.tables f ON f.object_id = c.parent_object_id
JOIN sys.schemas fs ON fs.schema_id = f.schema_id
JOIN sys.columns fc ON fc.object_id = c.parent_object_id AND fc.column_id = c.parent_column_id
LEFT JOIN sys.indexes i ON i.object_id = c.referenced_object_id AND i.index_id = k.key_index_id
WHERE (@pktable_name IS NULL OR p.name = @pktable_name) AND (@fktable_name IS NULL OR f.name = @fktable_name)
ORDER BY f.name, k.name, c.constraint_column_id

-- sp_stored_procedures
SELECT @qualifier AS PROCEDURE_QUALIFIER, s.name AS PROCEDURE_OWNER,
    o.name + CASE o.type WHEN 'P' THEN ';1' ELSE ';0' END AS PROCEDURE_NAME, -1 AS NUM_INPUT_PARAMS,
    -1 AS NUM_OUTPUT_PARAMS, -1 AS NUM_RESULT_SETS, NULL AS REMARKS, 2 AS PROCEDURE_TYPE
FROM sys.objects o
JOIN sys.schemas s ON s.schema_id = o.schema_id
WHERE o.type IN ('P', 'FN', 'IF', 'TF') AND (ISNULL(@sp_name, '') = '' OR o.name LIKE @sp_name)
    AND (ISNULL(@sp_owner, '') = '' OR s.name LIKE @sp_owner)

-- sp_linkedservers
SELECT name AS SRV_NAME, 'SQLNCLI' AS SRV_PROVIDERNAME, 'SQL Server' AS SRV_PRODUCT, name AS SRV_DATASOURCE
FROM sys.servers

-- sp_tables
SELECT TABLE_QUALIFIER, TABLE_OWNER, TABLE_NAME, TABLE_TYPE, REMARKS
FROM (
    SELECT CASE WHEN @table_qualifier = '%' AND @table_name = '' AND @table_owner = '' THEN 'databases'
        WHEN @table_owner = '%' AND @table_name = '' AND ISNULL(@table_qualifier, '') = '' THEN 'schemas'
        WHEN @table_type = '%' AND @table_name = '' AND @table_owner = '' THEN 'types' ELSE 'tables' END AS list
) asked
JOIN (
    SELECT 'databases' AS list, name AS TABLE_QUALIFIER, NULL AS TABLE_OWNER, NULL AS TABLE_NAME,
        NULL AS TABLE_TYPE, NULL AS REMARKS
    FROM sys.databases
    UNION ALL SELECT 'schemas', NULL, name, NULL, NULL, NULL FROM sys.schemas
    UNION ALL SELECT 'types', NULL, NULL, NULL, 'SYSTEM TABLE', NULL
    UNION ALL SELECT 'types', NULL, NULL, NULL, 'TABLE', NULL
    UNION ALL SELECT 'types', NULL, NULL, NULL, 'VIEW', NULL
    UNION ALL
    SELECT 'tables', @qualifier, s.name, o.name, CASE o.type WHEN 'U' THEN 'TABLE' ELSE 'VIEW' END, NULL
    FROM sys.objects o
    JOIN sys.schemas s ON s.schema_id = o.schema_id
    WHERE o.type IN ('U', 'V') AND (ISNULL(@table_name, '') = '' OR o.name LIKE @table_name)
        AND (ISNULL(@table_owner, '') = '' OR s.name LIKE @table_owner)
        AND (ISNULL(@table_type, '') IN ('', '%')
            OR CHARINDEX(CASE o.type WHEN 'U' THEN '''TABLE''' ELSE '''VIEW''' END, @table_type) > 0)
) found ON found.list = asked.list
ORDER BY TABLE_TYPE, TABLE_QUALIFIER, TABLE_OWNER, TABLE_NAME

-- sp_table_privileges
SELECT @qualifier AS TABLE_QUALIFIER, s.name AS TABLE_OWNER, o.name AS TABLE_NAME, 'dbo' AS GRANTOR,
    'dbo' AS GRANTEE, p.name AS PRIVILEGE, 'YES' AS IS_GRANTABLE
FROM sys.objects o
JOIN sys.schemas s ON s.schema_id = o.schema_id
CROSS JOIN (VALUES ('DELETE'), ('INSERT'), ('REFERENCES'), ('SELECT'), ('UPDATE')) p (name)
WHERE o.type IN ('U', 'V') AND (ISNULL(@table_name, '') = '' OR o.name LIKE @table_name)
    AND (ISNULL(@table_owner, '') = '' OR s.name LIKE @table_owner)
ORDER BY s.name, o.name, p.name

-- sp_column_privileges
SELECT @qualifier AS TABLE_QUALIFIER, s.name AS TABLE_OWNER, o.name AS TABLE_NAME, c.name AS COLUMN_NAME,
    'dbo' AS GRANTOR, 'dbo' AS GRANTEE, p.name AS PRIVILEGE, 'YES' AS IS_GRANTABLE
FROM sys.objects o
JOIN sys.schemas s ON s.schema_id = o.schema_id
JOIN sys.columns c ON c.object_id = o.object_id
CROSS JOIN (VALUES ('INSERT'), ('REFERENCES'), ('SELECT'), ('UPDATE')) p (name)
WHERE o.type IN ('U', 'V') AND (@table_name IS NULL OR o.name = @table_name)
    AND (ISNULL(@table_owner, '') = '' OR s.name LIKE @table_owner)
    AND (ISNULL(@column_name, '') = '' OR c.name LIKE @column_name)
ORDER BY s.name, o.name, c.name, p.name
