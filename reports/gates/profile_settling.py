"""What opsets, domains and a model of a profile come to: operator versions by name, which a suite has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.checked_models.model_calls import ModelFacts
from conformance.checked_models.model_reading import read_model
from conformance.suite.suites import Suite
from opcert.vocabulary.errors import Place, UserError, raise_together
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.near_names import near_names
from reports.gates.profiles import Profile, opsets_in
from reports.text.phrasing import listed, plural

_ONNX = "ai.onnx"
_MANY = 12
_NO_INFERENCE = 0.0
"""Seconds for the types in a model, of which a profile has no use."""


@dataclass(frozen=True)
class KnownOperators:
    """What there are cases of: every operator version, those of each opset, and the first and last opset."""

    every: frozenset[OperatorName]
    of_opset: Callable[[int], Sequence[OperatorName]]
    opsets: range


def settle(profile: Profile, known: KnownOperators, folder: Path = Path()) -> Profile:
    """The profile with all that it demands in `operators`; a model's path begins at `folder`.

    Raises UserError or SeveralErrors with the place of each mistake: an opset, domain or operator that there
    are no cases of, a model that cannot be read, is another one, or uses what nobody has cases of.
    """
    if profile.model is not None:
        return _of_model(profile, known, folder / profile.model)
    _refuse(profile, "model_sha256", profile.model_sha256)
    _refuse(profile, "untested", profile.untested)
    errors: list[UserError] = []
    found: list[str] = []
    in_force = _in_force(profile, known)
    for number, operator in enumerate(profile.operators):
        if in_force is None or not _hangs_on_opsets(operator):
            found.append(operator)
            continue
        domain = operator.removesuffix("::*")
        own = [str(one) for one in in_force if operator == one.unversioned or domain == one.domain]
        found += own
        if not own:
            names = {one.unversioned for one in in_force}
            errors.append(_unknown(profile, "operator", operator, names, "operators", number))
    found += _whole_domains(profile, known, in_force, errors)
    raise_together(errors)
    return profile.model_copy(update={"operators": tuple(dict.fromkeys(found))})


def _in_force(profile: Profile, known: KnownOperators) -> list[OperatorName] | None:
    """The operator versions of the profile's opsets, in order; None where it names none."""
    if profile.opsets is None:
        return None
    opsets = opsets_in(profile.opsets)
    if opsets[0] not in known.opsets or opsets[-1] not in known.opsets:
        raise UserError(
            "an opset without cases",
            got=profile.opsets,
            expected=f"opsets from {known.opsets[0]} to {known.opsets[-1]}",
            where=profile.place("opsets"),
        )
    found = sorted({operator for opset in opsets for operator in known.of_opset(opset)})
    if (
        _ONNX not in profile.domains
        and profile.operators
        and not any(map(_hangs_on_opsets, profile.operators))
    ):
        raise UserError(
            "opsets say nothing here: each operator has its version in its name",
            got=profile.opsets,
            expected="operators without versions, or no opsets",
            where=profile.place("opsets"),
        )
    return found


def _whole_domains(
    profile: Profile, known: KnownOperators, in_force: list[OperatorName] | None, errors: list[UserError]
) -> list[str]:
    """What the domains come to; opsets alone are of ONNX's domain."""
    domains = profile.domains
    if in_force is not None and not domains and not profile.operators:
        domains = (_ONNX,)
    found = []
    for number, domain in enumerate(domains):
        names = {one.domain for one in known.every}
        if domain not in names:
            errors.append(_unknown(profile, "domain", domain, names, "domains", number))
        elif domain == _ONNX and in_force is not None:
            found += _versions_of(_ONNX, in_force)
        else:
            found.append(f"{domain}::*")
    return found


def _hangs_on_opsets(name: str) -> bool:
    """Whether a name of a profile leaves the versions to its opsets, as those of other domains do not."""
    return name == f"{_ONNX}::*" or not ("-" in name or name.endswith("::*"))


def _versions_of(domain: str, operators: Iterable[OperatorName]) -> list[str]:
    return [str(operator) for operator in operators if operator.domain == domain]


def _of_model(profile: Profile, known: KnownOperators, path: Path) -> Profile:
    _refuse(profile, "opsets", profile.opsets, "the model has its opsets")
    _refuse(profile, "operators", profile.operators, "the model has its operators")
    place = profile.place("model")
    try:
        facts = read_model(path, known=known.every, seconds=_NO_INFERENCE)
    except UserError as error:
        raise UserError(
            f"the profile's model: {error.problem}",
            got=error.got,
            expected=error.expected,
            where=place or error.where,
            remedy=f"It was looked for at {path}: a path begins at the profile's folder.",
        ) from error
    if profile.model_sha256 not in (None, facts.sha256):
        raise UserError(
            "the model is another one than the profile names",
            got=facts.sha256,
            expected=profile.model_sha256,
            where=profile.place("model_sha256"),
        )
    used = _used(facts, place)
    domains = {operator.domain for operator in used}
    for number, one in enumerate(profile.domains):
        if one not in domains:
            raise _unknown(profile, "domain", one, domains, "domains", number, of="the model uses")
    used = [operator for operator in used if not profile.domains or operator.domain in profile.domains]
    missing = [operator for operator in used if operator not in known.every]
    _check_untested(profile, used, missing)
    left = [str(operator) for operator in missing if not _stands_in(operator, profile.untested)]
    if left:
        raise UserError(
            "the model uses operators that there are no cases of",
            got=", ".join(left[:_MANY]) + (f" and {len(left) - _MANY} more" if len(left) > _MANY else ""),
            expected="each of them under `untested`, by which the certificate says that they were not tested",
            where=place,
        )
    chosen = [str(operator) for operator in used if operator in known.every]
    if not chosen:
        raise UserError("the model uses no operator that there are cases of", got=str(path), where=place)
    return profile.model_copy(update={"operators": tuple(chosen), "model_sha256": facts.sha256})


def _used(facts: ModelFacts, place: Place | None) -> list[OperatorName]:
    """The operator versions of a model, in order; raises UserError where a node has none."""
    unknown = next((node for node in facts.nodes if node.operator is None), None)
    if unknown is not None:
        raise UserError(
            "the model has a node of no operator that is known",
            got=one_line(f"{unknown.domain or _ONNX}::{unknown.op_type}, node {unknown.place}"),
            expected=one_line(unknown.unknown or "an operator of an opset that the model imports"),
            where=place,
        )
    return sorted({node.operator for node in facts.nodes if node.operator is not None})


def _check_untested(profile: Profile, used: Sequence[OperatorName], missing: Sequence[OperatorName]) -> None:
    for number, each in enumerate(profile.untested):
        if any(_stands_in(one, (each,)) for one in missing):
            continue
        if any(_stands_in(one, (each,)) for one in used):
            raise UserError(
                "there are cases of this operator",
                got=each,
                expected=f"of {listed([str(one) for one in missing], 'or') or 'nothing'} alone",
                where=profile.place("untested", number),
            )
        raise _unknown(
            profile, "operator", each, {str(one) for one in missing}, "untested", number, of="the model uses"
        )


def _stands_in(operator: OperatorName, names: Iterable[str]) -> bool:
    return any(name in (str(operator), operator.unversioned) for name in names)


def _refuse(
    profile: Profile, key: str, value: object, why: str = "it is about a model, and none is named"
) -> None:
    if value:
        raise UserError(f"`{key}` stands where it says nothing: {why}", where=profile.place(key))


def _unknown(
    profile: Profile, what: str, name: str, known: Iterable[str], key: str, number: int, of: str = ""
) -> UserError:
    names = sorted(known)
    near = near_names(name, names)
    few = ", ".join(names[:_MANY]) + (", ..." if len(names) > _MANY else "")
    return UserError(
        f"{of} no such {what}" if of else f"there are no cases of this {what}",
        got=name,
        expected=f"perhaps {' or '.join(near)}" if near else f"one of {few}" if few else "none",
        where=profile.place(key, number),
    )


_FEW = 6


def check_names(profile: Profile, suite: Suite) -> None:
    """Raises UserError or SeveralErrors: an operator, or a type of these, that the suite has no case of."""
    types: dict[str, None] = {}
    operators: dict[str, None] = {}
    domains: dict[str, None] = {}
    for case_id in suite.case_ids:
        case = CaseId.parse(case_id)
        operators[str(case.operator)] = None
        domains[f"{case.operator.domain}::*"] = None
        if profile.demands_operator(case.operator):
            types[str(suite.entry(case_id)["element_type"])] = None
    found = [*_missing_operators(profile, [*operators, *domains], suite)]
    if not found and profile.element_types != "all":  # the types of an operator that is not there are none
        key = "types" if profile.has_key("types") else "element_types"
        for number, element_type in enumerate(profile.element_types):
            if element_type not in types:
                found.append(_missing("element type", element_type, types, suite, profile.place(key, number)))
    raise_together(found)


def _missing_operators(profile: Profile, there: Iterable[str], suite: Suite) -> Iterator[UserError]:
    """An error for each operator that the profile's own words name; one for all that other keys mean."""
    known = list(there)
    lacking = [operator for operator in profile.operators if operator not in known]
    if profile.is_written:
        for each in lacking:
            where = profile.place("operators", profile.operators.index(each))
            yield _missing("operator", each, known, suite, where)
    elif lacking:
        yield UserError(
            f"the suite {suite.path} lacks {plural(len(lacking), 'operator')} that the profile means",
            got=", ".join(lacking[:_FEW]) + (", ..." if len(lacking) > _FEW else ""),
            where=profile.place("model" if profile.model else "opsets" if profile.opsets else "domains"),
            remedy="Name a suite that has them with -s, or none.",
        )


def _missing(what: str, name: str, there: Iterable[str], suite: Suite, where: Place | None) -> UserError:
    known = list(there)
    near = near_names(name, known)
    few = ", ".join(known[:_FEW]) + (", ..." if len(known) > _FEW else "")
    return UserError(
        f"the suite {suite.path} has no case of the {what} that the profile names",
        got=name,
        expected=f"perhaps {' or '.join(near)}" if near else f"of {few}",
        where=where,
        remedy="Mend the name, or name a suite that has it with -s.",
    )
