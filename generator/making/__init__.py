"""Suites out of operators: parts, the lock, what they are made from, what versions share."""
