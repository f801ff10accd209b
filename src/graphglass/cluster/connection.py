"""A Dask client: a cluster on this machine, or an existing scheduler."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from graphglass.errors import ClusterError, MissingExtraError

# Results are equal bit for bit only where these are equal; torch is needed by the paper's method alone.
PACKAGES = ("graphglass", "numpy", "scipy", "numba", "torch")
_SECONDS = 15


@contextmanager
def connect(cluster: str, workers: int | None = None) -> Iterator[Any]:
    """A connected client, closed afterwards.

    Parameters
    ----------
    cluster : str
        ``local`` for worker processes on this machine, or the address of a scheduler such as ``tcp://host:8786``.
    workers : int, optional
        Processes of a local cluster; one per core by default.

    Raises
    ------
    ClusterError
        If the scheduler cannot be reached, has no worker, or runs other versions.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingExtraError("Working on a cluster", "cluster") from error
    if cluster == "local":
        # Workers are the unit of parallelism; more threads inside each would compete for the same cores.
        one_thread = {"OMP_NUM_THREADS": 1, "MKL_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1, "NUMBA_NUM_THREADS": 1}
        with (
            dask.config.set({"distributed.nanny.pre-spawn-environ": one_thread}),
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0") as local,
            Client(local) as client,
        ):
            yield client
        return
    if workers is not None:
        raise ClusterError("--workers is for a local cluster; a scheduler brings its own workers.")
    try:
        client = Client(cluster, timeout=_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"No scheduler answers at {cluster} ({error}). Start one with `dask scheduler`, or use --cluster local."
        ) from error
    # If the scheduler dies, one message of ours says so; Dask and asyncio would print a page of tracebacks.
    for name in ("asyncio", "distributed", "distributed.client", "distributed.core", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with client:
        check_workers(client, cluster)
        yield client


def check_workers(client: Any, where: str) -> None:
    """Refuse a cluster without workers, or whose workers run other versions than this process."""
    here, there = installed(), client.run(installed)
    if not there:
        raise ClusterError(f"The scheduler at {where} has no workers. Start some with `dask worker {where}`.")
    for worker, versions in there.items():
        pairs = {name: (here[name], versions[name]) for name in PACKAGES if here[name] != versions[name]}
        if pairs:
            listed = ", ".join(f"{name} {mine} here and {theirs} there" for name, (mine, theirs) in pairs.items())
            raise ClusterError(f"Worker {worker} runs other versions: {listed}. Install the same on both sides.")


def installed() -> dict[str, str]:
    """Versions of the packages that decide a result."""
    found = dict.fromkeys(PACKAGES, "missing")
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
