"""Grader digests: what moves them, what does not, and that every supported Python agrees."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from golden.digest import grader_digest

PLAIN = b"def g(envelope):\n    return {'ok'} if envelope['text'] else set()\n"


def digest(source: bytes) -> str:
    """Return the digest of a module that imports nothing."""
    return grader_digest(source, {}, {})


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(b'"""Doc."""\n' + PLAIN, id="module docstring"),
        pytest.param(PLAIN.replace(b"    return", b'    "doc"\n    return'), id="function docstring"),
        pytest.param(b"# a comment\n\n\n" + PLAIN + b"\n# more\n", id="comments and blank lines"),
        pytest.param(PLAIN.replace(b"'", b'"'), id="quotes"),
        pytest.param(PLAIN.replace(b"{'ok'} if", b"({'ok'})   if"), id="parentheses and spaces"),
        pytest.param(PLAIN.replace(b"\n", b"\r\n"), id="line ends"),
        pytest.param(PLAIN.replace(b"'ok'", b"u'ok'"), id="u prefix"),
    ],
)
def test_another_spelling_is_the_same_code(source: bytes) -> None:
    """Positions, comments, docstrings and quotes leave no trace."""
    assert digest(PLAIN) == digest(source)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(PLAIN.replace(b"ok", b"okay"), id="text"),
        pytest.param(PLAIN.replace(b"if", b"if not"), id="condition"),
        pytest.param(PLAIN.replace(b"set()", b"{'ok'}"), id="branch"),
        pytest.param(b"X = 1\n" + PLAIN, id="statement"),
        pytest.param(PLAIN.replace(b"'ok'", b"b'ok'"), id="bytes"),
    ],
)
def test_other_code_is_another_digest(source: bytes) -> None:
    """Whatever can change a result moves the digest."""
    assert digest(PLAIN) != digest(source)


@pytest.mark.parametrize(
    ("one", "other"),
    [(b"1", b"1.0"), (b"1", b"True"), (b"'1'", b"1"), (b"1e400", b"1e-400"), (b"None", b"..."), (b"-0.0", b"0.0")],
)
def test_constants_are_told_apart(one: bytes, other: bytes) -> None:
    """Equal in Python is not the same in a digest."""
    assert digest(b"X = " + one) != digest(b"X = " + other)


def test_imported_modules_and_files_count() -> None:
    """The digest covers what the module imports and reads; CRLF in files counts as LF."""
    base = grader_digest(PLAIN, {"shared": b"X = 1"}, {"words.txt": b"a\nb"})

    assert base == grader_digest(PLAIN, {"shared": b"X = 1  # one"}, {"words.txt": b"a\r\nb"})
    assert base != grader_digest(PLAIN, {"shared": b"X = 2"}, {"words.txt": b"a\nb"})
    assert base != grader_digest(PLAIN, {"other": b"X = 1"}, {"words.txt": b"a\nb"})
    assert base != grader_digest(PLAIN, {"shared": b"X = 1"}, {"words.txt": b"a\nc"})


# Every construct whose syntax tree has changed between versions, or might: f-strings, match, walrus, star expressions, async, lambdas.
RICH = b'''\
"""A module that uses much of the language."""
import re
from os import path as p


class Reader(dict, metaclass=type):
    """Docs."""
    x: int = 1
    y: "str"

    @property
    def z(self, /, *a: int, k=None, **kw) -> set[str]:
        "doc only"


def g(envelope, case=None, *, limit: float = 1e-7):
    n = f"a{envelope!r:>{limit}}b" "c" f"{limit=}" f"{{}}" f"{limit:}" 'd'
    match envelope:
        case {"k": [1, *rest], **other} if (y := rest): pass
        case Reader(x=1) | None | "s" | -1: ...
        case _: return {b"x\\xff", 10**3, 1j, ..., -0.0, 0x1F, 1_000, "\\U0001f600", "\\ud800"}
    try:
        del n
    except (ValueError, TypeError) as e:
        raise RuntimeError from e
    else: assert limit, "no"
    finally: global q; q = lambda a, /, b=2, *c, d, **e: (a, *c)
    async def h():
        async with limit as l: await l
        return [i async for i in case if i] + [*{**case}] + [k for k in {v: w for v, w in case.items()}]
    for i in range(3): print(i, end="", sep=""); continue
    else: pass
    x = case[1:2, ::3] if not limit < 1 <= 2 is not None in [] else (yield)
    return {m[0]: m for m in re.finditer(r"\\d", "1")}
'''
RECORDED = "3641a6a6cb68ee04cf1b07213e59904a31b246f1b1b357e9d87544b157072c3d"


def test_a_recorded_digest_holds() -> None:
    """The digest of a rich module is the one that was recorded when the rule was published."""
    assert RECORDED == digest(RICH)


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_every_installed_python_gives_the_recorded_digest(version: str, tmp_path: Path) -> None:
    """Syntax trees differ between versions; digests do not."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"Python {version} is not installed")
    (tmp_path / "rich.py").write_bytes(RICH)
    code = (
        "import importlib.util, sys;"
        "spec = importlib.util.spec_from_file_location('digest', sys.argv[1]);"
        "m = importlib.util.module_from_spec(spec); spec.loader.exec_module(m);"
        "print(m.grader_digest(open(sys.argv[2], 'rb').read(), {}, {}))"
    )
    source = Path(__file__).parents[2] / "golden" / "digest.py"

    done = subprocess.run(
        [python, "-I", "-c", code, source, tmp_path / "rich.py"], capture_output=True, text=True, check=True
    )

    assert RECORDED == done.stdout.strip()


def interpreter(version: str) -> str | None:
    """Return an interpreter of a version: on the path, or where pyenv keeps them."""
    kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python3"))
    return str(kept[-1]) if kept else shutil.which(f"python{version}")
