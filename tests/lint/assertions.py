"""Finds tests that cannot fail: bodies without an assertion, also not in a helper that they call, and assertions of constants.

C++ is read as text without comments and literals, Python as its syntax tree. Helpers are looked up by name, in the test's own
file and in what it includes or imports of tests/; one of several with the same name is enough.
"""
import ast
import functools
import pathlib
import re

CPP_TEST = re.compile(r"^[ \t]*(TEST|TEST_F|TEST_P|TYPED_TEST|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\s*\(([^)]*)\)", re.MULTILINE)
CPP_ASSERTION = re.compile(r"\b(EXPECT_\w+|ASSERT_\w+|RC_ASSERT\w*|RC_FAIL|ADD_FAILURE\w*|FAIL|GTEST_FAIL)\s*\(")
CPP_VACUOUS = re.compile(
    r"\b(?:(?:EXPECT|ASSERT)_TRUE\(\s*true\s*\)|(?:EXPECT|ASSERT)_FALSE\(\s*false\s*\)|RC_ASSERT\(\s*true\s*\)"
    r"|(?:EXPECT|ASSERT)_(?:EQ|LE|GE)\(\s*(\d+|true|false)\s*,\s*\1\s*\)|(?:EXPECT|ASSERT)_GE\([^;]*\bsize\(\)\s*,\s*0U?\s*\))")
CPP_IGNORED = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
CPP_HEADER = re.compile(r"\b(\w+)\s*\(")
CPP_AFTER_PARAMETERS = re.compile(r"\s*(?:const|noexcept|override|final|mutable|->\s*[\w:<>,&*\s]+?)*\s*\{")
CPP_KEYWORDS = {"if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "co_await", "co_return"}
PYTEST_ASSERTIONS = {"raises", "warns", "fail"}


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def without_literals(text):
    """The text of a C++ file with comments and literals blanked; lines stay where they are."""
    def blank(match):
        found = match.group(0)
        inner = re.sub(r"[^\n]", " ", found)
        return inner if found.startswith("/") else '"' + inner[1:-1] + '"'
    return CPP_IGNORED.sub(blank, text)


def closing(text, opening):
    """The position after the bracket that closes the one at `opening`; the end where there is none."""
    left = text[opening]
    right = {"(": ")", "{": "}"}[left]
    depth = 0
    for position in range(opening, len(text)):
        depth += (text[position] == left) - (text[position] == right)
        if depth == 0:
            return position + 1
    return len(text)


@functools.lru_cache(maxsize=None)
def read_cpp(path):
    return without_literals(path.read_text(errors="replace"))


@functools.lru_cache(maxsize=None)
def cpp_functions(path):
    """{name: [bodies]} of the functions that a C++ file defines."""
    text, functions = read_cpp(path), {}
    for match in CPP_HEADER.finditer(text):
        if match[1] in CPP_KEYWORDS:
            continue
        after = closing(text, match.end() - 1)
        if found := CPP_AFTER_PARAMETERS.match(text, after):
            functions.setdefault(match[1], []).append(text[found.end() - 1:closing(text, found.end() - 1)])
    return functions


def reachable(path, leads_to):
    """A file and all those that exist among what it leads to, what these lead to, and so on."""
    seen, waiting = set(), [path]
    while waiting:
        one = waiting.pop()
        if one not in seen and one.is_file():
            seen.add(one)
            waiting += leads_to(one)
    return seen


def cpp_visible(path, root):
    """The files of tests/ whose functions a file can call: its own, headers that it includes, and what they declare."""
    def included(one):
        for name in re.findall(r'^\s*#include "([^"]+)"', one.read_text(errors="replace"), re.MULTILINE):
            for header in (root / name, one.parent / name):
                if header.is_relative_to(root / "tests"):
                    yield from (header, header.with_suffix(".cpp"))
    return reachable(path, included)


def calls_asserting(body, asserts_here, bodies_of):
    """Whether a body asserts, or calls a function that does: `bodies_of(name)` are the functions of that name."""
    seen, waiting = set(), [body]
    while waiting:
        one = waiting.pop()
        found, called = asserts_here(one)
        if found:
            return True
        for name in called - seen:
            seen.add(name)
            waiting += bodies_of(name)
    return False


def cpp_asserts(body):
    """Whether this text asserts itself, and the names that it calls."""
    plain = CPP_VACUOUS.sub(" ", body)
    return CPP_ASSERTION.search(plain) is not None, set(CPP_HEADER.findall(plain)) - CPP_KEYWORDS


def check_cpp(path, root):
    """Problems of the tests of a C++ file, as lines."""
    text, place = read_cpp(path), path.relative_to(root)
    problems = [f"{place}:{line_of(text, match.start())}: {match.group(0)} is always true; assert what the test is about"
                for match in CPP_VACUOUS.finditer(text)]
    files = cpp_visible(path, root)
    bodies_of = lambda name: [body for file in files for body in cpp_functions(file).get(name, [])]  # noqa: E731
    for match in CPP_TEST.finditer(text):
        opening = text.find("{", match.end())
        body = text[opening:closing(text, opening)] if opening >= 0 else ""
        if not calls_asserting(body, cpp_asserts, bodies_of):
            name = ".".join(part.strip() for part in match[2].split(",")[:2])
            problems.append(f"{place}:{line_of(text, match.start())}: {name} asserts nothing; give it an assertion")
    return problems


@functools.lru_cache(maxsize=None)
def read_python(path):
    return ast.parse(path.read_text(), str(path))


def is_function(node):
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def is_vacuous(node):
    """`assert True`, `assert x or True`, `assert (x, "text")`: never false."""
    test = node.test
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(isinstance(value, ast.Constant) and bool(value.value) for value in test.values)
    return isinstance(test, ast.Tuple) and bool(test.elts) or isinstance(test, ast.Constant) and bool(test.value)


def called_name(node):
    if isinstance(node.func, ast.Name):
        return node.func.id
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""


def python_asserts(function):
    """Whether a function asserts itself, and the names that it calls."""
    called = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assert) and not is_vacuous(node):
            return True, called
        if isinstance(node, ast.Raise) and node.exc is not None and "AssertionError" in ast.dump(node.exc):
            return True, called
        if isinstance(node, ast.Call):
            called.add(called_name(node))
            if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) \
                    and node.func.value.id == "pytest" and node.func.attr in PYTEST_ASSERTIONS:
                return True, called
    return False, called


def python_visible(path):
    """A Python file and those beside it that it imports."""
    def imported(one):
        for node in ast.walk(read_python(one)):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else \
                [name.name for name in node.names] if isinstance(node, ast.Import) else []
            yield from (one.parent / (module.replace(".", "/") + ".py") for module in modules if module)
    return reachable(path, imported)


def python_tests(path):
    """[(name, node)] of the tests of a file as pytest collects them, by class."""
    tests = []
    for node in read_python(path).body:
        if is_function(node) and node.name.startswith("test"):
            tests.append((node.name, node))
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            tests += [(f"{node.name}::{one.name}", one) for one in node.body if is_function(one) and one.name.startswith("test")]
    return tests


def check_python(path, root):
    """Problems of the tests of a Python file, as lines."""
    place, tests = path.relative_to(root), python_tests(path)
    problems = [] if tests else [f"{place}: has no test; functions that pytest runs begin with test_"]
    functions = {}
    for file in python_visible(path):
        for node in ast.walk(read_python(file)):
            if is_function(node):
                functions.setdefault(node.name, []).append(node)
            if isinstance(node, ast.ClassDef):  # who makes an object is taken to call it
                functions.setdefault(node.name, []).extend(
                    one for one in node.body if is_function(one) and one.name in ("__init__", "__call__"))
    bodies_of = lambda name: functions.get(name, [])  # noqa: E731
    names = [name for name, _ in tests]
    for name, node in tests:
        if names.count(name) > 1:
            problems.append(f"{place}:{node.lineno}: two tests are called {name}, and only the last runs; rename one")
        if not calls_asserting(node, python_asserts, bodies_of):
            problems.append(f"{place}:{node.lineno}: {name} asserts nothing; give it an assertion")
    problems += [f"{place}:{node.lineno}: this assertion is always true; assert what the test is about"
                 for node in ast.walk(read_python(path)) if isinstance(node, ast.Assert) and is_vacuous(node)]
    return problems
