"""opcert: cases and suites on disk, the judge, and the harness that runs runtimes which may crash."""
