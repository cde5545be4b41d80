"""The one reader of declarations and of their parts: a YAML file with one mapping."""

from __future__ import annotations

from pathlib import Path

from opcert.vocabulary.errors import Place, SeveralErrors, UserError
from opcert.vocabulary.yaml_files import YamlDocument, load, load_file


def read_document(path: Path) -> YamlDocument:
    """The one document of a declaration's file; an empty file holds nothing."""
    documents = load_file(path) or load("{}", str(path))
    found = documents[0]
    if found.value is None:
        found.value = {}
    if len(documents) > 1 or not isinstance(found.value, dict):
        raise SeveralErrors([UserError("a declaration is one mapping", where=Place(str(path)))])
    return found
