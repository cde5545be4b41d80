"""A folder that reproduces a case with nothing but numpy, onnx and the runtime."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from conformance.models.case_models import CARRIED, build_model, has_onnx_form
from conformance.runtimes.adapter import Adapter, load_adapter
from conformance.suite.form_sample import form_sample
from conformance.suite.suites import Suite
from opcert.vocabulary.whole_files import write_bytes, write_text
from reports.single_cases.case_folder import write_case
from reports.single_cases.reproduction_script import RUNTIMES

SCRIPT = "reproduce.py"
RULES = "unsupported.json"
"""How each runtime that the script knows says that it does not offer something."""


def write_reproduction(suite: Suite, case_id: str, folder: Path, form: str | None = None) -> Path:
    """Write the case, a script that runs it, and what it reads as unsupported; returns the script.

    `form` is the one that the script takes unless it is told another; None is the runtime's own first.
    Raises UserError where the suite has no such case, or the folder cannot be written.
    """
    case = suite.case(case_id)
    named = case.valid_case
    valid = suite.case(named) if named is not None and named in suite else None
    between = form_sample(suite).between.get(case_id)
    write_case(case, folder, valid, None if between is None else suite.case(between))
    if form is not None:
        path = folder / "case.json"
        write_text(path, json.dumps({**json.loads(path.read_text("utf-8")), "form": form}, indent=1) + "\n")
    if has_onnx_form(case.operator):
        plain, *others = (build_model(case, form, valid) for form in CARRIED)
        for form, model in zip(CARRIED[1:], others, strict=True):
            if model != plain:
                write_bytes(folder / "forms" / f"{form}.onnx", model)
    rules = {name: _rules(load_adapter(name)) for name in sorted(RUNTIMES)}
    write_text(folder / RULES, json.dumps(rules, indent=1) + "\n")
    source = files("reports.single_cases").joinpath("reproduction_script.py").read_text(encoding="utf-8")
    return write_text(folder / SCRIPT, source)


def _rules(adapter: Adapter) -> list[dict[str, str]]:
    """A runtime's own words; what only a worker can say does not come up here."""
    own = [each for each in adapter.unsupported if each.error_class != "unsupported"]
    return [{"kind": each.kind, "message": each.message} for each in own]
