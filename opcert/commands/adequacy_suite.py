"""The suite whose adequacy is measured: the one that `-s` names, or one made of folders of specs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from opcert.commands.suite_argument import DEFAULT, resolve_suite

if TYPE_CHECKING:
    from conformance.suites import Suite
    from opcert.names import OperatorName


@contextmanager
def suite_of(name: str, folders: Sequence[Path], operators: Sequence[OperatorName]) -> Iterator[Suite]:
    """Open the suite; with folders of specs, and no suite named, the operators' cases are made first."""
    # Imported here, so that --help does not wait for them.
    from conformance.suites import open_suite
    from generator.cache import cached_suite
    from generator.workshop import Options
    from opcert.commands.generation_progress import generation_progress

    if not folders or name != DEFAULT:
        with resolve_suite(name) as suite:
            yield suite
        return
    with generation_progress() as progress:
        path = cached_suite(operators, Options(), progress, folders)
    with open_suite(path) as suite:
        yield suite
