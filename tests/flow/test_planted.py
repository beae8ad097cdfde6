"""Ten thousand cases with planted causes: the shares that diff gives are those of the plan, and add up without a remainder."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from golden.model import Selection
from golden.render import render
from golden.suite import load_suite, select
from snapshots import dialects, response, snapshot
from tests.flow.conftest import Project

OLD_LIMIT, NEW_LIMIT = 20, 15
LENGTHS = (10, 18, 30)
NOON = 1_780_315_200
CONFIG = """\
suite = "planted"
cases = ["cases.jsonl"]
graders = ["moving.py", "still.py"]
[targets.gpt]
type = "openai"
base_url = "https://api.example.com/v1"
model = "m"
"""
GRADER = """\
from whichclock import grader


@grader
def {name}(envelope):
    return {{"long"}} if len(envelope["text"]) > {limit} else set()
"""


@dataclass(frozen=True)
class Plant:
    """What is planted in a case: the lengths of its answers, the expected set, and which grader it has, before and after."""

    name: str
    old: tuple[int, ...]
    new: tuple[int, ...]
    request: bool
    grader: bool
    expected: tuple[list[str], list[str]]

    @property
    def model(self) -> bool:
        return not self.request and self.old != self.new

    @property
    def players(self) -> list[str]:
        moved = {
            "envelope": self.request or self.model,
            "grader": self.grader,
            "expectation": self.expected[0] != self.expected[1],
        }
        return [player for player, is_moved in moved.items() if is_moved]

    def passes(self, moved: set[str]) -> Fraction:
        """Return the pass fraction in a corner, by the plan alone."""
        lengths = self.new if "envelope" in moved or "envelope" not in self.players else self.old
        limit = NEW_LIMIT if "grader" in moved else OLD_LIMIT
        wanted = self.expected["expectation" in moved or 0]
        good = [(length > limit) == (wanted == ["long"]) for length in lengths]
        return Fraction(sum(good), len(good))

    def truth(self) -> dict[str, str]:
        """Return the shares, by going through all orders one by one."""
        total = dict.fromkeys(self.players, Fraction(0))
        orders = list(itertools.permutations(self.players))
        for order in orders:
            moved: set[str] = set()
            for player in order:
                before = self.passes(moved)
                moved.add(player)
                total[player] += self.passes(moved) - before
        names = {"envelope": "request+model" if self.request else "model"}
        return {names.get(player, player): str(share / len(orders)) for player, share in total.items()}


def _plant(number: int, chance: random.Random) -> Plant:
    trials = chance.choice((1, 1, 2, 3))
    old = tuple(chance.choice(LENGTHS) for _ in range(trials))
    request = chance.random() < 0.3
    moves = request or chance.random() < 0.4
    new = tuple(chance.choice(LENGTHS) for _ in range(trials)) if moves else old
    first = chance.choice(([], ["long"]))
    second = chance.choice(([], ["long"])) if chance.random() < 0.5 else first
    return Plant(f"c{number:05}", old, new, request, chance.random() < 0.5, (first, second))


def _write(root: Path, plants: list[Plant], after: bool) -> None:
    """Write the suite as it was before or after, and the answers of that time."""
    (root / "whichclock.toml").write_text(CONFIG)
    (root / "moving.py").write_text(GRADER.format(name="moving", limit=NEW_LIMIT if after else OLD_LIMIT))
    (root / "still.py").write_text(GRADER.format(name="still", limit=OLD_LIMIT))
    lines = [
        {
            "id": plant.name,
            "prompt": f"{plant.name} {'again' if after and plant.request else ''}",
            "expected": plant.expected[after],
            "graders": ["moving" if plant.grader else "still"],
            "trials": len(plant.old),
        }
        for plant in plants
    ]
    (root / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    suite = load_suite(root / "whichclock.toml")
    by_name = {plant.name: plant for plant in plants}
    for row in select(suite, Selection()):
        plant = by_name[row.case.id]
        if after and plant.old == plant.new and not plant.request:
            continue
        rendered = render(suite, row.case, row.target)
        length = (plant.new if after else plant.old)[row.trial]
        # The trial is in the text, so that equal lengths of two trials are two answers.
        text = f"{row.trial}".ljust(length, "x")
        message = {"role": "assistant", "content": text}
        body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        answered = response.response(200, [], json.dumps(body).encode())
        rule = dialects.rule_for(rendered.document, answered)
        name, data = snapshot.write(
            request=rendered.document,
            request_hash=rendered.request_hash,
            trial=row.trial,
            answer_hash=dialects.answer_hash(rule, answered),
            answer_rule=rule,
            second=NOON + 60 * after,
            response=answered,
            meta={},
        )
        path = root / "snapshots" / "sha256" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_the_shares_are_those_of_the_plan(project: Project, count: int) -> None:
    """Each clock alone, every pair, all three, cancelling changes and interactions, over one to three trials."""
    root = project.root
    for path in (*root.rglob("*.toml"), *root.rglob("*.yaml"), *root.rglob("*.py")):
        path.unlink()
    chance = random.Random(20261130)
    plants = [_plant(number, chance) for number in range(count)]
    _write(root, plants, after=False)
    project.run("grade", "--save", "main", "--quiet")
    _write(root, plants, after=True)
    done = project.run("diff", "main", "--format", "json", "--gate", "none")
    assert 0 == done.code, done.err
    found = {row["case_id"]: row["attribution"] for row in done.json["rows"]}

    assert {plant.name: plant.truth() for plant in plants} == found
    suite = done.json["summary"]
    change = Fraction(suite["pass_fraction"]["change"])
    assert sum((Fraction(share) for share in suite["attribution"].values()), Fraction(0)) == change
    plan = sum((plant.passes(set(plant.players)) - plant.passes(set()) for plant in plants), Fraction(0)) / count
    assert plan == change
