#!/usr/bin/env python3
"""Flags prepared statements of one name: a connection that has prepared the one refuses the other, whichever comes second."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
STATEMENT = re.compile(r'\bStatement\s+\w+\s*\{\s*"([^"]*)"')


def repeated(root):
    """Name -> the places where it stands, of names that stand more than once."""
    places = {}
    for path in sorted((root / "server").rglob("*.[ch]pp")):
        text = path.read_text()
        for match in STATEMENT.finditer(text):
            line = text[: match.start()].count("\n") + 1
            places.setdefault(match.group(1), []).append(f"{path.relative_to(root)}:{line}")
    assert places, "no statement was found: this check has become blind"
    return {name: found for name, found in places.items() if len(found) > 1}


def main():
    problems = [f"{' and '.join(found)}: statements of the same name {name}" for name, found in repeated(ROOT).items()]
    print("\n".join(problems) or "statements: clean")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
