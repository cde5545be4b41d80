"""Processes that are not trusted: confined, watched, killed with their children, and swept up after."""
