"""Random batches: each gets a message as answer, without an exception, a hang or an unreported change of the
world.
"""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings, strategies

from engine import tsql
from tests.engine.tsql.console import collect_answers, run_seconds
from tests.engine.tsql.random_queries import find_internal_errors
from tests.engine.worlds import build_lab
from tests.events import read_field

_TEXT = """
SELECT FROM WHERE ALTER DATABASE Sales SET PARTNER FAILOVER OFF WITNESS = 'TCP://SERVER_B:5022' SAFETY FULL
TIMEOUT 10 ( ) , ; . * + - / % @x @@ERROR @t #t N'x' [a] "b" 1 2.5 0x1F NULL DECLARE int varchar(10) TABLE IF
ELSE BEGIN END WHILE TRY CATCH PRINT RETURN EXEC sp_executesql sp_helpdb RAISERROR THROW WAITFOR DELAY
'00:00:01' CREATE ENDPOINT LOGIN AS TCP LISTENER_PORT BACKUP LOG TO DISK RESTORE WITH NORECOVERY USE master GO
CASE WHEN THEN CURSOR FOR OPEN FETCH NEXT INTO CLOSE DEALLOCATE INSERT UPDATE DELETE VALUES sys.databases
sys.database_mirroring name AND OR NOT IN LIKE '%' EXISTS UNION ALL TOP ORDER BY GROUP HAVING COUNT(*)
GETDATE() CONVERT CAST DATEADD day -- /* */ : label: GOTO GRANT CONNECT ON :: BREAK CONTINUE COMMIT ROLLBACK
TRAN DBCC SHUTDOWN RECONFIGURE $(x) :setvar '
"""
WORDS = _TEXT.split()

token_soup = strategies.lists(strategies.sampled_from(WORDS), max_size=30).map(" ".join)
texts = strategies.text(max_size=80)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(strategies.one_of(token_soup, texts))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    world = build_lab(workload="none")
    for answer in collect_answers(world, "SERVER_A", text, wait_s=2):
        assert read_field(answer.event, "messages")
    tsql.cancel_batches(world, "SERVER_A")
    run_seconds(world, 0)
    assert "SERVER_A" not in world.batches
    assert tsql.check_syntax(text)
    tsql.list_candidates(world, "SERVER_A", text, len(text))


@settings(max_examples=100, deadline=None)
@given(token_soup, strategies.integers(0, 200))
def test_completion_never_fails(text: str, position: int) -> None:
    world = build_lab(workload="none")
    for word in tsql.list_candidates(world, "SERVER_A", text, min(position, len(text))):
        assert word


def test_random_queries_cause_no_internal_error() -> None:
    assert find_internal_errors(count=150, seed=1) == []
