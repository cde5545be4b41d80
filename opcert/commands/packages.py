"""`opcert import --from-package`: what an installed package says of its operators, as a document."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import specs.documents.packages
from conformance.processes.scratch_folders import scratch_folder
from conformance.runtimes.environments import environments_folder
from conformance.runtimes.runtimes import find_runtime, install
from conformance.runtimes.scripts import run_script
from opcert.vocabulary.errors import UserError, unwritable
from opcert.vocabulary.names import slug
from opcert.vocabulary.whole_files import put_in_place

_SCRIPTS = {
    "onnx": "dump_schemas.py",
    "onnxruntime": "dump_schemas.py",
    "openvino": "dump_openvino.py",
    "tensorflow": "dump_tensorflow.py",
}
PACKAGES = tuple(_SCRIPTS)
_SECONDS = 300


def package_document(text: str, announce: Callable[[str], None], folder: Path | None = None) -> Path:
    """The facts of a package, as a file that the importers read: `onnx`, or with its version `onnx==1.20.0`.

    The package is read in the environment that opcert keeps for the runtime of that name, which is made where
    there is none. The file stays in `folder` (by default beside the kept environments), so that the places of
    facts can be looked up. `announce` is told in a sentence what is done. Raises UserError for another
    package, RuntimeUnavailable where it cannot be installed or read.
    """
    name = text.partition("==")[0].strip()
    if name not in _SCRIPTS or "[" in text:
        raise UserError(
            "no facts can be read from this package", got=repr(text), expected=", ".join(PACKAGES)
        )
    script = Path(specs.documents.packages.__file__).with_name(_SCRIPTS[name])
    runtime = find_runtime(text)
    installed = install(runtime, announce)
    python = Path(installed.launch.command[0])
    version = str(installed.facts["packages"][runtime.adapter.requirements[0]])
    # Another script may write other rows: its digest keeps what it wrote apart.
    digest = hashlib.sha256(script.read_bytes() + str(python).encode()).hexdigest()[:8]
    target = (folder or environments_folder().parent / "packages") / digest / f"{name}-{slug(version)}.jsonl"
    if not target.is_file():
        announce(f"reading the operators of {name} {version} (once)")
        _dump(script, name, python, target)
    announce(f"the facts of {name} {version}: {target}")
    return target


def _dump(script: Path, name: str, python: Path, target: Path) -> None:
    """Run a dump script; its file takes the target's name when it is whole."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder("facts", target.parent) as made:
            written = made / "facts.jsonl"
            run_script(
                str(python),
                script,
                [name, str(written)],
                made,
                seconds=_SECONDS,
                problem=f"the operators of {name} could not be read",
                remedy=f"Name another version: {name}==VERSION",
            )
            put_in_place(written, target)
    except OSError as error:
        remedy = "Set XDG_CACHE_HOME to a folder of yours."
        raise unwritable("the facts of a package", target, error, remedy) from error
