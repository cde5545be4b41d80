#!/usr/bin/env python3
"""Run the case in this folder on a runtime and say whether its answer is what the documents say.

Usage: python reproduce.py [--runtime onnxruntime|onnx|openvino|tensorflow|tract|opencv]
                           [--runtime aidge|apache-tvm|emx-onnx-cgen|iree|jaxonnxruntime|mnn|nxrt]
                           [--runtime onnx2torch|tinygrad|wonnx|ai-edge-litert|tflite-micro|tfjs]
                           [--runtime onnxoptimizer|onnxsim|onnxslim|onnxscript]
                           [--provider OpenVINO|PACKAGE|/PATH/OF/LIBRARY] [--provider-options KEY=VALUE;...]
                           [--form inputs|initializers|dynamic|strided|again|untouched|threads]

Needs numpy, onnx and that runtime, nothing else; an optimiser of models needs onnxruntime, too, which runs
the model before and after. LiteRT and TensorFlow Lite Micro need flatbuffers, TensorFlow.js needs node and
`npm install @tensorflow/tfjs` where this is started. A provider is one of onnxruntime's: its name, or the
package or library of a plug-in; `--provider-options delegate=none` is LiteRT without XNNPACK,
`target=vmvx` IREE's interpreter, `driver=/PATH/icd.json` the driver of wonnx. How each runtime is called
stands in `runtimes`.
Exit code: 1 if the failure reproduces, 0 if the runtime does what must happen, 2 if it cannot be
tried here, or the runtime says that it does not offer it. The call runs in a process of its own, so that a
crash or a hang is told from an answer. Of an ONNX model there are these forms: all inputs given, all but the
first part of the model (for an optimiser all), dimensions left open, and the first input turned by a
Transpose before the node. In three more it runs several times: behind a call of other dimensions, with an eye
on the memory of inputs and outputs, and with each number of threads.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import subprocess
import sys
import tempfile
import traceback
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

if TYPE_CHECKING or __package__:
    from reports.single_cases.reproduction import case_values
    from reports.single_cases.reproduction.case_values import Inputs
else:
    sys.path.insert(0, str(Path(__file__).resolve().parent / "runtimes"))
    import case_values
    from case_values import Inputs

FORMS = ("inputs", "initializers", "dynamic", "strided", "again", "untouched", "threads")
THREADS = (1, 2, 4)
TURNED = "_turned"
_BESIDE = f"{__package__}." if __package__ else ""
RUNTIMES: dict[str, case_values.BareRuntime] = {
    name: runtime
    for path in sorted(Path(case_values.__file__).parent.glob("on_*.py"))
    for name, runtime in import_module(_BESIDE + path.stem).RUNTIMES.items()
}


def say(text: str) -> None:
    """Print a text; what would be an order to a terminal or to continuous integration is written out."""
    visible = "".join(each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in text)
    print(
        re.sub(r"(?m)^(\s*:):|(##\w*)\[", lambda at: f"{at[1]}\\x3a" if at[1] else f"{at[2]}\\x5b", visible)
    )


def read_model(form: str, folder: str) -> bytes:
    """The model in a form, which of many cases is the same as another; nothing where the case has none."""
    paths = (case_values.HERE / folder / "forms" / f"{form}.onnx", case_values.HERE / folder / "model.onnx")
    return next((path.read_bytes() for path in paths if path.exists()), b"")


def fitting(model: bytes, inputs: Inputs) -> Inputs:
    """What a model takes of the inputs: one that it turns itself is given turned."""
    known, found = dict(inputs), []
    for value_info in onnx.load_from_string(model).graph.input:
        if value_info.name in known:
            found.append((value_info.name, known[value_info.name]))
        else:
            array = known[value_info.name[: -len(TURNED)]]
            found.append((value_info.name, np.ascontiguousarray(array.transpose())))
    return found


def judge(case: dict[str, Any], outputs: list[Any]) -> bool:
    """Print how the outputs stand to every expectation that may hold; True if one does."""
    holds = False
    for number, expectation in enumerate(case["expectations"], 1):
        several = len(case["expectations"]) > 1
        say(
            f"expectation {number} of {len(case['expectations'])}: {expectation['readings']}"
            if several
            else ""
        )
        if len(expectation["outputs"]) != len(outputs):
            say(f"  {len(outputs)} outputs instead of {len(expectation['outputs'])}")
            continue
        verdicts = []
        for expected, output in zip(expectation["outputs"], outputs, strict=True):
            wanted = case_values.read_tensor(expected["file"])
            say(f"expected {expected['name']}: {wanted.dtype} {list(wanted.shape)}\n{wanted}")
            if expected["allowed"]:
                limit = case_values.read_tensor(expected["allowed"])
                if limit.size:
                    say(f"allowed error: {limit.min():g} to {limit.max():g}")
            right, text = case_values.compare(output, expected)
            say(text)
            verdicts.append(right)
        holds = holds or all(verdicts)
    return holds


def says_unsupported(runtime: str, kind: str, text: str) -> bool:
    """Whether a runtime says that it does not offer something, by its rules in `unsupported.json`."""
    rules = json.loads((case_values.HERE / "unsupported.json").read_text(encoding="utf-8")).get(runtime, [])
    return any(re.fullmatch(rule["kind"], kind) and re.search(rule["message"], text) for rule in rules)


def answers_of(
    case: dict[str, Any], runtime: str, form: str, model: bytes, inputs: Inputs
) -> list[tuple[str, list[Any], str]]:
    """The answers that are judged: which each is, its outputs, and what it touched that belongs to others."""
    run, usual = RUNTIMES[runtime].run, RUNTIMES[runtime].threads
    given = fitting(model, inputs) if model else inputs
    if form == "threads":
        every = [(f"threads {thread}", run(case, model, [given], thread)[0]) for thread in THREADS]
        return [(which, outputs, "") for which, outputs in every]
    if form == "again":
        before = [
            (each["name"], case_values.read_tensor(each["file"])) for each in case["between"] if each["file"]
        ]
        calls = [fitting(model, before), given] if before else [given]
        every_run = run(case, model, calls * 2, usual)
        return [("run 1", every_run[len(calls) - 1], ""), ("run 2", every_run[-1], "")]
    if form == "untouched":
        calls = [[(name, copy.deepcopy(array)) for name, array in given] for _ in range(2)]
        first, second = run(case, model, calls, usual)
        touched = [
            touched_by(given, call, outputs, earlier)
            for call, outputs, earlier in zip(calls, (first, second), ([], first), strict=True)
        ]
        return [("run 1", first, touched[0]), ("run 2", second, touched[1])]
    return [("", run(case, model, [given], usual)[0], "")]


def touched_by(given: Inputs, call: Inputs, outputs: list[Any], earlier: list[Any]) -> str:
    """What a run touched of its inputs, and where its outputs lie that is not their own."""
    found = []
    outputs = [output for output in outputs if isinstance(output, np.ndarray)]
    earlier = [output for output in earlier if isinstance(output, np.ndarray)]
    for (name, before), (_, after) in zip(given, call, strict=True):
        if not isinstance(after, np.ndarray):
            continue
        if not case_values.same(np.asarray(after), np.asarray(before)).all():
            found.append(f"the input {name} is changed")
        places = [place for place, output in enumerate(outputs) if np.shares_memory(output, after)]
        found += [f"output {place} lies in the memory of the input {name}" for place in places]
    for place, output in enumerate(outputs):
        if any(np.shares_memory(output, other) for other in earlier):
            found.append(f"output {place} lies in the memory of an output of the run before")
    return "; ".join(found)


def call(
    case: dict[str, Any], runtime: str, form: str, provider: str = "", options: str = ""
) -> dict[str, Any]:
    """Make the call and judge it, in this process."""
    known = RUNTIMES[runtime]
    types = [case.get("types", {}).get(name) for name in case["outputs"] if name]
    structured = any(types) or any(each.get("type") for each in case["inputs"])
    folder = "packed" if structured and not known.takes_values else ""
    if folder and not (case_values.HERE / folder).exists():
        return {"absent": f"{runtime} takes no such values at the ends of a graph, and no node makes them"}
    listed = case["packed"] if folder else case["inputs"]
    inputs = [(each["name"], case_values.read_value(each)) for each in listed if each["file"]]
    preferred = "dynamic" if form == "again" else known.first_form
    carried = form if form in FORMS[:4] else preferred
    case["now"] = {"runtime": runtime, "form": carried, "provider": provider, "options": options}
    model = read_model(carried, folder)
    if case["domain"] != known.domain and not (known.takes_models and model):
        return {"absent": f"{runtime} has no operators of {case['domain']}"}
    if not model and form != "inputs":
        return {"absent": f"only a model has the form {form}"}
    if form == "threads" and not known.chooses_threads:
        return {"absent": f"{runtime} is not told how many threads there are"}
    try:
        import_module(known.module)
    except ImportError as error:
        return {"absent": str(error)}
    arrays = [array for _, array in inputs if isinstance(array, np.ndarray)]
    lacking = sorted({str(array.dtype) for array in arrays if known.lacks(array)})
    if lacking:
        return {"absent": f"{runtime} does not offer tensors of {' or '.join(lacking)}"}
    try:
        answers = answers_of(case, runtime, form, model, inputs)
    except case_values.NotThere as error:
        return {"absent": str(error)}
    except Exception as error:  # noqa: BLE001 - whatever a runtime raises is its refusal
        kind, text = type(error).__name__, str(error)
        rules = [runtime, *(["provider"] if provider else [])]
        unsupported = any(says_unsupported(each, kind, text) for each in rules)
        return {"refused": f"{kind}: {text}", "unsupported": unsupported}
    kinds = [] if folder else types
    said = judge_answers(case, answers, kinds if structured else None)
    if not said["holds"] and case["now"].get("kept"):
        return {"absent": "the model answers the same before it is optimised"}
    return said


def judge_answers(
    case: dict[str, Any], answers: list[tuple[str, list[Any], str]], types: list[str | None] | None
) -> dict[str, Any]:
    """What the answers come to; `types` are those of outputs that are no tensors, where there may be some."""
    structured = types is not None
    for which, found, touched in answers:
        if which:
            say(which)
        try:
            kinds = [*(types or ()), *[None] * len(found)]
            pairs = zip(found, kinds, strict=False)
            outputs = [
                part
                for each, kind in pairs
                for part in (case_values.parts_of(each, kind) if structured else [each])
            ]
        except case_values.OtherKind as error:
            return {"holds": case["demand"] != "answer", "problem": f"an output is {error}"}
        outputs = [np.asarray(each) for each in outputs]
        told = case["expectations"] if structured else []
        names = [each["name"] for each in told[0]["outputs"]] if told else case["outputs"]
        for name, output in zip(names, outputs, strict=False):
            say(f"got {name}: {output.dtype} {list(output.shape)}\n{output}")
        if case["demand"] == "answer" and not judge(case, outputs):
            return {"holds": False, "problem": "the answer is not what the documents say"}
        if case["demand"] == "answer" and touched:
            return {"holds": False, "problem": touched}
    if case["demand"] == "answer":
        return {"holds": True}
    return {"holds": case["demand"] == "survive", "problem": "a call that must be rejected is answered"}


def conclude(case: dict[str, Any], said: dict[str, Any] | None, code: int) -> tuple[int, str]:
    """The exit code, and the last line."""
    if said is None:
        how = f"died of signal {-code}" if code < 0 else f"ended with exit code {code}"
        return 1, f"REPRODUCED: the process {how}"
    if "absent" in said:
        return 2, f"not tried: {said['absent']}"
    if "refused" in said:
        say(f"rejected with {said['refused']}")
        if case["demand"] == "answer" and said["unsupported"]:
            return 2, "not tried: the runtime says that it does not offer this"
        if case["demand"] == "answer" and case["may_refuse"] is None:
            return 1, "REPRODUCED: a valid call is rejected"
        return 0, f"holds: {case['must'] if case['demand'] == 'refuse' else 'this call may be rejected'}"
    return (
        (0, "holds: the answer is one that may be")
        if said["holds"]
        else (1, f"REPRODUCED: {said['problem']}")
    )


def main() -> int:
    case = json.loads((case_values.HERE / "case.json").read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description="Reproduce one case.")
    parser.add_argument("--runtime", choices=sorted(RUNTIMES), default=case["runtime"])
    parser.add_argument("--form", choices=FORMS)
    parser.add_argument("--provider", default="", help="of onnxruntime: OpenVINO, a package, or a library")
    parser.add_argument("--provider-options", default="", metavar="KEY=VALUE;...")
    parser.add_argument("--result", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.provider and options.runtime != "onnxruntime":
        parser.error(f"a provider is one of onnxruntime's, and the runtime is {options.runtime}")
    form = options.form or case.get("form") or RUNTIMES[options.runtime].first_form
    if case.get("beyond"):
        say(f"not tried: {case['beyond']}; `opcert run` judges it")
        return 2
    if options.result:
        try:
            answer = call(case, options.runtime, form, options.provider, options.provider_options)
        except Exception as error:  # noqa: BLE001 - where this script fails, the runtime did not
            traceback.print_exc()
            answer = {"absent": f"this script fails: {type(error).__name__}: {error}"}
        Path(options.result).write_text(json.dumps(answer), encoding="utf-8")
        return 0
    say(
        f"case {case['id']} on {options.runtime}, form {form}\n{case['must']}\n"
        f"attributes {json.dumps(case['attributes'])}"
    )
    for each in case["inputs"]:
        array = case_values.read_value(each) if each["file"] else None
        shape = (
            f"{array.dtype} {list(array.shape)}\n{array}" if isinstance(array, np.ndarray) else repr(array)
        )
        shape = "absent" if not each["file"] else shape
        say(f"input {each['name']}: {shape}")
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, __file__, "--runtime", options.runtime, "--form", form]
        command += ["--provider", options.provider, "--provider-options", options.provider_options]
        command += ["--result", str(result)]
        try:
            code = subprocess.run(command, timeout=case_values.TIME_LIMIT, check=False).returncode
        except subprocess.TimeoutExpired:
            say(f"REPRODUCED: no answer within {case_values.TIME_LIMIT:g} s")
            return 1
        said = json.loads(result.read_text(encoding="utf-8")) if result.exists() else None
    exit_code, line = conclude(case, said, code)
    say(line)
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
