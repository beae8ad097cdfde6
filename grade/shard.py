"""Shards: a suite spread over several machines, each case × target with all its trials on one of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from grade.plan import PlanRow
from snapshots import canonical
from snapshots.errors import UsageError

_SHARD = re.compile(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})")


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard ``number`` of ``count``, counted from 1."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def of(self, rows: Iterable[PlanRow]) -> list[PlanRow]:
        """Return the rows of this shard. Which one a case belongs to depends on its id and target alone."""
        return [row for row in rows if self.holds(row.case_id, row.target)]

    def holds(self, case_id: str, target: str) -> bool:
        """Tell whether a case × target belongs to this shard."""
        digest = hashlib.sha256(canonical.encode([case_id, target])).digest()
        return int.from_bytes(digest[:8], "big") % self.count == self.number - 1


def parse(text: str) -> Shard:
    """Return the shard that ``i/n`` names.

    Raises:
        UsageError: it is none.
    """
    found = _SHARD.fullmatch(text)
    if found is None or int(found[1]) > int(found[2]):
        raise UsageError(f"--shard {text} is no shard", hint="write i/n, for example 1/4 to 4/4")
    return Shard(int(found[1]), int(found[2]))
