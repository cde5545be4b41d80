"""Whether a worker keeps the protocol, and what its runtime can do. Start at examination.py."""
