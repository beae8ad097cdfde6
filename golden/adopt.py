"""Golden cases out of recorded requests: the body as it was, and the target that sends it to where it went.

Whatever is made here is rendered before it is taken: a case is adopted only if its request hash is the recorded one, so that ``grade``
finds every snapshot.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from golden import target, yaml_text
from golden.model import Case, Planned, Selection, Suite, Target
from golden.place import Place
from golden.render import render
from golden.salt import Salts
from golden.selection import select
from golden.target_type import TYPES
from golden.yaml_writer import written
from snapshots import lookup
from snapshots.errors import ConfigError, CorruptSnapshot, UsageError, WhichclockError
from snapshots.snapshot import Snapshot
from snapshots.store import Store

HOST = "https://example.com"
"""Stands for the real host where the key has an endpoint's name instead."""
_ENDPOINT = re.compile(r"endpoint:([A-Za-z0-9][A-Za-z0-9._-]*)(.*)", re.DOTALL)
_NO_NAME = re.compile(r"[^A-Za-z0-9_]+")
_ID = 12
_EMPTY = Suite("adopted", Path("whichclock.toml"), Path(), {}, (), (), Path("snapshots"), Path("results"))


@dataclass(frozen=True, slots=True)
class Adopted:
    """A request that became a case."""

    case: dict[str, Any]
    target: str
    request_hash: str
    trials: int


@dataclass(slots=True)
class Adoption:
    """What became of the recorded requests. ``targets`` are the tables that the configuration lacks."""

    adopted: list[Adopted] = field(default_factory=list[Adopted])
    covered: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    targets: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    all_targets: dict[str, Target] = field(default_factory=dict[str, Target])

    def cases(self) -> tuple[Case, ...]:
        """Return the cases as a suite holds them."""
        return tuple(
            Case(
                id=one.case["id"],
                place="adopted",
                body=one.case["body"],
                graders=tuple(one.case.get("graders", ())),
                targets=(one.target,),
                trials=one.trials,
                salt=one.case.get("salt"),
            )
            for one in self.adopted
        )

    def expect(self, found: Mapping[str, Sequence[str]]) -> None:
        """Expect of each case, by its id, what was found in its answer."""
        for one in self.adopted:
            one.case["expected"] = sorted(found[one.case["id"]])

    def summary(self) -> dict[str, int]:
        """Return the counts."""
        return {
            "adopted": len(self.adopted),
            "covered": self.covered,
            "refused": len(self.refused),
            "targets": len(self.targets),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each request that no case had; those that were refused have a reason and no case."""
        adopted = [
            {
                "request_hash": one.request_hash,
                "case_id": one.case["id"],
                "target": one.target,
                "trials": one.trials,
                "refused": None,
            }
            for one in self.adopted
        ]
        none = {"case_id": None, "target": None, "trials": None}
        refused = [{"request_hash": request_hash, **none, "refused": reason} for request_hash, reason in self.refused]
        return sorted([*adopted, *refused], key=lambda row: str(row["request_hash"]))

    def text(self) -> str:
        """Return the case file."""
        return written({"cases": [one.case for one in self.adopted]})


def adopt(store: Store, prefixes: Sequence[str], suite: Suite | None, graders: Sequence[str] = ()) -> Adoption:
    """Make cases of the requests in a store that no case of a suite has yet.

    Args:
        store: where they are recorded.
        prefixes: beginnings of request hashes; all if there is none.
        suite: the suite that is to get them, whose targets are used where they fit.
        graders: the names that the cases list.
    """
    adopter = _Adopter(suite, graders)
    trials: dict[str, list[lookup.Identity]] = {}
    for prefix in prefixes or ("",):
        for identity in lookup.identities(store, prefix):
            seen = trials.setdefault(identity.request_hash, [])
            if identity.trial == len(seen):
                seen.append(identity)
    for request_hash, identities in sorted(trials.items()):
        if not identities:
            adopter.made.refused.append((request_hash, "its trial 0 is not recorded"))
            continue
        try:
            adopter.add(store.read(identities[0].current), len(identities))
        except CorruptSnapshot as error:
            adopter.made.refused.append((request_hash, error.message))
    return adopter.made


class _Adopter:
    def __init__(self, suite: Suite | None, graders: Sequence[str]) -> None:
        self.made = Adoption()
        self._suite = suite or _EMPTY
        self._graders = list(graders)
        self._known = _hashes(suite)
        self._ids = {case.id for case in self._suite.cases}
        self._targets = self.made.all_targets
        self._targets.update(self._suite.targets)

    def add(self, recorded: Snapshot, trials: int) -> None:
        """Adopt one request, or note why not."""
        request = recorded.request
        if recorded.request_hash in self._known:
            self.made.covered += 1
            return
        why = _unfit(request)
        if why is None:
            name = self._target(request, recorded.request_hash)
            case = {} if name is None else self._case(request, recorded.request_hash, trials, name)
            if name is None:
                why = "no target sends this request: its URL, headers or salt are none that a configuration could have"
            elif not _is_readable(case):
                why = "its body has no YAML form"
            else:
                self._ids.add(case["id"])
                self.made.adopted.append(Adopted(case, name, recorded.request_hash, trials))
        if why is not None:
            self.made.refused.append((recorded.request_hash, why))

    def _case(self, request: Mapping[str, Any], request_hash: str, trials: int, name: str) -> dict[str, Any]:
        size = _ID
        while request_hash[:size] in self._ids:
            size += 1
        salt = request.get("salt", {}).get("case")
        return {
            "id": request_hash[:size],
            "targets": [name],
            **({"trials": trials} if trials > 1 else {}),
            **({} if salt is None else {"salt": salt}),
            "body": request["body"],
            **({"graders": self._graders} if self._graders else {}),
            "expected": [],
        }

    def _target(self, request: Mapping[str, Any], request_hash: str) -> str | None:
        """Return the name of a target by which the request has its hash: one that there is, else one that is made."""
        for name, known in self._targets.items():
            if self._renders(request, known, request_hash):
                return name
        for table in _tables(request):
            name = self._free(_name(request["url"]))
            try:
                made = target.make(name, table, Place("adopted"), Salts(Path()))
            except (ConfigError, TypeError, ValueError):
                continue
            if self._renders(request, made, request_hash):
                self._targets[name] = made
                self.made.targets[name] = table
                return name
        return None

    def _renders(self, request: Mapping[str, Any], to: Target, request_hash: str) -> bool:
        if to.type == "exec":
            return False
        salt = request.get("salt", {}).get("case")
        try:
            case = Case("adopted", "adopted", body=request["body"], salt=salt)
            return render(self._suite, case, to).request_hash == request_hash
        except WhichclockError:
            return False

    def _free(self, name: str) -> str:
        free, number = name, 2
        while free in self._targets:
            free, number = f"{name}-{number}", number + 1
        return free


def _is_readable(case: dict[str, Any]) -> bool:
    """Tell whether a case is read back as it is written: names of more than 1,024 characters, for one, are not."""
    try:
        read = yaml_text.read(written([case]), "").value
    except ConfigError:
        return False
    return json.dumps(read) == json.dumps([case])


def _hashes(suite: Suite | None) -> set[str]:
    """Return the request hashes of a suite's cases."""
    if suite is None:
        return set()
    planned: Iterator[Planned] = iter(select(suite, Selection()))
    return {render(suite, one.case, one.target).request_hash for one in planned if one.trial == 0}


def _unfit(request: Mapping[str, Any]) -> str | None:
    if request.get("transport") != "http":
        return "it is a program's, and no HTTP request"
    if not isinstance(request.get("body"), dict):
        return "its body is no JSON object"
    if any(str(value).startswith("sha256:") for value in request.get("headers", {}).values()):
        return "a header is known by its digest alone"
    return None


def _tables(request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the tables of targets that may send a request, the most fitting first; type ``http`` sends any."""
    base, rest, endpoint = _split(str(request["url"]))
    path, mark, query = rest.partition("?")
    salt = request.get("salt", {}).get("target")
    shared = {
        **({} if endpoint is None else {"endpoint": endpoint}),
        **({} if salt is None else {"salt": salt}),
    }
    headers = dict(request.get("headers", {}))
    if request.get("method") == "POST":
        for name, kind in TYPES.items():
            found = _fits(kind.path, path) if kind.path else None
            if found is None:
                continue
            own = {header: value for header, value in headers.items() if kind.headers.get(header) != value}
            yield {
                "type": name,
                "base_url": f"{base}{path[: found.start()]}{mark}{query}",
                **({"model": unquote(found["model"])} if "model" in found.groupdict() else {}),
                **({"headers": own} if own else {}),
                **shared,
            }
    yield {
        "type": "http",
        "url": f"{base}{rest}",
        "method": request.get("method", "POST"),
        **({"headers": headers} if headers else {}),
        **shared,
    }


def _fits(own: str, path: str) -> re.Match[str] | None:
    """Return where a type's path stands at the end of another."""
    return re.search(re.escape(own).replace(r"\{model\}", "(?P<model>[^/:]+)") + r"\Z", path)


def _split(url: str) -> tuple[str, str, str | None]:
    """Return scheme, host and port, the rest, and the name of the endpoint that stands for them."""
    named = _ENDPOINT.fullmatch(url)
    if named is not None:
        return HOST, named[2], named[1]
    parts = urlsplit(url)
    base = f"{parts.scheme}://{parts.netloc}"
    return base, url.removeprefix(base), None


def _name(url: str) -> str:
    named = _ENDPOINT.fullmatch(url)
    if named is not None:
        return named[1]
    return _NO_NAME.sub("-", urlsplit(url).hostname or "").strip("-") or "target"


def refuse_existing(file: Path) -> None:
    """Refuse a file that exists: nothing is overwritten.

    Raises:
        UsageError: it does.
    """
    if file.exists():
        raise UsageError(f"{file} exists, and nothing is overwritten", hint="name another file")


def write_new(file: Path, text: str) -> None:
    """Write a file that does not exist yet.

    Raises:
        UsageError: it exists, or cannot be written.
    """
    try:
        with file.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        refuse_existing(file)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"cannot write {file}: {why}") from None


def toml(targets: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of the tables of targets."""
    for name, table in targets.items():
        yield f"[targets.{_quoted_name(name)}]"
        for member, value in table.items():
            if isinstance(value, dict):
                inner = ", ".join(f"{_quoted_name(key)} = {_quoted(item)}" for key, item in value.items())
                yield f"{member} = {{ {inner} }}"
            else:
                yield f"{member} = {_quoted(value)}"
        if "endpoint" in table:
            yield f"# {HOST} stands for the real host, which the key does not hold"
        if table["type"] != "http":
            yield '# api_key = "{{ env.NAME }}"'
        yield ""


def _quoted_name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
