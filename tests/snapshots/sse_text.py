"""Event streams as servers spell them."""

from __future__ import annotations

import json
from typing import Any


def stream(*events: dict[str, Any] | str, status: int = 200) -> dict[str, Any]:
    """Return a response that holds an event stream; a text is one event's data as it is."""
    datas = [event if isinstance(event, str) else json.dumps(event, ensure_ascii=False) for event in events]
    return {"status": status, "text": "".join(f"data: {data}\n\n" for data in datas)}
