"""Talk to a worker as the harness does, one request at a time."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from io import BufferedReader, BufferedWriter
from pathlib import Path
from types import TracebackType
from typing import Any

from conformance.models.case_models import Form, build_model, has_onnx_form
from conformance.models.input_names import input_names
from conformance.models.node_descriptions import describe_node, describe_values
from conformance.running.requests import read_offer
from conformance.suite.cases import Case, Expectation, ExpectedOutput, call_digest
from conformance.workers.worker_protocol import read_frame, write_frame
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor
from tests.conformance.protocol_schema import check_answer, check_request

Header = dict[str, Any]


class RuntimeRefused(Exception):
    """An `error` answer."""

    def __init__(self, answer: Header) -> None:
        super().__init__(f"{answer['class']} {answer['kind']}: {answer['message']}")
        self.error_class: str = answer["class"]
        self.kind: str = answer["kind"]
        self.message: str = answer["message"]


class Conversation:
    """One worker process and what it was asked."""

    def __init__(
        self,
        command: Sequence[str],
        options: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **(environment or {})},
        )
        self._count = 0
        try:
            self.hello = self.ask({"type": "hello", "protocol": 1, "options": dict(options or {})})[0]
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise

    def __enter__(self) -> Conversation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def children(self) -> list[str]:
        """The numbers of the processes that the worker has started and that still run."""
        lists = Path(f"/proc/{self._process.pid}/task").glob("*/children")
        return [number for path in lists for number in path.read_text().split()]

    def ask(self, header: Header, blobs: Sequence[bytes] = ()) -> tuple[Header, list[bytes]]:
        """The answer to a request; RuntimeRefused where it is an error, EOFError where the worker died."""
        sending, receiving = self._process.stdin, self._process.stdout
        assert isinstance(sending, BufferedWriter)
        assert isinstance(receiving, BufferedReader)
        number, self._count = self._count, self._count + 1
        check_request({**header, "id": number})
        write_frame(sending, {**header, "id": number}, blobs)
        frame = read_frame(receiving)
        if frame is None:
            raise EOFError(f"the worker ended with status {self._process.wait()}")
        check_answer(frame[0])
        assert frame[0]["id"] == number
        if frame[0]["type"] == "error":
            raise RuntimeRefused(frame[0])
        return frame

    @property
    def threads(self) -> int:
        """How many threads the worker has now."""
        return sum(1 for _ in Path(f"/proc/{self._process.pid}/task").iterdir())

    def call(
        self, case: Case, form: Form = "inputs", threads: int | None = None, *, forget: bool = True
    ) -> list[Tensor | str]:
        """Load and run a case; a string stands for what is no tensor."""
        how = self.hello["domains"].get(case.operator.domain, self.hello["domains"].get("*"))
        ends = read_offer(self.hello).ends_of(case)
        described, blobs = describe_node(case, form, how or "node", ends)
        header: Header = {"type": "load", "model": 1, "form": form, **described}
        if threads is not None:
            header["threads"] = threads
        if how == "onnx" and has_onnx_form(case.operator):
            header["onnx"] = len(blobs)
            blobs = [*blobs, build_model(case, form, ends=ends)]
        self.ask(header, blobs)
        sent: list[Header] = []
        data: list[bytes] = []
        constant = {each["name"] for each in described["inputs"] if each and each.get("constant")}
        for name, (_, tensor) in zip(input_names(case.inputs), case.inputs, strict=True):
            if tensor is not None and name not in constant:
                sent.append(
                    {"name": name, "element_type": tensor.element_type.name, "shape": list(tensor.shape),
                     "blob": len(data)}
                )  # fmt: skip
                data.append(tensor.to_bytes())
        run: Header = {"type": "run", "model": 1, "inputs": sent}
        if values := describe_values(case, how or "", ends):
            run["values"] = values
        answer, returned = self.ask(run, data)
        if forget:
            self.ask({"type": "unload", "model": 1})
        return [_read(each, returned) for each in answer["outputs"]]


def _read(description: Header, blobs: Sequence[bytes]) -> Tensor | str:
    if "not_a_tensor" in description:
        return str(description["not_a_tensor"])
    kind = ELEMENT_TYPES[description["element_type"]]
    return Tensor.from_bytes(kind, tuple(description["shape"]), blobs[description["blob"]])


def make_case(
    operator: str,
    inputs: Sequence[tuple[str, Tensor | None]],
    attributes: Mapping[str, tuple[str, object]] | None = None,
    output: Tensor | None = None,
) -> Case:
    """A case of one output; `output` gives the type and rank that its model declares, else those of the
    first input."""
    name = OperatorName.parse(operator)
    held = {each: attribute(kind, value) for each, (kind, value) in (attributes or {}).items()}
    first = next((tensor for _, tensor in inputs if tensor is not None), output)
    assert first is not None
    expected = ExpectedOutput("Y", output or first)
    return Case(
        id=CaseId(name, "cover", None, call_digest(name, held, tuple(inputs))),
        element_type=first.element_type,
        attributes=held,
        inputs=tuple(inputs),
        output_names=("Y",),
        demand="answer",
        expectations=(Expectation((expected,)),),
    )
