"""The same common operators on every built-in runtime, in the forms of inputs: docs/tables/runtimes.md.

Usage: uv run python -m tools.runtimes [-o RECORDS] [RUNTIME...] > docs/tables/runtimes.md

Counts verdicts by form, and the deaths of workers by signal. Writes nothing where a case lacks its verdict in
a form. Of records that are whole already none is made again.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from conformance.judging.verdicts import LOST, NOT_JUDGED, VERDICTS
from conformance.models.case_models import CARRIED
from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.running.harness import run_request
from conformance.running.resuming import RecordPlace
from conformance.running.run_options import RunOptions, RunRequest
from conformance.runtimes.runtimes import find_runtime, list_runtimes
from conformance.suite.suites import Suite, open_suite
from generator.making.operators.opsets import operators_of_dialect, operators_of_opset
from generator.making.operators.workshop import Options
from generator.making.suites.cache import cached_suite
from reports.causes.operator_use import counted_models

OPSET, MOST_USED = 17, 25
OF_TENSORFLOW = (
    *("AddV2", "BatchMatMulV2", "BiasAdd", "ClipByValue", "Cumsum", "Equal", "Exp", "ExpandDims", "GatherV2"),
    *(
        "Identity",
        "LeakyRelu",
        "Log",
        "LogSoftmax",
        "MatMul",
        "Maximum",
        "Min",
        "Mul",
        "Pad",
        "RealDiv",
        "Relu",
    ),
    *("Sigmoid", "Squeeze", "Sum", "Tile", "Transpose"),
)
CASES = 24
TENSORFLOW = ("ai-edge-litert", "tensorflow", "tfjs", "tflite-micro")
FEWER = {"apache-tvm": 4, "emx-onnx-cgen": 2, "iree": 4, "tinygrad": 4}
"""Cases of an operator where a call takes a third of a second or more, most of it a compiler."""
_FEWER = " or ".join(map(str, sorted(set(FEWER.values()))))
HEAD = f"""# Runtimes

What every built-in runtime does with {CASES} cases of each of {MOST_USED} common operators, {_FEWER} where a
compiler takes long, chosen by the digests of their ids from suites of the size `small`: calls that must be
refused, or only survived, among them. The operators are those that most of {{models}} public models use, in
ONNX's opset {OPSET}; for TensorFlow's four runtimes {len(OF_TENSORFLOW)} of `tf.raw_ops`. Made by
`uv run python -m tools.runtimes`; how to add a runtime is in [CONTRIBUTING.md](../../CONTRIBUTING.md).
"""
VERDICTS_HEAD = """## Verdicts

In the form `inputs`. What only had to survive, and did, counts as a case alone. The seconds are those of all
forms, with every start of a worker, on one of two cores that had much else to do.
"""
FORMS_HEAD = """### In other forms

A form with as many of each verdict as `inputs` has no row.
"""
NOTES = """## What stands out

- **tract** takes many inputs as constants alone: the form `initializers` asks it most. Where Rust panics the
  process aborts: Resize of an empty tensor or of rank 0, Pad with negative widths. It computes Resize in
  float32 whatever the element type, so that wide integers and doubles lose digits; the mode nearest loses the
  sign of zero; with `tf_crop_and_resize` and `scales` the output is as long as without a `roi`.
- **OpenCV** divides by zero (SIGFPE) in Resize-19 where `axes` names the outer axes. It moves 64-bit integers
  through 32 bits, answers float16 with float32, and gives None for an empty output.
- **OpenVINO** aborts at Pad that removes more than there is: at once, or when the model is given up.
- **ONNX Runtime**, in all three packages, refuses Resize with `sizes` where the length of `sizes` is not
  known before the run (form `dynamic`): its shape inference takes the unknown length for 0. Both npm packages
  end a string at its first NUL.
- **nxrt** computes doubles in float32, also where nothing is computed (Relu of 1e300 is infinite). It
  takes models of operator sets that it does not know all of, and ignores what is new in them: the windows
  of Attention-25, the `mode` of SpaceToDepth-28.
- **Apache TVM** answers -1 to ArgMax where all elements are the least of their type (two bytes that are
  0, two minus infinities), ignores `detect_negative` and `detect_positive` of IsInf, and gives what was
  in memory for a product over no elements.
- **MNN** divides by zero (SIGFPE) in pooling without `strides`, crashes (SIGSEGV) with bytes, multiplies
  integers to 0, and gives the elements of a Gemm in another order where `transA` is set and B a constant.
  It has tensors of float, int32 and bytes: calls with others at the ends of a model are not put to it.
- **tinygrad** remembers the shapes, bounds and axes of the first call of a model: Reshape to [6, 1] after
  one to [3, 2] is [3, 2] again, and a named extent keeps its first length. A case took 1.5 s (clang).
- **Aidge** leaves the shape [1] where everything is reduced to a scalar, makes a window too few where
  `auto_pad` is SAME_UPPER or SAME_LOWER, takes a tensor without elements for none, and has NaN for the mean
  of numbers with an infinity among them.
- **JAX ONNX Runtime** gives a sum of int32 as int64 and Gemm of integers as double, takes an alpha or beta
  of 0 for 1, puts the last of equal elements first in TopK, and rejects negative pads.
- **IREE** compiled for its interpreter (`iree[target=vmvx]`) doubles an image of 2 x 3 with one column of
  another's weights; for the processor it is right. Clip compares unsigned integers as signed ones.
- **emx-onnx-cgen** compiles a program for each case, a second or more: a part of the cases comes first. It
  joins strings in Concat and makes C of Pad of a scalar that does not compile. gcc before 13 has no bfloat16
  for it.
- **wonnx** pads images or windows that are no squares wrongly where `auto_pad` is SAME, joins inner axes end
  to end in Concat, reads 3 x 3 weights of four channels from the wrong places, and gives 0 for a product of
  one row. Whole factors (an alpha of 2.0), a Clip without a bound and lengths of Split do not compile. It
  takes float32 alone, in shapes known before the run; `wonnx[driver=/path/icd.json]` names a Vulkan driver.
- **onnx2torch** sums backwards in CumSum without `reverse`, takes others for the axes [-2, -1] of ReduceMax
  where `keepdims` is 0, turns the indices of NonZero, and makes floats of Clip's integers.
- **jaxlib** is asked 51 operators, as StableHLO that means the same; all that was decided passed.
- Of the whole suite `tensorflow`, 9205 cases of 68 operators, TensorFlow passes 8269, LiteRT 3752,
  TensorFlow.js 2523 and TensorFlow Lite Micro 2233.
- **TensorFlow** gives 0.99999994 for Reciprocal of 1 where there are eight floats or more, makes NaN in LRN
  of channels beyond the window of an infinity, and loses three bits of LRN's powers in float16; GatherNd
  refuses slices without elements.
- **TensorFlow.js** has no types but float32, int32, bool, complex64 and strings: two cases of three are not
  put to it. It leaves no elements of a Cumsum along a negative axis, takes the wrong batches where
  BatchMatMulV2 broadcasts, ignores `axis` of OneHot, and rounds int32 to float32 in Abs.
- **LiteRT** is asked 50 of the 68 operators, where TensorFlow Lite has a builtin that means the same. With
  XNNPACK, its default, Exp of NaN is 0 and sines from 1e7 on are wrong, which `ai-edge-litert[delegate=none]`
  has right, but it makes the greatest float of infinities in Add, Mul and RealDiv. Either way Equal of bytes
  aborts, ReverseV2 without an axis crashes, and Transpose of a scalar answers what was in memory.
- **TensorFlow Lite Micro** makes the greatest float of infinities as well, and 0 of products of int16.

### OpenVINO by its own operators

The suite `openvino`, nodes of its operator sets, in the form `initializers`: OpenVINO passes 9641 of 11845
cases and fails 1269. Axes, shapes and the like are constants there. As inputs of the model they leave ranks
or extents open, and OpenVINO 2026.4.1 takes none of Unsqueeze, ReduceLogicalAnd and ReduceLogicalOr, and a
third fewer other reductions. Of OpenVINO's failures 837 are numbers of 64 bits, and unsigned ones of 32, in
32 bits. What ordinary data meets: -128 minus -128 is -1 in int8; sums of int8 are saturated in parts, and
those of uint8 are 0 from 32768 on; HardSigmoid takes 0 for a number left out; what pages give a default is
refused without it (the axis of CumSum, `block_size` of DepthToSpace, `output_type` of ShapeOf, `B` of
GRUCell); an equation of Einsum with a blank is refused; Broadcast to a constant shape without elements, or
with a 0 in it, ends the process.
"""
Runs = Mapping[str, Record]
"""By runtime the record of a run in every form."""
_OPERATOR = re.compile(r"(\b[a-z.]+::)(\w+-\d+)\b")
_COUNTED = re.compile(r" \((\d+) cases?\)$")
_SHOWN = tuple(verdict for verdict in VERDICTS if verdict not in (*NOT_JUDGED, "observed"))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """A table in Markdown, and an empty line."""
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield f"| {' | '.join(str(each) if each != 0 else '-' for each in row)} |"
    yield ""


def verdict_rows(runs: Runs) -> Iterator[list[object]]:
    """For each runtime and form how many cases there were, and how many of each verdict."""
    for runtime, record in runs.items():
        for form in forms_of(record):
            rows = [row for row in record.results if row.form == form]
            counted = Counter(row.verdict for row in rows)
            yield [runtime, form, len(rows), *(counted[verdict] for verdict in _SHOWN)]


def seconds_of(record: Record) -> int:
    """How long a run took, from its first start to its end."""
    begun, done = (
        datetime.fromisoformat(str(of["started" if "started" in of else "finished"]))
        for of in (record.header, record.footer or record.header)
    )
    return max(1, round((done - begun).total_seconds()))


def forms_of(record: Record) -> list[str]:
    """The forms of inputs that a record has rows of, `inputs` first."""
    found = {row.form for row in record.results}
    return [form for form in CARRIED if form in found]


def death_rows(runs: Runs) -> Iterator[list[object]]:
    """The workers lost, by runtime and reason, with the forms, the operators and one case of each."""
    for runtime, record in runs.items():
        lost: dict[str, list[Result]] = defaultdict(list)
        for row in record.results:
            if row.verdict in LOST:
                lost[row.reason or row.verdict].append(row)
        for reason, rows in sorted(lost.items()):
            forms = ", ".join(form for form in CARRIED if any(row.form == form for row in rows))
            operators = sorted({row.operator.rpartition("::")[2] for row in rows})
            yield [runtime, forms, reason, few(operators), len(rows), f"`{rows[0].case}`"]


def few(names: Sequence[str]) -> str:
    """The first names, and how many others there are."""
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"


def fault_rows(runs: Runs) -> Iterator[list[object]]:
    """What only a whole run shows, as its record words it: one row where operators share it."""
    for runtime, record in runs.items():
        for text in faults_alike(record.footer or {}):
            yield [runtime, text]


def faults_alike(footer: Mapping[str, Any]) -> Iterator[str]:
    """The messages of a run's faults; those that differ in operator and count alone are one."""
    alike: dict[str, tuple[list[str], list[str]]] = {}
    for fault in footer.get("faults", ()):
        counted, operator = _COUNTED.search(fault["message"]), _OPERATOR.search(fault["message"])
        text = _OPERATOR.sub(r"\1{}", _COUNTED.sub("", fault["message"]), count=1)
        operators, counts = alike.setdefault(text, ([], []))
        operators += [operator[2]] if operator else []
        counts += [counted[1]] if counted else []
    for text, (operators, counts) in alike.items():
        number = sum(map(int, counts))
        cases = f" ({number} case{'' if number == 1 else 's'})" if counts else ""
        yield text.replace("{}", few(operators), 1) + cases


def write(models: int, suites: Iterable[Suite], runs: Runs) -> Iterator[str]:
    """The document, line by line."""
    yield HEAD.format(models=models)
    versions = {name: record.header["runtime"]["version"] for name, record in runs.items()}
    yield f"The suites: {', '.join(f'{each.digest[:12]} ({len(each.case_ids)} cases)' for each in suites)}.\n"
    rows = list(verdict_rows(runs))
    seen = [place for place in range(3, 3 + len(_SHOWN)) if any(row[place] for row in rows)]
    rows = [[*row[:3], *(row[place] for place in seen)] for row in rows]
    first = {row[0]: row for row in reversed(rows)}
    words = ("cases", *(_SHOWN[place - 3].replace("_", " ") for place in seen))
    yield VERDICTS_HEAD
    yield from table(
        ("runtime", *words, "seconds"),
        ([f"{name} {versions[name]}", *first[name][2:], seconds_of(record)] for name, record in runs.items()),
    )
    yield FORMS_HEAD
    yield from table(("runtime", "form", *words), (row for row in rows if row[2:] != first[str(row[0])][2:]))
    yield "## Crashes and hangs\n\nEach cost the one case that its worker was at.\n"
    yield from table(("runtime", "forms", "reason", "operators", "cases", "one of them"), death_rows(runs))
    yield "## Faults\n\nWhat only the whole run shows: answers that differ, and readings that do not agree.\n"
    yield from table(("runtime", "fault"), fault_rows(runs))
    yield NOTES


def check_whole(asked: Iterable[str], record: Record) -> None:
    """Raise SystemExit where a verdict is missing, stands there twice, or is none of the runtime's."""
    given = Counter((case, form) for case in asked for form in forms_of(record))
    recorded = Counter((row.case, row.form) for row in record.results)
    ours = [row.case for row in record.results if row.verdict in NOT_JUDGED]
    if recorded != given or ours:
        raise SystemExit(
            f"{record.path}: {given - recorded} lost, {recorded - given} twice, {ours} not asked"
        )


def cases_of(suite: Suite, number: int) -> list[str]:
    """So many cases of each operator version of a suite: those whose ids have the least digests."""
    by_operator: dict[str, list[str]] = defaultdict(list)
    for case in sorted(suite.case_ids, key=lambda case: hashlib.sha256(case.encode()).digest()):
        by_operator[case.rsplit("/", 2)[0]].append(case)
    return [case for cases in by_operator.values() for case in cases[:number]]


def common_suites() -> Iterator[Suite]:
    """The suite of ONNX's operators, and that of TensorFlow's."""
    used = counted_models().operators
    most = sorted(used, key=lambda each: used[each], reverse=True)[:MOST_USED]
    onnx = [each for each in operators_of_opset(OPSET) if str(each).rpartition("-")[0] in most]
    tensorflow = [each for each in operators_of_dialect("tensorflow") if each.name in OF_TENSORFLOW]
    for operators in (onnx, tensorflow):
        yield open_suite(cached_suite(operators, Options.of("small"), _say))


def _say(sentence: object) -> None:
    print(sentence, file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("runtimes", nargs="*", default=list_runtimes())
    parser.add_argument("-o", "--records", type=Path, default=Path("out", "runtimes"))
    given = parser.parse_args()
    suites, runs = list(common_suites()), {}
    given.records.mkdir(parents=True, exist_ok=True)
    for name in given.runtimes:
        _say(name)
        asked = cases_of(suites[name in TENSORFLOW], FEWER.get(name, CASES))
        forms = dict.fromkeys(asked, CARRIED)
        request = RunRequest(
            suites[name in TENSORFLOW], find_runtime(name), RunOptions(forms="all"), forms, forms
        )
        place = given.records / f"{request.runtime.slug}.jsonl"
        runs[name] = run_request(request, RecordPlace(place, resume=place.exists()))
        check_whole(asked, runs[name])
    print("\n".join(write(counted_models().number, suites, runs)).rstrip())


if __name__ == "__main__":
    main()
