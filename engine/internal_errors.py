"""Message for an unexpected exception. The exception ends one statement or command, but never the run."""

from typing import Final

INTERNAL_ERROR_PREFIX: Final = "internal error"
"""Beginning of the message for an unexpected exception. Tests fail if they find it in a message."""


def describe_internal_error(problem: Exception) -> str:
    """Return a message with the class of the exception and the innermost engine function that failed."""
    location, step = "", problem.__traceback__
    while step is not None:
        module = str(step.tb_frame.f_globals.get("__name__", ""))
        if module.startswith("engine."):
            location = f" in {module}.{step.tb_frame.f_code.co_name}"
        step = step.tb_next
    return f"{INTERNAL_ERROR_PREFIX} {type(problem).__name__}{location}"
