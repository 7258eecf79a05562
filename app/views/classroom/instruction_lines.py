"""Instructions that the station offers, with their lines of `class console`."""

from typing import Final

from app.words.language import mark

ASKED: Final[dict[str, tuple[str, str]]] = {
    mark("Send a message"): ("message {who} {text}", mark("Message (optionally start with “at 2:30”)")),
    mark("Inject"): (
        "inject {who} {text}",
        mark("A command such as power-off SERVER_A, or “at 2:30 power-off SERVER_A”"),
    ),
    mark("Freeze"): ("freeze {who}", ""),
    mark("Resume"): ("go {who}", ""),
    mark("Stop at"): ("freeze {who} at {text}", mark("Run time, such as 12:30")),
    mark("More time"): (
        "extend {who} {text}",
        mark("Extra time, such as 5:00"),
    ),
    mark("Send back to"): ("back {who} {text}", mark("Run time such as 2:30, then a reason")),
    mark("Restart"): ("reset {who} {text}?", mark("Why")),
    mark("Assign the selected seat to group"): ("group {seat} {text}", mark("Group name, or none")),
    mark("Mark this time"): ("mark {who} {text}", mark("Text of the mark (optionally start with “at 2:30”)")),
    mark("Break"): ("break {text}", mark("Minutes")),
    mark("Class clock"): (
        "clock {text}",
        mark("Simulated seconds per second, or “own” (each seat sets its own speed)"),
    ),
}
"""Name of a command -> its line of `class console`, and a prompt for the argument (empty: none; ?: optional)."""
AFTER_END: Final = frozenset({"Mark this time"})
"""Names of commands that have an effect after all runs have ended."""
