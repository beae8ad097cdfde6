"""diff of two large result tables, against reading, joining and writing the same columns with bare pyarrow.

python -m benchmarks.diff [ROWS]
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import measure
from diff import cases, compare, measures, terminal
from diff import table as diff_table
from diff.side import Side
from golden.model import Suite
from golden.suite import load_suite
from grade import table
from grade.arrow import pc
from snapshots import canonical
from snapshots.console import Console


def make(path: Path, rows: int, *, head: bool) -> None:
    """Write a table in which, on the head side, 1 % are added, 1 % removed and 2 % of the findings changed."""
    schema = table.schema({"suite": "s", "selection": None, "runtime": {"python": "3.11"}, "tool": "whichclock/0.1.0"})
    writer = table.Writer(path, schema)
    first = rows // 100 if head else 0
    for start in range(first, first + rows, 65_536):
        writer.write(table.batch(_columns(range(start, min(start + 65_536, first + rows)), head=head), schema))
    writer.finish().rename(path)


def _columns(numbers: range, *, head: bool) -> dict[str, list[Any]]:
    hashes = [hashlib.sha256(str(i).encode()).hexdigest() for i in numbers]
    changed = [head and i % 50 == 0 for i in numbers]
    count = len(numbers)
    names = {"check:empty_answer": "0" * 64, "g": ("2" if head else "1") * 64, "reader:openai-chat": "3" * 64}
    digests = canonical.encode(names).decode()
    return {
        **{name: [None] * count for name in table.NAMES},
        "case_id": [f"case-{i:08}" for i in numbers],
        "target": ["m"] * count,
        "trial": [0] * count,
        "status": ["fail" if c else "pass" for c in changed],
        "case_passed": [not c for c in changed],
        "findings": [["bad"] if c else ["ok"] for c in changed],
        "expected": [["ok"]] * count,
        "missing": [["ok"] if c else [] for c in changed],
        "unexpected": [["bad"] if c else [] for c in changed],
        "tags": [["orders"]] * count,
        "request_hash": hashes,
        "answer_hash": hashes,
        "answer_rule": ["openai-chat/1"] * count,
        "integrity": hashes,
        "recorded_at": ["2026-06-01T12:00:00Z"] * count,
        "grader_digest": ["1" * 64] * count if not head else ["2" * 64 if c else "1" * 64 for c in changed],
        "expectation_digest": ["4" * 64] * count,
        "graders": [digests] * count,
        "expectation": ['{"expected":["ok"],"graders":["g"],"pass":"all"}'] * count,
        "asked": ["[]"] * count,
        "evidence": ['{"bad":{"g":null}}' if c else '{"ok":{"g":null}}' for c in changed],
        "reported_model": ["m-1"] * count,
        "finish_reason": ["stop"] * count,
        "input_tokens": [40] * count,
        "output_tokens": [420] * count,
        "latency_ms": [812.0] * count,
    }


def side(path: Path) -> Side:
    """Return a saved table as one side of a diff."""
    return Side(path.name, path.name, table.read(path), "s", selected=False, runtime={"python": "3.11"}, stores=[])


def ours(suite: Suite, base: Path, head: Path, out: Path) -> None:
    """Do what the command does: compare the two tables, share out the change, measure it, write every row, and tell."""
    comparison = compare.compare(side(base), side(head))
    cases.attribute_rows(comparison)
    measures.measure(comparison, suite)
    diff_table.write(comparison, out)
    if "grader" not in terminal.lines(comparison, Console("never"))[0]:
        raise SystemExit("the diff found nothing: nothing was measured")


def project(root: Path) -> Suite:
    """Write and load the suite that the tables are said to be of."""
    (root / "whichclock.toml").write_text(
        'suite = "s"\ncases = ["cases.yaml"]\n[targets.m]\ntype = "openai"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
    )
    (root / "cases.yaml").write_text("cases: [{id: a, prompt: hi, checks: [{contains: x}]}]\n")
    return load_suite(root / "whichclock.toml")


def bare(base: Path, head: Path, out: Path) -> None:
    """Read both, join by key, take the columns of both sides, and write them."""
    with open(base, "rb") as one, open(head, "rb") as two:
        old, new = pq.ParquetFile(one).read(), pq.ParquetFile(two).read()
    found = pc.index_in(new.column("case_id"), value_set=old.column("case_id").combine_chunks()).combine_chunks()
    joined = old.take(found)
    columns = [*new.columns, *joined.columns]
    names = [*new.schema.names, *(f"base_{n}" for n in joined.schema.names)]
    pq.write_table(pa.Table.from_arrays(columns, names=names), out, compression="zstd")


def main() -> None:
    """Measure and print."""
    rows = measure.size(1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        base, head, out = (Path(folder) / name for name in ("base.parquet", "head.parquet", "out.parquet"))
        suite = project(Path(folder).resolve())
        make(base, rows, head=False)
        make(head, rows, head=True)
        measure.show(
            measure.compare(
                f"diff of two tables of {rows} rows, written (cpu)",
                lambda: ours(suite, base, head, out),
                lambda: bare(base, head, out),
                budget=3.0,
                per=rows,
                rounds=3,
            )
        )
        print(
            f"{'peak resident size of the diff':<58} measured {measure.peak_mb(ours, suite, base, head, out):>10.1f} MB (budget 2,000 MB)"
        )


if __name__ == "__main__":
    main()
