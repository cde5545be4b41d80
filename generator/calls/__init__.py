"""From a declaration to its calls: data, the search for values, kinds, spaces, rows and borders."""
