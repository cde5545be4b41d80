"""Models that people have: read without running anything in them, as the distinct calls that they make."""
