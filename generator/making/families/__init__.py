"""One module per family of cases, named like the family; found by name, listed nowhere."""
