"""From specs to suites: factors, covering arrays and case families."""
