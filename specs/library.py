"""Loading specs: imported facts and what people added, as one effective spec."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opcert.vocabulary.names import OperatorName
from specs import curated_files, imported_files
from specs.curation import merge_curated
from specs.declarations import find_declaration, merge_declaration
from specs.imported_files import read_imported
from specs.layers import merge_layers
from specs.model import Spec
from specs.spec_folders import OWN_FOLDER as OWN_FOLDER
from specs.spec_folders import REGRESSIONS as REGRESSIONS
from specs.spec_folders import find_operator_name as find_operator_name
from specs.spec_folders import find_spec_folder as find_spec_folder
from specs.spec_folders import list_operators as list_operators
from specs.spec_folders import regressions_folder as regressions_folder
from specs.spec_folders import spec_folder as spec_folder


def load_imported(operator: OperatorName, folders: Sequence[Path] = ()) -> Spec:
    """What the documents alone say about an operator version; raises UserError as `load_spec` does."""
    return merge_layers(read_imported(find_spec_folder(operator, folders) / imported_files.FILE_NAME))


def load_spec(operator: OperatorName, folders: Sequence[Path] = ()) -> Spec:
    """The effective spec of an operator version; of the folders, the first that has the operator counts.

    Raises UserError for an unknown operator, SeveralErrors with everything that is wrong in its files.
    """
    spec = load_imported(operator, folders)
    every = (*folders, OWN_FOLDER)
    path = find_spec_folder(operator, folders) / curated_files.FILE_NAME
    # What stands beside a user's own facts counts before what ships for the operator.
    declaration = find_declaration(operator, folders if path.is_file() else every)
    if declaration is not None:
        return merge_declaration(spec, declaration, every)
    if not path.is_file():
        return spec
    file, document = curated_files.read_curated(path, every)
    return merge_curated(spec, file, document)
