"""From records and suites to pages, JUnit files and certificates."""
