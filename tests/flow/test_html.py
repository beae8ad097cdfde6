"""The page of a diff: one file that asks nobody, in which nothing that a model wrote is markup."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.capture.server import say
from tests.flow.conftest import WHICHCLOCK, Project

HOSTILE = "<img src=x onerror=alert(1)></script><script>document.title='owned'</script> \u202e \x1b[31m \u2028 end"


@pytest.fixture
def page(recorded: Project) -> Path:
    """The page of a diff in which the model answered with something hostile."""
    recorded.server.fallback = lambda asked: say(HOSTILE)
    recorded.ok("capture", "--mode", "live", "--quiet")
    recorded.ok("diff", "main", "--html", "page.html", "--quiet", code=1)
    return recorded.root / "page.html"


def test_the_page_is_the_same_for_equal_inputs(page: Path) -> None:
    """No clock, no host, no chance."""
    first = page.read_bytes()
    subprocess.run(
        [WHICHCLOCK, "diff", "main", "--html", "again.html"], cwd=page.parent, capture_output=True, check=False
    )

    assert first == (page.parent / "again.html").read_bytes()


def test_the_page_asks_nobody(page: Path) -> None:
    """Nothing in it names another file, and its policy would let no request out."""
    text = page.read_text("utf-8")

    assert [] == re.findall(r"""(?:src|href|action)\s*=\s*["'](?!#|data:)""", text)
    assert "default-src &#39;none&#39;" in text


def test_what_a_model_wrote_is_no_markup(page: Path) -> None:
    """Its tags stand in the data with their brackets escaped: the one script is ours."""
    text = page.read_text("utf-8")

    assert "<img" not in text
    assert 2 == len(re.findall(r"<script", text))
    assert "\\u003cimg src=x onerror=alert(1)\\u003e" in text


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
def test_a_browser_shows_the_cases_and_runs_nothing_of_theirs(page: Path, tmp_path: Path) -> None:
    """Both cases are in the document that a real browser makes of it, and its title is still ours."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run(
        ["chromium", *flags, "--dump-dom", page.as_uri()], capture_output=True, check=False, timeout=120, text=True
    )

    assert "refuse_invented_order_id" in done.stdout
    assert "greet" in done.stdout
    assert "<title>owned" not in done.stdout
    assert "onerror=" not in re.sub(r"<script.*?</script>", "", done.stdout, flags=re.DOTALL).replace("&lt;img", "")


def test_a_page_of_another_name_is_refused(recorded: Project) -> None:
    """The name says what it is."""
    assert 2 == recorded.run("diff", "main", "--html", "page.txt").code
