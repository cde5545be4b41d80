"""Kinds of values, one a module, found by the file's name (`generator/spaces/kind.py`)."""
