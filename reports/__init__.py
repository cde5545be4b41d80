"""opcert: from records and suites to pages, JUnit files and certificates."""
