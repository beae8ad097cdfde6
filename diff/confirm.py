"""Confirm accusations of a grader: where the old code can run, it must give the old findings for the answer at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from diff.side import Side
from grade.pool import Chunk, Pool
from snapshots.errors import ConfigError, OperatorError
from snapshots.store import Found

Row = dict[str, Any]


def old_code_agrees(pairs: Sequence[tuple[Row, Row]], base: Side, head: Side) -> list[bool | None]:
    """Return for each pair whether the old code, under the old expectation, gives the old findings for the head's observation.

    ``None`` stands where it cannot run: its code is not at hand, does not load, or is not the code that the row names.
    """
    found = [_find(new, head) for _, new in pairs]
    runnable = [i for i, f in enumerate(found) if f is not None]
    answers: list[bool | None] = [None] * len(pairs)
    if not runnable:
        return answers
    olds = [old for old, _ in pairs]
    job = base.code(frozenset(d for i in runnable for name, d in olds[i]["graders"].items() if ":" not in name))
    if job is None:
        return answers
    names = {name: olds[i]["case_id"] for i in runnable for name in olds[i]["graders"] if ":" not in name}
    stores = tuple(store.root for side in (base, head) for store in side.stores)
    try:
        with Pool(replace(job, names=names, stores=stores), 1) as pool:
            for i, findings, graders in _run(pool, runnable, pairs, found):
                # Code whose digest is another one is not the old code: our own checks and readers move with the version.
                if graders == olds[i]["graders"]:
                    answers[i] = findings == olds[i]["findings"]
    except (ConfigError, OperatorError):
        return answers  # old code that no longer loads cannot testify
    return answers


def _run(
    pool: Pool, runnable: list[int], pairs: Sequence[tuple[Row, Row]], found: list[Found | None]
) -> list[tuple[int, Any, Any]]:
    from snapshots import canonical, strict_json

    done: list[tuple[int, Any, Any]] = []
    chunks: list[Chunk] = []
    for i in runnable:
        place = found[i]
        if place is not None:
            old, new = pairs[i]
            chunk = Chunk()
            # Where both sides put a judge the same question, the head's answer to it counts.
            asked = [*(old["asked"] or ()), *(new["asked"] or ())]
            listed = [(one["request_hash"], one["trial"], one["integrity"]) for one in asked]
            chunk.add(canonical.encode(old["expectation"]).decode(), place, listed)
            chunks.append(chunk)
    for i, columns in zip(runnable, pool.run(chunks), strict=True):
        graders = columns["graders"][0]
        done.append((i, columns["findings"][0], None if graders is None else strict_json.loads(graders)))
    return done


def _find(row: Row, side: Side) -> Found | None:
    if not row["integrity"]:
        return None
    for store in side.stores:
        found = store.find(row["request_hash"], row["trial"], row["integrity"])
        if found is not None:
            return found
    return None
