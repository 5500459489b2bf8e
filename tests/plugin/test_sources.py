"""Where an option's value comes from: command line, then environment, then ini."""

from __future__ import annotations

import pytest

from .helpers import DRAFT, OTHER, TARGET, changed, options, outcomes, refused, report

REPORT = "--eagle-report=json=report.json"


def test_environment(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAGLE_CONTRACT_CKPT", str(DRAFT))
    monkeypatch.setenv("EAGLE_CONTRACT_TARGET", str(TARGET))
    monkeypatch.setenv("EAGLE_CONTRACT_ENGINE", "sglang")
    monkeypatch.setenv("EAGLE_CONTRACT_REPORT", "json=report.json")
    result = pytester.runpytest_inprocess()
    assert result.ret == 0
    assert ("layers.engine", "sglang 0.5.23") in outcomes(report(result, pytester.path))


@pytest.mark.parametrize("between", [";", "\n", " ; \n"])
def test_several_values_in_one_variable(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, between: str
) -> None:
    monkeypatch.setenv("EAGLE_CONTRACT_ENGINE", f"sglang{between}vllm>=0.30,<0.33:v1")
    result = pytester.runpytest_inprocess(*options(engine=""), REPORT)
    subjects = {subject for _, subject in outcomes(report(result, pytester.path))}
    assert subjects == {"files", "sglang 0.5.23", "vllm 0.32.0 v1"}


def test_colon_does_not_part_values(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EAGLE_CONTRACT_CKPT", "hf://no-such-org/no-such-draft")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    line = refused(pytester.runpytest_subprocess("-p", "no:cacheprovider"))
    assert "hf://no-such-org/no-such-draft" in line


def test_empty_variable_gives_nothing(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EAGLE_CONTRACT_CKPT", " ")
    assert pytester.runpytest_inprocess().ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize("word", ["0", "false", "no", "off"])
def test_flag_in_the_environment(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    pytester.makeini("[pytest]\neagle_suite = true")
    file = pytester.makepyfile("def test_mine(): pass")
    monkeypatch.setenv("EAGLE_CONTRACT_SUITE", word)
    pytester.runpytest_inprocess(*options(), file).assert_outcomes(passed=1)
    monkeypatch.setenv("EAGLE_CONTRACT_SUITE", "yes")
    assert pytester.runpytest_inprocess(*options(), file).parseoutcomes()["passed"] > 1


def test_flag_that_is_no_word(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAGLE_CONTRACT_SUITE", "maybe")
    line = refused(pytester.runpytest_inprocess(*options()))
    assert line == "EAGLE_CONTRACT_SUITE: 'maybe' cannot be used: write true or false"


@pytest.mark.parametrize("kind", ["ini", "toml", "native toml"])
def test_ini(pytester: pytest.Pytester, kind: str) -> None:
    changed(pytester.path / "build" / "draft")
    if kind == "ini":
        pytester.makeini(
            "[pytest]\neagle_ckpt = build/draft\neagle_max_examples = 7\neagle_engine =\n"
            "    sglang\n    vllm\neagle_full_scan = false\neagle_report = json=report.json"
        )
    else:
        native = kind == "native toml"
        lists = '["sglang", "vllm"]', '["build/draft"]', '["json=report.json"]'
        pytester.makepyprojecttoml(
            f"""
            [tool.pytest{"" if native else ".ini_options"}]
            eagle_ckpt = {lists[1]}
            eagle_max_examples = "7"
            eagle_engine = {lists[0]}
            eagle_full_scan = {"false" if native else '"false"'}
            eagle_report = {lists[2]}
            """
        )
    result = pytester.runpytest_inprocess()
    subjects = {subject for _, subject in outcomes(report(result, pytester.path))}
    assert subjects == {"files", "sglang 0.5.23", "vllm 0.32.0 v2"}
    name = "tox.ini" if kind == "ini" else "pyproject.toml"
    result.stdout.fnmatch_lines([f"eagle: max_examples = 7 (eagle_max_examples in {name})"])


def test_paths_of_an_ini_file_count_from_it(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(pytester.path / "draft")
    (pytester.path / "known.toml").write_text("")
    pytester.makeini(
        "[pytest]\neagle_ckpt = draft\neagle_known_failures = known.toml\n"
        f"eagle_target = {TARGET}\neagle_report = json=report.json"
    )
    monkeypatch.chdir(pytester.mkdir("below"))
    result = pytester.runpytest_inprocess()
    assert result.ret == 0
    assert report(result, pytester.path)["checkpoint"]["path"] == str(pytester.path / "draft")


def test_precedence(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makeini(f"[pytest]\neagle_ckpt = {OTHER}\neagle_trainer = speculators")
    monkeypatch.setenv("EAGLE_CONTRACT_TRAINER", "specforge")
    result = pytester.runpytest_inprocess(
        f"--eagle-ckpt={DRAFT}", f"--eagle-target={TARGET}", "-k", "mapping"
    )
    result.stdout.fnmatch_lines(
        [
            f"eagle: ckpt = {DRAFT} (--eagle-ckpt)",
            f"eagle: target = {TARGET} (--eagle-target)",
            "eagle: trainer = specforge (EAGLE_CONTRACT_TRAINER)",
        ]
    )
    monkeypatch.delenv("EAGLE_CONTRACT_TRAINER")
    result = pytester.runpytest_inprocess("-k", "mapping")
    result.stdout.fnmatch_lines(
        [
            f"eagle: ckpt = {OTHER} (eagle_ckpt in tox.ini)",
            "eagle: trainer = speculators (eagle_trainer in tox.ini)",
        ]
    )


def test_header_shows_values_as_they_were_written(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(
        *options(engine="vllm==0.32.0:v2"),
        "--eagle-engine=sglang",
        "--eagle-aux-layers=out:1,3,4",
        "--eagle-report=md=a.md",
        "-k",
        "mapping.range",
    )
    result.stdout.fnmatch_lines(
        [
            "eagle: engine = vllm==0.32.0:v2, sglang (--eagle-engine)",
            "eagle: aux_layers = out:1,3,4 (--eagle-aux-layers)",
            "eagle: report = md=a.md (--eagle-report)",
        ]
    )


def test_bad_ini_value_names_its_place(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\neagle_max_examples = few")
    line = refused(pytester.runpytest_inprocess())
    assert line.startswith("eagle_max_examples in tox.ini: 'few' cannot be used: ")


def test_help_lists_every_option(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--help")
    result.stdout.fnmatch_lines(["EAGLE-3 contracts:", "*--eagle-ckpt=PATH_OR_HF_URI*"])


MINE = "def test_mine(): pass"
CONTRACT = "*eagle-contract::mapping.offsets[[]files[]] PASSED*"


def set_for_all(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    if where == "environment":
        monkeypatch.setenv("EAGLE_CONTRACT_CKPT", str(DRAFT))
    elif where == "PYTEST_ADDOPTS":
        monkeypatch.setenv("PYTEST_ADDOPTS", f"--eagle-ckpt={DRAFT}")
    else:
        key = f"addopts = --eagle-ckpt={DRAFT}" if where == "addopts" else f"eagle_ckpt = {DRAFT}"
        pytester.makeini(f"[pytest]\ntestpaths = tests\n{key}")


@pytest.mark.parametrize("where", ["ini", "environment", "addopts", "PYTEST_ADDOPTS"])
@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["", "xdist"])
def test_a_draft_set_for_every_run_is_judged_beside_the_tests(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, where: str, workers: list[str]
) -> None:
    set_for_all(pytester, monkeypatch, where)
    (pytester.mkdir("tests") / "test_mine.py").write_text(MINE)
    result = pytester.runpytest_subprocess("-v", *workers)
    assert result.ret == 0
    result.stdout.fnmatch_lines_random(["*tests/test_mine.py::test_mine*", "VERDICT: *"])


def test_paths_still_run_alone(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    set_for_all(pytester, monkeypatch, "ini")
    tests = pytester.mkdir("tests")
    (tests / "test_mine.py").write_text(MINE)
    pytester.runpytest_inprocess(tests).assert_outcomes(passed=1)
    result = pytester.runpytest_inprocess("--eagle-suite", tests, "-v")
    result.stdout.fnmatch_lines([CONTRACT, "*::test_mine PASSED*"])


@pytest.mark.parametrize("typed", [[f"--eagle-ckpt={OTHER}"], ["--eagle-suite"]])
def test_what_is_typed_runs_the_contracts_alone(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, typed: list[str]
) -> None:
    set_for_all(pytester, monkeypatch, "ini")
    (pytester.mkdir("tests") / "test_mine.py").write_text("raise RuntimeError")
    result = pytester.runpytest_inprocess(*typed, "-v")
    assert result.ret == 0
    result.stdout.fnmatch_lines([CONTRACT])


def test_suite_set_for_every_run_replaces_no_test(pytester: pytest.Pytester) -> None:
    pytester.makeini(f"[pytest]\neagle_suite = true\neagle_target = {TARGET}")
    pytester.makeconftest(
        f"""
        import pytest

        @pytest.fixture(scope="session")
        def eagle_checkpoint():
            return {str(DRAFT)!r}
        """
    )
    pytester.makepyfile(MINE)
    result = pytester.runpytest_inprocess("-v")
    assert result.ret == 0
    result.stdout.fnmatch_lines([CONTRACT, "*::test_mine PASSED*"])


PATHS = ("ckpt", "target", "token_map", "prompts", "known_failures")


@pytest.mark.parametrize("name", PATHS)
def test_path_that_is_missing_is_named_with_its_option(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    given = options(None if name == "ckpt" else DRAFT, target=None)
    option = f"--eagle-{name.replace('_', '-')}"
    line = refused(pytester.runpytest_inprocess(*given, f"{option}=no/such"))
    assert line.startswith(f"{option}: no/such: ")
    monkeypatch.setenv(f"EAGLE_CONTRACT_{name.upper()}", "no/such")
    line = refused(pytester.runpytest_inprocess(*given))
    assert line.startswith(f"EAGLE_CONTRACT_{name.upper()}: no/such: ")
    monkeypatch.delenv(f"EAGLE_CONTRACT_{name.upper()}")
    pytester.makeini(f"[pytest]\neagle_{name} = no/such")
    line = refused(pytester.runpytest_inprocess(*given))
    assert line.startswith(f"eagle_{name} in tox.ini: {pytester.path / 'no/such'}: ")


def test_ini_of_a_wrong_type_is_named(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\neagle_full_scan = maybe")
    line = refused(pytester.runpytest_inprocess(*options()))
    assert line == "eagle_full_scan in tox.ini: invalid truth value 'maybe'"
