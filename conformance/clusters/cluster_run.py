"""A run whose cases are run by the workers of a cluster: one record, as of one machine.

The client cuts the plan into units, and writes down the rows of each as it comes; it keeps none. A unit that
a lost worker had is given to another one, and its rows are taken once.
"""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.clusters.cluster import Cluster
from conformance.clusters.run_units import RunOrder, ToldRuntime, UnitAnswer, UnitMaker
from conformance.clusters.run_worker import Begun, begin_run, end_run, newest_opset, run_unit
from conformance.clusters.worker_answers import Lost, check_machine, common_flags, kind_of
from conformance.processes.worker_process import merge_digests
from conformance.recording.records import Order, Record, RecordWriter
from conformance.recording.rows import Result
from conformance.running.collector import Collector
from conformance.running.progress import Progress, Silent
from conformance.running.resuming import RecordPlace
from conformance.running.run_options import RunOptions, RunPlan, RunRequest, call_in, told_options
from conformance.runtimes.runtimes import Runtime
from conformance.suite.canonical import canonical_json
from conformance.suite.suites import Suite
from opcert.vocabulary.errors import Place, RuntimeUnavailable, UserError, unwritable
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.regular_files import read_regular

_LARGEST = 64 << 20
_LEFT_OUT = ("opcert", "sources")
UNKNOWN = "unknown"
"""The kind of a machine that rows name, and of which nothing else is known."""


class MachineBook:
    """The machines of a record by name, and how many rows each has.

    With `resume` it begins with those that are noted beside the record; else the notes go. UserError where
    they cannot be written.
    """

    def __init__(self, record: Path, *, resume: bool = False) -> None:
        self._path = record.with_name(f".{record.name}.machines")
        self._machines: dict[str, dict[str, Any]] = {}
        self._rows: Counter[str] = Counter()
        if resume:
            self._read()
        else:
            self.forget()

    def count(self, name: str, rows: int) -> None:
        """So many rows are of a machine."""
        self._rows[name] += rows

    def note(self, machine: Mapping[str, Any]) -> bool:
        """Note a machine before its first row is recorded; whether it is the first of a kind beside others.

        A machine that says of itself what another one of its name did not (it was started anew, with another
        processor) is noted with its kind behind its name, and so are its rows: see `name_of`.
        """
        name = self.name_of(machine)
        if name in self._machines:
            return False
        kinds = self.kinds()
        told = {key: value for key, value in machine.items() if key not in _LEFT_OUT}
        self._machines[name] = {**told, "name": name, "kind": kind_of(machine)}
        try:
            with self._path.open("ab") as file:
                file.write(canonical_json(self._machines[name]) + b"\n")
        except OSError as error:
            raise unwritable("the machines of the record", self._path, error) from error
        return bool(kinds) and kind_of(machine) not in kinds

    def name_of(self, machine: Mapping[str, Any]) -> str:
        """What rows call a machine."""
        name = str(machine["name"])
        known = self._machines.get(name)
        return name if known is None or known["kind"] == kind_of(machine) else f"{name} ({kind_of(machine)})"

    def kinds(self) -> list[str]:
        """The kinds of the machines, each once."""
        return sorted({str(machine["kind"]) for machine in self._machines.values()})

    def told(self) -> list[dict[str, Any]]:
        """The machines that have rows, as a record's footer has them."""
        found = []
        for name, rows in sorted(self._rows.items()):
            known = self._machines.get(name, {"name": name, "kind": UNKNOWN})
            found.append({**known, "rows": rows})
        return found

    def forget(self) -> None:
        """Remove the notes beside the record."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _read(self) -> None:
        with suppress(OSError):
            for line in read_regular(self._path, _LARGEST).splitlines():
                with suppress(ValueError, KeyError, TypeError):  # one that was cut off is of no row yet
                    machine = json.loads(line)
                    self._machines[str(machine["name"])] = {**machine, "kind": str(machine["kind"])}


_STOPPED = "runtime_dies"
"""The one reason for which a unit ends early."""
_LONGEST = 1e9
_MOST_THREADS = 1 << 16
MOST_IN_MEMORY = 5000
"""Rows of a record that the client of a cluster has in memory: whoever needs one has too many for that."""


def run_suite_on(
    cluster: Cluster,
    request: RunRequest,
    place: RecordPlace,
    progress: Progress | None = None,
    python: str | None = None,
) -> Record:
    """Do on a cluster what is asked and write the record; the rest is as `run_request` says.

    `python` is an interpreter as the workers' machines have it. What was recorded stays where the scheduler
    goes away, a worker says what is wrong, or the client is interrupted, and a run that resumes goes on from
    there. A unit whose workers are lost again and again is not run, and the footer says so: `stopped` is of
    the kind `machines_lost`. Raises RuntimeUnavailable, with the machine, where the runtime has another
    version there.
    """
    progress = progress or Silent()
    suite, runtime, options = request.suite, request.runtime, request.options
    selected = request.selected()
    order = RunOrder(uuid.uuid4().hex, suite.digest, ToldRuntime.of(runtime, python), options)
    sources = project_digest()
    progress.note(f"starting {one_line(runtime.text, 200)} on the workers of {cluster.address}")
    begun: Begun = cluster.ask(begin_run, sources, order)
    try:
        header = _header(begun, suite, options, runtime, cluster)
        header["options"] |= request.told_forms()
        beginning = place.begin(request.plan(selected, begun.forms), header, progress)
        if beginning.earlier is not None and beginning.whole:
            return beginning.earlier
        book = MachineBook(place.path, resume=beginning.earlier is not None)
        writer = beginning.open(header, MOST_IN_MEMORY)
        try:
            collector = Collector(suite, writer, progress, options, begun.threads)
            for result, _ in beginning.kept():
                book.count(str(result.machine), 1)
            collector.begin(beginning.kept(), beginning.plan)
            merging = _Merging(cluster, beginning.plan, collector, writer, book, begun, progress)
            merging.run(sources, order)
            return merging.finish()
        finally:
            writer.close()
            progress.finish()
    finally:
        cluster.forget(end_run, order.key)


def newest_opset_on(
    cluster: Cluster, runtime: Runtime, python: str | None, oldest: int, newest: int
) -> int | None:
    """The newest of ONNX's opsets that a runtime takes on a cluster; None where it takes none of them."""
    found: int | None = cluster.ask(
        newest_opset, project_digest(), ToldRuntime.of(runtime, python), oldest, newest
    )
    if found is not None and not oldest <= found <= newest:
        raise _false(ValueError(f"opset {found}"), {}, cluster)
    return found


def _header(
    begun: Begun, suite: Suite, options: RunOptions, runtime: Runtime, cluster: Cluster
) -> dict[str, Any]:
    """What a record begins with: what a worker said of the runtime and its machine, and what is known."""
    header: dict[str, Any] = json.loads(json.dumps(begun.header))
    try:
        check_machine(begun.machine)
        _check_header(header, begun, suite, options)
    except ValueError as error:
        raise _false(error, begun.machine, cluster) from error
    header["runtime"]["source"] = runtime.text
    header["cluster"] = {"engine": cluster.engine, "threads": cluster.threads()}
    return header


def _check_header(header: Mapping[str, Any], begun: Begun, suite: Suite, options: RunOptions) -> None:
    """Raise ValueError where a header is of another run, or no header."""
    if not header.keys() >= {"suite", "runtime", "platform", "confinement", "options", "started"}:
        raise ValueError(f"a record's header without {ascii(sorted(header))[:200]}")
    if (header["suite"], header["options"]) != (suite.digest, told_options(options, begun.forms)):
        raise ValueError("a record's header of another suite, or with other options")
    known = header["runtime"] if isinstance(header["runtime"], dict) else {}
    texts = (known.get("name"), known.get("version"), begun.runtime.get("name"), begun.runtime.get("version"))
    parts = (known.get("environment"), known.get("options"), header["platform"])
    if not all(type(text) is str for text in texts) or not all(isinstance(part, dict) for part in parts):
        raise ValueError("a record's header that does not say which runtime it is, and where")
    if texts[:2] != texts[2:] or not begun.forms or not 0 <= begun.threads <= _MOST_THREADS:
        raise ValueError("a record's header of another runtime than the one that has begun")


def _false(error: Exception, machine: Mapping[str, Any], cluster: Cluster) -> UserError:
    """The error of an answer that cannot be one to what was asked."""
    name = one_line(str(machine.get("name", "unknown")), 200)
    return UserError(
        "a worker's response does not fit the request",
        got=one_line(str(error), 300),
        where=Place(f"machine {name} of {cluster.address}"),
        remedy="Look at what runs there. Nothing of the answer is recorded; what came before is kept, and a "
        "run with --resume goes on from there.",
    )


class _Merging:
    """Takes the answers to units as they come: checks who answers, and writes down what it says."""

    def __init__(
        self,
        cluster: Cluster,
        plan: RunPlan,
        collector: Collector,
        writer: RecordWriter,
        book: MachineBook,
        begun: Begun,
        progress: Progress,
    ) -> None:
        self._cluster, self._plan, self._collector = cluster, plan, collector
        self._writer, self._book, self._begun, self._progress = writer, book, begun, progress
        self._maker = UnitMaker(plan, None if collector.options.most_lost is None else call_in)
        self._losses: list[str] = []
        self._loaded: list[dict[str, Any]] | None = [] if collector.options.identify else None
        self._lost: list[str] = []
        self._not_run = 0

    def run(self, sources: str, order: RunOrder) -> None:
        """Have every unit run, until there are none left or the run is to end."""
        told = ((unit.positions, (sources, order, unit)) for unit in self._maker.units())
        units = self._cluster.each(run_unit, told)
        try:
            for positions, answer in units:
                if isinstance(answer, Lost):
                    self._lost.append(answer.reason)
                    self._not_run += len(positions)
                    self._progress.note(f"{len(positions)} cases are not run: {one_line(answer.reason)}")
                else:
                    self._take(positions, answer)
                if self._collector.halt.reason is not None:
                    return
        finally:
            units.close()

    def _take(self, positions: Sequence[int], answer: UnitAnswer) -> None:
        try:
            came = self._rows(positions, answer)
            self._check(answer)
            adopted = {each: self._writer.outputs.adopt(each, raw) for each, raw in answer.outputs.items()}
        except (ValueError, KeyError, TypeError) as error:
            raise _false(error, answer.machine, self._cluster) from error
        refused = {each for each, kept in adopted.items() if not kept}
        if self._book.note(answer.machine):
            name = one_line(self._book.name_of(answer.machine), 300)
            self._progress.note(f"{name} is of another kind than the other machines; its rows name it")
        name = self._book.name_of(answer.machine)
        rows = [_row(*row, name, refused) for row in came]
        self._collector.accept(rows, self._plan)
        self._book.count(name, len(rows))
        self._losses += answer.losses
        if self._loaded is not None:
            self._loaded = merge_digests([self._loaded, [dict(each) for each in answer.loaded or ()]])
        self._maker.measured(len(positions), answer.seconds, self._cluster.threads())
        if answer.stopped is not None:
            kind, reason = answer.stopped
            self._collector.halt.set(kind, f"on {one_line(name, 200)}: {one_line(reason, 2000)}")

    def _rows(self, positions: Sequence[int], answer: UnitAnswer) -> list[tuple[Result, Order, bytes]]:
        """The rows of an answer; ValueError where they are not each row of these cases, once.

        A unit that ended early may lack some, and so may one whose calls lost too many workers.
        """
        check_machine(answer.machine)
        if not 0 <= answer.seconds < _LONGEST:
            raise ValueError(f"a unit that took {answer.seconds} seconds")
        if answer.stopped is not None and answer.stopped[0] != _STOPPED:
            raise ValueError(f"a unit that ended early for {ascii(answer.stopped[0])[:80]}")
        plan, own, seen = self._plan, frozenset(positions), set[Order]()
        rows = list(answer.rows())
        for row, place, _ in rows:
            position, form, repeat = place
            if position not in own or form >= len(plan.forms) or place in seen:
                raise ValueError(f"a row at the place {place}, which it was not to have")
            case = plan.selected[position]
            asked = row.case == case and row.form == plan.forms[form] and row.repeat == repeat
            if not asked or row.form not in plan.forms_by_case[case] or repeat >= plan.repeat:
                raise ValueError(f"a row of {ascii(row.case)[:200]} in the place of {case}")
            entry = plan.suite.entry(case)
            if (row.family, row.element_type) != (entry["family"], entry["element_type"]):
                raise ValueError(f"a row that says other things of {case} than the suite")
            seen.add(place)
        missing = sum(plan.rows_of(plan.selected[each]) for each in own) - len(rows)
        if missing and answer.stopped is None and self._collector.options.most_lost is None:
            raise ValueError(f"{missing} rows are missing")
        return rows

    def _check(self, answer: UnitAnswer) -> None:
        """Raise RuntimeUnavailable where a machine has another runtime than the one that began."""
        for key, value in self._begun.runtime.items():
            if answer.runtime.get(key) != value:
                raise RuntimeUnavailable(
                    "the runtime is another one on this machine than where the run began",
                    got=f"{key} {answer.runtime.get(key)} on {one_line(str(answer.machine['name']), 200)}",
                    expected=f"{value}, as on {one_line(str(self._begun.machine['name']), 200)}",
                    remedy="Name its version (NAME==VERSION), or make its environment anew on one of them "
                    "(`opcert run --upgrade`), and go on with --resume.",
                )

    def finish(self) -> Record:
        """Say in the footer, and in the header what is of all machines, who ran what."""
        if self._lost:
            reason = f"{self._not_run} cases were left by lost workers; the first: {self._lost[0]}"
            self._collector.halt.set("machines_lost", reason)
        told = self._book.told()
        kinds = sorted({str(each["kind"]) for each in told})
        if len(kinds) > 1:
            platform = dict(json.loads(json.dumps(self._begun.header["platform"])))
            # Which machine has which instruction sets, the footer says of each.
            own = {"model": "of several kinds", "flags": common_flags(kinds)}
            self._writer.amend({"platform": {**platform, "machine": " and ".join(kinds)}, "processor": own})
        record = self._collector.finish(self._plan.tasks(), self._losses, self._loaded, machines=told)
        self._book.forget()
        return record


def _row(
    result: Result, place: Order, line: bytes, machine: str, refused: set[str]
) -> tuple[Result, Order, bytes]:
    """A row as it is recorded here: with its machine's name, and no file that there was no room for."""
    changed = result
    if result.machine != machine:
        changed = replace(changed, machine=machine)
    if refused and any(
        isinstance(output, dict) and output.get("file") in refused for output in result.outputs
    ):
        outputs = tuple(
            {key: value for key, value in output.items() if key != "file"}
            if isinstance(output, dict) and output.get("file") in refused
            else output
            for output in result.outputs
        )
        changed = replace(changed, outputs=outputs)
    return (result, place, line) if changed is result else (changed, place, changed.to_line())
