"""Instructions of the instructor station, with the `class console` lines that they send."""

from typing import Final

from app.words.language import mark

INSTRUCTIONS: Final[dict[str, tuple[str, str]]] = {
    mark("Send a message"): ("message {who} {text}", mark("Message (optionally start with “at 2:30”)")),
    mark("Inject a command"): (
        "inject {who} {text}",
        mark("A command such as power-off SERVER_A, or “at 2:30 power-off SERVER_A”"),
    ),
    mark("Freeze"): ("freeze {who}", ""),
    mark("Resume"): ("go {who}", ""),
    mark("Stop at"): ("freeze {who} at {text}", mark("Time in the run, such as 12:30")),
    mark("Add time"): (
        "extend {who} {text}",
        mark("Extra time, such as 5:00"),
    ),
    mark("Send back to an earlier time"): (
        "back {who} {text}",
        mark("Time in the run, such as 2:30, then a reason"),
    ),
    mark("Restart"): ("reset {who} {text}?", mark("Reason")),
    mark("Assign the selected seat to group"): ("group {seat} {text}", mark("Group name, or none")),
    mark("Mark this time"): ("mark {who} {text}", mark("Text of the mark (optionally start with “at 2:30”)")),
    mark("Break"): ("break {text}", mark("Minutes")),
    mark("Class clock"): (
        "clock {text}",
        mark("Simulated seconds per second, or “own” (each seat sets its own speed)"),
    ),
}
"""Label of an instruction -> its `class console` line and the prompt for its argument.

Without a prompt there is no argument. A line that ends in `?` has an optional argument.
"""
INSTRUCTIONS_AFTER_END: Final = frozenset({"Mark this time"})
"""Labels of instructions that have an effect after all runs have ended."""
