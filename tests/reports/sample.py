"""A suite of a few hundred cases and a runtime with planted faults: its record, without any runtime.

The operators carry real names and the results real shapes, but what they compute is invented.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from conformance.judging.judge import Judgement, judge
from conformance.judging.responses import Answered, Crashed, NotOffered, Refused, Response, TimedOut
from conformance.recording.records import Record, RecordWriter, read_record
from conformance.recording.rows import case_verdicts, count_verdicts, make_result
from conformance.suite.cases import Alternative, Case, Demand, Expectation, ExpectedOutput, call_digest
from conformance.suite.suites import Suite, open_suite, write_suite
from opcert.vocabulary.attributes import Attribute, Attributes, attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor

RESIZE_18 = OperatorName("ai.onnx", "Resize", 18)
RESIZE_13 = OperatorName("ai.onnx", "Resize", 13)
RESIZE_10 = OperatorName("ai.onnx", "Resize", 10)
CROP_PAD = OperatorName("ai.onnx", "CenterCropPad", 18)
PAD = OperatorName("com.microsoft", "Pad", 1)
PATCHES = OperatorName("org.openvino", "ExtractImagePatches", 3)
BATCH_TO_SPACE = OperatorName("org.tensorflow", "BatchToSpaceND", 1)

TYPES = ("float", "float16", "bfloat16", "double", "int32", "int64", "uint8", "string")
FACTORS: Mapping[OperatorName, Mapping[str, tuple[str, ...]]] = {
    RESIZE_18: {
        "mode": ("nearest", "linear", "cubic"),
        "coordinate_transformation_mode": (
            "half_pixel",
            "asymmetric",
            "align_corners",
            "pytorch_half_pixel",
            "tf_crop_and_resize",
        ),
        "ratio": ("same", "down2", "up2", "up_fraction"),
        "antialias": ("0", "1"),
        "axes": ("absent", "some"),
    },
    RESIZE_13: {
        "mode": ("nearest", "linear", "cubic"),
        "coordinate_transformation_mode": (
            "half_pixel",
            "asymmetric",
            "align_corners",
            "pytorch_half_pixel",
        ),
        "ratio": ("same", "down2", "up2", "up_fraction"),
    },
    RESIZE_10: {"mode": ("nearest", "linear"), "ratio": ("same", "down2", "up2", "up_fraction")},
    CROP_PAD: {"extent": ("same", "crop", "pad", "from_zero"), "axes": ("absent", "negative", "some")},
    PAD: {"mode": ("constant", "edge", "reflect"), "value": ("absent", "rank0", "rank1")},
    PATCHES: {
        "auto_pad": ("valid", "same_lower", "same_upper"),
        "strides": ("one", "two", "beyond_image"),
        "rates": ("one", "three"),
    },
    BATCH_TO_SPACE: {
        "block_rank": ("1", "2", "3"),
        "crops": ("none", "some", "all_of_axis"),
        "block": ("ones", "twos"),
    },
}
CONSTRAINTS = {
    CROP_PAD: ("shape_length_is_axes", "axes_unique"),
    PAD: ("pads_length", "mode_known"),
    RESIZE_18: ("scales_xor_sizes",),
}


@dataclass(frozen=True)
class Sample:
    """An open suite and a record of a run of it."""

    suite: Suite
    record: Record


def bits(element_type: str, values: Any) -> Tensor:
    """A tensor of the type's storage from plain numbers."""
    found = ELEMENT_TYPES[element_type]
    array = np.asarray(values)
    if found.kind == "string":
        text = [str(each).encode() for each in array.reshape(-1)]
        stored = np.empty(len(text), dtype=object)
        stored[:] = text
        return Tensor(found, stored.reshape(array.shape))
    if element_type == "bfloat16":
        return Tensor(found, (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16))
    return Tensor(found, array.astype(found.storage))


def make_case(
    operator: OperatorName,
    family: str,
    levels: Mapping[str, str],
    element_type: str = "float",
    *,
    side: int = 4,
    demand: Demand = "answer",
    attributes: Attributes | None = None,
    **more: Any,
) -> Case:
    """A case whose output is the input, each element doubled (strings: unchanged), with a small allowance."""
    values = np.arange(1, side * side + 1).reshape(side, side)
    data = bits(element_type, values)
    given: dict[str, Attribute] = {
        name: attribute("string", level) for name, level in levels.items() if name in ("mode", "auto_pad")
    }
    given |= dict(attributes or {})
    # The levels go into the call, so that every case has an id of its own.
    marks = bits("int64", [sum(map(ord, level)) for level in levels.values()] or [0])
    inputs = (("X", data), ("roi", None), ("sizes", marks))
    wanted = bits(element_type, values if data.element_type.kind == "string" else values * 2)
    inexact = element_type in ("float", "double", "float16") and levels.get("mode") in ("linear", "cubic")
    allowed = np.full(wanted.shape, 2.0**-9) if inexact else None
    expectations = [Expectation((ExpectedOutput("Y", wanted, allowed, more.pop("alternatives", ())),))]
    if (
        levels.get("coordinate_transformation_mode") == "align_corners"
        and levels.get("ratio") == "up_fraction"
    ):
        wider = bits(element_type, np.pad(values * 2, ((0, 0), (0, 1)), mode="edge"))
        first = expectations[0].outputs
        expectations = [
            Expectation(first, {"align_corners_length": ("floored",)}),
            Expectation(
                (ExpectedOutput("Y", wider, np.full(wider.shape, 2.0**-9)),),
                {"align_corners_length": ("fractional",)},
            ),
        ]
    digest = call_digest(operator, given, inputs)
    return Case(
        CaseId(operator, family, more.get("constraint"), digest),
        ELEMENT_TYPES[element_type],
        given,
        inputs,
        ("Y",),
        demand,
        tuple(expectations) if demand == "answer" else (),
        levels={**levels, "element_type": element_type},
        rule=more.pop("rule", "the output has every element of X"),
        sources=more.pop("sources", (("d1", 109),)),
        **more,
    )


def sample_cases(keep: int = 3) -> Iterator[Case]:
    """Every `keep`th combination of levels and element types, and the invalid calls."""
    for operator, factors in FACTORS.items():
        combinations = itertools.product(*factors.values(), TYPES)
        seen = set()
        for number, (*levels, element_type) in enumerate(combinations):
            if number * 7 % keep:
                continue
            family = ("cover", "cover", "cover", "boundary", "example")[number % 5]
            side = 2 + number % 3 + (30 if number % 41 == 0 else 0)
            case = make_case(
                operator, family, dict(zip(factors, levels, strict=True)), element_type, side=side
            )
            if str(case.id) not in seen:
                seen.add(str(case.id))
                yield case
        for constraint in CONSTRAINTS.get(operator, ()):
            for element_type in ("float", "double"):
                levels_of = {name: values[0] for name, values in factors.items()}
                yield make_case(
                    operator,
                    "invalid",
                    levels_of,
                    element_type,
                    side=3,
                    demand="refuse",
                    constraint=constraint,
                    valid_case=f"{operator.path}/cover/0123456789ab",
                    rule=None,
                    sources=(),
                )


def planted(case: Case) -> Response:
    """What the runtime with planted faults does with a case."""
    levels, kind = case.levels, case.element_type.name
    if kind in ("bfloat16", "string") and case.operator.name == "Resize":
        return Refused(
            "NotImplemented", f"Could not find an implementation for Resize({kind})", unsupported="x"
        )
    if case.demand == "refuse":
        if case.constraint in ("pads_length", "shape_length_is_axes"):
            return Answered((case.inputs[0][1],), 0.0004)  # type: ignore[arg-type] # the input is there
        return Refused("InvalidArgument", f"{case.constraint} violated", seconds=0.0002)
    if levels.get("extent") == "from_zero":
        return Crashed(
            "the worker died of SIGFPE", "SIGFPE", stderr="Floating point exception\n", seconds=0.004
        )
    if levels.get("strides") == "beyond_image" and levels.get("auto_pad") == "valid":
        return TimedOut(10.0, "run")
    if levels.get("value") == "rank1":
        return Refused("InvalidArgument", "Pad: input 'value' must have rank 0, found rank 1", seconds=0.0003)
    return _answer(case, levels, kind)


def _answer(case: Case, levels: Mapping[str, str], kind: str) -> Response:
    wanted = case.expectations[0].outputs[0].expected
    values = wanted.array
    seconds = 0.0004 + 0.00001 * values.size
    if levels.get("crops") == "all_of_axis":
        return Answered((Tensor(wanted.element_type, values[:-1]),), seconds)
    if case.element_type.kind not in ("string",) and kind != "bfloat16":
        wrong = values.copy()
        if levels.get("mode") == "cubic" and levels.get("ratio") == "up2":
            wrong[0, 0] = 77
            return Answered((Tensor(wanted.element_type, wrong),), seconds)
        if levels.get("auto_pad") == "same_lower" and levels.get("rates") == "three":
            return Answered((Tensor(wanted.element_type, np.roll(values, 1, axis=1)),), seconds)
        if levels.get("antialias") == "1" and levels.get("mode") == "linear" and kind == "double":
            return Answered((Tensor(wanted.element_type, values + 2.0**-8.4),), seconds)
        if levels.get("mode") == "linear" and kind == "float":
            return Answered((Tensor(wanted.element_type, values + np.float32(2.0**-11)),), seconds)
    return Answered((wanted,), seconds)


def sample_facts() -> dict[str, Any]:
    """What a generator would say of the operators."""
    reading = {
        "id": "align_corners_length",
        "kind": "reading",
        "question": "the output length in align_corners when scale * length is fractional",
        "options": {"floored": "the integer output length", "fractional": "scale * length"},
        "evidence": [
            {"option": "floored", "kind": "text", "sources": [["d1", 66]], "note": None},
            {
                "option": "fractional",
                "kind": "example",
                "sources": [["d1", 512]],
                "note": "printed to 8 digits",
            },
        ],
        "chosen": None,
        "sources": [["d1", 66]],
    }
    finding = {
        "code": "attribute-type-missing",
        "severity": "warning",
        "document": "d1",
        "line": 38,
        "column": None,
        "message": "the attribute antialias has no type",
        "evidence": "`antialias : (default is 0)`",
        "action": "repaired",
    }
    found = {}
    for operator, factors in FACTORS.items():
        found[str(operator)] = {
            "documents": {
                "d1": {
                    "file": f"onnx__{operator.name}.rst",
                    "dialect": "onnx-sphinx-rst",
                    "sha256": "ab" * 32,
                    "identity": "asserted" if operator is BATCH_TO_SPACE else "stated",
                }
            },
            "readings": [reading] if operator.name == "Resize" and operator.since_version > 10 else [],
            "findings": [finding] if operator.name == "Resize" else [],
            "constraints": {
                each: {"rule": "len(pads) == 2 * rank(data)", "otherwise": "error", "sources": [["d1", 139]]}
                for each in CONSTRAINTS.get(operator, ())
            },
            "factors": {name: list(levels) for name, levels in factors.items()},
            "coverage": {
                "strength": 2,
                "feasible": 120,
                "covered": 118,
                "uncovered": [{"mode": "cubic", "antialias": 1}],
            },
        }
    return {"operators": found}


HEADER: dict[str, Any] = {
    "runtime": {"name": "example-runtime", "version": "2.1.0", "source": "package example_runtime-2.1.0"},
    "platform": "Linux x86-64, 2 cores",
    "options": {"timeout": 10, "forms": "default", "repeat": 1},
    "started": "2026-11-18T06:40:00Z",
}


@dataclass
class Maker:
    """Writes suites and records of cases and what a runtime answers to them."""

    folder: Path
    header: Mapping[str, Any] = field(default_factory=lambda: HEADER)

    def make(
        self,
        cases: list[Case],
        respond: Callable[[Case], Response] = planted,
        *,
        facts: Mapping[str, Any] | None = None,
        skip: int = 0,
        close: bool = True,
        change: Callable[[Case, Judgement], dict[str, Any]] | None = None,
        faults: tuple[Mapping[str, Any], ...] = (),
    ) -> Sample:
        """A suite of the cases and a record in which the last `skip` did not run."""
        path = self.folder / "suite"
        digest = write_suite(path, cases, sample_facts() if facts is None else facts, {})
        suite = open_suite(path)
        writer = RecordWriter(self.folder / "run.jsonl", {**self.header, "suite": digest})
        rows = []
        ids = suite.case_ids
        for number, each in enumerate(ids[: len(ids) - skip]):
            case = suite.case(each)
            response = respond(case)
            judged = judge(case, response)
            kept = tuple(
                writer.outputs.keep(
                    output, None if case.demand != "answer" or judged.verdict != "pass" else 0
                )
                for output in (response.outputs if isinstance(response, Answered) else ())
            )
            row = make_result(case, "inputs", 0, response, judged, kept)
            if change is not None:
                row = replace(row, **change(case, judged))
            rows.append(row)
            writer.append(row, (number, 0, 0))
        if close:
            writer.finish(count_verdicts(case_verdicts(rows).values()), faults)
        writer.close()
        return Sample(suite, read_record(self.folder / "run.jsonl"))


__all__ = ["Alternative", "Maker", "NotOffered", "Sample", "make_case", "planted", "sample_cases"]
