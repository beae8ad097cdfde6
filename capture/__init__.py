"""Capture: the only stage that talks to the world."""
