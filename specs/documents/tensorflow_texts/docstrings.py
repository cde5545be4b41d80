"""A TensorFlow docstring as facts, and what is wrong with it as a whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from opcert.vocabulary.names import OperatorName
from specs.documents.prose.described_values import find_values
from specs.documents.prose.part_names import ParameterNames
from specs.documents.prose.passage_statements import find_statements
from specs.documents.tensorflow_texts.phrases import (
    AttributePhrase,
    TensorPhrase,
    describe_tensor,
    find_counted,
    is_type,
    our_type,
    read_attribute,
    read_default,
    read_tensor,
)
from specs.documents.tensorflow_texts.sections import (
    ArgumentText,
    PythonSignature,
    Sections,
    read_input_examples,
    split_sections,
)
from specs.documents.text.documents import KeepsFindings, Line, Passage
from specs.model.spec import (
    AllowedValues,
    Arity,
    AttributeSpec,
    Document,
    Example,
    Finding,
    Formula,
    Origin,
    ParameterSpec,
    Prose,
    Severity,
    Spec,
    TypeConstraint,
)


def check_sections(sections: Sections, spec: Spec, lines: Sequence[Line]) -> Iterator[Finding]:
    """Findings about the parts of a docstring and the signature above it."""
    top = next((each for each in lines if each.text), lines[0])
    for title in ("Args:", "Returns:"):
        if title not in sections.titles:
            yield _found("section-missing", top, f"the docstring has no section {title}", title)
    for line in sections.repeated:
        yield _found("item-unread", line, f"the docstring has two sections {line.text}", line.text)
    if sections.stray:
        line = sections.stray[0]
        evidence = f"{line.text.strip()[:80]} ({len(sections.stray)} lines)"
        yield _found("item-unread", line, "lines of the arguments belong to none of them", evidence)
    for name, line in sections.swallowed:
        message = f"{name} begins within the text of another argument"
        yield _found("item-unread", line, message, line.text)
    yield from _repeated(sections)
    yield from _results(sections)
    if sections.signature is not None:
        yield from _arguments_as_signed(sections, sections.signature)
        yield from _defaults_as_signed(sections, sections.signature, spec)
    for attribute in spec.attributes.values():
        yield from _default_among_values(attribute)


def _found(code: str, line: Line, message: str, evidence: str, severity: Severity = "warning") -> Finding:
    return Finding(code, severity, line.source(), message, evidence, "noted")


def _repeated(sections: Sections) -> Iterator[Finding]:
    for items in (sections.arguments, sections.results):
        counts = Counter(item.name for item in items)
        for item in items:
            if counts[item.name] > 1:
                counts[item.name] = 0
                yield _found("duplicate-name", item.line, f"{item.name} is described twice", item.name)


def _results(sections: Sections) -> Iterator[Finding]:
    """The tuple that the section names against the results that it describes."""
    title = sections.titles.get("Returns:")
    if title is None:
        return
    if not sections.result:
        yield _found("section-cut", title, "the section Returns: says nothing", "no text follows")
    if sections.stated_results is None:
        return
    described = [result.name for result in sections.results]
    missing = [stated_result for stated_result in sections.stated_results if stated_result not in described]
    if missing:
        message = "the results that the tuple names are not all described"
        yield _found("items-vs-signature", title, message, ", ".join(missing))


def _arguments_as_signed(sections: Sections, signature: PythonSignature) -> Iterator[Finding]:
    described = [argument_text.name for argument_text in sections.arguments]
    signed = list(signature.names)
    if described == signed:
        return
    missing = [each for each in signed if each not in described]
    more = [each for each in described if each not in signed]
    evidence = [f"not described: {', '.join(missing)}"] if missing else []
    evidence += [f"not in the signature: {', '.join(more)}"] if more else []
    items = zip(sections.arguments, signed, strict=False)
    moved = next((item.line for item, name in items if item.name != name), None)
    yield _found(
        "items-vs-signature",
        moved or sections.titles.get("Args:", signature.line),
        "the arguments are not those of the signature",
        "; ".join(evidence) or f"{', '.join(described)} where the signature has {', '.join(signed)}",
    )


def _defaults_as_signed(sections: Sections, signature: PythonSignature, spec: Spec) -> Iterator[Finding]:
    """Each attribute's default against the one of the parameter, where that is a value that can be read."""
    for item in sections.arguments:
        attribute = spec.attributes.get(item.name)
        if attribute is None or item.name not in signature.names:
            continue
        signed = signature.defaults.get(item.name)
        stated = f"{attribute.default!r}" if attribute.has_default else "none"
        message = f"the default of {item.name} is not that of the signature"
        if (signed is not None) != attribute.has_default:
            evidence = f"{stated} in the text, {signed or 'none'} in the signature"
            yield _found("items-vs-signature", item.line, message, evidence)
        elif signed is not None and attribute.other_type not in ("tensor", "function"):
            try:
                value = read_default(signed.replace("_dtypes.", "tf."), attribute.kind, attribute.other_type)
            except ValueError:
                continue
            if value != attribute.default:
                evidence = f"{stated} in the text, {signed} in the signature"
                yield _found("items-vs-signature", item.line, message, evidence)


def _default_among_values(attribute: AttributeSpec) -> Iterator[Finding]:
    allowed = attribute.allowed
    if allowed is None or not attribute.has_default:
        return
    defaults = attribute.default if isinstance(attribute.default, list) else [attribute.default]
    outside = [str(default) for default in defaults if default not in allowed]
    if outside:
        source = attribute.origin.sources[0]
        line = Line("", source.line, source.column)
        message = f"the default of {attribute.name} is none of its values"
        evidence = f"{', '.join(outside)} is not among {', '.join(map(str, allowed))}"
        yield _found("default-outside-values", line, message, evidence)


_ITEM = re.compile(r"^(?P<name>[a-z]\w*): ")
_NO_RESULT = "The created Operation."


def operator_name(name: str) -> OperatorName:
    """The operator of a name: version 1, for documents that have no versions."""
    return OperatorName("org.tensorflow", name, 1)


def read_docstring(lines: Sequence[Line], name: OperatorName, document: Document) -> Spec:
    """The facts of one docstring, and what can be seen to be wrong with it."""
    sections = split_sections(lines)
    builder = Builder()
    builder.summary(sections.summary)
    for item in sections.arguments:
        builder.argument(item)
    builder.returns(sections)
    builder.finish()
    spec = replace(
        builder.spec(name, document),
        input_arity=_arity(builder.inputs),
        output_arity=_arity(builder.outputs),
    )
    return spec.with_findings((*builder.findings, *check_sections(sections, spec, lines)))


def _arity(parameters: Sequence[ParameterSpec]) -> Arity | None:
    """How many tensors there are; None where the text does not say how long a list is at least."""
    if any(parameter.option == "variadic" and parameter.homogeneous is False for parameter in parameters):
        return None
    return Arity.of(parameters)


class Builder(KeepsFindings):
    """Collects the facts of one docstring."""

    def __init__(self) -> None:
        self.attributes: dict[str, AttributeSpec] = {}
        self.inputs: list[ParameterSpec] = []
        self.outputs: list[ParameterSpec] = []
        self.type_constraints: dict[str, TypeConstraint] = {}
        self.formulas: list[Formula] = []
        self.prose: list[Prose] = []
        self.examples: list[Example] = []
        self.findings: list[Finding] = []
        self.origins: dict[str, Origin] = {}
        self.passages: dict[str, Passage] = {}
        """What is said of each part behind the phrase that its text begins with."""
        self._phrases: list[tuple[ParameterSpec, TensorPhrase]] = []

    def spec(self, operator: OperatorName, document: Document) -> Spec:
        """The facts that were collected, and what was found on the way."""
        passages = self._told_apart()
        names = ParameterNames(
            tuple(self.attributes),
            tuple(parameter.name for parameter in self.inputs),
            tuple(output.name for output in self.outputs),
        )
        stated = find_statements(passages, names)
        return Spec(
            operator=operator,
            documents=(document,),
            attributes=self.attributes,
            inputs=tuple(self.inputs),
            outputs=tuple(self.outputs),
            type_constraints=self.type_constraints,
            formulas=tuple(self.formulas),
            statements=(*stated, *find_counted(passages, stated)),
            prose=tuple(self.prose),
            examples=tuple(self.examples),
            findings=tuple(self.findings),
            origins=self.origins,
        )

    def _told_apart(self) -> dict[str, Passage]:
        """The passages by part; what the summary lists of parts that have no text of their own is theirs."""
        parts = {about.partition(".")[2]: about for about, passage in self.passages.items() if not passage}
        summary = self.passages.get("summary") or Passage(())
        lines: dict[str, list[Line]] = {"summary": []}
        about = "summary"
        for line in summary.lines:
            item = _ITEM.match(line.text)
            about = parts.get(item["name"], "summary") if item else about
            own = line.after(item.end()) if item and about != "summary" else line
            lines.setdefault(about, []).append(own)
        return {**self.passages, **{about: Passage(own) for about, own in lines.items()}}

    def summary(self, lines: list[Line]) -> None:
        passage = Passage(lines)
        if passage:
            self.prose.append(passage.prose("summary"))
            self.passages["summary"] = passage
            self._examples(passage, "summary")

    def _examples(self, passage: Passage, about: str) -> None:
        examples, findings = read_input_examples(passage, about)
        self.examples += examples
        self.findings += findings

    def argument(self, item: ArgumentText) -> None:
        if item.name == "name":
            return
        if not item.passage:
            self.find("item-unread", "warning", item.line, f"the page says nothing of {item.name}", item.name)
            return
        tensor = read_tensor(item.passage.text)
        attribute = None if tensor and tensor.relation != "unread" else read_attribute(item.passage.text)
        if attribute is None and tensor is not None:
            self.tensor(item, tensor)
            return
        origin = Origin("imported", (item.line.source(),))
        if attribute is None:
            self.prose.append(item.passage.prose(f"attributes.{item.name}"))
            evidence = item.passage.text[:80]
            self.find(
                "type-unread", "warning", item.line, f"the type of {item.name} is no known one", evidence
            )
            self.attributes[item.name] = AttributeSpec(item.name, None, False, None, False, None, origin)
            return
        values = None
        if attribute.values is None and attribute.kind == "string":
            values = find_values(item.passage, item.name, attribute.default)
        self.attribute(item, attribute, values)

    def tensor(self, item: ArgumentText, phrase: TensorPhrase) -> None:
        """An input, by the phrase that its text begins with."""
        self.inputs.append(self._tensor(item, phrase))
        self.passages[f"inputs.{item.name}"] = item.passage.after(phrase.end)
        self.formulas += describe_tensor(item.passage, phrase.end).formulas
        self.prose.append(item.passage.prose(f"inputs.{item.name}"))
        self._examples(item.passage, item.name)

    def attribute(
        self, item: ArgumentText, phrase: AttributePhrase, values: AllowedValues | None = None
    ) -> None:
        """An attribute, by the phrase that its text begins with; its values, where the phrase has none."""
        self.prose.append(item.passage.prose(f"attributes.{item.name}"))
        self.passages[f"attributes.{item.name}"] = item.passage.after(phrase.end)
        origin = Origin("imported", (item.line.source(),))
        if phrase.has_default:
            self.origins[f"attributes.{item.name}.default"] = origin
        self.attributes[item.name] = phrase.spec(item.name, phrase.stated_values(origin) or values, origin)

    def _tensor(self, item: ArgumentText, phrase: TensorPhrase) -> ParameterSpec:
        """A tensor; its type variable is `T_<name>` unless it shares another's or the phrase names one."""
        variable = f"T_{item.name}"
        if phrase.relation == "listed":
            place = item.passage.source(max(item.passage.text.find("types: "), 0))
            origin = Origin("imported", (place,))
            self.type_constraints[variable] = TypeConstraint(variable, phrase.listed, origin)
        elif phrase.relation == "same":
            variable = f"T_{phrase.type}"
        elif phrase.relation == "single" and phrase.type is not None:
            variable = our_type(phrase.type)
        elif phrase.relation == "unread":
            evidence = item.passage.text[:80]
            self.find(
                "type-unread", "warning", item.line, f"the type of {item.name} is no known one", evidence
            )
        if phrase.repeated:
            evidence = ", ".join(phrase.repeated)
            message = f"a type of {item.name} is listed twice"
            self.find("duplicate-type", "hint", item.line, message, evidence)
        described = describe_tensor(item.passage, phrase.end)
        parameter = ParameterSpec(
            name=item.name,
            option="variadic" if phrase.variadic else "single",
            type=variable,
            origin=Origin("imported", (item.line.source(),)),
            rank=described.rank,
            shape=described.shape,
            at_least=described.at_least,
            homogeneous=phrase.homogeneous,
            least_length=phrase.least,
        )
        self._phrases.append((parameter, phrase))
        return parameter

    def returns(self, sections: Sections) -> None:
        passage = sections.result
        if not passage or passage.text.startswith(_NO_RESULT):
            return
        self.prose.append(passage.prose("outputs"))
        if sections.stated_results is None:
            line = passage.lines[0]
            self._output(ArgumentText("output", line, passage))
            return
        for item in sections.results:
            if item.name in sections.stated_results:
                self._output(item)

    def _output(self, item: ArgumentText) -> None:
        phrase = read_tensor(item.passage.text) or TensorPhrase("unread")
        self.outputs.append(self._tensor(item, phrase))
        self.passages[f"outputs.{item.name}"] = item.passage.after(phrase.end)

    def finish(self) -> None:
        """Types that attributes choose, and words that name neither a type nor an attribute."""
        inputs = {parameter.name for parameter in self.inputs}
        for parameter, phrase in self._phrases:
            line = Line("", parameter.origin.sources[0].line, parameter.origin.sources[0].column)
            if phrase.relation == "same" and phrase.type not in inputs:
                message = f"the type of {parameter.name} is that of an input that does not exist"
                self.find("type-unread", "warning", line, message, str(phrase.type))
            if phrase.relation != "single" or phrase.type is None or is_type(phrase.type):
                continue
            attribute = self.attributes.get(phrase.type)
            if attribute is None:
                message = f"the type of {parameter.name} is no known one"
                self.find("type-unread", "warning", line, message, phrase.type)
            elif attribute.allowed is not None and attribute.other_type in ("type", "list of types"):
                types = tuple(each for each in attribute.allowed if isinstance(each, str))
                constraint = TypeConstraint(phrase.type, types, attribute.origin)
                self.type_constraints.setdefault(phrase.type, constraint)
