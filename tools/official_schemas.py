"""Hold a run's JUnit file against the schema that Jenkins' xunit plugin has.

    uv run python -m tools.official_schemas [out/onnxruntime/run.jsonl -s SUITE]

The schema is fetched from a package that carries it, pytest's source distribution. Without a record, of a
sample with every verdict. The tests hold the same file against a structure that was written down for it,
without a network.
"""

from __future__ import annotations

import argparse
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import xmlschema

from conformance.recording.records import read_record
from conformance.suite.suites import open_suite
from reports.formats.junit import render_junit
from reports.results.case_results import Results, put_together
from tests.reports.sample import Maker, sample_cases

_PYTEST = "pytest==8.4.2"


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
        schema = fetch_junit_schema(folder)
        with open_results(chosen.record, chosen.suite, folder) as results:
            junit = render_junit(results)
            xmlschema.XMLSchema(schema).validate(junit.decode())
            print(f"{len(results.cases)} cases of {results.record.path}")
            print(f"junit.xml: {len(junit)} bytes, valid by junit-10.xsd of {_PYTEST}")


if __name__ == "__main__":
    main()
