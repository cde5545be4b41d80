"""Optimisers of ONNX models as runtimes: real ones, and ones that are wrong on purpose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from conformance.models.case_models import Form
from conformance.runtimes.adapter import load_adapter
from conformance.runtimes.runtimes import worker_command
from opcert.vocabulary.tensors import tensor
from tests.conformance.conversation import Conversation, Header, RuntimeRefused, make_case
from tests.conformance.onnxruntime_calls import UNSUPPORTED
from tests.conformance.runtime_checks import environment_of

NAMES = ("onnxoptimizer", "onnxscript", "onnxsim", "onnxslim")
_SUM = make_case("ai.onnx::Add-14", [("A", tensor([1.0, 2.0])), ("B", tensor([3.0, 4.0]))])


class _Heard(Conversation):
    """A conversation that keeps what the last answer said beside its outputs."""

    last: Header

    def __enter__(self) -> _Heard:
        return self

    def ask(self, header: Header, blobs: Sequence[bytes] = ()) -> tuple[Header, list[bytes]]:
        frame = super().ask(header, blobs)
        self.last = frame[0] if frame[0]["type"] == "outputs" else getattr(self, "last", {})
        return frame


def _on(name: str, environment: Mapping[str, str] | None = None) -> _Heard:
    adapter = load_adapter(name)
    return _Heard(worker_command(adapter, environment_of(adapter)), {"optimizer": name}, environment)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.runtimes(name)) for name in NAMES])
def test_what_an_optimiser_makes_answers_as_before(name: str) -> None:
    forms: tuple[Form, ...] = ("initializers", "inputs", "dynamic")
    with _on(name) as conversation:
        assert conversation.hello["runtime"]["name"] == name
        for form in forms:
            assert conversation.call(_SUM, form) == [tensor([4.0, 6.0])]
            assert conversation.last["kept"] is True
        with pytest.raises(RuntimeRefused) as caught:
            conversation.call(UNSUPPORTED["element type"])
    seen = caught.value
    assert seen.kind == "RefusedBefore"
    assert load_adapter(name).find_rule(seen.kind, seen.message, seen.error_class) is not None


_PLANTED = "import onnx, os\ndef slim(model):\n    "
_SWAPPED = "model.graph.node[0].op_type = 'Sub'; return model"


@pytest.mark.runtimes("onnxslim")
@pytest.mark.parametrize("form", ["initializers", "inputs"])
def test_an_optimiser_that_changes_a_value_is_seen(tmp_path: Path, form: Form) -> None:
    (tmp_path / "onnxslim.py").write_text(_PLANTED + _SWAPPED)
    with _on("onnxslim", {"PYTHONPATH": str(tmp_path)}) as conversation:
        assert conversation.call(_SUM, form) == [tensor([-2.0, -2.0])]
        assert conversation.last["kept"] is False


@pytest.mark.runtimes("onnxslim")
def test_what_an_optimiser_breaks_is_told_as_its_own_and_its_crash_is_one(tmp_path: Path) -> None:
    (tmp_path / "onnxslim.py").write_text(_PLANTED + "model.graph.node[0].input[1] = 'C'; return model")
    with (
        _on("onnxslim", {"PYTHONPATH": str(tmp_path)}) as conversation,
        pytest.raises(RuntimeRefused, match="what onnxslim made does not run") as caught,
    ):
        conversation.call(_SUM)
    assert load_adapter("onnxslim").find_rule(caught.value.kind, caught.value.message) is None
    (tmp_path / "onnxslim.py").write_text(_PLANTED + "os.abort()")
    with _on("onnxslim", {"PYTHONPATH": str(tmp_path)}) as conversation, pytest.raises(EOFError):
        conversation.call(_SUM)


_RESTLESS = """
import onnxruntime
run = onnxruntime.InferenceSession.run
runs = []
def restless(session, names, inputs):
    runs.append(None)
    return [each + len(runs) for each in run(session, names, inputs)]
def slim(model):
    onnxruntime.InferenceSession.run = restless
    return model
"""


@pytest.mark.runtimes("onnxslim")
def test_what_answers_otherwise_each_time_is_not_compared(tmp_path: Path) -> None:
    (tmp_path / "onnxslim.py").write_text(_RESTLESS)
    with (
        _on("onnxslim", {"PYTHONPATH": str(tmp_path)}) as conversation,
        pytest.raises(RuntimeRefused, match="RefusedBefore: the model answers otherwise each time"),
    ):
        conversation.call(_SUM)
