"""Cases that no covering row has: wide and special values, sizes, pairs of types, clearer rows."""
