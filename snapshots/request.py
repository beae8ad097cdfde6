"""The request document: what would be sent, redacted, and the one rule that turns it into a hash.

One function, one rule: ``request_hash`` is the SHA-256 of the canonical bytes of the document made here. It is part of
the format ``whichclock.snapshot/1`` and is never edited; another rule would be another format that looks under this one on
a miss. Unset is absent, never null, so that a new optional member re-keys nothing.

What is in, and why:

- ``transport``, ``method``, ``url``: another endpoint is another model until proven otherwise;
- ``headers``: declared ones change answers (versions, beta flags, tenants): version headers in clear, others as digests;
- ``body`` or ``body_text``: every member, known or not; a list of members that matter would rot;
- ``order``: the order of a schema's properties reaches the model, and canonical JSON would hash it away;
- ``salt``: the author's own way to say "this is another request";
- ``command``, ``stdin``, ``env``: the same for programs.

What is out, and why:

- credentials, and the values of ``{{ env.X }}``: who asks is not what is asked (the name is keyed as ``${env:X}``);
- case id, tags, trial, expected set, graders, thresholds, prices: they are read after the answer;
- variables: what a template made of them is in; a program alone gets them themselves, in ``stdin``;
- retries, timeouts, concurrency: they change when an answer comes, not which;
- template source text: the rendered text is in;
- ``select`` and ``volatile`` of a generic answer: they are applied on reading, the response is kept raw;
- the model that the provider reports, a program's bytes: evidence, kept beside the answer;
- machine, working directory, time: a key that differs between two desks is no key.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlsplit

from snapshots import canonical
from snapshots.errors import ConfigError
from snapshots.pointer import escape

CLEAR_HEADERS = frozenset({"anthropic-version", "anthropic-beta", "openai-beta"})
CREDENTIAL_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-goog-api-key"}
)
SCHEMA_PLACES = ("tools", "functions", "response_format", "text/format", "generationConfig", "output_config/format")
_INNER_PLACES = tuple(place for place in SCHEMA_PLACES if "/" in place)
_SIGNS = frozenset({"required", "additionalProperties", "$schema", "$defs", "description"})
# What people, models and tools said, in each dialect and to programs: JSON in it is data, and is keyed as data.
_SAID = frozenset({"messages", "contents", "input", "prompt", "system", "systemInstruction", "system_instruction"})
_DEFAULT_PORTS = {"http": 80, "https": 443}


def request_hash(document: Mapping[str, Any]) -> str:
    """Return the request hash of a document: SHA-256 of its canonical bytes, 64 lower-case hex digits."""
    return canonical.digest(dict(document))


def http_document(
    *,
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: Any = None,
    body_text: str | None = None,
    salt: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the document of an HTTP request.

    Args:
        method: HTTP method, in any case.
        url: the URL as ``keyed_url`` returns it.
        headers: declared headers, name to keyed value (placeholders already written ``${env:X}``).
        body: the JSON body in the author's member order, or ``None`` for a request without one.
        body_text: a body that is text and not JSON, instead of ``body``.
        salt: ``{"target": …, "case": …}``, only the members that are set.
    """
    document: dict[str, Any] = {"transport": "http", "method": method.upper(), "url": url}
    keyed = keyed_headers(headers)
    if keyed:
        document["headers"] = keyed
    if body is not None:
        document["body"] = body
        order = property_order(body)
        if order:
            document["order"] = order
    elif body_text is not None:
        document["body_text"] = body_text
    if salt:
        document["salt"] = dict(salt)
    return document


def exec_document(
    *,
    command: Sequence[str],
    stdin: Mapping[str, Any],
    env: Mapping[str, str] | None = None,
    salt: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the document of a program's run.

    Args:
        command: the program and its arguments (placeholders already written ``${env:X}``).
        stdin: the JSON object that it reads, in the author's member order.
        env: what is declared for its environment, name to keyed value; an empty one is undeclared.
        salt: ``{"target": …, "case": …}``, only the members that are set.
    """
    document: dict[str, Any] = {"transport": "exec", "command": list(command), "stdin": dict(stdin)}
    if env:
        document["env"] = f"sha256:{canonical.digest(dict(env))}"
    # Params are a body of their own, with places and a conversation of their own.
    order = {
        **property_order({name: item for name, item in stdin.items() if name != "params"}, "/stdin"),
        **property_order(stdin.get("params"), "/stdin/params"),
    }
    if order:
        document["order"] = order
    if salt:
        document["salt"] = dict(salt)
    return document


def keyed_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the ``headers`` member: names lower-cased and sorted, no credentials, values by digest but for versions."""
    keyed: dict[str, str] = {}
    for name in sorted(headers, key=str.lower):
        lower = name.lower()
        if lower in CREDENTIAL_HEADERS:
            continue
        value = headers[name]
        keyed[lower] = value if lower in CLEAR_HEADERS else "sha256:" + hashlib.sha256(value.encode()).hexdigest()
    return keyed


def full_url(base_url: str, path: str, query: Mapping[str, str] | None = None) -> str:
    """Return base + path + query as it is sent, normalised.

    Scheme and host are lower-cased, the scheme's default port, the trailing slash of the base and the fragment are dropped. The base's
    own query keeps its order and encoding; ``query`` follows in sorted order.

    Raises:
        ConfigError: the base is no absolute http(s) URL, or holds a user name or password.
    """
    scheme, authority, base_path, base_query = _split(base_url)
    return f"{scheme}://{authority}{base_path}{path}{_query(base_query, query)}"


def keyed_url(base_url: str, path: str, query: Mapping[str, str] | None = None, endpoint: str | None = None) -> str:
    """Return the ``url`` member: ``full_url``, with scheme, host and port replaced where an endpoint name is set."""
    if endpoint is None:
        return full_url(base_url, path, query)
    _, _, base_path, base_query = _split(base_url)
    return f"endpoint:{endpoint}{base_path}{path}{_query(base_query, query)}"


@lru_cache(maxsize=64)
def _split(base_url: str) -> tuple[str, str, str, str]:
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError as error:
        raise ConfigError(f"base_url is no URL: {error}") from None
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise ConfigError("base_url is no absolute http or https URL", hint="write it as https://host/path")
    if "@" in parts.netloc:
        raise ConfigError(
            "base_url holds a user name or password", hint='use api_key = "{{ env.NAME }}" or a header for credentials'
        )
    host = parts.netloc.rpartition(":")[0] if port is not None or parts.netloc.endswith(":") else parts.netloc
    authority = host.lower() if port is None or port == _DEFAULT_PORTS[scheme] else f"{host.lower()}:{port}"
    return scheme, authority, parts.path.rstrip("/"), parts.query


def _query(base_query: str, query: Mapping[str, str] | None) -> str:
    pairs = [f"{quote(k, safe='')}={quoted(query[k])}" for k in sorted(query)] if query else []
    whole = "&".join([base_query, *pairs] if base_query else pairs)
    return f"?{whole}" if whole else ""


def quoted(value: str, safe: str = "") -> str:
    """Return a text as one segment of a path or value of a query: percent-encoded (RFC 3986 section 2.3).

    A placeholder ``${env:X}`` stays readable in the key.
    """
    parts = re.split(r"(\$\{env:[A-Za-z_][A-Za-z0-9_]*\})", value)
    return "".join(p if i % 2 else quote(p, safe=safe) for i, p in enumerate(parts))


def property_order(body: Any, at: str = "/body") -> dict[str, list[str]]:
    """Return the ``order`` member: pointer of each schema's ``properties`` that is not in sorted order → its names in order.

    In the places of ``SCHEMA_PLACES`` every object called ``properties`` is a schema's; elsewhere one that looks like it and stands
    beside a sign of a schema. What is said in a conversation is data, whatever it looks like.

    Args:
        body: what may hold schemas.
        at: its pointer in the document.
    """
    if not isinstance(body, dict):
        return dict(_orders(body, at, is_schema=False))
    order: dict[str, list[str]] = {}
    for name, item in body.items():
        if name not in _SAID and isinstance(item, dict | list):
            order.update(_orders(item, f"{at}/{escape(name)}", is_schema=name in SCHEMA_PLACES))
    for place in _INNER_PLACES:
        outer, inner = place.split("/")
        part = body.get(outer)
        if isinstance(part, dict):
            order.update(_orders(part.get(inner), f"{at}/{place}", is_schema=True))
    return order


def _orders(value: Any, at: str, *, is_schema: bool) -> Iterator[tuple[str, list[str]]]:
    members: Iterable[tuple[str, Any]] = ()
    if isinstance(value, dict):
        members = ((escape(name), item) for name, item in value.items())
        properties = value.get("properties")
        if (
            isinstance(properties, dict)
            and (is_schema or _are_of_a_schema(properties, value))
            and not canonical.in_sorted_order(list(properties))
        ):
            yield f"{at}/properties", list(properties)
    elif isinstance(value, list):
        members = ((str(i), item) for i, item in enumerate(value))
    for name, item in members:
        yield from _orders(item, f"{at}/{name}", is_schema=is_schema)


def _are_of_a_schema(properties: Mapping[str, Any], beside: Mapping[str, Any]) -> bool:
    """Tell whether an object called ``properties`` is a schema's: schemas in it, and beside it what a schema says of itself."""
    if not all(isinstance(one, dict | bool) for one in properties.values()):
        return False
    kinds = beside.get("type")
    named = [kind.lower() for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)]
    return "object" in named or not _SIGNS.isdisjoint(beside)
