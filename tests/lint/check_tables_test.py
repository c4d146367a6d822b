"""The lint of tables finds those that nothing is said of."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_tables  # noqa: E402

MIGRATIONS = ["CREATE TABLE a (\n    id text\n);\n-- CREATE TABLE no (\nCREATE UNLOGGED TABLE b (id text);",
              "ALTER TABLE a RENAME TO c;\nCREATE TABLE d (id text);\nDROP TABLE d;"]


def test_tables_are_those_that_are_left():
    assert check_tables.tables_of(MIGRATIONS) == {"b", "c", "schema_migration"}


def test_a_table_that_is_said_nothing_of_is_named():
    decision = "| tables | x |\n|---|---|\n| `b`, `schema_migration` | each `c` |\n| `gone`, `b` | x |\n"
    assert [fault.split(":")[0] for fault in check_tables.faults_of(MIGRATIONS, decision)] == ["c", "gone", "b"]


def test_all_are_there():
    decision = "| `b` | x |\n| `c`, `schema_migration` | x |\n"
    assert check_tables.faults_of(MIGRATIONS, decision) == []
