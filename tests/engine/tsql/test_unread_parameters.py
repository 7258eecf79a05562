"""Parameters of procedures: the procedure uses each parameter, or a list has its values without effect."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import engine.tsql
from engine.tsql.procedures import PROCEDURES_BY_NAME
from engine.tsql.procedures.call import read_ignored_parameters
from tests.engine.availability.worlds import build_ag_lab
from tests.engine.tsql.console import submit_batch

FOLDER = Path(engine.tsql.__file__).parent
SIGNATURE = re.compile(r'"@[^"]*@[^"]*"|"""@[^"]*"""')


def test_each_parameter_is_read_or_listed() -> None:
    text = "".join(
        SIGNATURE.sub("", file.read_text(encoding="utf-8"))
        for part in ("procedures", "batches", "clients")
        for file in (FOLDER / part).glob("*.py")
    )
    queries = (FOLDER / "procedures" / "queries.sql").read_text(encoding="utf-8")
    read = {*re.findall(r"""(@\w+)["']""", text), *re.findall(r"@\w+", queries)}
    unread = {
        (name, parameter)
        for name, procedure in PROCEDURES_BY_NAME.items()
        for parameter in procedure.parameters
        if parameter not in read
    }
    assert unread - read_ignored_parameters().keys() == set()
    assert {name for name, _ in read_ignored_parameters()} <= PROCEDURES_BY_NAME.keys()


JOB = "EXEC msdb.dbo.sp_add_job 'J'; EXEC msdb.dbo.sp_add_jobserver @job_name = 'J', "
STEP = "EXEC msdb.dbo.sp_add_job 'J'; EXEC msdb.dbo.sp_add_jobstep @job_name = 'J', @step_name = 's', "


@pytest.mark.parametrize(
    ("statement", "refused"),
    [
        (STEP + "@command = 'x', @os_run_priority = 15", True),
        (STEP + "@command = 'x', @os_run_priority = 0, @database_user_name = ''", False),
        (STEP + "@command = 'x', @cmdexec_success_code = 3", True),
        ("EXEC sp_addlinkedserver 'NODE_2', @srvproduct = 'SQL Server'", False),
        ("EXEC sp_addlinkedserver 'NODE_2', '', 'SQLNCLI', @datasrc = 'NODE_2'", False),
        ("EXEC sp_addlinkedserver 'L', '', 'SQLNCLI', @datasrc = 'NODE_2'", True),
        ("EXEC sp_addlinkedserver 'NODE_2', '', 'MSDASQL'", True),
        (JOB + "@server_name = '(LOCAL)'", False),
        (JOB + "@server_name = 'NODE_1'", False),
        (JOB + "@server_name = 'NODE_2'", True),
        ("EXEC sp_columns 't', @fusepattern = 0", True),
        ("EXEC sp_columns 't', @fusepattern = 1", False),
    ],
)  # fmt: skip
def test_a_value_with_an_unsimulated_effect_is_refused(statement: str, refused: bool) -> None:
    answer = submit_batch(build_ag_lab(version=2019), "NODE_1", statement, 2)
    assert any("Not simulated" in text for text in answer.texts) is refused, answer.texts
