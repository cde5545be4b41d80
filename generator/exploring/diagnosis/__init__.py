"""What a run's failures come from: entries that explain them, and experiments on the runtime."""
