"""Importing: many documents read at once, and their facts written into a folder of specs."""
