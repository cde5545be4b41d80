"""Tests as a suite: those below a folder, or the node tests of an onnx package, by its own interpreter."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from conformance.adopting.adopted_cases import UNPACKED, VALUES, WRITTEN_AS, adopt_test, base_name
from conformance.adopting.layout import TestFolder, find_tests
from conformance.processes.scratch_folders import scratch_folder
from conformance.runtimes.runtimes import find_runtime, install
from conformance.runtimes.scripts import run_script
from conformance.suite.cases import Case
from conformance.suite.kept_suites import kept_suite, suite_made_of
from conformance.suite.suites import open_suite, write_suite
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.names import CaseId, OperatorName


@dataclass
class Adoption:
    """What became of a folder of tests.

    `counts` are of cases: by how they are written, `unpacked` those whose tests have sequences or optionals,
    and `observed` those of which nothing but survival is demanded. `left_out` are the tests that could not be
    carried, by name, with the reason. `digest` is the suite's.
    """

    tests: int = 0
    operators: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    left_out: dict[str, str] = field(default_factory=dict)
    digest: str = ""

    @property
    def cases(self) -> int:
        return sum(number for name, number in self.counts.items() if name not in (UNPACKED, "observed"))


def adopt_folder(folder: Path, suite: Path, source: Mapping[str, Any]) -> Adoption:
    """Write the tests below a folder as a suite; `source` goes into its manifest: where they are from.

    Raises UserError where there is no test, where none can be carried, or where the suite cannot be written.
    """
    tests = {test.name: test for test in find_tests(folder)}
    if not tests:
        raise UserError(
            "there is no test here",
            where=Place(str(folder)),
            expected="folders with model.onnx and test_data_set_0",
        )
    adoption = Adoption(tests=len(tests))
    cases = _adopt_all(tests, adoption)
    first = next(cases, None)
    if first is None:
        name, reason = next(iter(adoption.left_out.items()))
        raise UserError(
            "no test can be carried by a suite", got=f"for example {name}: {reason}", where=Place(str(folder))
        )
    # What is left out is known when the last case is written, which is before the manifest is.
    facts = {
        "operators": {},
        "adopted": {"source": source, "tests": adoption.tests, "left_out": adoption.left_out},
    }
    adoption.digest = write_suite(suite, chain([first], cases), facts, {"adopted": source})
    return adoption


def _adopt_all(tests: Mapping[str, TestFolder], adoption: Adoption) -> Iterator[Case]:
    seen: set[CaseId] = set()
    operators: set[OperatorName] = set()
    for name, test in tests.items():
        base = base_name(name)
        try:
            cases = list(adopt_test(test, tests.get(base) if base else None))
        except UserError as error:
            adoption.left_out[name] = str(error)
            continue
        for case in cases:
            if case.id in seen:
                adoption.left_out[name] = "another test has the same name and the same call"
                continue
            seen.add(case.id)
            operators.add(case.operator)
            adoption.operators = len(operators)
            adoption.counts[case.levels[WRITTEN_AS]] += 1
            adoption.counts[UNPACKED] += case.levels.get(VALUES) == UNPACKED
            adoption.counts["observed"] += case.demand == "survive"
            yield case


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
