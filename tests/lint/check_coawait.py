#!/usr/bin/env python3
"""Flags `co_await` statements that build an aggregate or a capturing lambda in place.

GCC 12 destroys such temporaries twice (docs/architecture.md, "Coroutines"); name them on the line before.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
STATEMENT = re.compile(r"co_await\b[^;]*;")
# A brace that is not an empty initialiser, or a lambda that captures something.
SUSPECT = re.compile(r"\{(?!\s*\})|\[(?=[^\]]*\S)[^\]]*\]\s*(\(|\{|mutable)")


def main():
    problems = []
    for folder in ("core", "schema", "server", "agent", "cli", "probes"):
        for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
            text = re.sub(r"//[^\n]*", "", path.read_text())
            for match in STATEMENT.finditer(text):
                # `if (!co_await f()) { return; }` ends in a block, not in a temporary.
                statement = re.split(r"\)\s*\{\n", match.group(0))[0]
                if SUSPECT.search(statement):
                    line = text[: match.start()].count("\n") + 1
                    problems.append(f"{path.relative_to(ROOT)}:{line}: {statement.splitlines()[0].strip()}")
    print("\n".join(problems) or "co_await: clean")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
