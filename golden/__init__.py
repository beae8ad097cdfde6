"""Golden suites and cases: load, validate, render to request documents."""
