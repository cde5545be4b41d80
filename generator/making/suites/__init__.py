"""Suites: cases of operators put into parts, kept, put together, and held against the lock."""
