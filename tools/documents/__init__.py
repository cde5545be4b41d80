"""How much of the documents the importers read, field by field: `python -m tools.documents NAME`."""
