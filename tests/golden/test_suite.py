"""Suites are found upwards, loaded whole, and refused whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from golden.suite import find_config, load_suite
from snapshots.errors import ConfigError, UsageError
from tests.golden.conftest import CONFIG, Project


def test_the_configuration_is_found_upwards(project: Project) -> None:
    """From any folder below it."""
    below = project.root / "a" / "b"
    below.mkdir(parents=True)

    assert project.root.resolve() / "whichclock.toml" == find_config(below)


def test_a_pyproject_with_the_table_is_a_configuration(tmp_path: Path) -> None:
    """One without it is passed by."""
    (tmp_path / "pyproject.toml").write_text('[tool.whichclock]\nsuite = "s"\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("[tool.other]\n")

    assert tmp_path.resolve() / "pyproject.toml" == find_config(inner)


def test_whichclock_toml_wins_over_the_pyproject_beside_it(project: Project) -> None:
    """The more special file is meant."""
    project.write("pyproject.toml", '[tool.whichclock]\nsuite = "other"\n')

    assert "whichclock.toml" == find_config(project.root).name


def test_an_explicit_configuration_is_the_one(project: Project) -> None:
    """And it has to exist."""
    other = project.write("evals/other.toml", CONFIG)

    assert other == find_config(explicit=other)
    with pytest.raises(UsageError, match="no configuration file"):
        find_config(explicit=project.root / "none.toml")


def test_no_configuration_at_all_says_what_to_write(tmp_path: Path) -> None:
    """Code 2, with a hint."""
    with pytest.raises(UsageError) as caught:
        find_config(tmp_path)

    assert "name it with --config FILE" in caught.value.hint


def test_errors_in_a_pyproject_name_the_table(tmp_path: Path) -> None:
    """Pointers count from the top of the file."""
    config = tmp_path / "pyproject.toml"
    config.write_text('[tool.whichclock]\nsuite = "s"\ncasez = ["x"]\n')
    with pytest.raises(ConfigError) as caught:
        load_suite(config, environ={})

    assert "pyproject.toml: unknown key 'casez' at /tool/whichclock/casez" == caught.value.message
    assert "did you mean 'cases'?" == caught.value.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("suite = \n", "whichclock.toml: not TOML: Invalid value (at line 1, column 9)"),
        ("", "whichclock.toml: no member 'suite'"),
        (CONFIG.replace('"support"', "5"), "whichclock.toml: found 5, expected text at /suite"),
        (
            CONFIG + "timeout = 5\n",
            "whichclock.toml: unknown key 'timeout' of a target of type openai at /targets/gpt/timeout",
        ),
        (
            CONFIG + "params = {a = 2026-01-01}\n",
            "whichclock.toml: type date has no JSON form at /targets/gpt/params/a",
        ),
        (CONFIG + "params = {a = nan}\n", "whichclock.toml: nan is not a JSON number at /targets/gpt/params/a"),
        (CONFIG + "timeout_s = 0\n", "whichclock.toml: found 0, expected more than 0 at /targets/gpt/timeout_s"),
        (CONFIG + "[gates]\npass_rate = 95\n", "whichclock.toml: found 95, expected at most 1 at /gates/pass_rate"),
        (CONFIG + "[defaults]\ntargets = ['gtp']\n", "whichclock.toml: no target 'gtp' at /defaults/targets/0"),
        ('suite = "s"\ncases = ["x"]\n', "whichclock.toml: no member 'targets'"),
        ('targets = 5\nsuite = "s"\n', "whichclock.toml: found 5, expected a mapping at /targets"),
        (
            'suite = "s"\ncases = ["x"]\n[targets]\n',
            "whichclock.toml: found {}, expected at least one member at /targets",
        ),
        (CONFIG.replace("cases/*", "nothing/*.yaml"), "whichclock.toml: 'nothing/*.yaml' matches no file at /cases/0"),
        (CONFIG.replace("cases/*", "../*.yaml"), "whichclock.toml: '../*.yaml' leads outside the project at /cases/0"),
        (
            CONFIG.replace("[targets", 'graders = ["g.py"]\n[targets'),
            "whichclock.toml: 'g.py' is no file at /graders/0",
        ),
    ],
)
def test_what_is_wrong_in_the_configuration_is_named(project: Project, text: str, message: str) -> None:
    """File, pointer, found, expected."""
    project.config(text)
    project.cases({"id": "c", "prompt": "hi"})

    assert message == project.refused().message


def test_zero_cases_are_nothing_to_do(project: Project) -> None:
    """Code 2: a suite that checks nothing must not pass."""
    project.write("cases/a.yaml", "cases: []\n")

    assert "whichclock.toml: nothing to do: the files of the suite hold no case" == project.refused().message


def test_ids_are_unique_over_all_files_and_both_places_are_named(project: Project) -> None:
    """The second is where the error is."""
    project.write("cases/a.yaml", "\n- {id: same, prompt: p}\n")
    project.write("cases/b.jsonl", '{"id":"same","prompt":"p"}')

    assert "cases/b.jsonl:1: id 'same' is already used at cases/a.yaml:2 at /id" == project.refused().message


def test_ids_that_differ_only_in_normal_form_are_reported_and_kept_apart(project: Project) -> None:
    """A composed and a decomposed é are two cases."""
    project.write("cases/a.jsonl", '{"id":"caf\u00e9","prompt":"p"}\n{"id":"cafe\u0301","prompt":"p"}\n')
    suite = project.load()

    assert 2 == len(suite.cases)
    assert (
        "the ids at cases/a.jsonl:1 and cases/a.jsonl:2 differ only in Unicode normal form; they stay two cases",
    ) == suite.warnings


@pytest.mark.parametrize("case_id", ["a/b", "..", "CON", "a\u0000b", "x" * 5000, "Row ROW", "ü🙂", " "])
def test_ids_hold_any_characters(project: Project, case_id: str) -> None:
    """They never become paths."""
    project.cases({"id": case_id, "prompt": "p"}, {"id": case_id.upper() + "!", "prompt": "p"})

    assert case_id == project.load().cases[0].id


def test_files_stand_in_the_order_of_the_globs_and_then_of_their_names(project: Project) -> None:
    """A file that two globs match is read once."""
    for name in ("b", "a", "c/d"):
        project.write(f"cases/{name}.yaml", f"- {{id: {name}, prompt: p}}\n")
    project.config(CONFIG.replace('["cases/*"]', '["cases/c/*.yaml", "cases/**/*.yaml"]'))

    assert ["c/d", "a", "b"] == [case.id for case in project.load().cases]


def test_a_link_to_a_case_file_outside_is_refused(project: Project) -> None:
    """A glob does not leave the project by a link."""
    outside = project.root.parent / f"{project.root.name}-outside.yaml"
    outside.write_text("- {id: a, prompt: p}\n")
    (project.root / "cases").mkdir()
    (project.root / "cases" / "l.yaml").symlink_to(outside)

    assert "is a symbolic link to a file outside the project" in project.refused().message


def test_the_store_is_the_option_then_the_variable_then_the_configuration(project: Project) -> None:
    """The nearest wins; without any it is `snapshots` beside the configuration."""
    project.cases({"id": "c", "prompt": "hi"})
    default = project.load().snapshots
    project.config('snapshots = "store"\n' + CONFIG)
    configured = project.load().snapshots
    project.environ = {"WHICHCLOCK_SNAPSHOTS": "/var/named"}

    assert (project.root.resolve() / "snapshots", project.root.resolve() / "store") == (default, configured)
    assert Path("/var/named") == project.load().snapshots
    assert Path("given") == project.load(snapshots=Path("given")).snapshots


def test_limits_and_gates_are_read(project: Project) -> None:
    """And have defaults."""
    project.cases({"id": "c", "prompt": "hi"})
    plain = project.load()
    project.config(CONFIG + "[gates]\npass_rate = 0.95\n[grade]\ntimeout_s = 2\nmemory_mb = 64\n")
    suite = project.load()

    assert (None, 5.0, 1024) == (plain.pass_rate, plain.grader_timeout_s, plain.grader_memory_mb)
    assert (0.95, 2.0, 64) == (suite.pass_rate, suite.grader_timeout_s, suite.grader_memory_mb)


def test_grader_files_are_found_by_glob(project: Project) -> None:
    """Each once, sorted."""
    project.cases({"id": "c", "prompt": "hi"})
    for name in ("b", "a"):
        project.write(f"graders/{name}.py", "")
    project.config(CONFIG.replace("[targets", 'graders = ["graders/*.py", "graders/a.py"]\n[targets', 1))

    assert ["a.py", "b.py"] == [path.name for path in project.load().graders]


@pytest.mark.parametrize("name", ["snapshots", "results"])
def test_a_folder_that_no_system_can_name_is_refused(project: Project, name: str) -> None:
    """A NUL ends a path for the system; it is refused by its place."""
    project.config(f'{name} = "a\\u0000b"\n' + CONFIG)

    with pytest.raises(ConfigError, match=f"/{name}"):
        project.load()


def test_trials_have_a_limit(project: Project) -> None:
    """A slip of the finger does not plan a billion calls."""
    project.write("cases/a.json", '[{"id": "a", "prompt": "x", "trials": 10001}]')

    with pytest.raises(ConfigError, match="at most 10000"):
        project.load()
