"""A case's prompt, rendered to messages."""

from __future__ import annotations

from typing import Any

from golden import template
from golden.model import Case, Suite
from golden.place import Place
from golden.placeholder import Lookup
from golden.project_path import file_inside, read_text


def messages(suite: Suite, case: Case, lookup: Lookup) -> list[dict[str, Any]]:
    """Return the messages of a prompt; one text is one message of the user.

    Raises:
        ConfigError: a template fails.
    """
    prompt, place = case.prompt, Place(case.place)
    if isinstance(prompt, dict):
        name: str = prompt["file"]
        text = template.render(_file_text(suite, name, place), case.vars, lookup, Place(name), "")
        return [{"role": "user", "content": text}]
    if isinstance(prompt, str):
        return [{"role": "user", "content": template.render(prompt, case.vars, lookup, place, "/prompt")}]
    return [_message(message, case, lookup, place, f"/prompt/{i}") for i, message in enumerate(prompt)]


def _message(message: dict[str, Any], case: Case, lookup: Lookup, place: Place, at: str) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": template.render(content, case.vars, lookup, place, f"{at}/content")}
    if not isinstance(content, list):
        return message
    parts: list[Any] = []
    for i, part in enumerate(content):
        if isinstance(part.get("text"), str):
            rendered = template.render(part["text"], case.vars, lookup, place, f"{at}/content/{i}/text")
            parts.append({**part, "text": rendered})
        else:
            parts.append(part)
    return {**message, "content": parts}


def _file_text(suite: Suite, name: str, place: Place) -> str:
    if name in suite.prompts:
        return suite.prompts[name]
    return read_text(file_inside(suite.root, name, place, "/prompt/file"), place, "/prompt/file")
