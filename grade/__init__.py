"""Grade: a pure function over frozen snapshots."""
