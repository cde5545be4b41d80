"""How far suites are to be trusted: planted mistakes, and what witnesses say of calls."""
