"""Cases and suites that the tests of the harness run: calls of an operator that only the fakes know."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from conformance.runtimes.environments import prepare
from conformance.runtimes.installers import PythonPackages
from conformance.suite.cases import Case, Demand, Expectation, ExpectedOutput, call_digest
from conformance.suite.suites import write_suite
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor, tensor

FAKES = Path(__file__).parent / "fakes"
ECHO = OperatorName.parse("org.example::Echo-1")
IDENTITY = OperatorName.parse("ai.onnx::Identity-13")


def echo_runtime(mode: str = "", fake: str = "echo_worker.py") -> str:
    """What `opcert run` calls the fake runtime that does to each case what the case's `do` says."""
    return f"exec:{sys.executable} {FAKES / fake} {mode}".strip()


def find_processes(marker: str) -> list[int]:
    """The ids of the running processes whose command has this word, what surrounds a worker left out."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if marker.encode() in words and not any(word.endswith(b"/confine.py") for word in words):
            found.append(int(path.parent.name))
    return found


def sample(seed: int = 0, shape: tuple[int, ...] = (2, 3)) -> Tensor:
    count = int(np.prod(shape))
    return tensor((np.arange(count, dtype=np.float32) + np.float32(seed) / 8).reshape(shape))


def make_case(
    do: str = "echo",
    *,
    seed: int = 0,
    given: Tensor | None = None,
    operator: OperatorName = ECHO,
    family: str = "cover",
    demand: Demand = "answer",
    expectations: tuple[Expectation, ...] | None = None,
    valid_case: Case | None = None,
    word: str | None = None,
) -> Case:
    """A call of Echo, which returns its input; `do` is what a fake does instead."""
    given = sample(seed) if given is None else given
    attributes: Mapping[str, Attribute] = {}
    if operator.name == ECHO.name:
        attributes = {"do": attribute("string", do), "seed": attribute("int", seed)}
    inputs = (("X", given),)
    if expectations is None:
        expectations = (expect(given),) if demand == "answer" else ()
    return Case(
        id=CaseId(operator, family, word, call_digest(operator, attributes, inputs)),
        element_type=given.element_type,
        attributes=attributes,
        inputs=inputs,
        output_names=("Y",),
        demand=demand,
        expectations=expectations,
        constraint="never_so" if demand == "refuse" else None,
        valid_case=None if valid_case is None else str(valid_case.id),
        levels={"do": do},
        rule="the output is the input",
        sources=(("d1", 1),),
    )


def expect(output: Tensor, allowed: Any = None, **readings: str) -> Expectation:
    """An expectation of one output under one option of each reading."""
    named = {name: (option,) for name, option in readings.items()}
    return Expectation((ExpectedOutput("Y", output, allowed),), named)


def make_environment(*requirements: str) -> Path:
    """An environment in the user's cache as opcert makes one, of a package with one module; the module."""

    class Installer(PythonPackages):
        def fill(self, environment: Path, requirements: Sequence[str]) -> dict[str, str]:
            module = environment / "lib" / "site-packages" / "fake.py"
            module.parent.mkdir(parents=True)
            module.write_text("ANSWER = 1\n")
            self.program(environment).parent.mkdir()
            self.program(environment).symlink_to(sys.executable)
            return dict(requirement.split("==") for requirement in requirements)

        def version(self, environment: Path) -> str | None:
            return "3"

    made = prepare(requirements, Installer())
    return made.folder / "lib" / "site-packages" / "fake.py"


def make_suite(folder: Path, cases: Iterable[Case]) -> Path:
    """Write the cases as a suite into a new folder below `folder`."""
    path = folder / "suite"
    write_suite(path, cases, {"operators": {}}, {})
    return path
