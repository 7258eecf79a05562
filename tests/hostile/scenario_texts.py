"""Hostile scenario files by name. Each is refused with messages or is harmless."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.engine.drill.texts import WORLD_TEXT

SERVER_B_LINK: Final = '\n[[link]]\nends = ["SERVER_A", "SERVER_B"]\n'


def _insert_text(mark: str, extra: str) -> str:
    """Return the small scenario with *extra* inserted after the first *mark*."""
    assert mark in WORLD_TEXT
    return WORLD_TEXT.replace(mark, mark + extra, 1)


def _build_goal_text(condition: str) -> str:
    return f"{WORLD_TEXT}\n[[goal]]\nname = 'g'\ntext = 't'\nwhen = '''{condition}'''\n"


def _build_timeline(line: str) -> str:
    return f"{WORLD_TEXT}\n[[timeline]]\nat = 5\ndo = '''{line}'''\n"


TextBuilder = Callable[[], str]

REFUSED_TEXTS: Final[dict[str, TextBuilder]] = {
    "lists open without end": lambda: WORLD_TEXT + "\nx = " + "[" * 200_000,
    "lists in lists": lambda: WORLD_TEXT + "\nx = " + "[" * 300 + "]" * 300,
    "inline tables in inline tables": lambda: WORLD_TEXT + "\nx = " + "{a=" * 3_000 + "1" + "}" * 3_000,
    "a key of 100,000 dots": lambda: "a." * 100_000 + "b = 1\n",
    "a header of 100,000 dots": lambda: "[" + "a." * 100_000 + "b]\n",
    "700 ever deeper headers": lambda: "\n".join("[" + ".".join(["a"] * n) + "]" for n in range(1, 700)),
    "90,000 keys": lambda: "".join(f"k{n}=1\n" for n in range(90_000)),
    "60,000 tables": lambda: WORLD_TEXT + "".join(f"\n[a{n}]" for n in range(60_000)),
    "70,000 servers": lambda: "[[server]]\n" * 70_000,
    "250,000 empty tables": lambda: "server = [" + "{}," * 250_000 + "]",
    "900,000 digits": lambda: "minutes = " + "9" * 900_000 + "\n",
    "900,000 hexadecimal digits": lambda: "minutes = 0x" + "f" * 900_000 + "\n",
    "5,000 digits": lambda: WORLD_TEXT.replace("minutes = 5", "minutes = " + "9" * 5_000),
    "a title of 900,000 characters": lambda: WORLD_TEXT.replace("Small", "a" * 900_000),
    "400,000 backslashes": lambda: WORLD_TEXT.replace("Small", "\\\\" * 400_000),
    "many quotes in a long text": lambda: 'title = """' + '""\\n' * 200_000 + '"""\n',
    "nothing but spaces": lambda: " " * 900_000,
    "nothing but lines": lambda: "\n" * 900_000,
    "nothing but comments": lambda: "#\n" * 450_000,
    "larger than any": lambda: "#" * 1_000_001,
    "the same key twice": lambda: "title = 'other'\n" + WORLD_TEXT,
    "the same table twice": lambda: WORLD_TEXT + "\n[settings]\n[settings]\n",
    "a delay that is not a number": lambda: WORLD_TEXT + SERVER_B_LINK + "rtt_ms = nan\n",
    "an endless bandwidth": lambda: WORLD_TEXT + SERVER_B_LINK + "bandwidth_mbps = inf\n",
    "hardly any bandwidth": lambda: WORLD_TEXT + SERVER_B_LINK + "bandwidth_mbps = 1e-300\n",
    "all packets lost": lambda: WORLD_TEXT + SERVER_B_LINK + "loss = 1.0\n",
    "hardly a packet arrives": lambda: WORLD_TEXT + SERVER_B_LINK + "loss = 0.999999999\n",
    "a delay of hours": lambda: WORLD_TEXT + SERVER_B_LINK + "rtt_ms = 1e9\n",
    "a length that is not a number": lambda: WORLD_TEXT.replace('length = "5min"', "length = nan"),
    "an endless length": lambda: WORLD_TEXT.replace('length = "5min"', "length = inf"),
    "a negative length": lambda: WORLD_TEXT.replace('length = "5min"', "length = -1"),
    "a huge database": lambda: _insert_text("[[database]]\n", "size_mb = 1e300\n"),
    "a database that is not a number": lambda: _insert_text("[[database]]\n", "size_mb = nan\n"),
    "an endless log": lambda: _insert_text("[[database]]\n", "log_max_mb = inf\n"),
    "a log of no size": lambda: _insert_text("[[database]]\n", "log_size_mb = 1e-300\n"),
    "an absurd workload": lambda: _insert_text("[[database]]\n", "scale = 1e18\n"),
    "300,000 trace flags": lambda: _insert_text("[[server]]\n", "trace_flags = [" + "1," * 300_000 + "]\n"),
    "20,000 blocked ports": lambda: _insert_text("[[server]]\n", "blocked_ports = [" + "1," * 20_000 + "]\n"),
    "a trace flag of 400 digits": lambda: _insert_text("[[server]]\n", "trace_flags = [" + "9" * 400 + "]\n"),
    "too many databases in all": lambda: (
        WORLD_TEXT + "".join(f'\n[[database]]\nname = "D{n:03d}x1"\ncount = 500\n' for n in range(100))
    ),
    "a NUL, escaped": lambda: WORLD_TEXT.replace("Small", "Sm\\u0000all"),
    "a NUL, raw": lambda: WORLD_TEXT.replace("Small", "Sm\0all"),
    "a key of 90,000 signs": lambda: f'"{"k" * 90_000}" = 1\n' + WORLD_TEXT,
    "a key turned round": lambda: '"\u202ek\\u0000" = 1\n' + WORLD_TEXT,
    "a key turned round in a table": lambda: WORLD_TEXT + '\n[["\u202ek"."\u2066"]]\nx = 1\n',
    "a name of 90,000 signs": lambda: f'name = "{"n" * 90_000}"\n' + WORLD_TEXT,
    "text turned round": lambda: WORLD_TEXT.replace("Small", "Sm\u202eall"),
    "half a character": lambda: WORLD_TEXT.replace("Small", "\\ud800"),
    "a space of no width": lambda: WORLD_TEXT.replace("Small", "Sm\u200ball"),
    "an Arabic letter mark": lambda: WORLD_TEXT.replace("Small", "Sm\u061call"),
    "a control of the second set": lambda: WORLD_TEXT.replace("Small", "Sm\u009ball"),
    "a line separator": lambda: WORLD_TEXT.replace("Small", "Sm\u2028all"),
    "an invisible tag": lambda: WORLD_TEXT.replace("Small", "Sm\U000e0041all"),
    "text turned round in an input line": lambda: _build_timeline("note a\u202eb"),
    "text turned round in a condition": lambda: _build_goal_text('ran "a\u202eb"'),
    "a date for a number": lambda: _insert_text("[[server]]\n", "cores = 1979-05-27\n"),
    "a name that climbs out": lambda: 'name = "../../etc/passwd"\n' + WORLD_TEXT,
    "a database name that climbs out": lambda: WORLD_TEXT.replace('"Sales"', '"../../x"'),
    "a database name with a quote": lambda: WORLD_TEXT.replace('"Sales"', '"a`b"'),
    "a server name with a line end": lambda: WORLD_TEXT.replace('"SERVER_A"', '"SERVER_A\\n"'),
    "a moment that never was": lambda: WORLD_TEXT + '\n[settings]\nstart_time = "9999-99-99T99:99:99"\n',
    "the end of the calendar": lambda: WORLD_TEXT + '\n[settings]\nstart_time = "9999-12-31T23:59:59"\n',
    "the year nought": lambda: WORLD_TEXT + '\n[settings]\nstart_time = "0000-01-01T00:00:00"\n',
    "a condition of brackets": lambda: _build_goal_text("(" * 290 + "Sales is SYNCHRONIZED" + ")" * 280),
    "a condition that is too long": lambda: _build_goal_text("not " * 1_000 + "Sales is SYNCHRONIZED"),
    "an absurd delay in an input line": lambda: _build_timeline("degrade SERVER_A SERVER_B rtt_ms=1e11"),
    "hardly any bandwidth in an input line": lambda: _build_timeline(
        "degrade SERVER_A SERVER_B bandwidth_mbps=1e-9"
    ),
    "a delay that is not a number in a line": lambda: _build_timeline("degrade SERVER_A SERVER_B rtt_ms=nan"),
    "an absurd factor in an input line": lambda: _build_timeline("slow-disk SERVER_A log factor=1e11"),
    "an absurd workload in an input line": lambda: _build_timeline("workload Sales Workload1 scale=1e11"),
    "absurdly many rows": lambda: _build_timeline("bulk-load Sales rows=1e12 batch_rows=0"),
    "code in a text": lambda: WORLD_TEXT + "\n__import__('os').system('true')\n",
}

HARMLESS_TEXTS: Final[dict[str, TextBuilder]] = {
    "300 brackets": lambda: _build_goal_text("(" * 280 + "Sales is SYNCHRONIZED" + ")" * 280),
    "140 times not": lambda: _build_goal_text("not " * 140 + "Sales is SYNCHRONIZED"),
    "a number of 500 digits": lambda: _build_goal_text("downtime_s(Sales) < " + "9" * 500),
    "an error of 500 digits": lambda: _build_goal_text("error " + "9" * 500),
    "a database called CON": lambda: WORLD_TEXT.replace("Sales", "CON"),
    "markup in a brief": lambda: WORLD_TEXT.replace(
        "will lose", "<img src='http://example.com/x.png'> will lose"
    ),
    "the longest delay": lambda: WORLD_TEXT + SERVER_B_LINK + "rtt_ms = 10000\njitter_ms = 10000\n",
    "the largest workload": lambda: WORLD_TEXT.replace(
        'workload = "Workload1"', 'workload = "Workload1"\nscale = 1000'
    ),
}
"""Unusual but valid files: they load and run."""
