"""Linting: what is wrong with documents and specs, and which of it people know and accept."""
