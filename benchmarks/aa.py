"""Does the drift alarm keep its word on answers of a real model? Record many, then compare runs that are drawn from them.

    python -m benchmarks.aa FOLDER --minutes 10   record (more) answers of the local model into FOLDER, then draw
    python -m benchmarks.aa FOLDER                draw again from what is recorded

Two runs that are drawn from one pool of answers differ by chance alone: every alarm is a false one. The pool of a second target, which
asks the same with another temperature, stands in for a provider that changed its sampling behind an unchanged request.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks import aa_draw
from diff.model_process import running_model

# Short questions, and for each a pattern that some of the model's answers fit.
QUESTIONS = {
    "Name a colour.": "^The colour",
    "Name an animal.": "^The most",
    "Name a fruit.": "^The fruit",
    "Name a city.": "^The city",
    "Name a country.": "^The",
    "Say yes or no.": "^Yes",
    "Is the sea blue? Say yes or no.": "No",
    "Pick a number from one to ten.": "^[0-9T]",
    "What is the capital of France?": "Paris",
    "What is 2 + 3?": "^[0-9]",
    "Greet a friend.": "[Gg]reet",
    "Is tea better than coffee?": "debate|classic",
    "Name a day of the week.": "^The day",
    "Name a month.": "month",
    "Say something nice.": "glad|nice",
    "What is the opposite of hot?": "cold",
    "Name a tool.": "^A tool",
    "Tell me a word.": "word",
    "Name a river.": "^The",
    "What do cats eat?": "^Cats",
}
# Trials recorded in a round. The first target is drawn from twice for a pair of equal runs.
ROUND = {"warm": 4, "cool": 2}
CONFIG = """\
suite = "aa"
cases = ["cases.jsonl"]
[defaults]
pass = "any"
[targets.warm]
type = "openai"
base_url = "${{env:AA_URL:-http://127.0.0.1:9/v1}}"
endpoint = "local"
model = "smollm2-135m"
concurrency = 1
timeout_s = 120
params = {{ temperature = {warm}, max_tokens = 8 }}
[targets.cool]
type = "openai"
base_url = "${{env:AA_URL:-http://127.0.0.1:9/v1}}"
endpoint = "local"
model = "smollm2-135m"
concurrency = 1
timeout_s = 120
params = {{ temperature = {cool}, max_tokens = 8 }}
"""


def main(arguments: list[str] | None = None) -> None:
    """Record for so many minutes, grade what is there, and print how often the alarm fires."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.aa")
    parser.add_argument("folder", type=Path, help="outside of the repository")
    parser.add_argument("--minutes", type=float, default=0)
    options = parser.parse_args(arguments)
    folder: Path = options.folder
    _write(folder)
    if options.minutes:
        _record(folder, options.minutes)
    for target in ROUND:
        _whichclock(folder, "grade", "--target", target, "--out", str(folder / f"{target}.parquet"), "--quiet")
    for line in aa_draw.report(folder):
        print(line)


def _write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "whichclock.toml").write_text(CONFIG.format(warm=1, cool=0.3), encoding="utf-8")
    rounds = _rounds(folder)
    cases = (
        {
            "id": f"q{i:02}-{name}",
            "prompt": question,
            "checks": [{"regex": pattern}],
            "targets": [name],
            "trials": count,
        }
        for i, (question, pattern) in enumerate(QUESTIONS.items())
        for name, count in ((name, size * max(1, rounds)) for name, size in ROUND.items())
    )
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")


def _rounds(folder: Path) -> int:
    """Return how many rounds are recorded as a whole."""
    done = folder / "rounds"
    return int(done.read_text()) if done.is_file() else 0


def _record(folder: Path, minutes: float) -> None:
    end = time.monotonic() + 60 * minutes
    with running_model(folder / "model.log") as url:
        while time.monotonic() < end:
            rounds = _rounds(folder) + 1
            for name, size in ROUND.items():
                more = ("--target", name, "--trials", str(size * rounds), "--quiet")
                _whichclock(folder, "capture", *more, url=f"{url}/v1")
            (folder / "rounds").write_text(f"{rounds}\n")
            print(f"{rounds} rounds, {rounds * sum(ROUND.values()) * len(QUESTIONS)} answers", flush=True)
    _write(folder)


def _whichclock(folder: Path, *arguments: str, url: str = "") -> None:
    command = [str(Path(sys.executable).with_name("whichclock")), *arguments]
    environment = {**os.environ, **({"AA_URL": url} if url else {})}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode > 1 or (done.returncode and arguments[0] == "capture"):
        sys.exit(done.stdout + done.stderr)


if __name__ == "__main__":
    main()
