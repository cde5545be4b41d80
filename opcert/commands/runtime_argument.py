"""What RUNTIME and `--scheduler` name on the command line. Nothing here takes time to import.

A scheduler's cluster does the work instead of this machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from conformance.runtimes.runtimes import Runtime, find_runtime, upgraded
from opcert.commands.shared_options import Scheduler
from opcert.commands.terminal import note
from opcert.vocabulary.errors import UserError

if TYPE_CHECKING:
    from conformance.clusters.cluster import Cluster


def choose_runtime(text: str, python: str | None, upgrade: bool) -> Runtime:
    """The runtime of a name, on this machine; raises UserError where there is none, or nothing to upgrade."""
    found = find_runtime(text, python)
    if found.adapter.name == "backend":
        # Imported here, because no other runtime needs it.
        from conformance.runtimes.runtimes import check_backend

        check_backend(found)
    return upgraded(found) if upgrade else found


def forms_to_run(asked: str | None, runtime: Runtime) -> str:
    """The forms that were asked for; else a sample of all, and for workers of one's own one.

    Of these nobody knows what they take beside the node that is asked about, and in another form models have
    constants, or a Transpose before it.
    """
    from conformance.running.run_options import SAMPLE

    if asked is not None:
        return asked
    return "preferred" if runtime.adapter.is_of_the_user else SAMPLE


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
