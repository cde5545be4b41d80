"""What is wrong with a TensorFlow docstring as a whole: parts that are missing or contradict each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from specs.documents.tensorflow_texts.phrases import read_default
from specs.documents.tensorflow_texts.sections import PythonSignature, Sections
from specs.documents.text.documents import Line
from specs.model.spec import AttributeSpec, Finding, Severity, Spec


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
        counts = Counter(each.name for each in items)
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
    described = [each.name for each in sections.results]
    missing = [each for each in sections.stated_results if each not in described]
    if missing:
        message = "the results that the tuple names are not all described"
        yield _found("items-vs-signature", title, message, ", ".join(missing))


def _arguments_as_signed(sections: Sections, signature: PythonSignature) -> Iterator[Finding]:
    described = [each.name for each in sections.arguments]
    signed = list(signature.names)
    if described == signed:
        return
    missing = [each for each in signed if each not in described]
    more = [each for each in described if each not in signed]
    evidence = [f"not described: {', '.join(missing)}"] if missing else []
    evidence += [f"not in the signature: {', '.join(more)}"] if more else []
    yield _found(
        "items-vs-signature",
        sections.titles.get("Args:", signature.line),
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
    outside = [str(each) for each in defaults if each not in allowed]
    if outside:
        source = attribute.origin.sources[0]
        line = Line("", source.line, source.column)
        message = f"the default of {attribute.name} is none of its values"
        evidence = f"{', '.join(outside)} is not among {', '.join(map(str, allowed))}"
        yield _found("default-outside-values", line, message, evidence)
