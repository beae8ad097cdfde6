"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# A slow machine is no bug: speed lives in benchmarks.
settings.register_profile("house", deadline=None)
settings.load_profile("house")
