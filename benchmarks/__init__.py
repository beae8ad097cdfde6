"""Benchmarks: ratios against a floor that is taken in the same run. One command each: ``python -m benchmarks.grade``."""
