"""Diff: compare two graded runs and name the clock behind every change."""
