"""Connecting to a scheduler of Dask, or starting one on this machine, and looking at its workers."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from conformance.clusters.cluster import Cluster
from conformance.clusters.machines import machine_here
from conformance.processes.scratch_folders import scratch_folder
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.harmless import one_line

_LOCAL = re.compile(r"local:([0-9]{1,3})", re.ASCII)
_ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx|ucxx)://\S+", re.ASCII)
_EXPECTED = "tcp://HOST:PORT of a scheduler (`dask scheduler`), or local:N for N workers on this machine"
_MOST_LOCAL = 256
CONNECTING = 10.0
"""Seconds that a scheduler has for answering."""
ARRIVING = 120.0
"""Seconds that the first worker has for coming to its scheduler."""
_LOSSES = 10
"""So many workers may be lost with one unit of work before that is not given to another one, on `local:N`."""
_PROBE = "__import__('conformance.clusters.machines', fromlist=['machine_here']).machine_here()"
"""Needs nothing on a worker but Python, whichever it is: what is missing there is an answer as well."""


@contextmanager
def open_cluster(
    address: str, tell: Callable[[str], object], arriving: float = ARRIVING
) -> Iterator[Cluster]:
    """The cluster behind an address, with at least one worker that has this opcert.

    `tell` is told in a sentence what takes time, `arriving` is how many seconds the first worker has. Raises
    UserError where `distributed` is not installed, nobody answers at the address, no worker comes, or one
    has no opcert or another one.
    """
    local = _LOCAL.fullmatch(address)
    if local is None and _ADDRESS.fullmatch(address) is None:
        raise UserError("not a scheduler", got=repr(address), expected=_EXPECTED)
    if local is not None and not 1 <= int(local[1]) <= _MOST_LOCAL:
        raise UserError(
            "not a number of workers", got=repr(address), expected=f"local:1 to local:{_MOST_LOCAL}"
        )
    distributed = _engine()
    # What it logs of lost connections is told by who waits, in a sentence.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    opened = _local(distributed, int(local[1])) if local is not None else _remote(distributed, address)
    with opened as client:
        cluster = Cluster(client, address, tell)
        _await_workers(cluster, arriving)
        check_workers(cluster)
        yield cluster


def _engine() -> Any:
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise UserError(
            "--scheduler needs Dask's distributed, which is not installed here",
            got=f"no module {error.name}",
            remedy="Install it: pip install 'opcert[dask]', here and on every worker.",
        ) from error
    return distributed


@contextmanager
def _remote(distributed: Any, address: str) -> Iterator[Any]:
    try:
        client = distributed.Client(address, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise UserError(
            "no scheduler of Dask answers there",
            got=one_line(f"{address}: {error}", 300),
            expected=_EXPECTED,
            remedy="Look whether it runs, and whether this machine reaches it; `dask scheduler` starts one.",
        ) from error
    with _closing(client):
        yield client


@contextmanager
def _local(distributed: Any, workers: int) -> Iterator[Any]:
    import dask

    with (
        scratch_folder("cluster") as folder,
        dask.config.set({"distributed.scheduler.allowed-failures": _LOSSES}),
    ):
        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",  # where none is in anybody's way
            local_directory=str(folder),
            silence_logs=logging.CRITICAL,
        )
        try:
            with _closing(distributed.Client(cluster, set_as_default=False)) as client:
                yield client
        finally:
            with suppress(Exception):
                cluster.close(timeout=CONNECTING)


@contextmanager
def _closing(client: Any) -> Iterator[Any]:
    try:
        yield client
    finally:
        # A scheduler that is gone cannot be told that its client goes, too.
        with suppress(Exception):
            client.close(timeout=CONNECTING)


def _await_workers(cluster: Cluster, arriving: float) -> None:
    if cluster.threads():
        return
    cluster.tell(f"waiting for workers at {cluster.address}")
    try:
        cluster.client.wait_for_workers(1, timeout=arriving)
    except TimeoutError as error:
        raise UserError(
            f"no worker has come to the scheduler within {arriving:g} s",
            got=cluster.address,
            remedy=f"Start some: dask worker {cluster.address}, in an environment that has opcert[dask].",
        ) from error


def check_workers(cluster: Cluster) -> list[Mapping[str, Any]]:
    """What every worker's machine says of itself; UserError with those that have not this opcert."""
    own, machines, wrong = machine_here(), [], []
    answers = cluster.client.run(eval, _PROBE, on_error="return")
    for address, answer in sorted(answers.items()):
        problem = _problem(answer, own)
        if problem is None:
            machines.append(answer)
        else:
            name = answer["name"] if isinstance(answer, dict) else "a machine"
            wrong.append(f"{one_line(str(name), 200)} ({address}): {problem}")
    if wrong:
        told = "; ".join(wrong[:8]) + (f"; and {len(wrong) - 8} more" if len(wrong) > 8 else "")
        raise UserError(
            "workers cannot do what this opcert asks of them",
            got=told,
            expected=f"opcert {own['opcert']} with sources {own['sources'][:12]} on each, as here",
            remedy="Install this opcert in the environment of these workers and start them again.",
        )
    return machines


def _problem(answer: Any, own: Mapping[str, Any]) -> str | None:
    """What is wrong with a worker, by what it said to the probe."""
    if isinstance(answer, ModuleNotFoundError) and answer.name == "conformance":
        return "opcert is not installed"
    if isinstance(answer, ImportError | AttributeError):
        return "it has an older opcert, which knows nothing of clusters"
    if not isinstance(answer, dict):
        return one_line(f"it cannot say what it is: {type(answer).__name__}: {answer}", 300)
    if answer.get("opcert") != own["opcert"]:
        return f"it has opcert {one_line(str(answer.get('opcert')), 60)}"
    if answer.get("sources") != own["sources"]:
        return f"its opcert {own['opcert']} has other sources: {str(answer.get('sources'))[:12]}"
    return None
