"""The families of cases."""
