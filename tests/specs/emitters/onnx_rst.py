"""Writes ONNX's pages in reStructuredText from schemas: as Sphinx was given them from 2022 to 2023.

One page describes one operator, its newest version first. `emit_flattened` gives the page on one line, as
it stands in collections of scraped text.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from tests.specs.emitters.onnx_markdown import print_default
from tests.specs.emitters.onnx_schemas import AttributeSchema, ParameterSchema, Schema


def emit_page(schemas: Iterable[Schema], typed: bool = False, constraints: bool = True) -> str:
    """The page of one operator from all its versions.

    `typed` is the later layout, which prints types and defaults of attributes; without `constraints` the
    page lacks its type constraints, like those of com.microsoft.
    """
    ordered = sorted(schemas, key=lambda schema: -schema.since_version)
    name, domain = ordered[0].name, ordered[0].domain
    title = f"{domain} - {name}" if domain else name
    lines = ["", f".. _l-onnx-doc{domain}-{name}:", "", "=" * len(title), title, "=" * len(title), "",
             ".. contents::", "    :local:", "", ""]  # fmt: skip
    for position, schema in enumerate(ordered):
        lines += _version(schema, typed, constraints)
        if position + 1 < len(ordered):
            older = ordered[position + 1].since_version
            lines += [".. toctree::", f"    text_diff_{name}_{older}_{schema.since_version}", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def emit_flattened(schemas: Iterable[Schema], typed: bool = False, constraints: bool = True) -> str:
    """The page with every run of white space as one space."""
    return " ".join(emit_page(schemas, typed, constraints).split())


def _version(schema: Schema, typed: bool, constraints: bool) -> Iterator[str]:
    anchor = f"{schema.domain.replace('.', '-')}-" if schema.domain else ""
    domain = f" ({schema.domain})" if schema.domain else ""
    heading = f"{schema.name} - {schema.since_version}{domain}"
    yield from (f".. _l-onnx-op-{anchor}{schema.name.lower()}-{schema.since_version}:", "", heading,
                "=" * len(heading), "", "**Version**", "",
                f"* **name**: `{schema.name} (GitHub) <https://example.org/Operators.md#{schema.name}>`_",
                f"* **domain**: **{schema.domain or 'main'}**",
                f"* **since_version**: **{schema.since_version}**",
                "* **function**: False", "* **support_level**: SupportType.COMMON",
                "* **shape inference**: True", "")  # fmt: skip
    yield f"This version of the operator has been {'deprecated' if schema.deprecated else 'available'}"
    suffix = f" of domain {schema.domain}" if schema.domain else ""
    yield from (f"**since version {schema.since_version}{suffix}**.", "", "**Summary**", "")
    yield from (*schema.description.strip("\n").split("\n"), "")
    if schema.attributes:
        yield from ("**Attributes**", "")
        for attribute in schema.attributes:
            yield _attribute(attribute, typed)
            yield from _described(attribute.description)
        yield ""
    yield from _parameters("Inputs", schema.inputs, schema.input_arity)
    yield from _parameters("Outputs", schema.outputs, schema.output_arity)
    if schema.constraints and constraints:
        yield from ("**Type Constraints**", "")
        for constraint in schema.constraints:
            types = sorted(constraint.types)
            yield f"* **{constraint.name}** in ("
            yield from (f"  {each}," for each in types[:-1])
            yield from (f"  {types[-1]}", "  ):", *_described(constraint.description))
        yield ""


def _attribute(attribute: AttributeSchema, typed: bool) -> str:
    required = " (required)" if attribute.required else ""
    if not typed:
        return f"* **{attribute.name}**{required}:"
    default = ""
    if attribute.default is not None:
        text = print_default(attribute.default)
        default = f" (default is ``'{text}'``)" if attribute.type == "STRING" else f" (default is ``{text}``)"
    return f"* **{attribute.name} - {attribute.type}**{required}{default}:"


def _parameters(title: str, parameters: Sequence[ParameterSchema], arity: tuple[int, int]) -> Iterator[str]:
    if not parameters:
        return
    yield from (f"**{title}**", "")
    if arity[0] != arity[1]:
        yield from (f"Between {arity[0]} and {arity[1]} {title.lower()}.", "")
    for parameter in parameters:
        words = [parameter.option] if parameter.option != "single" else []
        # The template prints the word where the schema says the opposite.
        words += ["heterogeneous"] if parameter.homogeneous else []
        options = f" ({', '.join(words)})" if words else ""
        yield f"* **{parameter.name}**{options} - **{parameter.type}**:"
        yield from _described(parameter.description)
    yield ""


def _described(text: str) -> list[str]:
    return textwrap.wrap(text, 70, initial_indent="  ", subsequent_indent="  ")
