"""What `-s` names: a suite in a folder, in a zip file, or known by a name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from opcert.commands.terminal import note
from opcert.commands.verbosity import is_verbose
from opcert.vocabulary.names import DEFAULT_SUITE, OperatorName

if TYPE_CHECKING:
    from conformance.clusters.cluster import Cluster
    from conformance.suite.suites import Suite
    from generator.making.suites.suite_making import Progress

ONNX_NODE = "onnx-node"
HELP = (
    "The suite: a folder (of a suite, or of calls), a zip file, `default`, `onnx-node` (ONNX's own node "
    "tests), `neighbours` (nodes that optimisers fuse), `opset-22` (ONNX's operators in the versions of that "
    "opset) or `first-operators` (those that opcert began with); what is named is made where it is not kept "
    "yet."
)


def suite_name_for_commands(text: str, suite: Suite, folders: tuple[Path, ...]) -> str:
    """What names a suite in the commands that reproduce: the suite itself, where only `--specs` says more."""
    made = text == DEFAULT_SUITE or _is_folder_of_calls(Path(text))
    return str(suite.path) if folders and made else text


def resolve_suite(
    text: str, digest: str = "", folders: tuple[Path, ...] = (), cluster: Cluster | None = None
) -> Suite:
    """Open the suite that `-s` names; raises UserError where there is none.

    `digest` is of the suite that a record is of: where that one is kept, or has a name, it is the one meant.
    With folders of specs, the default suite is that of their operators. What is to be made of named suites a
    `cluster` makes, if there is one.
    """
    # Imported here, so that --help does not wait for it.
    from conformance.suite.suites import open_suite

    if text == ONNX_NODE:
        from conformance.adopting.node_tests import node_suite

        return open_suite(node_suite(note, digest))
    # Imported here and below, because a ready-made suite has no use for the generator.
    from generator.making.operators.named_suites import operators_named
    from generator.models.neighbours.neighbour_suite import neighbour_suite, opset_of_neighbours

    given = Path(text)
    opset = None if given.exists() else opset_of_neighbours(text)
    if opset is not None:
        from conformance.suite.kept_suites import kept_suite

        told = neighbour_suite(opset, note)
        return open_suite(kept_suite(digest) or told)
    if text != DEFAULT_SUITE and (given.exists() or operators_named(text) is None):
        return open_suite(_suite_of_calls(given, folders) if _is_folder_of_calls(given) else given)
    from conformance.suite.kept_suites import kept_suite
    from opcert.commands.command_progress import generation_progress

    kept = kept_suite(digest)
    if kept is not None:
        return open_suite(kept)
    name = _locked_name(digest) or text
    with generation_progress(every=is_verbose()) as progress:
        made = _named(name, progress, folders, cluster)
    return open_suite(made)


def _is_folder_of_calls(path: Path) -> bool:
    """Whether a folder holds calls: JSON files, and no suite's manifest."""
    return path.is_dir() and not (path / "manifest.json").exists() and any(path.glob("*.json"))


def _suite_of_calls(path: Path, specs: tuple[Path, ...] = ()) -> Path:
    """Make the suite of a folder of calls in the user's cache, and return its folder.

    Raises UserError for a call that cannot be read, or of which no document says what must come out.
    """
    from conformance.suite.kept_suites import keep_suite
    from generator.making.suites.found_calls import write_suite_of_calls

    return keep_suite(lambda made: write_suite_of_calls(path, made, specs))


def _named(name: str, progress: Progress, folders: tuple[Path, ...], cluster: Cluster | None) -> Path:
    from generator.making.suites.cache import default_suite, named_suite

    if name == DEFAULT_SUITE:
        return default_suite(progress, folders, cluster)
    return named_suite(name, progress, cluster)


def made_of(
    operators: Sequence[OperatorName], folders: tuple[Path, ...] = (), cluster: Cluster | None = None
) -> Suite:
    """The suite of the cases of some operator versions, made into the cache where it is not kept yet."""
    from conformance.suite.suites import open_suite
    from generator.making.operators.workshop import Options
    from generator.making.suites.cache import cached_suite
    from opcert.commands.command_progress import generation_progress

    with generation_progress(every=is_verbose()) as progress:
        return open_suite(cached_suite(operators, Options(), progress, folders, cluster))


def _locked_name(digest: str) -> str | None:
    """The name of the released suite with a digest."""
    from generator.making.suites.lock import read_lock

    return read_lock().name_of(digest) if digest else None
