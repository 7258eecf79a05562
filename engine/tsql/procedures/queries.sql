-- Procedures of the product that are queries over the catalog (queries.py). A line "-- name name …" begins the queries
-- of these procedures; @qualifier is the name of their database.

-- sp_databases
SELECT d.name AS DATABASE_NAME, f.size AS DATABASE_SIZE, NULL AS REMARKS
FROM sys.databases d
LEFT JOIN (SELECT database_id, SUM(size) * 8 AS size FROM sys.master_files GROUP BY database_id) f
    ON f.database_id = d.database_id
WHERE d.state_desc = 'ONLINE'
ORDER BY d.name

-- sp_validatelogins
SELECT sid AS SID, name AS [NT Login] FROM sys.server_principals
WHERE 1 = 0 -- every Windows account of a login exists here

-- sp_lock
SELECT request_session_id AS spid, resource_database_id AS dbid,
    CASE WHEN resource_type = 'OBJECT' THEN resource_associated_entity_id
        WHEN resource_type IN ('KEY', 'PAGE', 'RID') THEN resource_associated_entity_id - 72057594038000000
        ELSE 0 END AS ObjId,
    CASE resource_type WHEN 'KEY' THEN 1 ELSE 0 END AS IndId,
    CASE resource_type WHEN 'DATABASE' THEN 'DB' WHEN 'OBJECT' THEN 'TAB' WHEN 'PAGE' THEN 'PAG'
        WHEN 'APPLICATION' THEN 'APP' ELSE resource_type END AS Type,
    resource_description AS Resource, request_mode AS Mode, request_status AS Status
FROM sys.dm_tran_locks
WHERE @spid1 IS NULL OR request_session_id = @spid1

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
        CASE x.type WHEN 1 THEN 1 ELSE 3 END, k.key_ordinal, c.name, CASE k.is_descending_key WHEN 1 THEN 'D' ELSE 'A' END
    FROM sys.indexes x
    JOIN sys.tables o ON o.object_id = x.object_id
    JOIN sys.index_columns k ON k.object_id = x.object_id AND k.index_id = x.index_id
    JOIN sys.columns c ON c.object_id = k.object_id AND c.column_id = k.column_id
    WHERE x.name IS NOT NULL AND k.is_included_column = 0 AND (x.is_unique = 1 OR ISNULL(@is_unique, 'N') <> 'Y')
) i ON i.object_id = t.object_id
WHERE @table_name IS NULL OR t.name = @table_name
ORDER BY CASE i.place WHEN 0 THEN 0 ELSE 1 END, t.object_id, i.NON_UNIQUE, i.TYPE, i.INDEX_NAME, i.SEQ_IN_INDEX

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
SELECT name AS SRV_NAME, 'SQLNCLI' AS SRV_PROVIDERNAME, 'SQL Server' AS SRV_PRODUCT, name AS SRV_DATASOURCE,
    CAST(NULL AS nvarchar(4000)) AS SRV_PROVIDERSTRING, CAST(NULL AS nvarchar(4000)) AS SRV_LOCATION,
    CAST(NULL AS sysname) AS SRV_CAT
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

-- sp_who
SELECT 15007 AS error, @loginame AS name
WHERE ISNULL(@loginame, '') NOT IN ('', 'active') AND @loginame NOT LIKE '[0-9]%'
    AND NOT EXISTS (SELECT * FROM sys.server_principals WHERE name = @loginame);
SELECT spid, ecid, RTRIM(status) AS status, RTRIM(loginame) AS loginame, RTRIM(hostname) AS hostname,
    CAST(blocked AS char(5)) AS blk, CASE WHEN dbid <> 0 THEN DB_NAME(dbid) END AS dbname, RTRIM(cmd) AS cmd, request_id
FROM sys.sysprocesses
WHERE ISNULL(@loginame, '') = '' OR (@loginame = 'active' AND cmd <> 'AWAITING COMMAND')
    OR CAST(spid AS nvarchar(9)) = @loginame OR loginame = @loginame
ORDER BY spid

-- sp_who2
SELECT 15007 AS error, @loginame AS name
WHERE ISNULL(@loginame, '') NOT IN ('', 'active') AND @loginame NOT LIKE '[0-9]%'
    AND NOT EXISTS (SELECT * FROM sys.server_principals WHERE name = @loginame);
SELECT CAST(p.spid AS char(5)) AS SPID,
    CAST(CASE RTRIM(status) WHEN 'sleeping' THEN status ELSE UPPER(status) END AS char(30)) AS Status,
    RTRIM(loginame) AS Login, CASE hostname WHEN '' THEN '  .' ELSE RTRIM(hostname) END AS HostName,
    CASE blocked WHEN 0 THEN '  .' ELSE CAST(blocked AS varchar(5)) END AS BlkBy, CASE WHEN dbid <> 0 THEN DB_NAME(dbid) END AS DBName,
    RTRIM(cmd) AS Command, CAST(ISNULL(cpu, 0) AS varchar(12)) AS CPUTime,
    CAST(ISNULL(physical_io, 0) AS varchar(12)) AS DiskIO,
    CONVERT(varchar(5), ISNULL(last_batch, login_time), 101) + ' '
        + CONVERT(varchar(8), ISNULL(last_batch, login_time), 108) AS LastBatch,
    RTRIM(program_name) AS ProgramName, CAST(p.spid AS char(5)) AS SPID, CAST(request_id AS char(5)) AS REQUESTID
FROM sys.sysprocesses p
WHERE ISNULL(@loginame, '') = '' OR (@loginame = 'active' AND cmd <> 'AWAITING COMMAND')
    OR CAST(spid AS nvarchar(9)) = @loginame OR loginame = @loginame
ORDER BY p.spid

-- sp_helpdb quiet
SELECT 15010 AS error, @dbname AS name WHERE @dbname IS NOT NULL AND DB_ID(@dbname) IS NULL;
SELECT d.name, STR(f.size / 128.0, 13, 2) + ' MB' AS db_size, p.name AS owner, d.database_id AS dbid,
    CONVERT(nvarchar(11), d.create_date) AS created,
    'Status=' + d.state_desc + ', Updateability=' + CASE d.is_read_only WHEN 1 THEN 'READ_ONLY' ELSE 'READ_WRITE' END
        + ', UserAccess=' + d.user_access_desc + ', Recovery=' + d.recovery_model_desc
        + ', Version=' + ISNULL(CAST(DATABASEPROPERTYEX(d.name, 'Version') AS varchar(9)), '0')
        + ISNULL(', Collation=' + d.collation_name, '')
        + CASE d.collation_name WHEN 'SQL_Latin1_General_CP1_CI_AS' THEN ', SQLSortOrder=52' ELSE ', SQLSortOrder=0' END
        + CASE d.is_auto_close_on WHEN 1 THEN ', IsAutoClose' ELSE '' END
        + CASE d.is_auto_shrink_on WHEN 1 THEN ', IsAutoShrink' ELSE '' END
        + CASE d.is_in_standby WHEN 1 THEN ', IsInStandby' ELSE '' END
        + CASE d.is_auto_create_stats_on WHEN 1 THEN ', IsAutoCreateStatistics' ELSE '' END
        + CASE d.is_auto_update_stats_on WHEN 1 THEN ', IsAutoUpdateStatistics' ELSE '' END AS status,
    d.compatibility_level
FROM sys.databases d
JOIN (SELECT database_id, SUM(size) AS size FROM sys.master_files GROUP BY database_id) f
    ON f.database_id = d.database_id
LEFT JOIN sys.server_principals p ON p.sid = d.owner_sid
WHERE @dbname IS NULL OR d.name = @dbname
ORDER BY d.name;
IF @dbname SELECT name, file_id AS fileid, physical_name AS filename, CASE type WHEN 0 THEN 'PRIMARY' END AS filegroup,
    CAST(CAST(size AS bigint) * 8 AS nvarchar(15)) + ' KB' AS size,
    CASE max_size WHEN -1 THEN 'Unlimited' ELSE CAST(CAST(max_size AS bigint) * 8 AS nvarchar(15)) + ' KB' END AS maxsize,
    CASE is_percent_growth WHEN 1 THEN CAST(growth AS nvarchar(15)) + '%'
        ELSE CAST(CAST(growth AS bigint) * 8 AS nvarchar(15)) + ' KB' END AS growth,
    CASE type WHEN 1 THEN 'log only' ELSE 'data only' END AS usage
FROM sys.master_files
WHERE database_id = DB_ID(@dbname)

-- sp_helpfile quiet
SELECT 15325 AS error, 'file', @filename AS name, @qualifier AS place
WHERE @filename IS NOT NULL AND NOT EXISTS (SELECT * FROM sys.database_files WHERE name = @filename);
SELECT name, file_id AS fileid, physical_name AS filename, CASE type WHEN 0 THEN 'PRIMARY' END AS filegroup,
    CAST(CAST(size AS bigint) * 8 AS nvarchar(15)) + ' KB' AS size,
    CASE max_size WHEN -1 THEN 'Unlimited' ELSE CAST(CAST(max_size AS bigint) * 8 AS nvarchar(15)) + ' KB' END AS maxsize,
    CASE is_percent_growth WHEN 1 THEN CAST(growth AS nvarchar(15)) + '%'
        ELSE CAST(CAST(growth AS bigint) * 8 AS nvarchar(15)) + ' KB' END AS growth,
    CASE type WHEN 1 THEN 'log only' ELSE 'data only' END AS usage
FROM sys.database_files
WHERE @filename IS NULL OR name = @filename

-- sp_helpuser
SELECT 15198 AS error, @name_in_db AS name
WHERE @name_in_db IS NOT NULL AND NOT EXISTS (SELECT * FROM sys.database_principals WHERE name = @name_in_db);
SELECT u.name AS UserName, ISNULL(r.name, 'public') AS RoleName, l.name AS LoginName,
    l.default_database_name AS DefDBName, u.default_schema_name AS DefSchemaName,
    CAST(u.principal_id AS char(10)) AS UserID, u.sid AS SID
FROM sys.database_principals u
LEFT JOIN sys.database_role_members m ON m.member_principal_id = u.principal_id
LEFT JOIN sys.database_principals r ON r.principal_id = m.role_principal_id
LEFT JOIN sys.server_principals l ON l.sid = u.sid
WHERE u.type <> 'R' AND (@name_in_db IS NULL OR u.name = @name_in_db)
ORDER BY u.name

-- sp_helprole
SELECT 15409 AS error, @rolename AS name
WHERE @rolename IS NOT NULL
    AND NOT EXISTS (SELECT * FROM sys.database_principals WHERE type = 'R' AND name = @rolename);
SELECT name AS RoleName, principal_id AS RoleId, 0 AS IsAppRole
FROM sys.database_principals
WHERE type = 'R' AND (@rolename IS NULL OR name = @rolename)

-- sp_helprolemember
SELECT 15409 AS error, @rolename AS name
WHERE @rolename IS NOT NULL
    AND NOT EXISTS (SELECT * FROM sys.database_principals WHERE type = 'R' AND name = @rolename);
SELECT r.name AS DbRole, u.name AS MemberName, u.sid AS MemberSID
FROM sys.database_role_members m
JOIN sys.database_principals r ON r.principal_id = m.role_principal_id
JOIN sys.database_principals u ON u.principal_id = m.member_principal_id
WHERE @rolename IS NULL OR r.name = @rolename
ORDER BY 1, 2

-- sp_helpsrvrolemember
SELECT 15412 AS error, @srvrolename AS name
WHERE @srvrolename IS NOT NULL
    AND NOT EXISTS (SELECT * FROM sys.server_principals WHERE type = 'R' AND name = @srvrolename);
SELECT r.name AS ServerRole, u.name AS MemberName, u.sid AS MemberSID
FROM sys.server_role_members m
JOIN sys.server_principals r ON r.principal_id = m.role_principal_id
JOIN sys.server_principals u ON u.principal_id = m.member_principal_id
WHERE @srvrolename IS NULL OR r.name = @srvrolename
ORDER BY 1, 2

-- sp_help_operator
SELECT 14262 AS error, '@operator_name', @operator_name AS name
WHERE @operator_name IS NOT NULL AND NOT EXISTS (SELECT * FROM msdb.dbo.sysoperators WHERE name = @operator_name);
SELECT o.id, o.name, o.enabled, o.email_address, o.last_email_date, o.last_email_time, o.pager_address,
    o.last_pager_date, o.last_pager_time, o.weekday_pager_start_time, o.weekday_pager_end_time,
    o.saturday_pager_start_time, o.saturday_pager_end_time, o.sunday_pager_start_time, o.sunday_pager_end_time,
    o.pager_days, o.netsend_address, o.last_netsend_date, o.last_netsend_time, c.name AS category_name
FROM msdb.dbo.sysoperators o
LEFT JOIN msdb.dbo.syscategories c ON c.category_id = o.category_id
WHERE (@operator_name IS NULL OR o.name = @operator_name)
    AND (@operator_id IS NULL OR CAST(o.id AS nvarchar(12)) = @operator_id)
ORDER BY o.name

-- sp_help_alert
SELECT 14262 AS error, '@alert_name', @alert_name AS name
WHERE @alert_name IS NOT NULL AND NOT EXISTS (SELECT * FROM msdb.dbo.sysalerts WHERE name = @alert_name);
SELECT a.id, a.name, a.event_source, a.event_category_id, a.event_id, a.message_id, a.severity, a.enabled,
    a.delay_between_responses, a.last_occurrence_date, a.last_occurrence_time, a.last_response_date,
    a.last_response_time, a.notification_message, a.include_event_description, a.database_name,
    a.event_description_keyword, a.occurrence_count, a.count_reset_date, a.count_reset_time, a.job_id,
    j.name AS job_name, a.has_notification, a.flags, a.performance_condition, c.name AS category_name,
    CASE WHEN a.performance_condition IS NOT NULL THEN 2 ELSE 1 END AS type
FROM msdb.dbo.sysalerts a
LEFT JOIN msdb.dbo.sysjobs j ON j.job_id = a.job_id
LEFT JOIN msdb.dbo.syscategories c ON c.category_id = a.category_id
WHERE (@alert_name IS NULL OR a.name = @alert_name) AND (@alert_id IS NULL OR CAST(a.id AS nvarchar(12)) = @alert_id)
    AND (@category_name IS NULL OR c.name = @category_name)
ORDER BY a.name

-- sp_help_jobstep
SELECT 14262 AS error, '@job_name', @job_name AS name
WHERE @job_name IS NOT NULL AND NOT EXISTS (SELECT * FROM msdb.dbo.sysjobs WHERE name = @job_name);
SELECT s.step_id, s.step_name, s.subsystem, s.command, s.flags, s.cmdexec_success_code, s.on_success_action,
    s.on_success_step_id, s.on_fail_action, s.on_fail_step_id, s.server, s.database_name, s.database_user_name,
    s.retry_attempts, s.retry_interval, s.os_run_priority, s.output_file_name, s.last_run_outcome,
    s.last_run_duration, s.last_run_retries, s.last_run_date, s.last_run_time, s.proxy_id
FROM msdb.dbo.sysjobsteps s
JOIN msdb.dbo.sysjobs j ON j.job_id = s.job_id
WHERE (j.name = @job_name OR CAST(j.job_id AS nvarchar(36)) = @job_id) AND (@step_id IS NULL OR s.step_id = @step_id)
    AND (@step_name IS NULL OR s.step_name = @step_name)
ORDER BY s.step_id

-- sp_server_info
SELECT a.id AS ATTRIBUTE_ID, a.name AS ATTRIBUTE_NAME, a.value AS ATTRIBUTE_VALUE
FROM (VALUES
    (1, 'DBMS_NAME', 'Microsoft SQL Server'), (2, 'DBMS_VER', LEFT(@@VERSION, 25) + ' - ' + CAST(SERVERPROPERTY('ProductVersion') AS varchar(20))),
    (10, 'OWNER_TERM', 'owner'), (11, 'TABLE_TERM', 'table'), (12, 'MAX_OWNER_NAME_LENGTH', '128'),
    (13, 'TABLE_LENGTH', '128'), (14, 'MAX_QUAL_LENGTH', '128'), (15, 'COLUMN_LENGTH', '128'),
    (16, 'IDENTIFIER_CASE', 'MIXED'), (17, 'TX_ISOLATION', '2'),
    (18, 'COLLATION_SEQ', 'charset=iso_1 sort_order=nocase_iso charset_num=1 sort_order_num=52'),
    (19, 'SAVEPOINT_SUPPORT', 'Y'), (20, 'MULTI_RESULT_SETS', 'Y'), (22, 'ACCESSIBLE_TABLES', 'Y'),
    (100, 'USERID_LENGTH', '128'), (101, 'QUALIFIER_TERM', 'database'), (102, 'NAMED_TRANSACTIONS', 'Y'),
    (103, 'SPROC_AS_LANGUAGE', 'Y'), (104, 'ACCESSIBLE_SPROC', 'Y'), (105, 'MAX_INDEX_COLS', '16'),
    (106, 'RENAME_TABLE', 'Y'), (107, 'RENAME_COLUMN', 'Y'), (108, 'DROP_COLUMN', 'Y'),
    (109, 'INCREASE_COLUMN_LENGTH', 'Y'), (110, 'DDL_IN_TRANSACTION', 'Y'), (111, 'DESCENDING_INDEXES', 'Y'),
    (112, 'SP_RENAME', 'Y'), (113, 'REMOTE_SPROC', 'Y'),
    (500, 'SYS_SPROC_VERSION',
        PARSENAME(CAST(SERVERPROPERTY('ProductVersion') AS varchar(20)), 4) + '.'
            + RIGHT('0' + PARSENAME(CAST(SERVERPROPERTY('ProductVersion') AS varchar(20)), 3), 2) + '.'
            + PARSENAME(CAST(SERVERPROPERTY('ProductVersion') AS varchar(20)), 2))
) a (id, name, value)
WHERE @attribute_id IS NULL OR a.id = @attribute_id
ORDER BY a.id

-- sp_helpserver
SELECT 15015 AS error, @server AS name
WHERE ISNULL(@server, '') <> '' AND NOT EXISTS (SELECT * FROM sys.servers WHERE name = @server);
SELECT name, name AS network_name,
    CASE server_id WHEN 0 THEN 'rpc,rpc out,' ELSE CASE is_rpc_out_enabled WHEN 1 THEN 'rpc out,' ELSE '' END
        + 'data access,' END + 'use remote collation' AS status,
    CAST(server_id AS varchar(4)) AS id, NULL AS collation_name, 0 AS connect_timeout, 0 AS query_timeout
FROM sys.servers
WHERE ISNULL(@server, '') IN ('', name)
ORDER BY server_id
