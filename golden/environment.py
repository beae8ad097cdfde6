"""``${env:VAR}`` and ``${env:VAR:-default}``: resolved at load, and part of every key they reach.

What is resolved here is keyed, so a variable that looks like a secret is refused wherever its value would enter a
request document. ``{{ env.VAR }}`` is the other spelling, for what must not be keyed; see ``golden.placeholder``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from golden.credential import looks_like_a_key, named_like_a_secret
from golden.place import Place
from snapshots import variable
from snapshots.errors import ConfigError
from snapshots.pointer import escape

# Members of a target that never enter a request document.
_UNKEYED = frozenset(
    {
        "keyed_env", "timeout_s", "connect_timeout_s", "first_byte_timeout_s", "retries", "concurrency",
        "requests_per_minute", "tokens_per_minute", "select", "volatile",
    }
)  # fmt: skip
# Salts are keyed as they stand, so this one is keyed in every target.
_DEFAULT_SALT = "/defaults/salt"


@dataclass(frozen=True, slots=True)
class _Use:
    name: str
    default: str | None
    pointer: str

    @property
    def is_api_key(self) -> bool:
        """Tell whether this use stands in a target's ``api_key``, not in a member of another name below it."""
        parts = self.pointer.split("/")
        return len(parts) == 4 and parts[1] == "targets" and parts[3] == "api_key"

    @property
    def target(self) -> str | None:
        """Return the target whose requests this use is keyed in, still escaped, if there is one."""
        parts = self.pointer.split("/")
        return parts[2] if len(parts) > 3 and parts[1] == "targets" and parts[3] not in _UNKEYED else None


def resolve(raw: Mapping[str, Any], environ: Mapping[str, str], place: Place) -> dict[str, Any]:
    """Return the configuration with every ``${env:…}`` in a text replaced.

    A default stands in for a variable that is unset or empty, as in a shell.

    Raises:
        ConfigError: a variable is unset without a default, is misspelt, or looks like a secret where it would be keyed.
    """
    uses = list(_uses(raw, "", place))
    _refuse_unset(uses, environ, place)
    for use in uses:
        _refuse_secret(use, raw, environ, place)

    return {name: _replace(value, environ) for name, value in raw.items()}


def _replace(value: Any, environ: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return variable.resolve(value, environ)
    if isinstance(value, dict):
        return {name: _replace(item, environ) for name, item in value.items()}
    return [_replace(item, environ) for item in value] if isinstance(value, list) else value


def _uses(value: Any, at: str, place: Place) -> Iterator[_Use]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _uses(item, f"{at}/{escape(name)}", place)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _uses(item, f"{at}/{i}", place)
    elif isinstance(value, str):
        try:
            found = variable.references(value)
        except ValueError as error:
            raise place.fault(at, str(error), hint=variable.SPELLING_HINT) from None
        yield from (_Use(name, default, at) for name, default in found)


def _refuse_unset(uses: list[_Use], environ: Mapping[str, str], place: Place) -> None:
    for use in uses:
        if not variable.is_missing(use.name, use.default, environ):
            continue
        targets = sorted({u.target for u in uses if u.name == use.name and u.target is not None})
        keyed = f"; it is part of the key of target {', '.join(targets)}" if targets else ""
        raise place.fault(
            use.pointer,
            f"variable {use.name} is not set{keyed}",
            hint=variable.missing_hint(use.name),
        )


def _refuse_secret(use: _Use, raw: Mapping[str, Any], environ: Mapping[str, str], place: Place) -> None:
    if use.target is None and use.pointer != _DEFAULT_SALT:
        return
    if use.is_api_key:
        raise _secret_fault(use, place, f"${{env:{use.name}}} in api_key would be needed even to grade")
    if use.target is not None and use.name in _allowed(raw, use.target):
        return
    if named_like_a_secret(use.name):
        raise _secret_fault(use, place, f"variable {use.name} is named like a secret and would be part of the key")
    if looks_like_a_key(variable.value(use.name, use.default, environ)):
        raise _secret_fault(
            use, place, f"the value of variable {use.name} looks like a key and would be part of the key of requests"
        )


def _allowed(raw: Mapping[str, Any], escaped: str) -> list[str]:
    target = next((t for name, t in raw["targets"].items() if escape(name) == escaped), None)
    named = target.get("keyed_env") if isinstance(target, dict) else None
    return named if isinstance(named, list) else []


def _secret_fault(use: _Use, place: Place, what: str) -> ConfigError:
    hint = f"write {{{{ env.{use.name} }}}}, which is read at call time and never keyed"
    if use.pointer.endswith("/salt"):
        hint = "a salt stands in the key as it is: take a value that is no secret"
    elif not use.is_api_key:
        hint += f'; if it is no secret, add keyed_env = ["{use.name}"] to the target'
    return place.fault(use.pointer, what, hint=hint)
