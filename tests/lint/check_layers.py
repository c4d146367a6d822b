#!/usr/bin/env python3
"""Holds the includes of the tree to the arrows of docs/architecture.md: who may know whom."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# folder -> folders that it may include; the longest prefix counts.
ALLOWED = {
    "core/base": ["core/base"],
    "core/model": ["core/base", "core/model"],
    "core/decide": ["core/base", "core/model", "core/decide"],
    "core/schedule": ["core/base", "core/model", "core/decide", "core/schedule"],
    "core/net": ["core/base", "core/net"],
    "schema": ["core/base", "core/model", "schema"],
    "probes": ["core/base", "core/model", "core/decide", "probes"],
    "server": ["core", "schema", "server", "probes/operators/manifests.hpp"],
    "agent": ["core", "schema", "agent"],
    "cli": ["core", "cli"],
}
PURE = ["core/model", "core/decide", "core/schedule", "schema/link"]
IMPURE = re.compile(
    r"#include <(boost/(asio|beast)|pqxx|openssl|spdlog|thread|mutex|fstream|iostream|filesystem|sys/|unistd|random)")
BEAST = re.compile(r"#include <boost/beast")
SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.MULTILINE)


def longest_prefix(path, prefixes):
    matches = [p for p in prefixes if path == p or path.startswith(p + "/")]
    return max(matches, key=len, default=None)


def room_of(path):
    """The server's room that a file belongs to."""
    parts = path.split("/")
    return parts[1] if parts[0] == "server" and len(parts) > 2 else None


def check(path, text):
    problems = []
    folder = longest_prefix(path, ALLOWED)
    for include in INCLUDE.findall(text):
        if longest_prefix(include, ALLOWED[folder]) is None:
            problems.append(f"{path}: {folder} must not include {include}")
        room = room_of(include)
        if include.endswith("_store.hpp") and room and room != room_of(path) and room_of(path) != "app":
            problems.append(f"{path}: only {room} may include its store, {include}")
    if longest_prefix(path, PURE) and (found := IMPURE.search(text)):
        problems.append(f"{path}: a pure folder must not use {found.group(0)}")
    if BEAST.search(text) and not (path.startswith("core/net/")):
        problems.append(f"{path}: Boost.Beast belongs into core/net only")
    return problems


def main():
    problems = []
    for folder in ALLOWED:
        files = (ROOT / folder).rglob("*")
        for path in sorted(file for file in files if file.suffix in SUFFIXES):
            problems += check(str(path.relative_to(ROOT)), path.read_text())
    print("\n".join(problems) or "layers: clean")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
