"""Limit of open files and connections of this process. Without Qt."""

from __future__ import annotations

from contextlib import suppress


def raised_limit(wanted: int) -> int:
    """Raise the limit to *wanted* as far as the system allows it; return the limit then."""
    try:
        import resource
    except ImportError:  # on Windows sockets are not files
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
