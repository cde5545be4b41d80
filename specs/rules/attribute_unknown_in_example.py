"""An example gives an attribute that the page does not describe."""

from __future__ import annotations

from collections.abc import Iterator

from specs.documents.pages.pages import Version
from specs.model.spec import Finding, Severity

CODE = "attribute-unknown-in-example"
SEVERITY: Severity = "warning"


def check(version: Version) -> Iterator[Finding]:
    """One finding for each attribute of an ONNX page's examples that the operator lacks, at the first node.

    The importer of OpenVINO's pages compares while it reads.
    """
    if not version.page.dialect.startswith("onnx") or version.spec.deprecated:
        return
    told: set[str] = set()
    known = version.spec.attributes
    for example in version.spec.examples:
        for name in example.attributes:
            if name not in known and name not in told:
                told.add(name)
                message = f"example {example.id} gives {name}, which the page does not describe"
                evidence = f"the attributes are {', '.join(known) or 'none'}"
                yield Finding(CODE, SEVERITY, example.source, message, evidence, "noted")
