"""Loading specs: imported facts and what people declare, as one effective spec."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opcert.vocabulary.names import OperatorName
from specs.files.declarations import (
    declaration_path,
    declare_by_documents,
    find_declaration,
    merge_declaration,
)
from specs.files.imported_files import read_imported
from specs.files.layers import merge_layers
from specs.files.spec_folders import OWN_FOLDER, facts_path, find_facts
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


def load_for_calls(operator: OperatorName, folders: Sequence[Path] = ()) -> Spec:
    """The same, of which calls are to be made: where nobody declared them, as its documents alone say them.

    Raises SeveralErrors as well where the documents contradict themselves.
    """
    spec = load_spec(operator, folders)
    if spec.declared is not None or not is_derivable(operator, folders):
        return spec
    return declare_by_documents(spec, find_facts(operator, folders).parent, (*folders, OWN_FOLDER))


def is_derivable(operator: OperatorName, folders: Sequence[Path]) -> bool:
    """Whether one of these folders has facts of an operator of which no spec.yaml beside them speaks."""
    found = (folder for folder in folders if facts_path(operator, folder).is_file())
    folder = next(found, None)
    return folder is not None and not declaration_path(operator, folder).is_file()
