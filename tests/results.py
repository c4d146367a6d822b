#!/usr/bin/env python3
"""The test runner's own count of what tests/run did: programs, cases, what failed, and by name what could not run here.

Reads FOLDER, where tests/run leaves registered.json (what CTest knows), ctest.xml (what it ran) and NAME.xml of each test
program that tells its cases (cmake/FathomTestResults.cmake). Exits 1 when a test failed or the account does not add up.
"""
import argparse
import dataclasses
import fnmatch
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/lint"))
import assertions  # noqa: E402

# The time that GoogleTest writes for a case that it never started (a global environment that skips everything).
NEVER_STARTED = "1970-01-01T00:00:00.000"
# The case that stands for a whole test program.
WHOLE_PROGRAM = "*"
BENCHMARK = re.compile(r"tests/bench/\w+")


@dataclasses.dataclass(frozen=True)
class Case:
    program: str
    name: str
    outcome: str  # passed, failed or skipped
    reason: str = ""
    command: tuple = ()

    def names(self):
        """All that docs/requirements.md may call it."""
        plain = re.sub(r"\[.*\]$", "", self.name)
        names = {self.program, plain}
        if "::" in plain:
            names.update(plain.split("::"))
        elif "." in plain:  # GoogleTest: Instance/Suite.Case/parameter, Suite/type.Case
            suite, case = plain.split(".", 1)
            names.update(f"{part}.{case.split('/', 1)[0]}" for part in suite.split("/"))
        names.update(str(pathlib.Path(part).relative_to(ROOT)) for part in self.command if part.startswith(f"{ROOT}/tests/"))
        return names


@dataclasses.dataclass
class Run:
    cases: list
    programs: int
    seconds: float
    is_complete: bool
    problems: list
    not_built: set = dataclasses.field(default_factory=set)  # sources of tests that this build cannot have


def result_file(test):
    """Where a registered test leaves its cases; None for one that is a single case, such as a lint."""
    for argument in test.get("command", []):
        if argument.startswith("--junitxml="):
            return pathlib.Path(argument.removeprefix("--junitxml="))
    for one in test.get("properties", []):
        if one["name"] == "ENVIRONMENT_MODIFICATION":
            for change in one["value"]:
                if change.startswith("GTEST_OUTPUT=set:xml:"):
                    return pathlib.Path(change.removeprefix("GTEST_OUTPUT=set:xml:"))
    return None


def lines_of(text):
    """Those of a reason, without the place in the sources that GoogleTest and pytest put before it."""
    lines = [re.sub(r"\s+", " ", line.strip()) for line in (text or "").splitlines() if line.strip()]
    return lines[1:] if len(lines) > 1 and re.fullmatch(r"\S+:\d+", lines[0]) else lines


def one_line(text):
    return next(iter(lines_of(text)), "")


def what_failed(text, most_characters=400):
    """The first line may say no more than that something was asserted."""
    line = " ".join(lines_of(text))
    return line if len(line) <= most_characters else line[:most_characters] + "…"


def case_name(element):
    name, group, file = element.get("name", ""), element.get("classname", ""), element.get("file", "")
    if file.endswith(".py"):
        return pathlib.PurePath(file).name + ("::" + name if group else "")
    return f"{group}.{name}"


def read_case(program, element):
    name = case_name(element)
    for kind in ("failure", "error"):
        if (found := element.find(kind)) is not None:
            return Case(program, name, "failed", what_failed(found.get("message")))
    if (found := element.find("skipped")) is not None:
        reason = found.get("message")
        if reason == "collection skipped":  # a whole Python file; its text is ('file', line, 'Skipped: reason')
            reason = (found.text or "").rsplit("Skipped: ", 1)[-1].rstrip("')\"")
        return Case(program, name, "skipped", one_line(reason) or found.get("type", ""))
    if element.get("result") == "suppressed":
        return Case(program, name, "skipped", "disabled in its source")
    if element.get("timestamp") == NEVER_STARTED:
        return Case(program, name, "skipped", "its program skips everything")
    return Case(program, name, "passed")


def line_that_skips(test, output):
    """The line of a program's output by which CTest knows that it was skipped."""
    wanted = [re.compile(text) for one in test.get("properties", []) if one["name"] == "SKIP_REGULAR_EXPRESSION"
              for text in one["value"]]
    return next((line.strip() for line in output.splitlines() if any(one.search(line) for one in wanted)), one_line(output))


def outcome_of_program(element, test):
    """What CTest says of a program, and why."""
    output = element.findtext("system-out", "")
    status = element.get("status")
    if status == "run":
        return "passed", ""
    if status == "disabled":
        return "skipped", "disabled in CMake"
    skipped = element.find("skipped")
    if status == "notrun" and skipped is not None and skipped.get("message", "").startswith("SKIP_"):
        return "skipped", line_that_skips(test, output)
    return "failed", one_line(output)


def cases_of_program(element, test, problems):
    """The cases of a program that CTest ran, and what of its account does not add up."""
    name = element.get("name")
    outcome, reason = outcome_of_program(element, test)
    file = result_file(test)
    whole = Case(name, WHOLE_PROGRAM, outcome, reason, tuple(test.get("command", [])))
    if file is None or element.get("status") == "disabled":
        return [whole]
    try:
        cases = [read_case(name, one) for one in ElementTree.parse(file).iter("testcase")]
    except (OSError, ElementTree.ParseError):
        if outcome == "passed":
            problems.append(f"{name} ran and left no results in {file}")
        return [whole]
    if outcome == "passed" and not cases:
        problems.append(f"{name} ran and has not a single test case")
    if outcome == "skipped":
        cases = [dataclasses.replace(case, outcome="skipped", reason=reason) for case in cases]
    if outcome == "failed" and all(case.outcome != "failed" for case in cases):
        cases.append(whole)
    return cases


def read_run(folder):
    """What tests/run left in a folder. OSError, ValueError or ParseError when that is nothing."""
    registered = {test["name"]: test for test in json.loads((folder / "registered.json").read_text())["tests"]}
    suite = ElementTree.parse(folder / "ctest.xml").getroot()
    elements = suite.findall("testcase")
    problems = [] if elements else ["no test ran"]
    cases = []
    for element in elements:
        cases += cases_of_program(element, registered[element.get("name")], problems)
    ran = {element.get("name") for element in elements}
    not_built = {path for test in registered.values() for one in test.get("properties", []) if one["name"] == "REQUIRED_FILES"
                 for path in one["value"]}
    return Run(cases, len(elements), float(suite.get("time", 0)), ran == set(registered), problems, not_built)


def read_allowed(path):
    """The lines `program case: reason` of a file, as [(program, case, place)]; problems for those that are not."""
    allowed, problems = [], []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        found = re.fullmatch(r"(\S+) (.+?): (\S.*)", line.strip())
        if found:
            allowed.append((found[1], found[2], f"{path}:{number}"))
        else:
            problems.append(f"{path}:{number}: not `program case: reason`: {line.strip()}")
    return allowed, problems


def check_allowed(run, paths):
    """Skipped cases that no file names, and names that did run or do not exist: the lists only shrink."""
    allowed, problems = [], []
    for path in paths:
        read, wrong = read_allowed(path)
        allowed += read
        problems += wrong
    covered = set()
    for program, name, place in allowed:
        cases = [case for case in run.cases if case.program == program and name in (case.name, WHOLE_PROGRAM)]
        covered.update(cases)
        if not cases:
            problems.append(f"{place}: there is no test {program} {name}; strike the line")
        for case in cases:
            if case.outcome != "skipped":
                problems.append(f"{place}: {program} {case.name} did run; strike the line")
    files = ", ".join(str(path) for path in paths)
    for case in run.cases:
        if case.outcome == "skipped" and case not in covered:
            problems.append(f"skipped, and not named in {files}: {case.program} {case.name}: {case.reason}")
    return problems


def cpp_test(macro, suite, case, *_):
    """RapidCheck registers a fixture's property under a suite of its own."""
    own = "_RapidCheck" if macro == "RC_GTEST_FIXTURE_PROP" else ""
    return f"{suite.strip()}{own}.{case.strip()}"


def tests_of(path):
    """What the tests of a source file are called as cases."""
    if path.suffix == ".py" and (path.name.startswith("test_") or path.name.endswith("_test.py")):
        return [f"{path.name}::{name}" for name, _ in assertions.python_tests(path)]
    if path.suffix == ".cpp":
        return [cpp_test(match[1], *match[2].split(",")) for match in assertions.CPP_TEST.finditer(assertions.read_cpp(path))]
    return []


def check_complete(run, root):
    """Tests in the sources that are no case of this run: a filter in the environment or the preprocessor took them."""
    if not run.is_complete:
        return ["not everything that CTest knows ran"]
    seen = set().union(*(case.names() for case in run.cases))
    return [f"{path.relative_to(root)}: {name} was no case of this run; look for a filter (GTEST_FILTER, PYTEST_ADDOPTS) or an #if"
            for path in sorted((root / "tests").rglob("*")) if str(path) not in run.not_built
            for name in tests_of(path) if name not in seen]


def proofs(text):
    """[(line number, cell)] of the column `proof` of each table of a Markdown text."""
    cells, column = [], None
    for number, line in enumerate(text.splitlines(), 1):
        row = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if "proof" in row:
            column = row.index("proof")
        elif not row:
            column = None
        elif column is not None and not set(line) <= set("|-: "):
            cells.append((number, row[column] if column < len(row) else ""))
    return cells


def check_requirements(run, path):
    """Names in the proofs of docs/requirements.md that no passed test has; and what is proven elsewhere only."""
    if not run.is_complete:
        return [f"{path}: only a complete run proves it"], []
    outcomes = {}
    for case in run.cases:
        for name in case.names():
            outcomes.setdefault(name, set()).add(case.outcome)
    problems, elsewhere = [], []
    for number, cell in proofs(path.read_text()):
        names = re.findall(r"`([^`]+)`", cell)
        if not names and "not yet" not in cell:
            problems.append(f"{path}:{number}: names no test, and does not say `not yet`")
        for name in names:
            if BENCHMARK.fullmatch(name) and (ROOT / name).is_file():
                continue
            found = set().union(*(outcomes[one] for one in outcomes if fnmatch.fnmatchcase(one, name)))
            if not found:
                problems.append(f"{path}:{number}: no test that ran is called `{name}`")
            elif found == {"skipped"}:
                elsewhere.append(f"{path}:{number}: `{name}` was skipped")
    return problems, elsewhere


def grouped(cases):
    """Lines `program case: reason`; a program of which nothing ran is one line."""
    lines = []
    programs = dict.fromkeys(case.program for case in cases)
    for program in programs:
        own = [case for case in cases if case.program == program]
        reasons = {case.reason for case in own}
        whole = all(case.outcome == "skipped" for case in own) and len(reasons) == 1 and len(own) > 1
        if whole:
            lines.append(f"{program} {WHOLE_PROGRAM}: {reasons.pop()} ({len(own)} cases)")
        else:
            lines += [f"{program} {case.name}: {case.reason}" for case in own if case.outcome == "skipped"]
    return lines


def show(title, lines):
    if lines:
        print(title)
        print("\n".join(f"  {line}" for line in lines))


def count(run, outcome):
    return sum(case.outcome == outcome for case in run.cases)


def report(run):
    print(f"{run.programs} test programs, {len(run.cases)} cases: {count(run, 'passed')} passed, {count(run, 'failed')} failed, "
          f"{count(run, 'skipped')} skipped, in {int(run.seconds) // 60} min {int(run.seconds) % 60} s")
    show("Cannot run here:", grouped(run.cases))
    show("Failed:", [f"{case.program} {case.name}: {case.reason}" for case in run.cases if case.outcome == "failed"])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="what tests/run left, for example build/release/test-results")
    parser.add_argument("--may-skip", action="append", default=[], type=pathlib.Path, metavar="FILE",
                        help="lines `program case: reason` (case *: the whole program); fails when anything else was skipped, "
                             "or when a name in it did run or does not exist; may be given again")
    parser.add_argument("--requirements", type=pathlib.Path, metavar="FILE",
                        help="docs/requirements.md; fails when it names a test that did not run and pass")
    parser.add_argument("--complete", action="store_true", help="fails when a test in the sources was no case of this run")
    return parser.parse_args()


def main():
    options = arguments()
    try:
        run = read_run(options.folder)
        problems = run.problems + (check_allowed(run, options.may_skip) if options.may_skip else [])
        if options.complete and not count(run, "failed"):  # a program that died leaves no cases
            problems += check_complete(run, ROOT)
        elsewhere = []
        if options.requirements:
            missing, elsewhere = check_requirements(run, options.requirements)
            problems += missing
    except (OSError, ValueError, KeyError, ElementTree.ParseError) as error:
        print(f"results.py: {options.folder} holds no account of a run of tests/run: {error!r}", file=sys.stderr)
        return 2
    report(run)
    show("Proven only where these run:", elsewhere)
    show("Does not add up:", problems)
    return 1 if problems or count(run, "failed") else 0


if __name__ == "__main__":
    sys.exit(main())
