"""Runs in folders, as `certify -o runs/NAME` leaves them, of fakes that fail as they are told."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from conformance.judging.responses import Answered, Crashed, Response
from conformance.suite.cases import Case
from tests.reports.sample import CROP_PAD, HEADER, PAD, Maker, make_case

CASES = [
    make_case(operator, "cover", {"extent": each})
    for operator in (CROP_PAD, PAD)
    for each in ("same", "crop")
]


def answer(case: Case) -> Response:
    return Answered((case.expectations[0].outputs[0].expected,), 0.001)


def crop_crashes(case: Case) -> Response:
    return (
        Crashed("the worker died of SIGSEGV", "SIGSEGV") if case.levels["extent"] == "crop" else answer(case)
    )


def keep(
    folder: Path,
    name: str,
    respond: Callable[[Case], Response],
    started: str,
    runtime: str = "engine",
    cases: list[Case] = CASES,
    *,
    version: str = "1.0",
    skip: int = 0,
    packages: dict[str, str] | None = None,
    suites: Path | None = None,
) -> Path:
    """A run in a folder of its own; its suite goes, or, with `suites`, into a folder there of its digest."""
    place = folder / name
    place.mkdir(parents=True)
    told = {"name": runtime, "version": version}
    environment = {} if packages is None else {"environment": {"packages": packages}}
    made = Maker(place, {**HEADER, "runtime": {**told, **environment}, "started": started}).make(
        cases, respond, skip=skip
    )
    made.suite.close()
    if suites is not None:
        shutil.copytree(place / "suite", suites / made.suite.digest, dirs_exist_ok=True)
    shutil.rmtree(place / "suite")
    (place / "index.html").write_text("a report")
    return place
