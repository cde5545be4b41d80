"""Installed packages as documents: scripts that write down what a package says of its operators, and readers.

The scripts `dump_*.py` run in the environment of the package, with the standard library and the package
alone. They write JSON Lines, one fact a line, so that the line is the place of the fact. The first line names
format, package and version; the order of the lines is the same for the same version on every machine.
"""
