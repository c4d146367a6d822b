"""The count of a run, on made-up results of CTest, GoogleTest and pytest."""
import json
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import results  # noqa: E402

GTEST = """<testsuites><testsuite name="Sum">
<testcase name="IsRight" classname="Sum" status="run" result="completed" timestamp="2026-11-01T10:00:00.000"/>
<testcase name="Each/0" classname="All/Sums" status="run" result="completed" timestamp="2026-11-01T10:00:00.000"/>
<testcase name="Holds" classname="Sums_RapidCheck" status="run" result="completed" timestamp="2026-11-01T10:00:00.000"/>
<testcase name="NeedsRoot" classname="Sum" status="run" result="skipped" timestamp="2026-11-01T10:00:00.000">
<skipped message="sum_test.cpp:3&#x0A;needs root"/></testcase>
<testcase name="DISABLED_Old" classname="Sum" status="notrun" result="suppressed" timestamp="1970-01-01T00:00:00.000"/>
</testsuite></testsuites>"""
PYTEST = """<testsuites><testsuite name="pytest">
<testcase classname="e2e.test_jobs" name="test_runs[two words]" file="e2e/test_jobs.py"/>
<testcase classname="e2e.test_jobs" name="test_pw" file="e2e/test_jobs.py">
<skipped type="pytest.skip" message="no pw.x">test_jobs.py:4: no pw.x</skipped></testcase>
</testsuite></testsuites>"""
SKIPPED = {"Sum.NeedsRoot": "needs root", "Sum.DISABLED_Old": "disabled in its source", "test_jobs.py::test_pw": "no pw.x"}
ALLOWED = "# why\nsum_test Sum.NeedsRoot: needs root\nsum_test Sum.DISABLED_Old: old\ne2e_jobs test_jobs.py::test_pw: needs: pw.x\n"


class Folder:
    """What a run leaves: a GoogleTest program, a Python file and a lint."""

    def __init__(self, path):
        self.path = path
        self.ran = {"sum_test": ('status="run"', ""), "e2e_jobs": ('status="run"', ""), "lint_x": ('status="run"', "")}
        self.registered = [
            {"name": "sum_test", "command": ["bin/sum_test"], "properties": [
                {"name": "ENVIRONMENT_MODIFICATION", "value": [f"GTEST_OUTPUT=set:xml:{path}/sum_test.xml"]}]},
            {"name": "e2e_jobs", "command": ["python3", f"--junitxml={path}/e2e_jobs.xml", "test_jobs.py"]},
            {"name": "lint_x", "command": [str(results.ROOT / "tests/lint/check_layers.py")]}]
        (path / "sum_test.xml").write_text(GTEST)
        (path / "e2e_jobs.xml").write_text(PYTEST)

    def finish(self):
        """Writes what CTest says."""
        cases = "".join(f'<testcase name="{name}" {status}>{inner}</testcase>' for name, (status, inner) in self.ran.items())
        (self.path / "ctest.xml").write_text(f'<testsuite name="x" time="75">{cases}</testsuite>')
        (self.path / "registered.json").write_text(json.dumps({"tests": self.registered}))

    def read(self):
        self.finish()
        return results.read_run(self.path)

    def may_skip(self, text):
        file = self.path / "may_skip"
        file.write_text(text)
        return results.check_allowed(self.read(), [file])

    def requirements(self, proof):
        file = self.path / "requirements.md"
        file.write_text(f"# Text\n\n| number | proof |\n|---|---|\n| M1 | {proof} |\n")
        return results.check_requirements(self.read(), file)

    def command(self, *more):
        self.finish()
        return subprocess.run([sys.executable, results.__file__, self.path, *more], capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def outcomes(run):
    return {case.name: case.outcome for case in run.cases}


def test_every_case_is_counted_and_every_skip_is_named(folder):
    done = folder.command()
    assert done.returncode == 0, done.stderr
    assert "3 test programs, 8 cases: 5 passed, 0 failed, 3 skipped, in 1 min 15 s" in done.stdout
    for name, reason in SKIPPED.items():
        assert f"{name}: {reason}\n" in done.stdout


def test_a_failed_case_fails_the_count(folder):
    (folder.path / "sum_test.xml").write_text(GTEST.replace(
        '<skipped message="sum_test.cpp:3&#x0A;needs root"/>', '<failure message="sum_test.cpp:3&#x0A;Expected: 2&#x0A;  Actual: 3"/>'))
    folder.ran["sum_test"] = ('status="fail"', "")
    done = folder.command()
    assert done.returncode == 1
    assert "sum_test Sum.NeedsRoot: Expected: 2 Actual: 3\n" in done.stdout


def test_a_program_that_fails_with_good_cases_or_leaves_none_is_a_failed_case(folder):
    folder.ran["sum_test"] = ('status="fail"', "<system-out>a leak</system-out>")
    (folder.path / "e2e_jobs.xml").unlink()
    folder.ran["e2e_jobs"] = ('status="fail"', "")
    run = folder.read()
    assert [(case.program, case.name) for case in run.cases if case.outcome == "failed"] == [("sum_test", "*"), ("e2e_jobs", "*")]
    assert run.problems == []  # told once


@pytest.mark.parametrize("content", [None, "", "<testsuites/>"])
def test_a_program_that_ran_without_results_or_without_cases_is_an_error(folder, content):
    (folder.path / "sum_test.xml").unlink() if content is None else (folder.path / "sum_test.xml").write_text(content)
    done = folder.command()
    assert done.returncode == 1
    assert "sum_test ran and" in done.stdout


def test_a_program_that_ctest_skips_has_no_passed_case(folder):
    folder.ran["sum_test"] = ('status="notrun"', '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
                              "<system-out>Running main()\nno GPU\nDone</system-out>")
    folder.registered[0]["properties"].append({"name": "SKIP_REGULAR_EXPRESSION", "value": ["no GPU"]})
    run = folder.read()
    assert {case.outcome for case in run.cases if case.program == "sum_test"} == {"skipped"}
    assert results.grouped(run.cases)[0] == "sum_test *: no GPU (5 cases)"


def test_cases_that_their_program_never_started_are_skipped(folder):
    (folder.path / "sum_test.xml").write_text(GTEST.replace("2026-11-01T10:00:00.000", results.NEVER_STARTED))
    assert {case.outcome for case in folder.read().cases if case.program == "sum_test"} == {"skipped"}


def test_a_program_that_is_missing_or_disabled_did_not_pass(folder):
    folder.ran["lint_x"] = ('status="notrun"', '<skipped message="Unable to find executable"/>')
    assert outcomes(folder.read())["*"] == "failed"
    folder.ran["lint_x"] = ('status="disabled"', "")
    assert outcomes(folder.read())["*"] == "skipped"


def test_a_python_file_that_skips_as_a_whole_is_named(folder):
    (folder.path / "e2e_jobs.xml").write_text(
        '<testsuites><testcase classname="" name="e2e.test_jobs" file="e2e/test_jobs.py"><skipped message="collection skipped">'
        "('/x/test_jobs.py', 2, 'Skipped: no namespaces')</skipped></testcase></testsuites>")
    assert results.Case("e2e_jobs", "test_jobs.py", "skipped", "no namespaces") in folder.read().cases


def test_what_the_list_names_may_be_skipped(folder):
    assert folder.may_skip(ALLOWED) == []
    assert folder.may_skip("sum_test Sum.NeedsRoot: root\nsum_test Sum.DISABLED_Old: old\ne2e_jobs test_jobs.py::test_pw: pw\n") == []


def test_a_new_skip_fails(folder):
    problems = folder.may_skip(ALLOWED.replace("sum_test Sum.NeedsRoot: needs root\n", ""))
    assert len(problems) == 1
    assert "sum_test Sum.NeedsRoot: needs root" in problems[0]


@pytest.mark.parametrize("line, said", [
    ("sum_test Sum.IsRight: slow", "sum_test Sum.IsRight did run"), ("sum_test Sum.Gone: old", "there is no test sum_test Sum.Gone"),
    ("sum_test *: all", "sum_test Sum.IsRight did run"), ("no_test *: all", "there is no test no_test *"),
    ("sum_test Sum.NeedsRoot", "not `program case: reason`")])
def test_the_list_only_shrinks(folder, line, said):
    problems = folder.may_skip(ALLOWED + line + "\n")
    assert problems and all(":5: " in problem for problem in problems)
    assert said in problems[0]


def test_the_list_is_asked_for_on_the_command_line(folder):
    (folder.path / "may_skip").write_text(ALLOWED)
    assert folder.command("--may-skip", folder.path / "may_skip").returncode == 0
    (folder.path / "may_skip").write_text("")
    assert folder.command("--may-skip", folder.path / "may_skip").returncode == 1


@pytest.mark.parametrize("name", [
    "Sum.IsRight", "Sum.*", "Sums.Each", "Su*.*", "test_jobs.py", "test_jobs.py::test_runs", "test_runs", "e2e_jobs",
    "tests/lint/check_layers.py", "tests/bench/routing"])
def test_a_requirement_is_proven_by_what_passed(folder, name):
    assert folder.requirements(f"what it shows: `{name}`") == ([], [])


@pytest.mark.parametrize("name", ["Sum.IsGone", "Gone.*", "test_gone.py", "test_jobs.py::test_gone", "tests/bench/gone", "tests/lint"])
def test_a_requirement_whose_test_vanished_fails(folder, name):
    problems, elsewhere = folder.requirements(f"`Sum.IsRight`, `{name}`")
    assert elsewhere == [] and len(problems) == 1
    assert f"requirements.md:5: no test that ran is called `{name}`" in problems[0]


def test_a_requirement_names_a_test_or_says_not_yet(folder):
    assert "names no test" in folder.requirements("by hand")[0][0]
    assert folder.requirements("not yet: nothing bills") == ([], [])


def test_a_requirement_whose_test_was_skipped_is_told_apart(folder):
    problems, elsewhere = folder.requirements("`test_pw`")
    assert problems == [] and "`test_pw` was skipped" in elsewhere[0]


def test_only_a_complete_run_proves_requirements(folder):
    del folder.ran["lint_x"]
    assert "complete run" in folder.requirements("`Sum.IsRight`")[0][0]


def test_a_test_in_the_sources_that_was_no_case_is_found(folder, tmp_path):
    (tmp_path / "tests").mkdir()
    source = tmp_path / "tests/sum_test.cpp"
    source.write_text("TEST(Sum, IsRight)\n{\n}\nTEST_P(Sums, Each)\n{\n}\n"
                      "RC_GTEST_FIXTURE_PROP(Sums, Holds, ())\n{\n}\n#if 0\nTEST(Sum, Hidden)\n{\n}\n#endif\n")
    (tmp_path / "tests/test_jobs.py").write_text("def test_runs():\n    pass\n\n\ndef test_filtered():\n    pass\n")
    problems = results.check_complete(folder.read(), tmp_path)
    assert [line.split(" was ")[0] for line in problems] == [
        "tests/sum_test.cpp: Sum.Hidden", "tests/test_jobs.py: test_jobs.py::test_filtered"]
    folder.registered[2]["properties"] = [{"name": "REQUIRED_FILES", "value": [str(source)]}]
    assert len(results.check_complete(folder.read(), tmp_path)) == 1
    del folder.ran["lint_x"]
    assert results.check_complete(folder.read(), tmp_path) == ["not everything that CTest knows ran"]


def test_a_folder_without_results_is_told(tmp_path):
    done = subprocess.run([sys.executable, results.__file__, tmp_path], capture_output=True, text=True)
    assert done.returncode == 2
    assert "no account of a run" in done.stderr
