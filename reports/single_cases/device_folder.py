"""Cases to carry to a device: models, inputs as plain bytes, and an index; what is expected lies apart.

`index.json` lists the cases ([its schema](../../conformance/schemas/export_index.json)); each has a folder
with `model.onnx` and `input_0.bin` and so on, in the order of the model's inputs, with elements as the worker
protocol has them: row-major, little-endian, those of less than a byte in one each. In a batch several cases
of one operator version and element type are independent nodes of one model, in a folder of the batch.

What is expected is for judges that read no ONNX and no JSON, too: text and plain bytes. `goldens.txt` begins
with its format and the suite; words are apart by one blank:

    case FOLDER DEMAND VALID MAY_REFUSE     answer, refuse or survive; the folder of the valid case, or -;
                                            no, open (a refusal is observed) or contradicted (document)
    expectation SAYS                        text, or contradicted (who follows it is told `document`)
    output TYPE SHAPE EXPECTED ALLOWED      shape 2,3 or -; files of elements, and of doubles, or -
    alternatives INDEX:HEX,HEX ...          further values of single elements of the output before
    skip FOLDER WHY                         a case that needs more than these lines say
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from conformance.models.case_models import build_model, join_models
from conformance.models.input_names import named_inputs
from conformance.running.returned_files import BATCH, FORM, Device, case_folder
from conformance.suite.canonical import sha256
from conformance.suite.case_selection import nothing_selected
from conformance.suite.cases import Case, Expectation, ExpectedOutput
from conformance.suite.form_sample import covering
from conformance.suite.properties import runs_twice
from conformance.suite.suites import Suite
from opcert.vocabulary.names import operator_path_of
from opcert.vocabulary.tensors import Tensor, tensor
from opcert.vocabulary.whole_files import write_bytes, write_text

FORMAT = "opcert-export/1"
INDEX = "index.json"
_GOLDENS_FORMAT = "opcert-goldens/1"
_GOLDENS = "goldens.txt"


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
    """What was written: how many cases, why others were not, and of how many plain goldens are too little.

    `batches` counts the models of several cases, and `alone` the cases that have one of their own all the
    same, by the reason.
    """

    cases: int
    left_out: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    batches: int = 0
    alone: Counter[str] = field(default_factory=Counter)


def export_to_device(
    suite: Suite, folder: Path, selection: Selection, expected: Path | None = None, batch: int = 1
) -> Carried:
    """Write the selected cases and their index; raises UserError where that cannot be done.

    `expected` is the folder for what is expected of them, which no device is to see. With a `batch` of more
    than one so many cases at most stand in one model.
    """
    carried: list[Case] = []
    left_out: Counter[str] = Counter()
    offer = Device("a folder", "").offer()
    for case_id in selection.of(suite):
        case = suite.case(case_id)
        refusal = offer.refusal(case)
        if refusal is None:
            carried.append(case)
        else:
            left_out[refusal.reason] += 1
    groups, alone = _group(carried, batch)
    listed: dict[str, dict[str, Any]] = {}
    batches = []
    for number, group in enumerate(groups):
        written, entries = _write_batch(group, f"{BATCH}{number}_{group[0].operator.short}", folder)
        batches.append(written)
        listed |= entries
    for case in carried:
        if str(case.id) not in listed:
            valid = case.valid_case if case.valid_case is not None and case.valid_case in suite else None
            listed[str(case.id)] = _write(case, None if valid is None else suite.case(valid), folder)
    write_index(suite, [listed[str(case.id)] for case in carried], folder, batches)
    skipped = 0 if expected is None else _write_goldens(carried, suite.digest, expected)
    return Carried(len(listed), left_out, skipped, len(batches), alone)


def _group(cases: Iterable[Case], most: int) -> tuple[list[list[Case]], Counter[str]]:
    """Groups of 2 to `most` cases that one model may hold, and why others have models of their own.

    What a device refuses, or does not survive, takes the whole model with it: so no case is among them that
    may end so.
    """
    groups: list[list[Case]] = []
    alone: Counter[str] = Counter()
    if most < 2:
        return groups, alone
    together: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        reason = _needs_own_model(case)
        if reason is None:
            together.setdefault((str(case.operator), case.element_type.name), []).append(case)
        else:
            alone[reason] += 1
    for own in together.values():
        groups += [own[at : at + most] for at in range(0, len(own), most)]
    alone["nothing else of their operator and type is left"] = sum(len(group) == 1 for group in groups)
    return [group for group in groups if len(group) > 1], +alone


def _needs_own_model(case: Case) -> str | None:
    if case.demand != "answer" or case.may_refuse is not None:
        return "a device may reject them, or must only survive them"
    if not case.is_plain or not case.wanted:
        return "they are no single node of tensors"
    if case.properties:
        return "they are random, or run more than once"
    return None


def write_index(
    suite: Suite,
    listed: Sequence[Mapping[str, Any]],
    folder: Path,
    batches: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Write what was exported of a suite as `index.json`; raises UserError where that cannot be done."""
    index = {"format": FORMAT, "opcert": version("opcert"), "suite": suite.digest, "cases": listed}
    told = {**index, "batches": batches} if batches else index
    write_text(folder / INDEX, json.dumps(told, indent=1) + "\n")


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
    return {
        **index_entry(case, name),
        **_write_model(build_model(case, FORM, valid_case), named_inputs(case.inputs), name, folder),
        "outputs": list(case.wanted),
        "runs": 2 if runs_twice(case.properties) else 1,
    }


def _write_batch(
    cases: Sequence[Case], name: str, folder: Path
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Write cases as one model: what the index says of it, and by its id of each case."""
    inputs: list[tuple[str, Tensor]] = []
    outputs: list[str] = []
    entries = {}
    for number, case in enumerate(cases):
        own = named_inputs(case.inputs)
        entries[str(case.id)] = {
            **index_entry(case, case_folder(str(case.id))),
            "batch": name,
            "inputs": list(range(len(inputs), len(inputs) + len(own))),
            "outputs": list(range(len(outputs), len(outputs) + len(case.wanted))),
        }
        inputs += [(f"c{number}_{input_name}", given) for input_name, given in own]
        outputs += [f"c{number}_{output}" for output in case.wanted]
    model = join_models([build_model(case, FORM) for case in cases])
    return {"folder": name, **_write_model(model, inputs, name, folder), "outputs": outputs}, entries


def _write_model(
    model: bytes, inputs: Sequence[tuple[str, Tensor]], name: str, folder: Path
) -> dict[str, Any]:
    """Write a model and its inputs into the folder of that name; what the index says of them."""
    write_bytes(folder / name / "model.onnx", model)
    described = []
    for number, (input_name, given) in enumerate(inputs):
        raw = given.to_bytes()
        file = f"{name}/input_{number}.bin"
        write_bytes(folder / file, raw)
        kind = {"element_type": given.element_type.name, "shape": list(given.shape)}
        described.append({"name": input_name, "file": file, **kind, "sha256": sha256(raw)})
    return {"model": f"{name}/model.onnx", "sha256": sha256(model), "inputs": described}


def _write_goldens(cases: Sequence[Case], suite: str, folder: Path) -> int:
    """Write what is expected of cases; returns of how many the lines cannot hold it."""
    lines = [f"{_GOLDENS_FORMAT} {suite}"]
    skipped = 0
    for case in cases:
        reason = _beyond(case)
        if reason is None:
            lines += _lines(case, folder)
        else:
            skipped += 1
            lines.append(f"skip {case_folder(str(case.id))} {reason}")
    write_text(folder / _GOLDENS, "\n".join(lines) + "\n")
    return skipped


def _beyond(case: Case) -> str | None:
    if case.properties:
        return "demands that are no values"
    if any(expectation.unordered for expectation in case.expectations):
        return "an open order"
    outputs = [output for expectation in case.expectations for output in expectation.outputs]
    kinds = {output.expected.element_type for output in outputs}
    if any(kind.kind in ("complex", "string") for kind in kinds):
        return "elements that are no numbers"
    return None


def _lines(case: Case, folder: Path) -> Iterator[str]:
    place = case_folder(str(case.id))
    valid = "-" if case.valid_case is None else case_folder(case.valid_case)
    refusal = "no"
    if case.may_refuse is not None or case.refusal_contradicted:
        refusal = "contradicted" if case.refusal_contradicted else "open"
    yield f"case {place} {case.demand} {valid} {refusal}"
    if case.demand == "answer":
        for number, expectation in enumerate(case.expectations):
            yield from _expectation(expectation, folder, f"{place}/{number}")


def _expectation(expectation: Expectation, folder: Path, begin: str) -> Iterator[str]:
    yield f"expectation {'contradicted' if expectation.contradicted else 'text'}"
    for number, output in enumerate(expectation.outputs):
        yield from _output(output, folder, f"{begin}_{number}")


def _output(output: ExpectedOutput, folder: Path, begin: str) -> Iterator[str]:
    wanted, expected, allowed = output.expected, f"{begin}.expected", "-"
    write_bytes(folder / expected, wanted.to_bytes())
    if output.allowed is not None:
        allowed = f"{begin}.allowed"
        write_bytes(folder / allowed, tensor(np.asarray(output.allowed, np.float64)).to_bytes())
    shape = ",".join(map(str, wanted.shape)) or "-"
    yield f"output {wanted.element_type.name} {shape} {expected} {allowed}"
    told = []
    for alternative in output.alternatives:
        values = np.empty(len(alternative.values), dtype=wanted.element_type.storage)
        values[:] = alternative.values
        size = tensor(values, wanted.element_type).to_bytes()
        step = len(size) // max(1, len(values))
        words = [size[at : at + step].hex() for at in range(0, len(size), step)]
        told.append(f"{alternative.index}:{','.join(words)}")
    if told:
        yield f"alternatives {' '.join(told)}"
