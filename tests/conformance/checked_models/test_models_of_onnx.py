"""The reader on every model that the installed onnx package carries, and on those of its node tests."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import ModelProto
from onnx.backend.test.case.node import collect_testcases
from onnx.shape_inference import infer_shapes

from conformance.checked_models.model_reading import read_model
from tests.conformance.checked_models.hand_made import read

_DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"


@pytest.mark.slow
def test_models_that_onnx_carries_are_read() -> None:
    paths = sorted(_DATA.rglob("*.onnx"))
    assert len(paths) > 100
    for path in paths:
        model = ModelProto.FromString(path.read_bytes())
        facts = read_model(path, seconds=0)
        graphs = sum("/" not in node.place for node in facts.nodes)
        assert graphs == len(model.graph.node) or model.functions, path
        assert all(node.unknown is None for node in facts.nodes), (path, facts.notes)
        assert sum(len(call.nodes) for call in facts.calls) == len(facts.nodes)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_models_of_node_tests_are_read(tmp_path: Path) -> None:
    """Each operator version is what onnx's own schema says, and nothing of a node is left unread."""
    models = [test.model for test in collect_testcases(None) if test.model is not None]
    assert len(models) > 1000
    for model in models[::9]:
        facts = read(model, tmp_path)
        imported = {opset.domain: opset.version for opset in model.opset_import}
        for one, proto in zip(
            [node for node in facts.nodes if "/" not in node.place], model.graph.node, strict=False
        ):
            if model.functions:
                continue
            schema = onnx.defs.get_schema(proto.op_type, imported[proto.domain], proto.domain)
            assert one.operator is not None, one.unknown
            assert one.operator.since_version == schema.since_version
            assert set(one.attributes) | set(one.unread) == {attribute.name for attribute in proto.attribute}


@pytest.mark.slow
def test_shapes_are_those_of_onnx_itself(tmp_path: Path) -> None:
    paths = sorted((_DATA / "light").glob("*.onnx"))[:3]
    for path in paths:
        model = ModelProto.FromString(path.read_bytes())
        wanted = {
            each.name: [dim.dim_value for dim in each.type.tensor_type.shape.dim]
            for each in infer_shapes(model, data_prop=True).graph.value_info
        }
        facts = read(model, tmp_path, seconds=120)
        found = {
            output.name: output.shape
            for one in facts.nodes
            for output in one.outputs
            if output is not None and output.shape
        }
        shared = wanted.keys() & found.keys()
        assert len(shared) > 5
        for name in shared:
            assert [each if isinstance(each, int) else 0 for each in found[name]] == wanted[name], name
