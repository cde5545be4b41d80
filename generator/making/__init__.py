"""Suites out of operators: an operator's cases, families, parts, the lock."""
