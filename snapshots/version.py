"""The version, said once: the front door, the metadata of results and the ``tool`` member of snapshots read it here."""

from __future__ import annotations

VERSION = "0.1.0"
TOOL = f"whichclock/{VERSION}"
