"""The scripts of issues, each run in an environment of its runtime and onnx before anybody is shown it."""

from __future__ import annotations

import json
import platform
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.judging.verdicts import REJECTED_VALID
from conformance.models.case_models import FORMS, Form
from conformance.runtimes.environments import Environment, prepare
from conformance.runtimes.installers import description_of
from conformance.runtimes.processor import processor_here
from conformance.runtimes.runtimes import Runtime, installer_of
from conformance.runtimes.scripts import Ran, run_confined
from opcert.vocabulary.errors import RuntimeUnavailable
from opcert.vocabulary.whole_files import write_text
from reports.single_cases.bare_calls import call_of
from reports.single_cases.bare_script import PACKAGES, BareScript, bare_script, javascript_of, outputs_from
from reports.upstream.issues import Issue, ScriptSurroundings

if TYPE_CHECKING:
    from conformance.suite.cases import Case
    from reports.causes.failure_class import FailureClass
    from reports.results.case_results import CaseResult, Results

SECONDS = 60.0
"""A script that takes longer hangs."""
MOST_CASES = 4
"""So many cases of a cause are tried until one has a script that reproduces it."""
_HANDED_ON = re.compile(r"(?m)^(\w+: )?Exception from \S+:$")
_FOLDERS = re.compile(r"(/[\w.+-]+)+/")
_TRACEBACK = re.compile(r"(?m)^Traceback .*\n(?:[ \t].*\n)*")
_THROWN = re.compile(r"\w*(Error|Exception)\b")
_TOLD = 48
_HOST = "onnxruntime"
"""What a plug-in or an optimiser runs on: an issue names it, and what else the runtime was installed with."""
_PYTHON = """
import base64 as _base64, json as _json, os as _os
_told = _json.dumps([
    {"type": "object" if _each.dtype.kind in "OSU" else _each.dtype.name, "shape": list(_each.shape), **(
        {"texts": [_one if isinstance(_one, str) else _one.decode("utf-8", "surrogateescape")
                   for _one in _each.reshape(-1).tolist()]} if _each.dtype.kind in "OSU"
        else {"bytes": _base64.b64encode(np.ascontiguousarray(_each).tobytes()).decode()})}
    for _each in map(np.asarray, got)])
with open(_os.environ["OPCERT_GOT"], "w") as _file:
    _file.write(_told)
"""
_JAVASCRIPT = """
  const names = typeof session === 'undefined' ? Object.keys(got) : session.outputNames;
  const dumped = names.map(name => got[name]).map(each => ({
    type: each.type, shape: each.dims, ...(each.type === 'string' ? { texts: each.data } : { bytes:
      Buffer.from(each.data.buffer, each.data.byteOffset, each.data.byteLength).toString('base64') }) }));
  require('fs').writeFileSync(process.env.OPCERT_GOT, JSON.stringify(dumped));
"""


@dataclass(frozen=True)
class NotShown:
    """A cause of which no script reproduces anything, and why."""

    found: FailureClass
    why: str


class Bareground:
    """A runtime and onnx in an environment of their own, in which scripts run as a user would run them.

    Raises RuntimeUnavailable where it cannot be made.
    """

    def __init__(self, runtime: Runtime, announce: Callable[[str], None]) -> None:
        if not runtime.requirements:
            raise RuntimeUnavailable(
                "nothing can be sent upstream of this runtime: opcert does not install it",
                got=repr(runtime.text),
            )
        self.runtime = runtime
        package = runtime.requirements[0].partition("==")[0]
        self.installer = installer_of(runtime.adapter, runtime.python)
        wanted = runtime.requirements
        called = call_of(runtime.adapter.name, "onnx", runtime.options) is not None
        if called and "onnx" not in {*map(_name, wanted)}:
            wanted = (*wanted, "onnx")
        self.environment: Environment = prepare(
            wanted, self.installer, upgrade=runtime.upgrade, announce=announce
        )
        self.package = package
        version = next(
            (each for name, each in self.environment.packages.items() if _name(name) == _name(package)), ""
        )
        python = self.environment.python_version
        parts = [platform.system(), platform.release(), platform.machine()]
        self.surroundings = ScriptSurroundings(
            package,
            version,
            dict(self.installer.build(self.environment.folder, package) or {}),
            " ".join(parts) + (f", Python {python}" if python else ""),
            processor_here(),
            {
                name: told
                for name, told in self.environment.packages.items()
                if _name(name) in {_HOST, *map(_name, wanted)} - {_name(package)}
            },
        )

    def run(self, script: BareScript) -> tuple[Ran, list[dict[str, Any]] | None]:
        """Run a script to its end; the second value is what came, None where nothing did."""
        with tempfile.TemporaryDirectory(prefix="opcert-") as folder:
            home = Path(folder)
            dumped = home / "temporary" / "got.json"
            python = script.language == "python"
            path = home / ("script.py" if python else "script.cjs")
            write_text(path, script.with_epilogue(_PYTHON if python else _JAVASCRIPT))
            environment = {"OPCERT_GOT": str(dumped)}
            if python:
                words = [str(self.environment.program), "-I", "-B", "-X", "utf8", str(path)]
            else:
                described = description_of(self.package, self.environment.folder)
                words = [str(self.environment.program), str(path), str(described)]
                environment["NODE_PATH"] = str(self.environment.folder / "node_modules")
            ran = run_confined(words, home, environment, seconds=SECONDS)
            found = json.loads(dumped.read_text("utf-8")) if dumped.is_file() else None
        return ran, found


def issues_of(
    results: Results,
    classes: Sequence[FailureClass],
    ground: Bareground,
    smaller: Callable[[FailureClass, Case], Case] | None = None,
) -> Iterator[Issue | NotShown]:
    """For each cause an issue whose script reproduces it, or why there is none."""
    for found in classes:
        yield _issue(results, found, ground, smaller)


def _issue(
    results: Results,
    found: FailureClass,
    ground: Bareground,
    smaller: Callable[[FailureClass, Case], Case] | None,
) -> Issue | NotShown:
    why: dict[str, None] = {}
    for place, tried in enumerate(_in_order(found)):
        if place == MOST_CASES:
            break
        case = results.suite.case(str(tried.id))
        named = case.valid_case
        valid = results.suite.case(named) if named is not None and named in results.suite else None
        form = tried.row.form if tried.row is not None else ""
        chosen = [case] if smaller is None or place else [smaller(found, case), case]
        for shown in dict.fromkeys(chosen):
            made = _script(shown, ground.runtime, form, valid)
            if isinstance(made, str):
                why[made] = None
                continue
            ran, dumped = ground.run(made)
            problem = _not_reproduced(tried, shown, ran, dumped)
            if not problem:
                printed = _printed(ran)
                return Issue(results, found, shown, form, made, printed, ground.surroundings)
            why[problem] = None
    return NotShown(found, "; ".join(list(why)[:3]) or "none of its cases has a script")


def _in_order(found: FailureClass) -> list[CaseResult]:
    """Its cases, the one that is shown first, and those with the same verdict before others."""
    from reports.causes.failure_class import shown_order

    first = found.smallest
    return sorted(found.cases, key=lambda result: (result.verdict != first.verdict, shown_order(result)))


def _script(case: Case, runtime: Runtime, form: str, valid: Case | None) -> BareScript | str:
    if form not in FORMS:
        return f"the form {form} is none"
    which: Form = form
    name = runtime.adapter.name
    if name in PACKAGES:
        return javascript_of(case, name, which, valid)
    return bare_script(case, name, which, valid, runtime.options)


def _not_reproduced(tried: CaseResult, case: Case, ran: Ran, dumped: list[dict[str, Any]] | None) -> str:
    """Why a script that ran shows nothing; empty where it fails as the case does."""
    from conformance.judging.judge import judge
    from conformance.judging.responses import Answered
    from conformance.judging.verdicts import FAILING

    row = tried.row
    lost = ran.code is None or ran.code < 0 or ran.code >= 128
    if tried.verdict in ("crash", "timeout"):
        return "" if lost and (tried.verdict == "timeout") == (ran.code is None) else "the process survives"
    if lost:
        return "the process is lost"
    if tried.verdict == REJECTED_VALID:
        if dumped is not None:
            return "the call is answered"
        said, seen = (row.message if row is not None else "") or "", _letters(ran.stderr)
        # Of a process that prints a line and raises another one the two may come in either order.
        alike = all(_letters(line)[:_TOLD] in seen for line in said.splitlines())
        return "" if alike or _letters(said)[:_TOLD] in seen else "the script ends with another error"
    if dumped is None:
        return f"the script ends with {_raised(ran)[0][:200]}"
    try:
        outputs = outputs_from(dumped)
    except ValueError as error:
        return f"the script answers with {error}"
    verdict = judge(case, Answered(outputs)).verdict
    if verdict == tried.verdict:
        return ""
    return "the answer is right" if verdict not in FAILING else f"the script shows {verdict}"


def _letters(text: str) -> str:
    """A message without what may differ from one process to the next: numbers, addresses, line breaks.

    Nor has it folders, some of which are made for one process, or the places in OpenVINO's sources that hand
    an error on, which hang on how it is called.
    """
    return re.sub(r"[^a-z]", "", _FOLDERS.sub("", _HANDED_ON.sub("", text)).lower())


def _raised(ran: Ran) -> list[str]:
    """The lines of the error that a script ends with, as Python and Node.js write it; else the last line."""
    parts = _TRACEBACK.split(ran.stderr.strip())
    lines = parts[-1].strip().splitlines()
    if len(parts) > 1 and lines:
        return lines
    thrown = [line for line in lines if _THROWN.match(line)]
    return thrown[:1] or lines[-1:] or [f"exit code {ran.code}"]


def _printed(ran: Ran) -> str:
    """What it printed, and how it ended where that is no answer."""
    said = ran.stdout.rstrip()
    if ran.code is None:
        return f"{said}\n(nothing more within {SECONDS:g} s)"
    if ran.code < 0 or ran.code >= 128:
        number = -ran.code if ran.code < 0 else ran.code - 128
        return f"{said}\n(the process ends by signal {number})"
    return "\n".join([said, *_raised(ran)]) if ran.code else said


def _name(requirement: str) -> str:
    return re.split(r"[=<>!~\[ ]", requirement, maxsplit=1)[0].lower().replace("_", "-")
