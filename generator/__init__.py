"""opcert: from specs to suites: factors, covering arrays and case families."""
