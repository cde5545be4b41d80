"""What a run comes to as a whole: headline, matrix, support, causes in a few lines."""
