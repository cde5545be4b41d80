"""Elementary functions and powers of numbers that carry errors."""
