"""Reader for tables in text files next to the code.

The first line names the columns; "~" marks columns with translated texts. Before it, there may be one
comment line, which begins with "# ".
"""

from importlib import resources


def read_table(package: str, name: str) -> list[dict[str, str]]:
    """Return the rows of a table by column name. Missing cells at the end of a line are empty."""
    text = resources.files(package).joinpath(name).read_text(encoding="utf-8")
    rows = text.splitlines()
    head, *lines = (line.split("\t") for line in (rows[1:] if rows[0].startswith("# ") else rows))
    columns = [column.lstrip("~") for column in head]
    return [dict.fromkeys(columns, "") | dict(zip(columns, line, strict=False)) for line in lines]
