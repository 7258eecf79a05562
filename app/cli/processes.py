"""Distribution of work over the processors of this computer, or over the workers of a Dask cluster."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Final, Protocol

from app.cli.command_helpers import UsageError

CLUSTER_TIMEOUT_S: Final = 10
"""Maximum time to reach a Dask scheduler, and to get its first worker, in seconds. Assumed."""


def use_cluster(scheduler: str) -> AbstractContextManager[object]:
    """Return a context in which joblib uses the Dask scheduler at *scheduler*. For `local`, joblib is unchanged."""
    stack = ExitStack()
    if scheduler == "local":
        from joblib.externals.loky import get_reusable_executor

        # The processes and the thread of joblib would otherwise remain. No unfinished job is needed any more.
        stack.callback(lambda: get_reusable_executor().shutdown(kill_workers=True))
        return stack
    scheme, _, address = scheduler.partition("://")
    if scheme != "dask" or not address.rpartition(":")[2].isdecimal():
        raise UsageError(f"--on must be local or dask://HOST:PORT, not {scheduler}")
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError(
            "--on dask:// needs the package distributed: pip install mirrordrill[cluster]"
        ) from error
    from joblib import parallel_config

    try:
        client = stack.enter_context(Client(f"tcp://{address}", timeout=CLUSTER_TIMEOUT_S))
    except OSError as error:
        raise UsageError(f"no Dask scheduler answers at {address}: {error}") from error
    _check_cluster(client, address)
    stack.enter_context(parallel_config(backend="dask", client=client))
    return stack


class ClusterClient(Protocol):
    """Interface of a connection to a Dask scheduler, limited to the methods that this module uses."""

    def wait_for_workers(self, count: int, /, timeout: float) -> object:
        """Wait until the scheduler has *count* workers. Raises TimeoutError."""

    def run_on_scheduler(self, function: Callable[[str], None], text: str) -> object:
        """Call *function* with the argument *text* on the scheduler."""

    def run(self, function: Callable[[str], None], text: str) -> object:
        """Call *function* with the argument *text* on each worker."""


def _check_cluster(client: ClusterClient, scheduler: str) -> None:
    """Check that the cluster has workers, and that Mirrordrill is installed there. Raises UsageError.

    Without this check, jobs that the scheduler or a worker cannot import would never end.
    """
    try:
        client.wait_for_workers(1, timeout=CLUSTER_TIMEOUT_S)
    except TimeoutError as error:
        raise UsageError(f"the Dask scheduler at {scheduler} has no worker") from error
    try:
        client.run_on_scheduler(exec, "import app.cli.sweep")
        client.run(exec, "import app.cli.sweep")
    except ImportError as error:
        raise UsageError(
            f"Mirrordrill must be installed where the scheduler at {scheduler} and its workers run: {error}"
        ) from error
