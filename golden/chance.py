"""Chance that repeats: what a grader draws depends on its request hash and on nothing else."""

from __future__ import annotations

import hashlib
import os
import random
from typing import Any


class Chance:
    """The randomness of one worker process. ``install`` once, then ``seed`` before each call of a grader."""

    def __init__(self) -> None:
        self._seed = b""
        self._drawn = 0

    def install(self) -> None:
        """Put seeded sources in place of the system's: ``os.urandom``, the functions of ``random``, and its classes."""
        os.urandom = self._urandom
        random._urandom = self._urandom  # type: ignore[attr-defined]  # noqa: SLF001 - SystemRandom reads this name
        _SeededRandom.chance = self
        random.Random = _UnseededRandom
        for name in random.__all__:
            if getattr(getattr(random, name), "__self__", None) is not None and hasattr(_DEFAULT, name):
                setattr(random, name, getattr(_DEFAULT, name))

    def seed(self, seed: bytes) -> None:
        """Begin anew from a seed."""
        self._seed = seed
        self._drawn = 0
        _DEFAULT.pending = True

    @property
    def number(self) -> int:
        """Return the seed as a number."""
        return int.from_bytes(self._seed, "big")

    def _urandom(self, size: int) -> bytes:
        """Return bytes that look random and are the same for every run: SHAKE-256 of seed and position."""
        self._drawn += 1
        return hashlib.shake_256(self._seed + self._drawn.to_bytes(8, "big")).digest(size)


class _SeededRandom(random.Random):
    """The generator behind the functions of ``random``; it is seeded at the first draw, for seeding costs more than most calls."""

    pending = False
    chance: Chance

    def random(self) -> float:
        self._seed_once()
        return super().random()

    def getrandbits(self, k: int, /) -> int:
        self._seed_once()
        return super().getrandbits(k)

    def seed(self, a: Any = None, version: int = 2) -> None:
        self.pending = False
        super().seed(a, version)

    def getstate(self) -> Any:
        self._seed_once()
        return super().getstate()

    def _seed_once(self) -> None:
        if self.pending:
            self.pending = False
            super().seed(self.chance.number)
            self.gauss_next = None


class _UnseededRandom(random.Random):
    """What a grader gets for ``random.Random()``: without a seed of its own it takes the call's."""

    def seed(self, a: Any = None, version: int = 2) -> None:
        super().seed(os.urandom(32) if a is None else a, version)


_DEFAULT = _SeededRandom(0)
