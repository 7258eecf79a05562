"""Work over the processors of this computer or the workers of a Dask cluster."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, ExitStack

from app.cli.terms import Unusable


def add_on(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--on", default="local", metavar="local|dask://HOST:PORT", help="this computer, or a Dask cluster"
    )


def cluster(on: str) -> AbstractContextManager[object]:
    """While it is open, joblib gives its work to the Dask scheduler at *on*; nothing for `local`."""
    stack = ExitStack()
    if on == "local":
        from joblib.externals.loky import get_reusable_executor

        # Else its processes and thread stay. What it has not done by now nobody waits for.
        stack.callback(lambda: get_reusable_executor().shutdown(kill_workers=True))
        return stack
    scheme, _, place = on.partition("://")
    if scheme != "dask" or not place:
        raise Unusable(f"--on {on} is neither local nor dask://HOST:PORT")
    try:
        from distributed import Client
    except ImportError as error:
        raise Unusable(
            "--on dask:// needs the package distributed: pip install mirrordrill[cluster]"
        ) from error
    from joblib import parallel_config

    try:
        client = stack.enter_context(Client(f"tcp://{place}", timeout=10))
    except OSError as error:
        raise Unusable(f"no Dask scheduler answers at {place}: {error}") from error
    stack.enter_context(parallel_config(backend="dask", client=client))
    return stack
