"""What a run leaves behind: records row by row, kept outputs, and several records put together."""
