"""Hostile T-SQL batches by name. Each has at most 1 MB, gets a message as an answer, and can be canceled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

BATCH_BYTES_MAX: Final = 1_000_000
BatchBuilder = Callable[[], str]


def _fill_text(piece: str) -> str:
    return piece * (BATCH_BYTES_MAX // len(piece))


_VIEWS: Final = "".join(
    f"CREATE VIEW v{n} AS SELECT a.a FROM v{n - 1} a, v{n - 1} b\nGO\n" for n in range(1, 31)
)

_STACKED_VIEWS: Final = "CREATE VIEW v0 AS SELECT 1 a\nGO\n" + "".join(
    f"CREATE VIEW v{n} AS SELECT a.a FROM v{n - 1} a, dbo.v{n - 1} b, master.dbo.v{n - 1} c, master..v{n - 1} d\nGO\n"
    for n in range(1, 20)
)
"""Views that each query the view below them four times."""

_LINKED_SERVERS: Final = (
    "EXEC sp_addlinkedserver 'SERVER_B' EXEC sp_serveroption 'SERVER_B','rpc out','true'\nGO\n"
    "EXEC('EXEC sp_addlinkedserver ''SERVER_A'' EXEC sp_serveroption ''SERVER_A'',''rpc out'',''true''') AT SERVER_B\n"
    "GO\n"
)
"""SERVER_A and SERVER_B as linked servers of each other."""


def _build_large_variables(count: int) -> str:
    """Return a batch with *count* variables of 200,000 characters each."""
    return "DECLARE @x varchar(max) SET @x=REPLICATE(CONVERT(varchar(max),'x'),200000) " + " ".join(
        f"DECLARE @v{n} varchar(max) SET @v{n}=@x+'{n}'" for n in range(count)
    )


def _build_job(name: str, command: str) -> str:
    """Return a batch that creates a job and starts it."""
    quoted = command.replace("'", "''")
    return (
        f"EXEC msdb.dbo.sp_add_job '{name}' "
        f"EXEC msdb.dbo.sp_add_jobstep @job_name='{name}',@step_name='s',@command='{quoted}' "
        f"EXEC msdb.dbo.sp_add_jobserver @job_name='{name}' EXEC msdb.dbo.sp_start_job '{name}'\n"
    )


_OVERFLOW_BATCHES: Final = (
    "SELECT CAST(99999999999 AS int)",
    "SELECT CAST('1e400' AS float)",
    "SELECT CAST(1e308 AS float)*10",
    "SELECT SQRT(-1), LOG(0), EXP(1000)",
    "DECLARE @d decimal(38,0) SET @d=99999999999999999999999999999999999999 SELECT @d*@d",
    "SELECT DATEADD(year,2000000000,GETDATE())",
    "SELECT DATEADD(ms,-9223372036854775808,GETDATE())",
    "SELECT CHAR(99999999999), NCHAR(1114112), NCHAR(-1)",
    "SELECT SUBSTRING('abc',-9999999999,9223372036854775807), LEFT('a',9999999999), RIGHT('a',-1)",
    "SELECT STUFF('a',1,99999999999,'b'), SPACE(-1), STR(1,-5), ROUND(1,99999999999)",
    "SELECT 9223372036854775807+1, -9223372036854775808/-1, 5%0",
    "SELECT TOP 99999999999999999999 1",
    "SET ROWCOUNT 99999999999999999999999",
    "CREATE TABLE #t (a int IDENTITY(9223372036854775807,9223372036854775807), b int) INSERT #t VALUES(1)",
    "ALTER DATABASE Sales SET PARTNER REDO_QUEUE 99999999999999999999GB",
    "ALTER DATABASE Sales MODIFY FILE (NAME=Sales_log, SIZE=99999999999999999999GB, MAXSIZE=0KB)",
    "WAITFOR DELAY '99:99:99'",
    "EXEC xp_readerrorlog 99999999999",
    "USE msdb EXEC sp_dbmmonitorresults 'Sales', 99999999999, 1",
    "RAISERROR('%2000000000d %-999999999s',10,1,1,'x')",
    "RAISERROR('%" + "9" * 5_000 + "d',10,1,1)",
)

_ESCAPE_BATCHES: Final = (
    "SELECT * FROM OPENQUERY(SERVER_A,'ATTACH DATABASE ''/tmp/mirrordrill-escaped'' AS x')",
    "DECLARE c CURSOR FOR SELECT 1; VACUUM INTO '/tmp/mirrordrill-escaped' OPEN c",
    "EXEC('PRAGMA database_list')",
    "SELECT * FROM [x]];ATTACH DATABASE '/tmp/mirrordrill-escaped' AS z--]",
    "CREATE TABLE #t ([a` TEXT); ATTACH DATABASE '/tmp/mirrordrill-escaped' AS z; --] int) SELECT * FROM #t",
    "CREATE TABLE [#a` (x); ATTACH DATABASE '/tmp/mirrordrill-escaped' AS z; --] (a int) "
    "SELECT * FROM [#a` (x); ATTACH DATABASE '/tmp/mirrordrill-escaped' AS z; --]",
    "SELECT edit('x'), fts3_tokenizer('simple'), sqlite_compileoption_get(1)",
    "SELECT * FROM pragma_function_list()",
    "SELECT * FROM dbstat",
    "SELECT * FROM sqlite_stmt",
    "INSERT INTO OPENQUERY(SERVER_A,'SELECT 1') VALUES(1)",
    "DECLARE @t TABLE ([a` int, b] int) INSERT @t VALUES (1) SELECT * FROM @t",
    "CREATE VIEW v AS SELECT 1 x; ATTACH DATABASE '/tmp/mirrordrill-escaped' AS y",
)

BATCHES: Final[dict[str, BatchBuilder]] = {
    # Endless batches.
    "endless PRINT": lambda: "WHILE 1=1 PRINT 'x'",
    "endless count": lambda: "DECLARE @i int SET @i=0 WHILE 1=1 SET @i=@i+1",
    "endless SELECT": lambda: "WHILE 1=1 SELECT * FROM sys.databases",
    "endless SELECT of messages": lambda: "WHILE 1=1 SELECT * FROM sys.messages",
    "endless GOTO": lambda: "a: GOTO a",
    "endless dynamic SQL": lambda: (
        "DECLARE @s nvarchar(4000) SET @s=N'PRINT 1' WHILE 1=1 EXEC sp_executesql @s"
    ),
    "endless RAISERROR": lambda: "WHILE 1=1 RAISERROR('%s',10,1,'x') WITH NOWAIT",
    "endless FETCH": lambda: (
        "DECLARE c CURSOR FOR SELECT name FROM sys.objects OPEN c WHILE 1=1 FETCH NEXT FROM c"
    ),
    "endless cursors": lambda: (
        "WHILE 1=1 BEGIN DECLARE c CURSOR FOR SELECT * FROM sys.objects OPEN c DEALLOCATE c END"
    ),
    "endless tables": lambda: (
        "DECLARE @i int SET @i=0 WHILE 1=1 BEGIN SET @i=@i+1 "
        "DECLARE @s varchar(99) SET @s='CREATE TABLE t'+REPLACE(STR(@i,9),' ','')+' (a int)' EXEC(@s) END"
    ),
    "a table that doubles": lambda: (
        "CREATE TABLE #t (a varchar(8000)) INSERT #t VALUES(REPLICATE('x',8000)) "
        "WHILE 1=1 INSERT #t SELECT a FROM #t"
    ),
    "a text that doubles": lambda: "DECLARE @s varchar(max) SET @s='x' WHILE 1=1 SET @s=@s+@s",
    "a procedure that calls itself": lambda: "CREATE PROCEDURE p AS EXEC p\nGO\nEXEC p",
    "a wait of a day": lambda: "WAITFOR DELAY '23:59:59'",
    "a thousand million times GO": lambda: "PRINT 1\nGO 1000000000",
    "endless recursion": lambda: "WITH c AS (SELECT 1 n UNION ALL SELECT n+1 FROM c) SELECT * FROM c",
    "endless recursion, counted": lambda: (
        "WITH c AS (SELECT 1 n UNION ALL SELECT n+1 FROM c) SELECT count(*) FROM c OPTION (MAXRECURSION 0)"
    ),
    "recursion over texts": lambda: (
        "WITH c AS (SELECT CONVERT(varchar(max),'x') n UNION ALL SELECT n+n FROM c) SELECT max(len(n)) FROM c"
    ),
    # Excessive work.
    "cross join of messages": lambda: "SELECT * FROM sys.messages a, sys.messages b",
    "cross join of five": lambda: (
        "SELECT count(*) FROM sys.messages a, sys.messages b, sys.messages c, sys.messages d, sys.messages e"
    ),
    "cross join, sorted": lambda: (
        "SELECT * FROM sys.messages a, sys.messages b, sys.messages c ORDER BY NEWID()"
    ),
    "cross join, distinct": lambda: (
        "SELECT DISTINCT a.text+b.text+c.text FROM sys.messages a, sys.messages b, sys.messages c"
    ),
    "cross join, average": lambda: (
        "SELECT AVG(a.message_id) FROM sys.messages a, sys.messages b, sys.messages c"
    ),
    "cross join of long texts": lambda: "SELECT REPLICATE('x',8000) FROM sys.messages a, sys.messages b",
    "cross join into a table": lambda: (
        "SELECT REPLICATE('x',8000) a INTO #t FROM sys.messages a, sys.messages b"
    ),
    "cross join of views": lambda: (
        "CREATE VIEW v AS SELECT a.text FROM sys.messages a, sys.messages b\nGO\n"
        "SELECT count(*) FROM v a, v b"
    ),
    "a tower of views": lambda: f"CREATE VIEW v0 AS SELECT 1 a\nGO\n{_VIEWS}SELECT * FROM v30",
    "REPLICATE": lambda: "SELECT REPLICATE('x',2000000000)",
    "REPLICATE of max": lambda: "SELECT REPLICATE(CONVERT(varchar(max),'x'),2000000000)",
    "REPLICATE of REPLICATE": lambda: "SELECT REPLICATE(REPLICATE(REPLICATE('x',8000),8000),8000)",
    "SPACE": lambda: "SELECT SPACE(2000000000)",
    "REPLACE by long texts": lambda: "SELECT REPLACE(REPLICATE('x',8000),'x',REPLICATE('y',8000))",
    "REPLACE of REPLACE": lambda: (
        "SELECT LEN(" + "REPLACE(" * 20 + "'x'" + ",'x','xxxxxxxxxxxxxxxx')" * 20 + ")"
    ),
    "a pattern of wildcards": lambda: "SELECT 1 WHERE REPLICATE('a',8000) LIKE '" + "%a" * 200 + "%b'",
    "PATINDEX of wildcards": lambda: "SELECT PATINDEX('" + "%a" * 100 + "%b%', REPLICATE('a',8000))",
    "PATINDEX over messages": lambda: (
        "SELECT MAX(PATINDEX('%" + "%_" * 300 + "%z%',REPLICATE(text,40))) FROM sys.messages"
    ),
    "1,300 different pieces": lambda: (
        "DECLARE @t varchar(8000), @p varchar(8000), @i int SELECT @t='',@p='%',@i=0 WHILE @i<1300 "
        "SELECT @t=@t+CHAR(65+@i/676)+CHAR(65+(@i/26)%26)+CHAR(65+@i%26), "
        "@p=@p+CHAR(65+@i/676)+CHAR(65+(@i/26)%26)+CHAR(65+@i%26)+'%', @i=@i+1 "
        "SELECT count(*) FROM sys.messages a, sys.messages b WHERE @t LIKE @p"
    ),
    "200 functions with OVER": lambda: (
        "SELECT "
        + ",".join(
            f"ROW_NUMBER() OVER (PARTITION BY severity ORDER BY text, message_id+{n})" for n in range(200)
        )
        + " FROM sys.messages"
    ),
    "powers": lambda: (
        "SELECT POWER(10.0,300)*1e300, EXP(1e10), POWER(2,2000000000), POWER(99999999999,99999999)"
    ),
    "FORMAT and STR": lambda: "SELECT STR(1e300,2000000000,2000000000)",
    "3,000 cursors": lambda: "".join(
        f"DECLARE c{n} CURSOR FOR SELECT * FROM sys.messages OPEN c{n} " for n in range(3_000)
    ),
    "20,000 tables": lambda: "".join(f"CREATE TABLE #t{n} (a int)\n" for n in range(20_000)),
    "60,000 variables": lambda: "DECLARE " + ",".join(f"@v{n} int" for n in range(60_000)),
    "15,000 logins": lambda: "".join(f"CREATE LOGIN l{n} WITH PASSWORD='Pa55!!'\n" for n in range(15_000)),
    # Deep nesting.
    "brackets": lambda: "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
    "brackets to the full": lambda: "SELECT " + "(" * 490_000 + "1" + ")" * 490_000,
    "brackets of a command": lambda: "CREATE TABLE t (a " + "(" * 90_000 + ")" * 90_000 + ")",
    "selects in selects": lambda: (
        "SELECT * FROM " + "(SELECT * FROM " * 2_000 + "sys.objects" + ") x" * 2_000
    ),
    "CASE in CASE": lambda: "SELECT " + "CASE WHEN 1=1 THEN " * 3_000 + "1" + " END" * 3_000,
    "functions of functions": lambda: "SELECT " + "LEN(" * 5_000 + "'x'" + ")" * 5_000,
    "50 functions of functions": lambda: "SELECT " + "LEN(" * 50 + "'x'" + ")" * 50,
    "BEGIN in BEGIN": lambda: "BEGIN " * 80_000 + "PRINT 1 " + "END " * 80_000,
    "IF in IF": lambda: "IF 1=1 " * 100_000 + "PRINT 1",
    "WHILE in WHILE": lambda: "WHILE 1=1 " * 50_000 + "PRINT 1",
    "TRY in TRY": lambda: "BEGIN TRY " * 15_000 + "PRINT 1 " + "END TRY BEGIN CATCH END CATCH " * 15_000,
    "minus minus": lambda: "SELECT " + "- " * 50_000 + "1",
    "not not": lambda: "SELECT 1 WHERE " + "NOT " * 50_000 + "1=1",
    "one plus one": lambda: "SELECT 1" + "+1" * 300_000,
    "and and": lambda: "SELECT 1 WHERE 1=1" + " AND 1=1" * 100_000,
    "scalar selects": lambda: "DECLARE @a int SET @a = " + "(SELECT " * 300 + "1" + ")" * 300,
    # Long lists and texts.
    "a long IN": lambda: "SELECT 1 WHERE 1 IN (1" + ",1" * 400_000 + ")",
    "many columns": lambda: "SELECT 1" + ",1" * 400_000,
    "a long UNION": lambda: "SELECT 1" + " UNION ALL SELECT 1" * 50_000,
    "signs": lambda: _fill_text("@#$%^&*"),
    "quotes": lambda: "'" * BATCH_BYTES_MAX,
    "one open quote": lambda: "'" + "x" * (BATCH_BYTES_MAX - 1),
    "open brackets": lambda: "[" * BATCH_BYTES_MAX,
    "open comments": lambda: "/*" * 500_000,
    "comments in comments": lambda: "/*" * 200_000 + "*/" * 200_000,
    "dashes": lambda: "-" * BATCH_BYTES_MAX,
    "keywords": lambda: _fill_text("select "),
    "semicolons": lambda: ";" * BATCH_BYTES_MAX,
    "PRINT after PRINT": lambda: _fill_text("PRINT 1 "),
    "GO after GO": lambda: _fill_text("GO\n"),
    "batch after batch": lambda: _fill_text("PRINT 1\nGO\n"),
    "SELECT after SELECT": lambda: _fill_text("SELECT 1\n"),
    "command after command": lambda: _fill_text("ALTER DATABASE Sales SET PARTNER SUSPEND\n"),
    "spaces": lambda: "SELECT" + " " * (BATCH_BYTES_MAX - 7) + "1",
    "lines": lambda: "SELECT" + "\n" * (BATCH_BYTES_MAX - 7) + "1",
    "a long name": lambda: "SELECT " + "a" * (BATCH_BYTES_MAX - 7),
    "a long number": lambda: "SELECT " + "9" * (BATCH_BYTES_MAX - 7),
    "a number of 5,000 digits": lambda: "DECLARE @i int SET @i=" + "9" * 5_000,
    "a delay of 5,000 digits": lambda: "ALTER DATABASE Sales SET PARTNER TIMEOUT " + "9" * 5_000,
    "a long hexadecimal number": lambda: "SELECT 0x" + "f" * 900_000,
    "a long partner": lambda: "ALTER DATABASE Sales SET PARTNER = '" + "x" * 900_000 + "'",
    "spaces in a command": lambda: "ALTER DATABASE Sales SET " + " " * 900_000 + "PARTNER SUSPEND",
    "a long DBCC": lambda: "DBCC CHECKDB('" + "x" * 900_000 + "')",
    # access outside the simulation
    "ATTACH": lambda: "ATTACH DATABASE '/tmp/mirrordrill-escaped.db' AS x",
    "PRAGMA": lambda: "PRAGMA journal_mode",
    "PRAGMA as a table": lambda: "SELECT * FROM pragma_database_list",
    "load_extension": lambda: "SELECT load_extension('/tmp/x.so')",
    "readfile": lambda: "SELECT readfile('/etc/passwd'), writefile('/tmp/mirrordrill-escaped','x')",
    "sqlite_master": lambda: "SELECT * FROM sqlite_master",
    "VACUUM": lambda: "VACUUM INTO '/tmp/mirrordrill-escaped.db'",
    "zeroblob": lambda: "SELECT zeroblob(1000000000)",
    "printf": lambda: "SELECT printf('%1000000000d',1), format('%.*c',1000000000,'x')",
    "json_each": lambda: "SELECT * FROM json_each('[1]')",
    "fts5": lambda: "CREATE VIRTUAL TABLE x USING fts5(a)",
    "OPENROWSET": lambda: "SELECT * FROM OPENROWSET(BULK '/etc/passwd', SINGLE_CLOB) x",
    "BULK INSERT": lambda: "BULK INSERT t FROM '/etc/passwd'",
    "xp_cmdshell": lambda: "EXEC xp_cmdshell 'touch /tmp/mirrordrill-escaped'",
    "BACKUP to a path": lambda: "BACKUP DATABASE Sales TO DISK='/tmp/mirrordrill-escaped'",
    "a NUL": lambda: "SELECT '\0' \0 1",
    "a backtick": lambda: "SELECT 1 AS [a`; DROP TABLE x; --] FROM sys.objects [x`y]",
    # More work than the text suggests.
    "views by four names": lambda: _STACKED_VIEWS + "SELECT * FROM v19",
    "a view over itself": lambda: (
        "EXEC sp_addlinkedserver 'SERVER_B'\nGO\nCREATE VIEW v AS SELECT * FROM OPENQUERY(SERVER_A,'SELECT * FROM v')"
        "\nGO\nSELECT * FROM v"
    ),
    "a ring of OPENQUERY": lambda: (
        f"{_LINKED_SERVERS}EXEC('CREATE VIEW w AS SELECT * FROM OPENQUERY(SERVER_A,''SELECT * FROM v'')') AT SERVER_B\n"
        "GO\n"
        "CREATE VIEW v AS SELECT * FROM OPENQUERY(SERVER_B,'SELECT * FROM w')\nGO\nSELECT * FROM v"
    ),
    "a ring of EXEC AT": lambda: (
        f"{_LINKED_SERVERS}CREATE PROCEDURE p AS EXEC('EXEC p') AT SERVER_B\nGO\n"
        "EXEC('CREATE PROCEDURE p AS EXEC(''EXEC p'') AT SERVER_A') AT SERVER_B\nGO\nEXEC p"
    ),
    "endless work elsewhere": lambda: f"{_LINKED_SERVERS}WHILE 1=1 EXEC('WHILE 1=1 PRINT 1') AT SERVER_B",
    "a sum of a sum of a sum": lambda: (
        "WITH c0 AS (SELECT 1 a)"
        + "".join(f", c{n} AS (SELECT a+a a FROM c{n - 1})" for n in range(1, 200))
        + " SELECT * FROM c199"
    ),
    "a sum of a sum, derived": lambda: (
        "SELECT a30+a30 x FROM "
        + "".join(f"(SELECT a{n}+a{n} a{n + 1} FROM " for n in range(29, -1, -1))
        + "(SELECT 1.5 a0) t"
        + "".join(f") t{n}" for n in range(30))
    ),
    "a chain of APPLY": lambda: (
        "SELECT t29.x FROM sys.databases d CROSS APPLY (SELECT d.name+d.name x) t0 "
        + " ".join(f"CROSS APPLY (SELECT t{n - 1}.x+t{n - 1}.x x) t{n}" for n in range(1, 30))
    ),
    "PIVOT into 1,800": lambda: (
        "SELECT * FROM (SELECT name, database_id FROM sys.databases) s "
        "PIVOT (MAX(database_id) FOR name IN (" + ",".join(f"[c{n}]" for n in range(1_800)) + ")) p"
    ),
    "UNPIVOT of 1,800": lambda: (
        "SELECT * FROM (SELECT 1 a, 2 b) s UNPIVOT (v FOR n IN ("
        + ",".join(f"[c{n}]" for n in range(1_800))
        + ")) p"
    ),
    "1,900 columns": lambda: "SELECT 1" + ",name" * 1_900 + " FROM sys.databases",
    "compound in compound": lambda: "DECLARE @a int SELECT @a += " + "1 + @a += " * 500 + "1",
    "GRANT of everything": lambda: "GRANT " + "SELECT " * 4_000 + "TO x",
    "INSERTs in brackets": lambda: "SELECT (" + "INSERT " * 3_900 + ")",
    "accumulation over a cross join": lambda: (
        "DECLARE @s varchar(max) SET @s='' SELECT @s=@s+a.text FROM sys.messages a, sys.messages b"
    ),
    "a subquery for each message": lambda: (
        "SELECT count(*) FROM sys.messages a WHERE a.message_id=(SELECT MAX(b.message_id) FROM sys.messages b "
        "WHERE b.text LIKE '%'+a.text+'%')"
    ),
    "inserts in one transaction": lambda: "CREATE TABLE t (a int) BEGIN TRAN WHILE 1=1 INSERT t VALUES(1)",
    "10,000 transactions deep": lambda: "BEGIN TRAN " * 10_000 + "SELECT @@TRANCOUNT ROLLBACK",
    "10,000 savepoints": lambda: "BEGIN TRAN " + "SAVE TRAN a " * 10_000 + "ROLLBACK",
    "3,000 large variables": lambda: _build_large_variables(3_000),
    "100 large variables": lambda: _build_large_variables(100),
    "2,000 table variables": lambda: " ".join(
        f"DECLARE @t{n} TABLE (a int) INSERT @t{n} SELECT message_id FROM sys.messages" for n in range(2_000)
    ),
    "endless databases": lambda: (
        "DECLARE @i int SET @i=0 WHILE 1=1 BEGIN SET @i=@i+1 DECLARE @s nvarchar(200) "
        "SET @s=N'CREATE DATABASE d'+CONVERT(varchar(9),@i) EXEC(@s) END"
    ),
    "endless RAISERROR WITH LOG": lambda: "WHILE 1=1 RAISERROR('x',16,1) WITH LOG",
    "endless long PRINT": lambda: "WHILE 1=1 PRINT REPLICATE('x',8000)",
    "EXEC in EXEC in EXEC": lambda: (
        "DECLARE @s varchar(max) SET @s='PRINT 1' DECLARE @i int SET @i=0 WHILE @i<40 BEGIN "
        "SET @s='EXEC('''+REPLACE(@s,'''','''''')+''')' SET @i=@i+1 END EXEC(@s)"
    ),
    "a long text for sp_executesql": lambda: (
        "DECLARE @s nvarchar(max) SET @s=N'DECLARE @x int '+REPLICATE(CONVERT(nvarchar(max),N'SET @x=1 '),20000) "
        "WHILE 1=1 EXEC sp_executesql @s"
    ),
    "a wait of nothing": lambda: "WHILE 1=1 WAITFOR DELAY '00:00:00'",
    "a job that starts itself": lambda: _build_job("j", "EXEC msdb.dbo.sp_start_job 'j'"),
    "jobs that start each other": lambda: "".join(
        _build_job(f"j{n}", f"EXEC msdb.dbo.sp_start_job 'j{(n + 1) % 50}' WHILE 1=1 PRINT 1")
        for n in range(50)
    ),
    "an alert that raises itself": lambda: (
        _build_job("j", "RAISERROR('x',16,1) WITH LOG")
        + "EXEC msdb.dbo.sp_add_alert @name='a',@severity=16,@job_name='j' "
        + "RAISERROR('x',16,1) WITH LOG"
    ),
    "a job that makes jobs": lambda: _build_job(
        "f",
        "DECLARE @n varchar(99) SET @n='f'+REPLACE(CONVERT(varchar(50),NEWID()),'-','') "
        "EXEC msdb.dbo.sp_add_job @job_name=@n EXEC msdb.dbo.sp_add_jobstep @job_name=@n,@step_name='s',"
        "@command='WHILE 1=1 EXEC msdb.dbo.sp_start_job f' EXEC msdb.dbo.sp_start_job @n",
    ),
    "a ring of steps that do nothing": lambda: (
        "EXEC msdb.dbo.sp_add_job @job_name='l' "
        "EXEC msdb.dbo.sp_add_jobstep @job_name='l',@step_name='s',@subsystem='CmdExec',@command='x',"
        "@on_success_action=4,@on_success_step_id=1 EXEC msdb.dbo.sp_start_job 'l'"
    ),
    "an action beyond all numbers": lambda: (
        "EXEC msdb.dbo.sp_add_job @job_name='o' EXEC msdb.dbo.sp_add_jobstep @job_name='o',@step_name='s',"
        "@command='PRINT 1',@on_success_action=1e308 EXEC msdb.dbo.sp_start_job 'o'"
    ),
    "an alert for everything, often": lambda: (
        _build_job("j", "RAISERROR('x',20,1) WITH LOG")
        + "".join(f"EXEC msdb.dbo.sp_add_alert @name='a{n}',@severity=16,@job_name='j' " for n in range(90))
        + "WHILE 1=1 RAISERROR('x',16,1) WITH LOG"
    ),
    "KILL of oneself": lambda: "DECLARE @k int SET @k=@@SPID KILL @k",
    # Input that the client processes.
    "GO of 5,000 digits": lambda: "PRINT 1\nGO " + "9" * 5_000,
    "a sqlcmd variable that doubles": lambda: (
        ":setvar a aaaaaaaaaaaaaaaa\n" + ":setvar a $(a)$(a)\n" * 60 + "PRINT '$(a)'"
    ),
    "a long sqlcmd variable, often": lambda: f":setvar a {'x' * 90_000}\n" + "PRINT '$(a)'\n" * 20_000,
    "a directive and spaces": lambda: ":r x" + " " * 900_000 + "x",
    "unknown directives": lambda: ":foo\n" * 200_000,
    # Unusual characters.
    "half a character": lambda: "SELECT '\ud800', N'\U0001f600', LEN(N'\U0001f600')",
    "half a character, computed": lambda: (
        "SELECT NCHAR(55296)+'x' a INTO #t SELECT UNICODE(a), UPPER(a), a FROM #t"
    ),
    "a byte order mark": lambda: "\ufeffSELECT 1\nGO\n\ufeffPRINT 2",
    "NUL in names": lambda: "SELECT 'a\0b', CHAR(0) AS [a\0b] INTO [#a\0b] SELECT * FROM [#a\0b]",
    "the other direction": lambda: "SELECT '\u202e\u2066' AS [\u202ex]",
    # Extreme numbers.
    "numbers that are too large": lambda: "\nGO\n".join(_OVERFLOW_BATCHES),
    # Every other known way to access data outside the simulation.
    "ATTACH by other doors": lambda: "\nGO\n".join(_ESCAPE_BATCHES),
}
"""Hostile batches of at most 1 MB; `python -m tests.hostile.measure batches` measures them all."""
