"""Canonical bytes: the published vectors, and agreement with the RFC's own package wherever that accepts a document."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import random
import struct
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from snapshots import canonical, strict_json
from snapshots.errors import JsonError

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "canonical.json").read_text("utf-8"))


@pytest.mark.parametrize("vector", VECTORS["accepted"], ids=lambda v: v["name"])
def test_a_vector_has_its_published_bytes_and_digest(vector: dict[str, Any]) -> None:
    """Each accepted vector gives the canonical text and the digest beside it."""
    found = canonical.encode(strict_json.loads(vector["json"]))

    assert vector["canonical"].encode() == found
    assert vector["sha256"] == hashlib.sha256(found).hexdigest()


@pytest.mark.parametrize("vector", VECTORS["refused"], ids=lambda v: v["name"])
def test_a_refused_vector_is_an_error(vector: dict[str, Any]) -> None:
    """Each refused vector is a JsonError and never a value."""
    text = vector["json"]
    data = base64.b64decode(text[7:]) if text.startswith("base64:") else text

    with pytest.raises(JsonError):
        strict_json.loads(data)


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ('{"a": NaN}', "/a"),
        ('{"a": [Infinity]}', "/a/0"),
        ('{"a": 1e400}', "/a"),
        ('{"x": {"k": 1, "k": 1}}', "/x/k"),
        ('{"a/b": {"~": "\\ud800"}}', "/a~1b/~0"),
        ("[1, [2, -Infinity]]", "/1/1"),
    ],
)
def test_a_refusal_names_the_offender(text: str, pointer: str) -> None:
    """The JSON pointer of what is refused stands in the error."""
    with pytest.raises(JsonError) as error:
        strict_json.loads(text)

    assert pointer == error.value.pointer


@pytest.mark.parametrize("depth", [100, 200, 201, 1_000, 100_000])
def test_the_depth_limit_is_the_same_everywhere(depth: int) -> None:
    """200 nested containers are read, 201 are refused, and no depth crashes."""
    text = "[" * depth + "]" * depth

    if depth <= 200:
        assert depth == canonical.encode(strict_json.loads(text)).count(b"[")
    else:
        with pytest.raises(JsonError, match="200 nested"):
            strict_json.loads(text)


def test_an_integer_of_5000_digits_is_refused() -> None:
    """There is a stated limit, below the interpreter's own."""
    with pytest.raises(JsonError, match="5000 digits"):
        strict_json.loads("1" * 5000)


@pytest.mark.parametrize("value", [{1: 2}, {"a": b"x"}, {"a": {1, 2}}, float("nan"), [object()]])
def test_what_has_no_json_form_is_refused(value: Any) -> None:
    """A value without a JSON form is an error, never its representation."""
    with pytest.raises(JsonError):
        canonical.encode(value)


def test_the_ordered_form_keeps_the_members_and_prints_numbers_alike() -> None:
    """The wire has the author's order and the canonical form's numbers."""
    assert b'{"b":1,"a":{"d":0,"c":1e-7}}' == canonical.encode_ordered({"b": 1.0, "a": {"d": -0.0, "c": 1e-7}})


_NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _NAMES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(_VALUES)
def test_documents_agree_with_the_rfc_package(value: Any) -> None:
    """Wherever rfc8785 accepts a document, the bytes are its bytes."""
    assert rfc8785.dumps(value) == canonical.encode(value)


@given(st.dictionaries(_NAMES, _VALUES, max_size=5), st.randoms())
def test_the_order_of_members_does_not_matter(value: dict[str, Any], shuffler: random.Random) -> None:
    """Shuffled members give the same bytes."""
    names = list(value)
    shuffler.shuffle(names)

    assert canonical.encode(value) == canonical.encode({n: value[n] for n in names})


@given(_VALUES)
def test_canonical_bytes_read_back_to_themselves(value: Any) -> None:
    """Reading canonical bytes and writing them again changes nothing."""
    data = canonical.encode(value)

    assert data == canonical.encode(strict_json.loads(data))


@given(st.integers(-(10**40), 10**40))
def test_integers_print_exactly(value: int) -> None:
    """Integers of any size keep their digits."""
    assert str(value).encode() == canonical.encode(value)


@pytest.mark.slow
def test_a_hundred_thousand_generated_documents_agree_with_the_rfc_package() -> None:
    """Seeded random documents with astral names, edge floats and hard text: all equal."""
    source = random.Random(2)
    names = ["a", "é", "\ue000", "\ufb33", "\U0001f600", "\U00010000", "z", "", "10", "9", "A\uffff", "A\U0001f600"]

    def number() -> float:
        kind = source.random()
        if kind < 0.4:
            return struct.unpack("<d", struct.pack("<Q", source.getrandbits(64)))[0]
        if kind < 0.7:
            return float(source.getrandbits(source.randint(1, 75)))
        return source.choice((1, -1)) * source.random() * 10.0 ** source.randint(-12, 25)

    def finite() -> float:
        value = number()
        return value if math.isfinite(value) else 0.5

    def document(depth: int) -> Any:
        kind = source.random()
        if depth == 0 or kind < 0.3:
            return source.choice([None, True, 0, -5, 2**53 - 1, finite(), finite(), "x\u2028\x7f\x01", "🙂", '\\"/'])
        if kind < 0.5:
            return [document(depth - 1) for _ in range(source.randint(0, 4))]
        return {source.choice(names): document(depth - 1) for _ in range(source.randint(0, 5))}

    differing = [d for d in (document(4) for _ in range(100_000)) if rfc8785.dumps(d) != canonical.encode(d)]

    assert [] == differing
