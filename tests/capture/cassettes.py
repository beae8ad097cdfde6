"""Cassettes as recorders write them, and imports of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from capture.import_vcr import ImportResult, import_vcr, rules
from golden.redaction import Redaction

URL = "https://api.example.com/v1/chat/completions"
DATE = "Sun, 30 Nov 2025 12:00:00 GMT"


def said(text: str, name: str = "chatcmpl-1") -> str:
    """Return the body of a chat completion."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"id": name, "object": "chat.completion", "choices": [choice]})


def asked(text: str) -> str:
    """Return the body of a chat request."""
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]})


def interaction(
    request: Any = None, answer: Any = None, *, url: str = URL, status: Any = 200, date: str | None = DATE, **more: Any
) -> dict[str, Any]:
    """Return one interaction in the layout of VCR.py; ``more`` are headers of the response, underscores for dashes."""
    headers = {"content-type": ["application/json"], **({} if date is None else {"Date": [date]})}
    headers.update({name.replace("_", "-"): [value] for name, value in more.items()})
    return {
        "request": {
            "body": asked("Q") if request is None else request,
            "headers": {"Content-Type": ["application/json"], "User-Agent": ["recorder/1"]},
            "method": "POST",
            "uri": url,
        },
        "response": {
            "body": {"string": said("A")} if answer is None else answer,
            "headers": headers,
            "status": {"code": status, "message": "OK"},
        },
    }


def text(*interactions: Any) -> str:
    """Return a cassette as VCR.py writes it."""
    return yaml.dump({"interactions": list(interactions), "version": 1}, Dumper=yaml.SafeDumper)


def write(path: Path, *interactions: Any) -> Path:
    """Write a cassette: JSON where the name ends so, else YAML."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = {"interactions": list(interactions), "version": 1}
    path.write_text(json.dumps(whole) if path.suffix == ".json" else text(*interactions), encoding="utf-8")
    return path


def run(store: Path, *paths: Path, endpoint: str | None = None, accepted: tuple[int, ...] = ()) -> ImportResult:
    """Import some paths."""
    by = rules(Redaction(), endpoint=endpoint, accepted=accepted)
    return import_vcr(list(paths), store, by, quiet=True)


def stored(store: Path) -> dict[str, dict[str, Any]]:
    """Return all snapshots of a store by name, as plain JSON."""
    base = store / "sha256"
    return {str(path.relative_to(base)): json.loads(path.read_bytes()) for path in sorted(base.rglob("*.json"))}


def only(store: Path) -> dict[str, Any]:
    """Return the one snapshot of a store."""
    (snapshot,) = stored(store).values()
    return snapshot


def reasons(result: ImportResult) -> list[str]:
    """Return why entries were refused, file by file."""
    return [refusal.reason for file in result.files for refusal in file.refused]
