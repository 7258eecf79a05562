"""T-SQL that wishes us ill, each by a name that says how: at most 1 MB, answered by a message and stopped by cancel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

SIZE: Final = 1_000_000
Make = Callable[[], str]


def _full(piece: str) -> str:
    return piece * (SIZE // len(piece))


_VIEWS: Final = "".join(
    f"CREATE VIEW v{n} AS SELECT a.a FROM v{n - 1} a, v{n - 1} b\nGO\n" for n in range(1, 31)
)

BATCHES: Final[dict[str, Make]] = {
    # without end
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
    # too much
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
    "powers": lambda: (
        "SELECT POWER(10.0,300)*1e300, EXP(1e10), POWER(2,2000000000), POWER(99999999999,99999999)"
    ),
    "FORMAT and STR": lambda: "SELECT STR(1e300,2000000000,2000000000)",
    "3,000 cursors": lambda: "".join(
        f"DECLARE c{n} CURSOR FOR SELECT * FROM sys.messages OPEN c{n} " for n in range(3_000)
    ),
    "20,000 tables": lambda: "".join(f"CREATE TABLE #t{n} (a int)\n" for n in range(20_000)),
    "60,000 variables": lambda: "DECLARE " + ",".join(f"@v{n} int" for n in range(60_000)),
    "15,000 logins": lambda: "".join(f"CREATE LOGIN l{n} WITH PASSWORD='x'\n" for n in range(15_000)),
    # deep
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
    # long
    "a long IN": lambda: "SELECT 1 WHERE 1 IN (1" + ",1" * 400_000 + ")",
    "many columns": lambda: "SELECT 1" + ",1" * 400_000,
    "a long UNION": lambda: "SELECT 1" + " UNION ALL SELECT 1" * 50_000,
    "signs": lambda: _full("@#$%^&*"),
    "quotes": lambda: "'" * SIZE,
    "one open quote": lambda: "'" + "x" * (SIZE - 1),
    "open brackets": lambda: "[" * SIZE,
    "open comments": lambda: "/*" * 500_000,
    "comments in comments": lambda: "/*" * 200_000 + "*/" * 200_000,
    "dashes": lambda: "-" * SIZE,
    "keywords": lambda: _full("select "),
    "semicolons": lambda: ";" * SIZE,
    "PRINT after PRINT": lambda: _full("PRINT 1 "),
    "GO after GO": lambda: _full("GO\n"),
    "batch after batch": lambda: _full("PRINT 1\nGO\n"),
    "SELECT after SELECT": lambda: _full("SELECT 1\n"),
    "command after command": lambda: _full("ALTER DATABASE Sales SET PARTNER SUSPEND\n"),
    "spaces": lambda: "SELECT" + " " * (SIZE - 7) + "1",
    "lines": lambda: "SELECT" + "\n" * (SIZE - 7) + "1",
    "a long name": lambda: "SELECT " + "a" * (SIZE - 7),
    "a long number": lambda: "SELECT " + "9" * (SIZE - 7),
    "a number of 5,000 digits": lambda: "DECLARE @i int SET @i=" + "9" * 5_000,
    "a delay of 5,000 digits": lambda: "ALTER DATABASE Sales SET PARTNER TIMEOUT " + "9" * 5_000,
    "a long hexadecimal number": lambda: "SELECT 0x" + "f" * 900_000,
    "a long partner": lambda: "ALTER DATABASE Sales SET PARTNER = '" + "x" * 900_000 + "'",
    "spaces in a command": lambda: "ALTER DATABASE Sales SET " + " " * 900_000 + "PARTNER SUSPEND",
    "a long DBCC": lambda: "DBCC CHECKDB('" + "x" * 900_000 + "')",
    # out of the box
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
}
