"""What a case's folder carries to run it without opcert: a script, and what it needs of each runtime."""
