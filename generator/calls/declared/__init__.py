"""All calls of a declaration: its levels, what searches for them found, what is wrong with it."""
