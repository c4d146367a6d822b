"""The lint of tests, on made-up trees: what does not run or cannot fail is found, and nothing else."""
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_tests  # noqa: E402

GOOD_CPP = 'TEST(Sum, IsRight)\n{\n    EXPECT_EQ(1 + 1, 2);\n}\n'
GOOD_PYTHON = "def test_sum():\n    assert 1 + 1 == 2\n"


class Tree:
    """A repository with one good test of each kind, and what its build knows."""

    def __init__(self, root):
        self.root = root
        self.known = check_tests.Known([], {})
        self.write("README.md", "`tests/run --preset asan`, `tests/bench/speed`\n")
        self.write("CMakePresets.json", json.dumps({"configurePresets": [{"name": "base", "hidden": True}, {"name": "asan"}]}))
        self.write("tests/bench/speed", "#!/bin/sh\n# usage: speed\n").chmod(0o755)
        self.add_cpp("tests/a/sum_test.cpp", GOOD_CPP)
        self.add_python("tests/e2e/test_sum.py", GOOD_PYTHON)
        seed = self.write("tests/fuzz/corpus/parse/seed", "1")
        self.known.targets[self.write("tests/fuzz/parse.cpp", "int f();\n")] = {"fuzz_parse"}
        self.known.tests.append({"name": "fuzz_parse", "command": ["bin/fuzz_parse", str(seed)]})

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def add_cpp(self, name, text):
        """A C++ test, compiled into a registered program."""
        path = self.write(name, text)
        self.known.targets[path] = {path.stem}
        results = [{"name": "ENVIRONMENT_MODIFICATION", "value": [f"GTEST_OUTPUT=set:xml:{path.stem}.xml"]}]
        self.known.tests.append({"name": path.stem, "command": [f"bin/{path.stem}"], "properties": results})

    def add_python(self, name, text):
        """A registered Python test."""
        path = self.write(name, text)
        self.known.tests.append({"name": path.stem, "command": ["python3", "--junitxml=x.xml", str(path)]})

    def problems(self):
        return check_tests.check(self.root, self.known)


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def only(problems, *words):
    """The single problem holds all the words."""
    assert len(problems) == 1, problems
    assert all(word in problems[0] for word in words), problems


def test_nothing_is_said_of_a_good_tree(tree):
    assert tree.problems() == []


def test_a_cpp_test_that_is_not_compiled_is_found(tree):
    tree.write("tests/a/more_test.cpp", GOOD_CPP)
    only(tree.problems(), "tests/a/more_test.cpp", "compiled into no program")


def test_a_cpp_test_whose_program_ctest_does_not_run_is_found(tree):
    tree.known.targets[tree.write("tests/a/more_test.cpp", GOOD_CPP)] = {"more"}
    only(tree.problems(), "tests/a/more_test.cpp", "which CTest does not run")


def test_tests_in_a_cpp_file_of_another_name_are_found(tree):
    tree.write("tests/a/more.cpp", GOOD_CPP)
    only(tree.problems(), "tests/a/more.cpp", "compiled into no program")


def test_sources_of_a_unity_build_count_as_compiled(tree):
    source = tree.root / "tests/a/sum_test.cpp"
    unity = tree.write("build/unity_0_cxx.cxx", f'#include "{source}"\n')
    commands = [{"file": str(unity), "command": "c++ -o tests/a/CMakeFiles/sum_test.dir/Unity/unity_0_cxx.cxx.o -c x"}]
    assert check_tests.compiled(commands)[source] == {"sum_test"}


def test_a_test_that_cannot_be_built_here_is_accounted_for(tree):
    path = tree.write("tests/a/gpu_test.cpp", GOOD_CPP)
    tree.known.tests.append({"name": "gpu_test", "properties": [{"name": "REQUIRED_FILES", "value": [str(path)]}]})
    assert tree.problems() == []


def test_an_unregistered_python_test_is_found(tree):
    tree.write("tests/e2e/test_more.py", GOOD_PYTHON)
    only(tree.problems(), "tests/e2e/test_more.py", "CTest does not run it")


def test_a_test_that_leaves_no_results_is_found(tree):
    tree.known.tests[1]["command"].remove("--junitxml=x.xml")
    only(tree.problems(), "tests/e2e/test_sum.py", "leaves no results")


def test_a_fuzz_target_that_does_not_run_is_found(tree):
    del tree.known.tests[2]
    only(tree.problems(), "tests/fuzz/parse.cpp", "fathom_fuzz")


def test_seeds_that_are_not_given_and_seeds_of_nothing_are_found(tree):
    tree.write("tests/fuzz/corpus/parse/new", "2")
    tree.write("tests/fuzz/corpus/gone/old", "3")
    problems = tree.problems()
    assert [line.split(":")[0] for line in problems] == ["tests/fuzz/corpus/parse/new", "tests/fuzz/corpus/gone"]


def test_benchmarks_and_presets_that_readme_does_not_name_are_found(tree):
    tree.write("README.md", "nothing\n")
    problems = tree.problems()
    assert len(problems) == 2
    assert problems[0].startswith("tests/bench/speed: ") and "--preset asan" in problems[1]


def test_commands_that_readme_names_and_nobody_has_are_found(tree):
    tree.write("README.md", "`tests/run --preset asan`, `tests/bench/speed`, `tests/bench/gone`\n")
    only(tree.problems(), "README.md", "tests/bench/gone")


def test_a_lint_that_ctest_does_not_run_is_found(tree):
    tree.write("tests/lint/check_more", "#!/bin/sh\n").chmod(0o755)
    only(tree.problems(), "tests/lint/check_more", "CTest does not run it")


def test_a_source_that_nobody_compiles_is_found(tree):
    tree.write("tests/bench/lonely_bench.cpp", "int main() {}\n")
    only(tree.problems(), "tests/bench/lonely_bench.cpp", "compiled into nothing")


@pytest.mark.parametrize("body", ["", "run();", "// EXPECT_EQ(1, 2);", 'log("EXPECT_EQ(1, 2)");', "SUCCEED();", "helper();"])
def test_a_cpp_test_without_an_assertion_is_found(tree, body):
    tree.add_cpp("tests/a/more_test.cpp", f"void helper()\n{{\n    run();\n}}\nTEST(More, Runs)\n{{\n    {body}\n}}\n")
    only(tree.problems(), "tests/a/more_test.cpp:5: ", "More.Runs asserts nothing")


@pytest.mark.parametrize("body", ["EXPECT_TRUE(true);", "ASSERT_FALSE(false);", "EXPECT_EQ(1, 1);", "EXPECT_GE(all.size(), 0U);"])
def test_a_cpp_assertion_that_is_always_true_is_found_and_counts_for_nothing(tree, body):
    tree.add_cpp("tests/a/more_test.cpp", f"TEST(More, Runs)\n{{\n    {body}\n}}\n")
    problems = tree.problems()
    assert len(problems) == 2
    assert "tests/a/more_test.cpp:3: " in problems[0] and "always true" in problems[0]
    assert "asserts nothing" in problems[1]


def test_an_assertion_in_a_helper_counts_wherever_the_helper_is(tree):
    tree.write("tests/support/checks.hpp", "void check_all(int x);\n")
    tree.write("tests/support/checks.cpp", "void check_one(int x) { EXPECT_EQ(x, 2); }\nvoid check_all(int x) { check_one(x); }\n")
    tree.known.targets[tree.root / "tests/support/checks.cpp"] = {"support"}
    test = "TEST(More, Runs)\n{\n    check_all(2);\n}\n"
    tree.add_cpp("tests/a/more_test.cpp", '#include "tests/support/checks.hpp"\n' + test)
    assert tree.problems() == []
    tree.add_cpp("tests/a/other_test.cpp", test)  # does not include it
    problems = tree.problems()
    assert "tests/a/other_test.cpp:1: More.Runs asserts nothing" in problems[0]


@pytest.mark.parametrize("body", ["pass", "run()", "assert True", 'assert (1 == 2, "text")', "assert run() or 1"])
def test_a_python_test_without_an_assertion_is_found(tree, body):
    tree.add_python("tests/e2e/test_more.py", f"def test_it(run):\n    {body}\n")
    assert "tests/e2e/test_more.py:1: test_it asserts nothing; give it an assertion" in tree.problems()


@pytest.mark.parametrize("body", ["assert run()", "with pytest.raises(OSError):\n        run()", "helpers.check(1)"])
def test_a_python_test_asserts_by_itself_or_by_a_helper(tree, body):
    tree.write("tests/e2e/helpers.py", "def check(x):\n    if x != 1:\n        raise AssertionError(x)\n")
    tree.add_python("tests/e2e/test_more.py", f"import helpers\n\n\ndef test_it(run):\n    {body}\n")
    assert tree.problems() == []


def test_a_python_test_that_another_of_its_name_replaces_is_found(tree):
    tree.add_python("tests/e2e/test_more.py", GOOD_PYTHON + "\n\n" + GOOD_PYTHON)
    problems = tree.problems()
    assert len(problems) == 2 and all("two tests are called test_sum" in line for line in problems)


def test_a_proof_that_no_test_is_called_is_found(tree):
    table = "| n | proof |\n|---|---|\n| 1 | `Sum.*`, `Sum.IsRight`, `test_sum`, `fuzz_parse`, `tests/bench/speed`, not yet more |\n"
    tree.write("docs/requirements.md", table)
    assert tree.problems() == []
    tree.write("docs/requirements.md", table + "| 2 | `Sum.IsRight`, `Summe.*` |\n")
    only(tree.problems(), "docs/requirements.md:4", "no test is called `Summe.*`")


def test_a_cpp_test_that_lies_elsewhere_than_its_source_is_found(tree):
    tree.write("a/b/more.cpp", "int f();\n")
    tree.write("a/sum.cpp", "int g();\n")
    tree.add_cpp("tests/a/more_test.cpp", GOOD_CPP)
    only(tree.problems(), "tests/a/more_test.cpp: belongs in tests/a/b")


def test_a_cpp_test_of_several_sources_lies_in_their_folder(tree):
    tree.write("a/b/more.cpp", "int f();\n")
    tree.write("a/sum.hpp", "int g();\n")
    tree.add_cpp("tests/a/b/several_test.cpp", GOOD_CPP)
    assert tree.problems() == []
    tree.add_cpp("tests/a/c/several_test.cpp", GOOD_CPP)
    only(tree.problems(), "tests/a/c/several_test.cpp: there are no sources in a/c")
