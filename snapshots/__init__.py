"""Snapshots: canonical bytes, request hashes, answers, envelopes and the store that keeps them."""
