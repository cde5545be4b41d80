"""What `-s` names: a suite in a folder, in a zip file, or known by a name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from opcert.commands.calls_argument import is_folder_of_calls, suite_of_calls
from opcert.commands.terminal import say

if TYPE_CHECKING:
    from conformance.suite.suites import Suite

DEFAULT = "default"
_OPSET = re.compile(r"opset-(\d{1,3})")
ONNX_NODE = "onnx-node"
HELP = (
    "The suite: a folder (of a suite, or of calls), a zip file, `default`, `onnx-node` (ONNX's own node "
    "tests), or `opset-22` (every operator of that opset that has a reference); what is named is made where "
    "it is not kept yet."
)


def suite_name_for_commands(text: str, suite: Suite, folders: tuple[Path, ...]) -> str:
    """What names a suite in the commands that reproduce: the suite itself, where only `--specs` says more."""
    made = text == DEFAULT or is_folder_of_calls(Path(text))
    return str(suite.path) if folders and made else text


def resolve_suite(text: str, digest: str = "", folders: tuple[Path, ...] = ()) -> Suite:
    """Open the suite that `-s` names; raises UserError where there is none.

    `digest` is of the suite that a record is of: where that one is kept, it is the one that a name means.
    With folders of specs, the default suite is that of their operators.
    """
    # Imported here, so that --help does not wait for it.
    from conformance.suite.suites import open_suite

    if text == ONNX_NODE:
        from conformance.adopting.node_tests import node_suite

        return open_suite(node_suite(lambda line: say(f"opcert: {line}", error=True), digest))
    opset = None if Path(text).exists() else _OPSET.fullmatch(text)
    if text != DEFAULT and opset is None:
        given = Path(text)
        return open_suite(suite_of_calls(given, folders) if is_folder_of_calls(given) else given)
    # Imported here, because a ready-made suite has no use for the generator.
    from conformance.suite.kept_suites import kept_suite
    from generator.cache import default_suite, opset_suite
    from opcert.commands.generation_progress import generation_progress

    kept = kept_suite(digest)
    if kept is not None:
        return open_suite(kept)
    with generation_progress() as progress:
        made = default_suite(progress, folders) if opset is None else opset_suite(int(opset[1]), progress)
    return open_suite(made)
