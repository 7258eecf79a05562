"""Generator of the error numbers in reference solutions of shipped drills, for the search of the start page.

`python -m tests.error_numbers` renews assets/error_numbers.json and assets/summaries.json. With `--summaries`
it renews only the second file, which takes seconds.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from app.files import scenario_files, summary_cache
from app.files.scenario_summary import CACHE_FILE_NAME
from engine.drill.authoring.scenario import Scenario
from engine.drill.judging.report import get_program_version
from engine.drill.running.solution import play_reference
from tests.events import read_field

FILE = Path(__file__).parents[1] / "assets" / "error_numbers.json"


def find_error_numbers(scenario: Scenario) -> list[int]:
    """Return the error numbers in the error logs and batch messages of the reference solution, in ascending
    order.
    """
    drill = play_reference(scenario)
    numbers = {read_field(event, "number") for event in drill.events if event.kind == "errorlog"}
    for batch in drill.build_report()["sql"]:
        numbers |= {message["number"] for message in batch["messages"]}
    return sorted(number for number in numbers if number)


def build_summaries() -> str:
    """Return the text of the summaries that the program ships."""
    shipped = [file for file in scenario_files.list_all_files()[0] if file.shipped]
    version = get_program_version()
    return summary_cache.format_cache(
        {
            summary_cache.compute_cache_key(file, version): summary_cache.build_summary(file.load(), True)
            for file in shipped
        }
    )


def main() -> None:
    drills = [file for file in scenario_files.list_all_files()[0] if file.shipped]
    if "--summaries" not in sys.argv:
        rows = [
            f"  {json.dumps(file.name)}: {json.dumps(find_error_numbers(file.load()))}" for file in drills
        ]
        FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
        summary_cache.read_error_numbers.cache_clear()
    FILE.with_name(CACHE_FILE_NAME).write_text(build_summaries(), encoding="utf-8")


if __name__ == "__main__":
    main()
