"""Kinds of values, one a module, found by the file's name (`generator/calls/variables/kind.py`)."""
