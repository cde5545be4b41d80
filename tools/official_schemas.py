"""Hold a run's JUnit and CTRF files against the schemas that their own projects publish.

    uv run python -m tools.official_schemas [out/onnxruntime/run.jsonl -s SUITE]

The schemas are fetched from packages that carry them: that of xunit2 from pytest's source distribution (the
schema of Jenkins' xunit plugin), that of CTRF from its npm package. Without a record, of a sample with every
verdict. The tests hold the same files against structures that were written down for them, without a network.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jsonschema
import xmlschema

from conformance.recording.records import read_record
from conformance.suite.suites import open_suite
from reports.formats.ctrf import render_ctrf
from reports.formats.junit import render_junit
from reports.results.case_results import Results, put_together
from tests.reports.sample import Maker, sample_cases

_PYTEST = "pytest==8.4.2"
_CTRF = "ctrf@0.3.0"


def fetch_junit_schema(folder: Path) -> str:
    """The XML schema, from pytest's tests of its own JUnit files."""
    download = [
        "pip",
        "download",
        _PYTEST,
        "--no-binary",
        "pytest",
        "--no-deps",
        "--quiet",
        "-d",
        str(folder),
    ]
    subprocess.run(["uv", "run", "--no-project", "--with", "pip", "python", "-m", *download], check=True)
    return _member(next(folder.glob("pytest-*.tar.gz")), "junit-10.xsd")


def fetch_ctrf_schema(folder: Path) -> str:
    """The JSON schema, from the package that CTRF's project publishes."""
    subprocess.run(["npm", "pack", "--silent", _CTRF], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return _member(next(folder.glob("ctrf-*.tgz")), "ctrf-schema-0.0.json")


def _member(archive: Path, name: str) -> str:
    with tarfile.open(archive) as opened:
        for each in opened:
            if each.name.endswith(f"/{name}"):
                file = opened.extractfile(each)
                assert file is not None
                return file.read().decode("utf-8")
    raise SystemExit(f"{archive.name} does not hold {name}")


@contextmanager
def open_results(record: Path | None, suite: Path | None, folder: Path) -> Iterator[Results]:
    if record is None or suite is None:
        made = Maker(folder).make(list(sample_cases(3)), skip=2)
        with made.suite:
            yield put_together(made.suite, made.record)
        return
    with open_suite(suite) as opened:
        yield put_together(opened, read_record(record))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("record", type=Path, nargs="?")
    parser.add_argument("-s", "--suite", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        junit_schema, ctrf_schema = fetch_junit_schema(folder), fetch_ctrf_schema(folder)
        with open_results(chosen.record, chosen.suite, folder) as results:
            junit, ctrf = render_junit(results), render_ctrf(results)
            xmlschema.XMLSchema(junit_schema).validate(junit.decode())
            jsonschema.validate(json.loads(ctrf), json.loads(ctrf_schema))
            print(f"{len(results.cases)} cases of {results.record.path}")
            print(f"junit.xml: {len(junit)} bytes, valid by junit-10.xsd of {_PYTEST}")
            print(f"ctrf.json: {len(ctrf)} bytes, valid by ctrf-schema-0.0.json of {_CTRF}")


if __name__ == "__main__":
    main()
