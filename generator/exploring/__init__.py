"""Beyond the suite: random calls, small ones for failures, and experiments on a runtime."""
