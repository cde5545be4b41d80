"""What a call's variables are: the form of kinds, extents and shapes, and what several kinds share."""
