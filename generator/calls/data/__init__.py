"""Randomness and data: classes of values, each of which exposes some kind of mistake."""
