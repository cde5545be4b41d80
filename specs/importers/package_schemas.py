"""The installed onnx and onnxruntime packages: their schemas, as `import --from-package` writes them."""

from __future__ import annotations

from functools import partial

from specs.documents.packages.dumped_rows import recognise_package
from specs.documents.packages.dumped_schemas import read_schemas
from specs.importers import Importer

IMPORTERS = tuple(
    Importer(
        f"{package}-package",
        partial(recognise_package, package=package),
        partial(read_schemas, dialect=f"{package}-package"),
    )
    for package in ("onnx", "onnxruntime")
)
