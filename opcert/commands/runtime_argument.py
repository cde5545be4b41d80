"""What RUNTIME names on the command line. Nothing here takes time to import."""

from __future__ import annotations

from conformance.runtimes.runtimes import Runtime, find_runtime, upgraded


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
