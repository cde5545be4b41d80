"""Rules that read the files of several versions: one module for each code, in the form of `specs.rules`."""
