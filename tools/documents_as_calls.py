"""What documents say, put to the runtimes that they are of: `python -m tools.documents_as_calls DIALECT`.

DIALECT is ai.onnx, ai.onnx.ml, com.microsoft, org.openvino or org.tensorflow. Of every imported operator, in
its newest version, calls are made of the document alone (a declaration that ships is taken away) and put to
the runtime. TensorFlow's documents are the docstrings of the installed package, with what its shape functions
take (`opcert import --from-package tensorflow`). For each operator: calls made, calls answered, how refusals
read without numbers and names, and what was missing where there is no call. At the end, for each half of the
operators: of how many 90 % of at least 30 calls are answered, all pairs of levels among them. Half `a` is
there to be looked at while rules are written; of half `b` no reason is told. What the runtime itself says
that it does not offer counts nowhere; operators of com.microsoft without a kernel for the CPU, and without a
call that is answered by their body, are left out and listed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import repeat
from pathlib import Path

from conformance.judging.signatures import signature
from conformance.processes.scratch_folders import scratch_folder
from conformance.processes.worker_limits import Limits
from conformance.running.progress import Silent
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import Runtime, find_installed
from conformance.runtimes.scripts import run_confined
from generator.asking.calls import Call
from generator.calls.variables.kind import Level
from generator.making.operators.opsets import newest_versions
from generator.trust.witnesses.document_calls import LEAST, DocumentCalls, make_document_calls
from generator.trust.witnesses.truth_runs import (
    Answers,
    TypedCall,
    Witnessed,
    ask_onnx,
    ask_runtime,
    is_known_to_onnx,
)
from generator.trust.witnesses.truth_table import IN_PROCESS, REFUSING, FailureEntries
from opcert.commands.packages import package_document
from opcert.commands.runtime_argument import choose_runtime
from opcert.vocabulary.attributes import PLAIN_KINDS, attribute
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.process_pools import process_pool
from reference.readings.disagreements import Disagreement, load_disagreements
from specs.files.layers import merge_layers
from specs.files.library import load_imported
from specs.files.spec_folders import OWN_FOLDER, list_operators
from specs.importing.importing import read_documents
from specs.model.spec import Spec
from tools.asked import exit_code_of

RUNTIMES = {
    "ai.onnx": ("onnxruntime", "onnx"),
    "ai.onnx.ml": ("onnxruntime", "onnx"),
    "com.microsoft": ("onnxruntime",),
    "org.openvino": ("openvino",),
    "org.tensorflow": ("tensorflow",),
}
"""Of each dialect who is asked; the second one only where the first does not offer the call."""
MATHEMATICAL = ("math", "array", "nn", "image", "linalg", "spectral", "bitwise", "sparse", "set")
"""The modules of TensorFlow whose operators are mathematical."""
TOGETHER = 16
"""The operators that one worker is asked about."""
SHARE = 0.9
_KERNELS = """
from onnxruntime.capi.onnxruntime_pybind11_state import get_all_opkernel_def as listed
asked = ("com.microsoft", "CPUExecutionProvider")
print(*{one.op_name for one in listed() if (one.domain, one.provider) == asked})
"""
_OPTIONS = RunOptions(jobs=None, limits=Limits(case_seconds=10.0), max_deaths=1000, most_lost=LEAST)
_TAKES_CONSTANTS = ("org.openvino",)
"""Whose operators are asked again with all inputs but the first as constants, where they are not offered."""
MADE = LEAST + 10
"""So many calls are made at first; more, where the runtime offers fewer than enough of them."""
SECONDS = 40.0


@dataclass(frozen=True)
class Asked:
    """The calls of a document with the types of their outputs, and what ONNX itself says of them."""

    made: DocumentCalls
    typed: tuple[TypedCall, ...] = ()
    said: Mapping[str, Answers] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """What became of one operator's calls; `offered` are those that somebody answers or refuses."""

    operator: str
    half: str
    calls: int
    all_pairs: bool
    offered: int
    answered: int
    refusals: Mapping[str, int]
    missing: Sequence[str]
    has_kernel: bool = True
    levels_offered: Sequence[Mapping[str, Level]] = ()

    @property
    def holds(self) -> bool:
        """Whether the document alone made calls that the runtime takes."""
        return self.all_pairs and self.offered >= LEAST and self.answered >= SHARE * self.offered


def main(words: Sequence[str]) -> int:
    """Print a row for each operator, and the counts of each half."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("dialect", choices=sorted(RUNTIMES))
    parser.add_argument("--half", choices=("a", "b", "all"), default="all")
    parser.add_argument("--operators", nargs="+", default=(), metavar="NAME")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="to search for an operator's calls")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write what was found as JSON")
    asked = parser.parse_args(words)
    documents = [
        fact
        for fact in facts_of(asked.dialect, asked.operators)
        if asked.half in ("all", half_of(fact.operator))
    ]
    runtimes = [choose_runtime(name, None, False) for name in RUNTIMES[asked.dialect]]
    kernels = with_kernel(runtimes[0]) if asked.dialect == "com.microsoft" else None
    rows: list[Row] = []
    for found in measure(documents, runtimes, asked.seconds):
        name = OperatorName.parse(found.operator).name
        rows.append(
            found if kernels is None else replace(found, has_kernel=name in kernels or found.answered > 0)
        )
        _show(rows[-1])
    totals = _totals(rows)
    for half, text in totals.items():
        print(f"half {half}: {text}")
    left = [row.operator for row in rows if not row.has_kernel]
    if left:
        print(f"without a kernel, and left out: {', '.join(left)}")
    if asked.output is not None:
        content = {"totals": totals, "operators": [_json(row) for row in rows]}
        asked.output.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


def half_of(operator: OperatorName) -> str:
    """The half of an operator's dialect in which it is, by a digest of its name: `a` or `b`."""
    return "ab"[hashlib.sha256(f"documents as calls: {operator.unversioned}".encode()).digest()[0] % 2]


def facts_of(dialect: str, names: Sequence[str] = ()) -> list[Spec]:
    """What the documents say of a dialect's operators that are not deprecated, in their newest versions.

    Raises UserError where TensorFlow's documents are asked for and OPCERT_DOCUMENTS does not name them.
    """
    if dialect == "org.tensorflow":
        return [spec for spec in _tensorflow() if not names or spec.operator.name in names]
    known = [operator for operator in list_operators() if operator.domain == dialect]
    chosen = [
        newest_version
        for newest_version in newest_versions(known)
        if not names or newest_version.name in names
    ]
    return [spec for spec in map(load_imported, chosen) if not spec.deprecated]


def _tensorflow() -> Iterator[Spec]:
    folder = os.environ.get("OPCERT_DOCUMENTS")
    if not folder:
        raise UserError(
            "no documents of TensorFlow", expected="their folder in the environment variable OPCERT_DOCUMENTS"
        )
    marks = [f"/gen_{each}_ops.py" for each in MATHEMATICAL]
    paths = [
        path
        for path in sorted(Path(folder, "documents", "tensorflow", "docstrings").glob("*.txt"))
        if any(mark in path.read_text(encoding="utf-8")[:300] for mark in marks)
    ]
    named = {path.stem for path in paths}
    package = package_document("tensorflow", lambda told: print(told, file=sys.stderr))
    for layers in read_documents([package]).layers.values():
        if layers[0].operator.name in named:
            yield merge_layers(layers)


def measure(documents: Sequence[Spec], runtimes: Sequence[Runtime], seconds: float) -> Iterator[Row]:
    """A row for each document: calls are made in processes of their own, and put to runtimes in theirs.

    Where the runtime offers fewer than enough of an operator's calls, more are made that are like those.
    """
    entries = load_disagreements(OWN_FOLDER)
    processes = max(1, min(len(documents), os.cpu_count() or 1))
    with process_pool(processes, "making the calls of", lambda: ()) as pool:
        pending = pool.map(partial(_prepare, seconds=seconds), documents)
        for first in range(0, len(documents), TOGETHER):
            together = documents[first : first + TOGETHER]
            asked = [next(pending) for _ in together]
            rows = list(_ask(together, asked, runtimes, entries))
            few = [place for place, row in enumerate(rows) if 0 < row.offered < LEAST <= row.calls]
            if few:
                again = [together[place] for place in few]
                least = [rows[place].calls + MADE for place in few]
                like = [rows[place].levels_offered for place in few]
                more = list(pool.map(_prepare, again, repeat(seconds), least, like))
                for place, row in zip(few, _ask(again, more, runtimes, entries), strict=True):
                    rows[place] = row
            yield from rows


def with_kernel(runtime: Runtime) -> frozenset[str] | None:
    """The operators of com.microsoft with a kernel for the CPU; None where ONNX Runtime does not tell."""
    installed = find_installed(runtime)
    if installed is None:
        return None
    with scratch_folder("kernels") as folder:
        command = [installed.launch.command[0], "-I", "-B", "-c", _KERNELS]
        ran = run_confined(command, folder, {}, seconds=60)
    return frozenset(ran.stdout.split()) if ran.code == 0 else None


def _prepare(
    facts: Spec, seconds: float, least: int = MADE, like: Sequence[Mapping[str, Level]] = ()
) -> Asked:
    try:
        made = make_document_calls(facts, seconds, least, like)
    except Exception as error:  # noqa: BLE001 - what the engine cannot bear in one document is told of it
        made = DocumentCalls(missing=(f"mistake of ours: {type(error).__name__}: {error}",))
    if facts.operator.domain == "org.openvino":
        made = replace(made, calls=tuple(_with_defaults(facts, call) for call in made.calls))
    if not is_known_to_onnx(facts.operator):
        return Asked(made, tuple(map(TypedCall, made.calls)))
    typed: list[TypedCall] = []
    said: dict[str, dict[str, Witnessed]] = {witness: {} for witness in sorted(IN_PROCESS)}
    for call in made.calls:
        found, answers = ask_onnx(facts, call)
        typed.append(found)
        for witness, answer in answers.items():
            said[witness][call.digest(facts.operator)] = answer
    return Asked(made, tuple(typed), said)


def _with_defaults(facts: Spec, call: Call) -> Call:
    """The call with the defaults that its document states: OpenVINO's own interface to operators has none."""
    defaults = {
        name: attribute(each.kind, each.default)
        for name, each in facts.attributes.items()
        if each.kind in PLAIN_KINDS and each.default is not None and name not in call.attributes
    }
    return replace(call, attributes={**call.attributes, **defaults})


def _ask(
    facts: Sequence[Spec],
    asked: Sequence[Asked],
    runtimes: Sequence[Runtime],
    entries: Sequence[Disagreement],
) -> Iterator[Row]:
    said = [dict(each.said) for each in asked]
    waiting = [each.typed for each in asked]
    passes = [(runtime, _OPTIONS) for runtime in runtimes]
    if facts[0].operator.domain in _TAKES_CONSTANTS:
        passes += [(runtime, replace(_OPTIONS, forms="initializers")) for runtime in runtimes]
    for runtime, options in passes:
        left = [(spec, calls) for spec, calls in zip(facts, waiting, strict=True) if calls]
        if not left:
            break
        with scratch_folder("documents") as folder:
            _, answers = ask_runtime(left, runtime, folder, Silent(), options)
        for place, spec in enumerate(facts):
            found = answers.get(spec.operator, {})
            said[place][runtime.text] = {**said[place].get(runtime.text, {}), **found}
            waiting[place] = tuple(
                typed_call
                for typed_call in waiting[place]
                if found[typed_call.call.digest(spec.operator)].reaction == "not offered"
            )
    for spec, each, own in zip(facts, asked, said, strict=True):
        yield _row(spec, each.made, own, entries)


def _row(
    spec: Spec, made: DocumentCalls, said: Mapping[str, Answers], entries: Sequence[Disagreement]
) -> Row:
    operator = spec.operator
    known = FailureEntries(spec, [entry for entry in entries if entry.concerns(str(operator))])
    offered: list[Mapping[str, Level]] = []
    answered = 0
    refusals: Counter[str] = Counter()
    for call, levels in zip(made.calls, made.levels, strict=True):
        digest = call.digest(operator)
        found = {name: answers[digest] for name, answers in said.items() if digest in answers}
        refused = {name: witnessed for name, witnessed in found.items() if witnessed.reaction in REFUSING}
        left = [name for name, witnessed in refused.items() if known.explain(name, witnessed, call) is None]
        if left:
            first = refused[left[0]]
            refusals[f"{left[0]} {signature(first.reaction, first.message, [operator.name])}"] += 1
        answers_it = any(
            witnessed.reaction == "answered" for name, witnessed in found.items() if name not in IN_PROCESS
        )
        offered += [levels] if left or answers_it else []
        answered += answers_it and not left
    half, missing = half_of(operator), tuple(dict.fromkeys(made.missing))
    if half == "b":
        refusals, missing = Counter(), ()
    return Row(
        str(operator),
        half,
        len(made.calls),
        made.all_pairs,
        len(offered),
        answered,
        dict(refusals.most_common()),
        missing,
        levels_offered=offered,
    )


def _totals(rows: Iterable[Row]) -> dict[str, str]:
    by_half: dict[str, list[Row]] = {}
    for row in rows:
        by_half.setdefault(row.half, []).append(row)
    return {half: _total(own) for half, own in sorted(by_half.items())}


def _total(rows: Sequence[Row]) -> str:
    counted = [row for row in rows if row.has_kernel]
    good = sum(row.holds for row in counted)
    share = 100 * good / len(counted) if counted else 0.0
    silent = sum(not row.calls for row in counted)
    return f"{good} of {len(counted)} operators hold ({share:.0f} %); {silent} have no call"


def _show(row: Row) -> None:
    told = f"{row.answered} of {row.offered} answered" if row.calls else "no call"
    pairs = "" if row.all_pairs or not row.calls else ", not all pairs"
    print(f"{'+' if row.holds else ' '} {row.half} {row.operator}: {row.calls} calls{pairs}, {told}")
    for text, count in list(row.refusals.items())[:5]:
        print(f"      {count} x {text[:220]}")
    for text in row.missing:
        print(f"      missing: {text[:220]}")
    sys.stdout.flush()


def _json(row: Row) -> dict[str, object]:
    told = {name: value for name, value in vars(row).items() if name != "levels_offered"}
    return {**told, "holds": row.holds}


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
