"""Which files a runtime's process runs code from: digests in the record, with names that tell no folder."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import jsonschema
import numpy as np

from conformance.processes.worker_process import by_name, digests_by_path, loaded_files_of, merge_digests
from conformance.recording.merging import merge_records
from conformance.recording.records import Record
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.schemas import load_schema
from conformance.suite.case_selection import Shard
from conformance.suite.suites import open_suite
from tests.conformance.samples import echo_runtime, make_case, make_suite


def run(folder: Path, path: Path, **options: object) -> Record:
    suite = folder / "suite" if (folder / "suite").exists() else None
    made = suite or make_suite(folder, [make_case(seed=each) for each in range(6)])
    with open_suite(made) as opened:
        settings = RunOptions(**options)  # type: ignore[arg-type] # each test names real options
        return run_suite(opened, find_runtime(echo_runtime("")), path, settings)


def test_a_process_of_ours_has_its_extension_modules() -> None:
    loaded = loaded_files_of(os.getpid())
    assert any(Path(np.__file__).parent in path.parents for path in loaded)
    assert loaded_files_of(2**22 + 1) == set()


def test_digests_are_of_the_files_and_names_tell_no_folder(tmp_path: Path) -> None:
    library = tmp_path / "secret" / "site-packages" / "engine" / "core.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"code")
    plain = tmp_path / "libc.so"
    plain.write_bytes(b"")
    found = by_name(digests_by_path([library, plain, tmp_path / "gone.so"]).values())
    assert found == [
        {"file": "engine/core.so", "bytes": 4, "sha256": hashlib.sha256(b"code").hexdigest()},
        {"file": "libc.so", "bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()},
    ]


def test_the_footer_holds_them_where_they_were_asked_for(tmp_path: Path) -> None:
    asked = run(tmp_path, tmp_path / "asked.jsonl", identify=True)
    assert asked.footer is not None
    jsonschema.validate(dict(asked.footer), load_schema("footer"))
    assert any("numpy/" in each["file"] for each in asked.footer["loaded"])
    assert not any(each["file"].startswith("/") for each in asked.footer["loaded"])
    unasked = run(tmp_path, tmp_path / "unasked.jsonl")
    assert unasked.footer is not None
    assert "loaded" not in unasked.footer


def test_records_that_are_merged_keep_them_where_each_has_them(tmp_path: Path) -> None:
    parts = [
        run(tmp_path, tmp_path / f"{number}.jsonl", identify=True, shard=Shard(number, 2))
        for number in (1, 2)
    ]
    merged = merge_records(parts, tmp_path / "merged.jsonl")
    assert merged.footer is not None
    assert parts[0].footer is not None
    assert merged.footer["loaded"] == parts[0].footer["loaded"]
    silent = run(tmp_path, tmp_path / "2.jsonl", shard=Shard(2, 2))
    again = merge_records([parts[0], silent], tmp_path / "again.jsonl")
    assert again.footer is not None
    assert "loaded" not in again.footer


def test_a_file_that_differs_between_records_stands_there_twice() -> None:
    first, second = ({"file": "a.so", "bytes": 1, "sha256": each * 64} for each in "ab")
    assert merge_digests([[first], [second, first]]) == [first, second]
