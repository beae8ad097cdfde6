"""A case rendered for one target, without files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from golden.model import Case, Suite, Target
from golden.render import Rendered, render
from snapshots.errors import ConfigError

BASE = "https://api.example.com"


def made(kind: str, case: dict[str, Any], **target: Any) -> Rendered:
    """Render a case, which has the id ``c`` and stands at a.yaml:1, for a target called t."""
    if kind not in ("http", "exec"):
        target.setdefault("base_url", BASE)
    to = Target(name="t", type=kind, **target)
    one = Case(**{"id": "c", "place": "a.yaml:1", **case})
    here = Path("/project")
    suite = Suite("s", here / "whichclock.toml", here, {"t": to}, (one,), (), here / "snapshots", here / "results")
    return render(suite, one, to)


def asked(kind: str, messages: list[Any], params: dict[str, Any] | None = None, **members: Any) -> Any:
    """Return the body for a request of these messages and members, over a target's params."""
    request = {"messages": messages, **members}
    return made(kind, {"request": request}, model="m1", params=params or {}).document["body"]


def refused(kind: str, request: dict[str, Any], params: dict[str, Any] | None = None) -> ConfigError:
    """Return the error for a request that the dialect cannot express."""
    with pytest.raises(ConfigError) as caught:
        made(kind, {"request": request}, model="m1", params=params or {})
    return caught.value


HI: list[Any] = [{"role": "user", "content": "hi"}]
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_order", "arguments": '{"order_id": "A-17"}'}}
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_order",
        "description": "Look up an order.",
        "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
    },
}
PIXEL = "data:image/png;base64,iVBORw0KGgo="
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}}
FORMAT: dict[str, Any] = {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True}}
