"""What facts say without a line of declaration: kinds of plain attributes, rules on types and presence."""

from __future__ import annotations

from collections.abc import Iterator

from specs.language.functions.typed_values import type_text
from specs.language.shape_expressions import parse_shape
from specs.model.spec import AttributeSpec, Constraint, Origin, Otherwise, ParameterSpec, Spec
from specs.model.structures import (
    element_types_of,
    holds_several,
    is_sequence,
    is_structured,
    read_type,
    type_variable,
)


def derive_kind(attribute: AttributeSpec) -> str | None:
    """How a declaration would name the kind of an attribute; None where facts do not say one."""
    listed = attribute.values is not None and attribute.kind in ("int", "string")
    if listed or (attribute.kind == "int" and attribute.default in (0, 1)):
        return "enumeration"
    if attribute.kind == "float":
        return "real"
    return None


def derive_rules(spec: Spec) -> Iterator[Constraint]:
    """The rules that facts alone state: what must be given, and of which types."""
    for parameter in spec.inputs:
        if parameter.option == "single":
            yield _rule(f"{parameter.name}_given", f"present({parameter.name})", parameter, otherwise="error")
    for variable, members in _by_type(spec).items():
        types = element_types_of(spec, members[0])
        if types:
            every = " + ".join(_tensors(spec, member) for member in members)
            asked, listed = "element_type", list(types)
            if any(is_structured(spec, member) for member in members):
                asked, listed = "value_type", _listed_types(spec, members[0])
            yield _rule(
                f"type_of_{variable}",
                f"all({asked}(each) in {listed!r} for each in {every} if present(each))",
                members[0],
            )
    for name, attribute in spec.attributes.items():
        if attribute.required:
            origin = Origin("derived", attribute.origin.sources)
            yield Constraint(f"{name}_given", None, f"present({name})", "error", None, None, origin)
    first: dict[str, ParameterSpec] = {}
    for parameter in spec.inputs:
        if parameter.type not in spec.type_constraints:
            continue
        if is_sequence(spec, parameter) or (
            parameter.option == "variadic" and parameter.homogeneous is not False
        ):
            yield _rule(
                f"one_type_of_{parameter.name}",
                f"len(set([element_type(each) for each in {parameter.name}])) <= 1",
                parameter,
            )
        variable = type_variable(spec, parameter)
        if parameter.option == "variadic":
            continue
        if variable in first:
            other = first[variable]
            given = " and ".join(f"present({one.name})" for one in (other, parameter))
            yield _rule(
                f"same_type_{parameter.name}",
                f"element_type({parameter.name}) == element_type({other.name})",
                parameter,
                given,
            )
        else:
            first[variable] = parameter


def shape_rules(spec: Spec) -> Iterator[Constraint]:
    """That inputs have the declared shapes, and packs and extents at least the declared size."""
    declared = spec.declared
    if declared is None:
        return
    by_name = {parameter.name: parameter for parameter in spec.inputs}
    for name, text in declared.shapes.items():
        origin = Origin("derived", by_name[name].origin.sources, f"the declared shape: {text}")
        yield Constraint(f"{name}_shape", None, None, "undefined", None, None, origin, name)
    starred = frozenset[str]().union(*(parse_shape(shape).starred for shape in declared.shapes.values()))
    bound = spec.extents
    for name, bounds in declared.extents.items():
        if bounds.low and name in bound:
            origin = Origin("derived", (), f"the declared bounds: {name} from {bounds.low}")
            counted = f"len({name})" if name in starred else name
            require = f"{counted} >= {bounds.low}"
            yield Constraint(f"least_{name}", None, require, "undefined", None, None, origin)


def _rule(
    name: str,
    require: str,
    parameter: ParameterSpec,
    when: str | None = None,
    otherwise: Otherwise = "undefined",
) -> Constraint:
    """A rule of an input. A list of types says what is promised, and not that more must be refused."""
    origin = Origin("derived", parameter.origin.sources)
    return Constraint(name, when, require, otherwise, None, None, origin)


def _by_type(spec: Spec) -> dict[str, list[ParameterSpec]]:
    """The inputs by their type variable; those of a type of their own each for itself."""
    found: dict[str, list[ParameterSpec]] = {}
    for parameter in spec.inputs:
        variable = type_variable(spec, parameter)
        found.setdefault(variable if variable in spec.type_constraints else parameter.name, []).append(
            parameter
        )
    return found


def _listed_types(spec: Spec, parameter: ParameterSpec) -> list[str]:
    """The types that an input may have, as the expression `value_type` says them."""
    known = spec.type_constraints.get(parameter.type)
    read = [read_type(each) for each in (known.types if known is not None else (parameter.type,))]
    return [type_text(each) for each in read if each is not None]


def _tensors(spec: Spec, parameter: ParameterSpec) -> str:
    several = holds_several(spec, parameter)
    return parameter.name if several else f"[{parameter.name}]"
