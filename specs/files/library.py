"""Loading specs: imported facts and what people declare, as one effective spec."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opcert.vocabulary.names import OperatorName
from specs.files.declarations import find_declaration, merge_declaration
from specs.files.imported_files import read_imported
from specs.files.layers import merge_layers
from specs.files.spec_folders import OWN_FOLDER, find_facts
from specs.model.spec import Spec


def load_imported(operator: OperatorName, folders: Sequence[Path] = ()) -> Spec:
    """What the documents alone say about an operator version; raises UserError as `load_spec` does."""
    return merge_layers(read_imported(find_facts(operator, folders)))


def load_spec(operator: OperatorName, folders: Sequence[Path] = ()) -> Spec:
    """The effective spec of an operator version; of the folders, the first that has the operator counts.

    Raises UserError for an unknown operator, SeveralErrors with everything that is wrong in its files.
    """
    spec = load_imported(operator, folders)
    every = (*folders, OWN_FOLDER)
    declaration = find_declaration(operator, every)
    return spec if declaration is None else merge_declaration(spec, declaration, every)
