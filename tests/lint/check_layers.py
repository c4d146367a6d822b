#!/usr/bin/env python3
"""Holds the tree to what docs/architecture.md says of its folders, where the compiler does not: what pure folders must not
have, whose store is whose, and the arrows between the large folders, which Clang also holds target by target
(cmake/FathomLayers.cmake)."""
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
    "core/transfer": ["core/base", "core/transfer"],
    "schema": ["core/base", "core/model", "schema"],
    "probes": ["core/base", "core/model", "core/decide", "probes"],
    "server": ["core", "schema", "server", "probes/operators/manifests.hpp"],
    # What a change of the network would do is simulated in the server, in this room alone.
    "server/simulations": ["core", "schema", "server", "simulator"],
    "agent": ["core", "schema", "agent"],
    "simulator": ["core", "simulator", "cli/text"],
    "cli/text": ["core/base", "cli/text"],
    "cli": ["core", "simulator", "cli"],
}
# Folders of the repository whose C++ is not of the product.
OTHERS = ["tests", "cmake", "build", "web"]
# folder -> what it must not include all the same, and why
FORBIDDEN = {
    "simulator/policies": ("simulator/world/truth.hpp", "a policy sees knowledge, never the truth"),
}
PURE = ["core/model", "core/decide", "core/schedule", "schema/link"]
# Decisions must come out the same at any time and on any machine: no I/O, clock, chance, threads or state.
IMPURE = re.compile(
    r"#include <(boost/(asio|beast|random|thread)|pqxx|openssl|spdlog|CLI|sys/|unistd|fcntl|poll|signal|cstdio|stdio|ctime"
    r"|csignal|random|thread|mutex|shared_mutex|atomic|future|condition_variable|semaphore|latch|barrier|stop_token"
    r"|fstream|iostream|filesystem|syncstream|locale|clocale)"
    r'|#include "core/base/(last_level_cache|log|log_limit|log_line|metrics|file|open_file|open_inside|own_user'
    r'|packet_socket|process_answer|process_limits|run_program|settings|wait_for_child|write_all)\.hpp"'
    r"|\bnow\(\)|\bstd::(time|clock|rand|getenv|setlocale|system)\b|\bmt19937|\bthread_local\b"
    r"|^ +static (?!const |constexpr |thread_local )[^(;{=]*[;{=]", re.MULTILINE)
# Nor may it, or what feeds it, use elementary functions of the C library, whose last bits differ from one machine to the next
# (core/base/portable_math). In the simulator a drawing may.
PORTABLE = [*PURE, "server", "simulator"]
NOT_PORTABLE = ["simulator/report"]
ELEMENTARY = re.compile(
    r"(?<![\w:.>])(?:std)?(?:::)?(?:exp|exp2|expm1|log|log2|log10|log1p|pow|hypot|cbrt|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh"
    r"|tanh|asinh|acosh|atanh|erf|erfc|tgamma|lgamma)[fl]?\((?!\))|\busing std::(?:exp|log|pow|hypot|sin|cos|tan)\w*;")
# path -> what stands there all the same, and why that is harmless
PURE_ALL_THE_SAME = {
    "core/model/formula.cpp": ("thread_local", "keeps what was compiled; the text alone says what that is"),
}
# Of the rooms of the server, each with the reason. What a clock or a snapshot is, server/app and the room itself know.
NOT_IN_ROOMS = [
    (re.compile(r"\bSystemClock\b|\bsystem_clock::now\b"), "a room takes the time from the Clock that it is given"),
    (re.compile(r"\bcatalog_?(?:->|\.)get\(\)->|&\s*\w+\s*=\s*\*\s*catalog_?(?:->|\.)get\(\)"),
     "keep the CatalogPointer in a variable: what it points to may go with the next reload"),
]
BEAST = re.compile(r"#include <boost/beast")
SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh"}
COMMENT = re.compile(r"//[^\n]*")
INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.MULTILINE)


def longest_prefix(path, prefixes):
    matches = [p for p in prefixes if path == p or path.startswith(p + "/")]
    return max(matches, key=len, default=None)


def room_of(path):
    """The server's room that a file belongs to."""
    parts = path.split("/")
    return parts[1] if parts[0] == "server" and len(parts) > 2 else None


def impurities(path, text):
    """What a file of a pure folder must not have, each once, in order."""
    allowed, _ = PURE_ALL_THE_SAME.get(path, (None, None))
    code = COMMENT.sub("", text)
    return [word for word in dict.fromkeys(found.group(0).strip() for found in IMPURE.finditer(code)) if word != allowed]


def elementary_functions(text):
    """Of the C library, each once, in order."""
    return list(dict.fromkeys(found.group(0) for found in ELEMENTARY.finditer(COMMENT.sub("", text))))


def check(path, text):
    problems = []
    folder = longest_prefix(path, ALLOWED)
    for include in INCLUDE.findall(text):
        if longest_prefix(include, ALLOWED[folder]) is None:
            problems.append(f"{path}: {folder} must not include {include}")
        room = room_of(include)
        if include.endswith("_store.hpp") and room and room != room_of(path) and room_of(path) != "app":
            problems.append(f"{path}: only {room} may include its store, {include}")
    for forbidden_in, (header, why) in FORBIDDEN.items():
        if path.startswith(forbidden_in + "/") and header in INCLUDE.findall(text):
            problems.append(f"{path}: must not include {header}: {why}")
    if room_of(path) not in (None, "app"):
        code = COMMENT.sub("", text)
        problems += [f"{path}: has {found.group(0)}: {why}" for pattern, why in NOT_IN_ROOMS
                     for found in pattern.finditer(code)]
    if longest_prefix(path, PURE):
        problems += [f"{path}: a pure folder must not use {found}" for found in impurities(path, text)]
    if longest_prefix(path, PORTABLE) and not longest_prefix(path, NOT_PORTABLE):
        problems += [f"{path}: has {found}, which is not the same on every machine: use core/base/portable_math"
                     for found in elementary_functions(text)]
    if BEAST.search(text) and not (path.startswith("core/net/")):
        problems.append(f"{path}: Boost.Beast belongs into core/net only")
    return problems


def sources(root, others=OTHERS):
    """All C++ of the product, as paths from the root."""
    for top in sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")):
        if top.name not in others:
            yield from (str(path.relative_to(root)) for path in sorted(top.rglob("*")) if path.suffix in SUFFIXES)


def unruled(paths):
    """What no rule speaks of: folders that are not there, and files of folders that are not named."""
    problems = [f"{folder}: has rules here, but no sources" for folder in ALLOWED
                if not any(path.startswith(folder + "/") for path in paths)]
    return problems + [f"{path}: no rule says what it may include; name its folder in ALLOWED" for path in paths
                       if longest_prefix(path, ALLOWED) is None]


def main():
    paths = list(sources(ROOT))
    problems = unruled(paths)
    for path in paths:
        if longest_prefix(path, ALLOWED):
            problems += check(path, (ROOT / path).read_text())
    print("\n".join(problems) or "layers: clean")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
