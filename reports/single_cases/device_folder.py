"""Cases to carry to a device: models, inputs as plain bytes, and an index; nothing of what is expected.

`index.json` lists the cases ([its schema](../../conformance/schemas/export_index.json)); each has a folder
with `model.onnx` and `input_0.bin` and so on, in the order of the model's inputs, with elements as the worker
protocol has them: row-major, little-endian, those of less than a byte in one each.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from conformance.models.case_models import build_model
from conformance.models.input_names import named_inputs
from conformance.running.returned_files import FORM, Device, case_folder
from conformance.suite.canonical import sha256
from conformance.suite.case_selection import nothing_selected
from conformance.suite.cases import Case
from conformance.suite.form_sample import covering
from conformance.suite.properties import runs_twice
from conformance.suite.suites import Suite
from opcert.vocabulary.names import operator_path_of
from opcert.vocabulary.whole_files import write_bytes, write_text
from reports.single_cases.plain_goldens import write_goldens

FORMAT = "opcert-export/1"
INDEX = "index.json"


@dataclass(frozen=True)
class Selection:
    """Which cases go: of a pattern, of element types, of families, with goldens of at most so many bytes.

    `sample` takes of each operator version a few cases alone, which have every level of the others between
    them where so many can.
    """

    pattern: str | None = None
    element_types: Collection[str] = ()
    families: Collection[str] = ()
    most_bytes: int | None = None
    sample: int | None = None

    def of(self, suite: Suite) -> list[str]:
        """The selected cases in suite order; raises NothingRan where there are none."""
        found = [case_id for case_id in suite.select(self.pattern) if self._takes(suite, case_id)]
        if self.sample is not None:
            found = list(_sampled(suite, found, self.sample))
        if not found:
            raise nothing_selected(self.pattern, suite.case_ids, str(suite.path))
        return found

    def _takes(self, suite: Suite, case_id: str) -> bool:
        entry = suite.entry(case_id)
        return (
            (not self.element_types or entry["element_type"] in self.element_types)
            and (not self.families or case_id.split("/")[2] in self.families)
            and (self.most_bytes is None or int(entry["length"]) <= self.most_bytes)
        )


def _sampled(suite: Suite, case_ids: Iterable[str], most: int) -> Iterator[str]:
    by_operator: dict[str, list[str]] = {}
    for case_id in case_ids:
        by_operator.setdefault(operator_path_of(case_id), []).append(case_id)
    for own in by_operator.values():
        spread = sorted(own, key=lambda case_id: case_id[-12:])
        chosen = frozenset(covering([suite.outline(case_id) for case_id in spread], most)[:most])
        yield from (case_id for case_id in own if case_id in chosen)


@dataclass(frozen=True)
class Carried:
    """What was written: how many cases, why others were not, and of how many plain goldens are too little."""

    cases: int
    left_out: Counter[str] = field(default_factory=Counter)
    skipped: int = 0


def export_to_device(
    suite: Suite, folder: Path, selection: Selection, expected: Path | None = None
) -> Carried:
    """Write the selected cases and their index; raises UserError where that cannot be done.

    `expected` is the folder for what is expected of them, which no device is to see.
    """
    listed: list[dict[str, Any]] = []
    carried: list[Case] = []
    left_out: Counter[str] = Counter()
    offer = Device("a folder", "").offer()
    for case_id in selection.of(suite):
        case = suite.case(case_id)
        refusal = offer.refusal(case)
        if refusal is not None:
            left_out[refusal.reason] += 1
            continue
        valid = case.valid_case if case.valid_case is not None and case.valid_case in suite else None
        carried.append(case)
        listed.append(_write(case, None if valid is None else suite.case(valid), folder))
    write_index(suite, listed, folder)
    skipped = 0 if expected is None else write_goldens(carried, suite.digest, expected)
    return Carried(len(listed), left_out, skipped)


def write_index(suite: Suite, listed: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Write what was exported of a suite as `index.json`; raises UserError where that cannot be done."""
    index = {"format": FORMAT, "opcert": version("opcert"), "suite": suite.digest, "cases": listed}
    write_text(folder / INDEX, json.dumps(index, indent=1) + "\n")


def index_entry(case: Case, folder: str) -> dict[str, Any]:
    """What the index says of a case in every layout: what it is of, and the folder that it lies in."""
    operator = case.operator
    return {
        "id": str(case.id),
        "folder": folder,
        "domain": operator.domain,
        "operator": operator.name,
        "since_version": operator.since_version,
        "family": case.family,
        "element_type": case.element_type.name,
    }


def _write(case: Case, valid_case: Case | None, folder: Path) -> dict[str, Any]:
    name = case_folder(str(case.id))
    model = build_model(case, FORM, valid_case)
    write_bytes(folder / name / "model.onnx", model)
    inputs = []
    for number, (input_name, tensor) in enumerate(named_inputs(case.inputs)):
        raw = tensor.to_bytes()
        file = f"{name}/input_{number}.bin"
        write_bytes(folder / file, raw)
        described = {"element_type": tensor.element_type.name, "shape": list(tensor.shape)}
        inputs.append({"name": input_name, "file": file, **described, "sha256": sha256(raw)})
    return {
        **index_entry(case, name),
        "model": f"{name}/model.onnx",
        "sha256": sha256(model),
        "inputs": inputs,
        "outputs": list(case.wanted),
        "runs": 2 if runs_twice(case.properties) else 1,
    }
