"""Text for an exception that no rule foresees. It ends one statement or command, never the run of a drill."""

from typing import Final

INTERNAL_ERROR: Final = "internal error"
"""Begin of the text. Tests fail on it."""


def describe_internal_error(problem: Exception) -> str:
    """Return a text with the kind of the exception and the innermost function of the engine that failed."""
    location, step = "", problem.__traceback__
    while step is not None:
        module = str(step.tb_frame.f_globals.get("__name__", ""))
        if module.startswith("engine."):
            location = f" in {module}.{step.tb_frame.f_code.co_name}"
        step = step.tb_next
    return f"{INTERNAL_ERROR} {type(problem).__name__}{location}"
