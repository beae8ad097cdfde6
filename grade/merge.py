"""Shards put together again: the table of the whole run, byte for byte what one machine would have written."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from golden import labels
from golden.model import Selection
from grade import table
from grade.arrow import pc
from grade.columns import column
from grade.run import BATCH, MOST_PROBLEMS, Outcome
from snapshots import strict_json
from snapshots.errors import RefError, UsageError

_KEY = ("case_id", "target", "trial")


@dataclass(slots=True)
class Merged:
    """The whole run: its rows in the table's order, what they add up to, and the folders of the shards' source bundles."""

    rows: pa.Table
    metadata: dict[str, Any]
    outcome: Outcome
    sources: list[Path] = field(default_factory=list[Path])


def merge(files: Sequence[Path], suite: str) -> Merged:
    """Put shards together.

    Args:
        files: the results files of all shards, in any order.
        suite: the suite that they must be of.

    Raises:
        RefError: a file is no shard, of another run or suite, or given twice; or one is missing.
    """
    tables = {path: table.read(path) for path in files}
    told = {path: table.metadata(rows, path) for path, rows in tables.items()}
    numbers = _numbers(told)
    first = next(iter(told.values()))
    for path, other in told.items():
        if other.get("of") != first.get("of"):
            raise RefError(
                f"{path} is of another run: cases, answers or graders were others when it was graded",
                hint="grade all shards of one state of the suite and its store",
            )
        for name in ("suite", "runtime", "tool", "prices", "selection"):
            if other.get(name) != first.get(name):
                raise RefError(f"{path} is of another run: its {name} differs", hint="merge the shards of one run")
    if first["suite"] != suite:
        raise RefError(f"the shards are of the suite {first['suite']!r}, this is {suite!r}")
    counts = {int(metadata["shard"].partition("/")[2]) for metadata in told.values()}
    count = max(counts)
    missing = sorted(set(range(1, count + 1)) - set(numbers.values()))
    if missing or len(counts) > 1:
        raise RefError(
            f"{_named(missing)} of {count} {'is' if len(missing) == 1 else 'are'} missing"
            if missing
            else "the shards are of runs that were split otherwise",
            hint="name the files of all shards of one run",
        )
    whole = pa.concat_tables([rows.replace_schema_metadata(None) for rows in tables.values()])
    whole = whole.take(pc.sort_indices(_plain_keys(whole), sort_keys=[(name, "ascending") for name in _KEY]))
    if whole.num_rows != first["of"]["rows"]:
        raise RefError(f"the shards hold {whole.num_rows} rows of {first['of']['rows']}", hint="grade them again")
    metadata = {name: value for name, value in first.items() if name not in ("schema", "shard", "of")}
    return Merged(whole, metadata, _outcome(whole), [labels.resolve(str(path), path.parent).sources for path in files])


def _numbers(told: dict[Path, dict[str, Any]]) -> dict[Path, int]:
    numbers: dict[Path, int] = {}
    for path, metadata in told.items():
        if "shard" not in metadata:
            raise RefError(
                f"{path} is no shard", hint="shards are made with: whichclock grade --shard i/n --out FILE.parquet"
            )
        number = int(metadata["shard"].partition("/")[0])
        if number in numbers.values():
            raise RefError(f"{path} is shard {metadata['shard']}, which another file is too")
        numbers[path] = number
    return numbers


def _named(numbers: Sequence[int]) -> str:
    return f"shard{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"


def _plain_keys(rows: pa.Table) -> pa.Table:
    return pa.Table.from_arrays([rows.column("case_id"), rows.column("target"), rows.column("trial")], names=list(_KEY))


def _outcome(rows: pa.Table) -> Outcome:
    """Return what the rows add up to, with what people are told of those that did not pass."""
    outcome = Outcome()
    columns = [rows.column(name).to_pylist() for name in ("case_id", "target", "status", "case_passed", "expectation")]
    entries = list(zip(*columns, strict=True))
    known: dict[str, str | None] = {}
    start = 0
    for end in range(1, len(entries) + 1):
        if end == len(entries) or entries[end][:2] != entries[start][:2]:
            case_id, _, _, passed, text = entries[start]
            if text not in known:
                known[text] = strict_json.loads(text).get("known")
            outcome.tally.add(case_id, [entry[2] for entry in entries[start:end]], passed, known[text])
            start = end
    failed = [i for i, entry in enumerate(entries) if entry[2] != "pass"]
    for row in rows.take(column(pa.int64(), failed[:MOST_PROBLEMS])).drop_columns(["recorded_at"]).to_pylist():
        outcome.problem(row, known[row["expectation"]])
    return outcome


def write(merged: Merged, path: Path) -> Path:
    """Write the whole run to a temporary file beside a path and return it; the caller names it."""
    schema = table.schema(merged.metadata)
    writer = table.Writer(path, schema)
    plain = merged.rows.cast(schema)
    for start in range(0, max(1, plain.num_rows), BATCH):
        writer.write(plain.slice(start, BATCH).combine_chunks())
    return writer.finish()


def require_alone(selection: Selection) -> None:
    """Refuse a selection beside ``--merge``: the shards say what was selected. Raises ``UsageError``."""
    files = [name for name in selection.cases if name.endswith(".parquet")]
    if files:
        hint = f"repeat the option for each file: {shlex.join(word for name in files for word in ('--merge', name))}"
        raise UsageError(f"--merge takes one file, and {files[0]} is read as the name of a case", hint=hint)
    if selection:
        raise UsageError("--merge takes no cases, targets or tags", hint="select when the shards are graded")
