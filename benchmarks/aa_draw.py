"""Draw pairs of runs from recorded answers of a real model, and count how often the drift alarm fires."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

import pyarrow as pa

from diff.compare import compare
from diff.drift import drift
from diff.power import Spread, power_of
from diff.side import Side
from grade import table
from grade.columns import column

TRIALS = 5
# Of 200 pairs of equal runs 10 fire at the level 0.05; more than 18 would in 1 of 150 such experiments.
PAIRS, MOST_FALSE = 200, 18
SEED = 20261130
# How many cases, and how many of the head's answers are of the other temperature.
SHIFTS = ((20, 0.2), (20, 0.3), (40, 0.2), (40, 0.3), (80, 0.2), (20, 1.0))


@dataclass(frozen=True)
class Pools:
    """The row numbers of every question's answers, with the rows themselves: those of equal runs, and those of the shifted one."""

    rows: dict[str, pa.Table]
    warm: list[list[int]]
    cool: list[list[int]]

    @property
    def answers(self) -> int:
        """Return how many answers there are."""
        return sum(map(len, self.warm)) + sum(map(len, self.cool))

    def passing(self, target: str) -> list[Fraction]:
        """Return the pass fraction of each question's pool."""
        status = self.rows[target].column("status").cast(pa.string()).to_pylist()
        pools = self.warm if target == "warm" else self.cool
        return [Fraction(sum(status[i] == "pass" for i in pool), len(pool)) for pool in pools]


def pools(folder: Path) -> Pools:
    """Return the pools that a folder holds."""
    rows = {name: table.read(folder / f"{name}.parquet") for name in ("warm", "cool")}
    return Pools(rows, *(_by_case(rows[name]) for name in ("warm", "cool")))


def _by_case(rows: pa.Table) -> list[list[int]]:
    """Return the numbers of each case's judged rows, cases in order."""
    found: dict[str, list[int]] = {}
    for number, (case, status) in enumerate(
        zip(rows.column("case_id").to_pylist(), rows.column("status").cast(pa.string()).to_pylist(), strict=True)
    ):
        if status in ("pass", "fail"):
            found.setdefault(case, []).append(number)
    return [found[case] for case in sorted(found)]


def equal_pairs(held: Pools, chance: random.Random, count: int = PAIRS) -> Iterator[bool]:
    """Yield for pairs of runs of the same pools whether the alarm fires. Each question stands once in a run; no answer is drawn twice."""
    for _ in range(count):
        drawn = [chance.sample(pool, 2 * TRIALS) for pool in held.warm]
        base = _side(held.rows["warm"], [one[:TRIALS] for one in drawn])
        head = _side(held.rows["warm"], [one[TRIALS:] for one in drawn])
        yield drift(compare(base, head)).fires


def shifted_pairs(held: Pools, chance: random.Random, cases: int, share: float, count: int = PAIRS) -> Iterator[bool]:
    """Yield for pairs of a run and a shifted one whether the alarm fires. The cases of a pair are a draw of the questions.

    Args:
        held: the answers.
        chance: where the draws come from.
        cases: how many a run has.
        share: how many of the head's answers are those of the other temperature.
        count: how many pairs.
    """
    both = pa.concat_tables([held.rows["warm"], held.rows["cool"]])
    offset = held.rows["warm"].num_rows
    for _ in range(count):
        chosen = [chance.randrange(len(held.warm)) for _ in range(cases)]
        base = _side(held.rows["warm"], [chance.choices(held.warm[q], k=TRIALS) for q in chosen])
        mixed = [
            [
                offset + chance.choice(held.cool[q]) if chance.random() < share else chance.choice(held.warm[q])
                for _ in range(TRIALS)
            ]
            for q in chosen
        ]
        head = _side(both, mixed)
        yield drift(compare(base, _behind(base, head))).fires


def promised(held: Pools, cases: int, share: float) -> tuple[float, float]:
    """Return the shift of the pass fraction, and the power that the formula gives so many cases for it."""
    base, other = ([float(p) for p in held.passing(name)] for name in ("warm", "cool"))
    head = [share * new + (1 - share) * old for old, new in zip(base, other, strict=True)]
    changes = [new - old for old, new in zip(base, head, strict=True)]
    shift = sum(changes) / len(changes)
    between = sum((change - shift) ** 2 for change in changes) / len(changes)
    within = [sum(p * (1 - p) for p in side) / len(side) for side in (base, head)]
    return shift, power_of(cases, abs(shift), Spread(between, *within, TRIALS, TRIALS))


def _side(rows: pa.Table, drawn: list[list[int]]) -> Side:
    """Return a side whose cases have the drawn rows as their trials."""
    picked = rows.take(pa.Array.from_buffers(pa.int64(), sum(map(len, drawn)), [None, _buffer(drawn)]))
    names = [f"c{i:03}" for i, pool in enumerate(drawn) for _ in pool]
    trials = [t for pool in drawn for t in range(len(pool))]
    told: dict[str, Any] = {
        "case_id": column(pa.string(), names),
        "target": column(pa.string(), ["m"] * len(names)),
        "trial": column(pa.int64(), trials),
    }
    for name, values in told.items():
        number = picked.schema.get_field_index(name)
        picked = picked.set_column(number, picked.schema.field(number), values)
    return Side("drawn", "drawn", picked, "aa", False, {}, [])


def _buffer(drawn: list[list[int]]) -> Any:
    import array

    return pa.py_buffer(array.array("q", [number for pool in drawn for number in pool]).tobytes())


def _behind(base: Side, head: Side) -> Side:
    """Return the head as it looks where its answers came behind the base's requests: the provider changed and nobody was told."""
    rows = head.rows
    for name in ("request_hash", "grader_digest", "expectation_digest", "expectation", "graders"):
        rows = rows.set_column(rows.schema.get_field_index(name), name, base.rows.column(name))
    return replace(head, rows=rows)


def report(folder: Path) -> Iterator[str]:
    """Yield the figures."""
    held = pools(folder)
    chance = random.Random(SEED)
    yield f"{held.answers} answers of {len(held.warm)} questions, {TRIALS} trials a run, {PAIRS} pairs, seed {SEED}"
    false = sum(equal_pairs(held, chance))
    yield f"equal runs: the alarm fires in {false} of {PAIRS} (at most {MOST_FALSE})"
    for cases, share in SHIFTS:
        shift, power = promised(held, cases, share)
        fired = sum(shifted_pairs(held, chance, cases, share))
        spread = sqrt(power * (1 - power) / PAIRS)
        yield (
            f"{share:.0%} of the answers are the other ones, {100 * shift:+.1f} points, {cases} cases: "
            f"fires in {fired} of {PAIRS} = {fired / PAIRS:.2f}; promised {power:.2f} ± {spread:.2f}"
        )
