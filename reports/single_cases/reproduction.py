"""A folder that reproduces a case with nothing but numpy, onnx and the runtime."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from conformance.suite.suites import Suite
from opcert.vocabulary.whole_files import write_text
from reports.single_cases.case_folder import write_case

SCRIPT = "reproduce.py"


def write_reproduction(suite: Suite, case_id: str, folder: Path) -> Path:
    """Write the case and a script that runs it; returns the script.

    Raises UserError where the suite has no such case, or the folder cannot be written.
    """
    case = suite.case(case_id)
    named = case.valid_case
    valid = suite.case(named) if named is not None and named in suite else None
    write_case(case, folder, valid)
    source = files("reports.single_cases").joinpath("reproduction_script.py").read_text(encoding="utf-8")
    return write_text(folder / SCRIPT, source)
