"""The suite of the first operators on every runtime, in every form that it takes: docs/tables/runtimes.md.

Usage: uv run python -m tools.runtimes [-s SUITE] [RUNTIME...] > docs/tables/runtimes.md

Counts verdicts by form and family, and the deaths of workers by signal. Writes nothing where a case lacks its
verdict in a form.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.judging.verdicts import NOT_JUDGED, VERDICTS
from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime, list_runtimes
from conformance.suite.suites import Suite, open_suite
from generator.making.operators.named_suites import FIRST
from generator.making.suites.cache import named_suite

HEAD = """# Runtimes

What the built-in runtimes do with the suite `first-operators`, the families `invalid` and `survival`
included, in every form that each takes. Made by `uv run python -m tools.runtimes`; how to add a runtime
is in [CONTRIBUTING.md](../../CONTRIBUTING.md).
"""
VERDICTS_HEAD = """## Verdicts

By the form that inputs take: each case has one verdict in each form. The first form is the preferred one.
"""
NOTES = """## What stands out

- **tract** takes every input but the first as a constant: only the form `initializers` asks it anything.
  Where Rust panics the process aborts: Resize of an empty tensor or of rank 0, Pad with negative widths.
  It computes Resize in float32 whatever the element type, so that wide integers and doubles lose digits; the
  mode nearest loses the sign of zero; with `tf_crop_and_resize` and `scales` the output is as long as without
  a `roi`.
- **OpenCV** divides by zero (SIGFPE) in Resize-19 where `axes` names the outer axes. It moves 64-bit integers
  through 32 bits, answers float16 with float32, and gives None for an empty output.
- **OpenVINO** aborts at Pad that removes more than there is: at once, or when the model is given up.
- **ONNX Runtime**, in all three packages, refuses Resize with `sizes` where the length of `sizes` is not
  known before the run (form `dynamic`): its shape inference takes the unknown length for 0. Both npm packages
  end a string at its first NUL.

## Asked in part

Some were asked less, in the form that each prefers, on two cores that had much else to do: twelve operators
(Relu-14, Conv-22, Add-14, ArgMax-13, MatMul-13, Gemm-13, Softmax-13, ReduceSum-13, ReduceMax-20, Clip-13,
AveragePool-22, Attention-25), a part of them (`--shard`), or others. What only had to survive is left out.

| runtime | suite | cases asked | seconds | pass | fail | unsupported | crashes survived |
|---|---|---|---|---|---|---|---|
| nxrt 0.1.0.dev6 | twelve operators | 2225 | 34 | 1465 | 187 | 268 | - |
| mnn 3.6.1 | twelve operators, 1/3 | 746 | 244 | 191 | 118 | 370 | 56 |
| aidge 0.10.1 | twelve operators, 1/3 | 746 | 143 | 303 | 39 | 319 | 7 |
| jaxonnxruntime 0.3.0 | twelve operators, 1/3 | 746 | 45 | 375 | 37 | 243 | - |
| iree 3.13.0 | twelve operators, 1/20 | 127 | 103 | 77 | 2 | 37 | - |
| emx-onnx-cgen 1.4.0 (gcc 12) | twelve operators, 1/20 | 127 | 566 | 92 | - | 24 | - |
| wonnx 0.5.1 (Mesa's lavapipe) | twelve operators | 2225 | 39 | 478 | 232 | 1271 | - |
| onnx2torch 1.5.15 (torch 2.13.0) | 36 operators, most of opset 13, 1/3 | 2344 | 90 | 1500 | 157 | 510 | - |
| jaxlib 0.10.2 (StableHLO) | 36 operators, most of opset 13, 1/3 | 2344 | 160 | 1210 | - | 961 | - |
| tensorflow 2.21.0 | `tensorflow` (68 operators of `tf.raw_ops`) | 9205 | 47 | 8269 | 37 | 158 | 1 |
| tfjs 4.22.0 | `tensorflow` (68 operators) | 9205 | 28 | 2523 | 54 | 6291 | - |
| ai-edge-litert 2.3.0 | `tensorflow` | 9205 | 86 | 3752 | 79 | 4592 | 37 |
| tflite-micro 0.dev20261023182759 | `tensorflow` | 9205 | 97 | 2233 | 152 | 6077 | 21 |
| openvino 2026.4.1 | `openvino` | 11845 | 876 | 9641 | 1269 | 46 | 13 |

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
  `auto_pad` is SAME_UPPER or SAME_LOWER, and takes a tensor without elements for none.
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

The suite `openvino`, nodes of its operator sets, in the form `initializers`: axes, shapes and the like are
constants there. As inputs of the model they leave ranks or extents open, and OpenVINO 2026.4.1 takes none of
Unsqueeze, ReduceLogicalAnd and ReduceLogicalOr, and a third fewer other reductions. Of OpenVINO's failures
837 are numbers of 64 bits, and unsigned ones of 32, in 32 bits. What ordinary data meets: -128 minus -128 is
-1 in int8; sums of int8 are saturated in parts, and those of uint8 are 0 from 32768 on; HardSigmoid takes 0
for a number left out; what pages give a default is refused without it (the axis of CumSum, `block_size` of
DepthToSpace, `output_type` of ShapeOf, `B` of GRUCell); an equation of Einsum with a blank is refused;
Broadcast to a constant shape without elements, or with a 0 in it, ends the process.
"""
Runs = Mapping[str, Record]
"""By runtime the record of a run of the whole suite in every form."""
_VERSION = re.compile(r"(\b[a-z.]+::\w+)-(\d+)\b")
_COUNTED = re.compile(r" \((\d+) cases?\)$")
_SHOWN = tuple(verdict for verdict in VERDICTS if verdict not in NOT_JUDGED)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """A table in Markdown, and an empty line."""
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield f"| {' | '.join(str(each) if each != 0 else '-' for each in row)} |"
    yield ""


def verdict_rows(runs: Runs, keep: frozenset[str] | None = None) -> Iterator[list[object]]:
    """For each runtime and form how many cases of the families `keep` got each verdict."""
    for runtime, record in runs.items():
        for form in record.header["options"]["forms"]:
            rows = [row for row in record.results if row.form == form]
            counted = Counter(row.verdict for row in rows if keep is None or row.family in keep)
            yield [runtime, form, sum(counted.values()), *(counted[verdict] for verdict in _SHOWN)]


def death_rows(runs: Runs) -> Iterator[list[object]]:
    """The workers lost, by runtime, form, reason and operator, with one case of each."""
    for runtime, record in runs.items():
        lost: dict[tuple[str, str, str], list[Result]] = {}
        for row in record.results:
            if row.verdict in ("crash", "timeout"):
                key = (row.reason or row.verdict, row.operator, row.form)
                lost.setdefault(key, []).append(row)
        for (reason, operator, form), rows in sorted(lost.items()):
            yield [runtime, form, reason, operator, len(rows), f"`{rows[0].case}`"]


def fault_rows(runs: Runs) -> Iterator[list[object]]:
    """What only a whole run shows, as its record words it: one row where versions of an operator share it."""
    for runtime, record in runs.items():
        for text in faults_of_versions(record.footer or {}):
            yield [runtime, text]


def faults_of_versions(footer: Mapping[str, Any]) -> Iterator[str]:
    """The messages of a run's faults; those that differ in version and count alone are one."""
    alike: dict[str, tuple[list[str], list[str]]] = {}
    for fault in footer.get("faults", ()):
        counted, version = _COUNTED.search(fault["message"]), _VERSION.search(fault["message"])
        text = _VERSION.sub(r"\1-{}", _COUNTED.sub("", fault["message"]), count=1)
        versions, counts = alike.setdefault(text, ([], []))
        versions += [version[2]] if version else []
        counts += [counted[1]] if counted else []
    for text, (versions, counts) in alike.items():
        cases = f" ({', '.join(counts)} case{'' if counts == ['1'] else 's'})" if counts else ""
        yield text.replace("{}", ", ".join(versions), 1) + cases


def write(suite: Suite, runs: Runs) -> Iterator[str]:
    """The document, line by line."""
    yield HEAD
    yield f"The suite {suite.digest[:12]}: {len(suite.case_ids)} cases.\n"
    identities = (record.header["runtime"] for record in runs.values())
    yield from table(
        ("runtime", "version", "environment"),
        ([identity["name"], identity["version"], _environment(identity)] for identity in identities),
    )
    words = [each.replace("_", " ") for each in _SHOWN]
    yield VERDICTS_HEAD
    yield from table(("runtime", "form", "cases", *words), verdict_rows(runs))
    yield "### Of the families `invalid` and `survival` alone\n"
    yield from table(
        ("runtime", "form", "cases", *words), verdict_rows(runs, frozenset(("invalid", "survival")))
    )
    yield "## Crashes and hangs\n\nEach cost the one case that its worker was at.\n"
    yield from table(("runtime", "form", "reason", "operator", "cases", "one of them"), death_rows(runs))
    yield "## Faults\n\nWhat only the whole run shows: answers that differ, and readings that do not agree.\n"
    yield from table(("runtime", "fault"), fault_rows(runs))
    yield NOTES


def check_whole(suite: Suite, runs: Runs) -> None:
    """Raise SystemExit where a verdict is missing, stands there twice, or is none of the runtime's."""
    for runtime, record in runs.items():
        forms = record.header["options"]["forms"]
        given = Counter((case, form) for case in suite.case_ids for form in forms)
        recorded = Counter((row.case, row.form) for row in record.results)
        ours = [row.case for row in record.results if row.verdict in NOT_JUDGED]
        if recorded != given or ours:
            raise SystemExit(
                f"{runtime}: {given - recorded} lost, {recorded - given} twice, {ours} not asked"
            )


def _environment(identity: Mapping[str, Any]) -> str:
    platform = identity["offer"]["platform"]
    return f"Node.js {platform['node']}" if "node" in platform else f"Python {platform['python']}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("runtimes", nargs="*", default=list_runtimes())
    parser.add_argument("-s", "--suite", type=Path, help="by default that of the first operators")
    arguments = parser.parse_args()
    suite = open_suite(arguments.suite or named_suite(FIRST, lambda said: print(said, file=sys.stderr)))
    with tempfile.TemporaryDirectory() as folder:
        runs = {}
        for name in arguments.runtimes:
            print(name, file=sys.stderr)
            runtime = find_runtime(name)
            place = Path(folder) / f"{runtime.slug}.jsonl"
            runs[name] = run_suite(suite, runtime, place, RunOptions(forms="all"))
        check_whole(suite, runs)
        print("\n".join(write(suite, runs)).rstrip())


if __name__ == "__main__":
    main()
