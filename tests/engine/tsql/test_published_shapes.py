"""Common patterns in mirroring scripts: queries, dynamic SQL, loops."""

from __future__ import annotations

from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import P, build_lab


def test_a_loop_that_deletes_the_first_row_ends() -> None:
    text = """CREATE TABLE #left (name sysname); INSERT #left SELECT 'a' UNION ALL SELECT 'b'; DECLARE @name sysname
        WHILE EXISTS (SELECT * FROM #left)
        BEGIN SELECT TOP 1 @name = name FROM #left; PRINT @name; DELETE TOP (1) FROM #left END"""
    assert [line for line in submit_batch(build_lab(), P, text).texts if "affected" not in line] == ["a", "b"]


def test_top_100_percent_returns_all_rows_and_other_shares_round_up() -> None:
    everything = submit_batch(
        build_lab(), P, "SELECT TOP 100 PERCENT name FROM sys.databases ORDER BY name"
    ).grids[0]
    assert len(everything) == 5
    assert len(submit_batch(build_lab(), P, "SELECT TOP 50 PERCENT name FROM sys.databases").grids[0]) == 3


def test_a_login_name_is_found_by_its_sid() -> None:
    world = build_lab()
    submit_batch(world, P, "CREATE LOGIN app WITH PASSWORD = 'Pa55!!'")
    query = "SELECT SUSER_SNAME(0x01), SUSER_NAME(1), SUSER_SNAME(SUSER_SID('app')), SUSER_SNAME(0x77), SUSER_SNAME()"
    assert submit_batch(world, P, query).grids == [[["sa", "sa", "app", None, "CORP\\dba"]]]


def test_a_connection_finds_itself_with_its_first_batch() -> None:
    for view, column in (("sys.dm_exec_connections", "session_id"), ("master.dbo.sysprocesses", "spid")):
        assert (
            submit_batch(build_lab(), P, f"SELECT {column} FROM {view} WHERE {column} = @@SPID").value == 51
        )


def test_a_table_in_a_missing_database_is_an_invalid_name() -> None:
    for text in ("SELECT * FROM DBA.dbo.History", "INSERT INTO DBA.dbo.History SELECT 1"):
        assert submit_batch(build_lab(), P, text).numbers == [208]


def test_the_file_list_of_a_backup_fits_the_table_of_scripts() -> None:
    """The list has 21 columns from 2008 on; scripts use mainly name, path and type."""
    world = build_lab(workload="none")
    world.update_instance(P, version=2008)
    submit_batch(world, P, r"BACKUP DATABASE Sales TO DISK = 'D:\Sales.bak'", wait_s=3600)
    columns = ", ".join(f"c{number} sql_variant" for number in range(21))
    text = rf"""CREATE TABLE #files ({columns})
        INSERT #files EXEC ('RESTORE FILELISTONLY FROM DISK = ''D:\Sales.bak''')
        SELECT c0, c1, c2 FROM #files"""
    assert submit_batch(world, P, text).grids == [
        [["Sales", r"D:\Data\Sales.mdf", "D"], ["Sales_log", r"L:\Log\Sales_log.ldf", "L"]]
    ]
    world.update_instance(P, version=2005)
    assert submit_batch(world, P, text.replace("#files", "#older")).numbers == [213]


def test_the_backup_header_grows_with_the_version() -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, r"BACKUP LOG Sales TO DISK = 'D:\Sales.trn'", wait_s=60)
    for version, count in ((2005, 51), (2008, 52), (2012, 53), (2014, 56)):
        world.update_instance(P, version=version)
        answer = submit_batch(world, P, r"RESTORE HEADERONLY FROM DISK = 'D:\Sales.trn'")
        (row,) = answer.grids[0]
        named = dict(zip(answer.columns[0], row, strict=True))
        assert (len(row), named["BackupType"], named["DatabaseName"]) == (count, 2, "Sales")


def test_procedures_and_views_agree_on_the_free_space_of_drives() -> None:
    world = build_lab()
    world.update_instance(P, version=2017)
    (listed,) = submit_batch(world, P, "EXEC xp_fixeddrives").grids
    query = "SELECT LEFT({}, 1), {} / 1048576 FROM "
    stats = (
        query.format("volume_mount_point", "available_bytes") + "sys.dm_os_volume_stats(DB_ID('Sales'), 1)"
    )
    assert [row[0] for row in listed] == ["C", "D", "L"]
    assert submit_batch(world, P, stats).grids[0][0] in listed
    drives = query.format("fixed_drive_path", "free_space_in_bytes") + "sys.dm_os_enumerate_fixed_drives"
    assert submit_batch(world, P, drives).grids == [listed]


def test_a_view_of_another_database_describes_that_database() -> None:
    world = build_lab()
    world.update_instance(P, version=2012)
    assert submit_batch(world, P, "SELECT name FROM Sales.sys.database_files").grids == [
        [["Sales"], ["Sales_log"]]
    ]
    usage = "SELECT DB_NAME(database_id) FROM {}sys.dm_db_log_space_usage"
    assert [submit_batch(world, P, usage.format(db)).value for db in ("", "msdb.", "Sales.")] == [
        "master",
        "msdb",
        "Sales",
    ]
    submit_batch(world, P, "CREATE TABLE master.dbo.History (n int)")
    assert submit_batch(world, P, "USE msdb SELECT name FROM master.sys.tables").value == "History"
    assert submit_batch(
        world, P, "USE msdb SELECT name FROM sys.tables WHERE is_ms_shipped = 0", wait_s=1
    ).grids == [[]]


def test_log_space_usage_exists_since_2012() -> None:
    assert submit_batch(build_lab(), P, "SELECT * FROM sys.dm_db_log_space_usage").numbers == [208]


def test_mail_profiles_are_empty_so_that_scripts_create_one() -> None:
    text = """IF NOT EXISTS (SELECT 1 FROM msdb.dbo.sysmail_profile) EXEC msdb.dbo.sysmail_add_profile_sp 'DBA'
        SELECT name FROM msdb.dbo.sysmail_profile"""
    world = build_lab()
    for _ in range(2):  # the second time the object exists
        assert submit_batch(world, P, text).value == "DBA"


def test_settings_of_system_databases_are_reported_as_without_effect() -> None:
    answer = submit_batch(build_lab(), P, "ALTER DATABASE msdb SET ENABLE_BROKER")
    assert answer.texts == ["Not simulated: ALTER DATABASE … SET ENABLE_BROKER of a system database"]


def test_an_operator_has_pager_hours_per_day() -> None:
    text = "EXEC msdb.dbo.sp_add_operator @name = 'dba', @saturday_pager_start_time = 90000, @sunday_pager_end_time = 1"
    assert submit_batch(
        build_lab(),
        P,
        f"{text} SELECT name, enabled, sunday_pager_end_time, weekday_pager_end_time "
        "FROM msdb.dbo.sysoperators",
    ).grids == [[["dba", 1, 1, 180000]]]


def test_a_failed_initial_value_leaves_no_variable_undeclared() -> None:
    world = build_lab()
    world.update_instance(P, version=2008)
    answer = submit_batch(world, P, "DECLARE @a varchar(9) = LEFT('x', -1), @b int = 2\nSELECT @a, @b")
    assert (answer.numbers, answer.grids) == ([537], [[[None, None]]])


def test_existing_mail_and_agent_procedures_are_not_unknown() -> None:
    for name in ("sysmail_help_status_sp", "sp_help_jobschedule", "sp_manage_jobs_by_login"):
        assert submit_batch(build_lab(), P, f"EXEC msdb.dbo.{name}").texts == [
            f"Not simulated: procedure msdb.dbo.{name}"
        ]


def test_a_common_table_expression_feeds_an_insert() -> None:
    text = """CREATE TABLE #t (name sysname NOT NULL)
        ;WITH mine AS (SELECT name FROM sys.databases WHERE database_id > 4), all_of_it AS (SELECT * FROM mine)
        INSERT INTO #t SELECT name FROM all_of_it SELECT * FROM #t"""
    assert submit_batch(build_lab(), P, text).grids == [[["Sales"]]]


def test_changes_to_agent_tables_are_refused() -> None:
    answer = submit_batch(build_lab(), P, "UPDATE msdb.dbo.sysjobs SET enabled = 0")
    assert answer.texts == ["Not simulated: direct changes to msdb.dbo.sysjobs, without its procedures"]
    assert submit_batch(build_lab(), P, "DELETE FROM sys.databases").numbers == [259]


def test_parse_only_text_is_not_run() -> None:
    for option in ("NOEXEC", "PARSEONLY"):
        assert submit_batch(
            build_lab(), P, f"SET {option} ON PRINT 'no' SET {option} OFF PRINT 'yes'"
        ).texts == ["yes"]


def test_a_text_can_be_concatenated_from_hundreds_of_parts() -> None:
    """Scripts build dynamic SQL in this way; SQLite would refuse an expression nested as deeply."""
    text = " + ".join(["CAST(1 AS varchar(5))"] * 300)
    reply = submit_batch(build_lab(), P, f"SELECT LEN({text}), 'a' + 'b' + NULL, 1 + (2 + 3) + '4'", wait_s=1)
    assert reply.grids == [[[300, None, 10]]]


def test_later_functions_are_unknown_and_unsimulated_ones_are_named() -> None:
    world = build_lab()
    world.update_instance(P, version=2014)
    assert submit_batch(world, P, "SELECT SESSION_CONTEXT(N'a')").numbers == [195]
    world.update_instance(P, version=2016)
    assert submit_batch(world, P, "SELECT SESSION_CONTEXT(N'a')").texts == [
        "Not simulated: the function session_context"
    ]
    assert submit_batch(world, P, "SELECT TYPEPROPERTY('int', 'Precision')").texts == [
        "Not simulated: the function typeproperty"
    ]


def test_a_misspelled_from_after_a_star_is_the_syntax_error() -> None:
    (message_text,) = submit_batch(build_lab(), P, "SELECT * FORM sys.databases").texts
    assert message_text.endswith("Incorrect syntax near 'FORM'.")
    (message_text,) = submit_batch(build_lab(), P, "SELECT 2 * 3 FORM sys.databases").texts
    assert message_text.endswith("Incorrect syntax near 'sys'."), "a product may have that name"
