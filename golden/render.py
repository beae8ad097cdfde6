"""Cases rendered to requests: the document that is keyed and, from the same function, the form that is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from golden import dialect, placeholder, target
from golden.form import Form, HttpForm, ProgramForm
from golden.model import Case, Suite, Target
from golden.place import Place
from golden.placeholder import Lookup, Marks
from golden.redaction import Redaction
from golden.target_type import TYPES
from golden.wire import ProgramWire, Wire
from snapshots import canonical, request
from snapshots.errors import CallError, JsonError

__all__ = ["ProgramWire", "Rendered", "Wire", "render", "render_request"]

_NO_VARS: Mapping[str, Any] = {}
# What a program of the protocol may look for; it is the same for all, so it is not keyed.
_PROTOCOL_ENV = {"DOMARINN_PROTOCOL": "1"}


@dataclass(frozen=True, slots=True)
class Rendered:
    """One case rendered for one target.

    Attributes:
        document: the request document; members in the author's order.
        request_hash: its hash.
        sent_hash: the hash that it would have without redaction; never written.
        env: names of the variables that a call needs, sorted.
    """

    document: dict[str, Any]
    request_hash: str
    sent_hash: str
    env: tuple[str, ...]
    _suite: Suite
    _case: Case
    _target: Target

    @property
    def redaction(self) -> Redaction:
        """Return the rules of the suite that rendered it: those of another revision, for a control capture."""
        return self._suite.redaction

    def wire(self, environ: Mapping[str, str]) -> Wire | ProgramWire:
        """Return the form that is sent.

        Raises:
            CallError: a variable is not set, or its value cannot stand where it should.
        """
        marked, marks = _form(self._suite, self._case, self._target)
        read = placeholder.from_environment(environ)
        values = {read(name) for name in marks.names}
        form = _filled(marked, marks, read)
        secrets = tuple(sorted((v for v in values if v), key=lambda v: (-len(v), v)))
        if isinstance(form, ProgramForm):
            return _program_wire(form, self._suite, self._target, secrets)
        return _http_wire(form, self._target, secrets)


def render(suite: Suite, case: Case, target: Target) -> Rendered:
    """Return the request of a case for a target.

    Raises:
        ConfigError: a template fails, the target's dialect cannot express the case, or the body holds what JSON cannot.
    """
    marked, marks = _form(suite, case, target)
    _refuse_spelt(marked, case)
    form = _filled(marked, marks, None)
    salts = {name: salt for name, salt in {"target": target.salt, "case": case.salt}.items() if salt is not None}
    document = _document(form, target, case, salts)
    if marks.names and (places := dict(_places(marked, marks))):
        document["variables"] = places
    try:
        _refuse_salts(suite, salts, case)
        kept, taken = suite.redaction.request(document)
        sent = request.request_hash(document)
        key = request.request_hash(kept) if taken else sent
    except JsonError as error:
        raise Place(case.place).fault(error.pointer or "", error.reason) from None
    return Rendered(kept, key, sent, tuple(sorted(marks.names)), suite, case, target)


def render_request(
    suite: Suite,
    members: Mapping[str, Any],
    target: Target,
    *,
    salt: str | None,
    place: str,
    vars: Mapping[str, Any] = _NO_VARS,  # noqa: A002 -- the name that cases use
) -> Rendered:
    """Return a request that is declared by code, a grader for example; its texts are literal.

    Args:
        suite: the suite.
        members: a chat body; for embeddings also ``{input}``, for programs also what is to be judged (``{output}``), for
            type http what its templates use (``{vars}``).
        target: where it goes.
        salt: the declarer's own salt, in the place of a case's.
        place: how messages name it.
        vars: what templates of the target, or a program, may use.

    Raises:
        ConfigError: as for ``render``.
    """
    own, variables = dict(members), dict(vars)
    if target.type == "http" and isinstance(own.get("vars"), dict):
        variables.update(own.pop("vars"))
    return render(suite, Case(id="", place=place, request=own, vars=variables, salt=salt), target)


def _form(suite: Suite, case: Case, to: Target) -> tuple[Form, Marks]:
    """Return the one form that the keyed one and the sent one are made of, with a mark for each variable."""
    marks = Marks()
    return (TYPES[to.type].form or dialect.form)(suite, case, to, marks), marks


def _filled(form: Form, marks: Marks, read: Lookup | None) -> Form:
    """Return a form with the values of its variables, or with what they are keyed as where there is nothing to read them."""
    if not marks.names:
        return form
    give = read or placeholder.keyed

    def of(value: Any) -> Any:
        return marks.give_all(value, give)

    if isinstance(form, ProgramForm):
        return ProgramForm(tuple(of(list(form.command))), of(form.stdin), of(form.env))

    def of_url(text: str, safe: str) -> str:
        # The key keeps what stands for a variable readable.
        return marks.give(text, lambda name: give(name) if read is None else quote(give(name), safe=safe))

    base, path = of_url(form.base_url, "/"), of_url(form.path, "")
    return HttpForm(form.method, base, path, of(form.query), of(form.headers), of(form.body), of(form.body_text))


def _places(marked: Form, marks: Marks) -> Iterator[tuple[str, list[int]]]:
    """Yield where variables stand in what may hold a case's own text, which may spell ``${env:X}`` itself."""
    if isinstance(marked, ProgramForm):
        yield from marks.places(marked.stdin, "/stdin")
    else:
        yield from marks.places(marked.body, "/body")
        yield from marks.places(marked.body_text, "/body_text")


def _refuse_spelt(marked: Form, case: Case) -> None:
    """Refuse a header that spells ``${env:X}`` itself: its digest could not be told from that of a variable."""
    for name, value in ({} if isinstance(marked, ProgramForm) else marked.headers).items():
        if placeholder.spells_key(value):
            raise Place(case.place).fault(
                "", f"the value of header {name!r} holds ${{env:…}} as text", hint="that is how a variable is keyed"
            )


def _refuse_salts(suite: Suite, salts: Mapping[str, str], case: Case) -> None:
    """Refuse a salt in which redaction finds something: salts are keyed and stored as they are."""
    for name, salt in salts.items():
        if suite.redaction and suite.redaction.finds(salt):
            raise Place(case.place).fault(
                "", f"the {name}'s salt holds what redaction takes out", hint="a salt is stored as it is: take another"
            )


def _document(form: Form, to: Target, case: Case, salt: Mapping[str, str]) -> dict[str, Any]:
    if isinstance(form, ProgramForm):
        return request.exec_document(command=form.command, stdin=form.stdin, env=form.env, salt=salt)
    for name, value in form.headers.items():
        if not target.sendable(value):
            raise Place(case.place).fault(
                "", f"target {to.name}: the value of header {name!r} would hold a control character"
            )
    return request.http_document(
        method=form.method,
        url=request.keyed_url(form.base_url, form.path, form.query, to.endpoint),
        headers=form.headers,
        body=form.body,
        body_text=form.body_text,
        salt=salt,
    )


def _http_wire(form: HttpForm, to: Target, secrets: tuple[str, ...]) -> Wire:
    _refuse_headers(form.headers, to)
    headers = dict(form.headers)
    body = None if form.body_text is None else form.body_text.encode()
    if form.body is not None:
        body = canonical.encode_ordered(form.body)
        if not any(name.lower() == "content-type" for name in headers):
            headers["content-type"] = "application/json"
    return Wire(form.method, request.full_url(form.base_url, form.path, form.query), headers, body, secrets)


def _refuse_headers(headers: Mapping[str, str], to: Target) -> None:
    kind = TYPES[to.type]
    for name, value in headers.items():
        if not target.sendable(value):
            raise CallError(
                f"target {to.name}: the value of header {name!r} holds a control character",
                hint="look for a line end at the end of the variable",
            )
        is_key = to.api_key is not None and name == kind.key_header
        if value.strip() == ("Bearer" if name.lower() == "authorization" else "" if is_key else None):
            raise CallError(f"target {to.name}: the api_key is empty", hint="set the variable, or leave api_key out")


def _program_wire(form: ProgramForm, suite: Suite, to: Target, secrets: tuple[str, ...]) -> ProgramWire:
    if any("\0" in text for text in (*form.command, *form.env.values())):
        raise CallError(
            f"target {to.name}: a word of the command or a value of its environment holds a null character",
            hint="look at the variables that it names",
        )
    env = {**_PROTOCOL_ENV, **form.env}
    return ProgramWire(form.command, canonical.encode_ordered(form.stdin), env, suite.root, secrets)
