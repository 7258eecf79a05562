"""FOR XML in scripts that concatenate names or build tables for HTML mails."""

from __future__ import annotations

import pytest

from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import P, build_lab


def query_value(query: str) -> object:
    return submit_batch(build_lab(), P, query).value


TWO_DATABASES_CLAUSE = "FROM sys.databases WHERE database_id < 3 ORDER BY name"


@pytest.mark.parametrize(
    ("columns", "mode", "xml"),
    [
        ("',' + name", "PATH('')", ",master,tempdb"),
        ("name", "PATH('')", "<name>master</name><name>tempdb</name>"),
        ("name AS [data()]", "PATH('')", "master tempdb"),
        (
            "name, database_id AS n",
            "PATH",
            "<row><name>master</name><n>1</n></row><row><name>tempdb</name><n>2</n></row>",
        ),
        (
            "td = name, '', td = database_id",
            "PATH('tr'), TYPE",
            "<tr><td>master</td><td>1</td></tr><tr><td>tempdb</td><td>2</td></tr>",
        ),
        (
            "td = name, td = database_id",
            "PATH('tr'), ROOT('t')",
            "<t><tr><td>master1</td></tr><tr><td>tempdb2</td></tr></t>",
        ),
        (
            "database_id AS [@id], 'x' AS 'a/@k', name AS 'a/b'",
            "PATH('r')",
            '<r id="1"><a k="x"><b>master</b></a></r><r id="2"><a k="x"><b>tempdb</b></a></r>',
        ),
        ("NULL AS gone", "PATH('r')", "<r/><r/>"),
        ("database_id AS id", "RAW, ROOT", '<root><row id="1"/><row id="2"/></root>'),
    ],
)
def test_rows_become_elements_named_after_their_columns(columns: str, mode: str, xml: str) -> None:
    assert query_value(f"SELECT (SELECT {columns} {TWO_DATABASES_CLAUSE} FOR XML {mode})") == xml


def test_order_by_can_name_a_result_column() -> None:
    xml = query_value(
        "SELECT (SELECT name AS n FROM sys.databases WHERE database_id < 3 ORDER BY n DESC FOR XML PATH(''))"
    )
    assert xml == "<n>tempdb</n><n>master</n>"


def test_text_is_escaped_and_xml_is_not() -> None:
    assert query_value("SELECT (SELECT '<a&b>' FOR XML PATH(''))") == "&lt;a&amp;b&gt;"
    assert query_value("SELECT (SELECT '<a&b>' FOR XML PATH(''), TYPE).value('.', 'varchar(9)')") == "<a&b>"
    inner = "(SELECT 1 AS n FOR XML PATH('i'){})"
    outer = "SELECT (SELECT {} AS o FOR XML PATH(''))"
    assert query_value(outer.format(inner.format(", TYPE"))) == "<o><i><n>1</n></i></o>"
    assert query_value(outer.format(inner.format(""))) == "<o>&lt;i&gt;&lt;n&gt;1&lt;/n&gt;&lt;/i&gt;</o>"


def test_unsimulated_modes_are_refused() -> None:
    assert (
        submit_batch(build_lab(), P, "SELECT 1 AS Tag, NULL AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT")
        .texts[0]
        .startswith("Not simulated: FOR XML")
    )
