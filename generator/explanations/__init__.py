"""Changes that only an operator's family knows, one module each; found by name.

A module has `OPERATORS`, a tuple of `domain::Name` for all their versions, and `changes(spec)`.
"""
