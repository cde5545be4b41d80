"""Merging what people add into the imported facts; nothing wrong in it passes silently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import SeveralErrors, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.yaml_files import Path_, YamlDocument, key_path
from specs.files.declaration_checks import Checker
from specs.files.written_entries import (
    LISTED,
    UNLISTED,
    Additions,
    Amendment,
    AttributeAmendment,
    ExampleCorrection,
    ParameterAmendment,
    ReadingEntry,
    Reasoned,
    TypesAmendment,
)
from specs.model.spec import (
    AllowedValues,
    AttributeSpec,
    Constraint,
    Difference,
    Example,
    Exclusion,
    Factor,
    Finding,
    Interaction,
    Origin,
    ParameterSpec,
    Reading,
    ReadingEvidence,
    Refusable,
    SameAs,
    Source,
    Spec,
    TypeConstraint,
)


class Amender:
    """Applies amendments; collects the errors, and the origin of each field that people touched."""

    def __init__(self, document: YamlDocument, imported: Mapping[str, Origin]) -> None:
        self._document = document
        self._imported = imported
        self.errors: list[UserError] = []
        self.origins: dict[str, Origin] = {}

    def error(self, path: Path_, problem: str, got: object, expected: str | None) -> None:
        """Note an error at a path of the file."""
        text = None if got is None else repr(got)
        self.errors.append(UserError(problem, got=text, expected=expected, where=self._document.place(path)))

    def origin(self, entry: Reasoned, path: Path_, sources: tuple[Source, ...] = ()) -> Origin:
        """Why an entry holds; an error where it gives neither `src` nor `why`."""
        found = entry.src or sources
        if not found and not (entry.why or "").strip():
            self.error(path, "a fact needs a reason", None, "src: [document, line], or why: the reason")
        return Origin("added", found, entry.why)

    def amend(
        self, path: Path_, entry: Amendment, imported: Mapping[str, Any], names: tuple[str, ...]
    ) -> dict[str, Any]:
        """The fields that the entry sets, confirms or overrides; imported fields that it leaves stay out."""
        for group, listed in (("confirms", entry.confirms), ("overrides", tuple(entry.overrides))):
            for each in listed:
                if each not in names:
                    self.error((*path, group), "no such field", each, f"one of {', '.join(names)}")
        fields: dict[str, Any] = {}
        for name in names:
            given = getattr(entry, name) if name in entry.model_fields_set else None
            self._amend_field((*path, name), entry, imported.get(name), given, fields)
        return fields

    def _amend_field(
        self, path: Path_, entry: Amendment, imported: Any, given: Any, fields: dict[str, Any]
    ) -> None:
        name = str(path[-1])
        confirmed, overridden = name in entry.confirms, name in entry.overrides
        before = self._imported.get(key_path(path)) or self._imported.get(key_path(path[:-1]))
        if confirmed and overridden:
            self.error(path, "a field is either confirmed or overridden", name, None)
        elif confirmed and imported is None:
            self.error(path, "nothing was imported that could be confirmed", name, "leave out `confirms`")
        elif confirmed and given is not None and given != imported:
            self.error(path, "the entry confirms a field and gives another value", given, repr(imported))
        elif confirmed:
            fields[name] = imported
            sources = (*(before.sources if before else ()), *(entry.src or ()))
            rule, confidence = (before.rule, before.confidence) if before else (None, None)
            self._note(path, Origin("confirmed", sources, entry.why, rule, confidence))
        elif overridden and entry.overrides[name] != imported:
            self.error(
                path,
                "stale override: the imported value is another one now",
                imported,
                f"{entry.overrides[name]!r}; look at the document again and mend `overrides`",
            )
        elif overridden and given is None:
            self.error(path, "an overridden field needs its new value", None, f"a value for {name}")
        elif overridden:
            fields[name] = given
            self._note(path, replace(self.origin(entry, path), how="overridden", old=imported))
        elif given is not None and imported is not None:
            self.error(
                path,
                "the documents state this field too",
                imported,
                f"`confirms: {name}` where right, `overrides: {{{name}: {imported!r}}}` where wrong",
            )
        elif given is not None:
            fields[name] = given
            self._note(path, self.origin(entry, path))

    def _note(self, path: Path_, origin: Origin) -> None:
        self.origins[key_path(path)] = origin


def merge_additions(spec: Spec, file: Additions, document: YamlDocument) -> Spec:
    """The effective spec; raises SeveralErrors with every entry that does not fit the imported facts."""
    merger = _Merger(spec, document)
    merged = merger.merge(file)
    checker = Checker(merged, document)
    checker.check(file)
    errors = [*merger.amender.errors, *checker.errors]
    if errors:
        raise SeveralErrors(errors)
    return merged


class _Merger:
    """One merge; the amender collects its errors."""

    def __init__(self, spec: Spec, document: YamlDocument) -> None:
        self._spec = spec
        self._document = document
        self.amender = Amender(document, spec.origins)

    def merge(self, file: Additions) -> Spec:
        spec = self._spec
        attributes = dict(spec.attributes)
        for name, entry in file.attributes.items():
            attributes[name] = self._attribute(name, attributes.get(name), entry)
        constraints = dict(spec.type_constraints)
        for name, types in self._type_entries(file.type_constraints):
            constraints[name] = self._types(name, constraints.get(name), types)
        merged = replace(
            spec,
            attributes=attributes,
            inputs=self._parameters("inputs", spec.inputs, file.inputs),
            outputs=self._parameters("outputs", spec.outputs, file.outputs),
            type_constraints=constraints,
            let=dict(file.let),
            constraints=self._constraints(file),
            may_refuse=self._refusals(file),
            readings=tuple(
                self._reading(entry, group, position)
                for group, entries in (("readings", file.readings), ("behaviours", file.behaviours))
                for position, entry in enumerate(entries)
            ),
            examples=self._examples(file.examples),
            findings=(*spec.findings, *_findings(file)),
            factors=_factors(file),
            exclusions=tuple(
                Exclusion(exclusion.when, self.amender.origin(exclusion, ("exclusions", position)))
                for position, exclusion in enumerate(file.exclusions)
            ),
            interactions=self._interactions(file),
            reference_module=self._reference_module(file.reference),
            same_as=self._same_as(file),
        )
        return replace(merged, origins={**spec.origins, **self.amender.origins})

    def _constraints(self, file: Additions) -> tuple[Constraint, ...]:
        return tuple(
            Constraint(
                entry.id,
                entry.when,
                entry.require,
                entry.otherwise,
                entry.attr,
                entry.effective_when,
                self.amender.origin(entry, ("constraints", position)),
            )
            for position, entry in enumerate(file.constraints)
        )

    def _refusals(self, file: Additions) -> tuple[Refusable, ...]:
        return tuple(
            Refusable(
                entry.id,
                entry.when,
                self.amender.origin(entry, ("may_refuse", position)),
                entry.contradicted,
            )
            for position, entry in enumerate(file.may_refuse)
        )

    def _interactions(self, file: Additions) -> tuple[Interaction, ...]:
        return tuple(
            Interaction(
                tuple(entry.factors),
                entry.strength,
                self.amender.origin(entry, ("interactions", position)),
            )
            for position, entry in enumerate(file.interactions)
        )

    def _attribute(self, name: str, old: AttributeSpec | None, entry: AttributeAmendment) -> AttributeSpec:
        path: Path_ = ("attributes", name)
        known = old or AttributeSpec(name, None, False, None, False, None, self.amender.origin(entry, path))
        imported: dict[str, Any] = {}
        if old is not None:
            imported = {"type": old.kind, "required": old.required, "at_least": old.at_least}
            imported["values"] = None if old.values is None else list(old.values.values)
            if old.has_default:
                imported["default"] = old.default
        names = ("type", "default", "required", "values", "at_least")
        fields = self.amender.amend(path, entry, imported, names)
        if "values" in fields:
            origin = self.amender.origins[f"attributes.{name}.values"]
            values = known.values
            rule, confidence = ("added", 1.0) if values is None else (values.rule, values.confidence)
            fields["values"] = AllowedValues(tuple(fields["values"]), rule, confidence, False, origin)
        kind = fields.pop("type", known.kind)
        has_default = "default" in fields or known.has_default
        default = fields.get("default", known.default)
        if has_default and kind is not None:
            try:
                default = attribute(kind, default).value
                fields["default"] = list(default) if isinstance(default, tuple) else default
            except UserError as error:
                self.amender.error((*path, "default"), error.problem, error.got, error.expected)
        return replace(known, **fields, kind=kind, has_default=has_default)

    def _parameters(
        self, group: str, old: tuple[ParameterSpec, ...], entries: Mapping[str, ParameterAmendment]
    ) -> tuple[ParameterSpec, ...]:
        parameters = {parameter.name: parameter for parameter in old}
        names = ("type", "option", "rank", "shape", "at_least", "default")
        for name, entry in entries.items():
            known = parameters.get(name)
            imported = {name: getattr(known, name) for name in names} if known else {}
            if imported.get("shape") is not None:
                imported["shape"] = list(imported["shape"])
            fields = self.amender.amend((group, name), entry, imported, names)
            if "shape" in fields:
                fields["shape"] = tuple(fields["shape"])
            if known is None:
                if "type" not in fields:
                    self.amender.error(
                        (group, name), "the documents name no such parameter: give its type", name, None
                    )
                origin = self.amender.origin(entry, (group, name))
                known = ParameterSpec(name, "single", "unknown", origin)
            parameters[name] = replace(known, **fields)
        return tuple(parameters.values())

    def _type_entries(self, entries: Mapping[str, TypesAmendment]) -> Iterator[tuple[str, TypesAmendment]]:
        """The entry of each type variable that one speaks of."""
        known, labels = self._spec.type_constraints, (LISTED, UNLISTED)
        yield from ((name, entry) for name, entry in entries.items() if name not in labels)
        parameters = (*self._spec.inputs, *self._spec.outputs)
        for name in dict.fromkeys((*known, *(parameter.type for parameter in parameters))):
            entry = entries.get(LISTED if name in known else UNLISTED)
            if name in entries or name in ELEMENT_TYPES or entry is None or not name.isidentifier():
                continue
            if name not in known or not set(entry.without).isdisjoint(known[name].types):
                yield name, entry

    def _types(self, name: str, old: TypeConstraint | None, entry: TypesAmendment) -> TypeConstraint:
        path: Path_ = ("type_constraints", name)
        imported = {} if old is None else {"types": list(old.types)}
        if entry.without:
            listed = imported.get("types", [])
            left = [each for each in listed if each not in entry.without]
            if not 0 < len(left) < len(listed):
                self.amender.error((*path, "without"), "not some of the types", entry.without, repr(listed))
            entry = entry.model_copy(update={"types": left, "overrides": imported})
        fields = self.amender.amend(path, entry, imported, ("types",))
        types = tuple(fields.get("types", old.types if old else ()))
        origin = self.amender.origins.get(f"type_constraints.{name}.types")
        return TypeConstraint(name, types, origin or (old.origin if old else Origin("added")))

    def _reading(self, entry: ReadingEntry, group: str, position: int) -> Reading:
        evidence = tuple(
            ReadingEvidence(
                evidence_entry.option, evidence_entry.kind, evidence_entry.src, evidence_entry.note
            )
            for evidence_entry in entry.evidence
        )
        sources: tuple[Source, ...] = entry.src or tuple(
            source for evidence_entry in entry.evidence for source in evidence_entry.src
        )
        return Reading(
            entry.id,
            entry.question,
            dict(entry.options),
            evidence,
            entry.chosen,
            "reading" if group == "readings" else "behaviour",
            self.amender.origin(entry, (group, position), sources),
            tuple(entry.contradicted),
        )

    def _reference_module(self, name: str | None) -> Path | None:
        """The Python file that `reference` names, beside the specs; None where it names none."""
        if name is None:
            return None
        here = Path(self._document.file).resolve()
        found = (here.parent / name).resolve()
        if found.suffix != ".py" or not found.is_file() or not found.is_relative_to(here.parents[2]):
            expected = f"a Python file in {here.parents[2]}, written relative to this folder"
            self.amender.error(("reference",), "no such module", name, expected)
        return found

    def _same_as(self, file: Additions) -> SameAs | None:
        """The operator version that computes this one; an error where something is said of none."""
        if file.same_as is None:
            for key in ("arguments", "returns", "ignores", "differs"):
                if getattr(file, key):
                    self.amender.error((key,), "said of no other operator", key, "`same_as`, which names it")
            return None
        try:
            operator = OperatorName.parse(file.same_as)
        except UserError as error:
            self.amender.error(
                ("same_as",), error.problem, file.same_as, "a version, such as ai.onnx::Relu-14"
            )
            return None
        known = {output.name for output in self._spec.outputs}
        for name in sorted(set(file.returns) - known):
            self.amender.error(
                ("returns", name), "no such output", name, f"one of {', '.join(sorted(known))}"
            )
        taken = {*self._spec.attributes, *(parameter.name for parameter in self._spec.inputs)}
        for place, name in enumerate(file.ignores):
            if name not in taken:
                self.amender.error(("ignores", place), "no such attribute or input", name, None)
        return SameAs(
            operator,
            {name: str(text) for name, text in file.arguments.items()},
            dict(file.returns),
            tuple(file.ignores),
            tuple(
                Difference(entry.what, self.amender.origin(entry, ("differs", position)))
                for position, entry in enumerate(file.differs)
            ),
            self._document.place(("same_as",)),
        )

    def _examples(self, entries: list[ExampleCorrection]) -> tuple[Example, ...]:
        examples = {example.id: example for example in self._spec.examples}
        for position, entry in enumerate(entries):
            path: Path_ = ("examples", position)
            old = examples.get(entry.id)
            if old is None:
                self.amender.error((*path, "id"), "no imported example of this id", entry.id, None)
                continue
            self.amender.origins[f"examples.{entry.id}"] = replace(
                self.amender.origin(entry, path), how="overridden", old=dict(old.attributes)
            )
            if entry.reject:
                del examples[entry.id]
            else:
                merged = {**old.attributes, **entry.attributes}
                examples[entry.id] = replace(
                    old, attributes={key: each for key, each in merged.items() if each is not None}
                )
        return tuple(examples.values())


def _findings(file: Additions) -> Iterator[Finding]:
    for entry in file.findings:
        yield Finding(entry.code, entry.severity, entry.src[0], entry.message, entry.evidence, entry.action)


def _factors(file: Additions) -> tuple[Factor, ...]:
    return tuple(
        Factor(
            name,
            tuple(entry.levels),
            Origin("added", entry.src or (), entry.why) if entry.src or entry.why else None,
        )
        for name, entry in file.factors.items()
    )
