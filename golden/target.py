"""Targets: made from their table in the configuration, with everything refused that could leak or could not be sent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from golden import placeholder, template
from golden.credential import looks_like_a_key
from golden.generic import split_url
from golden.model import Target
from golden.place import Place
from golden.salt import resolve_salt
from golden.target_type import TYPES
from snapshots import request
from snapshots.errors import ConfigError
from snapshots.pointer import escape

_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f]")
# Set by every HTTP client from the body and the connection; a declared one could only contradict.
_FRAMING = frozenset({"content-length", "transfer-encoding", "connection"})
_SENT = ("base_url", "model", "params", "headers", "query", "api_key", "command", "env")
# What type http sends: templates over the vars of a case.
_TEMPLATES = ("url", "headers", "body", "body_text")


def make(name: str, table: Mapping[str, Any], place: Place, salts: Any) -> Target:
    """Return a target from its table, whose shape the schema has already judged.

    Args:
        name: the target's name.
        table: its members, ``${env:…}`` already resolved.
        place: where it stands.
        salts: the project's ``Salts``, for a ``$digest:`` salt.

    Raises:
        ConfigError: a URL with a user name; a header declared twice, beside ``api_key``, or not sendable.
    """
    if table["type"] == "http":
        _check_templates(table, place)
    else:
        for member in _SENT:
            if member in table:
                placeholder.refuse_others(table[member], place, f"/{member}")
    if "base_url" in table:
        _check_url("base_url", table["base_url"], table, place)
    _check_headers(table, place)
    members = {key: value for key, value in table.items() if key != "keyed_env"}
    for several in ("accept_status", "command"):
        members[several] = tuple(table.get(several, ()))
    members["volatile"] = tuple(sorted(set(table.get("volatile", ()))))
    if "method" in table:
        members["method"] = table["method"].upper()
    for count in ("retries", "concurrency"):
        if count in members:
            members[count] = int(members[count])
    if "salt" in members:
        members["salt"] = resolve_salt(members["salt"], {}, salts, place, "/salt")
    return Target(name=name, **members)


def warnings(target: Target) -> Iterator[str]:
    """Yield what is allowed but probably not meant."""
    path = urlsplit(target.base_url).path
    places = [
        *(("the path of base_url", v) for _, v in placeholder.names(path)),
        *(("model", v) for _, v in placeholder.names(target.model)),
        *((f"params{at}", v) for at, v in placeholder.names(dict(target.params))),
        *((f"command{at}", v) for at, v in placeholder.names(list(target.command))),
    ]
    if target.url is not None:
        places += [("the path of url", v) for v in template.variables_used(target.url.partition("?")[0])]
    for name, text in (*_texts(target.body, "body"), *_texts(target.body_text, "body_text")):
        places += [(name, v) for v in template.variables_used(text)]
    for header, value in target.headers.items():
        if header.lower() not in request.CREDENTIAL_HEADERS:
            places += [(f"header {header}", v) for v in template.variables_used(value)]
    for where, variable in places:
        yield f"target {target.name}: {unkeyed(variable, where)}"
    credentials = {"api_key": target.api_key or "", **{f"env {name}": value for name, value in target.env.items()}}
    for header, value in target.headers.items():
        if header.lower() in request.CREDENTIAL_HEADERS:
            credentials[f"header {header}"] = value
    for where, value in credentials.items():
        if looks_like_a_key(value):
            yield f"target {target.name}: {where} is written in the file; set a variable and write {{{{ env.NAME }}}}"


def unkeyed(variable: str, where: str) -> str:
    """Return the warning about ``{{ env.X }}`` in a place that is no credential."""
    return (
        f"{{{{ env.{variable} }}}} in {where} is not part of the key; "
        f"if it changes the answer use ${{env:{variable}}}, if it is a secret leave it"
    )


def _texts(value: Any, at: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of every text in a JSON value."""
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(item, f"{at}/{escape(name)}")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _texts(item, f"{at}/{i}")


def _check_url(member: str, url: str, table: Mapping[str, Any], place: Place) -> None:
    # A brace is no character of a host, so any in this part is a placeholder.
    if "{" in split_url(url)[0]:
        raise place.fault(
            f"/{member}",
            "scheme, host and port cannot be read at call time",
            hint="write ${env:NAME}, or set endpoint",
        )
    try:
        request.keyed_url(placeholder.fill(url, placeholder.keyed), "", endpoint=table.get("endpoint"))
    except ConfigError as error:
        # The rule about URLs calls every one of them a base_url.
        raise place.fault(f"/{member}", error.message.replace("base_url", member), hint=error.hint) from None


def _check_templates(table: Mapping[str, Any], place: Place) -> None:
    _check_url("url", split_url(table["url"])[0], table, place)
    if _CONTROL.search(table["url"]):
        raise place.fault("/url", "the URL holds a control character")
    if "body" in table and "body_text" in table:
        raise place.fault("/body_text", "body and body_text are two bodies", hint="keep one of them")
    for member in _TEMPLATES:
        for at, text in _texts(table.get(member), f"/{member}"):
            template.check(text, place, at)


def _check_headers(table: Mapping[str, Any], place: Place) -> None:
    seen: dict[str, str] = {}
    for name, value in table.get("headers", {}).items():
        at, lower = f"/headers/{name}", name.lower()
        if lower in seen:
            raise place.fault(at, f"header {name!r} is already declared as {seen[lower]!r}", hint="keep one of them")
        seen[lower] = name
        if "api_key" in table and lower == TYPES[table["type"]].key_header.lower():
            raise place.fault(
                at, f"header {name!r} is declared beside api_key, which sends the same header", hint="keep one of them"
            )
        if lower in _FRAMING:
            raise place.fault(at, f"header {name!r} is set by the client", hint="leave it out")
        if not sendable(value):
            raise place.fault(at, f"the value of header {name!r} holds a control character")


def sendable(value: str) -> bool:
    """Tell whether a header may have this value: no CR, LF or other control characters (RFC 9110 section 5.5)."""
    return _CONTROL.search(value) is None
