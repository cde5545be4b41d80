"""Several records of one suite and runtime put together into one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.judging.verdicts import VERDICTS, Verdict, worst_verdict
from conformance.processes.worker_process import merge_digests
from conformance.recording.faults import FaultFinder, count_threads, merge_unload_faults
from conformance.recording.outputs import FILE_BYTES, outputs_folder
from conformance.recording.records import Record, RecordWriter
from conformance.recording.suite_ordered import merged_cases
from conformance.suite.case_selection import Shard
from opcert.vocabulary.errors import Place, UserError, unwritable
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.whole_files import write_bytes

_SAME_OPTIONS = ("pattern", "forms", "sampled", "repeat", "timeout", "load_timeout", "memory")


def merge_records(
    records: Sequence[Record], path: Path, *, allow_missing: bool = False, allow_overlap: bool = False
) -> Record:
    """Write one record of all rows, in suite order, with faults found anew; returns it as it was written.

    Raises UserError where records are of different suites, runtimes, versions or options, where one is
    partial, where shards are missing (unless `allow_missing`), and where two hold the same case (unless
    `allow_overlap`: then the record named first counts).
    """
    first = records[0]
    for record in records[1:]:
        _check_alike(first, record)
    for record in records:
        if record.footer is None or "stopped" in record.footer:
            raise _refused("a record is not whole", record, "run it to its end with --resume")
    gaps = _find_missing(records)
    if gaps and not allow_missing:
        raise _refused(
            "shards are missing",
            first,
            f"give {', '.join(gaps)} as well, or --allow-missing",
            ", ".join(gaps),
        )
    if not allow_overlap:
        _check_apart(records)
    header = {key: value for key, value in first.header.items() if key not in ("type", "format")}
    header["options"] = {**header["options"], "shard": None}
    header["started"] = min(str(record.header.get("started")) for record in records)
    header["merged"] = {"records": [_origin(record) for record in records], "missing": gaps}
    writer = RecordWriter(path, header)
    try:
        _copy_outputs(records, path)
        finder = FaultFinder(count_threads(first.header))
        forms = list(first.header["options"]["forms"])
        counts: Counter[Verdict] = Counter()
        for place, ((_, own), *_) in enumerate(merged_cases([record.results for record in records])):
            # Of a case that several records have the one that is named first counts.
            rows = sorted(own, key=lambda result: (forms.index(result.form), result.repeat))
            for result in rows:
                writer.append(result, (place, forms.index(result.form), result.repeat))
                finder.see(result, place)
            if len(rows) > 1:
                finder.compare(rows, place)
            counts[worst_verdict(row.verdict for row in rows)] += 1
        faults = [*finder.faults(), *merge_unload_faults([record.faults for record in records])]
        return writer.finish({verdict: counts[verdict] for verdict in VERDICTS}, faults, **_loaded(records))
    finally:
        writer.close()


def _check_alike(first: Record, other: Record) -> None:
    before, now = _identity(first), _identity(other)
    for key, value in before.items():
        if now[key] != value:
            raise UserError(
                "the records are not of one run",
                got=f"{key}: {now[key]}",
                expected=f"{value}, as in {first.path}",
                where=Place(str(other.path)),
            )


def _identity(record: Record) -> dict[str, Any]:
    runtime = record.header.get("runtime") or {}
    options = record.header.get("options") or {}
    found = {"suite": record.header.get("suite")}
    found |= {f"runtime {key}": runtime.get(key) for key in ("name", "version", "options")}
    return found | {f"option {key}": options.get(key) for key in _SAME_OPTIONS}


def _shard(record: Record) -> Shard:
    stated = (record.header.get("options") or {}).get("shard")
    return Shard(1, 1) if stated is None else Shard.parse(str(stated))


def _find_missing(records: Sequence[Record]) -> list[str]:
    """The shards that are not there, of as many as the records say there are."""
    shards = [_shard(record) for record in records]
    count = shards[0].count
    for shard, record in zip(shards, records, strict=True):
        if shard.count != count:
            raise _refused("shards of different counts", record, "merge shards of one split", str(shard))
    there = {shard.number for shard in shards}
    return [str(Shard(number, count)) for number in range(1, count + 1) if number not in there]


def _check_apart(records: Sequence[Record]) -> None:
    """Raise UserError where two records hold the same case."""
    for (number, rows), *others in merged_cases([record.results for record in records]):
        for other, _ in others:
            raise _refused(
                "two records hold the same case",
                records[other],
                f"leave one of it and {records[number].path} out",
                rows[0].case,
            )


def _origin(record: Record) -> Mapping[str, Any]:
    assert record.footer is not None
    processor = record.header.get("processor")
    return {
        "shard": str(_shard(record)),
        "rows": len(record.results),
        "digest": record.footer.get("digest"),
        "started": record.header.get("started"),
        "finished": record.footer.get("finished"),
        "platform": record.header.get("platform"),
        **({"processor": processor} if processor is not None else {}),
    }


def _loaded(records: Sequence[Record]) -> dict[str, Any]:
    """What the records say of the files that were loaded; nothing where one of them says nothing."""
    parts = [(record.footer or {}).get("loaded") for record in records]
    known = [part for part in parts if part is not None]
    return {"loaded": merge_digests(known)} if len(known) == len(parts) else {}


def _copy_outputs(records: Sequence[Record], path: Path) -> None:
    target = outputs_folder(path)
    try:
        for record in records:
            source = outputs_folder(record.path)
            if source.is_dir() and source != target:
                target.mkdir(exist_ok=True)
                for each in sorted(source.iterdir()):
                    write_bytes(target / each.name, read_regular(each, FILE_BYTES))
    except OSError as error:
        raise unwritable("the outputs of the record", target, error) from error


def _refused(what: str, record: Record, remedy: str, got: str | None = None) -> UserError:
    return UserError(what, got=got, where=Place(str(record.path)), remedy=f"{remedy[0].upper()}{remedy[1:]}.")
