"""What runs of tests/load/agents come to as figures."""
from crowd_figures import Dispatches, core_pct, figures_of, percentile
from report import GOALS_OF_AGENTS, all_met, goal_lines


def test_a_percentile_is_a_value_that_the_share_does_not_exceed():
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile(list(range(1, 101)), 0.99) == 99
    assert percentile([7], 0.99) == 7


def test_processor_time_is_told_as_a_share_of_one_core():
    assert core_pct(10, 25, 60) == 25


def test_the_first_order_of_a_job_counts_and_others_are_wrong():
    found = Dispatches({"a": 1.0, "b": 2.0, "c": 3.0}, [("a", 1.5), ("b", 2.25), ("a", 9.0), ("of another run", 1.0)])
    assert sorted(found.delays_s()) == [0.25, 0.5]
    assert list(found.wrong()) == ["1 of 3 jobs were ordered nowhere", "1 jobs were ordered to start more than once"]


def test_each_goal_is_judged_by_a_figure():
    measured = {"memory_kib": 60.0, "server_pct": 10.0, "postgres_pct": 12.0, "dispatch_s": [0.02, 0.04], "connect_s": 30.0,
                "back_s": 61.0, "stop_s": 2.0}
    figures = figures_of(measured, ["a job was ordered nowhere"])
    names = [figure.name for figure in figures]
    assert set(GOALS_OF_AGENTS) <= set(names)
    assert {figure.name: figure.digits for figure in figures}["heartbeats_core_pct"] == "22.0"
    assert not all_met(figures, GOALS_OF_AGENTS)
    assert [line for line in goal_lines(figures, GOALS_OF_AGENTS) if "MISSED" in line] == \
        ["GOAL back_s at most 60: MISSED by 1 s (1.02 times)", "GOAL wrong at most 0: MISSED by 1 sentences"]


def test_without_a_dispatched_job_there_is_no_figure_of_them():
    names = [figure.name for figure in figures_of({"memory_kib": 1.0, "server_pct": 1.0, "postgres_pct": 1.0, "dispatch_s": [],
                                                    "connect_s": 1.0, "back_s": 1.0, "stop_s": 1.0}, [])]
    assert "dispatch_p99_ms" not in names
