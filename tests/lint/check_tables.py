#!/usr/bin/env python3
"""Each table of the schema stands in the decision that says what bounds it, and each that stands there exists."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DECISION = "docs/decisions/0033-what-bounds-each-table.md"
# Made by the migrations' own code; the partitions of a table are bounded as it is.
MADE_ELSEWHERE = {"schema_migration"}
CHANGE = re.compile(r"^\s*(?:CREATE (?:UNLOGGED )?TABLE (?P<made>\w+)|DROP TABLE (?P<dropped>\w+)"
                    r"|ALTER TABLE (?P<old>\w+) RENAME TO (?P<new>\w+))", re.M)


def tables_of(migrations):
    """After all of them, in their order."""
    tables = set(MADE_ELSEWHERE)
    for text in migrations:
        for change in CHANGE.finditer(re.sub(r"--.*", "", text)):
            tables -= {change["dropped"], change["old"]}
            tables |= {change["made"], change["new"]} - {None}
    return tables


def bounded_in(decision):
    """The tables that rows of the decision begin with."""
    return [name for line in decision.splitlines() if line.startswith("| `")
            for name in re.findall(r"`(\w+)`", line.split("|")[1])]


def faults_of(migrations, decision):
    tables, bounded = tables_of(migrations), bounded_in(decision)
    return ([f"{name}: say in {DECISION} what adds rows to it, and what ends them" for name in sorted(tables - set(bounded))]
            + [f"{name}: {DECISION} has it, the schema does not" for name in sorted(set(bounded) - tables)]
            + [f"{name}: {DECISION} has it twice" for name in sorted(set(bounded)) if bounded.count(name) > 1])


def main():
    migrations = [path.read_text() for path in sorted((ROOT / "schema" / "sql").glob("*.sql"))]
    faults = faults_of(migrations, (ROOT / DECISION).read_text())
    print("\n".join(faults) or "tables: clean")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
