"""A run: the harness, its lanes, requests to workers, and what comes back. Start at harness.py."""
