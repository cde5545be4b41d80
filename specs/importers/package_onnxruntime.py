"""The installed onnxruntime package: its schemas, as `import --from-package onnxruntime` writes them."""

from __future__ import annotations

from opcert.vocabulary.names import OperatorName
from specs.documents.packages.dumped_rows import recognise_package
from specs.documents.packages.dumped_schemas import read_schemas
from specs.documents.text.documents import Text
from specs.model.spec import Spec

DIALECT = "onnxruntime-package"


def recognise(text: Text) -> float:
    """Sure where the first line says so."""
    return recognise_package(text, "onnxruntime")


def read(text: Text, operator: OperatorName | None) -> list[Spec]:
    """Every operator version of the package; raises UserError where a line is damaged."""
    return read_schemas(text, DIALECT, operator)
