"""Error numbers in the reference solution of each shipped drill, for the search of the start page.

`python -m tests.error_numbers` renews assets/error_numbers.json.
"""

from __future__ import annotations

import json
from pathlib import Path

from app.files import scenario_files
from engine.drill.authoring.scenario import Scenario
from engine.drill.running.solution import play_reference
from tests.events import read_field

FILE = Path(__file__).parents[1] / "assets" / "error_numbers.json"


def error_numbers(scenario: Scenario) -> list[int]:
    """Return the numbers in the error logs and in the answers to batches, in ascending order."""
    drill = play_reference(scenario)
    numbers = {read_field(event, "number") for event in drill.events if event.kind == "errorlog"}
    for batch in drill.report()["sql"]:
        numbers |= {message["number"] for message in batch["messages"]}
    return sorted(number for number in numbers if number)


def main() -> None:
    drills = [file for file in scenario_files.all_files()[0] if file.shipped]
    rows = [f"  {json.dumps(file.name)}: {json.dumps(error_numbers(file.load()))}" for file in drills]
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
