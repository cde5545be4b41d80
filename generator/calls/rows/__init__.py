"""Covering arrays: rows of levels, which of them can be, and which of their calls are clear."""
