"""Schemas of ONNX operators as plain data: what documents are written from, and what importers must read.

They come from the installed onnx package, or from `com_microsoft.json`, which holds the facts (no sentence)
of the schemas that ONNX Runtime exposes; `python -m tests.specs.emitters.onnx_schemas` writes it again.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import onnx
import onnx.defs

from conformance.runtimes.environments import prepare
from opcert.vocabulary.names import OperatorName

FIXTURE = Path(__file__).with_name("com_microsoft.json")
SCRIPT = Path(__file__).with_name("dump_onnxruntime.py")
NO_LIMIT = 2147483647
_KINDS = {
    "INT": "int",
    "FLOAT": "float",
    "STRING": "string",
    "INTS": "ints",
    "FLOATS": "floats",
    "STRINGS": "strings",
}
_DIFFERENTIABLE = {"Differentiable": True, "NonDifferentiable": False}


@dataclass(frozen=True)
class AttributeSchema:
    """An attribute. `type` is the schema's word (`INTS`, `GRAPH`); `default` a plain value or None."""

    name: str
    type: str
    required: bool
    default: Any = None
    description: str = ""

    @property
    def kind(self) -> str | None:
        """Our name of the type; None for those that no call here can carry."""
        return _KINDS.get(self.type)


@dataclass(frozen=True)
class ParameterSchema:
    """An input or output; `type` as schemas write it (`T`, `tensor(int64)`)."""

    name: str
    option: str
    type: str
    homogeneous: bool
    differentiable: bool | None = None
    description: str = ""


@dataclass(frozen=True)
class ConstraintSchema:
    """A type variable and the types that it may stand for."""

    name: str
    types: tuple[str, ...]
    description: str = ""


@dataclass(frozen=True)
class Schema:
    """One operator version. An arity's upper bound is NO_LIMIT where there is none."""

    domain: str
    name: str
    since_version: int
    deprecated: bool
    attributes: tuple[AttributeSchema, ...]
    inputs: tuple[ParameterSchema, ...]
    outputs: tuple[ParameterSchema, ...]
    constraints: tuple[ConstraintSchema, ...]
    input_arity: tuple[int, int]
    output_arity: tuple[int, int]
    experimental: bool = False
    description: str = ""

    @property
    def operator(self) -> OperatorName:
        return OperatorName(self.domain or "ai.onnx", self.name, self.since_version)


@cache
def onnx_schemas() -> tuple[Schema, ...]:
    """Every operator version of the installed onnx package, in the order of domains, names and versions."""
    schemas = [_from_onnx(schema) for schema in onnx.defs.get_all_schemas_with_history()]
    return tuple(sorted(schemas, key=lambda schema: (schema.domain, schema.name, schema.since_version)))


def _from_onnx(schema: Any) -> Schema:
    def parameter(each: Any) -> ParameterSchema:
        return ParameterSchema(
            each.name,
            each.option.name.lower(),
            each.type_str,
            each.is_homogeneous,
            _DIFFERENTIABLE.get(each.differentiation_category.name),
            each.description,
        )

    return Schema(
        domain=schema.domain,
        name=schema.name,
        since_version=schema.since_version,
        deprecated=schema.deprecated,
        attributes=tuple(
            AttributeSchema(
                name,
                attribute.type.name,
                attribute.required,
                _plain_default(attribute.default_value),
                attribute.description,
            )
            for name, attribute in sorted(schema.attributes.items())
        ),
        inputs=tuple(map(parameter, schema.inputs)),
        outputs=tuple(map(parameter, schema.outputs)),
        constraints=tuple(
            ConstraintSchema(
                type_constraint.type_param_str,
                tuple(type_constraint.allowed_type_strs),
                type_constraint.description,
            )
            for type_constraint in schema.type_constraints
        ),
        input_arity=(schema.min_input, schema.max_input),
        output_arity=(schema.min_output, schema.max_output),
        experimental=schema.support_level.name == "EXPERIMENTAL",
        description=schema.doc,
    )


def _plain_default(attribute: onnx.AttributeProto) -> Any:
    return _plain(onnx.helper.get_attribute_value(attribute)) if attribute.type else None


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def fixture_version() -> str:
    """The version of ONNX Runtime that the fixture was written from."""
    return str(json.loads(FIXTURE.read_text(encoding="utf-8"))["onnxruntime"])


@cache
def microsoft_schemas() -> tuple[Schema, ...]:
    """Every operator version of com.microsoft, from the fixture; there are no descriptions."""
    return tuple(map(_from_plain, json.loads(FIXTURE.read_text(encoding="utf-8"))["schemas"]))


def _from_plain(plain: Mapping[str, Any]) -> Schema:
    groups = {
        "attributes": tuple(AttributeSchema(**each) for each in plain["attributes"]),
        "inputs": tuple(ParameterSchema(**each) for each in plain["inputs"]),
        "outputs": tuple(ParameterSchema(**each) for each in plain["outputs"]),
        "constraints": tuple(
            ConstraintSchema(each["name"], tuple(each["types"])) for each in plain["constraints"]
        ),
        "input_arity": tuple(plain["input_arity"]),
        "output_arity": tuple(plain["output_arity"]),
    }
    return Schema(**{**plain, **groups})


def dump_runtime() -> tuple[str, tuple[Schema, ...]]:
    """The version of ONNX Runtime in its own environment, and its schemas of com.microsoft."""
    environment = prepare(["onnxruntime"])
    printed = subprocess.run(
        [environment.program, "-I", str(SCRIPT)], capture_output=True, check=True, timeout=120, text=True
    ).stdout
    dumped = json.loads(printed)
    for schema in dumped["schemas"]:
        for attribute in schema["attributes"]:
            proto = onnx.AttributeProto.FromString(bytes.fromhex(attribute["default"]))
            attribute["default"] = _plain_default(proto)
    return dumped["onnxruntime"], tuple(map(_from_plain, dumped["schemas"]))


def write_fixture(version: str, schemas: tuple[Schema, ...]) -> None:
    """Write `com_microsoft.json`: one schema a line, without what has its default."""
    lines = []
    for schema in schemas:
        plain = {key: _without_empty(value) for key, value in asdict(schema).items()}
        plain.pop("description")
        lines.append(json.dumps(plain, separators=(",", ":")))
    text = f'{{"onnxruntime":"{version}","schemas":[\n' + ",\n".join(lines) + "\n]}\n"
    FIXTURE.write_text(text, encoding="utf-8")


def _without_empty(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_without_empty(each) for each in value]
    if isinstance(value, Mapping):
        return {
            key: each
            for key, each in value.items()
            if not (key == "description" or (key in ("default", "differentiable") and each is None))
        }
    return value


if __name__ == "__main__":
    write_fixture(*dump_runtime())
