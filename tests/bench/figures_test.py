"""What tests/bench says of its figures: RESULT lines, goals, and the record of both."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
from figures import Figure, read_figure, read_goals, shortfall, verdict  # noqa: E402


@pytest.fixture(name="all_of_them")
def load_all():
    """The command `all`, which has no .py at its end."""
    loader = importlib.machinery.SourceFileLoader("bench_all", str(HERE / "all"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_all", loader))
    loader.exec_module(module)
    return module


def with_goals(text, name="scaling"):
    return subprocess.run([HERE / "with_goals", name], input=text, capture_output=True, text=True)


def test_a_result_line_has_four_fields():
    assert read_figure("RESULT wait_s 1.5 s\n") == Figure("wait_s", "1.5", "s")
    assert read_figure("a RESULT that is none") is None
    for wrong in ("RESULT wait_s 1.5\n", "RESULT wait_s nan s\n", "RESULT wait_s 1.5 s more\n"):
        with pytest.raises(ValueError):
            read_figure(wrong)


@pytest.mark.parametrize("digits, goal, missing, said", [
    ("9.5", {"at_most": 10}, 0, "met"),
    ("12", {"at_most": 10}, 2, "MISSED by 2 ms (1.20 times)"),
    ("0.5", {"at_least": 1}, 0.5, "MISSED by 0.5 ms (2.00 times)"),
    ("73", {"between": [75, 85]}, 2, "MISSED by 2 ms (1.03 times)"),
    ("90", {"between": [75, 85]}, 5, "MISSED by 5 ms (1.06 times)"),
    ("80", {"between": [75, 85]}, 0, "met"),
])
def test_a_missed_goal_is_said_with_its_shortfall(digits, goal, missing, said):
    figure = Figure("wait_ms", digits, "ms")
    assert shortfall(figure, goal) == missing
    assert verdict(figure, goal) == said


def test_goals_come_before_the_results_which_come_last():
    outcome = with_goals("a table\nRESULT heldout_median_error_pct 12 percent\nRESULT other 1 s\nits end\n")
    assert outcome.returncode == 0
    assert outcome.stdout.splitlines() == [
        "a table", "its end",
        "GOAL heldout_median_error_pct at most 10: MISSED by 2 percent (1.20 times)",
        "GOAL heldout_in_80pct_interval_pct 75 to 85: not measured in this run",
        "RESULT heldout_median_error_pct 12 percent", "RESULT other 1 s"]


def test_a_benchmark_without_goals_of_its_name_or_with_a_wrong_line_is_refused():
    assert with_goals("", "no_such_benchmark").returncode == 2
    outcome = with_goals("RESULT heldout_median_error_pct twelve percent\n")
    assert outcome.returncode == 1 and "not `RESULT" in outcome.stderr


def test_a_record_keeps_other_sections_and_readme_quotes_what_has_a_goal(all_of_them, tmp_path):
    all_of_them.RESULTS, all_of_them.README = tmp_path / "results.md", tmp_path / "README.md"
    all_of_them.README.write_text(f"before\n{all_of_them.BEGIN}\nold\n{all_of_them.END}\nafter\n")
    all_of_them.record("scaling", [Figure("heldout_median_error_pct", "3.5", "percent"), Figure("series", "8", "series")], "today")
    all_of_them.record("profile", [Figure("overhead_pct", "2.50", "percent")], "yesterday")

    results = all_of_them.RESULTS.read_text()
    assert "| heldout_median_error_pct | 3.5 | percent | at most 10 | met |" in results
    assert "| heldout_in_80pct_interval_pct | | | 75 to 85 | not measured in this run |" in results
    assert "| overhead_pct | 2.50 | percent | at most 2 | MISSED by 0.5 percent (1.25 times) |" in results
    assert results.index("## profile") < results.index("## scaling")  # the order of goals.json
    readme = all_of_them.README.read_text()
    assert "| `profile` | overhead_pct | 2.50 | percent | at most 2 | MISSED by 0.5 percent (1.25 times) |" in readme
    assert "old" not in readme and "series" not in readme and readme.startswith("before\n") and readme.endswith("\nafter\n")
    assert all_of_them.check() == 0


def test_a_record_of_another_goal_is_not_current(all_of_them, tmp_path, capsys):
    all_of_them.RESULTS, all_of_them.README = tmp_path / "results.md", tmp_path / "README.md"
    all_of_them.README.write_text(f"{all_of_them.BEGIN}\n{all_of_them.END}\n")
    all_of_them.record("profile", [Figure("overhead_pct", "2.50", "percent"), Figure("start_ms", "1e+03", "ms")], "today, of a. machine")
    recorded = all_of_them.RESULTS.read_text()
    all_of_them.RESULTS.write_text(recorded.replace("at most 2 | MISSED by 0.5 percent (1.25 times)", "at most 3 | met"))

    assert all_of_them.check() == 1 and "results.md" in capsys.readouterr().out
    all_of_them.write(all_of_them.judged_sections())
    assert all_of_them.RESULTS.read_text() == recorded
    assert all_of_them.check() == 0


def test_every_benchmark_has_its_goals_in_a_known_form():
    for name, goals in read_goals().items():
        assert (HERE / name).exists(), name
        for figure, goal in goals.items():
            assert len(goal) == 1 and set(goal) <= {"at_most", "at_least", "between"}, figure
