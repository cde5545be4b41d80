"""What documents leave open: options of readings, who follows which, and who is known to disagree."""
