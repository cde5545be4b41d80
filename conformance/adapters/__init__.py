"""One module for each runtime that ships, found by its name."""
