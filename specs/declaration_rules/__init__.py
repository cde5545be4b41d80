"""Rules that read the files of several versions, in the form of `specs.rules`."""
