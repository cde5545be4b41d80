"""Calls that no draw meets: at borders, where runtimes take shortcuts, breaking one rule alone."""
