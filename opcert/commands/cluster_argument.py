"""What `--scheduler` names: a cluster that does the work instead of this machine. Nothing here takes time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from conformance.runtimes.runtimes import find_runtime
from opcert.commands.runtime_argument import choose_runtime
from opcert.commands.shared_options import Scheduler
from opcert.commands.terminal import note
from opcert.vocabulary.errors import UserError

if TYPE_CHECKING:
    from conformance.clusters.cluster import Cluster
    from conformance.runtimes.runtimes import Runtime


@contextmanager
def chosen_cluster(scheduler: Scheduler | None) -> Iterator[Cluster | None]:
    """The cluster that is asked for, for as long as the context lasts; None where none is.

    Raises as `open_cluster` does.
    """
    if scheduler is None:
        yield None
        return
    # Imported here, so that who asks for none does not wait for it.
    from conformance.clusters.connecting import open_cluster

    with open_cluster(scheduler.address, note, insecure=scheduler.insecure) as cluster:
        yield cluster


def runtime_for(text: str, python: str | None, upgrade: bool, scheduler: Scheduler | None) -> Runtime:
    """The runtime of a name; where a cluster runs it, its interpreter is looked for there.

    Raises UserError as `choose_runtime` does, and where a cluster is to install anew.
    """
    if scheduler is None:
        return choose_runtime(text, python, upgrade)
    if upgrade:
        raise UserError(
            "--upgrade is about the environments of this machine, and a cluster has its own",
            expected="--scheduler without it; `opcert run --upgrade` on a machine of the cluster, or "
            "another version (NAME==VERSION)",
        )
    return find_runtime(text)


def seconds_of_experiments(asked: float | None, scheduler: Scheduler | None) -> float | None:
    """How long experiments may take: they run here, so after a cluster's run only where somebody asks."""
    return 0.0 if asked is None and scheduler is not None else asked
