"""What was measured of an operator version's cases, as files, and how far they are trusted for it."""
