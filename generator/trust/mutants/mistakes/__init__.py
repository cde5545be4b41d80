"""Mistakes that a runtime may make with any operator, one kind of mistake a module, found by its name.

Each module has `mistakes(spec)`. They follow from the spec alone: types, shapes, attributes, versions. What a
document leaves open is no mistake: there the judge accepts the answer, and the mistake counts as equivalent.
"""
