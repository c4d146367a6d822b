#!/usr/bin/env python3
"""A test that exists runs, and can fail: check_tests.py BUILD_FOLDER

Compares every C++ and Python test, fuzz target, benchmark and command under tests/ with what is compiled
(compile_commands.json), what CTest runs and what README names; looks for tests that lie elsewhere than what they test, or
assert nothing (assertions.py), and for proofs in docs/requirements.md that no test is called.
"""
import dataclasses
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys

import assertions

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from results import BENCHMARK, Case, proofs, result_file, tests_of  # noqa: E402

SOURCES = {".cpp", ".c", ".cu"}
# Presets that README need not name beside `tests/run`: what it takes itself, and a quicker one for daily work.
DAILY_PRESETS = {"release", "dev"}


@dataclasses.dataclass
class Known:
    """What the build knows: CTest's tests, and the targets that each source file is compiled into."""
    tests: list
    targets: dict

    def commands(self):
        """All words of all tests' commands."""
        return {word for test in self.tests for word in test.get("command", [])}

    def runs(self, target):
        """The registered tests that run a target's program."""
        return [test for test in self.tests
                if pathlib.PurePath(test.get("command", [""])[0]).name == target or test["name"] == target]

    def is_not_built_here(self, path):
        """Whether a test stands for this source that this build cannot have (fathom_test_not_built)."""
        return any(str(path) in one["value"] for test in self.tests for one in test.get("properties", [])
                   if one["name"] == "REQUIRED_FILES")


def read_build(build):
    listed = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True, capture_output=True, text=True)
    commands = json.loads((build / "compile_commands.json").read_text())
    return Known(json.loads(listed.stdout)["tests"], compiled(commands))


def compiled(commands):
    """{source: {targets}}, also of the sources that a unity build compiles as one."""
    targets = {}
    for command in commands:
        found = re.search(r" -o \S*CMakeFiles/([^/]+)\.dir/", command["command"])
        source = pathlib.Path(command["file"])
        sources = [source]
        if source.name.startswith("unity_") and source.is_file():
            sources = [pathlib.Path(name) for name in re.findall(r'^#include "([^"]+)"', source.read_text(), re.MULTILINE)]
        for one in sources:
            targets.setdefault(one, set()).add(found[1] if found else "")
    return targets


def files(root, suffixes=None):
    """The files under tests/, without those of public data sets and of Python's cache."""
    for path in sorted((root / "tests").rglob("*")):
        if path.is_file() and not path.is_relative_to(root / "tests/data") and "__pycache__" not in path.parts \
                and (suffixes is None or path.suffix in suffixes):
            yield path


def is_named_beside(path):
    """Whether another file of the same folder names this one, by its file name or, for a C file, without the suffix."""
    names = {path.name, path.stem} if path.suffix in SOURCES else {path.name}
    word = re.compile(r"(?<![\w.])(" + "|".join(map(re.escape, names)) + r")(?![\w.])")
    return any(word.search(one.read_text(errors="replace")) for one in path.parent.iterdir() if one.is_file() and one != path)


def is_cpp_test(path):
    return path.suffix == ".cpp" and (path.name.endswith("_test.cpp") or assertions.CPP_TEST.search(assertions.read_cpp(path)))


def is_python_test(path):
    return path.suffix == ".py" and (path.name.startswith("test_") or path.name.endswith("_test.py"))


def check_cpp_tests(root, known):
    for path in filter(is_cpp_test, files(root, {".cpp"})):
        place = path.relative_to(root)
        targets = known.targets.get(path, set())
        runs = [test for target in targets for test in known.runs(target)]
        if not assertions.CPP_TEST.search(assertions.read_cpp(path)):
            yield f"{place}: has no test; write TEST(Suite, Case), or call the file something else"
        if not targets and not known.is_not_built_here(path):
            yield f"{place}: compiled into no program; name it in the SOURCES of a fathom_test() in {place.parent}/CMakeLists.txt"
        if targets and not runs:
            yield f"{place}: compiled into {', '.join(sorted(targets))}, which CTest does not run; make that a fathom_test()"
        for test in runs:
            if result_file(test) is None:
                yield f"{place}: {test['name']} leaves no results of its cases; register it with fathom_test()"


def check_places(root):
    """C++ tests lie where the tree has what they test: who looks for the test of a source finds it by its path."""
    homes, folders = {}, set()
    for top in sorted(path for path in root.iterdir() if path.is_dir() and (root / "tests" / path.name).is_dir()):
        for source in (path for path in top.rglob("*") if path.suffix in SOURCES | {".hpp"}):
            place = source.parent.relative_to(root)
            folders.add(place)
            homes.setdefault((top.name, source.stem), set()).add(place)
    for path in files(root, {".cpp"}):
        place = path.parent.relative_to(root / "tests")
        if not path.name.endswith("_test.cpp") or not place.parts or not (root / place.parts[0]).is_dir():
            continue
        wanted = homes.get((place.parts[0], path.stem.removesuffix("_test")), set())
        if wanted and place not in wanted:
            yield f"{path.relative_to(root)}: belongs in tests/{sorted(wanted)[0]}, with what it is named after"
        elif place not in folders:
            yield f"{path.relative_to(root)}: there are no sources in {place}; move it to the folder of what it tests"


def check_python_tests(root, known):
    for path in filter(is_python_test, files(root, {".py"})):
        place = path.relative_to(root)
        runs = [test for test in known.tests if str(path) in test.get("command", [])]
        if not runs:
            yield f"{place}: CTest does not run it; register it with fathom_pytest(), in tests/e2e with fathom_e2e()"
        for test in runs:
            if result_file(test) is None:
                yield f"{place}: {test['name']} leaves no results of its cases; register it with fathom_pytest()"


def check_fuzz_targets(root, known):
    folder = root / "tests/fuzz"
    words = known.commands()
    for path in sorted(folder.glob("*.cpp")):
        place = path.relative_to(root)
        if known.is_not_built_here(path):
            continue
        runs = [test for target in known.targets.get(path, set()) for test in known.runs(target)]
        if not runs:
            yield f"{place}: no fuzz target that CTest runs; register it with fathom_fuzz({path.stem} …)"
        seeds = sorted((folder / "corpus" / path.stem).glob("*"))
        if not seeds:
            yield f"{place}: has no seeds; put some into tests/fuzz/corpus/{path.stem}"
        if any("command" in test for test in runs):  # CTest does not tell the command of a program that is not built yet
            yield from (f"{seed.relative_to(root)}: CTest does not give it to fuzz_{path.stem}; configure again"
                        for seed in seeds if str(seed) not in words)
    for corpus in sorted((folder / "corpus").glob("*")):
        if not (folder / f"{corpus.name}.cpp").is_file():
            yield f"{corpus.relative_to(root)}: the seeds of no fuzz target; remove them, or write tests/fuzz/{corpus.name}.cpp"


def check_sources(root, known):
    """Sources under tests/ that nobody compiles."""
    for path in files(root, SOURCES):
        if path not in known.targets and not known.is_not_built_here(path) and not is_cpp_test(path) and not is_named_beside(path):
            yield f"{path.relative_to(root)}: compiled into nothing; name it in a CMakeLists.txt, or remove it"


def named(text, command):
    return re.search(rf"(?<![\w/]){re.escape(command)}(?![\w/-])", text) is not None


def check_commands(root, known, readme):
    """Commands under tests/: CTest runs them, README names them, or their neighbours use them."""
    words = known.commands()
    for path in files(root):
        place = path.relative_to(root)
        if not os.access(path, os.X_OK) or str(path) in words or named(readme, str(place)):
            continue
        is_benchmark = place.parts[1] == "bench" and re.search(r"(?i)usage: ", path.read_text(errors="replace"))
        if is_benchmark:
            yield f"{place}: a benchmark that README does not name; add it to the slower suites"
        elif path.suffix != ".py" and not is_named_beside(path):
            yield f"{place}: CTest does not run it, and README does not name it; register it, or add it to the slower suites"
    for name in sorted(set(re.findall(r"`(tests/(?:bench|lint)/\w+)`", readme))):
        if not os.access(root / name, os.X_OK):
            yield f"README.md: names {name}, which is no command; correct it"


def check_presets(root, readme):
    presets = json.loads((root / "CMakePresets.json").read_text())["configurePresets"]
    for preset in presets:
        name = preset["name"]
        if not preset.get("hidden") and name not in DAILY_PRESETS and not named(readme, f"tests/run --preset {name}"):
            yield f"README.md: does not name `tests/run --preset {name}`; add it to the slower suites"


def check_assertions(root):
    for path in files(root, {".cpp", ".py"}):
        if is_cpp_test(path):
            yield from assertions.check_cpp(path, root)
        elif is_python_test(path):
            yield from assertions.check_python(path, root)


def check_proofs(root, known):
    """Names in the proofs of docs/requirements.md that nothing has: what a whole run would find only at its end."""
    document = root / "docs/requirements.md"
    cases = [Case("", name, "", "", (str(path),)) for path in files(root) for name in tests_of(path)]
    names = {test["name"] for test in known.tests}.union(*(case.names() for case in cases))
    for number, cell in proofs(document.read_text()) if document.is_file() else []:
        for name in re.findall(r"`([^`]+)`", cell):
            is_file = (BENCHMARK.fullmatch(name) or name.startswith("tests/lint/")) and (root / name).is_file()
            if not is_file and not fnmatch.filter(names, name):
                yield f"docs/requirements.md:{number}: no test is called `{name}`"


def check(root, known):
    readme = (root / "README.md").read_text()
    return [*check_cpp_tests(root, known), *check_places(root), *check_python_tests(root, known), *check_fuzz_targets(root, known),
            *check_sources(root, known), *check_commands(root, known, readme), *check_presets(root, readme), *check_assertions(root),
            *check_proofs(root, known)]


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(f"usage: check_tests.py BUILD_FOLDER\n\n{__doc__.split(chr(10), 2)[2]}", file=sys.stderr)
        return 2
    problems = check(ROOT, read_build(pathlib.Path(sys.argv[1])))
    print("\n".join(problems) or "tests: clean")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
