"""Cases as requests of the worker protocol, and answers as responses."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from conformance.judging.responses import NotOffered, Refused, WorkerFailed
from conformance.models.case_models import (
    FORMS,
    Form,
    build_model,
    carried_in,
    constant_places,
    has_onnx_form,
)
from conformance.models.input_names import input_names, named_inputs
from conformance.models.node_descriptions import (
    beyond_nodes,
    describe_node,
    describe_values,
    moved_blobs,
    needed_values,
    returned_types,
)
from conformance.models.packing_nodes import NO_ENDS, Ends
from conformance.models.turned_inputs import describe_turned, turned_input
from conformance.processes.frames import (
    LARGEST_HELLO,
    LONGEST_MESSAGE,
    LONGEST_WORD,
    MOST_SECONDS,
    MOST_THREAD_COUNTS,
    MOST_THREADS,
    PROTOCOLS,
    BrokenProtocol,
    Frame,
    cut,
    frame_head,
)
from conformance.running.returned_values import Returned
from conformance.runtimes.adapter import Adapter
from conformance.suite.canonical import canonical_json
from conformance.suite.cases import Case
from conformance.suite.properties import runs_twice
from opcert.vocabulary.names import OperatorName


@dataclass(frozen=True)
class Offer:
    """What a worker said in its handshake: who it is, and what it takes. `facts` is the whole answer.

    `threads` are the counts that it can be asked to compute with, its own first; empty where there is no
    choice. `values` are the kinds of values beside tensors that it carries: sequence, optional, map. `loads`
    is false where it does nothing with a model before it is run. `protocol` is the version that it speaks.
    """

    name: str
    version: str
    domains: dict[str, str]
    forms: tuple[Form, ...]
    element_types: frozenset[str] | None
    threads: tuple[int, ...] = ()
    values: frozenset[str] = frozenset()
    facts: dict[str, Any] = field(default_factory=dict)
    loads: bool = True
    protocol: int = 1

    def ends_of(self, case: Case) -> Ends:
        """Which values it takes and gives at the ends of a case's model; that of a case is what it is."""
        return self.values if self.protocol > 1 and case.model is None else NO_ENDS

    def threads_of(self, repeat: int) -> int | None:
        """The thread count to ask for in a repetition: they take turns. None for the worker's own."""
        position = repeat % len(self.threads) if self.threads else 0
        return self.threads[position] if position else None

    def takes_as(self, case: Case) -> str | None:
        """`onnx` or `node`, or None where the case's domain is not offered."""
        return self.takes_operator_as(case.operator)

    def takes_operator_as(self, operator: OperatorName) -> str | None:
        """The same of every case of an operator."""
        found = self.domains.get(operator.domain)
        if found is None and has_onnx_form(operator):
            found = self.domains.get("*")
        return found

    def refusal(self, case: Case) -> NotOffered | None:
        """Why the case is not to be sent at all, or None."""
        if self.takes_as(case) is None:
            return NotOffered(f"{self.name} does not offer operators of {case.operator.domain}")
        if self.element_types is not None:
            used = {tensor.element_type.name for _, tensor in named_inputs(case.inputs)}
            missing = sorted(used - self.element_types)
            if missing:
                return NotOffered(f"{self.name} does not offer tensors of {' or '.join(missing)}")
        how, ends = self.takes_as(case) or "", self.ends_of(case)
        newest = self.protocol == PROTOCOLS[-1]
        older = "" if newest else f"; it speaks version {self.protocol} of the worker protocol"
        lacking = sorted(needed_values(case, how, ends) - self.values)
        if lacking:
            told = f"{self.name} does not offer values of the kind {' or '.join(lacking)}"
            return NotOffered(f"{told}{older}")
        beyond = beyond_nodes(case, how, ends)
        if beyond is not None:
            told = f"{self.name} does not offer {beyond} at the ends of a graph, and no node takes it apart"
            return NotOffered(f"{told}{older}")
        return None


def read_offer(header: dict[str, Any]) -> Offer:
    """The offer in a `hello` answer; raises BrokenProtocol where it says less than it must."""
    size = len(canonical_json(header))
    if size > LARGEST_HELLO:
        raise BrokenProtocol(f"an answer to hello of {size} bytes; at most {LARGEST_HELLO} are allowed")
    try:
        spoken = header["protocol"]
        if header["type"] != "hello" or type(spoken) is not int or spoken not in PROTOCOLS:
            raise BrokenProtocol(
                f"an answer to hello of type {header['type']!r}, protocol {header['protocol']!r}"
            )
        runtime, types = header["runtime"], header.get("element_types")
        offer = Offer(
            name=_text(runtime["name"]),
            version=_text(runtime["version"]),
            domains={str(domain): str(how) for domain, how in header["domains"].items()},
            forms=_read_forms(header["forms"], header.get("threads", [])),
            element_types=None if types is None else frozenset(str(each) for each in types),
            threads=_read_threads(header.get("threads", [])),
            values=frozenset(str(each) for each in header.get("values", [])),
            facts={key: value for key, value in header.items() if key not in ("id", "type", "blobs")},
            loads=header.get("loads", True),
            protocol=spoken,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise BrokenProtocol(f"an answer to hello without {error}") from error
    kinds = {"devices": list, "platform": dict, "opsets": dict, "values": list, "loads": bool}
    for key, kind in kinds.items():
        if not isinstance(header.get(key, kind()), kind):
            raise BrokenProtocol(f"an answer to hello whose {key} are {header[key]}")
    if not offer.forms or not set(offer.domains.values()) <= {"onnx", "node"}:
        raise BrokenProtocol("an answer to hello whose forms or domains are none of the protocol's")
    return offer


def _read_forms(stated: Any, threads: Any) -> tuple[Form, ...]:
    """The forms that are known; without a choice of threads there is nothing to run with each of."""
    several = isinstance(threads, list) and len(threads) > 1
    known = [form for form in FORMS if form != "threads" or several]
    found = (next((form for form in known if form == each), None) for each in stated)
    return tuple(dict.fromkeys(each for each in found if each is not None))


def _read_threads(stated: Any) -> tuple[int, ...]:
    if (
        not isinstance(stated, list)
        or len(stated) > MOST_THREAD_COUNTS
        or not all(type(each) is int and 0 < each <= MOST_THREADS for each in stated)
    ):
        raise BrokenProtocol(f"an answer to hello whose threads are {stated}")
    return tuple(dict.fromkeys(stated))


def _text(value: object) -> str:
    return cut(str(value), LONGEST_WORD)


@dataclass(frozen=True, eq=False)
class CaseRequest:
    """A case in a form, as it is to be sent, to as many workers and as often as it takes."""

    load: dict[str, Any]
    load_blobs: tuple[bytes, ...]
    run: dict[str, Any]
    run_blobs: tuple[bytes, ...]
    again: bool = False
    """Whether it is loaded anew and run a second time."""
    further: tuple[CaseRequest, ...] = ()
    """What is sent behind it; one that has the same model runs on the one that is there."""
    told: str | None = None
    """Which of several answers it gives; None where there is one."""
    asked: bool = True
    """Whether its answer is judged; of another one nothing is demanded but survival."""
    returned: Returned = None
    """The types of the outputs that are to come, None for a tensor; None where nobody says."""

    @cached_property
    def load_head(self) -> bytes:
        """The head of its `load` (`frame_head`)."""
        return frame_head(self.load, self.load_blobs)

    @cached_property
    def run_head(self) -> bytes:
        """The head of its `run`."""
        return frame_head(self.run, self.run_blobs)

    @cached_property
    def size(self) -> int:
        """The bytes of its tensors and model."""
        own = sum(map(len, self.load_blobs)) + sum(map(len, self.run_blobs))
        return own + sum(request.size for request in self.further)

    def encoded(self) -> CaseRequest:
        """The same, of which every head was made; raises what cannot be encoded."""
        for request in (self, *self.further):
            _ = request.load_head, request.run_head
        return self

    def without_others(self) -> CaseRequest:
        """The runs of which something is asked alone."""
        first, *others = (request for request in (self, *self.further) if request.asked)
        return replace(first, further=tuple(others))

    def same_model(self, other: CaseRequest) -> bool:
        """Whether a worker that holds the model of the other one holds this one's."""
        return self.load_head == other.load_head and self.load_blobs == other.load_blobs


def encode_case(
    case: Case,
    form: Form,
    how: str,
    valid_case: Case | None,
    threads: int | None = None,
    preferred: Form = "inputs",
    ends: Ends = NO_ENDS,
) -> CaseRequest:
    """The `load` and `run` requests of a case, without their numbers; `threads` None is the worker's own.

    `preferred` is the form that the worker named first, `ends` the values that it takes as they are.
    """
    named, form = form, carried_in(form, preferred)
    description, constants = describe_node(case, form, how, ends)
    blobs: list[bytes] = []
    turned = None
    if how == "onnx":
        blobs.append(build_model(case, form, valid_case, ends=ends))
        if form == "strided":
            turned = turned_input(case, blobs[0], ends)
            if turned is not None:
                description["inputs"] = [
                    describe_turned(each, input_names(case.inputs)[turned.place], turned)
                    for each in description["inputs"]
                ]
        if constants:
            description = {
                name: moved_blobs(each, 1) if name in ("inputs", "attributes") else each
                for name, each in description.items()
            }
    load = {"type": "load", "form": named, **description, "onnx": 0 if how == "onnx" else None}
    if threads is not None:
        load["threads"] = threads
    given: list[dict[str, Any]] = []
    run_blobs: list[bytes] = []
    left_out = constant_places(case, form, ends)
    for place, (name, (_, tensor)) in enumerate(zip(input_names(case.inputs), case.inputs, strict=True)):
        if tensor is not None and place not in left_out:
            if turned is not None and turned.place == place:
                name, tensor = turned.name, turned.tensor
            entry = {"name": name, "element_type": tensor.element_type.name, "shape": list(tensor.shape)}
            given.append({**entry, "blob": len(run_blobs)})
            run_blobs.append(tensor.to_bytes())
    run: dict[str, Any] = {"type": "run", "inputs": given}
    values = describe_values(case, how, ends)
    if values:
        run["values"] = values
    again = runs_twice(case.properties)
    returned = None if case.model is not None else returned_types(case, how, ends)
    return CaseRequest(load, (*blobs, *constants), run, tuple(run_blobs), again, returned=returned)


def encode_runs(
    case: Case,
    form: Form,
    how: str,
    valid_case: Case | None,
    offer: Offer,
    repeat: int = 0,
    between: Case | None = None,
) -> CaseRequest:
    """All requests of a case in a form: of some forms there are several, each `further` behind the first.

    `between` is the call of other extents that goes before each run of the case, on one model. A case that is
    loaded twice because a seed is given has no further ones.
    """
    threads = offer.threads_of(repeat)

    def encode(each: Case, count: int | None) -> CaseRequest:
        return encode_case(each, form, how, valid_case, count, offer.forms[0], offer.ends_of(each))

    first = encode(case, threads)
    if first.again:
        return first
    further: tuple[CaseRequest, ...] = ()
    if form == "threads":
        counts = [thread for thread in offer.threads if thread != (threads or offer.threads[0])]
        further = tuple(replace(encode(case, each), told=f"with {each} threads") for each in counts)
    elif form == "untouched":
        further = (replace(first, told="in a second run"),)
    elif form == "again":
        other = None if between is None else encode(between, threads)
        if other is None or not other.same_model(first):
            return replace(first, further=(replace(first, told="in a second run"),))
        before = replace(other, asked=False)
        one, two = (replace(first, told=f"in run {each}, behind other extents") for each in (2, 4))
        return replace(before, further=(one, before, two))
    return replace(first, further=further)


def read_error(
    header: dict[str, Any], stage: str, adapter: Adapter, seconds: float
) -> Refused | WorkerFailed:
    """What an `error` answer means; the adapter's table decides whether it says `unsupported`."""
    kind, message = _text(header.get("kind", "")), cut(str(header.get("message", "")), LONGEST_MESSAGE)
    error_class = header.get("class")
    if error_class not in ("unsupported", "rejected"):
        told = error_class if error_class == "internal" else _text(repr(error_class))
        return WorkerFailed(kind, _text(message), stage, told)
    rule = adapter.find_rule(kind, message, error_class)
    return Refused(kind, message, stage, None if rule is None else rule.example, seconds)


def seconds_of(frame: Frame) -> float:
    """The time that an answer states; 0 where it states none, or nonsense."""
    stated = frame.header.get("seconds", 0.0)
    if type(stated) not in (int, float) or not 0 <= stated <= MOST_SECONDS:
        return 0.0
    return float(stated)
