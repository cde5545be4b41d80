"""The node tests of an onnx package as a suite, made by the interpreter that has the package."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import sys
from collections.abc import Callable
from pathlib import Path

from conformance.adopting.adoption import Adoption, adopt_folder
from conformance.processes.scratch_folders import scratch_folder
from conformance.runtimes.runtimes import find_runtime, install
from conformance.runtimes.scripts import run_script
from conformance.suite.kept_suites import kept_suite, suite_made_of
from conformance.suite.suites import open_suite
from opcert.vocabulary.file_digests import project_digest

NAME = "onnx-node"
PACKAGE = "onnx"
_SCRIPT = Path(__file__).with_name("dump_node_tests.py")
_SECONDS = 600
_REMEDY = "Name a version that has node tests and runs here, for example onnx==1.20.0."
Announce = Callable[[str], None]


def names_package(text: str) -> bool:
    """Whether a source is the onnx package: `onnx`, or a version of it, `onnx==1.20.0`."""
    return text.partition("==")[0] == PACKAGE


def adopt_package(text: str, suite: Path, announce: Announce) -> Adoption:
    """Write the node tests of the onnx package as a suite.

    `onnx` is the one that opcert itself is installed with; a version is taken from its kept environment, made
    where there is none. `announce` is told in a sentence what takes time. Raises RuntimeUnavailable where the
    package cannot be installed or does not give its tests, UserError where the suite cannot be written.
    """
    python = sys.executable
    if text != PACKAGE:
        python = install(find_runtime(text), announce).launch.command[0]
    announce(f"taking the node tests out of {text}")
    with scratch_folder("tests") as made:
        tests = made / "tests"
        tests.mkdir()
        run_script(
            python,
            _SCRIPT,
            [str(tests)],
            made,
            seconds=_SECONDS,
            problem="the package did not give its node tests",
            remedy=_REMEDY,
        )
        versions = json.loads((tests / "source.json").read_text(encoding="utf-8"))
        source = {"package": PACKAGE, "version": versions["onnx"], "numpy": versions["numpy"]}
        return adopt_folder(tests, suite, source)


def node_suite(announce: Announce, digest: str = "") -> Path:
    """The folder of the suite `onnx-node` in the user's cache, made where it is not kept yet.

    It is kept by the digest of what it is made from. `digest` is of the suite that a record is of: where
    that one is kept, and is of node tests, it is the one. Raises as `adopt_package` does.
    """
    of_record = kept_suite(digest)
    if of_record is not None and _is_of_package(of_record):
        return of_record
    told = f"making the suite {NAME} (once; this takes about half a minute)"
    return suite_made_of(
        f"{NAME}-{_sources_digest()}",
        f"the suite {NAME}",
        told,
        announce,
        lambda path: adopt_package(PACKAGE, path, announce).digest,
    )[0]


def _is_of_package(path: Path) -> bool:
    with open_suite(path) as suite:
        adopted = suite.facts.get("adopted")
        source = adopted.get("source") if isinstance(adopted, dict) else None
        return isinstance(source, dict) and source.get("package") == PACKAGE


def _sources_digest() -> str:
    """A digest of the tests' code, the packages that compute what they expect, and the code that adopts."""
    digest = hashlib.sha256(f"{sys.version} {project_digest()}\0".encode())
    for name in (PACKAGE, "numpy", "ml_dtypes"):
        digest.update(f"{name} {importlib.metadata.version(name)}\0".encode())
    package = importlib.metadata.distribution(PACKAGE)
    tests = Path(str(package.locate_file("onnx/backend/test/case")))
    for path in sorted(tests.rglob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
