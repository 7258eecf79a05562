"""Formatting of numbers, units and times as text.

It is free of Qt, so that reports use the same texts as the window.
"""

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from app.words import language
from app.words.language import mark, tr, trn
from engine import localization
from engine.constants import TICKS_PER_S
from engine.drill.judging.report_types import Calibration
from engine.tables import read_table

NO_VALUE: Final = "–"
"""Text for a missing value."""

_COMMA_LANGUAGES: Final = frozenset({language.GERMAN})
"""Languages that write 1.234,5 instead of 1,234.5."""
_SEPARATOR_SWAP: Final = str.maketrans(",.", ".,")

_MODE_NAMES: Final = {
    "guided": mark("guided"),
    "practice": mark("practice"),
    "exam": mark("exam"),
    "lab": mark("free play"),
}


def get_mode_name(name: str) -> str:
    """Return the display name of a drill mode."""
    return tr(_MODE_NAMES.get(name, name))


_FAILOVER_KIND_NAMES: Final = {
    "automatic": mark("automatic"),
    "manual": mark("manual"),
    "forced": mark("forced"),
    "role-move": mark("role move"),
}


def get_failover_kind_name(name: str) -> str:
    """Return the display name of a kind of failover."""
    return tr(_FAILOVER_KIND_NAMES.get(name, name))


def localize_number(text: str) -> str:
    """Convert a number such as 1,234.5, with or without a unit, to the form of the interface language.

    Use it for displayed text. Do not use it for T-SQL, input lines, results, files, or the clock of the
    servers.
    """
    return text.translate(_SEPARATOR_SWAP) if language.get_current_language() in _COMMA_LANGUAGES else text


def format_plain_number(value: float) -> str:
    """Format a number without needless digits and without thousands separators: 2.5, 12, 1234."""
    return localize_number(f"{value:g}")


def format_number(value: float | None, decimals: int = 0) -> str:
    """Format 1234.5 as 1,234, or as 1,234.5 with one decimal. Return NO_VALUE for None and for NaN or infinity."""
    if value is None or not math.isfinite(value):
        return NO_VALUE
    return localize_number(f"{value:,.{decimals}f}")


def format_significant(value: float | None, digits: int = 3, decimals_max: int = 9) -> str:
    """Format a number with about *digits* significant digits and without an exponent: 0.0123, 1.23, 12.3, 1,234."""
    if value is None or not math.isfinite(value):
        return NO_VALUE
    if value == 0.0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{min(decimals, decimals_max)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else localize_number(text)


def format_short_number(value: float | None) -> str:
    """Format like `format_significant`, but with at most two decimals, which are enough on screen."""
    return format_significant(value, decimals_max=2)


def format_kb(value: float | None) -> str:
    """Format a size in KB with a suitable unit: 720 KB, 1.46 MB, 40 GB (1 MB = 1,024 KB)."""
    if value is None or not math.isfinite(value):
        return NO_VALUE
    for unit in ("KB", "MB", "GB"):
        if abs(value) < 1024.0 or unit == "GB":
            break
        value /= 1024.0
    return f"{format_short_number(value)} {unit}"


ROUND_LIMITS_KB: Final[tuple[float, ...]] = tuple(
    1024.0 * s * 10.0**power for power in range(7) for s in (1, 2, 5)
)
"""Round upper limits of a scale of sizes, in KB."""


def compute_round_limit_kb(value: float) -> float:
    """Return the smallest round size in KB that is at least *value*, such as 1, 2, 5 or 10 MB."""
    return next((limit for limit in ROUND_LIMITS_KB if limit >= value), ROUND_LIMITS_KB[-1])


def format_kb_per_s(value: float | None) -> str:
    """Format a rate in KB/s or MB/s."""
    text = format_kb(value)
    return text if text == NO_VALUE else f"{text}/s"


def format_ms(value: float | None) -> str:
    """Format a duration in ms: 0.4 ms, 12 ms, 1.3 s."""
    if value is None or not math.isfinite(value):
        return NO_VALUE
    return (
        f"{format_significant(value, 2, decimals_max=2)} ms"
        if value < 1000.0
        else format_seconds(value / 1000.0)
    )


def format_seconds(value: float | None, decimals: int = 2) -> str:
    """Format a duration in seconds: 2.63 s, from one minute 1:05, from one hour 1:05:09."""
    if value is None or not math.isfinite(value):
        return NO_VALUE
    return localize_number(localization.format_duration(value, f".{decimals}f"))


def format_hms(value: float | None) -> str:
    """Format a duration as the Database Mirroring Monitor does: hh:mm:ss, rounded up to whole seconds."""
    if value is None or not math.isfinite(value):
        return NO_VALUE
    whole_seconds = math.ceil(value)
    return f"{whole_seconds // 3600:02}:{whole_seconds // 60 % 60:02}:{whole_seconds % 60:02}"


def format_percent(share: float | None, decimals: int = 1, shows_plus: bool = False) -> str:
    """Format 0.0345 as 3.5%. *shows_plus*: True to add the plus sign of a positive number."""
    if share is None or not math.isfinite(share):
        return NO_VALUE
    return (
        localize_number(f"{share * 100.0:{'+' if shows_plus else ''},.{decimals}f}") + format_percent_sign()
    )


def format_percent_sign() -> str:
    """Return the percent sign as the interface language appends it to a number: 3.5%, but 3,5 % in German."""
    return " %" if language.get_current_language() == language.GERMAN else "%"


def format_run_time(t_s: float, decimals: int = 0) -> str:
    """Format seconds since the start of the run for axes and lists: 0:41, 1:02:03, or 0:41.2 with one decimal."""
    return localize_number(localization.format_run_time(t_s, decimals))


def format_run_tick(tick: int) -> str:
    """Format a tick as the time of the run with one decimal: 1:05.2."""
    return format_run_time(tick / TICKS_PER_S, 1)


def format_server_time(start_time: str, tick: int, decimals: int = 2) -> str:
    """Format the clock of the simulated servers at *tick* as in the ERRORLOG: 2005-10-22 12:00:41.25.

    *start_time*: value of `Settings.start_time` (ISO 8601).
    """
    time = datetime.fromisoformat(start_time) + timedelta(seconds=tick / TICKS_PER_S)
    text = time.strftime("%Y-%m-%d %H:%M:%S")
    return f"{text}.{time.microsecond // 10 ** (6 - decimals):0{decimals}}" if decimals else text


def format_result_cell(value: object) -> str:
    """Format a value of a result set as Management Studio shows it in a grid."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(int(value))
        case bytes():
            return "0x" + value.hex().upper()
        case float():
            return f"{value:.15g}"
        case _:
            return str(value)


def format_tab_separated(rows: list[list[str]]) -> str:
    """Format rows for the clipboard. Cells with a tab, quote or line break are quoted, as spreadsheets expect."""
    return "\n".join("\t".join(_quote_cell(text) for text in row) for row in rows)


def _quote_cell(text: str) -> str:
    if any(mark in text for mark in '\t\n\r"'):
        return '"' + text.replace('"', '""') + '"'
    return text


def format_text_table(columns: list[str], rows: list[list[str]]) -> str:
    """Format rows under column names and dashes, as in "results to text"."""
    width = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    lines = [columns, ["-" * w for w in width], *rows]
    return "\n".join(
        " ".join(t.ljust(w) for t, w in zip(line, width, strict=True)).rstrip() for line in lines
    )


def format_brier(calibration: Calibration) -> str:
    """Format the Brier score, which measures the calibration of confidence in answers, as a sentence."""
    return tr(
        "Brier score {score} for {n}: 0 means always sure and correct, 0.25 means undecided every time."
    ).format(
        score=localize_number(f"{calibration['brier']:.2f}"),
        n=trn("{n} answer", "{n} answers", calibration["answers"]).format(n=calibration["answers"]),
    )


# --- units, and counters of the engine ------------------------------------------------------------------


class Unit(Struct, frozen=True):
    """Unit of values, with the function that formats a value as text."""

    name: str
    text: Callable[[float | None], str]
    next_unit_factor: float = 1000.0
    """Factor between this and the next larger unit (1,024 for KB), so that axis ticks are round numbers of both."""


KB: Final = Unit("KB", format_kb, 1024.0)
KB_PER_S: Final = Unit("KB/s", format_kb_per_s, 1024.0)
MS: Final = Unit("ms", format_ms)
SECONDS: Final = Unit("s", lambda value: format_ms(None if value is None else 1000.0 * value))
PER_S: Final = Unit("/s", lambda value: _append_unit(format_short_number(value), "/s"))
PERCENT: Final = Unit("%", lambda value: _append_unit(format_short_number(value), format_percent_sign()))
COUNT: Final = Unit("", format_short_number)


def _append_unit(number: str, unit: str) -> str:
    return number if number == NO_VALUE else number + unit


class Counter(Struct, frozen=True):
    """Counter with its title, its unit, and the minimum upper limit of its axis."""

    name: str
    title: str
    unit: Unit
    least_top: float
    help: str


_UNIT_BY_NAME: Final = {
    "KB": KB, "KB_PER_S": KB_PER_S, "MS": MS, "SECONDS": SECONDS, "PER_S": PER_S, "PERCENT": PERCENT, "COUNT": COUNT,
}  # fmt: skip
_COUNTER_ROWS: Final = read_table("app.words", "counters.tsv")
COUNTERS: Final = {
    row["name"]: Counter(
        row["name"], row["title"], _UNIT_BY_NAME[row["unit"]], float(row["least_top"]), row["help"]
    )
    for row in _COUNTER_ROWS
}
"""Name -> counter, for every counter of the engine (ensured by a test), in the order of display."""

AG_COUNTER_TITLES: Final = {row["name"]: row["of_groups"] for row in _COUNTER_ROWS if row["of_groups"]}
"""Name of a counter -> its title for replicas of availability groups, if it differs."""


def build_counter(name: str, of_groups: bool) -> Counter:
    """Return the counter *name*.

    *of_groups*: True to use the title that the counter has for availability group replicas.
    """
    known_counter = COUNTERS[name]
    return (
        replace(known_counter, title=AG_COUNTER_TITLES[name])
        if of_groups and name in AG_COUNTER_TITLES
        else known_counter
    )


COPY_COUNTERS: Final = (
    "send_queue_kb", "redo_queue_kb", "commit_delay_ms", "log_send_kb_per_s", "redo_kb_per_s", "unhardened_kb",
    "sends_per_s", "mirror_cpu_percent", "mirror_data_writes_kb_per_s", "mirror_dirty_pages",
)  # fmt: skip
"""Counters that require a second copy of the database, which a failover cluster instance does not have."""

DEFAULT_COUNTERS_WITHOUT_COPY: Final = (
    "transactions_per_s", "response_s", "log_generation_kb_per_s", "log_since_checkpoint_kb",
)  # fmt: skip
"""Counters that charts show by default if no database has a second copy."""

DEFAULT_COUNTERS: Final = ("send_queue_kb", "redo_queue_kb", "transactions_per_s", "commit_delay_ms")
"""Counters that charts show by default. They show the health of mirroring."""
