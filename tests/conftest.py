"""What the tests share: where things lie that may be absent, and a last line that says what was left out."""

from __future__ import annotations

import gc
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, settings

from conformance.runtimes.adapter import list_adapters, load_adapter
from conformance.runtimes.environments import environments_folder
from opcert.vocabulary.names import slug
from tests.documents.gathering import VARIABLE, AbsentDocuments, Documents, named_folder

REPOSITORY = Path(__file__).resolve().parents[1]
IN_CI = os.environ.get("CI") == "true"
_DEAR = frozenset(
    ("ai-edge-litert", "aidge", "apache-tvm", "emx-onnx-cgen", "iree", "jaxonnxruntime", "tfjs", "tinygrad")
) | {"jaxlib", "onnx2torch"}
"""Runtimes of 70 MB to some GB that nobody but the tests of their adapters asks for."""
_MANY = 8
"""Parameters of a slow test from which on every fourth tells with each change what all tell at night."""
_ABSENT = " is absent"
_HEADING = re.compile(r"(#+) (.*)")
_left_out: Counter[str] = Counter()

# Tens of thousands of tests are objects that stay: looking through them again and again finds nothing.
gc.set_threshold(50_000, 20, 20)

# What this run of pytest was told is nothing that the runs are told which tests start.
os.environ.pop("PYTEST_ADDOPTS", None)

# How long an example takes says what else the machine does, not whether the project is right.
settings.register_profile("opcert", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("opcert")


def _absent(what: str) -> NoReturn:
    """Skip where something is absent; in CI its absence is a failure."""
    if IN_CI:
        pytest.fail(f"{what} is absent, and CI must have it")
    pytest.skip(f"{what}{_ABSENT}")


@pytest.fixture(scope="session", autouse=True)
def _nothing_worked_out_is_kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests work out, with parts of ours replaced maybe, does not come into the user's cache."""
    folder = tmp_path_factory.mktemp("worked-out")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("conformance.suite.store.cache_folder", lambda: folder)
        yield


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return REPOSITORY


def headings(page: str) -> Iterator[tuple[int, int, str]]:
    """Line (from 0), level and title of each heading of a page of docs/; what stands in code is none."""
    fence = ""
    for number, line in enumerate(page.splitlines()):
        mark = line[: len(line) - len(line.lstrip("`"))]
        if len(mark) >= 3 and not fence:
            fence = mark
        elif fence and line == fence:
            fence = ""
        elif not fence and (found := _HEADING.fullmatch(line)):
            yield number, len(found[1]), found[2]


def doc_section(page: str, title: str) -> str:
    """A section of a page of docs/, without its heading, to the next heading that is no deeper."""
    found = list(headings(page))
    ((start, level, _),) = (heading for heading in found if heading[2] == title)
    end = next((line for line, depth, _ in found if line > start and depth <= level), None)
    return "\n".join(page.splitlines()[start + 1 : end])


class _AskedDocuments(Documents):
    """Documents whose absence leaves a test out, in CI too: nobody but their authors can hand them on."""

    def find(self, place: str) -> Path:
        try:
            return super().find(place)
        except AbsentDocuments as error:
            pytest.skip(f"{error.what}{_ABSENT}")


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    """The documents of tests/documents; a test that asks for one that is absent is left out."""
    return _AskedDocuments(named_folder(), tmp_path_factory.mktemp("documents"))


@pytest.fixture
def first_pages(documents: Documents) -> Path:
    """The folder with the five pages that the first specs were made from."""
    return documents.find("first-pages")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium; the test is left out where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        _absent("Chromium")
    return found


def _is_kept(runtime: str) -> bool:
    """Whether a built-in runtime, in whatever version, has been installed before."""
    known = runtime in list_adapters()
    needs = slug("-".join(load_adapter(runtime).requirements if known else (runtime,)))
    return any(environments_folder().glob(f"{needs}-{'[0-9a-f]' * 8}/environment.json"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to the nights what installs for a minute, and three of four parameters of a long slow test."""
    parameters: dict[tuple[object, ...], list[pytest.Item]] = {}
    for item in items:
        marker = item.get_closest_marker("runtimes")
        if marker is not None and not _DEAR.isdisjoint(marker.args):
            item.add_marker(pytest.mark.nightly)
        elif item.get_closest_marker("slow") is not None:
            asked_runtimes = marker.args if marker else ()
            parameters.setdefault((item.nodeid.partition("[")[0], *asked_runtimes), []).append(item)
    for asked in parameters.values():
        if len(asked) >= _MANY:
            for place, item in enumerate(asked):
                if place % 4:
                    item.add_marker(pytest.mark.nightly)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave a test of the marker `runtimes` out where its runtimes are not installed, except in CI."""
    marker = item.get_closest_marker("runtimes")
    if marker is None or IN_CI or os.environ.get("OPCERT_RUNTIMES") == "1":
        return
    wanted = marker.args or ("onnxruntime",)
    for runtime in wanted:
        if not _is_kept(runtime):
            _absent(f"the runtime {runtime}")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count what was left out, in whichever process that was."""
    if report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if reason.endswith(_ABSENT):
            _left_out[reason.removesuffix(_ABSENT)] += 1


def pytest_unconfigure(config: pytest.Config) -> None:
    """Say in the last line what was left out, and how to have it in."""
    if _left_out and not hasattr(config, "workerinput"):
        parts = ", ".join(f"{count} for want of {what}" for what, count in sorted(_left_out.items()))
        ways = {
            "the runtime": "OPCERT_RUNTIMES=1 installs the runtimes",
            "document": f"{VARIABLE} names a folder of the documents that tests/documents/sources.yaml lists",
        }
        hints = [way for word, way in ways.items() if any(word in what for what in _left_out)]
        print(f"left out: {parts}" + (f" ({'; '.join(hints)})" if hints else ""))
