"""Cases: made from what a file gives, with the defaults filled in and everything they name read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from golden import case_check, nearest, project_path, schema, template
from golden.case_check import Around
from golden.case_file import RawCase
from golden.model import Case, Target
from golden.place import Place
from golden.price import Price
from golden.salt import Salts, resolve_salt
from golden.target import unkeyed

_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})", re.ASCII)
_NO_VARS: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a case gets where it says nothing."""

    targets: tuple[str, ...] | None = None
    trials: int = 1
    pass_rule: str | float = "all"  # noqa: S105 -- a rule, no password
    salt: str | None = None


@dataclass(slots=True)
class CaseMaker:
    """Makes the cases of one suite. Files that cases name are read once, so that a run sees one state of them."""

    root: Path
    defaults: Defaults
    targets: Mapping[str, Target]
    salts: Salts
    prices: Mapping[str, Price] = field(default_factory=dict[str, Price])
    prompts: dict[str, str] = field(default_factory=dict[str, str])
    schemas: dict[str, Any] = field(default_factory=dict[str, Any])
    uses: dict[tuple[str, str], list[str]] = field(default_factory=dict[tuple[str, str], list[str]])
    _lists: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict[tuple[str, ...], tuple[str, ...]])

    def make(self, raw: RawCase) -> Case:
        """Return the case that ``raw`` holds.

        Raises:
            ConfigError: anything about it is wrong, with its place.
        """
        place = raw.place
        schema.require(raw.value, "case", place)
        value: dict[str, Any] = raw.value
        _judge_now(value.get("context"), place)
        if "prompt" in value:
            self._read_prompt(value["prompt"], place)
        targets = self._targets(value.get("targets"), place)
        if "body" in value:
            self._require_one_type(targets, place)
        for i, check in enumerate(value.get("checks", ())):
            case_check.judge(
                check, Around(self.root, self.targets, self.prices, self.schemas, targets), place, f"/checks/{i}"
            )
        allowed = value.get("allowed_tools")
        return Case(
            id=value["id"],
            place=str(place),
            request=value.get("request"),
            prompt=value.get("prompt"),
            body=value.get("body"),
            vars=value.get("vars", _NO_VARS),
            expected=self._one(value.get("expected", ())),
            allowed_tools=None if allowed is None else tuple(allowed),
            context=value.get("context"),
            graders=self._one(value.get("graders", ())),
            checks=tuple(value.get("checks", ())),
            tags=self._one(value.get("tags", ())),
            targets=targets,
            trials=int(value.get("trials", self.defaults.trials)),
            pass_rule=value.get("pass", self.defaults.pass_rule),
            salt=self._salt(value, place),
            known=value.get("known"),
        )

    def _one(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return one tuple for all cases that list the same names: large suites hold the same few lists over and over."""
        listed = tuple(names)
        return self._lists.setdefault(listed, listed)

    def _targets(self, named: list[str] | None, place: Place) -> tuple[str, ...]:
        if named is None:
            if self.defaults.targets is not None:
                return self.defaults.targets
            if len(self.targets) == 1:
                return tuple(self.targets)
            raise place.fault(
                "",
                f"no targets; there are {', '.join(self.targets)}",
                hint="name them in the case or in [defaults].targets",
            )
        for i, name in enumerate(named):
            if name not in self.targets:
                raise place.fault(f"/targets/{i}", f"no target {name!r}", hint=nearest.hint(name, self.targets))
        return tuple(named)

    def _require_one_type(self, targets: tuple[str, ...], place: Place) -> None:
        first = self.targets[targets[0]]
        for name in targets:
            other = self.targets[name]
            if other.type != first.type:
                what = (
                    f"a body is sent as it is, and target {first.name} is of type {first.type}, {name} of {other.type}"
                )
                raise place.fault("/body", what, hint="name targets of one type, or write request instead of body")

    def _salt(self, value: dict[str, Any], place: Place) -> str | None:
        salt = value.get("salt", self.defaults.salt)
        return None if salt is None else resolve_salt(salt, value.get("vars", {}), self.salts, place, "/salt")

    def _read_prompt(self, prompt: Any, place: Place) -> None:
        if isinstance(prompt, dict):
            name = prompt["file"]
            if name not in self.prompts:
                path = project_path.file_inside(self.root, name, place, "/prompt/file")
                self.prompts[name] = project_path.read_text(path, place, "/prompt/file")
                self._note(template.variables_used(self.prompts[name]), name, name)
            return
        texts = [prompt] if isinstance(prompt, str) else message_texts(prompt)
        self._note(template.variables_used("".join(texts)), "", str(place))

    def _note(self, variables: list[str], group: str, where: str) -> None:
        for variable in variables:
            self.uses.setdefault((variable, group), []).append(where)

    def warnings(self) -> list[str]:
        """Return a warning for each prompt file, and one for all prompts in cases, that reads a variable at call time."""
        return [
            unkeyed(variable, f"prompt {places[0]}" + (f" (and {len(places) - 1} more)" if places[1:] else ""))
            for (variable, _), places in self.uses.items()
        ]


def message_texts(messages: list[dict[str, Any]]) -> list[str]:
    """Return the texts of messages that are templates: contents that are text, and the ``text`` of their parts."""
    texts: list[str] = []
    for message in messages:
        content = message.get("content")
        if isinstance(content, str):
            texts.append(content)
        elif isinstance(content, list):
            texts += [part["text"] for part in content if isinstance(part.get("text"), str)]
    return texts


def _judge_now(context: Any, place: Place) -> None:
    if context is None or "now" not in context:
        return
    now = context["now"]
    try:
        sound = _DATE_TIME.fullmatch(now) is not None and datetime.fromisoformat(now.upper()).tzinfo is not None
    except ValueError:
        sound = False
    if not sound:
        raise place.fault(
            "/context/now",
            f"found {schema.shown(now)}, expected an RFC 3339 date-time",
            hint="for example 2026-01-01T00:00:00Z",
        )
